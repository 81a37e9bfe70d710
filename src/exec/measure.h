/* SPDX-License-Identifier: MIT */
/* Measures what a run uses, and how it is throttled meanwhile. */
#ifndef CQ_MEASURE_H
#define CQ_MEASURE_H

#include "figures.h"
#include "policy.h"

#include <sys/types.h>

struct cq_measure {
	int timer;                   /* timerfd(2): readable when cq_measure_look() is due; -1: there is none */
	unsigned pause;              /* milliseconds until then */
	uint64_t begun;              /* nanoseconds, of CLOCK_MONOTONIC */
	struct cq_figures figures;
};

/* Begins, in the process that is to be the program's parent. POLICY is the program's. What cannot be found out is left
 * out of the figures. */
void cq_measure_begin(struct cq_measure *ret, const struct cq_policy *policy);

/* Looks whether PROGRAM is still in the cgroup that it was started in, with that limit, and sets the timer anew. When it
 * has ended that cannot be found out any more. */
void cq_measure_look(void *measure, pid_t program);

/* Ends, when the program has been waited for: completes the figures. */
void cq_measure_end(struct cq_measure *measure);

#endif
