/* SPDX-License-Identifier: MIT */
#include "exec.h"

#include "affinity.h"
#include "next.h"
#include "probe.h"
#include "program.h"
#include "rawcall.h"
#include "smallfile.h"
#include "start.h"
#include "text.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

/* More arguments than that are not handed over: the new list of them stands on the stack. */
#define MAX_ARGUMENTS 2048

static bool stat_fd(int fd, struct stat *ret)
{
	return cq_rawcall(SYS_fstat, fd, (long)ret, 0, 0) == 0;
}

/* True if cpuquota-exec is there and may be executed, and the file behind FD is another one. */
static bool can_hand_over(const struct stat *program)
{
	struct stat wrapper;
	int fd;
	bool is_there;

	if (cq_rawcall(SYS_faccessat, AT_FDCWD, (long)cq_exec_path, X_OK, 0) != 0)
		return false;
	fd = cq_raw_openat(AT_FDCWD, cq_exec_path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return false;
	is_there = stat_fd(fd, &wrapper);
	cq_raw_close(fd);
	return is_there && (wrapper.st_ino != program->st_ino || wrapper.st_dev != program->st_dev);
}

/* True if the file behind FD may be executed; else the caller is to have the error of its own call. */
static bool is_executable(int fd)
{
	long r = cq_rawcall(SYS_faccessat2, fd, (long)"", X_OK, AT_EMPTY_PATH | AT_EACCESS);
	struct stat status;

	if (r == -ENOSYS || r == -EPERM) /* not there before Linux 5.8, and not to an older container engine's filter */
		return stat_fd(fd, &status) && status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH);
	return r == 0;
}

/* True if what the file behind FD starts needs a trap: it does itself or, if it is a script and INTERPRETERS of
 * interpreters may be followed, the last one does. */
static bool file_needs_trap(int fd, int interpreters)
{
	struct cq_program program;
	char interpreter[256];
	bool needs = false;
	int opened = -1;

	for (int i = 0; i <= interpreters; i++) {
		int r = is_executable(fd) ? cq_program_inspect(fd, &program) : -EACCES;

		if (r == 0)
			needs = cq_program_needs_trap(&program);
		if (r != -ENOEXEC || cq_program_interpreter(fd, interpreter, sizeof interpreter) < 0)
			break;
		if (opened >= 0)
			cq_raw_close(opened);
		fd = opened = cq_open_below("/", interpreter);
		if (fd < 0)
			break;
	}
	if (opened >= 0)
		cq_raw_close(opened);
	return needs;
}

/* True if the file behind FD is to be executed by way of cpuquota-exec. */
static bool is_for_trap(int fd, int interpreters)
{
	struct stat status;

	return file_needs_trap(fd, interpreters) && stat_fd(fd, &status) && !cq_program_gives_rights(fd, &status) && can_hand_over(&status) &&
	       !cq_probe_trap();
}

/* True if the policy of this process lets programs be handed over at all; that of the program is cpuquota-exec's matter. */
static bool may_hand_over(void)
{
	const struct cq_policy *policy = &cq_view.policy;

	return __atomic_load_n(&cq_state, __ATOMIC_ACQUIRE) == CQ_STATE_READY && policy->trap != CQ_TRAP_NEVER &&
	       policy->affinity == CQ_AFFINITY_SHOWN && !cq_channel_is_frozen();
}

/* Opens the file, so that the kernel is the first to look at the address. Returns -Exxx without one. */
static int open_program(const char *path)
{
	return path && may_hand_over() ? cq_open_below("/", path) : -ENOENT;
}

/* A name in /proc may mean another file in the process after the first exec: /proc/self/exe does. */
static bool is_for_trap_by_path(int fd, const char *path)
{
	return strncmp(path, "/proc/", 6) != 0 && is_for_trap(fd, CQ_PROGRAM_MAX_INTERPRETERS - 1);
}

static bool path_is_for_trap(const char *path)
{
	bool is;
	int fd = open_program(path);

	if (fd < 0)
		return false;
	is = is_for_trap_by_path(fd, path);
	cq_raw_close(fd);
	return is;
}

/* True if the kernel can read there, by a call that reads a string and does nothing. */
static bool is_readable(const void *address)
{
	return cq_rawcall(SYS_faccessat, AT_FDCWD, (long)address, F_OK, 0) != -EFAULT;
}

/* The number of arguments, or SIZE_MAX if they are too many to be handed over, or cannot be read. */
static size_t count_arguments(char *const *arguments)
{
	size_t count = 0;

	if (arguments && !is_readable(arguments))
		return SIZE_MAX;
	while (arguments && arguments[count]) {
		if (++count > MAX_ARGUMENTS)
			return SIZE_MAX;
	}
	return count;
}

/* "cpuquota-exec --hand-over PATH ARGUMENT...": the arguments are the program's, its own name first. */
#define PREFIX_LENGTH 3

