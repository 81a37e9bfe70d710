/* SPDX-License-Identifier: MIT */
/*
 * A preload library with a malloc that asks for the CPU count in every call, as jemalloc does in its first one: before
 * any constructor, inside ld.so, in every thread. At the end it tells on standard error how often it asked, how often the
 * answer was not ASKING_MALLOC_EXPECTS, and how often a question came back to malloc.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define ALIGNMENT 16
#define ARENA (512ul << 20) /* reserved, not used */

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *old, size_t size);
void free(void *memory);
int posix_memalign(void **ret, size_t alignment, size_t size);
void *aligned_alloc(size_t alignment, size_t size);

static _Atomic unsigned long asked, recursions, failures, answers[4];
static _Atomic(char *) arena;
static _Atomic size_t used;
static __thread __attribute__((tls_model("initial-exec"))) int is_asking;

static unsigned count(const unsigned char *mask, size_t size)
{
	unsigned cpus = 0;

	while (size--)
		cpus += (unsigned)__builtin_popcount(*mask++);
	return cpus;
}

static void note(unsigned long answer)
{
	answers[answer < 3 ? answer : 3]++;
}

static void ask(void)
{
	unsigned char mask[128];
	long filled;

	if (is_asking) {
		recursions++;
		return;
	}
	is_asking = 1;
	errno = EXDEV;
	asked++;
	note((unsigned long)sysconf(_SC_NPROCESSORS_ONLN));
	note((unsigned long)get_nprocs());
	failures += sched_getaffinity(0, sizeof mask, (cpu_set_t *)mask) != 0;
	note(count(mask, sizeof mask));
	failures += pthread_getaffinity_np(pthread_self(), sizeof mask, (cpu_set_t *)mask) != 0;
	note(count(mask, sizeof mask));
	filled = syscall(SYS_sched_getaffinity, 0, sizeof mask, mask);
	failures += filled <= 0;
	note(count(mask, filled > 0 ? (size_t)filled : 0));
	failures += syscall(SYS_getpid) <= 0 || errno != EXDEV;
	is_asking = 0;
}

/* Gives memory out and never takes it back. The size stands before it. */
static void *take(size_t alignment, size_t size)
{
	char *base = arena, *none = NULL;
	size_t at, whole = (size + alignment + 2 * ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	uintptr_t address;

	if (!base) {
		base = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (!atomic_compare_exchange_strong(&arena, &none, base))
			base = none;
	}
	at = atomic_fetch_add(&used, whole);
	if (at + whole > ARENA)
		abort();
	address = ((uintptr_t)base + at + ALIGNMENT + alignment - 1) / alignment * alignment;
	((size_t *)address)[-1] = size;
	return (void *)address;
}

void *malloc(size_t size)
{
	ask();
	return take(ALIGNMENT, size);
}

void *calloc(size_t number, size_t size)
{
	ask();
	return take(ALIGNMENT, number * size); /* new pages are zero */
}

void *realloc(void *old, size_t size)
{
	size_t before = old ? ((size_t *)old)[-1] : 0;
	void *memory;

	ask();
	memory = take(ALIGNMENT, size);
	if (old)
		memcpy(memory, old, before < size ? before : size);
	return memory;
}

int posix_memalign(void **ret, size_t alignment, size_t size)
{
	ask();
	*ret = take(alignment < ALIGNMENT ? ALIGNMENT : alignment, size);
	return 0;
}

void *aligned_alloc(size_t alignment, size_t size)
{
	ask();
	return take(alignment < ALIGNMENT ? ALIGNMENT : alignment, size);
}

void free(void *memory)
{
	(void)memory;
}

static __attribute__((destructor)) void tell(void)
{
	const char *expects = getenv("ASKING_MALLOC_EXPECTS");
	unsigned long expected = expects ? strtoul(expects, NULL, 10) : 0, wrong = 0;
	char line[200];
	int length;

	for (unsigned long i = 0; i < 4; i++)
		wrong += i == expected ? 0 : answers[i];
	is_asking = 1;
	length = snprintf(line, sizeof line, "malloc: asked %s, %lu wrong, %lu failed, %lu recursions\n",
			  asked > 0 && answers[expected < 3 ? expected : 3] == asked * 5 ? "and answered" : "in vain", wrong,
			  failures, recursions);
	if (write(2, line, (size_t)length) != length)
		_exit(99);
}
