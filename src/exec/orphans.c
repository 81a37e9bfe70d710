/* SPDX-License-Identifier: MIT */
#include "orphans.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* So many are no harm, and more than a PID 1 that does reap leaves waiting for it. */
#define TOO_MANY 32

/* More children than that are not looked at. */
#define MAX_LOOKED_AT 512

/* The inode of the machine's own pid namespace, in which PID 1 is a real init; include/linux/proc_ns.h. */
#define INITIAL_NAMESPACE 0xEFFFFFFC

static bool is_in_container(void)
{
	struct stat namespace;

	return stat("/proc/self/ns/pid", &namespace) == 0 && namespace.st_ino != INITIAL_NAMESPACE;
}

static bool is_unreaped_watch(int process)
{
	static const char unreaped[] = "(" CQ_WATCH_NAME ") Z";
	char path[32], line[64];
	const char *name = NULL;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/stat", process);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (fgets(line, sizeof line, file))
		name = strchr(line, '(');
	fclose(file);
	return name && strncmp(name, unreaped, sizeof unreaped - 1) == 0;
}

bool cq_orphans_pile_up(void)
{
	unsigned count = 0;
	FILE *children;
	int process;

	if (getpid() == 1 || !is_in_container())
		return false;
	children = fopen("/proc/1/task/1/children", "re"); /* where the kernel has CONFIG_PROC_CHILDREN */
	if (!children)
		return false;
	for (int i = 0; i < MAX_LOOKED_AT && count < TOO_MANY && fscanf(children, "%d", &process) == 1; i++)
		count += is_unreaped_watch(process);
	fclose(children);
	return count >= TOO_MANY;
}
