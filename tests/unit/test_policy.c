/* SPDX-License-Identifier: MIT */
#include "suites.h"

#include "policy.h"
#include "support.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What a source's functions find and take. */
static const char *overrides, *named_file, *cpus;
static char messages[4096];
static unsigned told;

static const char *environment(const char *name)
{
	if (strcmp(name, "CPUQUOTA") == 0)
		return overrides;
	if (strcmp(name, "CPUQUOTA_POLICY") == 0)
		return named_file;
	return strcmp(name, "CPUS") == 0 ? cpus : NULL;
}

static void problem(void *argument, const char *message)
{
	size_t length = strlen(messages);

	ck_assert_ptr_eq(argument, &told);
	told++;
	snprintf(messages + length, sizeof messages - length, "%s\n", message);
}

static char *root;
static struct cq_policy policy;
static struct cq_policy_source source;

static void set_up(void)
{
	root = make_tree();
	overrides = named_file = cpus = NULL;
	messages[0] = '\0';
	told = 0;
	source = (struct cq_policy_source){.root = root, .default_file = "/c.conf", .environment = environment,
		.problem = problem, .argument = &told};
	cq_policy_init(&policy);
}

static void tear_down(void)
{
	free(root);
}

/* Reads TEXT as the file /c.conf. */
static void read_text(const char *text)
{
	write_file(root, "c.conf", "%s", text);
	ck_assert_int_eq(cq_policy_read_file(&policy, &source, root, "/c.conf"), 0);
}

static void check_error_on(const struct cq_policy *before, const char *text, const char *message)
{
	memcpy(&policy, before, sizeof policy);
	messages[0] = '\0';
	read_text(text);
	policy.has_sections = before->has_sections;
	ck_assert_str_eq(messages, message);
	ck_assert_mem_eq(&policy, before, sizeof policy);
}

/* TEXT has one error, which is told in these words, and otherwise leaves the policy as it is: one in which every
 * value is another than the built-in one, and the built-in one, which it leaves behind. */
static void check_error(const char *text, const char *message)
{
	struct cq_policy before;

	cq_policy_init(&before);
	before.round = CQ_ROUND_NEAREST;
	before.min = 11;
	before.max = 12;
	before.count = 13;
	before.unlimited = (struct cq_limit){7, 2};
	before.mask = CQ_MASK_FIRST;
	before.conf = CQ_CONF_SHOWN;
	before.affinity = CQ_AFFINITY_REAL;
	before.files = CQ_FILES_REAL;
	before.runtime_quota = CQ_RUNTIME_QUOTA_HIDE;
	before.malloc_arenas = CQ_MALLOC_ARENAS_REAL;
	before.trap = CQ_TRAP_NEVER;
	before.refresh = 14;
	check_error_on(&before, text, message);
	cq_policy_init(&before);
	check_error_on(&before, text, message);
}

START_TEST(defaults)
{
	ck_assert_uint_eq(policy.round, CQ_ROUND_CEIL);
	ck_assert_uint_eq(policy.min, 1);
	ck_assert_uint_eq(policy.max, 0);
	ck_assert_uint_eq(policy.count, 0);
	ck_assert_uint_eq(policy.refresh, 1);
	ck_assert_uint_eq(policy.mask, CQ_MASK_SPREAD);
	ck_assert_uint_eq(policy.conf, CQ_CONF_REAL);
	ck_assert_uint_eq(policy.affinity, CQ_AFFINITY_SHOWN);
	ck_assert_uint_eq(policy.files, CQ_FILES_SHOWN);
	ck_assert_uint_eq(policy.runtime_quota, CQ_RUNTIME_QUOTA_KEEP);
	ck_assert_uint_eq(policy.malloc_arenas, CQ_MALLOC_ARENAS_SHOWN);
	ck_assert_uint_eq(policy.trap, CQ_TRAP_AUTO);
	ck_assert(!policy.is_off && !cq_limit_is_set(&policy.unlimited));
}
END_TEST

START_TEST(every_key)
{
	read_text("round=nearest\nmin=2\nmax=1000000\ncount=3\nmask=first\nconf=shown\naffinity=real\nfiles=real\n"
		  "runtime_quota=hide\nmalloc_arenas=real\ntrap=never\nrefresh=86400\n");
	ck_assert_str_eq(messages, "");
	ck_assert_uint_eq(policy.round, CQ_ROUND_NEAREST);
	ck_assert_uint_eq(policy.min, 2);
	ck_assert_uint_eq(policy.max, 1000000);
	ck_assert_uint_eq(policy.count, 3);
	ck_assert_uint_eq(policy.mask, CQ_MASK_FIRST);
	ck_assert_uint_eq(policy.conf, CQ_CONF_SHOWN);
	ck_assert_uint_eq(policy.affinity, CQ_AFFINITY_REAL);
	ck_assert_uint_eq(policy.files, CQ_FILES_REAL);
	ck_assert_uint_eq(policy.runtime_quota, CQ_RUNTIME_QUOTA_HIDE);
	ck_assert_uint_eq(policy.malloc_arenas, CQ_MALLOC_ARENAS_REAL);
	ck_assert_uint_eq(policy.trap, CQ_TRAP_NEVER);
	ck_assert_uint_eq(policy.refresh, 86400);
	read_text("round=floor\nround = ceil\ntrap=always\nrefresh=0\nmask=spread\n");
	ck_assert_uint_eq(policy.round, CQ_ROUND_CEIL);
	ck_assert_uint_eq(policy.trap, CQ_TRAP_ALWAYS);
	ck_assert_uint_eq(policy.refresh, 0);
	ck_assert_uint_eq(policy.mask, CQ_MASK_SPREAD);
	ck_assert_uint_eq(policy.max, 1000000);
}
END_TEST

