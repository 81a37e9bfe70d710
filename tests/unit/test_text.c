/* SPDX-License-Identifier: MIT */
#include "suites.h"
#include "text.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct number {
	const char *text;
	uint64_t max;
	bool is_number;
	uint64_t value;
	const char *rest;
} numbers[] = {
	{"0", 0, true, 0, ""},
	{"7", 7, true, 7, ""},
	{"8", 7, false, 0, "8"},
	{"1", 0, false, 0, "1"},
	{"007", 7, true, 7, ""},
	{"10", 9, false, 0, "10"},
	{"12,13", 12, true, 12, ",13"},
	{"12a", 100, true, 12, "a"},
	{"", 100, false, 0, ""},
	{"a12", 100, false, 0, "a12"},
	{" 12", 100, false, 0, " 12"},
	{"-1", 100, false, 0, "-1"},
	{"+1", 100, false, 0, "+1"},
	{"\xb2", 100, false, 0, "\xb2"},
	{"/", 100, false, 0, "/"},
	{":", 100, false, 0, ":"},
	{"4294967295", UINT32_MAX, true, UINT32_MAX, ""},
	{"4294967296", UINT32_MAX, false, 0, "4294967296"},
	{"9223372036854775807", INT64_MAX, true, INT64_MAX, ""},
	{"9223372036854775808", INT64_MAX, false, 0, "9223372036854775808"},
	{"18446744073709551615", UINT64_MAX, true, UINT64_MAX, ""},
	{"18446744073709551616", UINT64_MAX, false, 0, "18446744073709551616"},
	{"18446744073709551620", UINT64_MAX, false, 0, "18446744073709551620"},
	{"184467440737095516150", UINT64_MAX, false, 0, "184467440737095516150"},
	{"99999999999999999999999999999999999999999999", UINT64_MAX, false, 0,
	 "99999999999999999999999999999999999999999999"},
	{"00000000000000000000000000000000000000000001", UINT64_MAX, true, 1, ""},
};

START_TEST(number_has_value_or_nothing_changes)
{
	const struct number *t = &numbers[_i];
	const char *p = t->text;
	uint64_t value = 4711;

	ck_assert_int_eq(cq_text_number(&p, t->max, &value), t->is_number);
	ck_assert_uint_eq(value, t->is_number ? t->value : 4711);
	ck_assert_str_eq(p, t->rest);
}
END_TEST

START_TEST(number_is_held_to_every_small_max)
{
	for (uint64_t max = 0; max < 130; max++) {
		for (uint64_t n = 0; n < 1300; n++) {
			char text[16];
			const char *p = text;
			uint64_t value;

			snprintf(text, sizeof text, "%u", (unsigned)n);
			ck_assert_int_eq(cq_text_number(&p, max, &value), n <= max);
			if (n <= max)
				ck_assert_uint_eq(value, n);
		}
	}
}
END_TEST

static const struct word {
	const char *list, *word;
	bool is_in;
} words[] = {
	{"cpu", "cpu", true},
	{"cpu,cpuacct", "cpu", true},
	{"cpuacct,cpu", "cpu", true},
	{"rw,cpuacct,cpu,xattr", "cpu", true},
	{"cpuacct", "cpu", false},
	{"cpuset", "cpu", false},
	{"cpu", "cpuset", false},
	{"xcpu", "cpu", false},
	{"cpu ", "cpu", false},
	{" cpu", "cpu", false},
	{"CPU", "cpu", false},
	{"name=cpu", "cpu", false},
	{"", "cpu", false},
	{",", "cpu", false},
	{",,cpu", "cpu", true},
	{",cpu,", "cpu", true},
	{"c,p,u", "cpu", false},
};

START_TEST(word_of_list)
{
	ck_assert_int_eq(cq_text_has_word(words[_i].list, words[_i].word), words[_i].is_in);
}
END_TEST

