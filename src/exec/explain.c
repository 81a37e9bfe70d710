/* SPDX-License-Identifier: MIT */
#include "explain.h"

#include "launch.h"

#include <stdio.h>
#include <string.h>

const char *cq_explain_kind(enum cq_kind kind)
{
	static const char *const kinds[] = {
		[CQ_KIND_NONE] = "not-found",
		[CQ_KIND_UNREADABLE] = "unreadable",
		[CQ_KIND_DIRECTORY] = "directory",
		[CQ_KIND_SPECIAL] = "special",
		[CQ_KIND_EMPTY] = "empty",
		[CQ_KIND_TEXT] = "text",
		[CQ_KIND_SCRIPT] = "script",
		[CQ_KIND_STATIC] = "static",
		[CQ_KIND_STATIC_PIE] = "static-pie",
		[CQ_KIND_DYNAMIC] = "dynamic",
		[CQ_KIND_OTHER] = "other",
	};

	return kinds[kind];
}

const char *cq_explain_libc(enum cq_libc libc)
{
	static const char *const names[] = {"none", "glibc", "musl", "other"};

	return names[libc];
}

const char *cq_explain_reached(enum cq_reached reached)
{
	static const char *const words[] = {"no", "partly", "yes"};

	return words[reached];
}

int cq_explain(const char *root, const char *program, bool json, void (*complain)(const char *message))
{
	static struct cq_machine machine;
	static struct cq_ways ways;
	static struct cq_inspection inspection;
	static struct cq_reach reach[CQ_MODES];
	struct cq_explanation explanation = {.machine = &machine};
	bool is_here = strcmp(root, "/") == 0;

	if (is_here) {
		cq_ways_find(&ways);
		explanation.ways = &ways;
	}
	if (program) {
		cq_inspect(program, ways.library, &inspection);
		explanation.program = &inspection;
	}
	cq_machine_find(&machine, root, program ? cq_inspect_executable(&inspection) : NULL, complain);
	if (program) {
		cq_reach_find(&inspection, &machine, &ways, reach);
		explanation.reach = reach;
	}
	if (json)
		cq_explain_as_json(&explanation);
	else
		cq_explain_as_text(&explanation);
	if (machine.error_count || machine.error)
		return CQ_EXIT_FAILED;
	return program ? cq_inspect_status(&inspection) : 0;
}
