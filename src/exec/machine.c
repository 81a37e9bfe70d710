/* SPDX-License-Identifier: MIT */
#include "machine.h"

#include "count.h"
#include "format.h"
#include "settings.h"
#include "smallfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *cq_machine_key(unsigned key)
{
	return key == CQ_KEY_UNLIMITED ? "unlimited" : cq_policy_keys[key].name;
}

const struct cq_origin *cq_machine_origin(const struct cq_machine *machine, const char *key)
{
	for (unsigned i = 0; i < CQ_ORIGINS; i++) {
		if (strcmp(cq_machine_key(i), key) == 0)
			return &machine->origins[i];
	}
	return NULL;
}

struct reading {
	struct cq_machine *machine;
	void (*complain)(const char *message);
};

static void add_error(struct cq_machine *machine, const char *message)
{
	machine->errors = cq_must(realloc(machine->errors, (machine->error_count + 1) * sizeof *machine->errors));
	machine->errors[machine->error_count++] = cq_copy(message, strlen(message));
}

static void keep_problem(void *argument, const char *message)
{
	const struct reading *reading = argument;

	add_error(reading->machine, message);
	reading->complain(message);
}

static void keep_assignment(void *argument, const struct cq_policy_assignment *assignment)
{
	const struct reading *reading = argument;

	for (unsigned i = 0; i < CQ_ORIGINS; i++) {
		struct cq_origin *origin = &reading->machine->origins[i];

		if (strcmp(cq_machine_key(i), assignment->key) != 0)
			continue;
		free(origin->value);
		free(origin->name);
		origin->value = cq_copy(assignment->value, assignment->value_length);
		origin->name = cq_copy(assignment->name, strlen(assignment->name));
		origin->line = assignment->line;
	}
}

/* The built-in value of a key, as it would be written: a 0 that a key does not take stands for "unset". */
static char *built_in_value(unsigned key)
{
	const struct cq_policy_key *known = &cq_policy_keys[key];
	struct cq_policy policy;
	unsigned value;

	if (key == CQ_KEY_UNLIMITED)
		return cq_format("all");
	cq_policy_init(&policy);
	memcpy(&value, (const char *)&policy + known->field, sizeof value);
	if (*known->words) /* the first word is 0 */
		return cq_copy(known->words, strcspn(known->words, ","));
	return value < known->least ? cq_format("unset") : cq_format("%u", value);
}

static void read_policy(struct cq_machine *machine, const char *executable, void (*complain)(const char *message))
{
	struct reading reading = {machine, complain};
	struct cq_settings_listener listener = {keep_problem, keep_assignment, &reading};
	const char *named = getenv("CPUQUOTA_POLICY");
	int fd;

	cq_policy_init(&machine->policy);
	if (cq_settings_check_file(complain))
		add_error(machine, "a file that can be read once only");
	else
		cq_settings_read(&machine->policy, machine->root, executable, &listener);
	for (unsigned i = 0; i < CQ_ORIGINS; i++) {
		if (!machine->origins[i].value)
			machine->origins[i].value = built_in_value(i);
	}
	machine->is_named_file = named && *named;
	machine->policy_file =
		machine->is_named_file ? cq_format("%s", named) : cq_format("%s", CQ_POLICY_DEFAULT_FILE);
	fd = cq_open_below(machine->is_named_file ? "/" : machine->root, machine->policy_file);
	machine->has_policy_file = fd != -ENOENT && fd != -ENOTDIR;
	if (fd >= 0)
		close(fd);
}

static void add_level(struct cq_machine *machine, const struct cq_cgroup *cgroup, const struct cq_limit *limit,
		      bool is_root)
{
	size_t size = (machine->level_count + 1) * sizeof *machine->levels;

	machine->levels = cq_must(realloc(machine->levels, size));
	machine->levels[machine->level_count++] = (struct cq_level){
		.path = cgroup->length ? cq_copy(cgroup->path, cgroup->length) : cq_format("/"),
		.limit = *limit,
		.is_root = is_root,
	};
}

