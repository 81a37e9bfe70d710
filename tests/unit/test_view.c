/* SPDX-License-Identifier: MIT */
#include "suites.h"

#include "support.h"
#include "view.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static char *root;
static struct cq_view view;
static _Atomic uint64_t clock_now;

static uint64_t now(void)
{
	return clock_now;
}

static void mounts(const char *line)
{
	write_file(root, "proc/self/mountinfo", "%s\n", line);
}

static void set_up(void)
{
	root = make_tree();
	clock_now = 1000000;
	write_file(root, "proc/self/cgroup", "0::/job\n");
	mounts("30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw");
	write_file(root, "proc/sys/kernel/hostname", "one\n");
	write_file(root, "sys/devices/system/cpu/online", "0-7\n");
	write_file(root, "sys/fs/cgroup/job/cpu.max", "250000 100000\n");
}

static void tear_down(void)
{
	free(root);
}

static void begin(void)
{
	ck_assert_int_eq(cq_view_init(&view, root, now), 0);
}

static void begin_with_defaults(void)
{
	cq_policy_init(&view.policy);
	begin();
}

static unsigned count_after(uint64_t milliseconds)
{
	clock_now += milliseconds;
	return cq_view_answer(&view).count;
}

START_TEST(refresh)
{
	begin_with_defaults();
	ck_assert_uint_eq(count_after(0), 3);
	write_file(root, "sys/fs/cgroup/job/cpu.max", "400000 100000\n");
	ck_assert_uint_eq(count_after(999), 3);
	ck_assert_uint_eq(count_after(1), 4);
	write_file(root, "sys/fs/cgroup/job/cpu.max", "max 100000\n");
	ck_assert_uint_eq(count_after(1000), 8);
	view.policy.refresh = 10;
	write_file(root, "sys/fs/cgroup/job/cpu.max", "100000 100000\n");
	ck_assert_uint_eq(count_after(9999), 8);
	ck_assert_uint_eq(count_after(1), 1);
}
END_TEST

START_TEST(read_once)
{
	struct cq_cpumask real;

	cq_policy_init(&view.policy);
	view.policy.refresh = 0;
	begin();
	ck_assert_uint_eq(count_after(0), 3);
	write_file(root, "sys/fs/cgroup/job/cpu.max", "400000 100000\n");
	ck_assert_uint_eq(count_after(1000000), 3);
	ck_assert_uint_eq(cq_view_look(&view, &real).count, 3);
}
END_TEST

START_TEST(another_cgroup)
{
	begin_with_defaults();
	ck_assert_uint_eq(count_after(0), 3);
	write_file(root, "sys/fs/cgroup/other/cpu.max", "500000 100000\n");
	write_file(root, "proc/self/cgroup", "0::/other\n");
	ck_assert_uint_eq(count_after(1000), 5);
	/* A parent that is tighter. */
	write_file(root, "proc/self/cgroup", "0::/job/inner\n");
	write_file(root, "sys/fs/cgroup/job/inner/cpu.max", "700000 100000\n");
	ck_assert_uint_eq(count_after(1000), 3);
}
END_TEST

START_TEST(proc_vanishes)
{
	char path[4096], moved[4096];

	begin_with_defaults();
	ck_assert_uint_eq(count_after(0), 3);
	snprintf(path, sizeof path, "%s/proc", root);
	snprintf(moved, sizeof moved, "%s/gone", root);
	ck_assert_int_eq(rename(path, moved), 0);
	ck_assert_uint_eq(count_after(5000), 3);
	/* Without an answer before, all CPUs are shown. */
	begin_with_defaults();
	ck_assert_uint_eq(count_after(0), 8);
	ck_assert_int_eq(rename(moved, path), 0);
	ck_assert_uint_eq(count_after(1000), 3);
}
END_TEST

/* Writes a file in one step, so that whoever reads it meanwhile sees the one or the other text. */
static void replace_file(const char *path, const char *text)
{
	char next[4096], whole[4096];

	write_file(root, "next", "%s", text);
	snprintf(next, sizeof next, "%s/next", root);
	snprintf(whole, sizeof whole, "%s/%s", root, path);
	ck_assert_int_eq(rename(next, whole), 0);
}

static struct rlimit take_descriptors(void)
{
	struct rlimit before, none;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	return before;
}

/* With no descriptor left nothing is learnt, and what was known stays. */
START_TEST(no_descriptors)
{
	struct rlimit before;
	struct cq_cpumask real;
	unsigned first, second, looked;

	begin_with_defaults();
	before = take_descriptors();
	first = count_after(0);
	setrlimit(RLIMIT_NOFILE, &before);
	ck_assert_uint_eq(first, 8);
	/* That was no answer to be kept. */
	ck_assert_uint_eq(count_after(0), 3);

	write_file(root, "sys/fs/cgroup/job/cpu.max", "400000 100000\n");
	before = take_descriptors();
	second = count_after(1000);
	looked = cq_view_look(&view, &real).count;
	setrlimit(RLIMIT_NOFILE, &before);
	ck_assert_uint_eq(second, 3);
	ck_assert_uint_eq(looked, 3);
	ck_assert_uint_eq(real.words[0], 0xff);
	ck_assert_uint_eq(count_after(1000), 4);
}
END_TEST

