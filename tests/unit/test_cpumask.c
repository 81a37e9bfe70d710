/* SPDX-License-Identifier: MIT */
#include "cpumask.h"
#include "rawcall.h"
#include "suites.h"
#include "support.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

/* xorshift64*: the same numbers in every run and with every libc. */
static uint64_t next_random(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1d;
}

static bool has_cpu(const uint64_t *mask, unsigned cpu)
{
	return mask[cpu / 64] >> cpu % 64 & 1;
}

/* A mask of one of several kinds: dense, half, sparse, some whole words, and the empty and the full one. */
static void make_mask(uint64_t *mask, size_t words)
{
	unsigned kind = (unsigned)(next_random() >> 32) % 7;

	for (size_t i = 0; i < words; i++) {
		uint64_t a = next_random(), b = next_random(), c = next_random();

		switch (kind) {
		case 0:
			mask[i] = a | b | c;
			break;
		case 1:
			mask[i] = a;
			break;
		case 2:
			mask[i] = a & b & c;
			break;
		case 3:
			mask[i] = a >> 62 ? 0 : b;
			break;
		case 4:
			mask[i] = a >> 60 ? 0 : UINT64_C(1) << b % 64;
			break;
		case 5:
			mask[i] = 0;
			break;
		default:
			mask[i] = UINT64_MAX;
		}
	}
}

static unsigned naive_count(const uint64_t *mask, size_t words)
{
	unsigned count = 0;

	for (unsigned cpu = 0; cpu < words * 64; cpu++)
		count += has_cpu(mask, cpu);
	return count;
}

/* As the header says it: COUNT CPUs from number FIRST on, going round to the lowest. */
static void naive_keep_run(const uint64_t *mask, size_t words, unsigned first, unsigned count, uint64_t *ret)
{
	unsigned cpus = (unsigned)words * 64, kept = 0;

	memset(ret, 0, words * sizeof *ret);
	for (unsigned i = 0; i < cpus && kept < count; i++) {
		unsigned cpu = first < cpus ? (first + i) % cpus : i;

		if (has_cpu(mask, cpu)) {
			ret[cpu / 64] |= UINT64_C(1) << cpu % 64;
			kept++;
		}
	}
}

/* Runs keep_run in memory of just the size of the mask, so that a sanitizer sees what lies outside. */
static void expect_kept(const uint64_t *mask, size_t words, unsigned first, unsigned count)
{
	uint64_t *kept = malloc(words * sizeof *kept);
	uint64_t expected[CQ_MASK_WORDS];

	ck_assert_ptr_nonnull(kept);
	memcpy(kept, mask, words * sizeof *kept);
	naive_keep_run(mask, words, first, count, expected);
	cq_cpumask_keep_run(kept, words, first, count);
	ck_assert_msg(memcmp(kept, expected, words * sizeof *kept) == 0, "%zu words, first %u, count %u",
		      words, first, count);
	free(kept);
}

START_TEST(keep_run_of_random_masks)
{
	uint64_t mask[CQ_MASK_WORDS];
	size_t words = (size_t)_i;

	state = 0x9e3779b97f4a7c15 + words;
	for (unsigned round = 0; round < 7; round++) {
		unsigned cpus = (unsigned)words * 64, has, some;

		make_mask(mask, words);
		has = naive_count(mask, words);
		some = (unsigned)(next_random() % (has + 1));
		expect_kept(mask, words, (unsigned)(next_random() % cpus), some);
		expect_kept(mask, words, (unsigned)(next_random() % cpus), 1 + (unsigned)(next_random() % 9));
		expect_kept(mask, words, (unsigned)(next_random() % cpus), has ? has - 1 : 0);
		expect_kept(mask, words, (unsigned)(next_random() % cpus), has);
		expect_kept(mask, words, (unsigned)(next_random() % cpus), has + 1);
		/* A beginning at the edges of a word, at the end and behind it. */
		expect_kept(mask, words, 64 * (unsigned)(next_random() % words), some);
		expect_kept(mask, words, 64 * (unsigned)(next_random() % words) + 63, some);
		expect_kept(mask, words, cpus - 1, 1 + has / 2);
		expect_kept(mask, words, cpus, 1 + has / 2);
		expect_kept(mask, words, CQ_MAX_CPUS, 1 + has / 2);
	}
}
END_TEST