/* As cq_limit_read(), but keeps every level. */
static void find_levels(struct cq_machine *machine)
{
	struct cq_level *effective = NULL;
	struct cq_cgroup cgroup;

	if (cq_cgroup_find(machine->root, 0, "cpu", &cgroup) < 0)
		return;
	machine->version = cgroup.version;
	if (cgroup.version == CQ_CGROUP_NONE)
		return;
	do {
		bool is_root = cgroup.length == cgroup.top_length && cgroup.top_is_unlimited;
		struct cq_limit limit = {0, 0};

		if (!is_root)
			cq_limit_read_level(machine->root, &cgroup, &limit);
		add_level(machine, &cgroup, &limit, is_root);
	} while (cq_cgroup_ascend(&cgroup));
	for (unsigned i = 0; i < machine->level_count; i++) {
		if (cq_limit_is_tighter(&machine->levels[i].limit, &machine->limit)) {
			effective = &machine->levels[i];
			machine->limit = effective->limit;
		}
	}
	if (effective)
		effective->is_effective = true;
}

static void add_step(struct cq_machine *machine, const char *key, uint64_t count)
{
	machine->steps[machine->step_count++] =
		(struct cq_step){key, count < CQ_POLICY_MAX_COUNT ? (unsigned)count : CQ_POLICY_MAX_COUNT};
}

/* The same as cq_count(), with each key that changes something along the way. */
static void find_steps(struct cq_machine *machine)
{
	const struct cq_policy *policy = &machine->policy;
	const struct cq_limit *limit = cq_limit_is_set(&machine->limit) ? &machine->limit : &policy->unlimited;
	uint64_t count = machine->real_count;

	if (policy->is_off)
		return;
	if (policy->count) {
		count = policy->count;
		add_step(machine, "count", count);
	} else if (cq_limit_is_set(limit)) {
		count = cq_count_round(limit, policy->round);
		add_step(machine, limit == &machine->limit ? "round" : "unlimited", count);
	} else {
		add_step(machine, "limit", count);
	}
	if (!policy->count && count < policy->min)
		add_step(machine, "min", count = policy->min);
	if (!policy->count && policy->max && count > policy->max)
		add_step(machine, "max", count = policy->max);
	if (count > machine->real_count)
		add_step(machine, "real", machine->real_count);
}

static void find_online(struct cq_machine *machine)
{
	char list[4096];
	int length = cq_smallfile_read(machine->root, "/sys/devices/system/cpu/online", list, sizeof list);

	machine->has_online = length >= 0 && cq_cpumask_parse_list(list, (size_t)length, &machine->online) == 0;
	if (machine->has_online)
		machine->online_count = cq_cpumask_count(machine->online.words, CQ_MASK_WORDS);
}

static void find_cpus(struct cq_machine *machine)
{
	struct cq_answer answer;

	find_online(machine);
	machine->view.policy = machine->policy;
	machine->error = cq_view_init(&machine->view, machine->root, cq_settings_now);
	if (machine->error < 0)
		return;
	machine->given = machine->view.given;
	answer = cq_view_look(&machine->view, &machine->real);
	if (machine->policy.is_off) {
		machine->real = machine->given;
		answer = (struct cq_answer){cq_cpumask_count(machine->given.words, CQ_MASK_WORDS), 0};
	}
	machine->real_count = cq_cpumask_count(machine->real.words, CQ_MASK_WORDS);
	machine->shown = machine->real;
	cq_cpumask_keep_run(machine->shown.words, CQ_MASK_WORDS, answer.first, answer.count);
	machine->shown_count = answer.count;
	machine->knows_which = strcmp(machine->root, "/") == 0 || machine->policy.mask == CQ_MASK_FIRST ||
			       machine->shown_count == machine->real_count;
}

void cq_machine_find(struct cq_machine *ret, const char *root, const char *executable,
		     void (*complain)(const char *message))
{
	memset(ret, 0, sizeof *ret);
	ret->root = root;
	read_policy(ret, executable, complain);
	find_cpus(ret);
	find_levels(ret);
	find_steps(ret);
}
