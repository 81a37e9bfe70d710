/* SPDX-License-Identifier: MIT */
/*
 * The calls that write: a mask that was read can be put back, whatever was done in between, and any other one is taken at
 * its word. Needs more CPUs than are shown.
 *
 * usage: restore ONLINE SHOWN   what sysconf is to say, and how many CPUs a mask is to have
 */
#include "checks.h"

static const size_t sizes[] = {8, 16, 128, 1024, LARGEST};

static struct mask real, shown;
static size_t kernel_size;
static long online;

/* A thread to tell about: the calling one, or another. */
struct target {
	const char *name;
	pthread_t thread;
	pid_t id;
};

static bool kernel_has(const struct target *target, const struct mask *mask)
{
	struct mask now;

	kernel_mask(target->id, &now);
	return is_equal(&now, mask);
}

/* Reads a mask in one way and puts it back in another, with nothing or a pin in between. */
static void check_round_trip(const struct target *target, enum way get, enum way set, size_t size)
{
	const char *names[] = {way_names[get], way_names[set]};
	unsigned char *saved = guarded(size);
	struct mask pin;
	bool is_kept = true, is_pinned = true, is_seen = true;
	long r;

	memset(saved, 0, size);
	get_mask(get, target->thread, target->id, size, saved);
	errno = KEPT_ERRNO;
	r = set_mask(set, target->thread, target->id, size, saved);
	check(r == 0 && errno == KEPT_ERRNO && kernel_has(target, &real), "%s: %s, then %s, %zu bytes: the real mask stays",
	      target->name, names[0], names[1], size);

	for (unsigned cpu = 0; cpu < size * 8; cpu++) {
		struct mask got;

		if (!has_cpu(&real, cpu))
			continue;
		only_cpu(&pin, cpu);
		is_kept &= set_mask(set, target->thread, target->id, size, &pin) == 0;
		/* The only CPU that is shown is all that there is. */
		is_pinned &= kernel_has(target, is_equal(&pin, &shown) ? &real : &pin);
		memset(&got, 0, sizeof got);
		get_mask(get, target->thread, target->id, size, &got);
		is_seen &= is_equal(&got, &pin);
		is_seen &= sysconf(_SC_NPROCESSORS_ONLN) == online && get_nprocs() == online;
		is_kept &= set_mask(set, target->thread, target->id, size, saved) == 0 && kernel_has(target, &real);
	}
	check(is_pinned, "%s: %s, then %s, %zu bytes: pinned to one CPU", target->name, names[0], names[1], size);
	check(is_seen, "%s: %s, then %s, %zu bytes: pinned, it sees that, and the counts stay", target->name, names[0],
	      names[1], size);
	check(is_kept, "%s: %s, then %s, %zu bytes: after a pin the real mask comes back", target->name, names[0], names[1],
	      size);
}

static void check_target(const struct target *target)
{
	struct mask scratch;

	for (enum way get = LIBC; get < WAYS; get++) {
		for (enum way set = LIBC; set < WAYS; set++) {
			for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
				if (cq_raw_sched_getaffinity(0, sizes[i], &scratch) > 0)
					check_round_trip(target, get, set, sizes[i]);
			}
		}
	}
}

/* Another process may know the real CPUs; what it is told is what it gets. */
static void check_child(enum way set)
{
	struct target child = {"a child", pthread_self(), start_child()};

	check(set_mask(set, child.thread, child.id, sizeof shown, &shown) == 0 && kernel_has(&child, &shown),
	      "%s of a child: the shown mask passes through", way_names[set]);
	end_child(child.id);
}

/* Errors are the kernel's, and change nothing. */
static void check_refused(const struct target *target, enum way set)
{
	struct mask none = {{0}};
	long r;

	errno = 0;
	r = set_mask(set, target->thread, target->id, sizeof none, &none);
	check(r == -1 && errno == EINVAL, "%s: %s, no CPU: EINVAL", target->name, way_names[set]);
	none.bytes[LARGEST - 1] = 0x80;
	errno = 0;
	r = set_mask(set, target->thread, target->id, sizeof none, &none);
	check(r == -1 && errno == EINVAL, "%s: %s, a CPU that there is not: EINVAL", target->name, way_names[set]);
	errno = 0;
	r = set_mask(set, target->thread, target->id, 0, &real);
	check(r == -1 && errno == EINVAL, "%s: %s, 0 bytes: EINVAL", target->name, way_names[set]);
	check(kernel_has(target, &real), "%s: %s: after errors it has what it had", target->name, way_names[set]);
}

/* The kernel reads no more of a mask than it needs; a mask of one byte does, and a size that is too large as well. */
static void check_odd_sizes(const struct target *target, enum way set)
{
	unsigned char *mask = guarded(kernel_size), *byte = guarded(1);
	bool good;

	memcpy(mask, &shown, kernel_size);
	good = set_mask(set, target->thread, target->id, LARGEST, mask) == 0;
	check(good && kernel_has(target, &real), "%s: %s: a size larger than the memory", target->name, way_names[set]);
	*byte = shown.bytes[0];
	if (!*byte)
		return;
	good = set_mask(set, target->thread, target->id, 1, byte) == 0;
	check(good && (count_cpus(&shown) != (unsigned)__builtin_popcount(*byte) || kernel_has(target, &real)),
	      "%s: %s: a mask of one byte", target->name, way_names[set]);
	set_mask(set, target->thread, target->id, sizeof real, &real);
}

/* As another program sees it: /proc/self/status. */
static bool status_says_all(void)
{
	char line[4096], *end;
	bool good = false;
	FILE *status = fopen("/proc/thread-self/status", "re");

	while (status && fgets(line, sizeof line, status)) {
		unsigned count = 0;

		if (strncmp(line, "Cpus_allowed:", 13) != 0)
			continue;
		for (end = line + 13; *end; end++) {
			if (*end != ',' && *end != '\t' && *end != '\n')
				count += (unsigned)__builtin_popcount((unsigned)strtol((char[]){*end, 0}, NULL, 16));
		}
		good = count == count_cpus(&real);
	}
	if (status)
		fclose(status);
	return good;
}

int main(int argc, char **argv)
{
	struct target self = {"the calling thread", pthread_self(), 0}, own_pid = {"the own pid", pthread_self(), getpid()};
	struct target other = {"another thread", 0, 0};
	struct sleeper sleeper;

	if (argc != 3)
		return 2;
	online = atol(argv[1]);
	kernel_size = kernel_mask(0, &real);
	memset(&shown, 0, sizeof shown);
	if (sched_getaffinity(0, sizeof shown, (cpu_set_t *)&shown) != 0)
		give_up("sched_getaffinity");
	if (!check(count_cpus(&shown) == (unsigned)atoi(argv[2]) && count_cpus(&real) > count_cpus(&shown), "%u of %u CPUs",
		   count_cpus(&shown), count_cpus(&real)))
		return done();
	start_sleeper(&sleeper);
	other.thread = sleeper.thread;
	other.id = sleeper.id;
	check_target(&self);
	check_target(&own_pid);
	check_target(&other);
	for (enum way set = LIBC; set < WAYS; set++) {
		check_refused(&self, set);
		check_refused(&other, set);
		check_odd_sizes(&self, set);
		check_odd_sizes(&other, set);
		if (set != PTHREAD)
			check_child(set);
	}
	end_sleeper(&sleeper);
	check(status_says_all(), "/proc: all real CPUs in the end");
	return done();
}
