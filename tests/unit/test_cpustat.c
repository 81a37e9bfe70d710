/* SPDX-License-Identifier: MIT */
#include "cpustat.h"
#include "suites.h"
#include "support.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* As Linux 6.1 has them. */
#define V1 "nr_periods 31\nnr_throttled 30\nthrottled_time 1397000123\nnr_bursts 0\nburst_time 0\n"
#define V2 "usage_usec 4542001\nuser_usec 4538000\nsystem_usec 4001\nnr_periods 31\nnr_throttled 30\n" \
	   "throttled_usec 1397000\nnr_bursts 0\nburst_usec 0\n"

static const struct parsed {
	enum cq_cgroup_version version;
	const char *text;
	int error;
	struct cq_cpustat stat;
} parsed[] = {
	{CQ_CGROUP_V1, V1, 0, {.periods = 31, .throttled = 30, .lost = 1397000123}},
	{CQ_CGROUP_V2, V2, 0, {.periods = 31, .throttled = 30, .lost = 1397000000, .used = 4542001000, .knows_used = true}},
	{CQ_CGROUP_V1, "throttled_time 3\nnr_throttled 2\nnr_periods 1", 0, {.periods = 1, .throttled = 2, .lost = 3}},
	{CQ_CGROUP_V2, "nr_periods 1\nnr_throttled 2\nthrottled_usec 3\n", 0, {.periods = 1, .throttled = 2, .lost = 3000}},
	{CQ_CGROUP_V1, "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n", 0, {.periods = 0}},
	/* Each in the other's units would be a thousand times wrong. */
	{CQ_CGROUP_V1, V2, -EINVAL, {.periods = 0}},
	{CQ_CGROUP_V2, V1, -EINVAL, {.periods = 0}},
	/* v2 without the controller; nothing; what is not this file. */
	{CQ_CGROUP_V2, "usage_usec 1\nuser_usec 1\nsystem_usec 0\n", -EINVAL, {.periods = 0}},
	{CQ_CGROUP_V1, "", -EINVAL, {.periods = 0}},
	{CQ_CGROUP_V1, "nr_periods\nnr_throttled 0\nthrottled_time 0\n", -EINVAL, {.periods = 0}},
	{CQ_CGROUP_V1, "nr_periods -1\nnr_throttled 0\nthrottled_time 0\n", -EINVAL, {.periods = 0}},
	{CQ_CGROUP_V1, "xnr_periods 1\nnr_throttled 0\nthrottled_time 0\n", -EINVAL, {.periods = 0}},
	{CQ_CGROUP_V1, "nr_periodsx 1\nnr_throttled 0\nthrottled_time 0\n", -EINVAL, {.periods = 0}},
	{CQ_CGROUP_V1, "nr_periods 99999999999999999999\nnr_throttled 0\nthrottled_time 0\n", -EINVAL, {.periods = 0}},
	{CQ_CGROUP_V2, "nr_periods 1\nnr_throttled 0\nthrottled_usec 18446744073709551615\n", -EINVAL, {.periods = 0}},
};

static void expect(const struct cq_cpustat *stat, const struct cq_cpustat *expected)
{
	ck_assert_uint_eq(stat->periods, expected->periods);
	ck_assert_uint_eq(stat->throttled, expected->throttled);
	ck_assert_uint_eq(stat->lost, expected->lost);
	ck_assert_int_eq(stat->knows_used, expected->knows_used);
	if (expected->knows_used)
		ck_assert_uint_eq(stat->used, expected->used);
}

START_TEST(parses)
{
	const struct parsed *test = &parsed[_i];
	struct cq_cpustat stat = {.periods = 77, .throttled = 78, .lost = 79}, before = stat;

	ck_assert_int_eq(cq_cpustat_parse(test->version, test->text, &stat), test->error);
	expect(&stat, test->error ? &before : &test->stat);
}
END_TEST

static struct cq_cgroup cgroup_at(const char *path, enum cq_cgroup_version version)
{
	struct cq_cgroup cgroup = {.version = version, .top_length = strlen(path), .length = strlen(path)};

