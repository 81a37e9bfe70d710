/* SPDX-License-Identifier: MIT */
/*
 * The library's one view, and what the policy lets each channel show. Before the constructor has run (a program's own
 * early code, an allocator, libgomp's constructor) every question is answered from scratch, on the stack.
 */
#ifndef CQ_START_H
#define CQ_START_H

#include "view.h"

enum cq_channel {
	CQ_CHANNEL_COUNTS,
	CQ_CHANNEL_CONF,
	CQ_CHANNEL_AFFINITY,
	CQ_CHANNEL_FILES,
	CQ_CHANNEL_RUNTIME_QUOTA,
	CQ_CHANNEL_MALLOC_ARENAS,
};

/* What is known stays, and nothing is read any more. */
void cq_channel_freeze(void);

/* True once that was done: whoever would make system calls that the program does not ask for is to leave them. */
bool cq_channel_is_frozen(void);

enum cq_state { CQ_STATE_EARLY, CQ_STATE_READY, CQ_STATE_OFF };

/* Set by the constructor, and never again. */
extern unsigned cq_state; /* enum cq_state */
extern struct cq_view cq_view;

/* The file that programs which need a trap are handed over to: cpuquota-exec. */
extern char cq_exec_path[];

/* getenv(3), of names; a program may have its own getenv (bash has), which is not ready when the constructor runs. */
const char *cq_environment(const char *name);

/* cq_channel_answer() before the constructor. */
bool cq_channel_answer_early(enum cq_channel channel, struct cq_answer *ret);

/* As cq_view_is_all(); false where the policy leaves affinity alone. */
bool cq_channel_is_all(const void *mask, size_t size, struct cq_cpumask *ret_real);

/* The CPUs that are shown. False where the policy leaves CHANNEL alone. */
bool cq_channel_mask(enum cq_channel channel, struct cq_cpumask *ret);

/* True if the file behind FD is NAME of a level that this process's CPU limit is read from. */
bool cq_channel_has_limit_file(int fd, const char *name);

static inline bool cq_channel_is_shown(const struct cq_policy *policy, enum cq_channel channel)
{
	switch (channel) {
	case CQ_CHANNEL_CONF:
		return policy->conf == CQ_CONF_SHOWN;
	case CQ_CHANNEL_AFFINITY:
		return policy->affinity == CQ_AFFINITY_SHOWN;
	case CQ_CHANNEL_FILES:
		return policy->files == CQ_FILES_SHOWN;
	case CQ_CHANNEL_RUNTIME_QUOTA:
		return policy->runtime_quota == CQ_RUNTIME_QUOTA_HIDE;
	case CQ_CHANNEL_MALLOC_ARENAS:
		return policy->malloc_arenas == CQ_MALLOC_ARENAS_SHOWN;
	default:
		return true;
	}
}

/* What to show through CHANNEL. False, with RET untouched, where the program is to see the real CPUs there. */
static inline bool cq_channel_answer(enum cq_channel channel, struct cq_answer *ret)
{
	switch (__atomic_load_n(&cq_state, __ATOMIC_ACQUIRE)) {
	case CQ_STATE_READY:
		if (!cq_channel_is_shown(&cq_view.policy, channel))
			return false;
		*ret = cq_view_answer(&cq_view);
		return true;
	case CQ_STATE_OFF:
		return false;
	default:
		return cq_channel_answer_early(channel, ret);
	}
}

#endif
