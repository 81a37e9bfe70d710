/* SPDX-License-Identifier: MIT */
#include "count.h"

uint64_t cq_count_round(const struct cq_limit *limit, unsigned round)
{
	uint64_t whole = limit->quota / limit->period;
	uint64_t rest = limit->quota % limit->period;

	switch (round) {
	case CQ_ROUND_FLOOR:
		return whole;
	case CQ_ROUND_NEAREST:
		return whole + (rest >= limit->period - rest);
	default:
		return whole + (rest != 0);
	}
}

unsigned cq_count(const struct cq_policy *policy, const struct cq_limit *limit, unsigned real)
{
	uint64_t count = real;

	if (policy->count) {
		count = policy->count;
	} else {
		if (!cq_limit_is_set(limit))
			limit = &policy->unlimited;
		if (cq_limit_is_set(limit))
			count = cq_count_round(limit, policy->round);
		if (count < policy->min)
			count = policy->min;
		if (policy->max && count > policy->max)
			count = policy->max;
	}
	if (count < 1)
		count = 1;
	return count < real ? (unsigned)count : real;
}
