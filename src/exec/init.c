/* SPDX-License-Identifier: MIT */
#include "init.h"

#include "probe.h"
#include "supervisor.h"
#include "trap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct init {
	pid_t child;
	int signals;  /* signalfd(2) of all */
	int terminal; /* the controlling one, which standard input need not be; -1: none */
	struct cq_supervisor supervisor; /* without a listener: -1 */
	const struct cq_init_program *program;
};

/* Makes NEXT the process group that the terminal is for, if BEFORE is it. */
static void hand_on_terminal(int terminal, pid_t before, pid_t next)
{
	if (terminal >= 0 && tcgetpgrp(terminal) == before)
		tcsetpgrp(terminal, next);
}

/* Answers in place of a process that is stopped, so that what the program has left in the background does not wait. */
static pid_t start_substitute(struct cq_supervisor *supervisor)
{
	pid_t process = supervisor->listener >= 0 ? fork() : -1;

	if (process == 0) {
		while (cq_supervisor_wait(supervisor))
			cq_supervisor_serve(supervisor);
		_exit(0);
	}
	return process;
}

/* Stops by a signal of the terminal, which the kernel does not let stop a process that no shell could continue: one of an
 * orphaned process group (credentials(7)). */
static void stop(void)
{
	sigset_t stop;

	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	signal(SIGTSTP, SIG_DFL);
	kill(getpid(), SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop, NULL);
	sigprocmask(SIG_BLOCK, &stop, NULL);
}

static void forward(const struct init *init, int signal)
{
	if (signal == SIGCONT) {
		hand_on_terminal(init->terminal, getpgrp(), init->child);
		/* All that have stopped with it. */
		if (kill(-init->child, SIGCONT) == 0)
			return;
	}
	kill(init->child, signal);
}

/* Stops as the program has stopped; a shell then takes the terminal, and says by SIGCONT when to go on. Without a shell
 * the program, too, would not have stopped. */
static void stop_too(struct init *init)
{
	pid_t substitute = start_substitute(&init->supervisor);

	hand_on_terminal(init->terminal, init->child, getpgrp());
	stop();
	if (substitute > 0) {
		kill(substitute, SIGKILL);
		waitpid(substitute, NULL, 0);
		cq_supervisor_abandon(&init->supervisor);
	}
	forward(init, SIGCONT);
}

/* A shell's other processes may have taken the terminal back while a pipeline was being started: if it is here, and the
 * program has stopped for want of it, hands it on again. */
static bool has_given_terminal(const struct init *init, int signal)
{
	if ((signal != SIGTTIN && signal != SIGTTOU) || init->terminal < 0 || tcgetpgrp(init->terminal) != getpgrp())
		return false;
	hand_on_terminal(init->terminal, getpgrp(), init->child);
	return kill(-init->child, SIGCONT) == 0;
}

/* SIGSTOP is no terminal's: whoever has sent it to the program will have it go on as well. */
static bool is_job_control(const struct init *init, int signal)
{
	return signal != SIGSTOP && init->terminal >= 0 && getpid() != 1;
}

/* Takes in what has ended. True once the program has: its exit status is in *RET. */
static bool reap(struct init *init, int *ret)
{
	bool has_ended = false;
	int status;
	pid_t process;

	while ((process = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		if (process != init->child)
			continue;
		if (WIFSTOPPED(status)) {
			if (!has_given_terminal(init, WSTOPSIG(status)) && is_job_control(init, WSTOPSIG(status)))
				stop_too(init);
			continue;
		}
		*ret = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		has_ended = true;
	}
	return has_ended;
}

static int run_until_end(struct init *init)
{
	struct pollfd polled[] = {{.fd = init->signals, .events = POLLIN},
				  {.fd = init->supervisor.listener, .events = POLLIN},
				  {.fd = init->program->timer, .events = POLLIN}};
	struct signalfd_siginfo info;
	int status = 0;

	for (;;) {
		if (poll(polled, 3, -1) <= 0)
			continue;
		if (polled[2].revents)
			init->program->look(init->program->looker, init->child);
		if (polled[1].revents & POLLIN)
			cq_supervisor_serve(&init->supervisor);
		else if (polled[1].revents)
			polled[1].fd = -1; /* nobody is left who could ask */
		if (!polled[0].revents || read(init->signals, &info, sizeof info) != sizeof info)
			continue;
		if (info.ssi_signo != SIGCHLD)
			forward(init, (int)info.ssi_signo);
		else if (reap(init, &status))
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
		cq_trap_watch(supervisor->view, supervisor->listener, supervisor->request);
}

struct child {
	sigset_t signals; /* the signal mask that cpuquota-exec was started with */
	bool ignores_children;
	int terminal;
	int socket;       /* to the parent; -1: no trap */
	const struct cq_init_program *program;
};

static _Noreturn void run_child(const struct child *child)
{
	pid_t group = getpgrp();

	/* The program has a process group of its own, so that what a terminal sends goes to it alone, and once. */
	setpgid(0, 0);
	hand_on_terminal(child->terminal, group, getpid());
	if (child->socket >= 0) {
		int r = cq_trap_plant_for(child->socket, child->program->may_take_rights);

		if (r < 0)
			child->program->no_trap(child->program->argument, r);
		close(child->socket);
	}
	if (child->ignores_children)
		signal(SIGCHLD, SIG_IGN);
	sigprocmask(SIG_SETMASK, &child->signals, NULL);
	_exit(child->program->start(child->program->argument));
}

int cq_init_run(struct cq_view *view, const struct cq_init_program *program)
{
	struct init init = {.terminal = -1, .supervisor = {.view = view, .listener = -1}, .program = program};
	struct child child = {.socket = -1, .program = program};
	int sockets[2] = {-1, -1}, status;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &child.signals);
	/* A parent that ignored it would have handed that on. */
	child.ignores_children = signal(SIGCHLD, SIG_DFL) == SIG_IGN;
	init.signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
	if (init.signals < 0)
		return -errno;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (view) {
		int r = cq_trap_is_possible();

		init.supervisor.request = cq_trap_new_request();
		if (r == 0 &&
		    (!init.supervisor.request || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0))
			r = -errno;
		if (r < 0)
			program->no_trap(program->argument, r);
		child.socket = sockets[1];
	}
	init.terminal = child.terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	init.child = fork();
	if (init.child < 0)
		return -errno;
	if (init.child == 0)
		run_child(&child);
	if (sockets[0] >= 0) {
		close(sockets[1]);
		init.supervisor.listener = cq_trap_receive(sockets[0]);
		close(sockets[0]);
	}
	status = run_until_end(&init);
	hand_on_terminal(init.terminal, init.child, getpgrp());
	leave_supervisor_behind(&init.supervisor);
	return status;
}
