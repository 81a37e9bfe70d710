/* SPDX-License-Identifier: MIT */
/*
 * Prints what a program is given by whoever executes it: arguments, environment, directory, descriptors, signals, name,
 * limits. To be linked statically. Not printed: what a trap changes, the number of CPUs and the seccomp mode. With an
 * argument "count" alone: the number of CPUs that the kernel says it may run on.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void print_strings(const char *what, char *const *strings)
{
	unsigned i;

	for (i = 0; strings[i]; i++) {
		printf("%s %u: %zu \"", what, i, strlen(strings[i]));
		for (const unsigned char *byte = (const unsigned char *)strings[i]; *byte; byte++)
			printf(*byte < ' ' || *byte > '~' ? "\\%03o" : "%c", *byte);
		printf("\"\n");
	}
	printf("%s: %u\n", what, i);
}

static void print_link(const char *what, const char *path)
{
	char target[PATH_MAX];
	ssize_t length = readlink(path, target, sizeof target - 1);

	target[length < 0 ? 0 : length] = '\0';
	printf("%s: %s\n", what, target);
}

/* Lines of /proc/self/status that begin with one of NAMES. */
static void print_status(const char *const *names)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[512];

	while (file && fgets(line, sizeof line, file)) {
		for (const char *const *name = names; *name; name++) {
			if (strncmp(line, *name, strlen(*name)) == 0)
				fputs(line, stdout);
		}
	}
	if (file)
		fclose(file);
}

static void print_descriptors(void)
{
	char path[64], what[64];
	struct stat status;

	/* Not by a directory listing, which has a descriptor itself. */
	for (int fd = 0; fd < 1024; fd++) {
		int flags = fcntl(fd, F_GETFD);

		if (flags < 0)
			continue;
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		snprintf(what, sizeof what, "descriptor %d, flags %#x %#x, at %ld", fd, (unsigned)flags,
			 (unsigned)fcntl(fd, F_GETFL), (long)lseek(fd, 0, SEEK_CUR));
		print_link(what, path);
		if (fstat(fd, &status) == 0)
			printf("descriptor %d: inode %lu\n", fd, (unsigned long)status.st_ino);
	}
}

static void print_limits(void)
{
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		struct rlimit limit;

		if (getrlimit((__rlimit_resource_t)i, &limit) == 0)
			printf("limit %d: %llu %llu\n", i, (unsigned long long)limit.rlim_cur,
			       (unsigned long long)limit.rlim_max);
	}
}

static void print_signals(void)
{
	static const char *const names[] = {"SigPnd", "ShdPnd", "SigBlk", "SigIgn", "SigCgt", NULL};
	struct itimerval timer;

	print_status(names);
	for (int i = ITIMER_REAL; i <= ITIMER_PROF; i++) {
		if (getitimer((__itimer_which_t)i, &timer) == 0)
			printf("timer %d: %s\n", i, timer.it_value.tv_sec || timer.it_value.tv_usec ? "runs" : "stands");
	}
}

static void print_process(void)
{
	static const char *const names[] = {"Name", "Umask", "TracerPid", "Uid", "Gid", "Groups", "Cap", "NoNewPrivs",
					    "Threads", NULL};
	int death_signal = 0;

	print_status(names);
	printf("process %d %d %d\n", getpid(), getppid(), getpgrp());
	printf("session %d\n", getsid(0));
	prctl(PR_GET_PDEATHSIG, &death_signal);
	printf("priority %d, policy %d, death signal %d, dumpable %d, keepcaps %d, securebits %d\n",
	       getpriority(PRIO_PROCESS, 0), sched_getscheduler(0), death_signal, prctl(PR_GET_DUMPABLE),
	       prctl(PR_GET_KEEPCAPS), prctl(PR_GET_SECUREBITS));
	printf("personality %#x, secure %lu, time slack %d\n", (unsigned)personality(0xffffffff), getauxval(AT_SECURE),
	       prctl(PR_GET_TIMERSLACK));
	printf("execfn: %s\n", (const char *)getauxval(AT_EXECFN));
	print_link("exe", "/proc/self/exe");
	print_link("cwd", "/proc/self/cwd");
	print_link("root", "/proc/self/root");
	printf("children: %s\n", waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD ? "none" : "some");
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "count") == 0) {
		cpu_set_t mask;

		if (sched_getaffinity(0, sizeof mask, &mask) != 0)
			return 1;
		printf("%d\n", CPU_COUNT(&mask));
		return 0;
	}
	printf("argc: %d\n", argc);
	print_strings("argument", argv);
	print_strings("variable", environ);
	print_descriptors();
	print_signals();
	print_process();
	print_limits();
	return 0;
}
