/* SPDX-License-Identifier: MIT */
#include "procfile.h"
#include "suites.h"
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A mask of the CPUs of a list. */
static struct cq_cpumask make_mask(const char *list)
{
	struct cq_cpumask mask;

	ck_assert_int_eq(cq_cpumask_parse_list(list, strlen(list), &mask), 0);
	return mask;
}

/* What becomes of SIZE bytes of TEXT, to be freed by the caller. */
static char *rewrite(enum cq_procfile kind, const char *list, const void *text, size_t size, size_t *ret_size)
{
	struct cq_cpumask shown = make_mask(list);
	int from = open_bytes(text, size), to = open_bytes("", 0);
	off_t length;
	char *made;

	/* It is read from its beginning, wherever the offset is, and the offset stays there. */
	ck_assert_int_eq(lseek(from, 1, SEEK_SET), 1);
	ck_assert_int_eq(cq_procfile_write(kind, &shown, from, to), 0);
	ck_assert_int_eq(lseek(from, 0, SEEK_CUR), 1);
	length = lseek(to, 0, SEEK_END);
	ck_assert_int_ge(length, 0);
	made = repeat('\0', (size_t)length);
	ck_assert_int_eq(pread(to, made, (size_t)length, 0), length);
	close(from);
	close(to);
	*ret_size = (size_t)length;
	return made;
}

static void expect_bytes(enum cq_procfile kind, const char *list, const void *text, size_t size, const void *expected,
			 size_t expected_size)
{
	size_t made_size;
	char *made = rewrite(kind, list, text, size, &made_size);

	ck_assert_uint_eq(made_size, expected_size);
	ck_assert_mem_eq(made, expected, expected_size);
	free(made);
}

static void expect_text(enum cq_procfile kind, const char *list, const char *text, const char *expected)
{
	size_t size;
	char *made = rewrite(kind, list, text, strlen(text), &size);

	ck_assert_str_eq(made, expected);
	ck_assert_uint_eq(size, strlen(expected));
	free(made);
}

START_TEST(online)
{
	static const char *const lists[] = {"0", "0-3", "0-3,8", "1,3,5", "62-65", "0-8191", "8191", "0,8190-8191"};

	/* As the kernel writes it. */
	for (size_t i = 0; i < CQ_ARRAY_SIZE(lists); i++) {
		char expected[64];

		snprintf(expected, sizeof expected, "%s\n", lists[i]);
		expect_text(CQ_PROCFILE_ONLINE, lists[i], "0-8191\n", expected);
	}
	expect_text(CQ_PROCFILE_ONLINE, "2,1,0,4", "0-7", "0-2,4\n");
	/* Not more than the file has, which another may have made. */
	expect_text(CQ_PROCFILE_ONLINE, "0-3", "1,3,5\n", "1,3\n");
}
END_TEST

/* Every second CPU of the most that there can be: a list of more than one buffer. */
START_TEST(online_of_many_runs)
{
	char *list = repeat('\0', CQ_MAX_CPUS * 5);
	size_t length = 0;

	for (unsigned cpu = 1; cpu < CQ_MAX_CPUS; cpu += 2)
		length += (size_t)sprintf(list + length, "%s%u", length ? "," : "", cpu);
	list[length] = '\n';
	expect_text(CQ_PROCFILE_ONLINE, list, "0-8191\n", list);
	free(list);
}
END_TEST

START_TEST(stat_lines)
{
	static const char text[] = "cpu  10 20 30\ncpu0 1 2 3\ncpu1 4 5 6\ncpu2 7 8 9\ncpu10 1 1 1\nintr 5 0 0 1\n"
				   "ctxt 77\nbtime 1\ncpufreq 3\nprocesses 9\n";

	expect_text(CQ_PROCFILE_STAT, "1,10", text, "cpu  10 20 30\ncpu1 4 5 6\ncpu10 1 1 1\nintr 5 0 0 1\nctxt 77\n"
		    "btime 1\ncpufreq 3\nprocesses 9\n");
	expect_text(CQ_PROCFILE_STAT, "0-10", text, text);
	/* Numbers that no CPU has. */
	expect_text(CQ_PROCFILE_STAT, "0-8191", "cpu8191 1\ncpu8192 1\ncpu4294967295 1\nx\n", "cpu8191 1\nx\n");
	/* A last line without its newline. */
	expect_text(CQ_PROCFILE_STAT, "0", "cpu0 1\ncpu1 2", "cpu0 1\n");
	expect_text(CQ_PROCFILE_STAT, "0", "cpu1 1\ncpu0 2", "cpu0 2");
	expect_text(CQ_PROCFILE_STAT, "0", "", "");
	expect_text(CQ_PROCFILE_STAT, "0", "\n\n", "\n\n");
}
END_TEST

