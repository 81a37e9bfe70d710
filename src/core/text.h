/* SPDX-License-Identifier: MIT */
/* Numbers and words in text that may be anything at all. Nothing here needs a locale or allocates. */
#ifndef CQ_TEXT_H
#define CQ_TEXT_H

#include "base.h"

/* A run of decimal digits at *TEXT: puts its value into *RET, moves *TEXT behind it and returns true. Returns false,
 * with both untouched, where there is no digit or the value is above MAX. */
bool cq_text_number(const char **text, uint64_t max, uint64_t *ret);

/* True if WORD is one of the comma-separated words of LIST. */
bool cq_text_has_word(const char *list, const char *word);

/* Compares LENGTH bytes of TEXT with WORD, a whole string. */
bool cq_text_equals(const char *text, size_t length, const char *word);

/* True if NAME matches PATTERN: `*`, `?`, `[a-z]`, `[!a-z]` and `\` as in a shell; a `[` without its `]` stands for
 * itself. fnmatch(3) is not used, as it looks at the locale and allocates. */
bool cq_text_matches(const char *pattern, const char *name);

/* A message put together in a buffer of its own, always terminated; what does not fit is cut. */
struct cq_message {
	size_t length;
	char text[512];
};

void cq_message_add(struct cq_message *message, const char *text, size_t length);
void cq_message_add_string(struct cq_message *message, const char *text);
void cq_message_add_number(struct cq_message *message, uint64_t number);

#endif
