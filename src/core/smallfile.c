/* SPDX-License-Identifier: MIT */
#include "smallfile.h"

#include "rawcall.h"

#include <errno.h>
#include <linux/openat2.h>
#include <string.h>

#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

static int open_in_tree(const char *root, const char *path)
{
	struct open_how how = {.flags = OPEN_FLAGS, .resolve = RESOLVE_IN_ROOT};
	int tree = cq_raw_openat(AT_FDCWD, root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd;

	if (tree < 0)
		return tree;
	while (*path == '/')
		path++;
	fd = (int)cq_rawcall(SYS_openat2, tree, (long)path, (long)&how, sizeof how);
	if (fd == -ENOSYS || fd == -EPERM) /* before Linux 5.6, or kept away by an older seccomp profile */
		fd = cq_raw_openat(tree, path, OPEN_FLAGS);
	cq_raw_close(tree);
	return fd;
}

int cq_open_below(const char *root, const char *path)
{
	if (strcmp(root, "/") != 0)
		return open_in_tree(root, path);
	return cq_raw_openat(AT_FDCWD, path, OPEN_FLAGS);
}

int cq_smallfile_read(const char *root, const char *path, char *buffer, size_t size)
{
	int fd = cq_open_below(root, path);
	ssize_t length;

	if (fd < 0)
		return fd;
	length = cq_raw_read(fd, buffer, size);
	cq_raw_close(fd);
	if (length < 0)
		return (int)length;
	if ((size_t)length == size)
		return -EFBIG;
	buffer[length] = '\0';
	return (int)length;
}

bool cq_error_is_transient(int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOMEM || error == -EINTR || error == -EAGAIN;
}

void cq_lines_take(struct cq_lines *lines, int fd, size_t budget)
{
	lines->fd = fd;
	lines->error = 0;
	lines->number = 0;
	lines->is_regular = false;
	lines->at_end = false;
	lines->is_cut = false;
	lines->begin = lines->end = 0;
	lines->budget = budget;
}

int cq_lines_open(struct cq_lines *lines, const char *root, const char *path, size_t budget)
{
	int fd = cq_open_below(root, path);

	if (fd < 0)
		return fd;
	cq_lines_take(lines, fd, budget);
	return 0;
}

/* Puts more of the file behind what is in the buffer. */
static void fill(struct cq_lines *lines)
{
	size_t room = sizeof lines->buffer - lines->end;
	ssize_t got;

	if (lines->at_end || !room)
		return;
	do
		got = cq_raw_read(lines->fd, lines->buffer + lines->end, room);
	while (got == -EINTR);
	if (got < 0)
		lines->error = (int)got;
	else if ((size_t)got > lines->budget)
		lines->error = -EFBIG;
	lines->at_end = got <= 0 || lines->error || (lines->is_regular && (size_t)got < room);
	if (lines->error)
		return;
	lines->end += (size_t)got;
	lines->budget -= (size_t)got;
}

/* Where the line that begins at ->begin ends in the buffer, once enough of the file is there. */
static size_t find_newline(struct cq_lines *lines)
{
	size_t scanned = lines->begin;

	for (;;) {
		char *newline = memchr(lines->buffer + scanned, '\n', lines->end - scanned);
		size_t before;

		if (newline)
			return (size_t)(newline - lines->buffer);
		if (lines->begin) {
			memmove(lines->buffer, lines->buffer + lines->begin, lines->end - lines->begin);
			lines->end -= lines->begin;
			lines->begin = 0;
		}
		scanned = before = lines->end;
		fill(lines);
		if (lines->end == before)
			return lines->end;
	}
}

/* Drops the rest of a line that was longer than the buffer. */
static void skip_rest(struct cq_lines *lines)
{
	char *newline;

	lines->is_cut = false;
	do {
		lines->begin = lines->end = 0;
		fill(lines);
		newline = memchr(lines->buffer, '\n', lines->end);
	} while (!newline && lines->end);
	lines->begin = newline ? (size_t)(newline - lines->buffer) + 1 : lines->end;
}

char *cq_lines_next(struct cq_lines *lines)
{
	char *line;
	size_t newline;

	if (lines->is_cut)
		skip_rest(lines);
	newline = find_newline(lines);
	line = lines->buffer + lines->begin;
	if (lines->error || (newline == lines->end && lines->begin == lines->end))
		return NULL;
	if (newline == lines->end) {
		/* The last line, without its newline, or one that fills the buffer: the terminator takes a byte. */
		lines->is_cut = newline == sizeof lines->buffer;
		if (lines->is_cut)
			newline--;
		lines->begin = lines->end;
	} else {
		lines->begin = newline + 1;
	}
	lines->buffer[newline] = '\0';
	lines->length = (size_t)(lines->buffer + newline - line);
	lines->number++;
	return line;
}

void cq_lines_close(struct cq_lines *lines)
{
	cq_raw_close(lines->fd);
}