/* The clock's 37 bits in an answer are as many as four years of uptime. */
START_TEST(clock_goes_round)
{
	clock_now = (UINT64_C(1) << 37) - 500;
	begin_with_defaults();
	ck_assert_uint_eq(count_after(0), 3);
	write_file(root, "sys/fs/cgroup/job/cpu.max", "400000 100000\n");
	ck_assert_uint_eq(count_after(499), 3);
	ck_assert_uint_eq(count_after(500), 3);
	ck_assert_uint_eq(count_after(1), 4);
	write_file(root, "sys/fs/cgroup/job/cpu.max", "500000 100000\n");
	ck_assert_uint_eq(count_after(999), 4);
	write_file(root, "sys/fs/cgroup/job/cpu.max", "400000 100000\n");
	/* A machine that has just started. */
	clock_now = 0;
	begin_with_defaults();
	ck_assert_uint_eq(count_after(0), 4);
	write_file(root, "sys/fs/cgroup/job/cpu.max", "500000 100000\n");
	ck_assert_uint_eq(count_after(999), 4);
	ck_assert_uint_eq(count_after(1), 5);
}
END_TEST

START_TEST(hostile_levels)
{
	char *digits = repeat('1', 100000);

	begin_with_defaults();
	write_file(root, "proc/self/cgroup", "0::/job/inner\n");
	write_file(root, "sys/fs/cgroup/job/inner/cpu.max", "%s", digits);
	ck_assert_uint_eq(count_after(0), 3);
	write_bytes(root, "sys/fs/cgroup/job/inner/cpu.max", "100000\0 100000\n", 15);
	ck_assert_uint_eq(count_after(1000), 3);
	write_file(root, "sys/fs/cgroup/job/inner/cpu.max", "%s", "");
	ck_assert_uint_eq(count_after(1000), 3);
	write_file(root, "sys/fs/cgroup/job/inner/cpu.max", "1 9223372036854775807\n");
	ck_assert_uint_eq(count_after(1000), 1);
	write_file(root, "sys/fs/cgroup/job/inner/cpu.max", "9223372036854775807 1\n");
	ck_assert_uint_eq(count_after(1000), 3);
	write_bytes(root, "proc/self/cgroup", "\0\0\0", 3);
	ck_assert_uint_eq(count_after(1000), 8);
	write_file(root, "proc/self/cgroup", "0::/job\n");
	ck_assert_uint_eq(count_after(1000), 3);
	write_file(root, "proc/self/cgroup", "%s", digits); /* larger than it may be: nothing is learnt */
	ck_assert_uint_eq(count_after(1000), 3);
	free(digits);
}
END_TEST

START_TEST(version_1)
{
	struct cq_cpumask real;

	write_file(root, "proc/self/cgroup", "5:cpuset:/set\n4:cpu,cpuacct:/job\n0::/elsewhere\n");
	mounts("33 25 0:29 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
	       "34 25 0:30 / /cg/cpuset rw - cgroup cgroup rw,cpuset");
	write_file(root, "cg/cpu/job/cpu.cfs_quota_us", "150000\n");
	write_file(root, "cg/cpu/job/cpu.cfs_period_us", "50000\n");
	begin_with_defaults();
	ck_assert_uint_eq(count_after(0), 3);
	write_file(root, "cg/cpuset/set/cpuset.effective_cpus", "4-5\n");
	ck_assert_uint_eq(count_after(1000), 2);
	cq_view_look(&view, &real);
	ck_assert_uint_eq(real.words[0], 0x30);
	write_file(root, "cg/cpu/job/cpu.cfs_quota_us", "-1\n");
	write_file(root, "cg/cpuset/set/cpuset.effective_cpus", "0-6\n");
	ck_assert_uint_eq(count_after(1000), 7);
}
END_TEST

START_TEST(another_process)
{
	write_file(root, "proc/4711/cgroup", "0::/other\n");
	write_file(root, "sys/fs/cgroup/other/cpu.max", "500000 100000\n");
	begin_with_defaults();
	view.process = 4711;
	ck_assert_uint_eq(count_after(0), 5);
	view.process = 0;
	ck_assert_uint_eq(count_after(1000), 3);
}
END_TEST

/* One who was about to remember a place is gone, in the middle of it: it is found anew each time. */
START_TEST(writer_is_gone)
{
	begin_with_defaults();
	ck_assert_uint_eq(count_after(0), 3);
	for (size_t i = 0; i < CQ_ARRAY_SIZE(view.places); i++) {
		ck_assert_uint_eq(view.places[i].sequence, 2);
		view.places[i].sequence = 3;
		memset(view.places[i].path, 'x', sizeof view.places[i].path);
	}
	ck_assert_uint_eq(count_after(1000), 3);
	write_file(root, "sys/fs/cgroup/job/cpu.max", "400000 100000\n");
	ck_assert_uint_eq(count_after(1000), 4);
	ck_assert_uint_eq(view.places[0].sequence, 3);
	ck_assert_uint_eq(view.places[1].sequence, 3);
}
END_TEST

