/* SPDX-License-Identifier: MIT */
/* How many CPUs libc says are online, and on how many this process may run. For any libc. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	cpu_set_t mask;

	if (sched_getaffinity(0, sizeof mask, &mask) != 0)
		return 1;
	printf("%ld %d\n", sysconf(_SC_NPROCESSORS_ONLN), CPU_COUNT(&mask));
	return 0;
}
