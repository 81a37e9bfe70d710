/* SPDX-License-Identifier: MIT */
#include "cgroup.h"

#include "mountinfo.h"
#include "rawcall.h"
#include "smallfile.h"
#include "text.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define MEMBERSHIP_BUDGET 65536
#define MOUNTS_FILE "/proc/self/mountinfo"
#define MOUNTS_BUDGET (16 << 20)

/* Room kept behind a path for the name of a file in that directory. */
#define FILE_NAME_ROOM 32

static int open_membership(struct cq_lines *lines, const char *root, pid_t process)
{
	struct cq_message path;

	if (!process)
		return cq_lines_open(lines, root, "/proc/self/cgroup", MEMBERSHIP_BUDGET);
	path.length = 0;
	cq_message_add_string(&path, "/proc/");
	cq_message_add_number(&path, (uint64_t)process);
	cq_message_add_string(&path, "/cgroup");
	return cq_lines_open(lines, root, path.text, MEMBERSHIP_BUDGET);
}

/* Takes a line of /proc/PID/cgroup, "ID:CONTROLLERS:PATH", apart in place; the path may have colons of its own. */
static bool parse_membership(char *line, const char **ret_controllers, const char **ret_path)
{
	char *controllers = strchr(line, ':');
	char *path = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!path || path[1] != '/')
		return false;
	*path = '\0';
	*ret_controllers = controllers + 1;
	*ret_path = path + 1;
	return true;
}

/* Puts the path of the cgroup in its hierarchy into RET: that of the v1 line with CONTROLLER, else that of the v2 line.
 * A path that does not fit is left out, as if the cgroup were outside every mount. */
static int find_membership(const char *root, pid_t process, const char *controller, struct cq_cgroup *ret)
{
	struct cq_lines lines;
	char *line;
	int r = open_membership(&lines, root, process);

	if (r < 0)
		return r;
	while (ret->version != CQ_CGROUP_V1 && (line = cq_lines_next(&lines))) {
		const char *controllers, *path;
		bool is_v2 = strncmp(line, "0::", 3) == 0;

		if (!parse_membership(line, &controllers, &path))
			continue;
		if (!is_v2 && !cq_text_has_word(controllers, controller))
			continue;
		ret->version = is_v2 ? CQ_CGROUP_V2 : CQ_CGROUP_V1;
		ret->length = lines.is_cut ? 0 : strlen(path);
		memmove(ret->path, path, ret->length);
		ret->path[ret->length] = '\0';
	}
	cq_lines_close(&lines);
	return lines.error;
}

/* True if the mount is of the hierarchy that the membership was found in. */
static bool is_of_hierarchy(const struct cq_mount *mount, const char *controller, enum cq_cgroup_version version)
{
	if (version == CQ_CGROUP_V2)
		return strcmp(mount->type, "cgroup2") == 0;
	return strcmp(mount->type, "cgroup") == 0 && cq_text_has_word(mount->options, controller);
}

/* True if PATH climbs: what lies above the root of a cgroup namespace is shown as "/..". */
static bool has_parent_component(const char *path)
{
	for (const char *p = path; (p = strstr(p, "/..")); p += 3) {
		if (p[3] == '/' || !p[3])
			return true;
	}
	return false;
}

/*
 * How much of PATH, a cgroup, is the root of a mount, so that the rest of it stands below the mount point. Returns -1
 * if the cgroup cannot be seen through that mount.
 */
static ssize_t visible_from(const char *path, const char *root)
{
	size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);

	if (!*path || strncmp(path, root, length) != 0)
		return -1;
	if (path[length] && path[length] != '/')
		return -1;
	return has_parent_component(path + length) ? -1 : (ssize_t)length;
}

/* The mount through which most of the way up from the cgroup can be seen. */
struct best_mount {
	bool is_known;
	ssize_t stripped;  /* bytes of the cgroup's path that are the mount's root; -1: the cgroup cannot be seen */
	size_t length;
	char point[CQ_PATH_MAX];
};

static void consider(struct best_mount *best, const struct cq_mount *mount, const char *path)
{
	ssize_t stripped = visible_from(path, mount->root);
	size_t length = strlen(mount->point);
	/* A later mount on the same directory covers the earlier one. */
	bool covers = best->is_known && strcmp(mount->point, best->point) == 0;
	bool sees_more = stripped >= 0 && (best->stripped < 0 || stripped < best->stripped);

	if (best->is_known && !covers && !sees_more)
		return;
	if (length + FILE_NAME_ROOM > sizeof best->point) /* no file in it could be named */
		return;
	best->is_known = true;
	best->stripped = stripped;
	best->length = length;
	memmove(best->point, mount->point, length + 1);
}

static int find_mount(const char *root, const char *controller, const struct cq_cgroup *cgroup, struct best_mount *best)
{
	struct cq_lines lines;
	char *line;
	int r = cq_lines_open(&lines, root, MOUNTS_FILE, MOUNTS_BUDGET);

	if (r < 0)
		return r;
	while ((line = cq_lines_next(&lines))) {
		struct cq_mount mount;

		if (lines.is_cut || cq_mountinfo_parse(line, &mount) < 0)
			continue;
		if (is_of_hierarchy(&mount, controller, cgroup->version))
			consider(best, &mount, cgroup->path);
	}
	cq_lines_close(&lines);
	return lines.error;
}

