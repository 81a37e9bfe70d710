/* SPDX-License-Identifier: MIT */
#include "smallfile.h"
#include "suites.h"
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BUDGET 1000000

/* The line reader on a file that holds SIZE bytes of TEXT. */
static void open_lines(struct cq_lines *lines, const void *text, size_t size, size_t budget)
{
	char *root = make_tree();

	write_bytes(root, "file", text, size);
	ck_assert_int_eq(cq_lines_open(lines, root, "/file", budget), 0);
	free(root);
}

static void expect_line(struct cq_lines *lines, const char *expected)
{
	char *line = cq_lines_next(lines);

	ck_assert_ptr_nonnull(line);
	ck_assert_str_eq(line, expected);
	ck_assert_uint_eq(lines->length, strlen(expected));
	ck_assert(!lines->is_cut);
}

/* The end, which stays the end, and the descriptor's. */
static void expect_end(struct cq_lines *lines, int error)
{
	for (int i = 0; i < 2; i++) {
		ck_assert_ptr_null(cq_lines_next(lines));
		ck_assert_int_eq(lines->error, error);
	}
	ck_assert_int_ge(fcntl(lines->fd, F_GETFD), 0);
	cq_lines_close(lines);
	ck_assert_int_eq(fcntl(lines->fd, F_GETFD), -1);
}

START_TEST(read_gives_a_file_whole)
{
	char *root = make_tree();
	char buffer[16];

	write_file(root, "a/file", "150000 100000\n");
	ck_assert_int_eq(cq_smallfile_read(root, "/a/file", buffer, sizeof buffer), 14);
	ck_assert_str_eq(buffer, "150000 100000\n");
	ck_assert_int_eq(cq_smallfile_read(root, "//a/file", buffer, sizeof buffer), 14);
	free(root);
}
END_TEST

START_TEST(read_leaves_room_for_the_terminator)
{
	char *root = make_tree();
	char buffer[8];

	write_file(root, "seven", "1234567");
	write_file(root, "eight", "12345678");
	write_file(root, "nine", "123456789");
	write_file(root, "none", "%s", "");
	memset(buffer, 'x', sizeof buffer);
	ck_assert_int_eq(cq_smallfile_read(root, "/seven", buffer, sizeof buffer), 7);
	ck_assert_str_eq(buffer, "1234567");
	ck_assert_int_eq(cq_smallfile_read(root, "/eight", buffer, sizeof buffer), -EFBIG);
	ck_assert_int_eq(cq_smallfile_read(root, "/nine", buffer, sizeof buffer), -EFBIG);
	ck_assert_int_eq(cq_smallfile_read(root, "/none", buffer, sizeof buffer), 0);
	ck_assert_str_eq(buffer, "");
	free(root);
}
END_TEST

START_TEST(read_fails_with_the_kernels_error)
{
	char *root = make_tree();
	char buffer[16];

	make_directory(root, "directory");
	write_file(root, "file", "x");
	ck_assert_int_eq(cq_smallfile_read(root, "/missing", buffer, sizeof buffer), -ENOENT);
	ck_assert_int_eq(cq_smallfile_read(root, "/file/below", buffer, sizeof buffer), -ENOTDIR);
	ck_assert_int_eq(cq_smallfile_read(root, "/directory", buffer, sizeof buffer), -EISDIR);
	ck_assert_int_eq(cq_smallfile_read("/no such root", "/file", buffer, sizeof buffer), -ENOENT);
	ck_assert_int_eq(cq_smallfile_read("/", "/no such file", buffer, sizeof buffer), -ENOENT);
	free(root);
}
END_TEST

