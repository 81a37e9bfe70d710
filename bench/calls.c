/* SPDX-License-Identifier: MIT */
/*
 * What a call costs: prints nanoseconds for one call of NAME, the best of several rounds. scripts/bench runs it with and
 * without the preload library in turn.
 *
 * usage: calls NAME | calls threads N | calls around | calls rarely | calls filtered
 *
 * `threads N` prints how many counts N threads get in a millisecond, all together. `around` asks once more than it has
 * to, between two calls of getppid, so that what a re-read does stands between them in the output of strace. `rarely`
 * asks a few times, more than a second apart, and prints the nanoseconds of the quickest call: nothing is warm then.
 * `filtered` is syscall-getppid below the smallest seccomp filter there can be.
 */
#define _GNU_SOURCE

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 20
#define ROUND_NS 2000000
#define THREADS_NS 200000000
#define RARE_ROUNDS 4
#define MAX_THREADS 64

static union {
	cpu_set_t set;
	char bytes[8192];
} mask;

static void call_sysconf_online(void)
{
	(void)sysconf(_SC_NPROCESSORS_ONLN);
}

static void call_sysconf_pagesize(void)
{
	(void)sysconf(_SC_PAGESIZE);
}

static void call_get_nprocs(void)
{
	(void)get_nprocs();
}

static void call_sched_getaffinity(void)
{
	(void)sched_getaffinity(0, sizeof mask.set, &mask.set);
}

static void call_sched_getaffinity_8192(void)
{
	(void)sched_getaffinity(0, sizeof mask, &mask.set);
}

static void call_pthread_getaffinity_np(void)
{
	(void)pthread_getaffinity_np(pthread_self(), sizeof mask.set, &mask.set);
}

static void call_pthread_getaffinity_np_8192(void)
{
	(void)pthread_getaffinity_np(pthread_self(), sizeof mask, &mask.set);
}

static void call_syscall_getaffinity(void)
{
	(void)syscall(SYS_sched_getaffinity, 0, sizeof mask.set, &mask.set);
}

static void call_syscall_getppid(void)
{
	(void)syscall(SYS_getppid);
}

/* A page of this program's own file. */
static void call_pread(void)
{
	static int fd = -1;
	static char page[4096];

	if (fd < 0)
		fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (pread(fd, page, sizeof page, 0) != sizeof page)
		exit(1);
}

static const struct {
	const char *name;
	void (*call)(void);
} calls[] = {
	{"sysconf-online", call_sysconf_online},
	{"sysconf-pagesize", call_sysconf_pagesize},
	{"get_nprocs", call_get_nprocs},
	{"sched_getaffinity", call_sched_getaffinity},
	{"sched_getaffinity-8192", call_sched_getaffinity_8192},
	{"pthread_getaffinity_np", call_pthread_getaffinity_np},
	{"pthread_getaffinity_np-8192", call_pthread_getaffinity_np_8192},
	{"syscall-getaffinity", call_syscall_getaffinity},
	{"syscall-getppid", call_syscall_getppid},
	{"pread", call_pread},
};

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static uint64_t time_of(void (*call)(void), uint64_t count)
{
	uint64_t start = now();

	for (uint64_t i = 0; i < count; i++)
		call();
	return now() - start;
}

static double best_of(void (*call)(void))
{
	uint64_t count = 1, time, best = UINT64_MAX;

	/* As many calls as fill a round; the first ones also warm up. */
	while ((time = time_of(call, count)) < ROUND_NS / 2)
		count = time < ROUND_NS / 100 ? count * 10 : count * 2;
	for (int round = 0; round < ROUNDS; round++) {
		time = time_of(call, count);
		if (time < best)
			best = time;
	}
	return (double)best / (double)count;
}

static pthread_barrier_t start_line;

static void *ask_for_a_while(void *ret_count)
{
	uint64_t *count = ret_count, end;

	pthread_barrier_wait(&start_line);
	end = now() + THREADS_NS;
	do {
		for (int i = 0; i < 1000; i++)
			call_sysconf_online();
		*count += 1000;
	} while (now() < end);
	return NULL;
}

static int run_threads(unsigned threads)
{
	static struct {
		_Alignas(128) uint64_t count; /* a cache line of its own */
	} counts[MAX_THREADS];
	pthread_t ids[MAX_THREADS];
	uint64_t start, total = 0;

	if (!threads || threads > MAX_THREADS)
		return 2;
	pthread_barrier_init(&start_line, NULL, threads + 1);
	for (unsigned i = 0; i < threads; i++) {
		if (pthread_create(&ids[i], NULL, ask_for_a_while, &counts[i].count) != 0)
			return 1;
	}
	start = now();
	pthread_barrier_wait(&start_line);
	for (unsigned i = 0; i < threads; i++) {
		pthread_join(ids[i], NULL);
		total += counts[i].count;
	}
	printf("%.1f\n", (double)total * 1e6 / (double)(now() - start));
	return 0;
}

static uint64_t best_of_rare_calls(void)
{
	const struct timespec pause = {.tv_sec = 1, .tv_nsec = 50000000};
	uint64_t best = UINT64_MAX;

	call_sysconf_online();
	for (int round = 0; round < RARE_ROUNDS; round++) {
		uint64_t time;

		nanosleep(&pause, NULL);
		time = time_of(call_sysconf_online, 1);
		if (time < best)
			best = time;
	}
	return best;
}

static void filter(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {1, &allow};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) != 0) {
		perror("seccomp");
		exit(1);
	}
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "threads") == 0)
		return run_threads((unsigned)strtoul(argv[2], NULL, 10));
	if (argc == 2 && strcmp(argv[1], "around") == 0) {
		call_sysconf_online();
		call_syscall_getppid();
		call_sysconf_online();
		call_syscall_getppid();
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "rarely") == 0) {
		printf("%llu\n", (unsigned long long)best_of_rare_calls());
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "filtered") == 0) {
		filter();
		printf("%.2f\n", best_of(call_syscall_getppid));
		return 0;
	}
	for (size_t i = 0; argc == 2 && i < sizeof calls / sizeof *calls; i++) {
		if (strcmp(argv[1], calls[i].name) == 0) {
			printf("%.2f\n", best_of(calls[i].call));
			return 0;
		}
	}
	fprintf(stderr, "usage: calls NAME | calls threads N | calls around | calls rarely | calls filtered\n");
	return 2;
}
