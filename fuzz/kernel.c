/* SPDX-License-Identifier: MIT */
/* The contents of the kernel's files, of any bytes: limits, lists of CPUs, lines of mountinfo. */
#include "fuzz.h"

#include "cpumask.h"
#include "limit.h"
#include "mountinfo.h"

static void check_limit(struct cq_limit limit)
{
	must((limit.quota && limit.period) || (!limit.quota && !limit.period));
}

static void check_mask(const struct cq_cpumask *parsed)
{
	unsigned count = cq_cpumask_count(parsed->words, CQ_MASK_WORDS);

	for (unsigned shown = 1; shown < 4; shown++) {
		struct cq_cpumask mask = *parsed;

		cq_cpumask_keep_run(mask.words, CQ_MASK_WORDS, CQ_MAX_CPUS - shown, shown);
		must(cq_cpumask_count(mask.words, CQ_MASK_WORDS) == (count < shown ? count : shown));
		must(cq_cpumask_is_empty(mask.words, CQ_MASK_WORDS) || cq_cpumask_intersect(&mask, parsed));
	}
}

static void check_mount(char *line)
{
	struct cq_mount mount;

	if (cq_mountinfo_parse(line, &mount) == 0)
		must(strlen(mount.root) + strlen(mount.point) + strlen(mount.type) + strlen(mount.options) < 1u << 20);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = make_string(data, size);
	size_t half = size / 2;
	struct cq_cpumask mask;

	check_limit(cq_limit_parse_v2(text, size));
	check_limit(cq_limit_parse_v1(text, size, text, size));
	check_limit(cq_limit_parse_v1(text + half, size - half, text, size));
	if (cq_cpumask_parse_list(text, size, &mask) == 0)
		check_mask(&mask);
	check_mount(text);
	free(text);
	return 0;
}
