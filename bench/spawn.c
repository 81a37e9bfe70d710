/* SPDX-License-Identifier: MIT */
/*
 * What starting a program costs: runs PROGRAM again and again, and prints the median of the microseconds from the start
 * to the end of one run.
 *
 * usage: spawn PROGRAM [ARGUMENT]...
 */
#define _GNU_SOURCE

#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WARM_UP 5
#define RUNS 101

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int main(int argc, char **argv)
{
	static double times[RUNS];

	if (argc < 2) {
		fprintf(stderr, "usage: spawn PROGRAM [ARGUMENT]...\n");
		return 2;
	}
	for (int i = -WARM_UP; i < RUNS; i++) {
		double start = now();
		int status;
		pid_t pid;

		if (posix_spawnp(&pid, argv[1], NULL, NULL, argv + 1, environ) != 0 || waitpid(pid, &status, 0) != pid ||
		    status != 0) {
			fprintf(stderr, "spawn: %s failed\n", argv[1]);
			return 1;
		}
		if (i >= 0)
			times[i] = now() - start;
	}
	qsort(times, RUNS, sizeof *times, compare);
	printf("%.1f\n", times[RUNS / 2]);
	return 0;
}