static bool has_limit_file(const char *path, const char *name)
{
	char whole[4096];
	bool has;
	int fd;

	snprintf(whole, sizeof whole, "%s/%s", root, path);
	fd = open(whole, O_RDONLY);
	ck_assert_int_ge(fd, 0);
	has = cq_view_has_limit_file(&view, fd, name);
	close(fd);
	return has;
}

START_TEST(limit_files)
{
	write_file(root, "sys/fs/cgroup/cpu.max", "max 100000\n");
	write_file(root, "sys/fs/cgroup/other/cpu.max", "max 100000\n");
	write_file(root, "sys/fs/cgroup/job/a/b/cpu.max", "max 100000\n");
	write_file(root, "sys/fs/cgroup/job/a/b/cpu.stat", "x\n");
	write_file(root, "sys/fs/cgroup/job/a/b/c/cpu.max", "max 100000\n");
	write_file(root, "cpu.max", "max 100000\n");
	write_file(root, "proc/self/cgroup", "0::/job/a/b\n");
	begin_with_defaults();
	ck_assert(has_limit_file("sys/fs/cgroup/job/a/b/cpu.max", "cpu.max"));
	ck_assert(has_limit_file("sys/fs/cgroup/job/cpu.max", "cpu.max")); /* a level between has none */
	ck_assert(has_limit_file("sys/fs/cgroup/cpu.max", "cpu.max"));
	ck_assert(has_limit_file("sys/fs/cgroup/job/../job/a/b/cpu.max", "cpu.max"));
	ck_assert(!has_limit_file("sys/fs/cgroup/other/cpu.max", "cpu.max"));
	ck_assert(!has_limit_file("sys/fs/cgroup/job/a/b/c/cpu.max", "cpu.max"));
	ck_assert(!has_limit_file("cpu.max", "cpu.max"));
	ck_assert(!has_limit_file("sys/fs/cgroup/job/a/b/cpu.stat", "cpu.max"));
	ck_assert(!has_limit_file("sys/fs/cgroup/job/a/b/cpu.max", "cpu.cfs_quota_us"));
	ck_assert(!cq_view_has_limit_file(&view, -1, "cpu.max"));
	write_file(root, "proc/self/cgroup", "0::/other\n");
	ck_assert(has_limit_file("sys/fs/cgroup/other/cpu.max", "cpu.max"));
	ck_assert(!has_limit_file("sys/fs/cgroup/job/cpu.max", "cpu.max"));
	mounts("30 24 0:26 / /sys rw - sysfs sysfs rw");
	begin_with_defaults();
	ck_assert(!has_limit_file("sys/fs/cgroup/other/cpu.max", "cpu.max"));
}
END_TEST

START_TEST(policy)
{
	cq_policy_init(&view.policy);
	view.policy.round = CQ_ROUND_FLOOR;
	begin();
	ck_assert_uint_eq(count_after(0), 2);
	view.policy.min = 5;
	ck_assert_uint_eq(count_after(1000), 5);
	view.policy.max = 4;
	ck_assert_uint_eq(count_after(1000), 4);
	view.policy.count = 100;
	ck_assert_uint_eq(count_after(1000), 8);
	view.policy.count = 0;
	view.policy.max = 0;
	view.policy.min = 1;
	view.policy.unlimited = (struct cq_limit){15, 10};
	ck_assert_uint_eq(count_after(1000), 2);
	write_file(root, "sys/fs/cgroup/job/cpu.max", "max 100000\n");
	ck_assert_uint_eq(count_after(1000), 1);
}
END_TEST

START_TEST(first_and_spread)
{
	unsigned starts[8] = {0}, different = 0;

	write_file(root, "sys/devices/system/cpu/online", "2-5,8\n");
	write_file(root, "sys/fs/cgroup/job/cpu.max", "200000 100000\n");
	cq_policy_init(&view.policy);
	view.policy.mask = CQ_MASK_FIRST;
	begin();
	ck_assert_uint_eq(cq_view_answer(&view).first, 2);
	for (int i = 0; i < 64; i++) {
		unsigned first;

		write_file(root, "proc/sys/kernel/hostname", "host-%d\n", i);
		begin_with_defaults();
		first = cq_view_answer(&view).first;
		ck_assert((first >= 2 && first <= 5) || first == 8);
		starts[first % 8]++;
		begin_with_defaults();
		ck_assert_uint_eq(cq_view_answer(&view).first, first);
	}
	for (int i = 0; i < 8; i++)
		different += starts[i] != 0;
	ck_assert_uint_eq(different, 5);
	/* Where all are shown it makes no difference. */
	write_file(root, "sys/fs/cgroup/job/cpu.max", "max 100000\n");
	begin_with_defaults();
	ck_assert_uint_eq(cq_view_answer(&view).first, 2);
}
END_TEST