/* The words of each key, in the order of their numbers. */
static const struct {
	const char *key, *words[3], *alternatives;
	size_t field;
} word_keys[] = {
	{"round", {"ceil", "floor", "nearest"}, "ceil, floor or nearest", offsetof(struct cq_policy, round)},
	{"mask", {"spread", "first"}, "spread or first", offsetof(struct cq_policy, mask)},
	{"conf", {"real", "shown"}, "real or shown", offsetof(struct cq_policy, conf)},
	{"affinity", {"shown", "real"}, "shown or real", offsetof(struct cq_policy, affinity)},
	{"files", {"shown", "real"}, "shown or real", offsetof(struct cq_policy, files)},
	{"runtime_quota", {"keep", "hide"}, "keep or hide", offsetof(struct cq_policy, runtime_quota)},
	{"malloc_arenas", {"shown", "real"}, "shown or real", offsetof(struct cq_policy, malloc_arenas)},
	{"trap", {"auto", "always", "never"}, "auto, always or never", offsetof(struct cq_policy, trap)},
};

static const struct {
	const char *key;
	unsigned least, most;
	size_t field;
} number_keys[] = {
	{"min", 1, 1000000, offsetof(struct cq_policy, min)},
	{"max", 1, 1000000, offsetof(struct cq_policy, max)},
	{"count", 1, 1000000, offsetof(struct cq_policy, count)},
	{"refresh", 0, 86400, offsetof(struct cq_policy, refresh)},
};

/* "KEY = VALUE" sets the field of that key to NUMBER, in a file and in a variable, and no other field. */
static void check_value(const char *key, const char *value, size_t field, unsigned number)
{
	const unsigned other = number + 1;
	struct cq_policy expected;
	char text[128];

	cq_policy_init(&expected);
	memcpy((char *)&expected + field, &number, sizeof number);
	snprintf(text, sizeof text, "%s = %s", key, value);
	for (int is_inline = 0; is_inline < 2; is_inline++) {
		cq_policy_init(&policy);
		memcpy((char *)&policy + field, &other, sizeof other);
		if (is_inline)
			cq_policy_read_inline(&policy, &source, "CPUQUOTA", text);
		else
			read_text(text);
		ck_assert_str_eq(messages, "");
		ck_assert_msg(memcmp(&policy, &expected, sizeof policy) == 0, "%s", text);
	}
}

START_TEST(every_word)
{
	char text[128], message[256];
	unsigned i;

	for (i = 0; i < 3 && word_keys[_i].words[i]; i++)
		check_value(word_keys[_i].key, word_keys[_i].words[i], word_keys[_i].field, i);
	ck_assert_uint_ge(i, 2);
	/* A part of a word, more than it, a number in its place. */
	for (const char *const *bad = (const char *const[]){"", "r", "realx", "keeper", "ceil floor", "0", "SHOWN", ",",
							    NULL}; *bad; bad++) {
		snprintf(text, sizeof text, "#\n%s=%s\n", word_keys[_i].key, *bad);
		snprintf(message, sizeof message, "/c.conf:2: %s = %s: expected %s\n", word_keys[_i].key, *bad,
			 word_keys[_i].alternatives);
		check_error(text, message);
	}
}
END_TEST

START_TEST(every_number)
{
	const unsigned least = number_keys[_i].least, most = number_keys[_i].most;
	const unsigned good[] = {least, least + 1, 4096, most - 1, most};
	char value[32], text[128], message[256];

	for (size_t i = 0; i < CQ_ARRAY_SIZE(good); i++) {
		snprintf(value, sizeof value, "%u", good[i]);
		check_value(number_keys[_i].key, value, number_keys[_i].field, good[i]);
		snprintf(value, sizeof value, "000%u", good[i]);
		check_value(number_keys[_i].key, value, number_keys[_i].field, good[i]);
	}
	snprintf(value, sizeof value, "%u", most + 1);
	for (const char *const *bad = (const char *const[]){value, least ? "0" : "-0", "-1", "1.5", "", "+1", "1 2", "1,",
							    "0x1", "1e3", "x", "4294967296", "4294967297",
							    "18446744073709551615", "18446744073709551616",
							    "18446744073709551617", NULL}; *bad; bad++) {
		snprintf(text, sizeof text, "\n\n%s = %s\n", number_keys[_i].key, *bad);
		snprintf(message, sizeof message, "/c.conf:3: %s = %s: expected a whole number from %u to %u\n",
			 number_keys[_i].key, *bad, least, most);
		check_error(text, message);
	}
}
END_TEST

START_TEST(layout)
{
	read_text("# comment\n\n \t \r\n\tmin\t=  2  # two\r\n#min = 3\nmax=4#5\nmax = 6 #7\n   # indented\n"
		  "round=floor");
	ck_assert_str_eq(messages, "/c.conf:6: max = 4#5: expected a whole number from 1 to 1000000\n");
	ck_assert_uint_eq(policy.min, 2);
	ck_assert_uint_eq(policy.max, 6);
	ck_assert_uint_eq(policy.round, CQ_ROUND_FLOOR);
}
END_TEST

