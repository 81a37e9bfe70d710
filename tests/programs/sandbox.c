/* SPDX-License-Identifier: MIT */
/*
 * Puts a filter on itself that kills it for all that it does not need, and then asks for its CPUs.
 *
 * usage: sandbox prctl|seccomp|syscall ONLINE SHOWN
 *   by which call, what sysconf is to say, and how many CPUs a mask is to have
 */
#include "checks.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <time.h>

#define ALLOW(number) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static long enter(const char *how)
{
	struct sock_filter instructions[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, nr)),
		ALLOW(SYS_read),
		ALLOW(SYS_write),
		ALLOW(SYS_openat),
		ALLOW(SYS_exit_group),
		ALLOW(SYS_clock_nanosleep),
		ALLOW(SYS_sched_getaffinity),
		ALLOW(SYS_sched_setaffinity),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = {sizeof instructions / sizeof *instructions, instructions};

	if (strcmp(how, "prctl") == 0)
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	if (strcmp(how, "seccomp") == 0)
		return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
	return syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

int main(int argc, char **argv)
{
	struct timespec longer_than_refresh = {1, 200000000};
	struct mask before, after;
	char text[16];
	int file;

	if (argc != 4)
		return 2;
	if (!check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs") || !check(enter(argv[1]) == 0, "the filter"))
		return done();
	check(sysconf(_SC_NPROCESSORS_ONLN) == atol(argv[2]), "sysconf");
	memset(&before, 0, sizeof before);
	memset(&after, 0, sizeof after);
	check(sched_getaffinity(0, sizeof before, (cpu_set_t *)&before) == 0 && count_cpus(&before) == (unsigned)atoi(argv[3]),
	      "sched_getaffinity");
	check(sched_setaffinity(0, sizeof before, (cpu_set_t *)&before) == 0, "sched_setaffinity");
	clock_nanosleep(CLOCK_MONOTONIC, 0, &longer_than_refresh, NULL);
	check(sysconf(_SC_NPROCESSORS_ONLN) == atol(argv[2]), "sysconf when the answer has grown old");
	check(sched_getaffinity(0, sizeof after, (cpu_set_t *)&after) == 0 && is_equal(&after, &before),
	      "sched_getaffinity when the answer has grown old");
	file = open("/proc/stat", O_RDONLY);
	check(file >= 0 && read(file, text, sizeof text) == sizeof text, "a file");
	return done();
}
