/* SPDX-License-Identifier: MIT */
/*
 * spin SECONDS [THREADS]: keeps as many threads busy as it is told or, without a number, as libc says that there are
 * CPUs. With a negative number all of them rest for 350 ms after each 50.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double duration;
static bool rests;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void *spin(void *argument)
{
	double begin = now(), elapsed;

	while ((elapsed = now() - begin) < duration) {
		if (rests && (long)(elapsed * 20) % 8)
			usleep(1000);
	}
	return argument;
}

int main(int argc, char **argv)
{
	long threads = argc > 2 ? atol(argv[2]) : sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t thread;

	duration = argc > 1 ? atof(argv[1]) : 1;
	rests = threads < 0;
	for (threads = labs(threads); threads > 1; threads--) {
		if (pthread_create(&thread, NULL, spin, NULL) != 0)
			return 1;
	}
	spin(NULL);
	return 0;
}
