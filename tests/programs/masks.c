/* SPDX-License-Identifier: MIT */
/*
 * The calls that read: what they answer, and what they touch.
 *
 * usage: masks ONLINE CONFIGURED AFFINITY   how many CPUs each of the three channels is to show
 */
#include "checks.h"

#define CANARY 64

static const size_t sizes[] = {8, 16, 128, 1024, LARGEST};
static const size_t bad_sizes[] = {0, 1, 4, 7, 9, 12};

static struct mask kernel; /* what the calling thread has */
static struct mask shown; /* what the first call said */

long __sysconf(int name) __attribute__((weak)); /* musl has none */

static void check_counts(long online, long configured)
{
	errno = KEPT_ERRNO;
	check(sysconf(_SC_NPROCESSORS_ONLN) == online, "sysconf online: %ld", sysconf(_SC_NPROCESSORS_ONLN));
	if (!__sysconf)
		give_up("__sysconf");
	check(__sysconf(_SC_NPROCESSORS_ONLN) == online, "__sysconf online: %ld", __sysconf(_SC_NPROCESSORS_ONLN));
	check(get_nprocs() == online, "get_nprocs: %d", get_nprocs());
	check(sysconf(_SC_NPROCESSORS_CONF) == configured, "sysconf configured: %ld", sysconf(_SC_NPROCESSORS_CONF));
	check(__sysconf(_SC_NPROCESSORS_CONF) == configured, "__sysconf configured: %ld", __sysconf(_SC_NPROCESSORS_CONF));
	check(get_nprocs_conf() == configured, "get_nprocs_conf: %d", get_nprocs_conf());
	check(errno == KEPT_ERRNO, "errno is kept by the counts");
}

static bool is_filled(const unsigned char *bytes, unsigned char with, size_t size)
{
	while (size--) {
		if (*bytes++ != with)
			return false;
	}
	return true;
}

static void check_size(enum way way, size_t size, unsigned affinity)
{
	unsigned char *canary = guarded(CANARY + size), *mask = canary + CANARY;
	unsigned expected = affinity < count_cpus(&kernel) ? affinity : count_cpus(&kernel);
	long filled = cq_raw_sched_getaffinity(0, size, mask), r;
	struct mask got;

	memset(canary, 0xaa, CANARY + size);
	errno = KEPT_ERRNO;
	r = get_mask(way, pthread_self(), 0, size, mask);
	if (filled < 0) {
		check(r == -1 && errno == EINVAL, "%s, %zu bytes: too small for this kernel: EINVAL", way_names[way], size);
		check(is_filled(canary, 0xaa, CANARY + size), "%s, %zu bytes: nothing is written", way_names[way], size);
		return;
	}
	check(r == (way == SYSCALL ? filled : 0), "%s, %zu bytes: returns %ld", way_names[way], size, r);
	check(errno == KEPT_ERRNO, "%s, %zu bytes: errno is kept", way_names[way], size);
	check(is_filled(canary, 0xaa, CANARY), "%s, %zu bytes: nothing before the mask is touched", way_names[way], size);
	check(is_filled(mask + filled, way == SYSCALL ? 0xaa : 0, size - (size_t)filled),
	      "%s, %zu bytes: the rest is %s", way_names[way], size, way == SYSCALL ? "left alone" : "cleared");
	memset(&got, 0, sizeof got);
	memcpy(&got, mask, (size_t)filled);
	check(count_cpus(&got) == expected, "%s, %zu bytes: %u CPUs", way_names[way], size, count_cpus(&got));
	check(is_within(&got, &kernel), "%s, %zu bytes: only real CPUs", way_names[way], size);
	if (!count_cpus(&shown))
		shown = got;
	check(is_equal(&got, &shown), "%s, %zu bytes: the CPUs that all others see", way_names[way], size);
}

