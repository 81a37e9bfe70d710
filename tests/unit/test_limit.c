/* SPDX-License-Identifier: MIT */
#include "limit.h"
#include "suites.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

#define NONE {0, 0}

static void expect_limit(struct cq_limit limit, struct cq_limit expected)
{
	ck_assert_uint_eq(limit.quota, expected.quota);
	ck_assert_uint_eq(limit.period, expected.period);
	ck_assert_int_eq(cq_limit_is_set(&limit), expected.period != 0);
}

static const struct v2 {
	const char *text;
	struct cq_limit limit;
} v2[] = {
	{"150000 100000\n", {150000, 100000}},
	{"150000 100000", {150000, 100000}},
	{"1000 1000\n", {1000, 1000}},
	{"1 1", {1, 1}},
	{"0000150000 0100000\n", {150000, 100000}},
	{"9223372036854775807 9223372036854775807\n", {INT64_MAX, INT64_MAX}},
	{"18446744073709551 1000000\n", {18446744073709551, 1000000}},
	{"max 100000\n", NONE},
	{"max", NONE},
	{"", NONE},
	{"\n", NONE},
	{" ", NONE},
	{"150000", NONE},
	{"150000\n", NONE},
	{"150000 \n", NONE},
	{"150000 max\n", NONE},
	{"0 100000\n", NONE},
	{"1 0\n", NONE},
	{"0 0\n", NONE},
	{"-1", NONE},
	{"-1 100000\n", NONE},
	{"100000 -1\n", NONE},
	{"+1 100000\n", NONE},
	{"99999999999999999999 1\n", NONE},
	{"1 99999999999999999999\n", NONE},
	{"9223372036854775808 1\n", NONE},
	{"1 9223372036854775808\n", NONE},
	{"18446744073709551617 1\n", NONE},
	{"150000 100000\n\n", NONE},
	{"150000 100000 \n", NONE},
	{"150000 100000 0\n", NONE},
	{"150000 100000x", NONE},
	{"150000x 100000", NONE},
	{"150000  100000\n", NONE},
	{"150000\t100000\n", NONE},
	{"150000\n100000\n", NONE},
	{" 150000 100000\n", NONE},
	{"1.5 1\n", NONE},
	{"1e5 1\n", NONE},
	{"0x10 1\n", NONE},
	{"150000 100000\r\n", NONE},
};

START_TEST(v2_text)
{
	size_t length = strlen(v2[_i].text);
	char *text = malloc(length + 1);

	ck_assert_ptr_nonnull(text);
	memcpy(text, v2[_i].text, length + 1);
	expect_limit(cq_limit_parse_v2(text, length), v2[_i].limit);
	free(text);
}
END_TEST

START_TEST(v2_text_with_nul_bytes)
{
	const struct cq_limit none = NONE;

	expect_limit(cq_limit_parse_v2("1 1\0", 4), none);
	expect_limit(cq_limit_parse_v2("1 1\0\n", 5), none);
	expect_limit(cq_limit_parse_v2("1 1\n\0", 5), none);
	expect_limit(cq_limit_parse_v2("1\0001 1\n", 6), none);
	expect_limit(cq_limit_parse_v2("\0", 1), none);
	expect_limit(cq_limit_parse_v2("1\0 1", 4), none);
}
END_TEST

static const struct v1 {
	const char *quota, *period;
	struct cq_limit limit;
} v1[] = {
	{"150000\n", "100000\n", {150000, 100000}},
	{"150000", "100000", {150000, 100000}},
	{"9223372036854775807\n", "1\n", {INT64_MAX, 1}},
	{"-1\n", "100000\n", NONE},
	{"-1", "", NONE},
	{"-150000\n", "100000\n", NONE},
	{"0\n", "100000\n", NONE},
	{"150000\n", "0\n", NONE},
	{"150000\n", "-1\n", NONE},
	{"", "", NONE},
	{"\n", "\n", NONE},
	{"150000\n", "", NONE},
	{"", "100000\n", NONE},
	{"max\n", "100000\n", NONE},
	{"150000 100000\n", "100000\n", NONE},
	{"150000\n", "100000 \n", NONE},
	{"150000 \n", "100000\n", NONE},
	{"150000x", "100000\n", NONE},
	{"150000\n\n", "100000\n", NONE},
	{"99999999999999999999\n", "1\n", NONE},
	{"1\n", "99999999999999999999\n", NONE},
	{"9223372036854775808\n", "1\n", NONE},
};

START_TEST(v1_texts)
{
	const struct v1 *t = &v1[_i];

	expect_limit(cq_limit_parse_v1(t->quota, strlen(t->quota), t->period, strlen(t->period)), t->limit);
}
END_TEST

START_TEST(v1_texts_with_nul_bytes)
{
	const struct cq_limit none = NONE;

	expect_limit(cq_limit_parse_v1("1\0", 2, "1\n", 2), none);
	expect_limit(cq_limit_parse_v1("1\n", 2, "1\0\n", 3), none);
	expect_limit(cq_limit_parse_v1("1\n\0", 3, "1\n", 2), none);
}
END_TEST