START_TEST(errors)
{
	check_error("\nround = up\n", "/c.conf:2: round = up: expected ceil, floor or nearest\n");
	check_error("round = Ceil\n", "/c.conf:1: round = Ceil: expected ceil, floor or nearest\n");
	check_error("round =\n", "/c.conf:1: round = : expected ceil, floor or nearest\n");
	check_error("round = ceil,floor\n", "/c.conf:1: round = ceil,floor: expected ceil, floor or nearest\n");
	check_error("mask = all\n", "/c.conf:1: mask = all: expected spread or first\n");
	check_error("min = 0\n", "/c.conf:1: min = 0: expected a whole number from 1 to 1000000\n");
	check_error("max = 1000001\n", "/c.conf:1: max = 1000001: expected a whole number from 1 to 1000000\n");
	check_error("count = 99999999999999999999999\n",
		    "/c.conf:1: count = 99999999999999999999999: expected a whole number from 1 to 1000000\n");
	check_error("min = -1\n", "/c.conf:1: min = -1: expected a whole number from 1 to 1000000\n");
	check_error("min = 1.5\n", "/c.conf:1: min = 1.5: expected a whole number from 1 to 1000000\n");
	check_error("min = 2 3\n", "/c.conf:1: min = 2 3: expected a whole number from 1 to 1000000\n");
	check_error("refresh = 86401\n", "/c.conf:1: refresh = 86401: expected a whole number from 0 to 86400\n");
	check_error("# a\n# b\nmin\n", "/c.conf:3: 'min': expected KEY = VALUE\n");
	check_error("Min = 2\n",
		    "/c.conf:1: unknown key 'Min': expected round, min, max, count, mask, conf, affinity, files, "
		    "runtime_quota, malloc_arenas, trap, refresh, or unlimited\n");
	check_error("= 2\n",
		    "/c.conf:1: unknown key '': expected round, min, max, count, mask, conf, affinity, files, "
		    "runtime_quota, malloc_arenas, trap, refresh, or unlimited\n");
	check_error("unlimited = some\n", "/c.conf:1: unlimited = some: expected all or env:NAME\n");
	check_error("unlimited = env:\n", "/c.conf:1: unlimited = env:: expected all or env:NAME\n");
	check_error("[go\n", "/c.conf:1: a section without its ']': expected [go] or [program PATTERN]\n");
	check_error("[node]\n", "/c.conf:1: an unknown section: expected [go] or [program PATTERN]\n");
	check_error("unlimited = env:CPU REQUEST\n", "/c.conf:1: unlimited = env:CPU REQUEST: expected all or env:NAME\n");
	check_error("min\033[2J = 1\n",
		    "/c.conf:1: unknown key 'min?[2J': expected round, min, max, count, mask, conf, affinity, files, "
		    "runtime_quota, malloc_arenas, trap, refresh, or unlimited\n");
}
END_TEST

/* Nothing of what is quoted is longer than 60 bytes. */
START_TEST(errors_with_long_words)
{
	char *word = repeat('w', 61), *text = NULL, *message = NULL;

	ck_assert_int_gt(asprintf(&text, "round = %s\n", word), 0);
	ck_assert_int_gt(asprintf(&message, "/c.conf:1: round = %.60s...: expected ceil, floor or nearest\n", word), 0);
	check_error(text, message);
	text[strlen(text) - 2] = '\0'; /* 60 bytes, and no newline */
	free(message);
	ck_assert_int_gt(asprintf(&message, "/c.conf:1: round = %.60s: expected ceil, floor or nearest\n", word), 0);
	check_error(text, message);
	free(message);
	ck_assert_int_gt(asprintf(&message, "/c.conf:1: '%.60s...': expected KEY = VALUE\n", word), 0);
	check_error(word, message);
	free(message);
	free(text);
	free(word);
}
END_TEST

/* What is quoted has nothing in it that a terminal would obey. */
START_TEST(control_characters)
{
	char text[64], message[256];

	for (int c = 1; c < 128; c++) {
		if ((c >= ' ' && c != 127) || c == '\n')
			continue;
		snprintf(text, sizeof text, "a%cb\n", c);
		snprintf(message, sizeof message, "/c.conf:1: 'a?b': expected KEY = VALUE\n");
		check_error(text, message);
		snprintf(text, sizeof text, "mask = a%cb\n", c);
		snprintf(message, sizeof message, "/c.conf:1: mask = a?b: expected spread or first\n");
		check_error(text, message);
		snprintf(text, sizeof text, "unlimited = a%cb\n", c);
		snprintf(message, sizeof message, "/c.conf:1: unlimited = a?b: expected all or env:NAME\n");
		check_error(text, message);
		snprintf(text, sizeof text, "1%cm", c);
		cpus = text;
		check_error("unlimited = env:CPUS\n",
			    "/c.conf:1: unlimited = env:CPUS: expected a number of CPUs in that variable, as 2, 1.5 or "
			    "500m, not '1?m'\n");
	}
}
END_TEST

