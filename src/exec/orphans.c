/* SPDX-License-Identifier: MIT */
#include "orphans.h"

#include "cgroup.h"
#include "text.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* So many are no harm. */
#define TOO_MANY 32

/* A PID 1 that does reap may be slow, and have many to reap: those that have not been there long do not count. */
#define SECONDS 5

/* More children than that are not looked at. */
#define MAX_LOOKED_AT 512

/* The inode of the machine's own pid namespace, in which PID 1 is a real init; include/linux/proc_ns.h. */
#define INITIAL_NAMESPACE 0xEFFFFFFC

static bool is_in_container(void)
{
	struct stat namespace;

	return stat("/proc/self/ns/pid", &namespace) == 0 && namespace.st_ino != INITIAL_NAMESPACE;
}

/* The age of PROCESS in seconds if it is a watch that nobody has reaped, else 0. */
static unsigned long long age_of_unreaped(int process)
{
	char path[32], name[16] = "", state = 0;
	unsigned long long start = 0; /* in clock ticks since the machine has started; proc(5) */
	struct timespec now;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/stat", process);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file,
		   "%*d (%15[^)]) %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", name,
		   &state, &start) != 3 ||
	    clock_gettime(CLOCK_BOOTTIME, &now) != 0)
		state = 0;
	fclose(file);
	if (state != 'Z' || strcmp(name, CQ_WATCH_NAME) != 0)
		return 0;
	return (unsigned long long)now.tv_sec - start / (unsigned long long)sysconf(_SC_CLK_TCK);
}

bool cq_orphans_pile_up(void)
{
	unsigned count = 0;
	FILE *children;
	int process;

	if (getpid() == 1 || !is_in_container())
		return false;
	children = fopen("/proc/1/task/1/children", "re"); /* where the kernel has CONFIG_PROC_CHILDREN */
	if (!children)
		return false;
	for (int i = 0; i < MAX_LOOKED_AT && count < TOO_MANY && fscanf(children, "%d", &process) == 1; i++)
		count += age_of_unreaped(process) > SECONDS;
	fclose(children);
	return count >= TOO_MANY;
}

/* Reads a number of one of the files of the pids controller. False for "max", and what cannot be read. */
static bool read_number(struct cq_cgroup *cgroup, const char *file, uint64_t *ret)
{
	char text[32];
	const char *p = text;

	return cq_cgroup_read("/", cgroup, file, text, sizeof text) > 0 && cq_text_number(&p, UINT32_MAX, ret);
}

bool cq_processes_are_scarce(void)
{
	struct cq_cgroup cgroup;
	uint64_t most, current;

	if (cq_cgroup_find("/", 0, "pids", &cgroup) < 0 || cgroup.version == CQ_CGROUP_NONE)
		return false;
	do {
		/* Three of four, and threads count too. */
		if (read_number(&cgroup, "pids.max", &most) && read_number(&cgroup, "pids.current", &current) &&
		    current * 4 > most * 3)
			return true;
	} while (cq_cgroup_ascend(&cgroup));
	return false;
}