START_TEST(keep_run_of_one_word)
{
	state = 1;
	for (unsigned round = 0; round < 60; round++) {
		uint64_t mask;

		make_mask(&mask, 1);
		for (unsigned first = 0; first <= 66; first++) {
			for (unsigned count = 0; count <= 65; count += 1 + (unsigned)(next_random() % 9))
				expect_kept(&mask, 1, first, count);
		}
	}
}
END_TEST

START_TEST(keep_run_with_extreme_arguments)
{
	uint64_t mask[2] = {0xf0f0f0f0f0f0f0f0, 0x0f0f0f0f0f0f0f0f};

	for (size_t words = 1; words <= 2; words++) {
		expect_kept(mask, words, 0, 0);
		expect_kept(mask, words, 17, 0);
		expect_kept(mask, words, 17, UINT32_MAX);
		expect_kept(mask, words, UINT32_MAX, UINT32_MAX);
		expect_kept(mask, words, UINT32_MAX, 3);
	}
	cq_cpumask_keep_run(NULL, 0, 0, 1); /* a mask of no words has no words to look at */
}
END_TEST

START_TEST(keep_run_by_hand)
{
	uint64_t mask = 0xff;

	cq_cpumask_keep_run(&mask, 1, 6, 4);
	ck_assert_uint_eq(mask, 0xc3);
	mask = 0xa5;
	cq_cpumask_keep_run(&mask, 1, 3, 2);
	ck_assert_uint_eq(mask, 0xa0);
	mask = 0xa5;
	cq_cpumask_keep_run(&mask, 1, 6, 2);
	ck_assert_uint_eq(mask, 0x81);
}
END_TEST

START_TEST(count_nth_and_empty)
{
	uint64_t mask[CQ_MASK_WORDS];
	size_t words = (size_t)_i;

	state = 77 + words;
	for (unsigned round = 0; round < 7; round++) {
		unsigned n = 0, last = 0;

		make_mask(mask, words);
		for (unsigned cpu = 0; cpu < words * 64; cpu++) {
			if (!has_cpu(mask, cpu))
				continue;
			if (cq_cpumask_nth(mask, words, n) != cpu) /* an assertion would take longer than all else */
				ck_abort_msg("%zu words: CPU %u is not number %u", words, cpu, n);
			n++;
			last = cpu;
		}
		ck_assert_uint_eq(cq_cpumask_count(mask, words), n);
		ck_assert_int_eq(cq_cpumask_is_empty(mask, words), n == 0);
		ck_assert_uint_eq(cq_cpumask_nth(mask, words, n), last);
		ck_assert_uint_eq(cq_cpumask_nth(mask, words, n + 1000), last);
		ck_assert_uint_eq(cq_cpumask_nth(mask, words, UINT32_MAX), last);
	}
}
END_TEST

START_TEST(no_words_at_all)
{
	ck_assert_uint_eq(cq_cpumask_count(NULL, 0), 0);
	ck_assert(cq_cpumask_is_empty(NULL, 0));
	ck_assert_uint_eq(cq_cpumask_nth(NULL, 0, 0), 0);
}
END_TEST

START_TEST(intersection)
{
	struct cq_cpumask a, b, before;

	state = 5;
	for (unsigned round = 0; round < 100; round++) {
		bool is_empty = true;

		make_mask(a.words, CQ_MASK_WORDS);
		make_mask(b.words, CQ_MASK_WORDS);
		before = a;
		for (unsigned cpu = 0; cpu < CQ_MAX_CPUS; cpu++)
			is_empty = is_empty && !(has_cpu(a.words, cpu) && has_cpu(b.words, cpu));
		ck_assert_int_eq(cq_cpumask_intersect(&a, &b), !is_empty);
		for (size_t i = 0; i < CQ_MASK_WORDS; i++)
			ck_assert_uint_eq(a.words[i], is_empty ? before.words[i] : (before.words[i] & b.words[i]));
	}
	memset(&a, 0, sizeof a);
	memset(&b, 0, sizeof b);
	a.words[0] = 0xf0;
	b.words[0] = 0x0f;
	b.words[CQ_MASK_WORDS - 1] = UINT64_MAX;
	ck_assert(!cq_cpumask_intersect(&a, &b));
	ck_assert_uint_eq(a.words[0], 0xf0);
	a.words[CQ_MASK_WORDS - 1] = UINT64_C(1) << 63;
	ck_assert(cq_cpumask_intersect(&a, &b));
	ck_assert_uint_eq(a.words[0], 0);
	ck_assert_uint_eq(a.words[CQ_MASK_WORDS - 1], UINT64_C(1) << 63);
}
END_TEST