START_TEST(errors_in_sections)
{
	static const char broken[] = "/c.conf:1: a section without its ']': expected [go] or [program PATTERN]\n";
	static const char unknown[] = "/c.conf:1: an unknown section: expected [go] or [program PATTERN]\n";
	static const char behind[] = "/c.conf:1: text behind the ']' of a section: expected nothing but a comment\n";
	static const char without[] = "/c.conf:1: a section without its pattern: expected [program PATTERN]\n";

	check_error("[", broken);
	check_error("[program x] y\n", behind);
	check_error("[go] min = 2\n", behind);
	check_error("[]\n", unknown);
	check_error("[ ]\n", unknown);
	check_error("[Go]\n", unknown);
	check_error("[go x]\n", unknown);
	check_error("[program]\n", without);
	check_error("[ program\t ]\n", without);
	check_error("[programs x]\n", unknown);
	check_error("[program /bin/x]\n",
		    "/c.conf:1: a pattern with a '/' matches no program: expected a name without its directory\n");
	messages[0] = '\0';
	read_text("\xef\xbb\xbf# by an editor that marks its files\n");
	ck_assert_str_eq(messages, "");
	read_text("\xef\xbb\xbfmin = 2\n");
	ck_assert_str_eq(messages, "");
	ck_assert_uint_eq(policy.min, 2);
	/* What follows such a section is for nobody, up to the next one. */
	source.executable = "/bin/x";
	check_error("[other]\nmin = 2\n", unknown);
	read_text("[program x\nmin = 2\n[program x]\nmax = 3\n");
	ck_assert_uint_eq(policy.min, 1);
	ck_assert_uint_eq(policy.max, 3);
}
END_TEST

START_TEST(errors_of_unlimited)
{
	char *name = repeat('N', 128), *text = NULL, *message = NULL;

	check_error("unlimited = env:A=B\n", "/c.conf:1: unlimited = env:A=B: expected all or env:NAME\n");
	check_error("unlimited = ALL\n", "/c.conf:1: unlimited = ALL: expected all or env:NAME\n");
	check_error("unlimited =\n", "/c.conf:1: unlimited = : expected all or env:NAME\n");
	ck_assert_int_gt(asprintf(&text, "unlimited = env:%s\n", name), 0);
	ck_assert_int_gt(asprintf(&message, "/c.conf:1: unlimited = env:%.56s...: expected all or env:NAME\n", name),
			 0);
	check_error(text, message);
	cpus = "1,5\n";
	check_error("\n\nunlimited = env:CPUS\n",
		    "/c.conf:3: unlimited = env:CPUS: expected a number of CPUs in that variable, as 2, 1.5 or 500m, "
		    "not '1,5?'\n");
	free(message);
	free(text);
	free(name);
}
END_TEST

START_TEST(one_error_leaves_the_rest)
{
	read_text("min = 2\nround = up\nmax = x\ncount = 4\n");
	ck_assert_uint_eq(told, 2);
	ck_assert_uint_eq(policy.min, 2);
	ck_assert_uint_eq(policy.count, 4);
	ck_assert_uint_eq(policy.max, 0);
}
END_TEST

START_TEST(nul_and_long_lines)
{
	static const char nul[] = "min = 2\nround = fl\0oor\nmax = 3\n";
	char *line = repeat('x', 1024), *fits = repeat(' ', 1015);

	write_bytes(root, "c.conf", nul, sizeof nul - 1);
	ck_assert_int_eq(cq_policy_read_file(&policy, &source, root, "/c.conf"), 0);
	ck_assert_str_eq(messages, "/c.conf:2: a NUL byte: expected a text\n");
	ck_assert_uint_eq(policy.max, 3);

	messages[0] = '\0';
	write_file(root, "c.conf", "%s\nmin = 4\n%smax = 55\n", line, fits);
	ck_assert_int_eq(cq_policy_read_file(&policy, &source, root, "/c.conf"), 0);
	ck_assert_str_eq(messages, "/c.conf:1: the line is too long: expected less than 1024 bytes\n");
	ck_assert_uint_eq(policy.min, 4);
	ck_assert_uint_eq(policy.max, 55);
	free(line);
	free(fits);
}
END_TEST

START_TEST(nul_in_a_comment_is_ignored)
{
	static const char text[] = "# \0\nmin = 2 # \0\n \0\nmax = 3\n";

	write_bytes(root, "c.conf", text, sizeof text - 1);
	ck_assert_int_eq(cq_policy_read_file(&policy, &source, root, "/c.conf"), 0);
	ck_assert_str_eq(messages, "/c.conf:3: a NUL byte: expected a text\n");
	ck_assert_uint_eq(policy.min, 2);
	ck_assert_uint_eq(policy.max, 3);
}
END_TEST

/* Lines of every length about the longest; the number of the line behind is right all the same. */
START_TEST(longest_line)
{
	for (size_t length = 1020; length < 1030; length++) {
		char *blanks = repeat(' ', length - strlen("min = 2"));

		write_file(root, "c.conf", "#\nmin = 2%s\nmax = 0\n", blanks);
		cq_policy_init(&policy);
		messages[0] = '\0';
		ck_assert_int_eq(cq_policy_read_file(&policy, &source, root, "/c.conf"), 0);
		ck_assert_uint_eq(policy.min, length < 1024 ? 2 : 1);
		ck_assert_str_eq(messages, length < 1024 ?
				 "/c.conf:3: max = 0: expected a whole number from 1 to 1000000\n" :
				 "/c.conf:2: the line is too long: expected less than 1024 bytes\n"
				 "/c.conf:3: max = 0: expected a whole number from 1 to 1000000\n");
		free(blanks);
	}
}
END_TEST

