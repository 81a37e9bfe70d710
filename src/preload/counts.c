/* SPDX-License-Identifier: MIT */
/* How many CPUs there are: sysconf(3) and get_nprocs(3). */
#include "next.h"
#include "start.h"

#include <sys/sysinfo.h>
#include <unistd.h>

/* What all of these do. They do not call each other by name: that would go through the table for calls from outside. */
static inline long answer_sysconf(int name)
{
	struct cq_answer answer;

	if (name == _SC_NPROCESSORS_ONLN) {
		if (cq_channel_answer(CQ_CHANNEL_COUNTS, &answer))
			return answer.count;
	} else if (name == _SC_NPROCESSORS_CONF) {
		/* Real by default: tables that are indexed by CPU numbers are made with this size. */
		if (cq_channel_answer(CQ_CHANNEL_CONF, &answer))
			return answer.count;
	}
	return cq_next.sysconf(name);
}

CQ_EXPORT long sysconf(int name)
{
	return answer_sysconf(name);
}

/* glibc's other name for it, which some programs are linked to. */
CQ_EXPORT long __sysconf(int name);

CQ_EXPORT long __sysconf(int name)
{
	return answer_sysconf(name);
}

CQ_EXPORT int get_nprocs(void)
{
	return (int)answer_sysconf(_SC_NPROCESSORS_ONLN);
}

CQ_EXPORT int get_nprocs_conf(void)
{
	return (int)answer_sysconf(_SC_NPROCESSORS_CONF);
}
