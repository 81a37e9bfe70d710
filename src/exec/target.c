/* SPDX-License-Identifier: MIT */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int find_path(const char *name, char *ret, size_t size)
{
	if (!strchr(name, '/'))
		return cq_program_search(name, getenv("PATH"), ret, size);
	if (strlen(name) >= size || access(name, F_OK) != 0)
		return -ENOENT;
	strcpy(ret, name);
	return 0;
}

static int look(struct cq_target *ret)
{
	char next[PATH_MAX];
	struct stat status;
	int r;

	ret->gives_rights = false;
	strcpy(ret->executable, ret->path);
	strcpy(next, ret->path);
	for (int i = 0; i < CQ_PROGRAM_MAX_INTERPRETERS; i++) {
		bool is_script = false;
		int fd = open(next, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

		if (fd < 0)
			return 0;
		if (!realpath(next, ret->executable))
			strcpy(ret->executable, next);
		r = cq_program_inspect(fd, &ret->program);
		ret->gives_rights = fstat(fd, &status) == 0 && cq_program_gives_rights(fd, &status);
		if (r == -ENOEXEC)
			is_script = cq_program_interpreter(fd, next, sizeof next) == 0;
		close(fd);
		ret->is_known = r == 0;
		if (!is_script)
			break;
	}
	return 0;
}

int cq_target_find(const char *name, struct cq_target *ret)
{
	int r = find_path(name, ret->path, sizeof ret->path);

	ret->is_known = false;
	return r < 0 ? r : look(ret);
}

int cq_target_look_at(const char *path, struct cq_target *ret)
{
	ret->is_known = false;
	if (strlen(path) >= sizeof ret->path || access(path, F_OK) != 0)
		return -ENOENT;
	strcpy(ret->path, path);
	return look(ret);
}

bool cq_target_needs_trap(const struct cq_target *target)
{
	return target->is_known && cq_program_needs_trap(&target->program);
}
