/* SPDX-License-Identifier: MIT */
/* The files in which programs count CPUs, with only some of the CPUs in them. */
#ifndef CQ_PROCFILE_H
#define CQ_PROCFILE_H

#include "base.h"
#include "cpumask.h"

enum cq_procfile {
	CQ_PROCFILE_NONE,
	CQ_PROCFILE_CPUINFO,   /* /proc/cpuinfo: blocks of lines, of which the first has the CPU's number */
	CQ_PROCFILE_STAT,      /* /proc/stat: a line for each CPU, and others */
	CQ_PROCFILE_ONLINE,    /* /sys/devices/system/cpu/online: a list */
	CQ_PROCFILE_CPU_MAX,   /* cgroup v2's cpu.max: shown without a limit */
	CQ_PROCFILE_CFS_QUOTA, /* cgroup v1's cpu.cfs_quota_us: the same */
};

/* Files larger than that are not made anew. */
#define CQ_PROCFILE_MAX_SIZE (16 << 20)

/* Writes to TO what FROM, a file of that kind which is read from its beginning and whose offset does not move, has for
 * the CPUs of SHOWN; numbers and all other lines stay as they are. Returns 0, -ENOENT if the file has CPUs but none of
 * these (lxcfs makes one with numbers of its own), or another -Exxx. */
int cq_procfile_write(enum cq_procfile kind, const struct cq_cpumask *shown, int from, int to);

#endif