	strcpy(cgroup.path, path);
	return cgroup;
}

START_TEST(reads_v1_with_and_without_cpuacct)
{
	struct cq_cgroup cgroup = cgroup_at("/a", CQ_CGROUP_V1);
	struct cq_cpustat stat;
	char *root = make_tree();

	ck_assert_int_eq(cq_cpustat_read(root, &cgroup, &stat), -ENOENT);
	write_file(root, "/a/cpu.stat", "%s", V1);
	ck_assert_int_eq(cq_cpustat_read(root, &cgroup, &stat), 0);
	ck_assert(!stat.knows_used);
	write_file(root, "/a/cpuacct.usage", "4542001234\n");
	ck_assert_int_eq(cq_cpustat_read(root, &cgroup, &stat), 0);
	ck_assert(stat.knows_used);
	ck_assert_uint_eq(stat.used, 4542001234);
	ck_assert_uint_eq(stat.periods, 31);
	ck_assert_str_eq(cgroup.path, "/a");
	free(root);
}
END_TEST

START_TEST(reads_v2)
{
	struct cq_cgroup cgroup = cgroup_at("/a", CQ_CGROUP_V2);
	struct cq_cpustat stat;
	char *root = make_tree(), *much = repeat('\n', 5000);

	write_file(root, "/a/cpu.stat", "%s", V2);
	ck_assert_int_eq(cq_cpustat_read(root, &cgroup, &stat), 0);
	ck_assert_uint_eq(stat.used, 4542001000);
	write_file(root, "/a/cpu.stat", "%s%s", V2, much);
	ck_assert_int_eq(cq_cpustat_read(root, &cgroup, &stat), -EFBIG);
	free(much);
	free(root);
}
END_TEST

START_TEST(subtracts)
{
	struct cq_cpustat before = {.periods = 10, .throttled = 5, .lost = 700, .used = 1000, .knows_used = true};
	struct cq_cpustat after = {.periods = 12, .throttled = 6, .lost = 750, .used = 1900, .knows_used = true};
	struct cq_cpustat difference;

	ck_assert_int_eq(cq_cpustat_subtract(&after, &before, &difference), 0);
	expect(&difference, &(struct cq_cpustat){.periods = 2, .throttled = 1, .lost = 50, .used = 900, .knows_used = true});
	after.knows_used = false;
	ck_assert_int_eq(cq_cpustat_subtract(&after, &before, &difference), 0);
	expect(&difference, &(struct cq_cpustat){.periods = 2, .throttled = 1, .lost = 50});
	ck_assert_int_eq(cq_cpustat_subtract(&before, &before, &before), 0);
	expect(&before, &(struct cq_cpustat){.knows_used = true});
}
END_TEST

START_TEST(sees_that_a_counter_went_back)
{
	const struct cq_cpustat before = {.periods = 10, .throttled = 5, .lost = 700, .used = 1000, .knows_used = true};
	struct cq_cpustat after[] = {before, before, before, before}, difference = {.periods = 1};

	after[0].periods--;
	after[1].throttled--;
	after[2].lost--;
	after[3].used--;
	for (size_t i = 0; i < CQ_ARRAY_SIZE(after); i++)
		ck_assert_int_eq(cq_cpustat_subtract(&after[i], &before, &difference), -ERANGE);
	ck_assert_uint_eq(difference.periods, 1);
}
END_TEST

Suite *cq_test_cpustat(void)
{
	Suite *suite = suite_create("cpustat");
	TCase *tests = tcase_create("cpustat");

	tcase_add_loop_test(tests, parses, 0, CQ_ARRAY_SIZE(parsed));
	tcase_add_test(tests, reads_v1_with_and_without_cpuacct);
	tcase_add_test(tests, reads_v2);
	tcase_add_test(tests, subtracts);
	tcase_add_test(tests, sees_that_a_counter_went_back);
	suite_add_tcase(suite, tests);
	return suite;
}