START_TEST(largest_file)
{
	char *blanks = repeat('\n', 64 * 1024 - strlen("min = 2"));

	write_file(root, "c.conf", "%smin = 2", blanks);
	ck_assert_int_eq(cq_policy_read_file(&policy, &source, root, "/c.conf"), 0);
	ck_assert_uint_eq(policy.min, 2);
	cq_policy_init(&policy);
	write_file(root, "c.conf", "%smin = 2\n", blanks);
	ck_assert_int_eq(cq_policy_read_file(&policy, &source, root, "/c.conf"), -EFBIG);
	ck_assert_uint_eq(told, 1);
	free(blanks);
}
END_TEST

/* Whatever bytes a file has: each value is one that its key may have, and nobody reads outside of anything. */
START_TEST(garbage)
{
	static const char *const words[] = {
		"min", "max", "count", "round", "refresh", "unlimited", "=", "=", "=", "\n", "\n", "\n", "0", "1",
		"99999999", "floor", "env:CPUS", "all", "[", "]", "program", "go", "#", " ", "\t", "\r", "*", "x", ".",
	};

	srand(5);
	source.executable = "/bin/x";
	for (unsigned round = 0; round < 500; round++) {
		char text[400];
		size_t size = 0;

		while (size < 300) {
			const char *word = words[(size_t)rand() % CQ_ARRAY_SIZE(words)];

			memcpy(text + size, word, strlen(word));
			size += strlen(word);
			if (rand() % 100 == 0)
				text[size++] = (char)rand();
		}
		write_bytes(root, "c.conf", text, size);
		cpus = round % 2 ? "1.5" : NULL;
		cq_policy_init(&policy);
		ck_assert_int_eq(cq_policy_read_file(&policy, &source, root, "/c.conf"), 0);
		ck_assert(policy.min >= 1 && policy.min <= CQ_POLICY_MAX_COUNT);
		ck_assert_uint_le(policy.max, CQ_POLICY_MAX_COUNT);
		ck_assert_uint_le(policy.count, CQ_POLICY_MAX_COUNT);
		ck_assert_uint_le(policy.refresh, CQ_POLICY_MAX_REFRESH);
		ck_assert_uint_le(policy.round, CQ_ROUND_NEAREST);
		ck_assert(!policy.unlimited.period || policy.unlimited.quota);
	}
}
END_TEST

START_TEST(files_that_cannot_be_read)
{
	char *large = repeat('\n', CQ_POLICY_FILE_BUDGET + 1);

	ck_assert_int_eq(cq_policy_read_file(&policy, &source, root, "/none"), -ENOENT);
	make_directory(root, "dir");
	ck_assert_int_eq(cq_policy_read_file(&policy, &source, root, "/dir"), -EISDIR);
	write_file(root, "large", "%s", large);
	ck_assert_int_eq(cq_policy_read_file(&policy, &source, root, "/large"), -EFBIG);
	free(large);
	ck_assert_int_eq(cq_policy_read_file(&policy, &source, root, "/large/x"), -ENOTDIR);
	ck_assert_ptr_nonnull(strstr(messages, "/none: no such file\n/dir: is a directory; expected a file\n/large:"));
	ck_assert_ptr_nonnull(strstr(messages, ": is larger than 64 KiB, the most that a policy may have\n"));
	ck_assert_uint_eq(told, 4);
}
END_TEST

/* FILE cannot be read, which is told in these words and leaves the policy as it is. */
static void check_unreadable(const char *file, int error, const char *message)
{
	struct cq_policy before;

	policy.min = 5;
	memcpy(&before, &policy, sizeof before);
	messages[0] = '\0';
	ck_assert_int_eq(cq_policy_read_file(&policy, &source, root, file), error);
	ck_assert_str_eq(messages, message);
	ck_assert_mem_eq(&policy, &before, sizeof policy);
}

/* Takes or gives back what lets root read any file. Whoever has no such right has none to take. */
static void may_read_anything(bool may)
{
	const uint32_t rights = 1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH;
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2];

	ck_assert_int_eq((int)syscall(SYS_capget, &header, data), 0);
	data[0].effective = may ? data[0].effective | (data[0].permitted & rights) : data[0].effective & ~rights;
	ck_assert_int_eq((int)syscall(SYS_capset, &header, data), 0);
}

START_TEST(file_without_permission)
{
	char path[4096];

	write_file(root, "secret", "min = 2\n");
	snprintf(path, sizeof path, "%s/secret", root);
	ck_assert_int_eq(chmod(path, 0), 0);
	may_read_anything(false);
	check_unreadable("/secret", -EACCES, "/secret: permission denied\n");
	may_read_anything(true);
}
END_TEST

START_TEST(links_without_end)
{
	char path[4096];

	snprintf(path, sizeof path, "%s/loop", root);
	ck_assert_int_eq(symlink("loop", path), 0);
	check_unreadable("/loop", -ELOOP, "/loop: too many symbolic links\n");
}
END_TEST

