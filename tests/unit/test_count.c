/* SPDX-License-Identifier: MIT */
#include "count.h"
#include "suites.h"

#include <string.h>

/* Limits in tenths of a CPU, and what each rule makes of them: at most (floor), at least (ceil), about (nearest). */
static const struct {
	unsigned tenths, ceil, floor, nearest;
} rounded[] = {
	{5, 1, 0, 1},
	{10, 1, 1, 1},
	{15, 2, 1, 2},
	{20, 2, 2, 2},
	{24, 3, 2, 2},
	{25, 3, 2, 3},
	{26, 3, 2, 3},
	{30, 3, 3, 3},
	{4, 1, 0, 0},
	{1, 1, 0, 0},
	{1600, 160, 160, 160},
};

START_TEST(rounding)
{
	static const uint64_t periods[] = {10, 1000, 100000, 1000000};

	for (size_t i = 0; i < CQ_ARRAY_SIZE(periods); i++) {
		struct cq_limit limit = {rounded[_i].tenths * periods[i] / 10, periods[i]};

		ck_assert_uint_eq(cq_count_round(&limit, CQ_ROUND_CEIL), rounded[_i].ceil);
		ck_assert_uint_eq(cq_count_round(&limit, CQ_ROUND_FLOOR), rounded[_i].floor);
		ck_assert_uint_eq(cq_count_round(&limit, CQ_ROUND_NEAREST), rounded[_i].nearest);
	}
}
END_TEST

static void expect_rounded(uint64_t quota, uint64_t period, uint64_t ceil, uint64_t floor, uint64_t nearest)
{
	const struct cq_limit limit = {quota, period};

	ck_assert_uint_eq(cq_count_round(&limit, CQ_ROUND_CEIL), ceil);
	ck_assert_uint_eq(cq_count_round(&limit, CQ_ROUND_FLOOR), floor);
	ck_assert_uint_eq(cq_count_round(&limit, CQ_ROUND_NEAREST), nearest);
}

START_TEST(rounding_near_the_edges)
{
	expect_rounded(100001, 100000, 2, 1, 1);
	expect_rounded(99999, 100000, 1, 0, 1);
	expect_rounded(149999, 100000, 2, 1, 1);
	expect_rounded(150000, 100000, 2, 1, 2);
	expect_rounded(150001, 100000, 2, 1, 2);
	/* An odd period has no half. */
	expect_rounded(1, 3, 1, 0, 0);
	expect_rounded(2, 3, 1, 0, 1);
	expect_rounded(50000, 100001, 1, 0, 0);
	expect_rounded(50001, 100001, 1, 0, 1);
	/* Nothing overflows. */
	expect_rounded(1, UINT64_MAX, 1, 0, 0);
	expect_rounded(UINT64_MAX / 2, UINT64_MAX, 1, 0, 0);
	expect_rounded(UINT64_MAX / 2 + 1, UINT64_MAX, 1, 0, 1);
	expect_rounded(UINT64_MAX - 1, UINT64_MAX, 1, 0, 1);
	expect_rounded(UINT64_MAX, UINT64_MAX - 1, 2, 1, 1);
	expect_rounded(UINT64_MAX, 1, UINT64_MAX, UINT64_MAX, UINT64_MAX);
	expect_rounded(UINT64_MAX, 2, UINT64_MAX / 2 + 1, UINT64_MAX / 2, UINT64_MAX / 2 + 1);
	expect_rounded(INT64_MAX, INT64_MAX, 1, 1, 1);
}
END_TEST

/* The same by another way: the smallest whole number that is not below, the largest that is not above, and the nearest,
 * all found by trying. */
START_TEST(rounding_of_all_small_fractions)
{
	for (unsigned period = 1; period < 60; period++) {
		for (unsigned quota = 1; quota < 400; quota++) {
			unsigned ceil = 0, floor = 0, nearest = 0;

			while (ceil * period < quota)
				ceil++;
			while ((floor + 1) * period <= quota)
				floor++;
			while ((2 * nearest + 1) * period <= 2 * quota)
				nearest++;
			expect_rounded(quota, period, ceil, floor, nearest);
		}
	}
}
END_TEST

/* A policy in which nothing is set. */
static struct cq_policy make_policy(enum cq_round round)
{
	struct cq_policy policy;

	memset(&policy, 0, sizeof policy);
	policy.round = round;
	return policy;
}

static const struct cq_limit unset = {0, 0};
static const struct cq_limit two_and_a_half = {250000, 100000};

START_TEST(no_limit_shows_all)
{
	struct cq_policy policy = make_policy(CQ_ROUND_CEIL);

	for (unsigned real = 1; real < 300; real++)
		ck_assert_uint_eq(cq_count(&policy, &unset, real), real);
	ck_assert_uint_eq(cq_count(&policy, &unset, CQ_MAX_CPUS), CQ_MAX_CPUS);
}
END_TEST

