/* SPDX-License-Identifier: MIT */
/*
 * Where a process's cgroup of a controller is in the file system: from its /proc/PID/cgroup, which names it in its
 * hierarchy, and our own /proc/self/mountinfo, which says where that hierarchy can be seen; cgroups(7).
 */
#ifndef CQ_CGROUP_H
#define CQ_CGROUP_H

#include "base.h"

#include <sys/stat.h>
#include <sys/types.h>

enum cq_cgroup_version {
	CQ_CGROUP_NONE, /* no hierarchy with that controller, or none that is mounted here */
	CQ_CGROUP_V1,
	CQ_CGROUP_V2,
};

struct cq_cgroup {
	enum cq_cgroup_version version;
	/* True if the mount point is the root of the whole hierarchy, which the kernel lets nobody limit. */
	bool top_is_unlimited;
	uint64_t top_inode;  /* of the mount point; differs from container to container where they see their own cgroup */
	size_t top_length;   /* how much of the path is the mount point */
	size_t length;       /* of the path */
	char path[CQ_PATH_MAX];
};

/*
 * Finds the cgroup of CONTROLLER ("cpu", "cpuset") that PROCESS (0: this one) is in, in the file system below ROOT: the
 * v1 hierarchy that has that controller, else the v2 hierarchy. Where the cgroup itself cannot be seen through any mount,
 * the mount point stands for it. A cgroup whose path does not fit is one that cannot be seen.
 *
 * Returns 0, with CQ_CGROUP_NONE where there is no such cgroup, or -Exxx if /proc/PID/cgroup or /proc/self/mountinfo
 * cannot be read.
 */
int cq_cgroup_find(const char *root, pid_t process, const char *controller, struct cq_cgroup *ret);

/* A number that changes when PROCESS (0: this one) moves to another cgroup of any hierarchy. Returns 0 or -Exxx. */
int cq_cgroup_membership(const char *root, pid_t process, uint64_t *ret);

/* Makes PATH the directory of the level above. False if it is at the mount point already. */
bool cq_cgroup_ascend(struct cq_cgroup *cgroup);

/* Reads FILE of the directory that the path names, as cq_smallfile_read(). */
int cq_cgroup_read(const char *root, struct cq_cgroup *cgroup, const char *file, char *buffer, size_t size);

/* Looks at FILE of the directory that the path names, as stat(2). Returns 0 or -Exxx. */
int cq_cgroup_stat(const char *root, struct cq_cgroup *cgroup, const char *file, struct stat *ret);

#endif
