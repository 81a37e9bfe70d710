/* SPDX-License-Identifier: MIT */
#include "text.h"

#include <string.h>

bool cq_text_number(const char **text, uint64_t max, uint64_t *ret)
{
	const char *p = *text;
	uint64_t value = 0;

	if (*p < '0' || *p > '9')
		return false;
	for (; *p >= '0' && *p <= '9'; p++) {
		uint64_t digit = (uint64_t)(*p - '0');

		if (digit > max || value > (max - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*text = p;
	*ret = value;
	return true;
}

bool cq_text_equals(const char *text, size_t length, const char *word)
{
	size_t i = 0;

	while (i < length && word[i] && text[i] == word[i])
		i++;
	return i == length && !word[i];
}

bool cq_text_has_word(const char *list, const char *word)
{
	for (;;) {
		size_t length = strcspn(list, ",");

		if (cq_text_equals(list, length, word))
			return true;
		if (!list[length])
			return false;
		list += length + 1;
	}
}

/* Matches C against the bracket expression behind a `[`. Returns the pattern behind its `]`, or NULL if it has none. */
static const char *match_bracket(const char *pattern, char c, bool *ret_matched)
{
	const char *p = pattern;
	bool negated = *p == '!' || *p == '^';
	bool matched = false;

	if (negated)
		p++;
	for (const char *start = p; *p && (*p != ']' || p == start); p++) {
		unsigned char low = (unsigned char)*p, high = low;

		if (p[1] == '-' && p[2] && p[2] != ']') {
			high = (unsigned char)p[2];
			p += 2;
		}
		if (low <= (unsigned char)c && (unsigned char)c <= high)
			matched = true;
	}
	if (*p != ']')
		return NULL;
	*ret_matched = matched != negated;
	return p + 1;
}

/* Matches one character of NAME. Returns the pattern behind what matched it, or NULL. */
static const char *match_one(const char *pattern, char c)
{
	if (*pattern == '[') {
		bool matched = false;
		const char *behind = match_bracket(pattern + 1, c, &matched);

		if (behind)
			return matched ? behind : NULL;
	} else if (*pattern == '?') {
		return pattern + 1;
	} else if (*pattern == '\\' && pattern[1]) {
		pattern++;
	}
	return *pattern == c ? pattern + 1 : NULL;
}

bool cq_text_matches(const char *pattern, const char *name)
{
	/* Where to go on if what follows the last `*` does not match: the star takes one more character. */
	const char *star = NULL, *star_name = NULL;

	while (*name) {
		const char *behind = NULL;

		if (*pattern == '*') {
			star = ++pattern;
			star_name = name;
			continue;
		}
		if (*pattern)
			behind = match_one(pattern, *name);
		if (behind) {
			pattern = behind;
			name++;
		} else if (star) {
			pattern = star;
			name = ++star_name;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

void cq_message_add(struct cq_message *message, const char *text, size_t length)
{
	size_t room = sizeof message->text - 1 - message->length;

	if (length > room)
		length = room;
	memmove(message->text + message->length, text, length);
	message->length += length;
	message->text[message->length] = '\0';
}

void cq_message_add_string(struct cq_message *message, const char *text)
{
	cq_message_add(message, text, strlen(text));
}

void cq_message_add_number(struct cq_message *message, uint64_t number)
{
	char digits[20];
	size_t i = sizeof digits;

	do
		digits[--i] = (char)('0' + number % 10);
	while (number /= 10);
	cq_message_add(message, digits + i, sizeof digits - i);
}
