/* SPDX-License-Identifier: MIT */
/* What the test programs share: checks that are told one a line, and what the kernel says, without a hook in between. */
#ifndef CHECKS_H
#define CHECKS_H

#include "rawcall.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#define LARGEST 8192         /* bytes of a mask */
#define NOBODY 0x3fffffff    /* above the largest pid that Linux can have (2^22) */
#define KEPT_ERRNO EXDEV     /* what nothing here answers with */

/* The three ways to ask, and to tell, about the calling thread's mask or another's. */
enum way { LIBC, PTHREAD, SYSCALL, WAYS };

static const char *const way_names[] = {"sched", "pthread", "syscall"};

struct mask {
	unsigned char bytes[LARGEST];
};

static int checks_failed;

__attribute__((format(printf, 2, 3), unused)) static bool check(bool good, const char *format, ...)
{
	va_list arguments;

	printf(good ? "ok - " : "not ok - ");
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	fflush(stdout);
	checks_failed += !good;
	return good;
}

/* The last line tells whoever reads them that none is missing. */
__attribute__((unused)) static int done(void)
{
	puts("done");
	return fflush(stdout) != 0 || checks_failed;
}

__attribute__((noreturn, unused)) static void give_up(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(2);
}

/* What the kernel has for THREAD (0: the calling one). Returns the number of bytes. */
__attribute__((unused)) static size_t kernel_mask(pid_t thread, struct mask *ret)
{
	long got;

	memset(ret, 0, sizeof *ret);
	got = cq_raw_sched_getaffinity(thread, sizeof *ret, ret);
	if (got <= 0) {
		errno = (int)-got;
		give_up("sched_getaffinity without a hook");
	}
	return (size_t)got;
}

__attribute__((unused)) static bool is_equal(const struct mask *a, const struct mask *b)
{
	return memcmp(a, b, sizeof *a) == 0;
}

__attribute__((unused)) static bool has_cpu(const struct mask *mask, unsigned cpu)
{
	return mask->bytes[cpu / 8] >> cpu % 8 & 1;
}

__attribute__((unused)) static unsigned count_cpus(const struct mask *mask)
{
	unsigned count = 0;

	for (unsigned cpu = 0; cpu < LARGEST * 8; cpu++)
		count += has_cpu(mask, cpu);
	return count;
}

__attribute__((unused)) static bool is_within(const struct mask *mask, const struct mask *other)
{
	for (size_t i = 0; i < sizeof *mask; i++) {
		if (mask->bytes[i] & ~other->bytes[i])
			return false;
	}
	return true;
}

__attribute__((unused)) static void only_cpu(struct mask *ret, unsigned cpu)
{
	memset(ret, 0, sizeof *ret);
	ret->bytes[cpu / 8] = (unsigned char)(1 << cpu % 8);
}

/* Asks in one of the ways. Returns what that returns; an error is in errno in each case. */
__attribute__((unused)) static long get_mask(enum way way, pthread_t thread, pid_t id, size_t size, void *mask)
{
	int error;

	switch (way) {
	case LIBC:
		return sched_getaffinity(id, size, mask);
	case SYSCALL:
		return syscall(SYS_sched_getaffinity, id, size, mask);
	default:
		error = pthread_getaffinity_np(thread, size, mask);
		if (error)
			errno = error;
		return error ? -1 : 0;
	}
}

__attribute__((unused)) static long set_mask(enum way way, pthread_t thread, pid_t id, size_t size, const void *mask)
{
	int error;

	switch (way) {
	case LIBC:
		return sched_setaffinity(id, size, mask);
	case SYSCALL:
		return syscall(SYS_sched_setaffinity, id, size, mask);
	default:
		error = pthread_setaffinity_np(thread, size, mask);
		if (error)
			errno = error;
		return error ? -1 : 0;
	}
}

/* Memory that ends where the next page cannot be touched: SIZE bytes before that. */
__attribute__((unused)) static unsigned char *guarded(size_t size)
{
	size_t page = (size_t)getpagesize(), pages = (size + page - 1) / page + 1;
	unsigned char *memory = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || mprotect(memory + pages * page, page, PROT_NONE) != 0)
		give_up("mmap");
	return memory + pages * page - size;
}

/* Another thread that does nothing, to be asked about. */
struct sleeper {
	pthread_t thread;
	pid_t id;
	pthread_barrier_t is_up, may_end;
};

__attribute__((unused)) static void *sleep_in_thread(void *argument)
{
	struct sleeper *sleeper = argument;

	sleeper->id = (pid_t)cq_rawcall(SYS_gettid, 0, 0, 0, 0);
	pthread_barrier_wait(&sleeper->is_up);
	pthread_barrier_wait(&sleeper->may_end);
	return NULL;
}

__attribute__((unused)) static void start_sleeper(struct sleeper *ret)
{
	pthread_barrier_init(&ret->is_up, NULL, 2);
	pthread_barrier_init(&ret->may_end, NULL, 2);
	errno = pthread_create(&ret->thread, NULL, sleep_in_thread, ret);
	if (errno)
		give_up("pthread_create");
	pthread_barrier_wait(&ret->is_up);
}

__attribute__((unused)) static void end_sleeper(struct sleeper *sleeper)
{
	pthread_barrier_wait(&sleeper->may_end);
	pthread_join(sleeper->thread, NULL);
}

/* Another process, likewise. */
__attribute__((unused)) static pid_t start_child(void)
{
	pid_t child = fork();

	if (child < 0)
		give_up("fork");
	if (child == 0) {
		for (;;)
			pause();
	}
	return child;
}

__attribute__((unused)) static void end_child(pid_t child)
{
	kill(child, 9);
	waitpid(child, NULL, 0);
}

#endif
