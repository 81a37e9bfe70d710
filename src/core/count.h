/* SPDX-License-Identifier: MIT */
/* How many CPUs are shown. */
#ifndef CQ_COUNT_H
#define CQ_COUNT_H

#include "limit.h"
#include "policy.h"

/* The number of whole CPUs that the limit, which is set, stands for; enum cq_round. May be 0. Halves go up, as in nproc
 * of coreutils 9.10. */
uint64_t cq_count_round(const struct cq_limit *limit, unsigned round);

/* The number of CPUs to show, from 1 to REAL, which is at least 1. Where min is above max, max holds. */
unsigned cq_count(const struct cq_policy *policy, const struct cq_limit *limit, unsigned real);

#endif
