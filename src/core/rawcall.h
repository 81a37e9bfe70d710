/* SPDX-License-Identifier: MIT */
/*
 * System calls without libc: no errno, no cancellation point, and no hook of this or another preload library in the
 * way. Each returns what the kernel returns: a value, or -Exxx.
 */
#ifndef CQ_RAWCALL_H
#define CQ_RAWCALL_H

#include "base.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/types.h>

static inline long cq_rawcall(long number, long a, long b, long c, long d)
{
#if defined __x86_64__
	register long r10 __asm__("r10") = d;
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
	return ret;
#elif defined __aarch64__
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
#else
#error "cpuquota knows the system call convention of x86-64 and arm64 only"
#endif
}

static inline int cq_raw_openat(int dirfd, const char *path, int flags)
{
	return (int)cq_rawcall(SYS_openat, dirfd, (long)path, flags, 0);
}

static inline ssize_t cq_raw_read(int fd, void *buffer, size_t size)
{
	return cq_rawcall(SYS_read, fd, (long)buffer, (long)size, 0);
}

static inline ssize_t cq_raw_write(int fd, const void *buffer, size_t size)
{
	return cq_rawcall(SYS_write, fd, (long)buffer, (long)size, 0);
}

static inline int cq_raw_close(int fd)
{
	return (int)cq_rawcall(SYS_close, fd, 0, 0, 0);
}

/* Returns the length, without a terminating NUL; a link longer than SIZE is cut. */
static inline ssize_t cq_raw_readlink(const char *path, char *buffer, size_t size)
{
	return cq_rawcall(SYS_readlinkat, AT_FDCWD, (long)path, (long)buffer, (long)size);
}

/* Returns the number of bytes that the kernel wrote, unlike libc's function of that name. */
static inline long cq_raw_sched_getaffinity(pid_t pid, size_t size, void *mask)
{
	return cq_rawcall(SYS_sched_getaffinity, pid, (long)size, (long)mask, 0);
}

static inline long cq_raw_sched_setaffinity(pid_t pid, size_t size, const void *mask)
{
	return cq_rawcall(SYS_sched_setaffinity, pid, (long)size, (long)mask, 0);
}

#endif
