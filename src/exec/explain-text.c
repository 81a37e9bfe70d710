/* SPDX-License-Identifier: MIT */
#include "explain.h"

#include "format.h"
#include "page.h"

#include <stdlib.h>
#include <string.h>

/* Where the text of an entry begins; the titles of the modes are longer. */
#define INDENT 12
#define MODE_INDENT 24

/* Prints an entry of a new string, and frees it. */
static void entry(const struct cq_page *page, const char *label, char *text)
{
	cq_page_entry(page, INDENT, label, CQ_PLAIN, text);
	free(text);
}

/* "1.5", at most three digits behind the point. */
static char *format_cpus(const struct cq_limit *limit)
{
	char *text = cq_format("%.3f", (double)limit->quota / (double)limit->period);
	size_t length = strlen(text);

	while (text[length - 1] == '0')
		text[--length] = '\0';
	if (text[length - 1] == '.')
		text[--length] = '\0';
	return text;
}

/* "/etc/cpuquota.conf:3", "CPUQUOTA" or "built in" */
static char *format_origin(const struct cq_origin *origin)
{
	if (!origin->name)
		return cq_format("built in");
	return origin->line ? cq_format("%s:%u", origin->name, origin->line) : cq_format("%s", origin->name);
}

static char *format_step(const struct cq_machine *machine, const struct cq_step *step)
{
	const struct cq_origin *key = cq_machine_origin(machine, step->key);
	char *origin = key ? format_origin(key) : NULL, *cpus, *text;

	if (!key) {
		text = strcmp(step->key, "limit") == 0 ? cq_format("no limit: all %u real CPUs", step->count)
						       : cq_format("no more than the %u real CPUs", step->count);
	} else if (strcmp(step->key, "round") == 0) {
		cpus = format_cpus(&machine->limit);
		text = cq_format("a limit of %s CPU%s, round = %s (%s): %u", cpus, strcmp(cpus, "1") == 0 ? "" : "s",
				 key->value, origin, step->count);
		free(cpus);
	} else if (strcmp(step->key, "unlimited") == 0) {
		text = cq_format("no limit, unlimited = %s (%s): %u", key->value, origin, step->count);
	} else {
		text = cq_format("%s = %s (%s): %u", step->key, key->value, origin, step->count);
	}
	free(origin);
	return text;
}

static void print_cpus(const struct cq_page *page, const struct cq_machine *machine)
{
	char *shown = cq_format_list(&machine->shown), *real = cq_format_list(&machine->real);
	char *given = cq_format_list(&machine->given), *online = cq_format_list(&machine->online);

	cq_page_title(page, "CPUs");
	if (machine->error) {
		entry(page, "shown",
		      strcmp(machine->root, "/") == 0
			      ? cq_format("not known: the CPUs of this process cannot be found out: %s",
					  strerror(-machine->error))
			      : cq_format("not known: %s has no list of CPUs (sys/devices/system/cpu/online): %s",
					  machine->root, strerror(-machine->error)));
	} else {
		entry(page, "shown",
		      cq_format("%u of %u real ones%s%s", machine->shown_count, machine->real_count,
				machine->knows_which ? ": " : "", machine->knows_which ? shown : ""));
		for (unsigned i = 0; i < machine->step_count; i++)
			entry(page, i ? "" : "because", format_step(machine, &machine->steps[i]));
		if (machine->policy.is_off)
			entry(page, "because", cq_format("CPUQUOTA=off: nothing is changed"));
		entry(page, "real", cq_format("%s (affinity of this process: %s)", real, given));
	}
	if (machine->has_online)
		entry(page, "online", cq_format("%s, %u on this machine", online, machine->online_count));
	free(shown);
	free(real);
	free(given);
	free(online);
}

static void print_level(const struct cq_page *page, const struct cq_level *level)
{
	char *cpus, *text;

	if (!cq_limit_is_set(&level->limit)) {
		entry(page, "no limit", cq_format("%s%s", level->path, level->is_root ? " (the root)" : ""));
		return;
	}
	cpus = format_cpus(&level->limit);
	text = cq_format("%llu/%llu us%s %s", (unsigned long long)level->limit.quota,
			 (unsigned long long)level->limit.period, level->is_effective ? ", effective:" : ":",
			 level->path);
	cq_page_entry(page, INDENT, cpus, level->is_effective ? CQ_BOLD : CQ_PLAIN, text);
	free(cpus);
	free(text);
}