/* Limits from the tightest to the widest; those with the same number allow the same. */
static const struct {
	unsigned rank;
	struct cq_limit limit;
} ranked[] = {
	{0, {1, UINT64_MAX}},
	{1, {1, INT64_MAX}},
	{2, {1, 1000000}},
	{3, {50000, 100000}},
	{3, {1, 2}},
	{4, {99999, 100000}},
	{5, {UINT64_MAX - 2, UINT64_MAX - 1}}, /* as floats these three were one */
	{6, {UINT64_MAX - 1, UINT64_MAX}},
	{7, {1, 1}},
	{7, {INT64_MAX, INT64_MAX}},
	{7, {UINT64_MAX, UINT64_MAX}},
	{8, {UINT64_MAX, UINT64_MAX - 1}},
	{9, {150000, 100000}},
	{10, {150001, 100000}},
	{11, {INT64_MAX, 1}},
	{12, {UINT64_MAX, 1}},
	{13, NONE},
	{13, {5, 0}}, /* without a period the quota means nothing */
};

START_TEST(tighter_is_a_strict_order)
{
	for (size_t i = 0; i < CQ_ARRAY_SIZE(ranked); i++) {
		for (size_t j = 0; j < CQ_ARRAY_SIZE(ranked); j++) {
			ck_assert_msg(cq_limit_is_tighter(&ranked[i].limit, &ranked[j].limit) ==
				      (ranked[i].rank < ranked[j].rank), "limits %zu and %zu", i, j);
		}
	}
}
END_TEST

/* A cgroup at PATH that is seen up to its first TOP bytes. */
static void init_cgroup(struct cq_cgroup *cgroup, enum cq_cgroup_version version, const char *path, size_t top)
{
	memset(cgroup, 0, sizeof *cgroup);
	cgroup->version = version;
	cgroup->length = strlen(path);
	cgroup->top_length = top;
	memcpy(cgroup->path, path, cgroup->length + 1);
}

static void expect_effective(const char *root, enum cq_cgroup_version version, const char *path, uint64_t quota,
			     uint64_t period)
{
	const struct cq_limit expected = {quota, period};
	struct cq_limit limit = {4711, 4711};
	struct cq_cgroup cgroup;

	init_cgroup(&cgroup, version, path, strlen("/cg"));
	ck_assert_int_eq(cq_limit_read(root, &cgroup, &limit), 0);
	expect_limit(limit, expected);
	if (version != CQ_CGROUP_NONE)
		ck_assert_str_eq(cgroup.path, "/cg");
}

START_TEST(tightest_level_counts)
{
	char *root = make_tree();

	make_directory(root, "cg/none/of/these");
	write_file(root, "cg/loose/cpu.max", "400000 100000\n");
	write_file(root, "cg/loose/tight/cpu.max", "20000 10000\n");
	write_file(root, "cg/loose/tight/max/cpu.max", "max 100000\n");
	write_file(root, "cg/loose/tight/max/bad/cpu.max", "50000 100000 x\n");
	write_file(root, "cg/loose/tight/max/bad/own/cpu.max", "300000 100000\n");
	write_file(root, "cg/cpu.max", "1600000 100000\n");
	expect_effective(root, CQ_CGROUP_V2, "/cg", 1600000, 100000);
	expect_effective(root, CQ_CGROUP_V2, "/cg/none/of/these", 1600000, 100000);
	expect_effective(root, CQ_CGROUP_V2, "/cg/loose", 400000, 100000);
	expect_effective(root, CQ_CGROUP_V2, "/cg/loose/tight", 20000, 10000);
	expect_effective(root, CQ_CGROUP_V2, "/cg/loose/tight/max/bad/own", 20000, 10000);
	expect_effective(root, CQ_CGROUP_V2, "/cg/loose/is/not/there", 400000, 100000);
	/* Above the mount point nothing is read, and v1's files say nothing in v2. */
	write_file(root, "cpu.max", "1000 100000\n");
	write_file(root, "cg/loose/cpu.cfs_quota_us", "1000\n");
	write_file(root, "cg/loose/cpu.cfs_period_us", "100000\n");
	expect_effective(root, CQ_CGROUP_V2, "/cg/loose", 400000, 100000);
	expect_effective(root, CQ_CGROUP_V1, "/cg/loose", 1000, 100000);
	expect_effective(root, CQ_CGROUP_NONE, "/cg/loose", 0, 0);
	free(root);
}
END_TEST