START_TEST(equals_takes_the_whole_word)
{
	ck_assert(cq_text_equals("ceil", 4, "ceil"));
	ck_assert(cq_text_equals("ceiling", 4, "ceil"));
	ck_assert(!cq_text_equals("ceiling", 5, "ceil"));
	ck_assert(!cq_text_equals("ceil", 3, "ceil"));
	ck_assert(cq_text_equals("", 0, ""));
	ck_assert(!cq_text_equals("", 0, "ceil"));
	ck_assert(!cq_text_equals("ceil", 4, ""));
	ck_assert(!cq_text_equals("ceil\0", 5, "ceil")); /* a NUL is a byte as any other */
	ck_assert(!cq_text_equals("c\0il", 4, "c"));
}
END_TEST

static const struct match {
	const char *pattern, *name;
	bool matches;
} matches[] = {
	{"", "", true},
	{"", "a", false},
	{"a", "", false},
	{"java", "java", true},
	{"java", "javac", false},
	{"javac", "java", false},
	{"java", "Java", false},
	{"*", "", true},
	{"*", "anything at all", true},
	{"**", "", true},
	{"***", "abc", true},
	{"python*", "python", true},
	{"python*", "python3.11", true},
	{"python*", "ipython", false},
	{"*python*", "ipython3", true},
	{"*.so", "a.so.so", true},
	{"*.so", "a.so.1", false},
	{"a*b*c", "abc", true},
	{"a*b*c", "a-b-b-c", true},
	{"a*b*c", "a-c-b", false},
	{"a*ab", "aaab", true},
	{"*aab*aab", "aaabaaab", true},
	{"?", "a", true},
	{"?", "", false},
	{"?", "ab", false},
	{"a?c", "abc", true},
	{"a?c", "ac", false},
	{"*?", "", false},
	{"*?", "a", true},
	{"?*?", "ab", true},
	{"?*?", "a", false},
	{"[abc]", "b", true},
	{"[abc]", "d", false},
	{"[a-c]x", "bx", true},
	{"[a-c]x", "dx", false},
	{"[a-cx-z]", "y", true},
	{"[c-a]", "b", false},
	{"[!a-c]", "b", false},
	{"[!a-c]", "d", true},
	{"[^a-c]", "b", false},
	{"[^a-c]", "d", true},
	{"[!a]", "", false},
	{"[]]", "]", true},
	{"[]]", "a", false},
	{"[]a]", "a", true},
	{"[!]]", "]", false},
	{"[!]]", "a", true},
	{"[a-]", "-", true},
	{"[a-]", "b", false},
	{"[-a]", "-", true},
	{"[*]", "*", true},
	{"[*]", "a", false},
	{"[?]", "?", true},
	{"[", "[", true},
	{"[a", "[a", true},
	{"[a", "a", false},
	{"[!", "[!", true},
	{"[]", "[]", true},
	{"[!]", "[!]", true},
	{"[a-", "[a-", true},
	{"*[", "a[", true},
	{"a[b*", "a[bcd", true},
	{"\\*", "*", true},
	{"\\*", "a", false},
	{"\\?", "?", true},
	{"\\?", "a", false},
	{"\\[a]", "[a]", true},
	{"\\[a]", "a", false},
	{"\\\\", "\\", true},
	{"\\", "\\", true},
	{"a\\", "a\\", true},
	{"a\\", "a", false},
	{"*\\*", "a*", true},
	{"[\xc0-\xff]", "\xe9", true}, /* bytes are compared as unsigned */
	{"[a-\xff]", "\xe9", true},
	{"?", "\xe9", true},
};

START_TEST(pattern_matches)
{
	const struct match *t = &matches[_i];

	ck_assert_msg(cq_text_matches(t->pattern, t->name) == t->matches, "%s %s %s", t->pattern,
		      t->matches ? "does not match" : "matches", t->name);
}
END_TEST

/* A pattern of many stars takes time in proportion to both lengths, not to a power of them: with backtracking at every
 * star this would not end. */
