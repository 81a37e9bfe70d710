/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char base[PATH_MAX];

void begin_trees(void)
{
	const char *directory = getenv("TMPDIR");

	snprintf(base, sizeof base, "%s/cpuquota-unit.XXXXXX", directory && *directory ? directory : "/tmp");
	if (!mkdtemp(base)) {
		perror(base);
		exit(EXIT_FAILURE);
	}
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *place)
{
	(void)status;
	(void)type;
	(void)place;
	remove(path); /* what stays is seen in the end, and keeps nothing else from being removed */
	return 0;
}

void remove_trees(void)
{
	nftw(base, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	if (access(base, F_OK) == 0)
		fprintf(stderr, "%s could not be removed\n", base);
}

static char *print(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *print(const char *format, ...)
{
	char *text = NULL;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	ck_assert_int_ge(length, 0);
	return text;
}

char *make_tree(void)
{
	char *path = print("%s/tree.XXXXXX", base);

	ck_assert_ptr_nonnull(mkdtemp(path));
	return path;
}

/* Makes what stands before the last slash of PATH. */
static void make_parents(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		ck_assert_msg(mkdir(path, 0755) == 0 || errno == EEXIST, "mkdir %s: %s", path, strerror(errno));
		*slash = '/';
	}
}

void write_bytes(const char *root, const char *path, const void *bytes, size_t size)
{
	char *whole = print("%s/%s", root, path);
	FILE *file;

	make_parents(whole);
	file = fopen(whole, "w");
	ck_assert_msg(file != NULL, "%s: %s", whole, strerror(errno));
	ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
	ck_assert_int_eq(fclose(file), 0);
	free(whole);
}

void write_file(const char *root, const char *path, const char *format, ...)
{
	char *text = NULL;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	ck_assert_int_ge(length, 0);
	write_bytes(root, path, text, (size_t)length);
	free(text);
}

void make_directory(const char *root, const char *path)
{
	char *whole = print("%s/%s/", root, path);

	make_parents(whole);
	free(whole);
}

int open_bytes(const void *bytes, size_t size)
{
	char *path = print("%s/file.XXXXXX", base);
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(pwrite(fd, bytes, size, 0), (ssize_t)size);
	free(path);
	return fd;
}

char *repeat(char c, size_t count)
{
	char *text = malloc(count + 1);

	ck_assert_ptr_nonnull(text);
	memset(text, c, count);
	text[count] = '\0';
	return text;
}
