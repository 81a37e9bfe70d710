/* SPDX-License-Identifier: MIT */
/* What the kernel counts of a cgroup's CPU limit: the file cpu.stat. */
#ifndef CQ_CPUSTAT_H
#define CQ_CPUSTAT_H

#include "base.h"
#include "cgroup.h"

/* Counters of a cgroup with all those below it. They only grow. */
struct cq_cpustat {
	uint64_t periods;   /* in which some thread wanted to run */
	uint64_t throttled; /* of these: in which the quota was used up */
	uint64_t lost;      /* nanoseconds that threads were kept from running: the sum over all CPUs */
	uint64_t used;      /* nanoseconds of CPU */
	bool knows_used;    /* v2; v1 where cpuacct is mounted together with cpu */
};

/*
 * Reads the text of cpu.stat: nr_periods and nr_throttled, v1's throttled_time in nanoseconds
 * (Documentation/scheduler/sched-bwc.rst) or v2's throttled_usec and usage_usec in microseconds
 * (Documentation/admin-guide/cgroup-v2.rst); other lines do not matter. Returns 0, or -EINVAL if it does not have the
 * first three.
 */
int cq_cpustat_parse(enum cq_cgroup_version version, const char *text, struct cq_cpustat *ret);

/* Reads the counters of the level that CGROUP's path names. Returns 0 or -Exxx. */
int cq_cpustat_read(const char *root, struct cq_cgroup *cgroup, struct cq_cpustat *ret);

/* What was counted from BEFORE to AFTER. Returns 0, or -ERANGE if a counter has gone back: it is another cgroup's. */
int cq_cpustat_subtract(const struct cq_cpustat *after, const struct cq_cpustat *before, struct cq_cpustat *ret);

#endif
