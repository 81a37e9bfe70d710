/* SPDX-License-Identifier: MIT */
/*
 * On which CPUs threads may run: sched_getaffinity(2), sched_setaffinity(2) and their relatives. The kernel is asked
 * directly, which is all that libc does, so that an allocator may ask while it starts and nothing is looked up yet.
 */
#include "affinity.h"

#include "next.h"
#include "rawcall.h"
#include "start.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* What libc's syscall() makes of an error; jumped to by syscall.S. */
long cq_syscall_failed(long error);
long cq_syscall_sched_getaffinity(long number, long pid, long size, void *mask);
long cq_syscall_sched_setaffinity(long number, long pid, long size, const void *mask);

long cq_syscall_failed(long error)
{
	errno = (int)-error;
	return -1;
}

/* True for the calling thread (0) and all others of this process. */
static bool is_own_thread(pid_t thread)
{
	if (!thread)
		return true;
	if (cq_channel_is_frozen())
		return false; /* that cannot be found out, then */
	return cq_rawcall(SYS_tgkill, cq_rawcall(SYS_getpid, 0, 0, 0, 0), thread, 0, 0) == 0;
}

/* Leaves in the first SIZE bytes of MASK, which the kernel has filled, no more CPUs than are shown. */
static void narrow(void *mask, size_t size)
{
	struct cq_answer answer;

	if (cq_channel_answer(CQ_CHANNEL_AFFINITY, &answer))
		cq_cpumask_keep_run(mask, size / sizeof(uint64_t), answer.first, answer.count);
}

/* Returns the number of bytes that were filled, or -Exxx. */
static long get_affinity(pid_t thread, size_t size, void *mask)
{
	long got = cq_raw_sched_getaffinity(thread, size, mask);

	if (got > 0 && is_own_thread(thread))
		narrow(mask, (size_t)got);
	return got;
}

/* As get_affinity(), but clears the rest of MASK as libc does. Returns 0 or -Exxx. */
static int get_whole_affinity(pid_t thread, size_t size, void *mask)
{
	long got = get_affinity(thread, size < INT_MAX ? size : INT_MAX, mask);

	if (got < 0)
		return (int)got;
	memset((char *)mask + got, 0, size - (size_t)got);
	return 0;
}

/* How many bytes of a mask of SIZE the kernel has read: there need be no more behind the pointer. */
static size_t read_size(size_t size, struct cq_cpumask *scratch)
{
	long most = cq_raw_sched_getaffinity(0, sizeof *scratch, scratch);

	return most > 0 && size > (size_t)most ? (size_t)most : size;
}

/* The thread whose mask was the first that this program has set, if it was set to all that is shown; NONE_SET before. */
static pid_t pinned_thread;
#define NONE_SET 0
#define OTHERS_SET (-1)

static pid_t own_thread(void)
{
	return (pid_t)cq_rawcall(SYS_gettid, 0, 0, 0, 0);
}

static void note_set(pid_t thread, bool is_all)
{
	pid_t none = NONE_SET, noted;

	is_all = is_all && !cq_channel_is_frozen();
	noted = !is_all ? OTHERS_SET : thread ? thread : own_thread();

	if (!__atomic_compare_exchange_n(&pinned_thread, &none, noted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		__atomic_store_n(&pinned_thread, OTHERS_SET, __ATOMIC_RELAXED);
}

/* Returns 0 or -Exxx. The kernel looks at MASK first, so that a bad address is its EFAULT and no crash. */
static int set_affinity(pid_t thread, size_t size, const void *mask)
{
	struct cq_cpumask real;
	long r = cq_raw_sched_setaffinity(thread, size, mask);
	bool is_all;

	if (r < 0 || !is_own_thread(thread))
		return (int)r;
	/* All that it was shown means all that it has. If that fails it has what it asked for. */
	is_all = cq_channel_is_all(mask, read_size(size, &real), &real);
	if (is_all)
		cq_raw_sched_setaffinity(thread, sizeof real, &real);
	note_set(thread, is_all);
	return 0;
}

/* The kilobyte of stack is not that of every exec. */
static __attribute__((noinline)) bool set_shown(pid_t thread)
{
	struct cq_cpumask shown;

	return cq_channel_mask(CQ_CHANNEL_AFFINITY, &shown) &&
	       cq_raw_sched_setaffinity(thread, sizeof shown, &shown) >= 0;
}

bool cq_affinity_pin_for_exec(void)
{
	pid_t thread = __atomic_load_n(&pinned_thread, __ATOMIC_RELAXED);

	/* A child that was forked is another thread. */
	return thread > 0 && thread == own_thread() && set_shown(thread);
}

void cq_affinity_unpin(void)
{
	struct cq_cpumask shown, real;

	if (cq_channel_mask(CQ_CHANNEL_AFFINITY, &shown) && cq_channel_is_all(&shown, sizeof shown, &real))
		cq_raw_sched_setaffinity(0, sizeof real, &real);
}

static int report(int r)
{
	return r < 0 ? (int)cq_syscall_failed(r) : r;
}

CQ_EXPORT int sched_getaffinity(pid_t thread, size_t size, cpu_set_t *mask)
{
	return report(get_whole_affinity(thread, size, mask));
}

CQ_EXPORT int sched_setaffinity(pid_t thread, size_t size, const cpu_set_t *mask)
{
	return report(set_affinity(thread, size, mask));
}

CQ_EXPORT int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *mask)
{
	int error;

	if (pthread_equal(thread, pthread_self()))
		return -get_whole_affinity(0, size, mask);
	error = cq_next.pthread_getaffinity_np(thread, size, mask);
	if (!error)
		narrow(mask, size);
	return error;
}

/* Not inlined, for the kilobyte of stack. */
static __attribute__((noinline)) int set_affinity_of_other(pthread_t thread, size_t size, const void *mask)
{
	struct cq_cpumask real;
	int error = cq_next.pthread_setaffinity_np(thread, size, mask);

	if (error)
		return error;
	if (cq_channel_is_all(mask, read_size(size, &real), &real))
		cq_next.pthread_setaffinity_np(thread, sizeof real, (const cpu_set_t *)&real);
	note_set(0, false);
	return 0;
}

CQ_EXPORT int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *mask)
{
	if (pthread_equal(thread, pthread_self()))
		return -set_affinity(0, size, mask);
	return set_affinity_of_other(thread, size, mask);
}

/* Takes the kernel's form of the arguments, and answers as it does: with the number of bytes. */
long cq_syscall_sched_getaffinity(long number, long thread, long size, void *mask)
{
	long got = get_affinity((pid_t)thread, (unsigned)size, mask);

	(void)number;
	return got < 0 ? cq_syscall_failed(got) : got;
}

long cq_syscall_sched_setaffinity(long number, long thread, long size, const void *mask)
{
	(void)number;
	return report(set_affinity((pid_t)thread, (unsigned)size, mask));
}