START_TEST(v1_levels)
{
	char *root = make_tree();

	write_file(root, "cg/cpu.cfs_quota_us", "-1\n");
	write_file(root, "cg/cpu.cfs_period_us", "100000\n");
	write_file(root, "cg/a/cpu.cfs_quota_us", "250000\n");
	write_file(root, "cg/a/cpu.cfs_period_us", "100000\n");
	write_file(root, "cg/a/b/cpu.cfs_quota_us", "-1\n");
	write_file(root, "cg/a/c/cpu.cfs_quota_us", "1000\n"); /* no period */
	write_file(root, "cg/a/d/cpu.cfs_period_us", "100000\n"); /* no quota */
	write_file(root, "cg/a/e/cpu.cfs_quota_us", "100\n");
	write_file(root, "cg/a/e/cpu.cfs_period_us", "0\n");
	expect_effective(root, CQ_CGROUP_V1, "/cg", 0, 0);
	expect_effective(root, CQ_CGROUP_V1, "/cg/a", 250000, 100000);
	expect_effective(root, CQ_CGROUP_V1, "/cg/a/b", 250000, 100000);
	expect_effective(root, CQ_CGROUP_V1, "/cg/a/c", 250000, 100000);
	expect_effective(root, CQ_CGROUP_V1, "/cg/a/d", 250000, 100000);
	expect_effective(root, CQ_CGROUP_V1, "/cg/a/e", 250000, 100000);
	free(root);
}
END_TEST

START_TEST(hostile_level_has_no_limit)
{
	char *root = make_tree(), *digits = repeat('1', 100000), *zeros = repeat('0', 60);

	write_file(root, "cg/cpu.max", "150000 100000\n");
	write_file(root, "cg/huge/cpu.max", "%s", digits);
	write_file(root, "cg/long/cpu.max", "1 %s1\n", zeros);
	write_bytes(root, "cg/nul/cpu.max", "1 1000\0\n", 8);
	write_file(root, "cg/empty/cpu.max", "%s", "");
	make_directory(root, "cg/directory/cpu.max");
	write_file(root, "cg/file", "1 1000\n");
	write_file(root, "cg/huge/cpu.cfs_quota_us", "%s", digits);
	write_file(root, "cg/huge/cpu.cfs_period_us", "100000\n");
	expect_effective(root, CQ_CGROUP_V2, "/cg/huge", 150000, 100000);
	expect_effective(root, CQ_CGROUP_V2, "/cg/long", 150000, 100000);
	expect_effective(root, CQ_CGROUP_V2, "/cg/nul", 150000, 100000);
	expect_effective(root, CQ_CGROUP_V2, "/cg/empty", 150000, 100000);
	expect_effective(root, CQ_CGROUP_V2, "/cg/directory", 150000, 100000);
	expect_effective(root, CQ_CGROUP_V2, "/cg/file", 150000, 100000);
	expect_effective(root, CQ_CGROUP_V2, "/cg/file/below", 150000, 100000);
	expect_effective(root, CQ_CGROUP_V1, "/cg/huge", 0, 0);
	free(zeros);
	free(digits);
	free(root);
}
END_TEST

/* The largest numbers that the kernel can write fit. */
START_TEST(largest_numbers_fit)
{
	char *root = make_tree();

	write_file(root, "cg/cpu.max", "9223372036854775807 9223372036854775806\n");
	write_file(root, "cg/cpu.cfs_quota_us", "9223372036854775807\n");
	write_file(root, "cg/cpu.cfs_period_us", "9223372036854775806\n");
	expect_effective(root, CQ_CGROUP_V2, "/cg", INT64_MAX, INT64_MAX - 1);
	expect_effective(root, CQ_CGROUP_V1, "/cg", INT64_MAX, INT64_MAX - 1);
	free(root);
}
END_TEST

/* The root of a hierarchy is not read: what stands there in a file is not its limit. */
START_TEST(unlimited_top_is_not_read)
{
	const struct cq_limit expected = {200000, 100000}, none = NONE;
	char *root = make_tree();
	struct cq_cgroup cgroup;
	struct cq_limit limit;

	write_file(root, "cg/cpu.max", "100000 100000\n");
	write_file(root, "cg/a/cpu.max", "200000 100000\n");
	init_cgroup(&cgroup, CQ_CGROUP_V2, "/cg/a", 3);
	cgroup.top_is_unlimited = true;
	ck_assert_int_eq(cq_limit_read(root, &cgroup, &limit), 0);
	expect_limit(limit, expected);
	ck_assert_str_eq(cgroup.path, "/cg");
	ck_assert_int_eq(cq_limit_read(root, &cgroup, &limit), 0);
	expect_limit(limit, none);
	free(root);
}
END_TEST

Suite *cq_test_limit(void)
{
	Suite *suite = suite_create("limit");
	TCase *tests = tcase_create("limit");

	tcase_add_loop_test(tests, v2_text, 0, CQ_ARRAY_SIZE(v2));
	tcase_add_test(tests, v2_text_with_nul_bytes);
	tcase_add_loop_test(tests, v1_texts, 0, CQ_ARRAY_SIZE(v1));
	tcase_add_test(tests, v1_texts_with_nul_bytes);
	tcase_add_test(tests, tighter_is_a_strict_order);
	tcase_add_test(tests, tightest_level_counts);
	tcase_add_test(tests, v1_levels);
	tcase_add_test(tests, hostile_level_has_no_limit);
	tcase_add_test(tests, largest_numbers_fit);
	tcase_add_test(tests, unlimited_top_is_not_read);
	suite_add_tcase(suite, tests);
	return suite;
}