/* Lists, and the same as runs of CPUs; a run of 0, 0 behind the first ends them. */
static const struct list {
	const char *text;
	struct {
		unsigned first, count;
	} runs[4];
} lists[] = {
	{"0", {{0, 1}}},
	{"0\n", {{0, 1}}},
	{"0-3,8\n", {{0, 4}, {8, 1}}},
	{"8,0-3\n", {{0, 4}, {8, 1}}},
	{"0-3,2-5,5\n", {{0, 6}}},
	{"63-64\n", {{63, 2}}},
	{"5-5\n", {{5, 1}}},
	{"007\n", {{7, 1}}},
	{"1,3,5,127\n", {{1, 1}, {3, 1}, {5, 1}, {127, 1}}},
	{"0-8191\n", {{0, CQ_MAX_CPUS}}},
	{"8191\n", {{CQ_MAX_CPUS - 1, 1}}},
	/* What cannot be is left out, and takes no time. */
	{"8192\n", {{0, 0}}},
	{"3,8192-9000\n", {{3, 1}}},
	{"8190-4294967295\n", {{8190, 2}}},
	{"4294967295\n", {{0, 0}}},
	/* Nothing is a list of nothing: a cpuset without CPUs has it. */
	{"", {{0, 0}}},
	{"\n", {{0, 0}}},
	/* What follows the line is not looked at. */
	{"2\nx\n", {{2, 1}}},
};

START_TEST(list_has_its_cpus)
{
	const struct list *t = &lists[_i];
	char *text = strdup(t->text);
	struct cq_cpumask mask, expected;

	memset(&mask, 0xff, sizeof mask);
	memset(&expected, 0, sizeof expected);
	for (size_t i = 0; i < CQ_ARRAY_SIZE(t->runs); i++) {
		for (unsigned cpu = t->runs[i].first; cpu < t->runs[i].first + t->runs[i].count; cpu++)
			expected.words[cpu / 64] |= UINT64_C(1) << cpu % 64;
	}
	ck_assert_ptr_nonnull(text);
	ck_assert_int_eq(cq_cpumask_parse_list(text, strlen(text), &mask), 0);
	ck_assert_mem_eq(&mask, &expected, sizeof mask);
	free(text);
}
END_TEST

static const char *const no_lists[] = {
	"x", "-", ",", ",1", "1,,2", "-1", "1-", "1-\n", "1--2", "3-1", "1-2-3", "1 2", " 1", "1 ", "1\t\n", "1;2",
	"0x1", "all", "1-x", "1,x", "4294967296", "1-4294967296", "99999999999999999999", "0-99999999999999999999",
	"1\r\n",
};

START_TEST(no_list_leaves_the_mask)
{
	char *text = strdup(no_lists[_i]);
	struct cq_cpumask mask, before;

	memset(&mask, 0x5a, sizeof mask);
	before = mask;
	ck_assert_ptr_nonnull(text);
	ck_assert_int_eq(cq_cpumask_parse_list(text, strlen(text), &mask), -EINVAL);
	ck_assert_mem_eq(&mask, &before, sizeof mask);
	free(text);
}
END_TEST

START_TEST(list_with_nul_bytes)
{
	struct cq_cpumask mask;

	ck_assert_int_eq(cq_cpumask_parse_list("1\0", 2, &mask), -EINVAL);
	ck_assert_int_eq(cq_cpumask_parse_list("1\0,2\n", 5, &mask), -EINVAL);
	ck_assert_int_eq(cq_cpumask_parse_list("1,\0\n", 4, &mask), -EINVAL);
	ck_assert_int_eq(cq_cpumask_parse_list("1-\0\n", 4, &mask), -EINVAL);
	ck_assert_int_eq(cq_cpumask_parse_list("\0", 1, &mask), -EINVAL);
}
END_TEST

