/* SPDX-License-Identifier: MIT */
/*
 * On which CPUs threads may run: sched_getaffinity(2), sched_setaffinity(2) and their relatives. The kernel is asked
 * directly, which is all that libc does, so that an allocator may ask while it starts and nothing is looked up yet.
 */
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

/* Returns 0 or -Exxx. The kernel looks at MASK first, so that a bad address is its EFAULT and no crash. */
static int set_affinity(pid_t thread, size_t size, const void *mask)
{
	struct cq_cpumask real;
	long r = cq_raw_sched_setaffinity(thread, size, mask);

	if (r < 0 || !is_own_thread(thread))
		return (int)r;
	/* All that it was shown means all that it has. If that fails it has what it asked for. */
	if (cq_channel_is_all(mask, read_size(size, &real), &real))
		cq_raw_sched_setaffinity(thread, sizeof real, &real);
	return 0;
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

	if (!error && cq_channel_is_all(mask, read_size(size, &real), &real))
		cq_next.pthread_setaffinity_np(thread, sizeof real, (const cpu_set_t *)&real);
	return error;
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