static unsigned count_descriptors(void)
{
	unsigned count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

START_TEST(no_descriptor_stays_open_and_errno_is_kept)
{
	char *root = make_tree();
	unsigned before = count_descriptors();
	struct cq_lines lines;
	char buffer[4];

	write_file(root, "file", "x");
	write_file(root, "long", "12345678");
	make_directory(root, "directory");
	errno = EXFULL;
	ck_assert_int_eq(cq_smallfile_read(root, "/file", buffer, sizeof buffer), 1);
	ck_assert_int_eq(cq_smallfile_read(root, "/long", buffer, sizeof buffer), -EFBIG);
	ck_assert_int_eq(cq_smallfile_read(root, "/missing", buffer, sizeof buffer), -ENOENT);
	ck_assert_int_eq(cq_smallfile_read(root, "/directory", buffer, sizeof buffer), -EISDIR);
	ck_assert_int_eq(cq_lines_open(&lines, root, "/missing", 1), -ENOENT);
	ck_assert_int_eq(errno, EXFULL);
	ck_assert_uint_eq(count_descriptors(), before);
	free(root);
}
END_TEST

START_TEST(descriptor_is_closed_on_exec)
{
	char *root = make_tree();
	int fd;

	write_file(root, "file", "x");
	fd = cq_open_below(root, "/file");
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	close(fd);
	fd = cq_open_below("/", "/proc/self/cgroup");
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	close(fd);
	free(root);
}
END_TEST

/* Opening a FIFO that nobody writes to would wait for ever. */
START_TEST(open_does_not_wait)
{
	char *root = make_tree();
	char path[PATH_MAX], buffer[8];

	snprintf(path, sizeof path, "%s/fifo", root);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(cq_smallfile_read(root, "/fifo", buffer, sizeof buffer), 0);
	ck_assert_int_eq(cq_smallfile_read("/", path, buffer, sizeof buffer), 0);
	free(root);
}
END_TEST

/* Links are held in the tree by openat2(2), which older kernels, seccomp profiles and valgrind may not have. */
static bool has_openat2(void)
{
	return syscall(SYS_openat2, -1, "", NULL, 0) < 0 && errno != ENOSYS && errno != EPERM;
}

START_TEST(links_stay_in_the_tree)
{
	char *root = make_tree();
	char path[PATH_MAX], buffer[16];

	write_file(root, "inside", "inside");
	ck_assert_int_eq(cq_smallfile_read(root, "/inside", buffer, sizeof buffer), 6);
	if (!has_openat2()) {
		ck_assert_msg(!getenv("CPUQUOTA_MUST_WORK"), "no openat2 here");
		printf("# links_stay_in_the_tree: links are not looked at, as there is no openat2 here\n");
		free(root);
		return;
	}
	make_directory(root, "a");
	snprintf(path, sizeof path, "%s/a/absolute", root);
	ck_assert_int_eq(symlink("/inside", path), 0);
	snprintf(path, sizeof path, "%s/a/climbing", root);
	ck_assert_int_eq(symlink("../../../../../../../inside", path), 0);
	snprintf(path, sizeof path, "%s/outside", root);
	ck_assert_int_eq(symlink("/proc/self/cgroup", path), 0);
	snprintf(path, sizeof path, "%s/loop", root);
	ck_assert_int_eq(symlink("loop", path), 0);

	ck_assert_int_eq(cq_smallfile_read(root, "/a/absolute", buffer, sizeof buffer), 6);
	ck_assert_str_eq(buffer, "inside");
	ck_assert_int_eq(cq_smallfile_read(root, "/a/climbing", buffer, sizeof buffer), 6);
	ck_assert_str_eq(buffer, "inside");
	ck_assert_int_eq(cq_smallfile_read(root, "/../../inside", buffer, sizeof buffer), 6);
	ck_assert_int_eq(cq_smallfile_read(root, "/outside", buffer, sizeof buffer), -ENOENT);
	ck_assert_int_eq(cq_smallfile_read(root, "/loop", buffer, sizeof buffer), -ELOOP);
	free(root);
}
END_TEST

START_TEST(transient_errors)
{
	static const int transient[] = {EMFILE, ENFILE, ENOMEM, EINTR, EAGAIN};
	static const int lasting[] = {0, ENOENT, EACCES, EPERM, ENOTDIR, EFBIG, EISDIR, EIO, ENODEV, EINVAL};

	for (size_t i = 0; i < CQ_ARRAY_SIZE(transient); i++)
		ck_assert(cq_error_is_transient(-transient[i]));
	for (size_t i = 0; i < CQ_ARRAY_SIZE(lasting); i++)
		ck_assert(!cq_error_is_transient(-lasting[i]));
	ck_assert(!cq_error_is_transient(EMFILE));
}
END_TEST

START_TEST(lines_of_small_files)
{
	static const struct {
		const char *text;
		const char *lines[4];
	} files[] = {
		{"", {NULL}},
		{"\n", {"", NULL}},
		{"\n\n", {"", "", NULL}},
		{"a", {"a", NULL}},
		{"a\n", {"a", NULL}},
		{"a\nb", {"a", "b", NULL}},
		{"a\nb\n", {"a", "b", NULL}},
		{"\na", {"", "a", NULL}},
		{"a\n\nb\n", {"a", "", "b", NULL}},
		{"a\r\n b\t\n", {"a\r", " b\t", NULL}},
	};
	const char *const *expected = files[_i].lines;
	struct cq_lines lines;
	unsigned number = 0;

	open_lines(&lines, files[_i].text, strlen(files[_i].text), BUDGET);
	for (; *expected; expected++) {
		expect_line(&lines, *expected);
		ck_assert_uint_eq(lines.number, ++number);
	}
	expect_end(&lines, 0);
}
END_TEST

START_TEST(lines_with_nul_bytes)
{
	struct cq_lines lines;
	const char *line;

	open_lines(&lines, "a\0b\n\0\nc\0", 8, BUDGET);
	line = cq_lines_next(&lines);
	ck_assert_ptr_nonnull(line);
	ck_assert_uint_eq(lines.length, 3);
	ck_assert_mem_eq(line, "a\0b", 4);
	line = cq_lines_next(&lines);
	ck_assert_ptr_nonnull(line);
	ck_assert_uint_eq(lines.length, 1);
	ck_assert_mem_eq(line, "\0", 2);
	line = cq_lines_next(&lines);
	ck_assert_ptr_nonnull(line);
	ck_assert_uint_eq(lines.length, 2);
	ck_assert_mem_eq(line, "c\0", 3);
	expect_end(&lines, 0);
}
END_TEST

/* Lines of every length about the size of the buffer, between two short ones, with and without a last newline. */
START_TEST(lines_about_the_size_of_the_buffer)
{
	size_t length = (size_t)_i;

	for (int has_newline = 0; has_newline < 2; has_newline++) {
		for (int is_followed = 0; is_followed <= has_newline; is_followed++) {
			/* The terminator takes a byte, with a newline or without. */
			bool is_cut = length >= CQ_PATH_MAX;
			char *text = repeat('x', length + 16), *line;
			struct cq_lines lines;
			size_t size = 6 + length;

			memcpy(text, "first\n", 6);
			if (has_newline)
				text[size++] = '\n';
			if (is_followed) {
				memcpy(text + size, "last\n", 5);
				size += 5;
			}
			open_lines(&lines, text, size, BUDGET);
			expect_line(&lines, "first");
			line = cq_lines_next(&lines);
			ck_assert_ptr_nonnull(line);
			ck_assert_int_eq(lines.is_cut, is_cut);
			ck_assert_uint_eq(lines.length, is_cut ? CQ_PATH_MAX - 1 : length);
			ck_assert_uint_eq(strlen(line), lines.length);
			ck_assert_uint_eq(strspn(line, "x"), lines.length);
			ck_assert_uint_eq(lines.number, 2);
			if (is_followed) {
				expect_line(&lines, "last");
				ck_assert_uint_eq(lines.number, 3);
			}
			expect_end(&lines, 0);
			free(text);
		}
	}
}
END_TEST

START_TEST(long_lines_are_cut_and_the_next_is_found)
{
	char *text = repeat('x', 5 * CQ_PATH_MAX);
	struct cq_lines lines;
	const char *line;

	/* After a cut line: an empty one, another that is cut, and a short one. */
	text[2 * CQ_PATH_MAX + 7] = '\n';
	text[2 * CQ_PATH_MAX + 8] = '\n';
	memcpy(text + 5 * CQ_PATH_MAX - 6, "\nshort", 6);
	open_lines(&lines, text, 5 * CQ_PATH_MAX, BUDGET);
	line = cq_lines_next(&lines);
	ck_assert_ptr_nonnull(line);
	ck_assert(lines.is_cut);
	ck_assert_uint_eq(strlen(line), CQ_PATH_MAX - 1);
	expect_line(&lines, "");
	line = cq_lines_next(&lines);
	ck_assert_ptr_nonnull(line);
	ck_assert(lines.is_cut);
	ck_assert_uint_eq(strlen(line), CQ_PATH_MAX - 1);
	expect_line(&lines, "short");
	ck_assert_uint_eq(lines.number, 4);
	expect_end(&lines, 0);
	free(text);
}
END_TEST

/* Many lines of all lengths, so that a line lies across every place of the buffer. */
static void expect_many(struct cq_lines *lines, unsigned count)
{
	unsigned seed = 1;

	for (unsigned i = 0; i < count; i++) {
		size_t length = (seed = seed * 1103515245 + 12345) >> 16 & 0x1ff;
		const char *line = cq_lines_next(lines);

		ck_assert_ptr_nonnull(line);
		ck_assert_uint_eq(lines->length, length);
		for (size_t j = 0; j < length; j++)
			ck_assert_int_eq(line[j], 'a' + (int)((i + j) % 26));
	}
}

static char *make_many(unsigned count, size_t *ret_size)
{
	char *text = repeat(' ', count * 512), *p = text;
	unsigned seed = 1;

	for (unsigned i = 0; i < count; i++) {
		size_t length = (seed = seed * 1103515245 + 12345) >> 16 & 0x1ff;

		for (size_t j = 0; j < length; j++)
			*p++ = (char)('a' + (int)((i + j) % 26));
		*p++ = '\n';
	}
	*ret_size = (size_t)(p - text);
	return text;
}

START_TEST(lines_across_the_buffers_end)
{
	struct cq_lines lines;
	size_t size;
	char *text = make_many(500, &size);

	open_lines(&lines, text, size, size);
	expect_many(&lines, 500);
	expect_end(&lines, 0);
	free(text);
}
END_TEST

START_TEST(lines_of_a_pipe)
{
	struct cq_lines lines;
	char name[32];
	size_t size;
	char *text = make_many(10, &size);
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(write(ends[1], text, size), (ssize_t)size);
	snprintf(name, sizeof name, "/proc/self/fd/%d", ends[0]);
	ck_assert_int_eq(cq_lines_open(&lines, "/", name, BUDGET), 0);
	close(ends[1]);
	expect_many(&lines, 10);
	expect_end(&lines, 0);
	close(ends[0]);
	free(text);
}
END_TEST

/* Every read gives one packet, the buffer has room for more, and only a read of 0 is the end. */
START_TEST(lines_of_a_pipe_of_packets)
{
	static const char *const packets[] = {"fi", "r", "st\nsec", "ond", "\n", "\n", "th", "ird"};
	struct cq_lines lines;
	int ends[2];

	ck_assert_int_eq(pipe2(ends, O_DIRECT), 0);
	for (size_t i = 0; i < CQ_ARRAY_SIZE(packets); i++)
		ck_assert_int_eq(write(ends[1], packets[i], strlen(packets[i])), (ssize_t)strlen(packets[i]));
	close(ends[1]);
	memset(&lines, 0, sizeof lines);
	lines.fd = ends[0];
	lines.budget = BUDGET;
	expect_line(&lines, "first");
	expect_line(&lines, "second");
	expect_line(&lines, "");
	expect_line(&lines, "third");
	expect_end(&lines, 0);
}
END_TEST

START_TEST(regular_file_ends_with_a_short_read)
{
	struct cq_lines lines;
	int ends[2];

	/* In truth a pipe: a second read would find what is written to it in between. */
	ck_assert_int_eq(pipe2(ends, O_DIRECT | O_NONBLOCK), 0);
	ck_assert_int_eq(write(ends[1], "a\nb", 3), 3);
	memset(&lines, 0, sizeof lines);
	lines.fd = ends[0];
	lines.budget = BUDGET;
	lines.is_regular = true;
	expect_line(&lines, "a");
	ck_assert_int_eq(write(ends[1], "c\n", 2), 2);
	expect_line(&lines, "b");
	close(ends[1]);
	expect_end(&lines, 0);
}
END_TEST

START_TEST(error_of_a_read_is_handed_on)
{
	struct cq_lines lines;
	char *root = make_tree();
	int ends[2];

	make_directory(root, "directory");
	ck_assert_int_eq(cq_lines_open(&lines, root, "/directory", BUDGET), 0);
	expect_end(&lines, -EISDIR);

	/* What was read before an error is not given as a line: it may be half of one. */
	ck_assert_int_eq(pipe2(ends, O_NONBLOCK), 0);
	ck_assert_int_eq(write(ends[1], "a\nb", 3), 3);
	memset(&lines, 0, sizeof lines);
	lines.fd = ends[0];
	lines.budget = BUDGET;
	expect_line(&lines, "a");
	expect_end(&lines, -EAGAIN);
	close(ends[1]);
	free(root);
}
END_TEST

START_TEST(budget_is_held)
{
	struct cq_lines lines;
	char *text = repeat('x', 3 * CQ_PATH_MAX);
	unsigned count = 0;

	for (size_t i = 63; i < 3 * CQ_PATH_MAX; i += 64)
		text[i] = '\n';
	open_lines(&lines, text, 3 * CQ_PATH_MAX, 3 * CQ_PATH_MAX);
	while (cq_lines_next(&lines))
		count++;
	ck_assert_uint_eq(count, 3 * CQ_PATH_MAX / 64);
	expect_end(&lines, 0);

	open_lines(&lines, text, 3 * CQ_PATH_MAX, 3 * CQ_PATH_MAX - 1);
	for (count = 0; cq_lines_next(&lines);)
		count++;
	ck_assert_uint_lt(count, 3 * CQ_PATH_MAX / 64);
	expect_end(&lines, -EFBIG);

	/* Without a newline in sight, and where the rest of a line is skipped. */
	memset(text, 'x', 3 * CQ_PATH_MAX);
	open_lines(&lines, text, 3 * CQ_PATH_MAX, CQ_PATH_MAX / 2);
	expect_end(&lines, -EFBIG);
	open_lines(&lines, text, 3 * CQ_PATH_MAX, CQ_PATH_MAX);
	ck_assert_ptr_nonnull(cq_lines_next(&lines));
	ck_assert(lines.is_cut);
	expect_end(&lines, -EFBIG);

	open_lines(&lines, "", 0, 0);
	expect_end(&lines, 0);
	open_lines(&lines, "x", 1, 0);
	expect_end(&lines, -EFBIG);
	free(text);
}
END_TEST

START_TEST(endless_file_ends)
{
	struct cq_lines lines;
	unsigned count = 0;

	ck_assert_int_eq(cq_lines_open(&lines, "/", "/dev/zero", 100 * CQ_PATH_MAX), 0);
	while (cq_lines_next(&lines))
		count++;
	ck_assert_uint_eq(count, 1);
	expect_end(&lines, -EFBIG);
}
END_TEST

Suite *cq_test_smallfile(void)
{
	Suite *suite = suite_create("smallfile");
	TCase *tests = tcase_create("smallfile");

	tcase_add_test(tests, read_gives_a_file_whole);
	tcase_add_test(tests, read_leaves_room_for_the_terminator);
	tcase_add_test(tests, read_fails_with_the_kernels_error);
	tcase_add_test(tests, no_descriptor_stays_open_and_errno_is_kept);
	tcase_add_test(tests, descriptor_is_closed_on_exec);
	tcase_add_test(tests, open_does_not_wait);
	tcase_add_test(tests, links_stay_in_the_tree);
	tcase_add_test(tests, transient_errors);
	tcase_add_loop_test(tests, lines_of_small_files, 0, 10);
	tcase_add_test(tests, lines_with_nul_bytes);
	tcase_add_loop_test(tests, lines_about_the_size_of_the_buffer, CQ_PATH_MAX - 8, CQ_PATH_MAX + 9);
	tcase_add_loop_test(tests, lines_about_the_size_of_the_buffer, 2 * CQ_PATH_MAX - 3, 2 * CQ_PATH_MAX + 4);
	tcase_add_test(tests, long_lines_are_cut_and_the_next_is_found);
	tcase_add_test(tests, lines_across_the_buffers_end);
	tcase_add_test(tests, lines_of_a_pipe);
	tcase_add_test(tests, lines_of_a_pipe_of_packets);
	tcase_add_test(tests, regular_file_ends_with_a_short_read);
	tcase_add_test(tests, error_of_a_read_is_handed_on);
	tcase_add_test(tests, budget_is_held);
	tcase_add_test(tests, endless_file_ends);
	suite_add_tcase(suite, tests);
	return suite;
}
