/* SPDX-License-Identifier: MIT */
#include "mountinfo.h"
#include "suites.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct good {
	const char *line;
	const char *root, *point, *type, *options;
} good[] = {
	/* No optional field, one, several. */
	{"30 24 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate",
	 "/", "/sys/fs/cgroup", "cgroup2", "rw,nsdelegate"},
	{"30 24 0:26 /a /b rw shared:4 - cgroup cgroup rw,cpu,cpuacct", "/a", "/b", "cgroup", "rw,cpu,cpuacct"},
	{"30 24 0:26 /a /b rw shared:4 master:5 propagate_from:2 unbindable - cgroup cgroup rw,cpu",
	 "/a", "/b", "cgroup", "rw,cpu"},
	/* Optional fields that look like what ends them. */
	{"30 24 0:26 /a /b rw -- -x x- - cgroup cgroup rw", "/a", "/b", "cgroup", "rw"},
	/* A dash before the optional fields, and as the source. */
	{"- - - - - - - tmpfs - rw", "-", "-", "tmpfs", "rw"},
	/* The source may be empty, which leaves two spaces, or any text. */
	{"30 24 0:26 / /m rw - tmpfs  rw,size=1k", "/", "/m", "tmpfs", "rw,size=1k"},
	{"30 24 0:26 / /m rw - cgroup\\040x \\040 rw", "/", "/m", "cgroup\\040x", "rw"},
	/* More fields than there are today. */
	{"30 24 0:26 / /m rw - cgroup2 none rw more of them", "/", "/m", "cgroup2", "rw"},
	/* An empty last field is a field. */
	{"30 24 0:26 / /m rw - cgroup2 none ", "/", "/m", "cgroup2", ""},
	/* Octal escapes in the root and the mount point. */
	{"30 24 0:26 /a\\040b /c\\011d\\012e\\134f\\043g rw - cgroup none rw", "/a b", "/c\td\ne\\f#g", "cgroup", "rw"},
	{"30 24 0:26 \\040 \\040\\040 rw - cgroup none rw", " ", "  ", "cgroup", "rw"},
	{"30 24 0:26 /\\303\\244 /\\377 rw - cgroup none rw", "/\xc3\xa4", "/\xff", "cgroup", "rw"},
	/* An escaped backslash does not begin another escape. */
	{"30 24 0:26 /\\134040 / rw - cgroup none rw", "/\\040", "/", "cgroup", "rw"},
	/* What looks like an escape and is none, also at the end. */
	{"30 24 0:26 /\\089\\x41\\04 /\\ rw - cgroup none rw", "/\\089\\x41\\04", "/\\", "cgroup", "rw"},
	{"30 24 0:26 /\\0 /\\04 rw - cgroup none rw", "/\\0", "/\\04", "cgroup", "rw"},
	/* An escaped NUL, which the kernel never writes, ends the name. */
	{"30 24 0:26 /a\\000b /c rw - cgroup none rw", "/a", "/c", "cgroup", "rw"},
};

START_TEST(line_has_its_fields)
{
	const struct good *t = &good[_i];
	char *line = strdup(t->line);
	struct cq_mount mount;

	ck_assert_ptr_nonnull(line);
	ck_assert_int_eq(cq_mountinfo_parse(line, &mount), 0);
	ck_assert_str_eq(mount.root, t->root);
	ck_assert_str_eq(mount.point, t->point);
	ck_assert_str_eq(mount.type, t->type);
	ck_assert_str_eq(mount.options, t->options);
	free(line);
}
END_TEST

static const char *const bad[] = {
	"",
	" ",
	"x",
	"-",
	" - ",
	"- - -",
	"30 24 0:26 / /m",
	"30 24 0:26 / /m rw",
	"30 24 0:26 / /m rw ",
	"30 24 0:26 / /m rw shared:4 cgroup cgroup rw",
	"30 24 0:26 / /m rw -",
	"30 24 0:26 / /m rw - ",
	"30 24 0:26 / /m rw - cgroup",
	"30 24 0:26 / /m rw - cgroup none",
	"30 24 0:26 / - cgroup none rw",
	"30\t24\t0:26\t/\t/m\trw\t-\tcgroup\tnone\trw",
};

START_TEST(line_without_its_fields_is_none)
{
	char *line = strdup(bad[_i]);
	struct cq_mount mount = {"root", "point", "type", "options"};

	ck_assert_ptr_nonnull(line);
	ck_assert_int_eq(cq_mountinfo_parse(line, &mount), -EINVAL);
	ck_assert_str_eq(mount.root, "root");
	ck_assert_str_eq(mount.point, "point");
	ck_assert_str_eq(mount.type, "type");
	ck_assert_str_eq(mount.options, "options");
	free(line);
}
END_TEST

/* Every beginning of a line, in memory of just that size: whatever is read behind it is an error to a sanitizer. */
START_TEST(truncated_line)
{
	static const char whole[] = "30 24 0:26 /a\\040b /c\\040d rw shared:4 master:5 - cgroup none rw,cpu";
	size_t enough = sizeof whole - sizeof "rw,cpu";

	for (size_t length = 0; length < sizeof whole; length++) {
		char *line = strndup(whole, length);
		struct cq_mount mount;

		ck_assert_ptr_nonnull(line);
		ck_assert_int_eq(cq_mountinfo_parse(line, &mount), length <= enough - 1 ? -EINVAL : 0);
		free(line);
	}
}
END_TEST

/* Lines of pseudo-random bytes, most of them spaces, dashes and escapes: what is given lies in the line. */
START_TEST(garbage)
{
	static const char bytes[] = "  - - \\0407a/\xff";

	srand(2);
	for (unsigned round = 0; round < 50000; round++) {
		size_t length = (size_t)rand() % 80;
		char *line = malloc(length + 1);
		struct cq_mount mount = {NULL, NULL, NULL, NULL};

		ck_assert_ptr_nonnull(line);
		for (size_t i = 0; i < length; i++)
			line[i] = bytes[(size_t)rand() % (sizeof bytes - 1)];
		line[length] = '\0';
		if (cq_mountinfo_parse(line, &mount) == 0) {
			const char *fields[] = {mount.root, mount.point, mount.type, mount.options};

			for (size_t i = 0; i < CQ_ARRAY_SIZE(fields); i++) {
				ck_assert(line <= fields[i] && fields[i] <= line + length);
				ck_assert(fields[i] + strlen(fields[i]) <= line + length);
			}
		} else {
			ck_assert_ptr_null(mount.root);
		}
		free(line);
	}
}
END_TEST

Suite *cq_test_mountinfo(void)
{
	Suite *suite = suite_create("mountinfo");
	TCase *tests = tcase_create("mountinfo");

	tcase_add_loop_test(tests, line_has_its_fields, 0, CQ_ARRAY_SIZE(good));
	tcase_add_loop_test(tests, line_without_its_fields_is_none, 0, CQ_ARRAY_SIZE(bad));
	tcase_add_test(tests, truncated_line);
	tcase_add_test(tests, garbage);
	suite_add_tcase(suite, tests);
	return suite;
}
