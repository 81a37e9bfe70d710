/* SPDX-License-Identifier: MIT */
#include "trial.h"

#include "cpumask.h"
#include "format.h"
#include "init.h"
#include "launch.h"
#include "probe.h"
#include "settings.h"
#include "trap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A loader that takes longer, in seconds, is not waited for. */
#define PATIENCE 10

/* What a loader says is not longer, in bytes. */
#define MAX_ANSWER 65536

/* What a child says through a pipe of how it failed; nothing if it did not. */
struct failure {
	bool is_tracing; /* tracing is what failed */
	int error;
};

static _Noreturn void execute_traced(const char *path, int pipe)
{
	char *arguments[] = {(char *)path, NULL};
	struct failure failure = {.is_tracing = true};

	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0) {
		failure.is_tracing = false;
		execve(path, arguments, environ);
	}
	failure.error = errno;
	_exit(write(pipe, &failure, sizeof failure) != sizeof failure);
}

/* Waits until the child has ended. True if it was executed: the trap that execve(2) ends in stops it. */
static bool was_executed(pid_t child)
{
	bool was = false;
	int status;

	while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
		was |= WSTOPSIG(status) == SIGTRAP;
		kill(child, SIGKILL);
	}
	return was;
}

int cq_trial_execute(const char *path, bool *ret_tried)
{
	struct failure failure = {.is_tracing = true};
	int pipes[2];
	pid_t child;
	bool was;

	*ret_tried = false;
	if (pipe2(pipes, O_CLOEXEC) != 0)
		return 0;
	child = fork();
	if (child == 0)
		execute_traced(path, pipes[1]);
	close(pipes[1]);
	was = child > 0 && was_executed(child);
	if (!was && read(pipes[0], &failure, sizeof failure) != sizeof failure)
		failure.is_tracing = true; /* it was ended before it could say anything */
	close(pipes[0]);
	*ret_tried = was || !failure.is_tracing;
	return was || failure.is_tracing ? 0 : -failure.error;
}

/* True if FILE may be asked what it would load. */
static bool is_trusted_loader(const char *file)
{
	const char *slash = strrchr(file, '/');
	struct stat status;

	return slash && strncmp(slash + 1, "ld", 2) == 0 && stat(file, &status) == 0 && S_ISREG(status.st_mode) &&
	       (status.st_uid == 0 || status.st_uid == geteuid()) && !(status.st_mode & S_IWOTH);
}

static _Noreturn void execute_loader(const char *loader, const char *program, const char *library, int output)
{
	char *arguments[] = {(char *)loader, (char *)"--list", (char *)program, NULL};
	char *list = library ? cq_launch_edit_preload(getenv("LD_PRELOAD"), library) : NULL;

	if (list)
		setenv("LD_PRELOAD", list, 1);
	unsetenv("LD_DEBUG");
	alarm(PATIENCE);
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	execv(loader, arguments);
	_exit(CQ_EXIT_FAILED);
}

/* All that can be read from FD, as a new string; what is more than MAX_ANSWER is dropped. */
static char *read_all(int fd)
{
	char *text = cq_must(malloc(MAX_ANSWER + 1)), dropped[512];
	size_t length = 0;
	ssize_t got;

	while ((got = read(fd, text + length, MAX_ANSWER - length)) > 0)
		length += (size_t)got;
	text[length] = '\0';
	while (read(fd, dropped, sizeof dropped) > 0)
		continue;
	return text;
}

static void add_missing(struct cq_trial_load *load, const char *name, size_t length)
{
	load->missing = cq_must(realloc(load->missing, (load->missing_count + 1) * sizeof *load->missing));
	load->missing[load->missing_count++] = cq_copy(name, length);
}

/* What stands behind MARK in TEXT, or NULL. */
static const char *behind(const char *text, const char *mark)
{
	const char *found = strstr(text, mark);

	return found ? found + strlen(mark) : NULL;
}

/* As AddressSanitizer's runtime reads it (compiler-rt, verify_asan_link_order); the last one counts. */
static bool checks_order(void)
{
	static const char option[] = "verify_asan_link_order=";
	const char *options = getenv("ASAN_OPTIONS"), *value = NULL;

	while (options && (options = strstr(options, option)))
		value = options += sizeof option - 1;
	return !value || *value == '1' || *value == 'y' || *value == 't';
}

/* One line of a loader: a library that was found, with its address; or that the first one missing ends it, of glibc
 * "PROGRAM: error while loading shared libraries: NAME: REASON", or "FILE: version `NAME' not found (REASON)", of musl
 * "Error loading shared library NAME: REASON"; or a complaint of one that was to be preloaded. */
static void take_line(struct cq_trial_load *load, const char *line, const char *library)
{
	const char *text = line + strspn(line, "\t "), *slash = library ? strrchr(library, '/') : NULL;
	bool is_about_library = library && strstr(text, slash ? slash + 1 : library);
	const char *missing = behind(text, "error while loading shared libraries: ");

	if (!missing)
		missing = behind(text, "Error loading shared library ");
	if (is_about_library && (missing || strstr(text, "cannot be preloaded")))
		load->complaint = cq_format("%s", text);
	else if (is_about_library)
		load->takes_library = strstr(text, "(0x");
	else if (strncmp(text, "libasan.so", 10) == 0)
		load->is_before_sanitizer = load->takes_library && checks_order();
	else if (missing)
		add_missing(load, missing, strcspn(missing, ":"));
	else if (strstr(text, ": version `") && strstr(text, "' not found"))
		add_missing(load, text, strlen(text));
	else if (strcmp(text, "statically linked") == 0)
		load->is_tried = false; /* glibc's, of a program that needs no library, whatever is preloaded */
}

