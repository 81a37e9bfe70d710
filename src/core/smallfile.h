/* SPDX-License-Identifier: MIT */
/*
 * Reads the kernel's small files below the root of a file system, which is a parameter everywhere: "/" in earnest, and
 * the directory of a captured tree for tests and --sysroot. Every file is opened, read and closed at once, as a program
 * may close or reuse any descriptor it did not open itself.
 */
#ifndef CQ_SMALLFILE_H
#define CQ_SMALLFILE_H

#include "base.h"

/* Opens PATH, an absolute path, below ROOT for reading, close-on-exec; neither waits for it nor takes it as a terminal.
 * Symbolic links in a tree that is not "/" stay inside it. Returns a descriptor or -Exxx. */
int cq_open_below(const char *root, const char *path);

/* Reads at most SIZE - 1 bytes of PATH below ROOT with a single read, which gives a file of the kernel whole, and
 * terminates them. Returns the length, or -Exxx; -EFBIG if the file goes on. */
int cq_smallfile_read(const char *root, const char *path, char *buffer, size_t size);

/* True for the errors that say nothing about the file: no descriptor free, no memory, interrupted. Whoever meets one
 * knows nothing new, and keeps what was known before. */
bool cq_error_is_transient(int error);

/* Reads a file line by line. */
struct cq_lines {
	int fd;
	int error;
	unsigned number;  /* of the line last given, from 1 */
	bool is_regular;  /* a short read is the end of the file */
	bool at_end;
	bool is_cut;      /* the line last given is the beginning of a longer one */
	size_t begin, end;
	size_t budget;    /* bytes still to be read at most */
	size_t length;    /* of the line last given; it may have NUL bytes inside */
	char buffer[CQ_PATH_MAX];
};

/* Opens PATH below ROOT. Not more than BUDGET bytes are read of it. Returns 0 or -Exxx. */
int cq_lines_open(struct cq_lines *lines, const char *root, const char *path, size_t budget);

/* As cq_lines_open(), of the open file FD, which cq_lines_close() closes. */
void cq_lines_take(struct cq_lines *lines, int fd, size_t budget);

/* The next line, terminated and without its newline, to be used (and changed) until the next call. NULL at the end of
 * the file, and on an error, which is then in ->error as -Exxx; -EFBIG where the budget was used up. */
char *cq_lines_next(struct cq_lines *lines);

void cq_lines_close(struct cq_lines *lines);

#endif