START_TEST(cpuinfo_blocks)
{
	static const char text[] = "processor\t: 0\nmodel name\t: A\n\nprocessor\t: 1\nmodel name\t: B\n\n"
				   "processor\t: 12\nmodel name\t: C\n\n";

	expect_text(CQ_PROCFILE_CPUINFO, "1", text, "processor\t: 1\nmodel name\t: B\n\n");
	expect_text(CQ_PROCFILE_CPUINFO, "0,12", text,
		    "processor\t: 0\nmodel name\t: A\n\nprocessor\t: 12\nmodel name\t: C\n\n");
	expect_text(CQ_PROCFILE_CPUINFO, "0-12", text, text);
	/* What stands before the first CPU and behind the last one is about the machine, as on Arm and Power. */
	expect_text(CQ_PROCFILE_CPUINFO, "1", "Processor\t: ARM\nprocessor\t: 0\nBogoMIPS\t: 1\n\nprocessor\t: 1\n"
		    "BogoMIPS\t: 2\n\nHardware\t: Board\nSerial\t\t: 7\n",
		    "Processor\t: ARM\nprocessor\t: 1\nBogoMIPS\t: 2\n\nHardware\t: Board\nSerial\t\t: 7\n");
	/* No blank line between the CPUs, and a last line without its newline. */
	expect_text(CQ_PROCFILE_CPUINFO, "1", "processor : 0\na : 0\nprocessor : 1\na : 1", "processor : 1\na : 1");
	/* Not a CPU's number. */
	expect_text(CQ_PROCFILE_CPUINFO, "0", "processor\t: ARMv7\nx\n", "processor\t: ARMv7\nx\n");
	expect_text(CQ_PROCFILE_CPUINFO, "0", "", "");
}
END_TEST

/* Lines of all lengths about that of the head and of the buffers, long ones among those that stay and those that go. */
START_TEST(lines_of_all_lengths)
{
	for (size_t length = 0; length < 80; length++) {
		char *filler = repeat('y', length), *text = NULL, *expected = NULL;

		ck_assert_int_gt(asprintf(&text, "%s\ncpu0 %s\ncpu1 %s\n%s\n", filler, filler, filler, filler), 0);
		ck_assert_int_gt(asprintf(&expected, "%s\ncpu1 %s\n%s\n", filler, filler, filler), 0);
		expect_text(CQ_PROCFILE_STAT, "1", text, expected);
		free(text);
		free(expected);
		free(filler);
	}
	for (size_t length = 1000; length < 3100; length += length % 1024 > 1000 || length % 1024 < 40 ? 1 : 30) {
		char *filler = repeat('z', length), *text = NULL, *expected = NULL;

		ck_assert_int_gt(asprintf(&text, "intr %s\ncpu0 %s\ncpu1 %s\nx\n", filler, filler, filler), 0);
		ck_assert_int_gt(asprintf(&expected, "intr %s\ncpu1 %s\nx\n", filler, filler), 0);
		expect_text(CQ_PROCFILE_STAT, "1", text, expected);
		free(text);
		free(expected);
		free(filler);
	}
}
END_TEST

START_TEST(nul_bytes)
{
	static const char stat[] = "cpu0 \0a\ncpu1 \0b\n\0\n\0cpu0\n", shown[] = "cpu1 \0b\n\0\n\0cpu0\n";
	static const char cpuinfo[] = "processor : 0\n\0\nprocessor : 1\n\0x\n", some[] = "processor : 1\n\0x\n";

	expect_bytes(CQ_PROCFILE_STAT, "1", stat, sizeof stat - 1, shown, sizeof shown - 1);
	expect_bytes(CQ_PROCFILE_CPUINFO, "1", cpuinfo, sizeof cpuinfo - 1, some, sizeof some - 1);
}
END_TEST

/* With all CPUs shown nothing is changed in any text, whatever is in it. */
START_TEST(garbage_stays)
{
	static const char bytes[] = "cpu019 \n\nprocessor\t::1";

	srand(7);
	for (unsigned round = 0; round < 300; round++) {
		size_t size = (size_t)rand() % 5000;
		char *text = repeat('\0', size);

		for (size_t i = 0; i < size; i++)
			text[i] = rand() % 50 ? bytes[(size_t)rand() % (sizeof bytes - 1)] : (char)rand();
		/* No CPU of four digits, as there is none with most such numbers. */
		for (size_t i = 3; i < size; i++) {
			if (text[i] >= '0' && text[i] <= '9' && text[i - 1] >= '0' && text[i - 1] <= '9')
				text[i] = '\n';
		}
		expect_bytes(round % 2 ? CQ_PROCFILE_STAT : CQ_PROCFILE_CPUINFO, "0-8191", text, size, text, size);
		free(text);
	}
}
END_TEST