START_TEST(limit_shows_some)
{
	struct cq_policy ceil = make_policy(CQ_ROUND_CEIL);
	struct cq_policy floor = make_policy(CQ_ROUND_FLOOR);

	ck_assert_uint_eq(cq_count(&ceil, &two_and_a_half, 16), 3);
	ck_assert_uint_eq(cq_count(&floor, &two_and_a_half, 16), 2);
	/* Not more than there are. */
	ck_assert_uint_eq(cq_count(&ceil, &two_and_a_half, 2), 2);
	ck_assert_uint_eq(cq_count(&ceil, &two_and_a_half, 1), 1);
}
END_TEST

START_TEST(at_least_one_is_shown)
{
	static const struct cq_limit tiny = {1, 1000000};

	for (unsigned round = CQ_ROUND_CEIL; round <= CQ_ROUND_NEAREST; round++) {
		struct cq_policy policy = make_policy((enum cq_round)round);

		ck_assert_uint_eq(cq_count(&policy, &tiny, 16), 1);
		ck_assert_uint_eq(cq_count(&policy, &tiny, 1), 1);
	}
}
END_TEST

START_TEST(huge_limit_shows_all)
{
	static const struct cq_limit huge[] = {
		{UINT64_MAX, 1}, {INT64_MAX, 1}, {UINT64_C(1) << 32, 1}, {(UINT64_C(1) << 32) + 1, 1}, {UINT64_MAX, 2},
	};

	for (size_t i = 0; i < CQ_ARRAY_SIZE(huge); i++) {
		for (unsigned round = CQ_ROUND_CEIL; round <= CQ_ROUND_NEAREST; round++) {
			struct cq_policy policy = make_policy((enum cq_round)round);

			ck_assert_uint_eq(cq_count(&policy, &huge[i], 16), 16);
		}
	}
}
END_TEST

START_TEST(min_and_max_bound_the_count)
{
	struct cq_policy policy = make_policy(CQ_ROUND_CEIL);

	policy.min = 4;
	ck_assert_uint_eq(cq_count(&policy, &two_and_a_half, 16), 4);
	ck_assert_uint_eq(cq_count(&policy, &two_and_a_half, 3), 3); /* not more than there are */
	policy.min = 3;
	ck_assert_uint_eq(cq_count(&policy, &two_and_a_half, 16), 3);
	policy.min = 2;
	ck_assert_uint_eq(cq_count(&policy, &two_and_a_half, 16), 3);
	policy.max = 2;
	ck_assert_uint_eq(cq_count(&policy, &two_and_a_half, 16), 2);
	ck_assert_uint_eq(cq_count(&policy, &unset, 16), 2);
	policy.max = 16;
	ck_assert_uint_eq(cq_count(&policy, &two_and_a_half, 16), 3);
	policy.min = 8;
	policy.max = 4; /* max holds */
	ck_assert_uint_eq(cq_count(&policy, &two_and_a_half, 16), 4);
	policy.min = policy.max = CQ_POLICY_MAX_COUNT;
	ck_assert_uint_eq(cq_count(&policy, &two_and_a_half, 16), 16);
}
END_TEST

START_TEST(count_is_above_limit_and_bounds)
{
	struct cq_policy policy = make_policy(CQ_ROUND_CEIL);

	policy.count = 6;
	ck_assert_uint_eq(cq_count(&policy, &two_and_a_half, 16), 6);
	ck_assert_uint_eq(cq_count(&policy, &unset, 16), 6);
	ck_assert_uint_eq(cq_count(&policy, &two_and_a_half, 4), 4);
	policy.min = 8;
	policy.max = 2;
	ck_assert_uint_eq(cq_count(&policy, &two_and_a_half, 16), 6);
	policy.count = CQ_POLICY_MAX_COUNT;
	ck_assert_uint_eq(cq_count(&policy, &two_and_a_half, 16), 16);
}
END_TEST

START_TEST(unlimited_stands_for_no_limit)
{
	struct cq_policy policy = make_policy(CQ_ROUND_FLOOR);

	policy.unlimited.quota = 35;
	policy.unlimited.period = 10;
	ck_assert_uint_eq(cq_count(&policy, &unset, 16), 3);
	ck_assert_uint_eq(cq_count(&policy, &two_and_a_half, 16), 2);
	policy.min = 5;
	ck_assert_uint_eq(cq_count(&policy, &unset, 16), 5);
	policy.min = 0;
	policy.round = CQ_ROUND_CEIL;
	ck_assert_uint_eq(cq_count(&policy, &unset, 16), 4);
	ck_assert_uint_eq(cq_count(&policy, &unset, 2), 2);
}
END_TEST

Suite *cq_test_count(void)
{
	Suite *suite = suite_create("count");
	TCase *tests = tcase_create("count");

	tcase_add_loop_test(tests, rounding, 0, CQ_ARRAY_SIZE(rounded));
	tcase_add_test(tests, rounding_near_the_edges);
	tcase_add_test(tests, rounding_of_all_small_fractions);
	tcase_add_test(tests, no_limit_shows_all);
	tcase_add_test(tests, limit_shows_some);
	tcase_add_test(tests, at_least_one_is_shown);
	tcase_add_test(tests, huge_limit_shows_all);
	tcase_add_test(tests, min_and_max_bound_the_count);
	tcase_add_test(tests, count_is_above_limit_and_bounds);
	tcase_add_test(tests, unlimited_stands_for_no_limit);
	suite_add_tcase(suite, tests);
	return suite;
}
