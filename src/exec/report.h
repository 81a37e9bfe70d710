/* SPDX-License-Identifier: MIT */
/* Says on standard error what a run has used, how it was throttled, and what follows for the policy. */
#ifndef CQ_REPORT_H
#define CQ_REPORT_H

#include "figures.h"

enum cq_report {
	CQ_REPORT_NONE,
	CQ_REPORT_TEXT,
	CQ_REPORT_JSON, /* one object on one line; its keys are in cpuquota-exec(1) */
};

/* Writes the report on the run of PROGRAM, which cpuquota-exec hands on the exit STATUS of. It is written at once, so that
 * nothing of others gets in between. What cannot be written is lost. */
void cq_report_write(enum cq_report kind, const char *program, int status, const struct cq_figures *figures);

#endif
