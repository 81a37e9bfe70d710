/* SPDX-License-Identifier: MIT */
/*
 * Executes a program by each function that can.
 *
 *	exec-by [-v] [-n N] [-e] WAY FILE [ARGUMENT]...
 *
 * WAY is the name of the function, with "-cloexec", "-memfd" or "-memfd-cloexec" behind the name of one that takes a
 * descriptor. The program is given a state that differs from what a shell gives. -v: from a vfork child; -n N: with N
 * arguments more; -e: without any, not even its own name. Printed beside: "process", with the program's process id, its
 * parent's and its group's, as state prints it; and the error's name if FILE cannot be executed. A program
 * that is not executed in place is waited for, and must then have been the only child.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Whatever the library does with an environment, this one has to come out as it is. */
static char *const variables[] = {"A=1",    "A=2",	 "=nameless", "no sign", "",
				  "B=",	    "C=\x01\xff\n", "PATH=/usr/bin:/bin:.", "GOMAXPROCS_=", NULL};

static void print_process(pid_t process, pid_t parent)
{
	printf("process %d %d %d\n", process, parent, getpgrp());
	fflush(stdout);
}

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(125);
}

static int open_file(const char *file, const char *way)
{
	char data[65536];
	ssize_t got;
	int fd, copy;

	fd = open(file, O_RDONLY | (strstr(way, "-cloexec") ? O_CLOEXEC : 0));
	if (fd < 0 || !strstr(way, "-memfd"))
		return fd;
	copy = memfd_create("state", strstr(way, "-memfd-cloexec") ? MFD_CLOEXEC : 0);
	while ((got = read(fd, data, sizeof data)) > 0) {
		if (write(copy, data, (size_t)got) != got)
			die("memfd");
	}
	close(fd);
	return copy;
}

static bool is_way(const char *way, const char *name)
{
	size_t length = strlen(name);

	return strncmp(way, name, length) == 0 && (!way[length] || way[length] == '-');
}

/* Returns an error. */
static int execute(const char *way, const char *file, char **arguments, int fd)
{
	char *a = arguments[0], *b = a ? arguments[1] : NULL, *c = b ? arguments[2] : NULL;

	if (is_way(way, "execve"))
		execve(file, arguments, variables);
	else if (is_way(way, "execv"))
		execv(file, arguments);
	else if (is_way(way, "execvp"))
		execvp(file, arguments);
	else if (is_way(way, "execvpe"))
		execvpe(file, arguments, variables);
	else if (is_way(way, "execl"))
		execl(file, a, b, c, NULL);
	else if (is_way(way, "execlp"))
		execlp(file, a, b, c, NULL);
	else if (is_way(way, "execle"))
		execle(file, a, b, c, NULL, variables);
	else if (is_way(way, "fexecve"))
		fexecve(fd, arguments, variables);
	else if (is_way(way, "execveat"))
		execveat(AT_FDCWD, file, arguments, variables, 0);
	else if (is_way(way, "execveat_empty"))
		execveat(fd, "", arguments, variables, AT_EMPTY_PATH);
	else if (is_way(way, "execveat_directory")) {
		char *slash = strrchr(file, '/');
		int directory;

		*slash = '\0';
		directory = open(file, O_PATH | O_DIRECTORY | O_CLOEXEC);
		execveat(directory, slash + 1, arguments, variables, 0);
	} else {
		fprintf(stderr, "exec-by: no such way: %s\n", way);
		_exit(125);
	}
	return errno;
}

static void change_state(void)
{
	struct rlimit files = {100, 4096};
	struct itimerval timer = {.it_value = {.tv_sec = 600}};
	sigset_t blocked;
	int fd;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	sigaddset(&blocked, SIGTERM);
	sigaddset(&blocked, SIGRTMIN + 7);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, getenv("IGNORE_SIGCHLD") ? SIG_IGN : SIG_DFL);
	umask(027);
	setrlimit(RLIMIT_NOFILE, &files);
	setitimer(ITIMER_VIRTUAL, &timer, NULL);
	prctl(PR_SET_TIMERSLACK, 12345);
	setpriority(PRIO_PROCESS, 0, 3);
	fd = open("/etc/passwd", O_RDONLY);
	lseek(fd, 10, SEEK_SET);
	dup2(fd, 60);
	dup2(open("/", O_PATH | O_DIRECTORY), 61);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	raise(SIGUSR1);
}

static pid_t spawn(const char *way, const char *file, char **arguments, int *ret_error)
{
	pid_t process = -1;

	if (is_way(way, "posix_spawn"))
		*ret_error = posix_spawn(&process, file, NULL, NULL, arguments, variables);
	else
		*ret_error = posix_spawnp(&process, file, NULL, NULL, arguments, variables);
	return process;
}

static int finish(pid_t process)
{
	int status;

	if (waitpid(process, &status, 0) != process)
		die("waitpid");
	print_process(process, getpid()); /* not while it may still write itself */
	if (waitpid(-1, NULL, 0) != -1 || errno != ECHILD) {
		fputs("exec-by: another child\n", stderr);
		return 125;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	static char more[] = "more";
	bool has_vfork = false, is_empty = false;
	long count = 0;
	const char *way, *file;
	char **arguments;
	volatile int fd = -1;
	int option, error = 0;
	pid_t process;

	while ((option = getopt(argc, argv, "+ven:")) != -1) {
		if (option == 'v')
			has_vfork = true;
		else if (option == 'e')
			is_empty = true;
		else if (option == 'n')
			count = atol(optarg);
		else
			return 125;
	}
	if (argc - optind < 2)
		return 125;
	way = argv[optind];
	file = argv[optind + 1];
	arguments = calloc((size_t)(argc + count), sizeof *arguments);
	if (!arguments)
		die("calloc");
	if (!is_empty) {
		int i = 0;

		arguments[i++] = "not the file's name";
		for (int from = optind + 2; from < argc; from++)
			arguments[i++] = argv[from];
		while (count--)
			arguments[i++] = more;
	}
	change_state();
	if (strchr(way, 'f') == way || strstr(way, "_empty"))
		fd = open_file(file, way);
	environ = (char **)variables;
	if (strncmp(way, "posix_spawn", 11) == 0) {
		process = spawn(way, file, arguments, &error);
	} else if (has_vfork) {
		volatile int child_error = 0;

		process = vfork();
		if (process == 0) {
			child_error = execute(way, file, arguments, fd);
			_exit(0);
		}
		error = child_error;
		if (error)
			waitpid(process, NULL, 0);
	} else {
		print_process(getpid(), getppid());
		error = execute(way, file, arguments, fd);
		process = -1;
	}
	if (error) {
		printf("%s\n", strerrorname_np(error));
		return 0;
	}
	return finish(process);
}