/* Puts the mount point in front of the path in the hierarchy, of which the mount's root is taken off. */
static void join(struct cq_cgroup *cgroup, const struct best_mount *best)
{
	const char *below = cgroup->path;
	size_t top = best->length, length = 0;

	if (best->stripped >= 0) {
		below = cgroup->path + best->stripped;
		length = cgroup->length - (size_t)best->stripped;
	}
	while (top && best->point[top - 1] == '/')
		top--;
	while (length && below[length - 1] == '/')
		length--;
	if (top + length + FILE_NAME_ROOM > sizeof cgroup->path)
		length = 0;
	memmove(cgroup->path + top, below, length);
	memmove(cgroup->path, best->point, top);
	cgroup->top_length = top;
	cgroup->length = top + length;
	cgroup->path[cgroup->length] = '\0';
}

/* The inode of a hierarchy's root is 1 in both versions (fs/kernfs: the first one given out); it has no limit. */
static void look_at_top(const char *root, struct cq_cgroup *cgroup)
{
	char saved = cgroup->path[cgroup->top_length];
	int fd;
	struct stat status;

	cgroup->top_inode = 0;
	cgroup->path[cgroup->top_length] = '\0';
	fd = cq_open_below(root, cgroup->path);
	cgroup->path[cgroup->top_length] = saved;
	if (fd < 0)
		return;
	if (cq_rawcall(SYS_fstat, fd, (long)&status, 0, 0) == 0)
		cgroup->top_inode = status.st_ino;
	cq_raw_close(fd);
}

static __attribute__((noinline)) int find_place(const char *root, const char *controller, struct cq_cgroup *cgroup)
{
	struct best_mount best;
	int r;

	best.is_known = false;
	best.stripped = -1;
	r = find_mount(root, controller, cgroup, &best);

	if (r < 0)
		return r;
	if (!best.is_known) {
		cgroup->version = CQ_CGROUP_NONE;
		return 0;
	}
	join(cgroup, &best);
	look_at_top(root, cgroup);
	cgroup->top_is_unlimited = cgroup->top_inode == 1 && strcmp(root, "/") == 0;
	return 0;
}

int cq_cgroup_find(const char *root, pid_t process, const char *controller, struct cq_cgroup *ret)
{
	int r;

	ret->version = CQ_CGROUP_NONE;
	r = find_membership(root, process, controller, ret);
	if (r == 0 && ret->version != CQ_CGROUP_NONE)
		r = find_place(root, controller, ret);
	if (r < 0)
		ret->version = CQ_CGROUP_NONE;
	return r;
}

int cq_cgroup_membership(const char *root, pid_t process, uint64_t *ret)
{
	uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */
	struct cq_lines lines;
	const char *line;
	int r = open_membership(&lines, root, process);

	if (r < 0)
		return r;
	/* The kernel gives this file whole (proc_single_show), so that one read is all of it unless the buffer is full. */
	lines.is_regular = true;
	while ((line = cq_lines_next(&lines))) {
		for (size_t i = 0; i <= lines.length; i++)
			hash = (hash ^ (unsigned char)line[i]) * 0x100000001b3;
	}
	cq_lines_close(&lines);
	if (lines.error)
		return lines.error;
	*ret = hash;
	return 0;
}

bool cq_cgroup_ascend(struct cq_cgroup *cgroup)
{
	if (cgroup->length <= cgroup->top_length)
		return false;
	while (cgroup->length > cgroup->top_length && cgroup->path[cgroup->length - 1] != '/')
		cgroup->length--;
	while (cgroup->length > cgroup->top_length && cgroup->path[cgroup->length - 1] == '/')
		cgroup->length--;
	cgroup->path[cgroup->length] = '\0';
	return true;
}

/* Puts "/FILE" behind the path. Returns false, with the path as it was, if there is no room. */
static bool append(struct cq_cgroup *cgroup, const char *file)
{
	char *end = cgroup->path + cgroup->length;
	size_t length = strlen(file);

	if (length + 2 > FILE_NAME_ROOM)
		return false;
	end[0] = '/';
	memmove(end + 1, file, length + 1);
	return true;
}

int cq_cgroup_read(const char *root, struct cq_cgroup *cgroup, const char *file, char *buffer, size_t size)
{
	int r = append(cgroup, file) ? cq_smallfile_read(root, cgroup->path, buffer, size) : -ENAMETOOLONG;

	cgroup->path[cgroup->length] = '\0';
	return r;
}

int cq_cgroup_stat(const char *root, struct cq_cgroup *cgroup, const char *file, struct stat *ret)
{
	int fd = append(cgroup, file) ? cq_open_below(root, cgroup->path) : -ENAMETOOLONG, r;

	cgroup->path[cgroup->length] = '\0';
	if (fd < 0)
		return fd;
	r = (int)cq_rawcall(SYS_fstat, fd, (long)ret, 0, 0);
	cq_raw_close(fd);
	return r;
}