/* Containers with the same host name, as those of one image without one may have, see other cgroups. */
START_TEST(spread_by_the_visible_root)
{
	unsigned different = 0, before = 8;

	for (int i = 0; i < 24; i++) {
		unsigned first;

		tear_down();
		set_up();
		begin_with_defaults();
		first = cq_view_answer(&view).first;
		different += i && first != before;
		before = first;
	}
	ck_assert_uint_gt(different, 0);
}
END_TEST

/* Once begun it begins there, so that a mask that was got before is still that of all CPUs. */
START_TEST(spread_stays)
{
	struct cq_answer answer;

	begin_with_defaults();
	answer = cq_view_answer(&view);
	for (int i = 0; i < 16; i++) {
		write_file(root, "proc/sys/kernel/hostname", "renamed-%d\n", i);
		write_file(root, "sys/fs/cgroup/job/cpu.max", "%d 100000\n", 100000 + i % 6 * 100000);
		clock_now += 1000;
		ck_assert_uint_eq(cq_view_answer(&view).first, answer.first);
		ck_assert_uint_eq(cq_view_answer(&view).count, 1 + (unsigned)i % 6);
	}
}
END_TEST

/* The run goes round at the end of the real CPUs, and never has others. */
START_TEST(spread_is_within_the_real_cpus)
{
	for (int i = 0; i < 32; i++) {
		struct cq_cpumask real, shown;
		struct cq_answer answer;

		write_file(root, "sys/devices/system/cpu/online", "1,3,60-68,500,8000-8191\n");
		write_file(root, "sys/fs/cgroup/job/cpu.max", "%d 100000\n", 100000 + i * 700000);
		write_file(root, "proc/sys/kernel/hostname", "h%d\n", i);
		begin_with_defaults();
		answer = cq_view_look(&view, &real);
		ck_assert_uint_eq(answer.count, i * 7 + 1 < 204 ? (unsigned)i * 7 + 1 : 204);
		ck_assert_uint_eq(real.words[answer.first / 64] >> answer.first % 64 & 1, 1);
		shown = real;
		cq_cpumask_keep_run(shown.words, CQ_MASK_WORDS, answer.first, answer.count);
		ck_assert_uint_eq(cq_cpumask_count(shown.words, CQ_MASK_WORDS), answer.count);
		for (size_t word = 0; word < CQ_MASK_WORDS; word++)
			ck_assert_uint_eq(shown.words[word] & ~real.words[word], 0);
		ck_assert(cq_view_is_all(&view, &shown, sizeof shown, &real));
	}
}
END_TEST

/* A process that nobody has pinned: the kernel has given it the whole of a cpuset that has grown since it started. */
START_TEST(cpuset_of_the_first_thread)
{
	write_file(root, "sys/fs/cgroup/job/cpu.max", "max 100000\n");
	write_file(root, "proc/self/status", "Cpus_allowed_list:\t0-3\n");
	begin_with_defaults();
	write_file(root, "proc/self/status", "Cpus_allowed_list:\t0-5\n");
	write_file(root, "sys/fs/cgroup/job/cpuset.cpus.effective", "0-5\n");
	ck_assert_uint_eq(count_after(0), 6);
	write_file(root, "sys/fs/cgroup/job/cpuset.cpus.effective", "0-6\n");
	ck_assert_uint_eq(count_after(1000), 7);
}
END_TEST

/* A process that had the whole of its cpuset when it started follows it also to CPUs that it was not given. */
START_TEST(cpuset_moves_beyond_what_was_given)
{
	struct cq_cpumask real;

	write_file(root, "sys/fs/cgroup/job/cpu.max", "max 100000\n");
	write_file(root, "sys/fs/cgroup/job/cpuset.cpus.effective", "1-2\n");
	begin_with_defaults();
	ck_assert_uint_eq(count_after(0), 2);
	write_file(root, "sys/fs/cgroup/job/cpuset.cpus.effective", "2-9\n");
	ck_assert_uint_eq(count_after(1000), 8);
	/* None of those it was given. */
	write_file(root, "sys/fs/cgroup/job/cpuset.cpus.effective", "64-66\n");
	clock_now += 1000;
	ck_assert_uint_eq(cq_view_look(&view, &real).first, 64);
	ck_assert_uint_eq(real.words[0], 0);
	ck_assert_uint_eq(real.words[1], 7);
}
END_TEST

/* Where the controller is not enabled, the first level above that has the file. */
START_TEST(cpuset_of_a_parent)
{
	write_file(root, "sys/fs/cgroup/job/cpu.max", "max 100000\n");
	write_file(root, "sys/fs/cgroup/cpuset.cpus.effective", "0-6\n");
	write_file(root, "sys/fs/cgroup/job/cpuset.cpus.effective", "2-6\n");
	write_file(root, "proc/self/cgroup", "0::/job/a/b\n");
	begin_with_defaults();
	ck_assert_uint_eq(count_after(0), 5);
	write_file(root, "proc/self/cgroup", "0::/z\n");
	ck_assert_uint_eq(count_after(1000), 7);
}
END_TEST