static void wrap(char **ret, const char *option, const char *path, char *const *arguments, size_t count)
{
	ret[0] = cq_exec_path;
	ret[1] = (char *)option;
	ret[2] = (char *)path;
	memmove(ret + PREFIX_LENGTH, arguments, count * sizeof *ret);
	ret[PREFIX_LENGTH + count] = NULL;
}

/* Returns if that could not be executed. */
static __attribute__((noinline)) void hand_over(const char *option, const char *path, char *const *arguments,
						char *const *variables)
{
	size_t count = count_arguments(arguments);

	if (count != SIZE_MAX) {
		char **wrapped = __builtin_alloca((count + PREFIX_LENGTH + 1) * sizeof *wrapped);

		wrap(wrapped, option, path, arguments, count);
		cq_next.execve(cq_exec_path, wrapped, variables);
	}
}

/* A program that is named by a descriptor: "--hand-over-fd NUMBER:COPY". The descriptor itself may be closed by the first
 * exec; the copy is not, and cpuquota-exec puts it back in its place. Not a script, whose interpreter could open it, or
 * not, by that number. */
static __attribute__((noinline)) void hand_over_fd(int fd, char *const *arguments, char *const *variables)
{
	struct cq_message numbers = {.length = 0};
	int copy;

	if (!may_hand_over() || !is_for_trap(fd, 0))
		return;
	copy = (int)cq_rawcall(SYS_fcntl, fd, F_DUPFD, 3, 0);
	if (copy < 0)
		return;
	cq_message_add_number(&numbers, (uint64_t)fd);
	cq_message_add_string(&numbers, ":");
	cq_message_add_number(&numbers, (uint64_t)copy);
	hand_over("--hand-over-fd", numbers.text, arguments, variables);
	cq_raw_close(copy);
}

/* The descriptor that PATH names ("/proc/self/fd/3"), or -1. */
static int descriptor_in(const char *path)
{
	static const char *const directories[] = {"/proc/self/fd/", "/dev/fd/"};
	uint64_t number;

	for (size_t i = 0; i < CQ_ARRAY_SIZE(directories); i++) {
		size_t length = strlen(directories[i]);
		const char *p = path + length;

		if (strncmp(path, directories[i], length) == 0 && cq_text_number(&p, INT32_MAX, &number) && !*p)
			return (int)number;
	}
	return -1;
}

static void hand_over_path(const char *path, char *const *arguments, char *const *variables)
{
	int file = open_program(path), fd;
	bool is_for;

	if (file < 0)
		return;
	is_for = is_for_trap_by_path(file, path);
	fd = descriptor_in(path);
	cq_raw_close(file);
	if (fd >= 0)
		hand_over_fd(fd, arguments, variables);
	else if (is_for)
		hand_over("--hand-over", path, arguments, variables);
}

/* What all of these return where their call did: R. */
static int not_executed(bool is_pinned, int r)
{
	if (is_pinned)
		cq_affinity_unpin();
	return r;
}

static int execute(const char *path, char *const *arguments, char *const *variables)
{
	bool is_pinned = cq_affinity_pin_for_exec();

	hand_over_path(path, arguments, variables);
	return not_executed(is_pinned, cq_next.execve(path, arguments, variables));
}

/* Finds NAME as execvp does. Returns NAME itself, or RET; NULL where there is no such file, or its path is too long. */
static const char *search(const char *name, char *ret, size_t size)
{
	if (!name || strchr(name, '/'))
		return name;
	return cq_program_search(name, cq_environment("PATH"), ret, size) == 0 ? ret : NULL;
}

static int execute_found(const char *name, char *const *arguments, char *const *variables)
{
	char buffer[CQ_PATH_MAX];
	const char *path = may_hand_over() ? search(name, buffer, sizeof buffer) : NULL;
	bool is_pinned = cq_affinity_pin_for_exec();

	hand_over_path(path, arguments, variables);
	return not_executed(is_pinned, cq_next.execvpe(name, arguments, variables));
}

CQ_EXPORT int execve(const char *path, char *const *arguments, char *const *variables)
{
	return execute(path, arguments, variables);
}

CQ_EXPORT int execv(const char *path, char *const *arguments)
{
	return execute(path, arguments, environ);
}

CQ_EXPORT int execvpe(const char *name, char *const *arguments, char *const *variables)
{
	return execute_found(name, arguments, variables);
}

CQ_EXPORT int execvp(const char *name, char *const *arguments)
{
	return execute_found(name, arguments, environ);
}

/* Makes an array, on the caller's stack, of the arguments of execl and its relatives; LAST is the first of them. What
 * comes behind their NULL can then be had from LIST. */
#define COLLECT(array, list, last)                                                                     \
	do {                                                                                           \
		size_t count = 0;                                                                      \
                                                                                                       \
		va_start(list, last);                                                                  \
		for (const char *next = last; next; next = va_arg(list, const char *))                 \
			count++;                                                                       \
		va_end(list);                                                                          \
		array = __builtin_alloca((count + 1) * sizeof *array);                                 \
		va_start(list, last);                                                                  \
		array[0] = (char *)last;                                                               \
		for (size_t i = 1; i <= count; i++)                                                    \
			array[i] = va_arg(list, char *);                                               \
	} while (0)

