/* SPDX-License-Identifier: MIT */
/*
 * exec-errors DIRECTORY PROGRAM: executes what cannot be executed, and PROGRAM in odd ways, and says what came of it: the
 * error that the call returns, or the exit status. DIRECTORY is for the files.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char *arguments[] = {"name", "once", NULL};
static const char *program;

/* The program's file with other headers. */
static Elf64_Ehdr header;
static char *image;
static size_t size;

static void read_program(void)
{
	struct stat status;
	int fd = open(program, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &status) != 0)
		exit(2);
	size = (size_t)status.st_size;
	image = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (image == MAP_FAILED)
		exit(2);
	close(fd);
	memcpy(&header, image, sizeof header);
}

static void report(const char *what, int (*call)(const char *), const char *file)
{
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		call(file);
		printf("%s: %s\n", what, strerror(errno));
		fflush(stdout);
		_exit(99);
	}
	waitpid(child, &status, 0);
	printf("%s: status %x\n", what, (unsigned)status);
}

static int by_path(const char *file)
{
	return execv(file, arguments);
}

static int by_bad_path(const char *file)
{
	(void)file;
	return execv((const char *)1, arguments);
}

static int by_bad_arguments(const char *file)
{
	return execve(file, (char **)8, environ);
}

static int by_bad_argument(const char *file)
{
	char *bad[] = {"name", (char *)8, NULL};

	return execve(file, bad, environ);
}

static int by_bad_environment(const char *file)
{
	return execve(file, arguments, (char **)8);
}

static int by_descriptor_path(const char *file)
{
	char path[40];

	snprintf(path, sizeof path, "/proc/self/fd/%d", open(file, O_RDONLY | O_CLOEXEC));
	return execv(path, arguments);
}

static int by_dev_fd(const char *file)
{
	char path[40];

	snprintf(path, sizeof path, "/dev/fd/%d", open(file, O_RDONLY));
	return execv(path, arguments);
}

static int by_descriptor(const char *file)
{
	return fexecve(open(file, O_RDONLY | O_CLOEXEC), arguments, environ);
}

static void put(const char *name, const void *bytes, size_t length)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	if (fd < 0 || write(fd, bytes, length) != (ssize_t)length || close(fd) != 0)
		exit(2);
}

static void report_changed(const char *what, Elf64_Ehdr changed)
{
	memcpy(image, &changed, sizeof changed);
	put("changed", image, size);
	report(what, by_path, "./changed");
}

int main(int argc, char **argv)
{
	char script[300];
	Elf64_Ehdr other;

	if (argc != 3 || chdir(argv[1]) != 0)
		return 2;
	program = argv[2];
	read_program();
	other = header, other.e_machine = header.e_machine == EM_RISCV ? EM_PPC64 : EM_RISCV;
	report_changed("another machine's program", other);
	other = header, other.e_type = ET_REL;
	report_changed("an object file", other);
	other = header, other.e_phentsize = 7;
	report_changed("strange headers", other);
	put("short", &header, sizeof header - 1);
	report("the beginning of a program", by_path, "./short");
	put("empty", "", 0);
	report("an empty file", by_path, "./empty");
	put("text", "true\n", 5);
	report("a text", by_path, "./text");
	snprintf(script, sizeof script, "#!%s once\n", program);
	put("script", script, strlen(script));
	report("a script", by_path, "./script");
	report("a script by a descriptor that is closed", by_descriptor, "./script");
	report("a directory", by_path, ".");
	report("nothing", by_path, "./none");
	report("a bad path", by_bad_path, NULL);
	report("bad arguments", by_bad_arguments, program);
	report("a bad argument", by_bad_argument, program);
	report("a bad environment", by_bad_environment, program);
	report("a descriptor", by_descriptor, program);
	report("a descriptor in /proc, which is closed", by_descriptor_path, program);
	report("a descriptor in /dev", by_dev_fd, program);
	return 0;
}
