/* SPDX-License-Identifier: MIT */
#include "target.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined __x86_64__
#define NATIVE_MACHINE EM_X86_64
#elif defined __aarch64__
#define NATIVE_MACHINE EM_AARCH64
#endif

/* What execvp(3) takes for PATH where the variable is not set. */
#define DEFAULT_PATH "/bin:/usr/bin"

/* How many interpreters of interpreters the kernel follows (fs/exec.c, exec_binprm). */
#define MAX_INTERPRETERS 5

/* What the kernel reads of a script's first line (BINPRM_BUF_SIZE). */
#define FIRST_LINE_SIZE 256

static bool is_executable(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* Puts "DIRECTORY/NAME" together, DIRECTORY of LENGTH bytes; an empty one is the working directory. */
static bool join(char *ret, size_t size, const char *directory, size_t length, const char *name)
{
	int written = snprintf(ret, size, "%.*s%s%s", (int)length, directory, length ? "/" : "", name);

	return written >= 0 && (size_t)written < size;
}

static int find_path(const char *name, char *ret, size_t size)
{
	const char *directories = getenv("PATH");
	size_t length;

	if (strchr(name, '/')) {
		if (strlen(name) >= size || access(name, F_OK) != 0)
			return -ENOENT;
		strcpy(ret, name);
		return 0;
	}
	if (!directories)
		directories = DEFAULT_PATH;
	for (;; directories += length + 1) {
		length = strcspn(directories, ":");
		if (join(ret, size, directories, length, name) && is_executable(ret))
			return 0;
		if (!directories[length])
			return -ENOENT;
	}
}

/* The interpreter that the first line of a script names: "#! /bin/sh -e". */
static bool find_interpreter(int fd, char *ret, size_t size)
{
	char line[FIRST_LINE_SIZE];
	ssize_t got = pread(fd, line, sizeof line - 1, 0);
	const char *name;
	size_t length;

	if (got < 2 || line[0] != '#' || line[1] != '!')
		return false;
	line[got] = '\0';
	name = line + 2 + strspn(line + 2, " \t");
	length = strcspn(name, " \t\n");
	if (!length || length >= size)
		return false;
	memcpy(ret, name, length);
	ret[length] = '\0';
	return true;
}

int cq_target_find(const char *name, struct cq_target *ret)
{
	char next[PATH_MAX];
	int r = find_path(name, ret->path, sizeof ret->path);

	ret->is_known = false;
	if (r < 0)
		return r;
	strcpy(next, ret->path);
	for (int i = 0; i < MAX_INTERPRETERS; i++) {
		bool is_script = false;
		int fd = open(next, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

		if (fd < 0)
			return 0;
		if (!realpath(next, ret->executable))
			strcpy(ret->executable, next);
		r = cq_program_inspect(fd, &ret->program);
		if (r == -ENOEXEC)
			is_script = find_interpreter(fd, next, sizeof next);
		close(fd);
		ret->is_known = r == 0;
		if (!is_script)
			break;
	}
	return 0;
}

bool cq_target_needs_trap(const struct cq_target *target)
{
	const struct cq_program *program = &target->program;

	return target->is_known && (program->is_go || !program->has_interpreter || !program->is_64bit ||
				    program->machine != NATIVE_MACHINE);
}
