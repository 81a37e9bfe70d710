/* SPDX-License-Identifier: MIT */
/*
 * Sets the CPUs it is shown, and becomes another program.
 *
 * usage: become HOW PROGRAM [ARGUMENT]...
 *   at-once   like taskset(1): that mask is the only one that it sets, and it means PROGRAM
 *   failing   the same, but before that it tries to execute what is not there, and checks that this has left all as it was
 *   after-pin it has been pinned in between: the mask is what it had saved, and means all
 *   child     PROGRAM is another process's: the mask means this one, and all
 *   sibling   another thread than the one that was set becomes PROGRAM
 */
#include "checks.h"

static char **program;
static cpu_set_t shown;

static void *become(void *argument)
{
	execvp(program[0], program);
	return argument;
}

static void *set(void *argument)
{
	sched_setaffinity(0, sizeof shown, &shown);
	return argument;
}

int main(int argc, char **argv)
{
	struct mask real, now, pin;
	pthread_t thread;

	if (argc < 3)
		return 2;
	program = argv + 2;
	kernel_mask(0, &real);
	sched_getaffinity(0, sizeof shown, &shown);
	if (strcmp(argv[1], "after-pin") == 0) {
		for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
			if (has_cpu(&real, cpu) && !CPU_ISSET(cpu, &shown))
				only_cpu(&pin, cpu);
		}
		sched_setaffinity(0, CPU_SETSIZE / 8, (cpu_set_t *)&pin);
	}
	if (strcmp(argv[1], "sibling") == 0) {
		pthread_create(&thread, NULL, set, NULL);
		pthread_join(thread, NULL);
	} else {
		set(NULL);
	}
	kernel_mask(0, &now);
	if (!is_equal(&now, &real))
		return 3;
	if (strcmp(argv[1], "failing") == 0) {
		execl("/none/such", "such", NULL);
		execvp("no-such-program", program);
		kernel_mask(0, &now);
		if (!is_equal(&now, &real))
			return 4;
	}
	if (strcmp(argv[1], "child") == 0) {
		int status = 0;

		if (fork() == 0)
			become(NULL);
		wait(&status);
		return WEXITSTATUS(status);
	}
	become(NULL);
	return 127;
}
