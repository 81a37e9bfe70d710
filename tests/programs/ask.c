/* SPDX-License-Identifier: MIT */
/*
 * Prints what each channel shows: sysconf, get_nprocs, and how many CPUs are in the masks of sched_getaffinity,
 * pthread_getaffinity_np and syscall. With an argument, the CPUs themselves.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static unsigned long masks[3][1024];
	int counts[3] = {0};

	sched_getaffinity(0, sizeof masks[0], (cpu_set_t *)masks[0]);
	pthread_getaffinity_np(pthread_self(), sizeof masks[1], (cpu_set_t *)masks[1]);
	syscall(SYS_sched_getaffinity, 0, sizeof masks[2], masks[2]);
	for (int i = 0; i < 3; i++) {
		for (int word = 0; word < 1024; word++)
			counts[i] += __builtin_popcountl(masks[i][word]);
	}
	(void)argv;
	if (argc > 1) {
		for (int cpu = 0; cpu < 64 * 1024; cpu++) {
			if (masks[0][cpu / 64] >> cpu % 64 & 1)
				printf("%d\n", cpu);
		}
		return 0;
	}
	printf("%ld %d %d %d %d\n", sysconf(_SC_NPROCESSORS_ONLN), get_nprocs(), counts[0], counts[1], counts[2]);
	return 0;
}
