/* SPDX-License-Identifier: MIT */
/* --explain: how the number came about; how a program asks, and whether it is reached. */
#ifndef CQ_EXPLAIN_H
#define CQ_EXPLAIN_H

#include "reach.h"

/* All that is told. */
struct cq_explanation {
	const struct cq_machine *machine;
	const struct cq_ways *ways;             /* NULL: of a captured tree nothing can be tried */
	const struct cq_inspection *program;    /* NULL: none */
	const struct cq_reach *reach;           /* of PROGRAM, one for each mode */
};

/* Explains, on standard output, what is below ROOT and, if PROGRAM is not NULL (ROOT is then "/"), that program.
 * COMPLAIN is told of every error of the policy. Returns an exit status. */
int cq_explain(const char *root, const char *program, bool json, void (*complain)(const char *message));

/* The two ways to tell it. */
void cq_explain_as_text(const struct cq_explanation *explanation);
void cq_explain_as_json(const struct cq_explanation *explanation);

/* Words that both have. */
const char *cq_explain_kind(enum cq_kind kind);
const char *cq_explain_libc(enum cq_libc libc);
const char *cq_explain_reached(enum cq_reached reached);

#endif
