/* SPDX-License-Identifier: MIT */
#include "page.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDEST 80
#define NARROWEST 20

/* Text has this much room beside its label, or begins below it. */
#define LEAST_ROOM 30
#define NARROW_INDENT 4

static unsigned terminal_width(int fd)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_col > WIDEST)
		return WIDEST;
	return size.ws_col < NARROWEST ? NARROWEST : size.ws_col;
}

void cq_page_begin(struct cq_page *ret, FILE *stream)
{
	int fd = fileno(stream);
	const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");

	ret->stream = stream;
	ret->width = terminal_width(fd);
	ret->has_colours = isatty(fd) && !(no_colour && *no_colour) && terminal && strcmp(terminal, "dumb") != 0;
}

static void put_colour(const struct cq_page *page, enum cq_colour colour)
{
	static const char codes[][6] = {"\033[m", "\033[1m", "\033[32m", "\033[33m", "\033[31m"};

	if (page->has_colours)
		fputs(codes[colour], page->stream);
}

/* The bytes of the character of UTF-8 that TEXT begins with, or 0 if it is none, or a control character: C0, DEL or C1,
 * the last of which terminals obey as well (ECMA-48). */
static size_t character_size(const char *text, size_t length)
{
	unsigned char first = (unsigned char)text[0];
	size_t size = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;

	if (size > length || first < ' ' || first == 127)
		return 0;
	for (size_t i = 1; i < size; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	}
	return first == 0xc2 && (unsigned char)text[1] < 0xa0 ? 0 : size;
}

static void put(const struct cq_page *page, const char *text, size_t length)
{
	for (size_t size; length > 0; text += size, length -= size) {
		size = character_size(text, length);
		fwrite(size ? text : "?", 1, size ? size : 1, page->stream);
		size += size == 0;
	}
}

static void new_line(const struct cq_page *page, unsigned indent)
{
	fprintf(page->stream, "\n%*s", (int)indent, "");
}

static unsigned count_columns(const char *text, size_t length)
{
	unsigned columns = 0;

	for (size_t size; length > 0; text += size, length -= size) {
		size = character_size(text, length);
		size += size == 0; /* its `?` */
		columns++;
	}
	return columns;
}

/* Puts TEXT in lines from column INDENT on, the first of which has been begun; a blank ends a line as well as anything. */
static void put_words(const struct cq_page *page, unsigned indent, const char *text)
{
	unsigned column = indent;

	for (bool is_first = true; *text; is_first = false) {
		size_t length = strcspn(text, " ");
		unsigned columns = count_columns(text, length);

		if (!is_first && column + 1 + columns > page->width) {
			new_line(page, indent);
			column = indent;
		} else if (!is_first) {
			putc(' ', page->stream);
			column++;
		}
		put(page, text, length);
		column += columns;
		text += length;
		text += *text == ' ';
	}
}

void cq_page_title(const struct cq_page *page, const char *title)
{
	put_colour(page, CQ_BOLD);
	put_words(page, 0, title);
	put_colour(page, CQ_PLAIN);
	putc('\n', page->stream);
}

void cq_page_entry(const struct cq_page *page, unsigned indent, const char *label, enum cq_colour colour,
		   const char *text)
{
	bool is_narrow = page->width < indent + LEAST_ROOM;

	if (is_narrow)
		indent = NARROW_INDENT;
	fprintf(page->stream, "  %s", label);
	if (is_narrow && *label)
		new_line(page, indent);
	else
		fprintf(page->stream, "%*s", (int)(indent - 2 - strlen(label)), "");
	put_colour(page, colour);
	put_words(page, indent, text);
	put_colour(page, CQ_PLAIN);
	putc('\n', page->stream);
}
