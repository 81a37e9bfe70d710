/* SPDX-License-Identifier: MIT */
/* What is known of a run when it is over. Times are in nanoseconds. */
#ifndef CQ_FIGURES_H
#define CQ_FIGURES_H

#include "cgroup.h"
#include "cpustat.h"
#include "limit.h"

/* A level of the cgroup's path with a limit of its own. */
struct cq_metered_level {
	size_t length;           /* how much of the path names it */
	uint64_t inode;          /* of its cpu.stat, by which another cgroup of that name can be told */
	struct cq_limit limit;
	bool is_known;           /* STAT is what was counted during the run */
	struct cq_cpustat stat;
};

/* A level takes two bytes of the path or more. */
#define CQ_MAX_LEVELS (CQ_PATH_MAX / 2)

struct cq_figures {
	bool is_off;              /* CPUQUOTA=off: all CPUs were shown */
	unsigned shown, real;     /* CPUs, when the run began; 0: not known */
	unsigned shown_by_floor;  /* CPUs that the policy would show with round=floor... */
	unsigned shown_by_ceil;   /* ... and with round=ceil */
	uint64_t wall;
	uint64_t user, system;    /* CPU of the program and of all its descendants that were waited for */
	uint64_t voluntary, involuntary; /* context switches of the same */
	bool knows_cgroup;        /* there is one, in which limits can be seen */
	bool has_moved;           /* the program, or some of what it started, ran elsewhere */
	bool limit_has_changed;   /* the effective one, or whether there is one */
	struct cq_cgroup cgroup;  /* where the run began, path and all */
	size_t level_count;       /* from the cgroup itself upward */
	struct cq_metered_level levels[CQ_MAX_LEVELS];
	const struct cq_metered_level *effective; /* with the tightest limit; NULL: none has one, or it is not known */
};

static inline uint64_t cq_figures_cpu(const struct cq_figures *figures)
{
	return figures->user + figures->system;
}

/* True if what was counted of LEVEL belongs to all of the run. */
static inline bool cq_figures_know_level(const struct cq_figures *figures, const struct cq_metered_level *level)
{
	return level->is_known && !figures->has_moved;
}

/* True if it is known how often the effective limit has throttled; without a limit, never. */
static inline bool cq_figures_know_throttling(const struct cq_figures *figures)
{
	if (figures->effective)
		return cq_figures_know_level(figures, figures->effective);
	return figures->knows_cgroup && !figures->has_moved && !figures->limit_has_changed;
}

#endif
