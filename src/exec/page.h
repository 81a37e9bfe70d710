/* SPDX-License-Identifier: MIT */
/* Text for people: titles and entries, wrapped to the width of the terminal. */
#ifndef CQ_PAGE_H
#define CQ_PAGE_H

#include <stdbool.h>
#include <stdio.h>

enum cq_colour { CQ_PLAIN, CQ_BOLD, CQ_GREEN, CQ_YELLOW, CQ_RED };

struct cq_page {
	FILE *stream;
	unsigned width;   /* columns; not more than 80 */
	bool has_colours; /* on a terminal, unless NO_COLOR says no (https://no-color.org) */
};

/* A page on STREAM, as wide as its terminal. */
void cq_page_begin(struct cq_page *ret, FILE *stream);

void cq_page_title(const struct cq_page *page, const char *title);

/* "  LABEL  TEXT": TEXT begins in column INDENT and goes on there in further lines, at blanks; on a narrow terminal, below
 * LABEL. Control characters and bytes that are no UTF-8 become `?`. A word that does not fit stays whole. */
void cq_page_entry(const struct cq_page *page, unsigned indent, const char *label, enum cq_colour colour,
		   const char *text);

#endif