START_TEST(cpusets)
{
	struct cq_cpumask real;

	begin_with_defaults();
	write_file(root, "sys/fs/cgroup/job/cpu.max", "max 100000\n");
	write_file(root, "sys/fs/cgroup/job/cpuset.cpus.effective", "1-2\n");
	ck_assert_uint_eq(count_after(0), 2);
	cq_view_look(&view, &real);
	ck_assert_uint_eq(real.words[0], 6);
	write_file(root, "sys/fs/cgroup/job/cpuset.cpus.effective", "0-5\n");
	ck_assert_uint_eq(count_after(1000), 6);
	write_file(root, "sys/fs/cgroup/job/cpuset.cpus.effective", "\n");
	ck_assert_uint_eq(count_after(1000), 8);
	write_file(root, "sys/fs/cgroup/job/cpuset.cpus.effective", "7-3\n");
	ck_assert_uint_eq(count_after(1000), 8);

	/* A process that was given only a part of its cpuset keeps to that. */
	write_file(root, "proc/self/status", "Cpus_allowed_list:\t0-3\n");
	write_file(root, "sys/fs/cgroup/job/cpuset.cpus.effective", "0-5\n");
	begin_with_defaults();
	ck_assert_uint_eq(count_after(0), 4);
	write_file(root, "sys/fs/cgroup/job/cpuset.cpus.effective", "2-7\n");
	ck_assert_uint_eq(count_after(1000), 2);
	/* Where nothing is left of it, the kernel gives the cpuset. */
	write_file(root, "sys/fs/cgroup/job/cpuset.cpus.effective", "5-7\n");
	ck_assert_uint_eq(count_after(1000), 3);
}
END_TEST

START_TEST(is_all)
{
	struct cq_cpumask real, mask;

	cq_policy_init(&view.policy);
	view.policy.mask = CQ_MASK_FIRST;
	begin();
	ck_assert_uint_eq(count_after(0), 3);
	memset(&mask, 0, sizeof mask);
	mask.words[0] = 7;
	ck_assert(cq_view_is_all(&view, &mask, sizeof mask, &real));
	ck_assert_uint_eq(real.words[0], 0xff);
	ck_assert(cq_view_is_all(&view, &mask, 1, &real));
	mask.words[0] = 14;
	ck_assert(!cq_view_is_all(&view, &mask, sizeof mask, &real));
	mask.words[0] = 1;
	ck_assert(!cq_view_is_all(&view, &mask, sizeof mask, &real));
	/* What was shown before the limit changed means all as well. */
	write_file(root, "sys/fs/cgroup/job/cpu.max", "500000 100000\n");
	ck_assert_uint_eq(count_after(1000), 5);
	mask.words[0] = 7;
	ck_assert(cq_view_is_all(&view, &mask, sizeof mask, &real));
	mask.words[0] = 31;
	ck_assert(cq_view_is_all(&view, &mask, sizeof mask, &real));
	/* As many CPUs as now, or as before, but others. */
	mask.words[0] = 62;
	ck_assert(!cq_view_is_all(&view, &mask, sizeof mask, &real));
	mask.words[0] = 11;
	ck_assert(!cq_view_is_all(&view, &mask, sizeof mask, &real));
	/* One CPU is a pin, unless it is all that is shown now. */
	write_file(root, "sys/fs/cgroup/job/cpu.max", "100000 100000\n");
	ck_assert_uint_eq(count_after(1000), 1);
	mask.words[0] = 1;
	ck_assert(cq_view_is_all(&view, &mask, sizeof mask, &real));
	write_file(root, "sys/fs/cgroup/job/cpu.max", "200000 100000\n");
	ck_assert_uint_eq(count_after(1000), 2);
	ck_assert(!cq_view_is_all(&view, &mask, sizeof mask, &real));
}
END_TEST

START_TEST(is_all_in_odd_cases)
{
	unsigned char large[sizeof(struct cq_cpumask) + 100] = {0x07};
	struct cq_cpumask real;

	cq_policy_init(&view.policy);
	view.policy.mask = CQ_MASK_FIRST;
	begin();
	/* Before anybody has asked; masks of many sizes. */
	ck_assert(cq_view_is_all(&view, large, 1, &real));
	ck_assert_uint_eq(real.words[0], 0xff);
	ck_assert(cq_view_is_all(&view, large, 2, &real));
	ck_assert(cq_view_is_all(&view, large, 128, &real));
	ck_assert(cq_view_is_all(&view, large, sizeof large, &real));
	ck_assert(!cq_view_is_all(&view, large, 0, &real));
	large[0] = 0xff; /* all real CPUs, which are more than are shown */
	ck_assert(!cq_view_is_all(&view, large, 8, &real));
	large[0] = 0;
	ck_assert(!cq_view_is_all(&view, large, 8, &real));
	/* The shown CPUs lie behind what the mask has room for. */
	write_file(root, "sys/devices/system/cpu/online", "9-20\n");
	begin();
	ck_assert_uint_eq(cq_view_answer(&view).first, 9);
	large[0] = 0xe;
	ck_assert(!cq_view_is_all(&view, large, 1, &real));
	large[0] = 0;
	large[1] = 0xe;
	ck_assert(!cq_view_is_all(&view, large, 1, &real));
	ck_assert(cq_view_is_all(&view, large, 2, &real));
	ck_assert_uint_eq(real.words[0], 0x1ffe00);
}
END_TEST