CQ_EXPORT int execl(const char *path, const char *argument, ...)
{
	char **arguments;
	va_list list;

	COLLECT(arguments, list, argument);
	va_end(list);
	return execute(path, arguments, environ);
}

CQ_EXPORT int execlp(const char *name, const char *argument, ...)
{
	char **arguments;
	va_list list;

	COLLECT(arguments, list, argument);
	va_end(list);
	return execute_found(name, arguments, environ);
}

CQ_EXPORT int execle(const char *path, const char *argument, ...)
{
	char *const *variables;
	char **arguments;
	va_list list;

	COLLECT(arguments, list, argument);
	variables = va_arg(list, char *const *);
	va_end(list);
	return execute(path, arguments, variables);
}

CQ_EXPORT int fexecve(int fd, char *const *arguments, char *const *variables)
{
	bool is_pinned = cq_affinity_pin_for_exec();

	if (fd >= 0)
		hand_over_fd(fd, arguments, variables);
	return not_executed(is_pinned, cq_next.fexecve(fd, arguments, variables));
}

/* The kernel may be given no path at all, which the C library's declaration does not foresee. */
static __attribute__((noinline)) void hand_over_at(int directory, const char *path, char *const *arguments,
						   char *const *variables, int flags)
{
	if (!path)
		return;
	if (directory >= 0 && !*path && flags == AT_EMPTY_PATH)
		hand_over_fd(directory, arguments, variables);
	else if ((directory == AT_FDCWD || *path == '/') && !flags)
		hand_over_path(path, arguments, variables);
}

CQ_EXPORT int execveat(int directory, const char *path, char *const *arguments, char *const *variables, int flags)
{
	bool is_pinned = cq_affinity_pin_for_exec();

	hand_over_at(directory, path, arguments, variables, flags);
	return not_executed(is_pinned, cq_next.execveat(directory, path, arguments, variables, flags));
}

/* Returns as posix_spawn does, or -1 if the program is not to be handed over, or cannot be. */
static __attribute__((noinline)) int spawn(pid_t *ret_pid, const char *path, const posix_spawn_file_actions_t *actions,
					   const posix_spawnattr_t *attributes, char *const *arguments,
					   char *const *variables)
{
	size_t count = count_arguments(arguments);
	char **wrapped;

	if (count == SIZE_MAX || !path_is_for_trap(path))
		return -1;
	wrapped = __builtin_alloca((count + PREFIX_LENGTH + 1) * sizeof *wrapped);
	wrap(wrapped, "--hand-over", path, arguments, count);
	return cq_next.posix_spawn(ret_pid, cq_exec_path, actions, attributes, wrapped, variables) == 0 ? 0 : -1;
}

CQ_EXPORT int posix_spawn(pid_t *ret_pid, const char *path, const posix_spawn_file_actions_t *actions,
			  const posix_spawnattr_t *attributes, char *const *arguments, char *const *variables)
{
	if (spawn(ret_pid, path, actions, attributes, arguments, variables) == 0)
		return 0;
	return cq_next.posix_spawn(ret_pid, path, actions, attributes, arguments, variables);
}

CQ_EXPORT int posix_spawnp(pid_t *ret_pid, const char *name, const posix_spawn_file_actions_t *actions,
			   const posix_spawnattr_t *attributes, char *const *arguments, char *const *variables)
{
	char buffer[CQ_PATH_MAX];
	const char *path = may_hand_over() ? search(name, buffer, sizeof buffer) : NULL;

	if (spawn(ret_pid, path, actions, attributes, arguments, variables) == 0)
		return 0;
	return cq_next.posix_spawnp(ret_pid, name, actions, attributes, arguments, variables);
}

/* True if PATH still names the file that this process was made from, which gives it no rights. */
static bool is_own_file(const char *path)
{
	struct stat own, named;
	int fd = cq_raw_openat(AT_FDCWD, "/proc/self/exe", O_RDONLY | O_CLOEXEC), other;
	bool is;

	if (fd < 0)
		return false;
	other = cq_raw_openat(AT_FDCWD, path, O_PATH | O_CLOEXEC);
	is = other >= 0 && stat_fd(fd, &own) && stat_fd(other, &named) && own.st_ino == named.st_ino &&
	     own.st_dev == named.st_dev && is_for_trap(fd, 0);
	if (other >= 0)
		cq_raw_close(other);
	cq_raw_close(fd);
	return is;
}

void cq_exec_again(char *const *arguments, char *const *variables)
{
	const char *path = may_hand_over() ? (const char *)cq_next.getauxval(AT_EXECFN) : NULL;

	if (path && is_own_file(path))
		hand_over("--hand-over", path, arguments, variables);
}
