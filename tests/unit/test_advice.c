/* SPDX-License-Identifier: MIT */
#include "advice.h"
#include "suites.h"

#include <string.h>

#define MILLISECOND UINT64_C(1000000)

/* A run of WALL milliseconds under a limit of QUOTA milliseconds in 100, which used CPU milliseconds and was throttled in
 * so many of its periods. */
static const struct run {
	const char *code;
	unsigned quota; /* 0: no limit */
	unsigned shown, shown_by_floor, shown_by_ceil;
	unsigned wall, cpu;
	unsigned throttled;
	unsigned used; /* milliseconds of CPU in the cgroup; 0: not known */
} runs[] = {
	/* A limit of 1.5 CPUs, all of it used: by rounding up, down, and to 4 by CPUQUOTA=off on a larger machine. */
	{"try_floor", 150, 2, 1, 2, 3000, 4500, 30, 0},
	{"try_floor", 150, 2, 1, 2, 3000, 4500, 30, 4600},
	{"try_floor", 150, 2, 1, 2, 3000, 3600, 2, 0},
	{"held_back", 150, 1, 1, 2, 3000, 2990, 0, 0},
	{"raise_limit", 150, 1, 1, 2, 3000, 4500, 30, 0},
	{"try_policy", 150, 4, 1, 2, 3000, 4500, 30, 0},
	{"try_policy", 150, 3, 3, 3, 3000, 500, 30, 0},
	/* Whole numbers, and less than a CPU: no rounding helps. */
	{"raise_limit", 200, 2, 2, 2, 3000, 6000, 29, 0},
	{"raise_limit", 50, 1, 1, 1, 3000, 1500, 30, 0},
	{"raise_limit", 50, 1, 1, 1, 3000, 1200, 30, 0},
	/* Below the limit on average. */
	{"fine", 150, 2, 1, 2, 3000, 10, 0, 0},
	{"fine", 150, 2, 1, 2, 3000, 4400, 0, 0},
	{"fine", 150, 2, 1, 2, 3000, 3000, 1, 0}, /* 1 of 30 is 3 % */
	{"fine", 150, 1, 1, 2, 3000, 2600, 0, 0},
	{"bursty", 150, 2, 1, 2, 3000, 3590, 2, 0},
	{"bursty", 50, 1, 1, 1, 3000, 1190, 10, 0},
	{"bursty_try_ceil", 150, 1, 1, 2, 3000, 1000, 10, 0},
	/* The periods that count are those of the wall clock. */
	{"fine", 150, 2, 1, 2, 60000, 10, 2, 0},
	/* Ten periods. */
	{"too_short", 150, 2, 1, 2, 999, 1400, 9, 0},
	{"too_short", 150, 2, 1, 2, 0, 0, 0, 0},
	{"try_floor", 150, 2, 1, 2, 1000, 1500, 10, 0},
	{"unlimited", 0, 2, 2, 2, 3000, 6000, 0, 0},
	{"unlimited", 0, 2, 2, 2, 1, 1, 0, 0},
	/* Others in the cgroup; not worth a word where nothing is throttled. */
	{"others", 150, 2, 1, 2, 3000, 2000, 30, 4500},
	{"others", 150, 2, 1, 2, 3000, 0, 30, 4500},
	{"fine", 150, 2, 1, 2, 3000, 2000, 0, 4500},
	{"bursty", 150, 2, 1, 2, 3000, 2000, 30, 2400},
};

static struct cq_figures figures;

static void set_level(struct cq_metered_level *level, unsigned quota, unsigned throttled, unsigned used)
{
	level->limit = (struct cq_limit){quota * 1000, 100000};
	level->is_known = true;
	level->stat = (struct cq_cpustat){
		.periods = throttled + 1,
		.throttled = throttled,
		.lost = throttled * 20 * MILLISECOND,
		.used = used * MILLISECOND,
		.knows_used = used != 0,
	};
}

static void set_figures(const struct run *run)
{
	memset(&figures, 0, sizeof figures);
	figures.knows_cgroup = true;
	figures.real = 8;
	figures.shown = run->shown;
	figures.shown_by_floor = run->shown_by_floor;
	figures.shown_by_ceil = run->shown_by_ceil;
	figures.wall = run->wall * MILLISECOND;
	figures.user = run->cpu * MILLISECOND / 2;
	figures.system = run->cpu * MILLISECOND - figures.user;
	if (!run->quota)
		return;
	set_level(&figures.levels[0], run->quota, run->throttled, run->used);
	figures.level_count = 1;
	figures.effective = figures.levels;
}