/* One that is too long to be remembered from one answer to the next. */
START_TEST(long_path)
{
	char *name = repeat('n', 200), path[1024];

	ck_assert_int_gt(600, CQ_VIEW_PATH_MAX);
	write_file(root, "proc/self/cgroup", "0::/%s/%s/%s\n", name, name, name);
	snprintf(path, sizeof path, "sys/fs/cgroup/%s/%s/%s/cpu.max", name, name, name);
	write_file(root, path, "600000 100000\n");
	begin_with_defaults();
	ck_assert_uint_eq(count_after(0), 6);
	write_file(root, path, "500000 100000\n");
	ck_assert_uint_eq(count_after(1000), 5);
	free(name);
}
END_TEST

START_TEST(many_cpus)
{
	struct cq_cpumask real;
	struct cq_answer answer;

	write_file(root, "sys/devices/system/cpu/online", "64-4159\n");
	write_file(root, "sys/fs/cgroup/job/cpu.max", "120000000 100000\n");
	begin_with_defaults();
	answer = cq_view_look(&view, &real);
	ck_assert_uint_eq(answer.count, 1200);
	ck_assert(answer.first >= 64 && answer.first < 4160);
	cq_cpumask_keep_run(real.words, CQ_MASK_WORDS, answer.first, answer.count);
	ck_assert_uint_eq(cq_cpumask_count(real.words, CQ_MASK_WORDS), 1200);
	ck_assert_uint_eq(real.words[0], 0);
}
END_TEST

START_TEST(cpus_4096)
{
	struct cq_cpumask real, mask;
	struct cq_answer answer;

	write_file(root, "sys/devices/system/cpu/online", "0-4095\n");
	write_file(root, "sys/fs/cgroup/job/cpu.max", "max 100000\n");
	begin_with_defaults();
	answer = cq_view_look(&view, &mask);
	ck_assert_uint_eq(answer.count, 4096);
	ck_assert_uint_eq(answer.first, 0);
	ck_assert_uint_eq(cq_cpumask_count(mask.words, 4096 / 64), 4096);
	ck_assert(cq_cpumask_is_empty(mask.words + 4096 / 64, CQ_MASK_WORDS - 4096 / 64));
	ck_assert(cq_view_is_all(&view, &mask, sizeof mask, &real));
	ck_assert(cq_view_is_all(&view, &mask, 4096 / 8, &real));
	ck_assert(!cq_view_is_all(&view, &mask, 4096 / 8 - 1, &real));
	/* One CPU and a half less than all. */
	write_file(root, "sys/fs/cgroup/job/cpu.max", "409450000 100000\n");
	ck_assert_uint_eq(count_after(1000), 4095);
	view.policy.round = CQ_ROUND_FLOOR;
	ck_assert_uint_eq(count_after(1000), 4094);
	/* The highest CPUs that there can be. */
	write_file(root, "sys/devices/system/cpu/online", "4096-8191\n");
	write_file(root, "sys/fs/cgroup/job/cpu.max", "200000 100000\n");
	begin_with_defaults();
	answer = cq_view_look(&view, &real);
	ck_assert_uint_eq(answer.count, 2);
	ck_assert(answer.first >= 4096 && answer.first < 8192);
	ck_assert_uint_eq(cq_view_answer(&view).first, answer.first);
	ck_assert_uint_eq(cq_cpumask_count(real.words, CQ_MASK_WORDS), 4096);
}
END_TEST

/* The longest path that is remembered, and those that are not, are answered alike. */
START_TEST(paths_about_the_longest_remembered)
{
	const size_t top = strlen("/sys/fs/cgroup/") + 200 + 1;

	for (size_t length = CQ_VIEW_PATH_MAX - 2; length <= CQ_VIEW_PATH_MAX + 1; length++) {
		char *outer = repeat('a', 200), *inner = repeat('b', length - top), path[1024];

		write_file(root, "proc/self/cgroup", "0::/%s/%s\n", outer, inner);
		snprintf(path, sizeof path, "sys/fs/cgroup/%s/%s/cpu.max", outer, inner);
		write_file(root, path, "600000 100000\n");
		begin_with_defaults();
		ck_assert_uint_eq(count_after(0), 6);
		ck_assert_uint_eq(view.places[0].sequence, length < CQ_VIEW_PATH_MAX ? 2 : 0);
		write_file(root, path, "500000 100000\n");
		ck_assert_uint_eq(count_after(1000), 5);
		/* From a remembered one, and back. */
		write_file(root, "proc/self/cgroup", "0::/job\n");
		ck_assert_uint_eq(count_after(1000), 3);
		write_file(root, "proc/self/cgroup", "0::/%s/%s\n", outer, inner);
		ck_assert_uint_eq(count_after(1000), 5);
		free(inner);
		free(outer);
	}
}
END_TEST