static void print_cgroup(const struct cq_page *page, const struct cq_machine *machine)
{
	if (machine->version == CQ_CGROUP_NONE) {
		cq_page_title(page, "CPU limit");
		entry(page, "no limit", cq_format("no cgroup of the cpu controller can be seen from here"));
		return;
	}
	cq_page_title(page, machine->version == CQ_CGROUP_V1 ? "CPU limit, by level (cgroup v1), in CPUs"
							     : "CPU limit, by level (cgroup v2), in CPUs");
	for (unsigned i = 0; i < machine->level_count; i++)
		print_level(page, &machine->levels[i]);
}

static void print_policy(const struct cq_page *page, const struct cq_machine *machine)
{
	cq_page_title(page, "Policy");
	if (machine->policy.is_off) {
		entry(page, "off", cq_format("by CPUQUOTA; no file is read"));
		return;
	}
	entry(page, "file",
	      cq_format("%s%s%s", machine->policy_file, machine->is_named_file ? " (by --policy or CPUQUOTA_POLICY)" : "",
			machine->has_policy_file ? "" : ", which is not there"));
	for (unsigned i = 0; i < machine->error_count; i++)
		cq_page_entry(page, INDENT, "error", CQ_RED, machine->errors[i]);
	for (unsigned i = 0; i < CQ_ORIGINS; i++) {
		const struct cq_origin *origin = &machine->origins[i];
		char *where = format_origin(origin);

		if (origin->name)
			entry(page, "set", cq_format("%s = %s (%s)", cq_machine_key(i), origin->value, where));
		free(where);
	}
	entry(page, "else", cq_format("the built-in values"));
}

static void print_trap(const struct cq_page *page, const struct cq_ways *ways)
{
	const struct cq_trial_trap *trials[] = {&ways->trap, &ways->trap_of_init};
	static const char *const labels[] = {"trap", "with --init"};

	if (ways->below_trap) {
		entry(page, "trap", cq_format("this process is below one"));
		return;
	}
	for (unsigned i = 0; i < CQ_ARRAY_SIZE(trials); i++) {
		char *text = NULL;

		if (!cq_ways_trap_code(ways, trials[i], &text))
			text = cq_format("can be planted here, and is answered");
		entry(page, labels[i], text);
	}
}

static void print_ways(const struct cq_page *page, const struct cq_ways *ways)
{
	cq_page_title(page, "Here");
	entry(page, "library",
	      ways->library ? cq_format("%s", ways->library)
			    : cq_format("not found: %s",
					ways->named_library ? ways->named_library : LIBDIR "/libcpuquota.so"));
	entry(page, "hand over", cq_format("%s%s", ways->wrapper, ways->has_wrapper ? "" : ", which is not there"));
	print_trap(page, ways);
	if (ways->has_no_new_privs)
		entry(page, "rights", cq_format("no_new_privs is set: setuid programs have no power here"));
}

static void print_file(const struct cq_page *page, const struct cq_inspection *program)
{
	if (!program->is_found) {
		entry(page, "found", cq_format("no: %s", strerror(-program->exec_error)));
		return;
	}
	if (program->target.is_known && strcmp(program->target.path, program->target.executable) != 0 &&
	    !program->interpreter_count)
		entry(page, "found", cq_format("%s -> %s", program->target.path, program->target.executable));
	else
		entry(page, "found", cq_format("%s", program->target.path));
	if (program->exec_error)
		entry(page, "executes",
		      cq_format("no: %s%s%s", program->env_program ? program->env_program : "",
				program->env_program ? ": " : "", strerror(-program->exec_error)));
}

static const char *describe_kind(enum cq_kind kind)
{
	static const char *const texts[] = {
		[CQ_KIND_NONE] = "not there",
		[CQ_KIND_UNREADABLE] = "a file that cannot be read",
		[CQ_KIND_DIRECTORY] = "a directory",
		[CQ_KIND_SPECIAL] = "not a regular file",
		[CQ_KIND_EMPTY] = "an empty file",
		[CQ_KIND_TEXT] = "a text without a #! line",
		[CQ_KIND_SCRIPT] = "a script",
		[CQ_KIND_STATIC] = "statically linked",
		[CQ_KIND_STATIC_PIE] = "statically linked, position-independent (static-pie)",
		[CQ_KIND_DYNAMIC] = "dynamically linked",
		[CQ_KIND_OTHER] = "neither a text nor a program of this machine",
	};

	return texts[kind];
}