START_TEST(limits)
{
	expect_text(CQ_PROCFILE_CPU_MAX, "0", "150000 100000\n", "max 100000\n");
	expect_text(CQ_PROCFILE_CPU_MAX, "0", "max 50000\n", "max 50000\n");
	expect_text(CQ_PROCFILE_CFS_QUOTA, "0", "150000\n", "-1\n");
	expect_text(CQ_PROCFILE_CFS_QUOTA, "0", "-1\n", "-1\n");
}
END_TEST

static int write_result(enum cq_procfile kind, const char *text, int to)
{
	struct cq_cpumask shown = make_mask("0");
	int from = open_bytes(text, strlen(text));
	int r = cq_procfile_write(kind, &shown, from, to);

	close(from);
	return r;
}

START_TEST(errors)
{
	struct cq_cpumask shown = make_mask("0");
	int to = open_bytes("", 0), full = open("/dev/full", O_WRONLY),
	    null = open("/dev/null", O_WRONLY), directory = open("/", O_RDONLY | O_DIRECTORY);

	ck_assert_int_ge(full, 0);
	ck_assert_int_ge(directory, 0);
	ck_assert_int_eq(write_result(CQ_PROCFILE_NONE, "", to), -EINVAL);
	ck_assert_int_eq(write_result(CQ_PROCFILE_CPU_MAX, "max\n", to), -EINVAL);
	ck_assert_int_eq(write_result(CQ_PROCFILE_CPU_MAX, "", to), -EINVAL);
	ck_assert_int_eq(write_result(CQ_PROCFILE_STAT, "x\n", -1), -EBADF);
	ck_assert_int_eq(write_result(CQ_PROCFILE_STAT, "x\n", full), -ENOSPC);
	ck_assert_int_eq(write_result(CQ_PROCFILE_ONLINE, "0\n", full), -ENOSPC);
	/* CPUs, but none that is shown: never a file without any. */
	ck_assert_int_eq(write_result(CQ_PROCFILE_ONLINE, "1-3\n", to), -ENOENT);
	ck_assert_int_eq(write_result(CQ_PROCFILE_ONLINE, "", to), -ENOENT);
	ck_assert_int_eq(write_result(CQ_PROCFILE_ONLINE, "all\n", to), -EINVAL);
	ck_assert_int_eq(write_result(CQ_PROCFILE_STAT, "cpu 1\ncpu1 1\n", null), -ENOENT);
	ck_assert_int_eq(write_result(CQ_PROCFILE_CPUINFO, "processor\t: 1\n", null), -ENOENT);
	ck_assert_int_eq(cq_procfile_write(CQ_PROCFILE_STAT, &shown, -1, to), -EBADF);
	ck_assert_int_eq(cq_procfile_write(CQ_PROCFILE_CPUINFO, &shown, directory, to), -EISDIR);
	ck_assert_int_eq(cq_procfile_write(CQ_PROCFILE_CPU_MAX, &shown, directory, to), -EISDIR);
	ck_assert_int_eq(lseek(to, 0, SEEK_END), 0);
	close(directory);
	close(full);
	close(null);
	close(to);
}
END_TEST

START_TEST(endless_file)
{
	struct cq_cpumask shown = make_mask("0");
	int from = open("/dev/zero", O_RDONLY), to = open("/dev/null", O_WRONLY);

	ck_assert_int_ge(from, 0);
	ck_assert_int_ge(to, 0);
	ck_assert_int_eq(cq_procfile_write(CQ_PROCFILE_STAT, &shown, from, to), -EFBIG);
	close(from);
	close(to);
}
END_TEST

Suite *cq_test_procfile(void)
{
	Suite *suite = suite_create("procfile");
	TCase *tests = tcase_create("procfile");

	tcase_set_timeout(tests, 60); /* under valgrind */
	tcase_add_test(tests, online);
	tcase_add_test(tests, online_of_many_runs);
	tcase_add_test(tests, stat_lines);
	tcase_add_test(tests, cpuinfo_blocks);
	tcase_add_test(tests, lines_of_all_lengths);
	tcase_add_test(tests, nul_bytes);
	tcase_add_test(tests, garbage_stays);
	tcase_add_test(tests, limits);
	tcase_add_test(tests, errors);
	tcase_add_test(tests, endless_file);
	suite_add_tcase(suite, tests);
	return suite;
}
