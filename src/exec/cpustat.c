/* SPDX-License-Identifier: MIT */
#include "cpustat.h"

#include "text.h"

#include <errno.h>
#include <string.h>

/* Several times what the file has today; a read that fills it would not have been the whole file. */
#define STAT_FILE_SIZE 4096

/* The number behind KEY on a line of its own. */
static bool find_number(const char *text, const char *key, uint64_t max, uint64_t *ret)
{
	size_t length = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, length) == 0 && line[length] == ' ') {
			line += length + 1;
			return cq_text_number(&line, max, ret);
		}
	}
	return false;
}

static bool find_microseconds(const char *text, const char *key, uint64_t *ret)
{
	if (!find_number(text, key, UINT64_MAX / 1000, ret))
		return false;
	*ret *= 1000;
	return true;
}

int cq_cpustat_parse(enum cq_cgroup_version version, const char *text, struct cq_cpustat *ret)
{
	struct cq_cpustat stat = {.knows_used = false};

	if (!find_number(text, "nr_periods", UINT64_MAX, &stat.periods) ||
	    !find_number(text, "nr_throttled", UINT64_MAX, &stat.throttled))
		return -EINVAL;
	if (version == CQ_CGROUP_V1 ? !find_number(text, "throttled_time", UINT64_MAX, &stat.lost)
				    : !find_microseconds(text, "throttled_usec", &stat.lost))
		return -EINVAL;
	stat.knows_used = version == CQ_CGROUP_V2 && find_microseconds(text, "usage_usec", &stat.used);
	*ret = stat;
	return 0;
}

int cq_cpustat_read(const char *root, struct cq_cgroup *cgroup, struct cq_cpustat *ret)
{
	char text[STAT_FILE_SIZE];
	const char *number = text;
	int r = cq_cgroup_read(root, cgroup, "cpu.stat", text, sizeof text);

	if (r >= 0)
		r = cq_cpustat_parse(cgroup->version, text, ret);
	if (r < 0)
		return r;
	if (cgroup->version == CQ_CGROUP_V1 && cq_cgroup_read(root, cgroup, "cpuacct.usage", text, sizeof text) > 0)
		ret->knows_used = cq_text_number(&number, UINT64_MAX, &ret->used);
	return 0;
}

int cq_cpustat_subtract(const struct cq_cpustat *after, const struct cq_cpustat *before, struct cq_cpustat *ret)
{
	bool knows_used = after->knows_used && before->knows_used;

	if (after->periods < before->periods || after->throttled < before->throttled || after->lost < before->lost ||
	    (knows_used && after->used < before->used))
		return -ERANGE;
	*ret = (struct cq_cpustat){
		.periods = after->periods - before->periods,
		.throttled = after->throttled - before->throttled,
		.lost = after->lost - before->lost,
		.used = knows_used ? after->used - before->used : 0,
		.knows_used = knows_used,
	};
	return 0;
}
