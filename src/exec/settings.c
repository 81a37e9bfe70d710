/* SPDX-License-Identifier: MIT */
#include "settings.h"

#include "rawcall.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

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

unsigned cq_settings_read(struct cq_policy *ret, const char *root, const char *executable,
			  const struct cq_settings_listener *listener)
{
	struct reading reading = {.listener = listener};
	struct cq_policy_source source = {
		.root = root,
		.default_file = CQ_POLICY_DEFAULT_FILE,
		.executable = executable,
		.environment = environment,
		.problem = count_problem,
		.assigned = hand_on,
		.argument = &reading,
	};

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