START_TEST(no_descriptor)
{
	struct rlimit before, none;
	int r;

	write_file(root, "c.conf", "min = 2\n");
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	r = cq_policy_read_file(&policy, &source, root, "/c.conf");
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	ck_assert_int_eq(r, -EMFILE);
	ck_assert_str_eq(messages, "/c.conf: no descriptor is free to read it\n");
	ck_assert_uint_eq(policy.min, 1);
}
END_TEST

START_TEST(another_error)
{
	char *name = repeat('n', 300), *path = NULL, *message = NULL;

	ck_assert_int_gt(asprintf(&path, "/%s", name), 0);
	ck_assert_int_gt(asprintf(&message, "%s: cannot be read\n", path), 0);
	check_unreadable(path, -ENAMETOOLONG, message);
	free(message);
	free(path);
	free(name);
}
END_TEST

START_TEST(sections)
{
	static const char text[] = "min = 2\n[program web-*]\nmin = 3\nround = up\n[ program  web-server ]\nmax = 7\n"
				   "[program db]\nmin = 5\nmax = x\n[go]\ncount = 9\n";

	source.executable = "/usr/bin/web-server";
	read_text(text);
	ck_assert_uint_eq(policy.min, 3);
	ck_assert_uint_eq(policy.max, 7);
	ck_assert_uint_eq(policy.count, 0);
	ck_assert(policy.has_sections);
	/* Lines for other programs are checked too. */
	ck_assert_str_eq(messages, "/c.conf:4: round = up: expected ceil, floor or nearest\n"
				   "/c.conf:9: max = x: expected a whole number from 1 to 1000000\n");
	cq_policy_init(&policy);
	source.executable = NULL;
	read_text(text);
	ck_assert_uint_eq(policy.min, 2);
	ck_assert_uint_eq(policy.max, 0);
}
END_TEST

START_TEST(section_patterns)
{
	static const struct {
		const char *pattern, *executable;
		bool matches;
	} patterns[] = {
		{"nginx", "/usr/sbin/nginx", true}, {"nginx", "nginx", true}, {"nginx", "/nginx/sbin", false},
		{"nginx", "/usr/sbin/Nginx", false}, {"*", "/bin/x", true}, {"python3*", "/usr/bin/python3.11", true},
		{"python?", "/usr/bin/python3.11", false}, {"[jk]ava", "/bin/java", true},
		{"[!jk]ava", "/bin/java", false},
		{"my program", "/bin/my program", true}, {"*", "/bin/", false},
		{"a]", "/bin/a]", true}, {"[", "/bin/[", true}, {"\\*", "/bin/*", true}, {"\\*", "/bin/x", false},
	};

	for (size_t i = 0; i < CQ_ARRAY_SIZE(patterns); i++) {
		char text[64];

		snprintf(text, sizeof text, "[program \t%s ] # those\nmin = 2\n", patterns[i].pattern);
		cq_policy_init(&policy);
		source.executable = patterns[i].executable;
		read_text(text);
		ck_assert_str_eq(messages, "");
		ck_assert_msg(policy.min == (patterns[i].matches ? 2 : 1), "%s %s", patterns[i].pattern,
			      patterns[i].executable);
	}
}
END_TEST

/* Names as long as the file system has them; no pattern matches a longer one, which cannot be known. */
START_TEST(section_for_a_long_name)
{
	for (size_t length = 254; length < 258; length++) {
		char *name = repeat('n', length), *path = NULL;

		ck_assert_int_gt(asprintf(&path, "/bin/%s", name), 0);
		source.executable = path;
		cq_policy_init(&policy);
		read_text("[program n*]\nmin = 2\n");
		ck_assert_uint_eq(policy.min, length < 256 ? 2 : 1);
		free(path);
		free(name);
	}
}
END_TEST

static bool yes(void)
{
	return true;
}

/* Lines below a header that cannot be read are not for all programs. */
START_TEST(section_that_cannot_be_read)
{
	static const char nul[] = "min = 2\n[program y\0]\nmin = 7\n";
	char *name = repeat('p', 1100);

	source.executable = "/bin/x";
	write_file(root, "c.conf", "min = 2\n  [program %s]\nmin = 7\n", name);
	ck_assert_int_eq(cq_policy_read_file(&policy, &source, root, "/c.conf"), 0);
	ck_assert_uint_eq(policy.min, 2);
	ck_assert(policy.has_sections);
	cq_policy_init(&policy);
	write_bytes(root, "c.conf", nul, sizeof nul - 1);
	ck_assert_int_eq(cq_policy_read_file(&policy, &source, root, "/c.conf"), 0);
	ck_assert_uint_eq(policy.min, 2);
	ck_assert_uint_eq(told, 2);
	free(name);
}
END_TEST

START_TEST(go_section)
{
	source.is_go = yes;
	read_text("[go]\nmin = 2\n");
	ck_assert_uint_eq(policy.min, 2);
	/* By the file, which is none of Go's here. */
	source.is_go = NULL;
	source.executable = "/c.conf";
	cq_policy_init(&policy);
	read_text("[go]\nmin = 2\n");
	ck_assert_uint_eq(policy.min, 1);
}
END_TEST

