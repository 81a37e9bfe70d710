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
	check_error("[program]\n", "/c.conf:1: an unknown section: expected [go] or [program PATTERN]\n");
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

START_TEST(errors_in_sections)
{
	static const char broken[] = "/c.conf:1: a section without its ']': expected [go] or [program PATTERN]\n";
	static const char unknown[] = "/c.conf:1: an unknown section: expected [go] or [program PATTERN]\n";

	check_error("[", broken);
	check_error("[program x] y\n", broken);
	check_error("[go] min = 2\n", broken);
	check_error("[]\n", unknown);
	check_error("[ ]\n", unknown);
	check_error("[Go]\n", unknown);
	check_error("[go x]\n", unknown);
	check_error("[program ]\n", unknown);
	check_error("[programs x]\n", unknown);
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
		{"my program", "/bin/my program", true}, {"usr/bin/*", "/usr/bin/x", false}, {"*", "/bin/", false},
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
	for (const char *const *bad = (const char *const[]){"two", "-1", "1.", ".5", "1.5m", "2 ", "1e3", "9999999999",
							    NULL}; *bad; bad++) {
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
	tcase_add_test(tests, errors_with_long_words);
	tcase_add_test(tests, errors_in_sections);
	tcase_add_test(tests, errors_of_unlimited);
	tcase_add_test(tests, one_error_leaves_the_rest);
	tcase_add_test(tests, nul_and_long_lines);
	tcase_add_test(tests, nul_in_a_comment_is_ignored);
	tcase_add_test(tests, longest_line);
	tcase_add_test(tests, largest_file);
	tcase_add_test(tests, garbage);
	tcase_add_test(tests, files_that_cannot_be_read);
	tcase_add_test(tests, sections);
	tcase_add_test(tests, section_patterns);
	tcase_add_test(tests, section_for_a_long_name);
	tcase_add_test(tests, go_section);
	tcase_add_test(tests, inline_text);
	tcase_add_test(tests, load_order);
	tcase_add_test(tests, default_file_may_be_missing);
	tcase_add_test(tests, unlimited);
	suite_add_tcase(suite, tests);
	return suite;
}