START_TEST(tighter_parent_of_version_1)
{
	write_file(root, "proc/self/cgroup", "4:cpu,cpuacct:/a/b\n");
	mounts("33 25 0:29 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct");
	write_file(root, "cg/cpu/a/b/cpu.cfs_quota_us", "700000\n");
	write_file(root, "cg/cpu/a/b/cpu.cfs_period_us", "100000\n");
	begin_with_defaults();
	ck_assert_uint_eq(count_after(0), 7);
	write_file(root, "cg/cpu/a/cpu.cfs_quota_us", "20000\n");
	write_file(root, "cg/cpu/a/cpu.cfs_period_us", "10000\n");
	ck_assert_uint_eq(count_after(1000), 2);
	write_file(root, "cg/cpu/a/b/cpu.cfs_quota_us", "-1\n");
	ck_assert_uint_eq(count_after(1000), 2);
	write_file(root, "cg/cpu/a/cpu.cfs_quota_us", "-1\n");
	ck_assert_uint_eq(count_after(1000), 8);
}
END_TEST

/* No hierarchy to be seen: no limit, and the policy alone decides. */
START_TEST(no_cgroup)
{
	char path[4096];
	unsigned first;

	mounts("30 24 0:26 / /sys rw - sysfs sysfs rw");
	begin_with_defaults();
	ck_assert_uint_eq(count_after(0), 8);
	view.policy.count = 2;
	ck_assert_uint_eq(count_after(1000), 2);
	first = cq_view_answer(&view).first;
	ck_assert_uint_lt(first, 8);
	/* Without a name of the host either: from the same CPU in every process. */
	snprintf(path, sizeof path, "%s/proc/sys/kernel/hostname", root);
	ck_assert_int_eq(remove(path), 0);
	for (int i = 0; i < 2; i++) {
		cq_policy_init(&view.policy);
		view.policy.count = 2;
		begin();
		ck_assert_uint_eq(count_after(0), 2);
		if (i == 0)
			first = cq_view_answer(&view).first;
	}
	ck_assert_uint_eq(cq_view_answer(&view).first, first);
}
END_TEST

/* The places of the mounts are known from an answer before, or not. */
START_TEST(limit_files_without_proc)
{
	char path[4096], moved[4096];

	begin_with_defaults();
	ck_assert(has_limit_file("sys/fs/cgroup/job/cpu.max", "cpu.max"));
	snprintf(path, sizeof path, "%s/proc/self/mountinfo", root);
	snprintf(moved, sizeof moved, "%s/mountinfo", root);
	ck_assert_int_eq(rename(path, moved), 0);
	ck_assert(has_limit_file("sys/fs/cgroup/job/cpu.max", "cpu.max"));
	begin_with_defaults();
	ck_assert(!has_limit_file("sys/fs/cgroup/job/cpu.max", "cpu.max"));
	ck_assert_int_eq(rename(moved, path), 0);
	ck_assert(has_limit_file("sys/fs/cgroup/job/cpu.max", "cpu.max"));
	snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
	ck_assert_int_eq(rename(path, moved), 0);
	ck_assert(!has_limit_file("sys/fs/cgroup/job/cpu.max", "cpu.max"));
}
END_TEST

/* A process whose status is not known, and one whose status has nothing to do with what is online. */
START_TEST(given_cpus)
{
	write_file(root, "sys/fs/cgroup/job/cpu.max", "max 100000\n");
	write_file(root, "sys/fs/cgroup/job/cpuset.cpus.effective", "0-11\n");
	begin_with_defaults();
	ck_assert_uint_eq(count_after(0), 8);
	write_file(root, "proc/self/status", "Name:\tx\nCpus_allowed_list:\t2-4\n");
	begin_with_defaults();
	ck_assert_uint_eq(count_after(0), 3);
	ck_assert_uint_eq(cq_view_answer(&view).first, 2);
	write_file(root, "proc/self/status", "Cpus_allowed_list:\t20-21\n");
	begin_with_defaults();
	ck_assert_uint_eq(count_after(0), 8);
}
END_TEST

/* On this machine, whatever it is. */
START_TEST(real_root)
{
	struct cq_cpumask own, real, shown;
	struct cq_answer answer;

	cq_policy_init(&view.policy);
	view.policy.count = 1;
	ck_assert_int_eq(cq_view_init(&view, "/", now), 0);
	memset(&own, 0, sizeof own);
	ck_assert_int_eq(sched_getaffinity(0, sizeof own, (cpu_set_t *)&own), 0);
	ck_assert_mem_eq(&view.given, &own, sizeof own);
	answer = cq_view_look(&view, &real);
	ck_assert_uint_eq(answer.count, 1);
	shown = real;
	cq_cpumask_keep_run(shown.words, CQ_MASK_WORDS, answer.first, answer.count);
	ck_assert_uint_eq(cq_cpumask_nth(shown.words, CQ_MASK_WORDS, 0), answer.first);
}
END_TEST

