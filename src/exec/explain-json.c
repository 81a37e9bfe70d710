/* SPDX-License-Identifier: MIT */
#include "explain.h"

#include "format.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Of the schema, which cpuquota-exec(1) has: goes up when a member is taken away or changes its meaning, not when one is
 * added. */
#define SCHEMA_VERSION 1

/* TEXT, or null. JSON has only Unicode, and a path may be anything: other bytes become `?`. */
static json_t *text(const char *original)
{
	json_t *string = original ? json_string(original) : json_null();
	char *copy;

	if (string)
		return string;
	copy = cq_format("%s", original);
	for (char *p = copy; *p; p++) {
		if (*p & 0x80)
			*p = '?';
	}
	string = cq_must(json_string(copy));
	free(copy);
	return string;
}

static json_t *list_of(char *const *texts, unsigned count)
{
	json_t *array = cq_must(json_array());

	for (unsigned i = 0; i < count; i++)
		json_array_append_new(array, text(texts[i]));
	return array;
}

static json_t *cpus(const struct cq_cpumask *mask)
{
	char *list = cq_format_list(mask);
	json_t *string = text(list);

	free(list);
	return string;
}

static json_t *number_or_null(int number)
{
	return number < 0 ? json_null() : json_integer(number);
}

/* {"quota", "period", "cpus"}; null: no limit */
static json_t *limit(const struct cq_limit *limit)
{
	if (!cq_limit_is_set(limit))
		return json_null();
	return json_pack("{s:I,s:I,s:f}", "quota", (json_int_t)limit->quota, "period", (json_int_t)limit->period, "cpus",
			 (double)limit->quota / (double)limit->period);
}

static json_t *pack_cpus(const struct cq_machine *machine)
{
	json_t *online = machine->has_online ? cpus(&machine->online) : json_null();

	if (machine->error)
		return json_pack("{s:o,s:n,s:n,s:n,s:n,s:n,s:s}", "online", online, "given", "real", "real_count",
				 "shown", "shown_count", "error", strerror(-machine->error));
	return json_pack("{s:o,s:o,s:o,s:i,s:o,s:i,s:n}", "online", online, "given", cpus(&machine->given), "real",
			 cpus(&machine->real), "real_count", (int)machine->real_count,
			 "shown", machine->knows_which ? cpus(&machine->shown) : json_null(),
			 "shown_count", (int)machine->shown_count, "error");
}

static json_t *pack_cgroup(const struct cq_machine *machine)
{
	json_t *levels = cq_must(json_array());

	for (unsigned i = 0; i < machine->level_count; i++) {
		const struct cq_level *level = &machine->levels[i];

		json_array_append_new(levels, json_pack("{s:o,s:o,s:b,s:b}", "path", text(level->path), "limit",
							limit(&level->limit), "root", level->is_root, "effective",
							level->is_effective));
	}
	return json_pack("{s:i,s:o,s:o}", "version", (int)machine->version, "limit", limit(&machine->limit),
			 "levels", levels);
}

static json_t *pack_steps(const struct cq_machine *machine)
{
	json_t *steps = cq_must(json_array());

	for (unsigned i = 0; i < machine->step_count; i++)
		json_array_append_new(steps, json_pack("{s:s,s:i}", "key", machine->steps[i].key, "count",
						       (int)machine->steps[i].count));
	return steps;
}

static json_t *pack_policy(const struct cq_machine *machine)
{
	json_t *keys = cq_must(json_object());

	for (unsigned i = 0; i < CQ_ORIGINS; i++) {
		const struct cq_origin *origin = &machine->origins[i];

		json_object_set_new(keys, cq_machine_key(i),
				    json_pack("{s:o,s:o,s:o}", "value", text(origin->value), "from", text(origin->name), "line",
					      origin->line ? json_integer(origin->line) : json_null()));
	}
	return json_pack("{s:b,s:o,s:b,s:o,s:o,s:o}",
			 "off", machine->policy.is_off,
			 "file", text(machine->policy_file),
			 "file_is_there", machine->has_policy_file,
			 "errors", list_of(machine->errors, machine->error_count),
			 "keys", keys,
			 "steps", pack_steps(machine));
}

static json_t *pack_trial(const struct cq_ways *ways, const struct cq_trial_trap *trial)
{
	char *why = NULL;
	const char *code = ways->below_trap ? "below_trap" : cq_ways_trap_code(ways, trial, &why);
	json_t *object = json_pack("{s:b,s:b,s:o,s:o}", "reaches", !trial->error && trial->reaches, "reaches_children",
				   !trial->error && trial->reaches_children, "code", text(code), "text", text(why));

	free(why);
	return object;
}

