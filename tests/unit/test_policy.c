/* SPDX-License-Identifier: MIT */
#include "suites.h"

#include "policy.h"
#include "support.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
	ck_assert_ptr_eq(argument, &told);
	told++;
	strncat(messages, message, sizeof messages - strlen(messages) - 2);
	strcat(messages, "\n");
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

/* TEXT has one error, which is told in these words, and otherwise leaves the policy as it is. */
static void check_error(const char *text, const char *message)
{
	struct cq_policy before;

	cq_policy_init(&policy);
	before = policy;
	messages[0] = '\0';
	read_text(text);
	policy.has_sections = false;
	ck_assert_str_eq(messages, message);
	ck_assert_mem_eq(&policy, &before, sizeof policy);
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

START_TEST(layout)
{
	read_text("# comment\n\n \t \r\n\tmin\t=  2  # two\r\n#min = 3\nmax=4#5\nmax = 6 #7\n   # indented\nround=floor");
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
	check_error("[program]\n", "/c.conf:1: an unknown section: expected [go] or [program PATTERN]\n");
	check_error("min\033[2J = 1\n",
		    "/c.conf:1: unknown key 'min?[2J': expected round, min, max, count, mask, conf, affinity, files, "
		    "runtime_quota, malloc_arenas, trap, refresh, or unlimited\n");
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
	if (geteuid() != 0) {
		char path[4096];

		write_file(root, "secret", "min = 2\n");
		snprintf(path, sizeof path, "%s/secret", root);
		ck_assert_int_eq(chmod(path, 0), 0);
		ck_assert_int_eq(cq_policy_read_file(&policy, &source, root, "/secret"), -EACCES);
	}
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

static bool yes(void)
{
	return true;
}

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
	/* Off reads nothing. */
	overrides = "off";
	told = 0;
	cq_policy_load(&policy, &source);
	ck_assert(policy.is_off);
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

START_TEST(unlimited)
{
	check_unlimited("2", 2, 1);
	check_unlimited("1.5", 15, 10);
	check_unlimited("0.25", 25, 100);
	check_unlimited("500m", 500, 1000);
	check_unlimited("0", 0, 0);
	check_unlimited("0m", 0, 0);
	check_unlimited("", 0, 0);
	check_unlimited(NULL, 0, 0);
	for (const char *const *bad = (const char *const[]){"two", "-1", "1.", ".5", "1.5m", "2 ", "1e3", "99999999999", NULL};
	     *bad; bad++) {
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

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, defaults);
	tcase_add_test(tests, every_key);
	tcase_add_test(tests, layout);
	tcase_add_test(tests, errors);
	tcase_add_test(tests, one_error_leaves_the_rest);
	tcase_add_test(tests, nul_and_long_lines);
	tcase_add_test(tests, files_that_cannot_be_read);
	tcase_add_test(tests, sections);
	tcase_add_test(tests, go_section);
	tcase_add_test(tests, inline_text);
	tcase_add_test(tests, load_order);
	tcase_add_test(tests, default_file_may_be_missing);
	tcase_add_test(tests, unlimited);
	suite_add_tcase(suite, tests);
	return suite;
}