START_TEST(no_cpus)
{
	write_file(root, "sys/devices/system/cpu/online", "\n");
	cq_policy_init(&view.policy);
	ck_assert_int_lt(cq_view_init(&view, root, now), 0);
	write_file(root, "sys/devices/system/cpu/online", "all\n");
	ck_assert_int_lt(cq_view_init(&view, root, now), 0);
	ck_assert_int_lt(cq_view_init(&view, "/no/such/tree", now), 0);
}
END_TEST

static _Atomic bool is_over;

/* Returns the address of something where an answer was none of those that there ever were. */
static void *ask(void *argument)
{
	static int wrong;

	(void)argument;
	while (!is_over) {
		struct cq_answer answer = cq_view_answer(&view);

		if ((answer.count != 2 && answer.count != 5) || answer.first != 0)
			return &wrong;
		clock_now += 100;
		sched_yield(); /* to the one that writes */
	}
	return NULL;
}

START_TEST(threads)
{
	pthread_t asking[16];

	write_file(root, "sys/fs/cgroup/job/cpu.max", "200000 100000\n");
	write_file(root, "sys/fs/cgroup/another/with/a/longer/path/cpu.max", "500000 100000\n");
	cq_policy_init(&view.policy);
	view.policy.mask = CQ_MASK_FIRST;
	begin();
	is_over = false;
	for (size_t i = 0; i < sizeof asking / sizeof *asking; i++)
		ck_assert_int_eq(pthread_create(&asking[i], NULL, ask, NULL), 0);
	for (int i = 0; i < 200; i++)
		replace_file("sys/fs/cgroup/job/cpu.max", i % 2 ? "200000 100000\n" : "500000 100000\n");
	/* A change is seen in the end, also by somebody who seldom gets a turn to look. */
	for (int i = 0; i < 20; i++) {
		replace_file("sys/fs/cgroup/job/cpu.max", i % 2 ? "200000 100000\n" : "500000 100000\n");
		while (cq_view_answer(&view).count != (i % 2 ? 2 : 5))
			clock_now += 100;
	}
	/* From one cgroup to another and back: what is remembered is never a part of this place and a part of that. */
	for (int i = 0; i < 200; i++)
		replace_file("proc/self/cgroup", i % 2 ? "0::/job\n" : "0::/another/with/a/longer/path\n");
	is_over = true;
	for (size_t i = 0; i < sizeof asking / sizeof *asking; i++) {
		void *result;

		pthread_join(asking[i], &result);
		ck_assert_ptr_null(result);
	}
	/* Once it is quiet, the answer is the right one. */
	ck_assert_uint_eq(count_after(1000), 2);
}
END_TEST

Suite *cq_test_view(void)
{
	Suite *suite = suite_create("view");
	TCase *tests = tcase_create("view");

	tcase_set_timeout(tests, 60); /* under valgrind */
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, refresh);
	tcase_add_test(tests, read_once);
	tcase_add_test(tests, another_cgroup);
	tcase_add_test(tests, proc_vanishes);
	tcase_add_test(tests, no_descriptors);
	tcase_add_test(tests, clock_goes_round);
	tcase_add_test(tests, hostile_levels);
	tcase_add_test(tests, version_1);
	tcase_add_test(tests, another_process);
	tcase_add_test(tests, writer_is_gone);
	tcase_add_test(tests, limit_files);
	tcase_add_test(tests, policy);
	tcase_add_test(tests, first_and_spread);
	tcase_add_test(tests, spread_by_the_visible_root);
	tcase_add_test(tests, spread_stays);
	tcase_add_test(tests, spread_is_within_the_real_cpus);
	tcase_add_test(tests, cpuset_of_the_first_thread);
	tcase_add_test(tests, cpuset_moves_beyond_what_was_given);
	tcase_add_test(tests, cpuset_of_a_parent);
	tcase_add_test(tests, cpusets);
	tcase_add_test(tests, is_all);
	tcase_add_test(tests, is_all_in_odd_cases);
	tcase_add_test(tests, long_path);
	tcase_add_test(tests, many_cpus);
	tcase_add_test(tests, cpus_4096);
	tcase_add_test(tests, paths_about_the_longest_remembered);
	tcase_add_test(tests, tighter_parent_of_version_1);
	tcase_add_test(tests, no_cgroup);
	tcase_add_test(tests, limit_files_without_proc);
	tcase_add_test(tests, given_cpus);
	tcase_add_test(tests, real_root);
	tcase_add_test(tests, no_cpus);
	tcase_add_test(tests, threads);
	suite_add_tcase(suite, tests);
	return suite;
}
