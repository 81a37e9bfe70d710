/* SPDX-License-Identifier: MIT */
#include "init.h"

#include "probe.h"
#include "filter.h"
#include "supervisor.h"
#include "trap.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* The thread that serves may have a small stack; its deepest call holds a few masks and paths. */
#define SERVER_STACK 65536

static void *serve(void *argument)
{
	struct cq_supervisor *supervisor = argument;

	while (cq_supervisor_wait(supervisor))
		cq_supervisor_serve(supervisor);
	return NULL;
}

static int start_server(struct cq_supervisor *supervisor)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int error;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, SERVER_STACK);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	error = pthread_create(&thread, &attributes, serve, supervisor);
	pthread_attr_destroy(&attributes);
	return -error;
}

/* Makes the process group GROUP the one that the terminal is for, if this process's own has been so far. */
static void hand_on_terminal(pid_t own, pid_t group)
{
	if (tcgetpgrp(STDIN_FILENO) == own)
		tcsetpgrp(STDIN_FILENO, group);
}

/* Stops as the program has stopped; a shell then takes the terminal, and says when to go on. */
static void stop_too(pid_t child)
{
	if (getpid() == 1)
		return;
	kill(getpid(), SIGSTOP);
	hand_on_terminal(getpgrp(), child);
	kill(child, SIGCONT);
}

/* Takes in what has ended. True once the program has: its exit status is in *RET. */
static bool reap(pid_t child, int *ret)
{
	bool has_ended = false;
	int status;
	pid_t process;

	while ((process = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		if (process != child)
			continue;
		if (WIFSTOPPED(status)) {
			stop_too(child);
			continue;
		}
		*ret = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		has_ended = true;
	}
	return has_ended;
}

static int forward_until_end(pid_t child, int signals)
{
	struct signalfd_siginfo info;
	int status = 0;

	for (;;) {
		if (read(signals, &info, sizeof info) != sizeof info)
			continue;
		if (info.ssi_signo != SIGCHLD)
			kill(child, (int)info.ssi_signo);
		else if (reap(child, &status))
			return status;
	}
}

/* Processes that the program leaves behind are still below the filter, and must be answered. */
static void leave_supervisor_behind(const struct cq_supervisor *supervisor)
{
	struct pollfd listener = {.fd = supervisor->listener};

	if (supervisor->listener < 0 || getpid() == 1 || poll(&listener, 1, 0) != 0)
		return;
	if (fork() == 0)
		cq_trap_watch(supervisor->view, supervisor->listener, supervisor->request, -1);
}

struct child {
	sigset_t signals; /* the signal mask that cpuquota-exec was started with */
	int socket;       /* to the parent; -1: no trap */
	const struct cq_init_program *program;
};

static _Noreturn void run_child(const struct child *child)
{
	pid_t group = getpgrp();

	/* The program has a process group of its own, so that what a terminal sends goes to it alone, and once. */
	setpgid(0, 0);
	hand_on_terminal(group, getpid());
	if (child->socket >= 0) {
		int r = cq_trap_plant_for(child->socket, child->program->may_take_rights);

		if (r < 0)
			child->program->no_trap(child->program->argument, r);
		close(child->socket);
	}
	sigprocmask(SIG_SETMASK, &child->signals, NULL);
	_exit(child->program->start(child->program->argument));
}

int cq_init_run(struct cq_view *view, const struct cq_init_program *program)
{
	struct cq_supervisor supervisor = {.view = view, .listener = -1};
	struct child child = {.socket = -1, .program = program};
	int sockets[2] = {-1, -1}, signals, status;
	sigset_t all;
	pid_t process;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &child.signals);
	signal(SIGCHLD, SIG_DFL); /* a parent that ignored it would have handed that on */
	signals = signalfd(-1, &all, SFD_CLOEXEC);
	if (signals < 0)
		return -errno;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (view) {
		int r = cq_filter_is_possible();

		supervisor.request = cq_trap_new_request();
		if (r == 0 && (!supervisor.request || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0))
			r = -errno;
		if (r < 0)
			program->no_trap(program->argument, r);
		child.socket = sockets[1];
	}
	process = fork();
	if (process < 0)
		return -errno;
	if (process == 0)
		run_child(&child);
	if (sockets[0] >= 0) {
		close(sockets[1]);
		supervisor.listener = cq_trap_receive(sockets[0]);
		close(sockets[0]);
		if (supervisor.listener >= 0)
			start_server(&supervisor);
	}
	status = forward_until_end(process, signals);
	leave_supervisor_behind(&supervisor);
	return status;
}
