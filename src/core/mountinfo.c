/* SPDX-License-Identifier: MIT */
#include "mountinfo.h"

#include <errno.h>
#include <string.h>

/* Cuts the next field off *REST; a single space ends it, so that an empty field is one. NULL where the line has ended. */
static char *next_field(char **rest)
{
	char *field = *rest, *end;

	if (!field)
		return NULL;
	end = strchr(field, ' ');
	if (end)
		*end++ = '\0';
	*rest = end;
	return field;
}

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* The kernel writes space, tab, newline, `\` and `#` as a backslash and three octal digits (fs/proc_namespace.c). */
static void unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		if (from[0] == '\\' && is_octal(from[1]) && is_octal(from[2]) && is_octal(from[3])) {
			*to = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0'));
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

int cq_mountinfo_parse(char *line, struct cq_mount *ret)
{
	char *rest = line;
	char *root, *point, *type, *options;
	const char *optional;

	for (int i = 0; i < 3; i++) /* mount id, parent id, device */
		next_field(&rest);
	root = next_field(&rest);
	point = next_field(&rest);
	next_field(&rest); /* the options of the mount */
	do
		optional = next_field(&rest);
	while (optional && strcmp(optional, "-") != 0);
	type = next_field(&rest);
	next_field(&rest); /* the source: any text at all */
	options = next_field(&rest);
	if (!options)
		return -EINVAL;

	unescape(root);
	unescape(point);
	ret->root = root;
	ret->point = point;
	ret->type = type;
	ret->options = options;
	return 0;
}