START_TEST(inline_text)
{
	cq_policy_read_inline(&policy, &source, "CPUQUOTA", " round = floor ,,min=2,\tmax=3,min=4,");
	ck_assert_uint_eq(told, 0);
	ck_assert_uint_eq(policy.round, CQ_ROUND_FLOOR);
	ck_assert_uint_eq(policy.min, 4);
	ck_assert_uint_eq(policy.max, 3);
	cq_policy_read_inline(&policy, &source, "CPUQUOTA", "");
	cq_policy_read_inline(&policy, &source, "CPUQUOTA", "min=x,on");
	ck_assert_str_eq(messages, "CPUQUOTA: min = x: expected a whole number from 1 to 1000000\n"
				   "CPUQUOTA: 'on': expected KEY = VALUE\n");
	ck_assert_uint_eq(policy.min, 4);
	ck_assert(!policy.is_off);
	cq_policy_read_inline(&policy, &source, "CPUQUOTA", "min=2, off");
	ck_assert(policy.is_off);
}
END_TEST

/* A variable has neither sections nor comments. */
START_TEST(inline_text_is_no_file)
{
	source.executable = "/bin/x";
	cq_policy_read_inline(&policy, &source, "CPUQUOTA", "[program x],min=2,max=3 # three,#,count=4\nmin=5,off=,OFF");
	ck_assert_str_eq(messages, "CPUQUOTA: '[program x]': expected KEY = VALUE\n"
				   "CPUQUOTA: max = 3 # three: expected a whole number from 1 to 1000000\n"
				   "CPUQUOTA: '#': expected KEY = VALUE\n"
				   "CPUQUOTA: count = 4?min=5: expected a whole number from 1 to 1000000\n"
				   "CPUQUOTA: unknown key 'off': expected round, min, max, count, mask, conf, affinity, "
				   "files, runtime_quota, malloc_arenas, trap, refresh, or unlimited\n"
				   "CPUQUOTA: 'OFF': expected KEY = VALUE\n");
	ck_assert_uint_eq(policy.min, 2);
	ck_assert(!policy.is_off && !policy.has_sections);
	cpus = "1.5";
	cq_policy_read_inline(&policy, &source, "CPUQUOTA", "unlimited=env:CPUS");
	ck_assert_uint_eq(policy.unlimited.quota, 15);
	ck_assert_uint_eq(policy.unlimited.period, 10);
}
END_TEST

START_TEST(load_order)
{
	char path[4096];

	write_file(root, "c.conf", "min = 2\nmax = 20\n");
	write_file(root, "other", "min = 3\n");
	cq_policy_load(&policy, &source);
	ck_assert_uint_eq(policy.min, 2);
	overrides = "max=5";
	cq_policy_load(&policy, &source);
	ck_assert_uint_eq(policy.min, 2);
	ck_assert_uint_eq(policy.max, 5);
	/* A file that is named stands for the default one, and is not looked for below the root. */
	snprintf(path, sizeof path, "%s/other", root);
	named_file = path;
	cq_policy_load(&policy, &source);
	ck_assert_uint_eq(policy.min, 3);
	ck_assert_uint_eq(told, 0);
	named_file = "/nonexistent/policy";
	cq_policy_load(&policy, &source);
	ck_assert_str_eq(messages, "/nonexistent/policy: no such file\n");
	ck_assert_uint_eq(policy.min, 1);
	ck_assert_uint_eq(policy.max, 5);
	/* Off reads nothing, wherever it stands. */
	told = 0;
	for (const char *const *off = (const char *const[]){"off", "off,min=x", "min=x,off", "a,off,b", NULL};
	     *off; off++) {
		overrides = *off;
		cq_policy_load(&policy, &source);
		ck_assert(policy.is_off);
		ck_assert_uint_eq(told, 0);
	}
	/* An empty variable is none. */
	named_file = overrides = "";
	cq_policy_load(&policy, &source);
	ck_assert(!policy.is_off);
	ck_assert_uint_eq(policy.min, 2);
	ck_assert_uint_eq(policy.max, 20);
	ck_assert_uint_eq(told, 0);
}
END_TEST

START_TEST(default_file_may_be_missing)
{
	cq_policy_load(&policy, &source);
	ck_assert_uint_eq(told, 0);
	source.default_file = "/no/such/directory/c.conf";
	cq_policy_load(&policy, &source);
	ck_assert_uint_eq(told, 0);
	make_directory(root, "c.conf");
	source.default_file = "/c.conf";
	cq_policy_load(&policy, &source);
	ck_assert_uint_eq(told, 1);
}
END_TEST

static void check_unlimited(const char *value, uint64_t quota, uint64_t period)
{
	cpus = value;
	cq_policy_init(&policy);
	told = 0;
	read_text("unlimited = env:CPUS\n");
	ck_assert_uint_eq(told, 0);
	ck_assert_uint_eq(policy.unlimited.quota, quota);
	ck_assert_uint_eq(policy.unlimited.period, period);
}

/* Writes "NAME:LINE KEY=VALUE" into the messages. */
static void assigned(void *argument, const struct cq_policy_assignment *assignment)
{
	size_t length = strlen(messages);

	ck_assert_ptr_eq(argument, &told);
	snprintf(messages + length, sizeof messages - length, "%s:%u %s=%.*s\n", assignment->name, assignment->line,
		 assignment->key, (int)assignment->value_length, assignment->value);
}

