/* SPDX-License-Identifier: MIT */
/* What the figures of a run say about the policy. All rules are in advice.c, in one table. */
#ifndef CQ_ADVICE_H
#define CQ_ADVICE_H

#include "figures.h"

struct cq_advice {
	const char *code; /* a stable word, for programs; cpuquota-exec(1) has all of them */
	const char *text;
};

/* There always is one, also that nothing can be said. */
const struct cq_advice *cq_advice_of(const struct cq_figures *figures);

#endif