static void check_bad_sizes(enum way way, pthread_t thread, pid_t id, const char *whose)
{
	for (size_t i = 0; i < sizeof bad_sizes / sizeof *bad_sizes; i++) {
		unsigned char *mask = guarded(bad_sizes[i]);
		long r;

		memset(mask, 0xaa, bad_sizes[i]);
		errno = 0;
		r = get_mask(way, thread, id, bad_sizes[i], mask);
		check(r == -1 && errno == EINVAL && is_filled(mask, 0xaa, bad_sizes[i]), "%s of %s, %zu bytes: EINVAL",
		      way_names[way], whose, bad_sizes[i]);
	}
}

static void check_bad_pointers(enum way way, pthread_t thread, pid_t id, const char *whose)
{
	unsigned char *readonly = mmap(NULL, 16384, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *const bad[] = {NULL, (void *)8, guarded(4), guarded(0), readonly, (void *)-4096l};

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		long r;

		errno = 0;
		r = get_mask(way, thread, id, 128, bad[i]);
		check(r == -1 && errno == EFAULT, "%s of %s, bad address %zu: EFAULT", way_names[way], whose, i);
		if (bad[i] == readonly)
			continue;
		errno = 0;
		r = set_mask(way, thread, id, 128, bad[i]);
		check(r == -1 && errno == EFAULT, "%s of %s, telling, bad address %zu: EFAULT", way_names[way], whose, i);
	}
	munmap(readonly, 16384);
}

static void check_no_such_thread(enum way way)
{
	const pid_t nobody[] = {NOBODY, -1};
	struct mask mask;

	if (way == PTHREAD)
		return;
	for (size_t i = 0; i < 2; i++) {
		long raw = cq_raw_sched_getaffinity(nobody[i], sizeof mask, &mask), r;

		errno = 0;
		r = get_mask(way, pthread_self(), nobody[i], sizeof mask, &mask);
		check(raw == -ESRCH && r == -1 && errno == ESRCH, "%s of %d: ESRCH", way_names[way], nobody[i]);
		errno = 0;
		r = set_mask(way, pthread_self(), nobody[i], sizeof kernel, &kernel);
		check(r == -1 && errno == ESRCH, "%s of %d, telling: ESRCH", way_names[way], nobody[i]);
	}
}

/* True if asking about ID or THREAD gives MASK. */
static bool gives(enum way way, pthread_t thread, pid_t id, const struct mask *mask)
{
	struct mask got;

	memset(&got, 0, sizeof got);
	errno = KEPT_ERRNO;
	return get_mask(way, thread, id, sizeof got, &got) >= 0 && is_equal(&got, mask) && errno == KEPT_ERRNO;
}

static void check_others(enum way way)
{
	struct sleeper sleeper;
	pid_t child;

	start_sleeper(&sleeper);
	check(gives(way, sleeper.thread, sleeper.id, &shown), "%s of another thread: as of this one", way_names[way]);
	check_bad_sizes(way, sleeper.thread, sleeper.id, "another thread");
	check_bad_pointers(way, sleeper.thread, sleeper.id, "another thread");
	end_sleeper(&sleeper);
	if (way == PTHREAD)
		return;
	check(gives(way, pthread_self(), getpid(), &shown), "%s of the own pid: as of 0", way_names[way]);
	child = start_child();
	check(gives(way, pthread_self(), child, &kernel), "%s of a child: what it really has", way_names[way]);
	kernel_mask(getppid(), &kernel);
	check(gives(way, pthread_self(), getppid(), &kernel), "%s of the parent: what it really has", way_names[way]);
	kernel_mask(0, &kernel);
	end_child(child);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	kernel_mask(0, &kernel);
	check_counts(atol(argv[1]), atol(argv[2]));
	for (enum way way = LIBC; way < WAYS; way++) {
		for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
			check_size(way, sizes[i], (unsigned)atoi(argv[3]));
		check_bad_sizes(way, pthread_self(), 0, "0");
		check_bad_pointers(way, pthread_self(), 0, "0");
		check_no_such_thread(way);
		check_others(way);
	}
	return done();
}
