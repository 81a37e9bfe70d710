/* SPDX-License-Identifier: MIT */
#include "settings.h"

#include "rawcall.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct problems {
	unsigned count;
	void (*complain)(const char *message);
};

static void count_problem(void *argument, const char *message)
{
	struct problems *problems = argument;

	problems->count++;
	if (problems->complain)
		problems->complain(message);
}

static const char *environment(const char *name)
{
	return secure_getenv(name);
}

unsigned cq_settings_load(struct cq_policy *ret, const char *root, const char *executable,
			  void (*complain)(const char *message))
{
	struct problems problems = {.complain = complain};
	struct cq_policy_source source = {
		.root = root,
		.default_file = CQ_POLICY_DEFAULT_FILE,
		.executable = executable,
		.environment = environment,
		.problem = count_problem,
		.argument = &problems,
	};

	cq_policy_load(ret, &source);
	return problems.count;
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