/* Every list that can be made of a mask gives that mask. */
START_TEST(list_of_random_masks)
{
	state = 11;
	for (unsigned round = 0; round < 60; round++) {
		char *text = repeat('\0', CQ_MAX_CPUS * 8);
		struct cq_cpumask mask, parsed;
		size_t length = 0;

		make_mask(mask.words, CQ_MASK_WORDS);
		for (unsigned cpu = 0; cpu < CQ_MAX_CPUS; cpu++) {
			unsigned last = cpu;

			if (!has_cpu(mask.words, cpu))
				continue;
			while (last + 1 < CQ_MAX_CPUS && has_cpu(mask.words, last + 1))
				last++;
			length += (size_t)sprintf(text + length, "%s%u", length ? "," : "", cpu);
			if (last > cpu)
				length += (size_t)sprintf(text + length, "-%u", last);
			cpu = last;
		}
		text[length] = '\n';
		ck_assert_int_eq(cq_cpumask_parse_list(text, length + 1, &parsed), 0);
		ck_assert_mem_eq(&parsed, &mask, sizeof mask);
		free(text);
	}
}
END_TEST

START_TEST(status_of_a_process)
{
	char *root = make_tree(), *filler = repeat('x', 3000);
	struct cq_cpumask mask;

	write_file(root, "proc/1/status",
		   "Name:\t%s\nCpus_allowed:\tff\nCpus_allowed_list:\t0-3,8\nMems_allowed_list:\t0\n",
		   "Cpus_allowed_list: 7");
	ck_assert_int_eq(cq_cpumask_read_status(root, "/proc/1/status", &mask), 0);
	ck_assert_uint_eq(mask.words[0], 0x10f);
	ck_assert_uint_eq(cq_cpumask_count(mask.words, CQ_MASK_WORDS), 5);

	write_file(root, "proc/2/status", "Groups:\t%s\nCpus_allowed_list:\t5", filler);
	ck_assert_int_eq(cq_cpumask_read_status(root, "/proc/2/status", &mask), 0);
	ck_assert_uint_eq(mask.words[0], 0x20);

	write_file(root, "proc/3/status", "Name:\tx\nCpus_allowed:\tff\n");
	ck_assert_int_eq(cq_cpumask_read_status(root, "/proc/3/status", &mask), -ENOENT);
	write_file(root, "proc/4/status", "Cpus_allowed_list:\tmany\n");
	ck_assert_int_eq(cq_cpumask_read_status(root, "/proc/4/status", &mask), -EINVAL);
	ck_assert_int_eq(cq_cpumask_read_status(root, "/proc/5/status", &mask), -ENOENT);
	make_directory(root, "proc/6/status");
	ck_assert_int_eq(cq_cpumask_read_status(root, "/proc/6/status", &mask), -EISDIR);
	ck_assert_uint_eq(mask.words[0], 0x20);
	free(filler);
	free(root);
}
END_TEST

START_TEST(mask_of_this_thread)
{
	struct cq_cpumask mask, kernels, listed;
	long size;

	memset(&mask, 0xff, sizeof mask);
	memset(&kernels, 0, sizeof kernels);
	size = cq_raw_sched_getaffinity(0, sizeof kernels, &kernels);
	ck_assert_int_gt(size, 0);
	ck_assert_int_eq(cq_cpumask_of_thread(&mask), 0);
	ck_assert_mem_eq(&mask, &kernels, sizeof mask);
	ck_assert(!cq_cpumask_is_empty(mask.words, CQ_MASK_WORDS));
	ck_assert_int_eq(cq_cpumask_read_status("/", "/proc/thread-self/status", &listed), 0);
	ck_assert_mem_eq(&mask, &listed, sizeof mask);
}
END_TEST

Suite *cq_test_cpumask(void)
{
	Suite *suite = suite_create("cpumask");
	TCase *tests = tcase_create("cpumask");

	tcase_set_timeout(tests, 120); /* under valgrind */
	tcase_add_test(tests, keep_run_by_hand);
	tcase_add_loop_test(tests, keep_run_of_random_masks, 1, CQ_MASK_WORDS + 1);
	tcase_add_test(tests, keep_run_of_one_word);
	tcase_add_test(tests, keep_run_with_extreme_arguments);
	tcase_add_loop_test(tests, count_nth_and_empty, 1, CQ_MASK_WORDS + 1);
	tcase_add_test(tests, no_words_at_all);
	tcase_add_test(tests, intersection);
	tcase_add_loop_test(tests, list_has_its_cpus, 0, CQ_ARRAY_SIZE(lists));
	tcase_add_loop_test(tests, no_list_leaves_the_mask, 0, CQ_ARRAY_SIZE(no_lists));
	tcase_add_test(tests, list_with_nul_bytes);
	tcase_add_test(tests, list_of_random_masks);
	tcase_add_test(tests, status_of_a_process);
	tcase_add_test(tests, mask_of_this_thread);
	suite_add_tcase(suite, tests);
	return suite;
}
