/* SPDX-License-Identifier: MIT */
#include "settings.h"

#include "rawcall.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* One reading of a policy: how many errors it has had, and who is told. */
struct reading {
	unsigned problems;
	const struct cq_settings_listener *listener;
};

static void count_problem(void *argument, const char *message)
{
	struct reading *reading = argument;

	reading->problems++;
	if (reading->listener->problem)
		reading->listener->problem(reading->listener->argument, message);
}

static void hand_on(void *argument, const struct cq_policy_assignment *assignment)
{
	const struct reading *reading = argument;

	if (reading->listener->assigned)
		reading->listener->assigned(reading->listener->argument, assignment);
}

static const char *environment(const char *name)
{
	return secure_getenv(name);
}

static struct cq_policy_source make_source(struct reading *reading, const char *root, const char *executable)
{
	return (struct cq_policy_source){
		.root = root,
		.default_file = CQ_POLICY_DEFAULT_FILE,
		.executable = executable,
		.environment = environment,
		.problem = count_problem,
		.assigned = hand_on,
		.argument = reading,
	};
}

unsigned cq_settings_read(struct cq_policy *ret, const char *root, const char *executable,
			  const struct cq_settings_listener *listener)
{
	struct reading reading = {.listener = listener};
	struct cq_policy_source source = make_source(&reading, root, executable);

	cq_policy_load(ret, &source);
	return reading.problems;
}

static void complain(void *argument, const char *message)
{
	void (*const *say)(const char *message) = argument;

	if (*say)
		(*say)(message);
}

unsigned cq_settings_load(struct cq_policy *ret, const char *root, const char *executable,
			  void (*say)(const char *message))
{
	struct cq_settings_listener listener = {.problem = complain, .argument = &say};

	return cq_settings_read(ret, root, executable, &listener);
}

unsigned cq_settings_check_file(void (*say)(const char *message))
{
	const char *file = getenv("CPUQUOTA_POLICY");
	struct stat status;
	char *message;

	if (!file || !*file || stat(file, &status) != 0 || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))
		return 0; /* those that cannot be read are told of where they are read */
	if (asprintf(&message, "%s: expected a file that can be read more than once", file) >= 0) {
		say(message);
		free(message);
	}
	return 1;
}

/* All of the pipe or the device that PATH names, as far as a policy may go, as a regular file. Returns a descriptor, or
 * -Exxx. */
static int copy_stream(const char *path)
{
	char buffer[4096];
	int from = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), to = memfd_create("policy", MFD_CLOEXEC);
	size_t room = CQ_POLICY_FILE_BUDGET + 1;
	ssize_t got = 0;
	int error = from < 0 || to < 0 ? -errno : 0;

	while (!error && room && (got = read(from, buffer, room < sizeof buffer ? room : sizeof buffer)) > 0) {
		room -= (size_t)got;
		if (write(to, buffer, (size_t)got) != got)
			error = -EIO;
	}
	if (!error && (got < 0 || lseek(to, 0, SEEK_SET) != 0))
		error = -errno;
	if (from >= 0)
		close(from);
	if (error && to >= 0)
		close(to);
	return error ? error : to;
}

static void check_file(const struct cq_policy_source *source, const char *file)
{
	struct cq_policy policy;
	struct stat status;
	int fd = -1;

	cq_policy_init(&policy);
	if (stat(file, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
		fd = copy_stream(file);
	if (fd >= 0)
		cq_policy_read_open(&policy, source, fd, file);
	else
		cq_policy_read_file(&policy, source, "/", file);
}

/* The policy file that would be read; NULL: none. */
static const char *find_file(void)
{
	const char *named = environment("CPUQUOTA_POLICY");

	if (named && *named)
		return named;
	return access(CQ_POLICY_DEFAULT_FILE, F_OK) == 0 ? CQ_POLICY_DEFAULT_FILE : NULL;
}

unsigned cq_settings_check(const char *file, void (*say)(const char *message))
{
	const struct cq_settings_listener listener = {.problem = complain, .argument = &say};
	struct reading reading = {.listener = &listener};
	struct cq_policy_source source = make_source(&reading, "/", NULL);
	const char *overrides = environment("CPUQUOTA");
	struct cq_policy policy;

	if (!file) {
		reading.problems = cq_settings_check_file(say);
		file = reading.problems ? NULL : find_file();
	}
	if (file)
		check_file(&source, file);
	cq_policy_init(&policy);
	if (overrides)
		cq_policy_read_inline(&policy, &source, "CPUQUOTA", overrides);
	return reading.problems;
}

int cq_settings_override(const char *assignment)
{
	const char *before = getenv("CPUQUOTA");
	char *joined;
	int r;

	if (!before || !*before)
		return setenv("CPUQUOTA", assignment, 1);
	if (asprintf(&joined, "%s,%s", before, assignment) < 0)
		return -1;
	r = setenv("CPUQUOTA", joined, 1);
	free(joined);
	return r;
}

uint64_t cq_settings_now(void)
{
	struct timespec time;

	cq_rawcall(SYS_clock_gettime, CLOCK_MONOTONIC_COARSE, (long)&time, 0, 0);
	return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}