START_TEST(pattern_with_many_stars_ends)
{
	char pattern[201], name[201];

	for (size_t i = 0; i < 100; i++) {
		memcpy(pattern + 2 * i, "*a", 2);
		memcpy(name + 2 * i, "aa", 2);
	}
	pattern[200] = name[200] = '\0';
	ck_assert(cq_text_matches(pattern, name));
	pattern[199] = 'b';
	ck_assert(!cq_text_matches(pattern, name));
}
END_TEST

/* The C library's fnmatch(3) as the other opinion, for patterns of the characters that mean something in both. */
START_TEST(pattern_matches_as_in_libc)
{
	static const char in_pattern[] = "ab*?", in_name[] = "ab";

	srand(1);
	for (unsigned round = 0; round < 20000; round++) {
		char pattern[9], name[9];
		size_t length = (size_t)rand() % 9, i;

		for (i = 0; i < length; i++)
			pattern[i] = in_pattern[rand() % 4];
		pattern[i] = '\0';
		length = (size_t)rand() % 9;
		for (i = 0; i < length; i++)
			name[i] = in_name[rand() % 2];
		name[i] = '\0';
		ck_assert_msg(cq_text_matches(pattern, name) == (fnmatch(pattern, name, 0) == 0), "%s and %s",
			      pattern, name);
	}
}
END_TEST

START_TEST(message_is_put_together)
{
	struct cq_message message;

	message.length = 0;
	cq_message_add_string(&message, "line ");
	cq_message_add_number(&message, 0);
	cq_message_add(&message, ", abc", 3);
	cq_message_add_number(&message, UINT64_MAX);
	ck_assert_str_eq(message.text, "line 0, a18446744073709551615");
	ck_assert_uint_eq(message.length, strlen(message.text));
	cq_message_add_string(&message, "");
	ck_assert_uint_eq(message.length, strlen(message.text));
}
END_TEST

START_TEST(message_is_cut)
{
	struct {
		struct cq_message message;
		char guard[64];
	} m;
	char big[2000];

	memset(big, 'x', sizeof big);
	memset(m.guard, 'g', sizeof m.guard);
	m.message.length = 0;
	cq_message_add(&m.message, big, sizeof m.message.text - 2);
	cq_message_add_number(&m.message, 1234567);
	ck_assert_uint_eq(m.message.length, sizeof m.message.text - 1);
	ck_assert_str_eq(m.message.text + sizeof m.message.text - 4, "xx1");
	cq_message_add(&m.message, big, sizeof big);
	cq_message_add_string(&m.message, "y");
	ck_assert_uint_eq(m.message.length, sizeof m.message.text - 1);
	ck_assert_uint_eq(strlen(m.message.text), sizeof m.message.text - 1);
	ck_assert_ptr_null(strchr(m.message.text, 'y'));
	for (size_t i = 0; i < sizeof m.guard; i++)
		ck_assert_int_eq(m.guard[i], 'g');
}
END_TEST

Suite *cq_test_text(void)
{
	Suite *suite = suite_create("text");
	TCase *tests = tcase_create("text");

	tcase_add_loop_test(tests, number_has_value_or_nothing_changes, 0, CQ_ARRAY_SIZE(numbers));
	tcase_add_test(tests, number_is_held_to_every_small_max);
	tcase_add_loop_test(tests, word_of_list, 0, CQ_ARRAY_SIZE(words));
	tcase_add_test(tests, equals_takes_the_whole_word);
	tcase_add_loop_test(tests, pattern_matches, 0, CQ_ARRAY_SIZE(matches));
	tcase_add_test(tests, pattern_with_many_stars_ends);
	tcase_add_test(tests, pattern_matches_as_in_libc);
	tcase_add_test(tests, message_is_put_together);
	tcase_add_test(tests, message_is_cut);
	suite_add_tcase(suite, tests);
	return suite;
}
