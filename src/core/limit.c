/* SPDX-License-Identifier: MIT */
#include "limit.h"

#include "smallfile.h"
#include "text.h"

/* Room for two 64-bit numbers, the space and the newline, and to see that a file is longer than that. */
#define LIMIT_FILE_SIZE 48

static const struct cq_limit no_limit = {0, 0};

bool cq_limit_is_tighter(const struct cq_limit *a, const struct cq_limit *b)
{
	if (!cq_limit_is_set(a) || !cq_limit_is_set(b))
		return cq_limit_is_set(a);
	return (unsigned __int128)a->quota * b->period < (unsigned __int128)b->quota * a->period;
}

/* True if TEXT, inside a text of LENGTH bytes that begins at START, is at its end, but for a newline. */
static bool is_at_end(const char *text, const char *start, size_t length)
{
	if (*text == '\n')
		text++;
	return text == start + length;
}

struct cq_limit cq_limit_parse_v2(const char *text, size_t length)
{
	const char *p = text;
	struct cq_limit limit;

	if (!cq_text_number(&p, INT64_MAX, &limit.quota) || *p++ != ' ' ||
	    !cq_text_number(&p, INT64_MAX, &limit.period) || !is_at_end(p, text, length))
		return no_limit;
	return limit.quota && limit.period ? limit : no_limit;
}

struct cq_limit cq_limit_parse_v1(const char *quota, size_t quota_length, const char *period, size_t period_length)
{
	const char *q = quota, *p = period;
	struct cq_limit limit;

	if (!cq_text_number(&q, INT64_MAX, &limit.quota) || !is_at_end(q, quota, quota_length) ||
	    !cq_text_number(&p, INT64_MAX, &limit.period) || !is_at_end(p, period, period_length))
		return no_limit;
	return limit.quota && limit.period ? limit : no_limit;
}

/* Both return 0 with no limit for what cannot be read, and hand on only what says nothing about the level. */
static int read_v2(const char *root, struct cq_cgroup *cgroup, struct cq_limit *ret)
{
	char text[LIMIT_FILE_SIZE];
	int length = cq_cgroup_read(root, cgroup, "cpu.max", text, sizeof text);

	*ret = length < 0 ? no_limit : cq_limit_parse_v2(text, (size_t)length);
	return cq_error_is_transient(length) ? length : 0;
}

static int read_v1(const char *root, struct cq_cgroup *cgroup, struct cq_limit *ret)
{
	char quota[LIMIT_FILE_SIZE], period[LIMIT_FILE_SIZE];
	int quota_length = cq_cgroup_read(root, cgroup, "cpu.cfs_quota_us", quota, sizeof quota);
	int period_length;

	*ret = no_limit;
	if (quota_length < 0 || quota[0] == '-') /* -1, the usual case: the period does not matter */
		return cq_error_is_transient(quota_length) ? quota_length : 0;
	period_length = cq_cgroup_read(root, cgroup, "cpu.cfs_period_us", period, sizeof period);
	if (period_length >= 0)
		*ret = cq_limit_parse_v1(quota, (size_t)quota_length, period, (size_t)period_length);
	return cq_error_is_transient(period_length) ? period_length : 0;
}

int cq_limit_read_level(const char *root, struct cq_cgroup *cgroup, struct cq_limit *ret)
{
	switch (cgroup->version) {
	case CQ_CGROUP_V1:
		return read_v1(root, cgroup, ret);
	case CQ_CGROUP_V2:
		return read_v2(root, cgroup, ret);
	case CQ_CGROUP_NONE:
		break;
	}
	*ret = no_limit;
	return 0;
}

int cq_limit_read(const char *root, struct cq_cgroup *cgroup, struct cq_limit *ret)
{
	struct cq_limit tightest = no_limit;

	if (cgroup->version == CQ_CGROUP_NONE) {
		*ret = no_limit;
		return 0;
	}
	do {
		struct cq_limit limit;
		int r;

		if (cgroup->length == cgroup->top_length && cgroup->top_is_unlimited)
			break;
		r = cq_limit_read_level(root, cgroup, &limit);
		if (r < 0)
			return r;
		if (cq_limit_is_tighter(&limit, &tightest))
			tightest = limit;
	} while (cq_cgroup_ascend(cgroup));
	*ret = tightest;
	return 0;
}
