/* SPDX-License-Identifier: MIT */
/*
 * Preloaded behind libcpuquota.so: a coarse clock that goes on by two seconds each time it is read, so that every
 * question is a re-read, which otherwise comes once a second.
 */
#define _GNU_SOURCE

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	static time_t seconds = 1000;

	if (clock != CLOCK_MONOTONIC_COARSE)
		return (int)syscall(SYS_clock_gettime, clock, ret);
	ret->tv_sec = __atomic_add_fetch(&seconds, 2, __ATOMIC_RELAXED);
	ret->tv_nsec = 0;
	return 0;
}
