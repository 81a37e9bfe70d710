/* SPDX-License-Identifier: MIT */
#include "launch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY_NAME "libcpuquota.so"

/* What separates the fields of LD_PRELOAD; ld.so(8). */
static const char separators[] = ": ";

/* The part of a path behind its last slash, up to LENGTH. */
static const char *base_name(const char *path, size_t length)
{
	const char *slash = memrchr(path, '/', length);

	return slash ? slash + 1 : path;
}

static int is_same_library(const char *field, size_t length, const char *library)
{
	const char *name = base_name(field, length);
	const char *wanted = base_name(library, strlen(library));
	size_t name_length = (size_t)(field + length - name);

	return name_length == strlen(wanted) && memcmp(name, wanted, name_length) == 0;
}

char *cq_launch_edit_preload(const char *list, const char *library)
{
	const char *field = list ? list : "";
	int is_there = 0;
	char *edited = malloc(strlen(field) + strlen(library) + 2), *end = edited;

	if (!edited)
		return NULL;
	for (;;) {
		size_t length;

		field += strspn(field, separators);
		length = strcspn(field, separators);
		if (!length)
			break;
		is_there |= is_same_library(field, length, library);
		if (end != edited)
			*end++ = ':';
		end = mempcpy(end, field, length);
		field += length;
	}
	*end = '\0';
	if (!is_there) {
		if (end != edited)
			*end++ = ':';
		strcpy(end, library);
	}
	return edited;
}

/* The library in the directory that cpuquota-exec itself is in. */
static char *find_beside(void)
{
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof path - sizeof LIBRARY_NAME);
	char *name;

	if (length <= 0)
		return NULL;
	path[length] = '\0';
	name = path + (base_name(path, (size_t)length) - path);
	strcpy(name, LIBRARY_NAME);
	return access(path, R_OK) == 0 ? strdup(path) : NULL;
}

char *cq_launch_find_library(void)
{
	const char *named = getenv("CPUQUOTA_LIBRARY");

	if (named && *named)
		return access(named, R_OK) == 0 ? strdup(named) : NULL;
	if (access(LIBDIR "/" LIBRARY_NAME, R_OK) == 0)
		return strdup(LIBDIR "/" LIBRARY_NAME);
	return find_beside();
}

/* Without the library the program runs all the same: it sees the real CPUs. */
static void preload(const char *program)
{
	char *library = cq_launch_find_library();
	char *list;

	if (!library) {
		fprintf(stderr, "cpuquota-exec: " LIBRARY_NAME " not found: %s sees the real CPUs\n", program);
		return;
	}
	if (strpbrk(library, separators)) {
		fprintf(stderr, "cpuquota-exec: %s: LD_PRELOAD takes no path with a space or a colon: %s sees the real CPUs\n",
			library, program);
		free(library);
		return;
	}
	list = cq_launch_edit_preload(getenv("LD_PRELOAD"), library);
	if (!list || setenv("LD_PRELOAD", list, 1) != 0)
		fprintf(stderr, "cpuquota-exec: LD_PRELOAD: %s\n", strerror(errno));
	free(list);
	free(library);
}

int cq_launch(char *const *arguments)
{
	const char *overrides = getenv("CPUQUOTA");

	if (!overrides || strcmp(overrides, "off") != 0)
		preload(arguments[0]);
	execvp(arguments[0], arguments);
	fprintf(stderr, "cpuquota-exec: %s: %s\n", arguments[0], strerror(errno));
	return errno == ENOENT ? CQ_EXIT_NOT_FOUND : CQ_EXIT_CANNOT_EXECUTE;
}
