/* SPDX-License-Identifier: MIT */
/*
 * glibc's malloc gives threads arenas of their own, up to 8 for each CPU, whose number it takes from where no hook reaches.
 * It fixes that limit when the first thread asks for an arena (malloc/arena.c, arena_get2), so it is told of another just
 * before there is a second thread. A program without threads pays nothing.
 */
#include "next.h"
#include "start.h"

#include <malloc.h>
#include <string.h>

#define ARENAS_PER_CPU 8

/* True if the user has said how many arenas there are to be; mallopt(3), glibc's manual on tunables. */
static bool is_set_by_user(void)
{
	const char *tunables = cq_environment("GLIBC_TUNABLES");

	return cq_environment("MALLOC_ARENA_MAX") || (tunables && strstr(tunables, "glibc.malloc.arena_"));
}

static __attribute__((noinline)) void limit_arenas(void)
{
	struct cq_answer answer;
	/* musl has no such function; an allocator that has one takes it as it likes. */
	int (*set_option)(int option, int value) = (int (*)(int, int))(uintptr_t)cq_next_find("mallopt");

	if (set_option && !is_set_by_user() && cq_channel_answer(CQ_CHANNEL_MALLOC_ARENAS, &answer))
		set_option(M_ARENA_MAX, (int)answer.count * ARENAS_PER_CPU);
}

CQ_EXPORT int pthread_create(pthread_t *ret_thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
	static bool is_done;

	if (!__atomic_load_n(&is_done, __ATOMIC_RELAXED) && !__atomic_exchange_n(&is_done, true, __ATOMIC_RELAXED))
		limit_arenas();
	return cq_next.pthread_create(ret_thread, attributes, start, argument);
}
