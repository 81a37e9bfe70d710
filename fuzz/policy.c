/* SPDX-License-Identifier: MIT */
/* A policy file and an override of any bytes: every error is told of in one line, and what comes out is within its bounds. */
#include "fuzz.h"

#include "count.h"
#include "policy.h"

static const char *no_environment(const char *name)
{
	(void)name;
	return NULL;
}

static void check_message(void *argument, const char *message)
{
	unsigned *count = argument;

	(*count)++;
	for (; *message; message++)
		must((unsigned char)*message >= ' ' && *message != 127);
}

static void check_policy(const struct cq_policy *policy)
{
	static const struct cq_limit limits[] = {{0, 0}, {1, INT64_MAX}, {INT64_MAX, 1}, {150000, 100000}};

	must(policy->round <= CQ_ROUND_NEAREST && policy->trap <= CQ_TRAP_NEVER && policy->files <= CQ_FILES_REAL);
	must(policy->min >= 1 && policy->min <= CQ_POLICY_MAX_COUNT && policy->max <= CQ_POLICY_MAX_COUNT);
	must(policy->count <= CQ_POLICY_MAX_COUNT && policy->refresh <= CQ_POLICY_MAX_REFRESH);
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		for (unsigned available = 1; available <= 1024; available *= 32) {
			unsigned count = cq_count(policy, &limits[i], available);

			must(count >= 1 && count <= available);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned problems = 0;
	struct cq_policy_source source = {.root = "/",
					  .executable = "/usr/sbin/nginx",
					  .environment = no_environment,
					  .problem = check_message,
					  .argument = &problems};
	struct cq_policy policy;
	char path[32], *text = make_string(data, size);
	int fd = make_file(data, size);

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	cq_policy_init(&policy);
	if (cq_policy_read_file(&policy, &source, "/", path) < 0)
		must(problems);
	check_policy(&policy);
	cq_policy_init(&policy);
	cq_policy_read_inline(&policy, &source, "CPUQUOTA", text);
	check_policy(&policy);
	free(text);
	close(fd);
	return 0;
}