static void print_kind(const struct cq_page *page, const struct cq_inspection *program)
{
	char *text = cq_format("%s", describe_kind(program->kind));

	for (unsigned i = 0; i < program->interpreter_count; i++) {
		const char *relation = i ? "," : program->is_for_shell ? ", for" : " of";
		char *longer = cq_format("%s%s %s", text, relation, program->interpreters[i]);

		free(text);
		text = longer;
	}
	entry(page, "kind", text);
	if (program->env_program)
		entry(page, "", cq_format("which then executes %s", program->env_program));
	if (program->is_env_unclear)
		entry(page, "", cq_format("which then executes what is not looked at"));
	if (program->interpreter_count && program->machine)
		entry(page, "runs",
		      cq_format("%s: %s", cq_inspect_executable(program), describe_kind(program->linkage)));
}

static void print_program(const struct cq_page *page, const struct cq_inspection *program)
{
	char *title = cq_format("Program: %s", program->name);

	cq_page_title(page, title);
	free(title);
	print_file(page, program);
	if (!program->is_found)
		return;
	print_kind(page, program);
	if (program->machine)
		entry(page, "made for",
		      cq_format("%s, %d-bit; libc: %s%s%s", program->machine,
				program->runs.is_known && program->runs.program.is_64bit ? 64 : 32,
				cq_explain_libc(program->libc), program->loader ? ", loader: " : "",
				program->loader ? program->loader : ""));
	if (program->is_setuid || program->is_setgid || program->has_capabilities)
		entry(page, "rights",
		      cq_format("%s%s%s", program->is_setuid ? "setuid " : "", program->is_setgid ? "setgid " : "",
				program->has_capabilities ? "file capabilities" : ""));
	if (program->runs.is_known && program->runs.program.is_go)
		entry(page, "Go",
		      cq_format("%s%s; asks the kernel by sched_getaffinity%s",
				program->has_build ? program->build.version : "of unknown version",
				program->has_automaxprocs ? ", with automaxprocs" : "",
				program->reads_limit ? ", and reads the limit on its own" : ""));
	if (program->runtime)
		entry(page, "known as", cq_format("%s; asks by: %s", program->runtime->name, program->runtime->asks));
	for (unsigned i = 0; i < program->load.missing_count; i++)
		entry(page, "lacks", cq_format("%s", program->load.missing[i]));
}

/* "yes, by the library and the trap" and the first reasons behind it. */
static void print_reach(const struct cq_page *page, enum cq_mode mode, const struct cq_reach *reach)
{
	static const enum cq_colour colours[] = {CQ_RED, CQ_YELLOW, CQ_GREEN};
	char *text = cq_format("%s%s%s%s%s", cq_explain_reached(reach->reached),
			       reach->by_preload || reach->by_trap || reach->by_gomaxprocs ? ", by " : "",
			       reach->by_preload ? "the library" : "",
			       reach->by_trap ? reach->by_preload ? " and the trap" : "the trap" : "",
			       reach->by_gomaxprocs ? "GOMAXPROCS" : "");

	cq_page_entry(page, MODE_INDENT, cq_mode_title(mode), colours[reach->reached], text);
	free(text);
	for (unsigned i = 0; i < reach->reason_count; i++)
		cq_page_entry(page, MODE_INDENT, "", CQ_PLAIN, reach->reasons[i].text);
}

void cq_explain_as_text(const struct cq_explanation *explanation)
{
	struct cq_page page;

	cq_page_begin(&page, stdout);
	print_cpus(&page, explanation->machine);
	print_cgroup(&page, explanation->machine);
	print_policy(&page, explanation->machine);
	if (explanation->ways)
		print_ways(&page, explanation->ways);
	if (!explanation->program)
		return;
	print_program(&page, explanation->program);
	cq_page_title(&page, "Reached");
	for (enum cq_mode mode = 0; mode < CQ_MODES; mode++)
		print_reach(&page, mode, &explanation->reach[mode]);
}
