/* SPDX-License-Identifier: MIT */
/* Temporary trees of files, to be the root of a file system. All helpers end the test if they cannot do their work. */
#ifndef CQ_TEST_SUPPORT_H
#define CQ_TEST_SUPPORT_H

#include <stddef.h>

/* For main() alone: what all trees stand in, and its end. A test that fails has no chance to clean up itself. */
void begin_trees(void);
void remove_trees(void);

/* Makes an empty directory. Its path is to be freed by the caller. */
char *make_tree(void);

/* Writes PATH below ROOT, and makes the directories on the way to it. */
void write_file(const char *root, const char *path, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* As write_file(), for text with NUL bytes. */
void write_bytes(const char *root, const char *path, const void *bytes, size_t size);

/* Makes the directory PATH below ROOT, and those on the way to it. */
void make_directory(const char *root, const char *path);

/* A temporary file without a name that holds BYTES; a descriptor. */
int open_bytes(const void *bytes, size_t size);

/* COUNT times C, to be freed by the caller. */
char *repeat(char c, size_t count);

#endif
