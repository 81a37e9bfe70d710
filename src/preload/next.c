/* SPDX-License-Identifier: MIT */
#include "next.h"

#include "lookup.h"

#include <errno.h>

long cq_syscall_itself(long number, ...); /* syscall.S */

_Static_assert(offsetof(struct cq_next, syscall) == 0, "syscall.S jumps by the first pointer");

void *cq_next_find(const char *name)
{
	struct cq_lookup lookup = {.name = name};

	cq_lookup_next(&lookup, 1);
	return lookup.found;
}

/* What is done where there is no next definition to be had. */
static long without_sysconf(int name)
{
	(void)name;
	return -1; /* "no definite limit": errno stays */
}

static int without_pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *mask)
{
	(void)thread, (void)size, (void)mask;
	return ENOSYS;
}

static int without_pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *mask)
{
	(void)thread, (void)size, (void)mask;
	return ENOSYS;
}

static int fail(void)
{
	errno = ENOSYS;
	return -1;
}

static int without_execve(const char *path, char *const *arguments, char *const *variables)
{
	(void)path, (void)arguments, (void)variables;
	return fail();
}

static int without_execvpe(const char *name, char *const *arguments, char *const *variables)
{
	(void)name, (void)arguments, (void)variables;
	return fail();
}

static int without_execveat(int directory, const char *path, char *const *arguments, char *const *variables, int flags)
{
	(void)directory, (void)path, (void)arguments, (void)variables, (void)flags;
	return fail();
}

static int without_fexecve(int fd, char *const *arguments, char *const *variables)
{
	(void)fd, (void)arguments, (void)variables;
	return fail();
}

static int without_posix_spawn(pid_t *ret_pid, const char *path, const posix_spawn_file_actions_t *actions,
			       const posix_spawnattr_t *attributes, char *const *arguments, char *const *variables)
{
	(void)ret_pid, (void)path, (void)actions, (void)attributes, (void)arguments, (void)variables;
	return ENOSYS;
}

#define without_posix_spawnp without_posix_spawn

static int without_open(const char *path, int flags, mode_t mode)
{
	(void)path, (void)flags, (void)mode;
	return fail();
}

static int without_openat(int directory, const char *path, int flags, mode_t mode)
{
	(void)directory, (void)path, (void)flags, (void)mode;
	return fail();
}

static int without___open_2(const char *path, int flags)
{
	return without_open(path, flags, 0);
}

static int without___openat_2(int directory, const char *path, int flags)
{
	return without_openat(directory, path, flags, 0);
}

static FILE *without_fopen(const char *path, const char *mode)
{
	(void)path, (void)mode;
	fail();
	return NULL;
}

static int without_pthread_create(pthread_t *ret_thread, const pthread_attr_t *attributes, void *(*start)(void *),
				  void *argument)
{
	(void)ret_thread, (void)attributes, (void)start, (void)argument;
	return EAGAIN;
}

static int without_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
	(void)option, (void)a, (void)b, (void)c, (void)d;
	return fail();
}

#define without_open64 without_open
#define without_openat64 without_openat
#define without___open64_2 without___open_2
#define without___openat64_2 without___openat_2
#define without_fopen64 without_fopen

#define CQ_HOOK_ALONE(name)

#define CQ_HOOK(type, name, parameters, arguments)                                     \
	static type resolve_and_##name parameters                                      \
	{                                                                              \
		type(*found) parameters = (type(*) parameters)(uintptr_t)cq_next_find(#name); \
                                                                                       \
		if (!found)                                                            \
			return without_##name arguments;                               \
		__atomic_store_n(&cq_next.name, found, __ATOMIC_RELEASE);              \
		return found arguments;                                                \
	}
#include "hooks.def"
#undef CQ_HOOK

#define CQ_HOOK(type, name, parameters, arguments) .name = resolve_and_##name,
struct cq_next cq_next = {
	.syscall = cq_syscall_itself,
#include "hooks.def"
};
#undef CQ_HOOK

/* All of them, as none may be looked up later in a signal handler or between fork and exec, where another thread may have
 * left the lock of the loader taken. No pointers, so that the table needs no relocation. */
static const struct {
	char name[24];
	size_t offset;
} wanted[] = {
#define WANTED(name) {#name, offsetof(struct cq_next, name)}
	WANTED(syscall),
	WANTED(clock_gettime),
	WANTED(getauxval),
#define CQ_HOOK(type, name, parameters, arguments) WANTED(name),
#include "hooks.def"
#undef CQ_HOOK
};

void cq_next_resolve(void)
{
	struct cq_lookup lookups[CQ_ARRAY_SIZE(wanted)];

	for (size_t i = 0; i < CQ_ARRAY_SIZE(wanted); i++)
		lookups[i] = (struct cq_lookup){.name = wanted[i].name};
	cq_lookup_next(lookups, CQ_ARRAY_SIZE(wanted));
	for (size_t i = 0; i < CQ_ARRAY_SIZE(wanted); i++) {
		void **target = (void **)((char *)&cq_next + wanted[i].offset);

		if (lookups[i].found)
			__atomic_store_n(target, lookups[i].found, __ATOMIC_RELEASE);
	}
}