static json_t *pack_ways(const struct cq_ways *ways)
{
	if (!ways)
		return json_null();
	return json_pack("{s:o,s:o,s:b,s:b,s:o,s:o,s:b,s:o,s:o}",
			 "library", text(ways->library),
			 "exec", text(ways->wrapper),
			 "exec_is_there", ways->has_wrapper,
			 "no_new_privs", ways->has_no_new_privs,
			 "ptrace_scope", number_or_null(ways->ptrace_scope),
			 "seccomp_filters", number_or_null(ways->seccomp_filters),
			 "below_trap", ways->below_trap != 0,
			 "trap", pack_trial(ways, &ways->trap),
			 "trap_of_init", pack_trial(ways, &ways->trap_of_init));
}

static json_t *pack_rights(const struct cq_inspection *program)
{
	json_t *rights = cq_must(json_array());

	if (program->is_setuid)
		json_array_append_new(rights, text("setuid"));
	if (program->is_setgid)
		json_array_append_new(rights, text("setgid"));
	if (program->has_capabilities)
		json_array_append_new(rights, text("capabilities"));
	return rights;
}

static json_t *pack_go(const struct cq_inspection *program)
{
	if (!program->runs.is_known || !program->runs.program.is_go)
		return json_null();
	return json_pack("{s:o,s:b,s:b}", "version", text(program->has_build ? program->build.version : NULL),
			 "automaxprocs", program->has_automaxprocs, "reads_limit", program->reads_limit);
}

static json_t *pack_runtime(const struct cq_runtime *runtime)
{
	return runtime ? json_pack("{s:s,s:s}", "name", runtime->name, "asks", runtime->asks) : json_null();
}

static json_t *known(enum cq_known is)
{
	return is == CQ_NOT_KNOWN ? json_null() : json_boolean(is == CQ_KNOWN_YES);
}

static json_t *pack_mode(enum cq_mode mode, const struct cq_reach *reach)
{
	json_t *by = cq_must(json_array()), *reasons = cq_must(json_array());

	if (reach->by_preload)
		json_array_append_new(by, text("preload"));
	if (reach->by_trap)
		json_array_append_new(by, text("trap"));
	if (reach->by_gomaxprocs)
		json_array_append_new(by, text("gomaxprocs"));
	for (unsigned i = 0; i < reach->reason_count; i++)
		json_array_append_new(reasons, json_pack("{s:s,s:o}", "code", reach->reasons[i].code, "text",
							 text(reach->reasons[i].text)));
	return json_pack("{s:s,s:s,s:o,s:{s:o,s:o,s:o},s:o}",
			 "mode", cq_mode_name(mode),
			 "reached", cq_explain_reached(reach->reached),
			 "by", by,
			 "answered",
			 "counts", known(reach->counts),
			 "affinity", known(reach->affinity),
			 "files", known(reach->files),
			 "reasons", reasons);
}

static json_t *pack_modes(const struct cq_reach *reach)
{
	json_t *modes = cq_must(json_array());

	for (enum cq_mode mode = 0; mode < CQ_MODES; mode++)
		json_array_append_new(modes, pack_mode(mode, &reach[mode]));
	return modes;
}

static json_t *pack_program(const struct cq_inspection *program, const struct cq_reach *reach)
{
	bool is_elf;

	if (!program)
		return json_null();
	is_elf = program->machine && program->runs.is_known;
	return json_pack("{s:o,s:o,s:o,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:b,s:o,s:o,s:o,s:o,s:i,s:o}",
			 "name", text(program->name),
			 "path", program->is_found ? text(program->target.path) : json_null(),
			 "executable", program->is_found ? text(cq_inspect_executable(program)) : json_null(),
			 "kind", cq_explain_kind(program->kind),
			 "linkage", program->machine ? text(cq_explain_kind(program->linkage)) : json_null(),
			 "interpreters", list_of(program->interpreters, program->interpreter_count),
			 "env_program", text(program->env_program),
			 "machine", text(program->machine),
			 "bits", is_elf ? json_integer(program->runs.program.is_64bit ? 64 : 32) : json_null(),
			 "libc", program->machine ? text(cq_explain_libc(program->libc)) : json_null(),
			 "loader", text(program->loader),
			 "rights", pack_rights(program),
			 "secure_execution", program->is_secure,
			 "go", pack_go(program),
			 "runtime", pack_runtime(program->runtime),
			 "missing_libraries", list_of(program->load.missing, program->load.missing_count),
			 "error", program->exec_error ? text(strerror(-program->exec_error)) : json_null(),
			 "exit_status", cq_inspect_status(program),
			 "modes", pack_modes(reach));
}

void cq_explain_as_json(const struct cq_explanation *explanation)
{
	const struct cq_machine *machine = explanation->machine;
	json_t *all = cq_must(json_pack("{s:i,s:s,s:o,s:o,s:o,s:o,s:o,s:o}",
					"version", SCHEMA_VERSION,
					"cpuquota", PACKAGE_VERSION,
					"sysroot", text(machine->root),
					"cpus", pack_cpus(machine),
					"cgroup", pack_cgroup(machine),
					"policy", pack_policy(machine),
					"ways", pack_ways(explanation->ways),
					"program", pack_program(explanation->program, explanation->reach)));

	json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
	putchar('\n');
	json_decref(all);
}