void cq_trial_load(const char *loader, const char *program, const char *library, struct cq_trial_load *ret)
{
	char *answer, *rest, *line;
	int pipes[2], status;
	pid_t child;

	memset(ret, 0, sizeof *ret);
	if (!is_trusted_loader(loader) || pipe2(pipes, O_CLOEXEC) != 0)
		return;
	child = fork();
	if (child == 0)
		execute_loader(loader, program, library, pipes[1]);
	close(pipes[1]);
	if (child > 0) {
		answer = rest = read_all(pipes[0]);
		ret->is_tried = waitpid(child, &status, 0) == child && WIFEXITED(status) &&
				WEXITSTATUS(status) != CQ_EXIT_FAILED;
		while ((line = strsep(&rest, "\n")))
			take_line(ret, line, library);
		free(answer);
	}
	close(pipes[0]);
}

/* The trap that is tried shows one CPU, which tells its answer from the kernel's. */

struct asked {
	int pipe;
	unsigned real; /* CPUs of this process */
	bool is_below_other_trap;
	struct cq_trial_trap result;
};

static bool is_answered(const struct asked *asked)
{
	struct cq_cpumask mask = {.words = {0}};

	if (cq_raw_sched_getaffinity(0, sizeof mask, &mask) <= 0 || !cq_probe_trap())
		return false;
	return asked->real == 1 || asked->is_below_other_trap || cq_cpumask_count(mask.words, CQ_MASK_WORDS) == 1;
}

/* Asks below the trap, and in a child. */
static int ask(void *argument)
{
	struct asked *asked = argument;
	int status = 0;
	pid_t child;

	asked->result.reaches = asked->result.reaches_children = is_answered(asked);
	child = fork(); /* if there can be none, what it would have found stays open */
	if (child == 0)
		_exit(is_answered(asked));
	if (child > 0 && waitpid(child, &status, 0) == child)
		asked->result.reaches_children = WIFEXITED(status) && WEXITSTATUS(status) == 1;
	return write(asked->pipe, &asked->result, sizeof asked->result) != sizeof asked->result;
}

static void keep_error(void *argument, int error)
{
	struct asked *asked = argument;

	asked->result.error = error;
}

static void prepare_view(struct cq_view *view)
{
	cq_policy_init(&view->policy);
	view->policy.count = 1;
	if (cq_view_init(view, "/", cq_settings_now) < 0)
		_exit(1);
}

static _Noreturn void try_trap(struct asked *asked, bool is_init, bool may_take_rights)
{
	static struct cq_view view;
	struct cq_init_program program = {
		.start = ask, .no_trap = keep_error, .argument = asked, .may_take_rights = may_take_rights, .timer = -1};
	struct cq_cpumask kernel;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	setsid(); /* so that --init finds no terminal to hand on */
	prepare_view(&view);
	asked->is_below_other_trap = cq_probe_trap() != 0;
	asked->real = cq_cpumask_of_thread(&kernel) == 0 ? cq_cpumask_count(kernel.words, CQ_MASK_WORDS) : 1;
	if (is_init && !asked->is_below_other_trap) {
		cq_init_run(&view, &program);
		_exit(0);
	}
	asked->result.error = cq_trap_plant(&view, may_take_rights);
	_exit(ask(asked));
}

/* The process that makes the trial, and the watch of its trap, which ends with the last process below it, are children
 * of one that takes in both: cpuquota-exec may have children of other kinds, and PID 1 may take in none. */
static _Noreturn void look_after_trial(struct asked *asked, bool is_init, bool may_take_rights)
{
	struct cq_trial_trap result = {.error = 0};
	pid_t child;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	child = fork();
	if (child == 0)
		try_trap(asked, is_init, may_take_rights);
	if (child < 0) {
		result.error = -errno;
		if (write(asked->pipe, &result, sizeof result) != sizeof result)
			_exit(1);
	}
	close(asked->pipe);
	while (waitpid(-1, NULL, __WALL) > 0)
		continue;
	_exit(0);
}

struct cq_trial_trap cq_trial_trap(bool is_init, bool may_take_rights)
{
	struct asked asked = {.real = 0};
	struct cq_trial_trap result = {.error = -EIO};
	int pipes[2];
	pid_t child;

	if (pipe2(pipes, O_CLOEXEC) != 0)
		return (struct cq_trial_trap){.error = -errno};
	asked.pipe = pipes[1];
	child = fork();
	if (child == 0)
		look_after_trial(&asked, is_init, may_take_rights);
	close(pipes[1]);
	if (child < 0)
		result.error = -errno;
	else if (read(pipes[0], &result, sizeof result) != sizeof result)
		result = (struct cq_trial_trap){.error = -EIO};
	close(pipes[0]);
	if (child > 0)
		waitpid(child, NULL, 0);
	return result;
}
