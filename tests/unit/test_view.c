/* SPDX-License-Identifier: MIT */
#include "suites.h"

#include "support.h"
#include "view.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

START_TEST(no_cpus)
{
	write_file(root, "sys/devices/system/cpu/online", "\n");
	cq_policy_init(&view.policy);
	ck_assert_int_lt(cq_view_init(&view, root, now), 0);
	write_file(root, "sys/devices/system/cpu/online", "all\n");
	ck_assert_int_lt(cq_view_init(&view, root, now), 0);
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
	}
	return NULL;
}

START_TEST(threads)
{
	pthread_t asking[16];
	char next[4096], limit[4096];

	write_file(root, "sys/fs/cgroup/job/cpu.max", "200000 100000\n");
	cq_policy_init(&view.policy);
	view.policy.mask = CQ_MASK_FIRST;
	begin();
	is_over = false;
	for (size_t i = 0; i < sizeof asking / sizeof *asking; i++)
		ck_assert_int_eq(pthread_create(&asking[i], NULL, ask, NULL), 0);
	snprintf(next, sizeof next, "%s/next", root);
	snprintf(limit, sizeof limit, "%s/sys/fs/cgroup/job/cpu.max", root);
	for (int i = 0; i < 500; i++) {
		write_file(root, "next", "%d00000 100000\n", i % 2 ? 2 : 5);
		ck_assert_int_eq(rename(next, limit), 0);
	}
	is_over = true;
	for (size_t i = 0; i < sizeof asking / sizeof *asking; i++) {
		void *result;

		pthread_join(asking[i], &result);
		ck_assert_ptr_null(result);
	}
}
END_TEST

Suite *cq_test_view(void)
{
	Suite *suite = suite_create("view");
	TCase *tests = tcase_create("view");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, refresh);
	tcase_add_test(tests, read_once);
	tcase_add_test(tests, another_cgroup);
	tcase_add_test(tests, proc_vanishes);
	tcase_add_test(tests, policy);
	tcase_add_test(tests, first_and_spread);
	tcase_add_test(tests, cpusets);
	tcase_add_test(tests, is_all);
	tcase_add_test(tests, long_path);
	tcase_add_test(tests, many_cpus);
	tcase_add_test(tests, no_cpus);
	tcase_add_test(tests, threads);
	suite_add_tcase(suite, tests);
	return suite;
}
