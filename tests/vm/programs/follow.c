/* SPDX-License-Identifier: MIT */
/* For each line of input: how many CPUs sysconf says are online, how many are in the mask, and which. */
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	static unsigned long mask[128];
	char line[64];

	while (fgets(line, sizeof line, stdin)) {
		const char *comma = " ";

		if (sched_getaffinity(0, sizeof mask, (cpu_set_t *)mask) != 0)
			return 1;
		printf("%ld %d", sysconf(_SC_NPROCESSORS_ONLN), CPU_COUNT_S(sizeof mask, (cpu_set_t *)mask));
		for (size_t cpu = 0; cpu < sizeof mask * 8; cpu++) {
			if (CPU_ISSET_S(cpu, sizeof mask, (cpu_set_t *)mask)) {
				printf("%s%zu", comma, cpu);
				comma = ",";
			}
		}
		putchar('\n');
		fflush(stdout);
	}
	return 0;
}
