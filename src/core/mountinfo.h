/* SPDX-License-Identifier: MIT */
/* One line of /proc/PID/mountinfo into its fields; proc_pid_mountinfo(5). */
#ifndef CQ_MOUNTINFO_H
#define CQ_MOUNTINFO_H

#include "base.h"

struct cq_mount {
	const char *root;    /* the directory of the file system that is mounted, unescaped */
	const char *point;   /* where, unescaped */
	const char *type;    /* of the file system: "cgroup", "cgroup2" */
	const char *options; /* of the super block, separated by commas */
};

/* Takes LINE apart in place. Returns 0, or -EINVAL if it has not the fields of a mountinfo line. */
int cq_mountinfo_parse(char *line, struct cq_mount *ret);

#endif