/* Those that hold are told of, in their order and as they are written; not those about others, nor those with errors. */
START_TEST(assignments_are_told_of)
{
	source.executable = "/bin/app";
	source.assigned = assigned;
	overrides = "min = 3,unlimited=env:CPUS,max=none";
	cpus = "500m";
	write_file(root, "c.conf", "%s",
		   "# a comment\nround = floor\n\n  min=2  # why\n[program other]\nmax = 5\n[program a*]\n\tmax\t=\t7\nround = up\nx = 1\n");
	cq_policy_load(&policy, &source);
	ck_assert_str_eq(messages, "/c.conf:2 round=floor\n"
				   "/c.conf:4 min=2\n"
				   "/c.conf:8 max=7\n"
				   "/c.conf:9: round = up: expected ceil, floor or nearest\n"
				   "/c.conf:10: unknown key 'x': expected round, min, max, count, mask, conf, affinity, files, "
				   "runtime_quota, malloc_arenas, trap, refresh, or unlimited\n"
				   "CPUQUOTA:0 min=3\n"
				   "CPUQUOTA:0 unlimited=env:CPUS\n"
				   "CPUQUOTA: max = none: expected a whole number from 1 to 1000000\n");
}
END_TEST

/* The table says where each key's number is: it is set by the key's name. */
START_TEST(table_of_keys)
{
	for (unsigned i = 0; i < CQ_POLICY_KEYS; i++) {
		const struct cq_policy_key *key = &cq_policy_keys[i];
		const char *comma = strrchr(key->words, ',');
		char text[64];
		unsigned value, expected = key->most;

		if (comma) {
			expected = 0;
			for (const char *p = key->words; *p; p++)
				expected += *p == ',';
			snprintf(text, sizeof text, "%s=%s", key->name, comma + 1);
		} else {
			snprintf(text, sizeof text, "%s=%u", key->name, key->most);
		}
		cq_policy_init(&policy);
		cq_policy_read_inline(&policy, &source, "test", text);
		memcpy(&value, (const char *)&policy + key->field, sizeof value);
		ck_assert_str_eq(messages, "");
		ck_assert_uint_eq(value, expected);
	}
}
END_TEST

START_TEST(unlimited)
{
	check_unlimited("2", 2, 1);
	check_unlimited("1.5", 15, 10);
	check_unlimited("0.25", 25, 100);
	check_unlimited("0.5", 5, 10);
	check_unlimited("500m", 500, 1000);
	check_unlimited("1000000", 1000000, 1);
	check_unlimited("002", 2, 1);
	check_unlimited("1.000000001", 1000000001, 1000000000);
	check_unlimited("0.0", 0, 0);
	check_unlimited("0", 0, 0);
	check_unlimited("0m", 0, 0);
	check_unlimited("", 0, 0);
	check_unlimited(NULL, 0, 0);
	for (const char *const *bad = (const char *const[]){"two", "-1", "1.", ".5", "1.5m", "2 ", "1e3", "9999999999",
							    "1000001", "1..5", "1.5.5", "500M", "m", " 2", "0x2", "1,5",
							    "1.00000000000000000001", NULL}; *bad; bad++) {
		cpus = *bad;
		cq_policy_init(&policy);
		told = 0;
		read_text("unlimited = env:CPUS\n");
		ck_assert_msg(told == 1, "%s", *bad);
		ck_assert(!cq_limit_is_set(&policy.unlimited));
	}
	cpus = "2";
	read_text("unlimited = env:CPUS\nunlimited = all\n");
	ck_assert(!cq_limit_is_set(&policy.unlimited));
}
END_TEST

Suite *cq_test_policy(void)
{
	Suite *suite = suite_create("policy");
	TCase *tests = tcase_create("policy");

	tcase_set_timeout(tests, 60); /* on a busy machine, under valgrind */
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, defaults);
	tcase_add_test(tests, every_key);
	tcase_add_loop_test(tests, every_word, 0, (int)CQ_ARRAY_SIZE(word_keys));
	tcase_add_loop_test(tests, every_number, 0, (int)CQ_ARRAY_SIZE(number_keys));
	tcase_add_test(tests, layout);
	tcase_add_test(tests, errors);
	tcase_add_test(tests, errors_with_long_words);
	tcase_add_test(tests, control_characters);
	tcase_add_test(tests, errors_in_sections);
	tcase_add_test(tests, errors_of_unlimited);
	tcase_add_test(tests, one_error_leaves_the_rest);
	tcase_add_test(tests, nul_and_long_lines);
	tcase_add_test(tests, nul_in_a_comment_is_ignored);
	tcase_add_test(tests, longest_line);
	tcase_add_test(tests, largest_file);
	tcase_add_test(tests, garbage);
	tcase_add_test(tests, files_that_cannot_be_read);
	tcase_add_test(tests, file_without_permission);
	tcase_add_test(tests, links_without_end);
	tcase_add_test(tests, no_descriptor);
	tcase_add_test(tests, another_error);
	tcase_add_test(tests, sections);
	tcase_add_test(tests, section_patterns);
	tcase_add_test(tests, section_for_a_long_name);
	tcase_add_test(tests, section_that_cannot_be_read);
	tcase_add_test(tests, go_section);
	tcase_add_test(tests, inline_text);
	tcase_add_test(tests, inline_text_is_no_file);
	tcase_add_test(tests, load_order);
	tcase_add_test(tests, default_file_may_be_missing);
	tcase_add_test(tests, unlimited);
	tcase_add_test(tests, assignments_are_told_of);
	tcase_add_test(tests, table_of_keys);
	suite_add_tcase(suite, tests);
	return suite;
}
