/* SPDX-License-Identifier: MIT */
/* init-show MODE [ARGUMENT]...: what happens to a program that has cpuquota-exec --init for a parent. The modes stand
 * in a table at the end. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t seen[65];

static void see(int signal)
{
	seen[signal]++;
}

/* "signals": catches all that can be caught and, for each line of input, prints "NUMBER:COUNT" of those seen since. */
static int count_signals(char **arguments)
{
	struct sigaction action = {.sa_handler = see, .sa_flags = SA_RESTART};
	char line[64];

	(void)arguments;
	for (int i = 1; i <= 64; i++)
		sigaction(i, &action, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("%d\n", getpid());
	while (fgets(line, sizeof line, stdin)) {
		const char *space = "";

		for (int i = 1; i <= 64; i++) {
			if (seen[i]) {
				printf("%s%d:%d", space, i, (int)seen[i]);
				space = " ";
			}
			seen[i] = 0;
		}
		printf("\n");
	}
	return 0;
}

/* "exit STATUS" */
static int end(char **arguments)
{
	return atoi(arguments[0]);
}

/* "die SIGNAL" */
static int die(char **arguments)
{
	struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
	kill(getpid(), atoi(arguments[0]));
	return 0;
}

/* "echo": gives each line of input back. */
static int echo(char **arguments)
{
	char line[256];

	(void)arguments;
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("%d\n", getpid());
	while (fgets(line, sizeof line, stdin))
		printf("got %s", line);
	return 0;
}

/* "orphans N": leaves N processes without a parent, which then end, and itself ends at the end of its input. */
static int leave_orphans(char **arguments)
{
	for (int i = atoi(arguments[0]); i > 0; i--) {
		pid_t child = fork();

		if (child == 0) {
			if (fork() == 0)
				poll(NULL, 0, i % 20);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	puts("left");
	fflush(stdout);
	while (getchar() != EOF)
		continue;
	return 0;
}

/* "state": what a program is given that its parent might have changed. */
static int print_state(char **arguments)
{
	char line[256];
	FILE *file = fopen("/proc/self/status", "r");

	(void)arguments;
	while (file && fgets(line, sizeof line, file)) {
		/* But for SigQ, which counts the signals of other processes as well. */
		if ((strncmp(line, "Sig", 3) == 0 && line[3] != 'Q') || strncmp(line, "Cap", 3) == 0 ||
		    strncmp(line, "ShdPnd", 6) == 0)
			fputs(line, stdout);
	}
	for (int fd = 0; fd < 256; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			printf("descriptor %d\n", fd);
	}
	printf("priority %d\n", getpriority(PRIO_PROCESS, 0));
	printf("children: %s\n", waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD ? "none" : "some");
	return 0;
}

/* "pair": a child of the same process group says "tick" until this one gets an end of input. */
static int tick(char **arguments)
{
	pid_t child = fork();

	(void)arguments;
	if (child == 0) {
		for (;;) {
			if (write(STDOUT_FILENO, "tick\n", 5) != 5)
				_exit(0);
			poll(NULL, 0, 50);
		}
	}
	while (getchar() != EOF)
		continue;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	puts("end");
	return 0;
}

static const struct {
	const char *name;
	int arguments;
	int (*run)(char **arguments);
} modes[] = {
	{"signals", 0, count_signals},
	{"exit", 1, end},
	{"die", 1, die},
	{"echo", 0, echo},
	{"orphans", 1, leave_orphans},
	{"state", 0, print_state},
	{"pair", 0, tick},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		if (argc == modes[i].arguments + 2 && strcmp(argv[1], modes[i].name) == 0)
			return modes[i].run(argv + 2);
	}
	return 125;
}
