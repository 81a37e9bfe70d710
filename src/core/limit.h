/* SPDX-License-Identifier: MIT */
/* The CPU bandwidth limit of a cgroup, as the exact fraction that the kernel keeps. */
#ifndef CQ_LIMIT_H
#define CQ_LIMIT_H

#include "base.h"
#include "cgroup.h"

/* quota / period CPUs. A period of 0: no limit. From a cgroup both are in microseconds. */
struct cq_limit {
	uint64_t quota;
	uint64_t period;
};

static inline bool cq_limit_is_set(const struct cq_limit *limit)
{
	return limit->period != 0;
}

/* True if A allows less than B; no limit allows everything. */
bool cq_limit_is_tighter(const struct cq_limit *a, const struct cq_limit *b);

/* Reads "quota period" as in v2's cpu.max (Documentation/admin-guide/cgroup-v2.rst). "max", and anything that is not
 * two numbers above 0, is no limit. */
struct cq_limit cq_limit_parse_v2(const char *text, size_t length);

/* Reads the values of v1's cpu.cfs_quota_us and cpu.cfs_period_us (Documentation/scheduler/sched-bwc.rst). A negative
 * quota, and anything that is not a number above 0, is no limit. */
struct cq_limit cq_limit_parse_v1(const char *quota, size_t quota_length, const char *period, size_t period_length);

/* Reads the limit that is set on the level that CGROUP's path names. A level without the file, or with one that cannot
 * be read or understood, has none. Returns 0, or one of cq_error_is_transient()'s errors. */
int cq_limit_read_level(const char *root, struct cq_cgroup *cgroup, struct cq_limit *ret);

/* The effective limit: the tightest from CGROUP up to the mount point. Leaves CGROUP's path at the mount point. Returns
 * 0, or one of cq_error_is_transient()'s errors. */
int cq_limit_read(const char *root, struct cq_cgroup *cgroup, struct cq_limit *ret);

#endif