START_TEST(follows_from_the_figures)
{
	set_figures(&runs[_i]);
	ck_assert_str_eq(cq_advice_of(&figures)->code, runs[_i].code);
	ck_assert_uint_gt(strlen(cq_advice_of(&figures)->text), 0);
}
END_TEST

/* What is not known is said before anything else, and whatever the rest of the figures looks like. */
START_TEST(says_what_is_not_known)
{
	set_figures(&runs[_i]);
	figures.levels[0].is_known = false;
	ck_assert_str_eq(cq_advice_of(&figures)->code, figures.effective ? "unreadable" : "unlimited");
	figures.limit_has_changed = true;
	ck_assert_str_eq(cq_advice_of(&figures)->code, "limit_changed");
	figures.has_moved = true;
	ck_assert_str_eq(cq_advice_of(&figures)->code, "moved");
	figures.knows_cgroup = false;
	ck_assert_str_eq(cq_advice_of(&figures)->code, "no_cgroup");
}
END_TEST

/* A wider limit further up, which is used up by others. */
START_TEST(tells_a_limit_of_another_level)
{
	set_figures(&(struct run){"", 150, 2, 1, 2, 3000, 1000, 0, 0});
	set_level(&figures.levels[1], 400, 20, 0);
	figures.level_count = 2;
	ck_assert_str_eq(cq_advice_of(&figures)->code, "shared_limit");
	figures.levels[1].is_known = false;
	ck_assert_str_eq(cq_advice_of(&figures)->code, "fine");
	set_level(&figures.levels[1], 400, 1, 0);
	ck_assert_str_eq(cq_advice_of(&figures)->code, "fine");
	/* The tighter one throttles more. */
	set_figures(&(struct run){"", 150, 2, 1, 2, 3000, 4500, 30, 0});
	set_level(&figures.levels[1], 400, 20, 0);
	figures.level_count = 2;
	ck_assert_str_eq(cq_advice_of(&figures)->code, "try_floor");
}
END_TEST

/* Many periods, but no time to speak of. */
START_TEST(does_not_mind_moments)
{
	set_figures(&(struct run){"", 100, 1, 1, 1, 3000, 3000, 20, 0});
	ck_assert_str_eq(cq_advice_of(&figures)->code, "raise_limit");
	figures.levels[0].stat.lost = 30 * MILLISECOND;
	ck_assert_str_eq(cq_advice_of(&figures)->code, "fine");
}
END_TEST

/* Without the CPUs of this process there is no word about rounding. */
START_TEST(does_without_the_cpus)
{
	set_figures(&(struct run){"", 150, 0, 0, 0, 3000, 4500, 30, 0});
	ck_assert_str_eq(cq_advice_of(&figures)->code, "raise_limit");
	figures.user = figures.system = 0;
	ck_assert_str_eq(cq_advice_of(&figures)->code, "bursty");
}
END_TEST

/* The largest numbers do not run over. */
START_TEST(takes_large_numbers)
{
	set_figures(&(struct run){"", 150, 2, 1, 2, 3000, 4500, 30, 0});
	figures.wall = INT64_MAX / 2;
	figures.user = INT64_MAX / 4 * 3;
	figures.system = 0;
	figures.levels[0].stat.throttled = INT64_MAX / 1000;
	figures.levels[0].stat.lost = INT64_MAX;
	ck_assert_str_eq(cq_advice_of(&figures)->code, "try_floor");
	figures.levels[0].limit = (struct cq_limit){INT64_MAX, INT64_C(1) << 61};
	ck_assert_str_eq(cq_advice_of(&figures)->code, "too_short");
}
END_TEST

Suite *cq_test_advice(void)
{
	Suite *suite = suite_create("advice");
	TCase *tests = tcase_create("advice");

	tcase_add_loop_test(tests, follows_from_the_figures, 0, CQ_ARRAY_SIZE(runs));
	tcase_add_loop_test(tests, says_what_is_not_known, 0, CQ_ARRAY_SIZE(runs));
	tcase_add_test(tests, tells_a_limit_of_another_level);
	tcase_add_test(tests, does_not_mind_moments);
	tcase_add_test(tests, does_without_the_cpus);
	tcase_add_test(tests, takes_large_numbers);
	suite_add_tcase(suite, tests);
	return suite;
}
