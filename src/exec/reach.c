/* SPDX-License-Identifier: MIT */
#include "reach.h"

#include "format.h"
#include "launch.h"
#include "probe.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

const char *cq_mode_title(enum cq_mode mode)
{
	static const char *const titles[] = {"ENV LD_PRELOAD", "cpuquota-exec", "cpuquota-exec --init"};

	return titles[mode];
}

const char *cq_mode_name(enum cq_mode mode)
{
	static const char *const names[] = {"env", "exec", "init"};

	return names[mode];
}

/* The number in the first line of FILE that has it behind PREFIX; -1: none. */
static int number_in(const char *file, const char *prefix)
{
	FILE *stream = fopen(file, "re");
	char line[256];
	int number = -1;

	while (number < 0 && stream && fgets(line, sizeof line, stream)) {
		if (strncmp(line, prefix, strlen(prefix)) == 0 && sscanf(line + strlen(prefix), "%d", &number) != 1)
			break;
	}
	if (stream)
		fclose(stream);
	return number;
}

void cq_ways_find(struct cq_ways *ret)
{
	const char *library = getenv("CPUQUOTA_LIBRARY"), *wrapper = getenv("CPUQUOTA_EXEC");
	char *told;

	memset(ret, 0, sizeof *ret);
	ret->library = cq_launch_find_library();
	ret->named_library = library && *library ? cq_format("%s", library) : NULL;
	ret->wrapper = cq_format("%s", wrapper && *wrapper ? wrapper : BINDIR "/cpuquota-exec");
	ret->has_wrapper = access(ret->wrapper, X_OK) == 0;
	told = cq_launch_find_wrapper();
	ret->tells_wrapper = told != NULL;
	free(told);
	ret->has_no_new_privs = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
	ret->ptrace_scope = number_in("/proc/sys/kernel/yama/ptrace_scope", "");
	ret->seccomp_filters = number_in("/proc/self/status", "Seccomp_filters:");
	ret->below_trap = cq_probe_trap();
	ret->trap = cq_trial_trap(false, true);
	ret->trap_of_init = cq_trial_trap(true, true);
}

const char *cq_ways_trap_code(const struct cq_ways *ways, const struct cq_trial_trap *trial, char **ret_text)
{
	switch (trial->error) {
	case 0:
		break;
	case -ENOSYS:
	case -EINVAL:
	case -EOPNOTSUPP:
		*ret_text = cq_format("seccomp user notification is not available (needs Linux 5.9)");
		return "trap_not_available";
	case -EBUSY:
		*ret_text = cq_format("another seccomp filter has a listener already, and there can be one only");
		return "trap_busy";
	case -EAGAIN:
		*ret_text = cq_format("no process can be started (a limit of processes), and so no trap planted");
		return "no_process";
	case -EUSERS:
		*ret_text = cq_format("PID 1 does not reap orphans, and traps have left many there: no more");
		return "orphans_pile_up";
	default:
		if (trial->error == -EPERM && ways->ptrace_scope > 1)
			*ret_text = cq_format("no trap can be planted: %s (Yama, ptrace_scope=%d)", strerror(EPERM),
					      ways->ptrace_scope);
		else
			*ret_text = cq_format("no trap can be planted: %s%s", strerror(-trial->error),
					      ways->seccomp_filters > 0 ? " (there is a seccomp filter on this process)"
									: "");
		return "trap_forbidden";
	}
	if (!trial->reaches) {
		*ret_text =
			ways->ptrace_scope > 0
				? cq_format("a trap is planted but cannot answer: Yama, ptrace_scope=%d",
					    ways->ptrace_scope)
				: cq_format("a trap is planted but cannot answer: it may not write into the program");
		return "trap_unanswered";
	}
	if (!trial->reaches_children) {
		*ret_text =
			ways->ptrace_scope > 0
				? cq_format("what it starts in turn is not reached: Yama, ptrace_scope=%d; use --init",
					    ways->ptrace_scope)
				: cq_format("what it starts in turn is not reached");
		return "children_unanswered";
	}
	return NULL;
}

/* All that a verdict depends on. */
struct question {
	const struct cq_inspection *program;
	const struct cq_machine *machine;
	const struct cq_policy *policy;
	const struct cq_ways *ways;
	enum cq_mode mode;
	struct cq_trial_trap trial; /* of the trap that would be planted */
	struct cq_reach *ret;
};

static void __attribute__((format(printf, 3, 4))) say(struct cq_reach *reach, const char *code, const char *format, ...)
{
	va_list list;
	char *text = NULL;

	va_start(list, format);
	if (vasprintf(&text, format, list) < 0)
		text = NULL;
	va_end(list);
	if (reach->reason_count < CQ_MAX_REASONS)
		reach->reasons[reach->reason_count++] = (struct cq_reason){code, cq_must(text)};
}

static bool is_go(const struct question *question)
{
	return question->program->runs.is_known && question->program->runs.program.is_go;
}

static bool needs_trap(const struct question *question)
{
	return cq_target_needs_trap(&question->program->runs);
}

/* False, having said why, if nothing of the program will run. */
static bool can_run(const struct question *question)
{
	const struct cq_inspection *program = question->program;
	struct cq_reach *ret = question->ret;

	if (!program->is_found)
		say(ret, "not_found", "%s", strerror(-program->exec_error));
	else if (program->exec_error)
		say(ret, "cannot_execute", "%s cannot be executed: %s", program->env_program ? program->env_program : "it",
		    strerror(-program->exec_error));
	else if (question->mode != CQ_MODE_ENV && question->machine->error_count)
		say(ret, "policy_error", "the policy has an error: cpuquota-exec does not start (exit status %d)",
		    CQ_EXIT_FAILED);
	else if (question->mode == CQ_MODE_INIT && question->trial.error == -EAGAIN)
		say(ret, "no_process", "no process can be started: --init does not start it (exit status %d)",
		    CQ_EXIT_FAILED);
	else if (question->machine->error)
		say(ret, "no_cpus", "the CPUs of this process cannot be found out: %s",
		    strerror(-question->machine->error));
	else
		return true;
	return false;
}

/* Whether the program's loader takes the library, and if not, why; of a static program nothing is said here. */
static bool is_preloaded(const struct question *question)
{
	const struct cq_inspection *program = question->program;
	const struct cq_ways *ways = question->ways;
	struct cq_reach *ret = question->ret;

	if (program->linkage == CQ_KIND_STATIC || program->linkage == CQ_KIND_STATIC_PIE ||
	    program->linkage == CQ_KIND_OTHER)
		return false;
	if (program->runs.is_known && !cq_program_is_native(&program->runs.program)) {
		bool is_32bit = !program->runs.program.is_64bit;

		say(ret, is_32bit ? "wrong_class" : "other_machine", "the library is not for %s%s",
		    is_32bit ? "32-bit " : "", program->machine);
	} else if (program->is_secure) {
		say(ret, "secure_execution",
		    "it has more rights than who starts it: the loader ignores LD_PRELOAD (secure execution)");
	} else if (!ways->library) {
		say(ret, "no_library", "the library is not found: %s",
		    ways->named_library ? ways->named_library : LIBDIR "/libcpuquota.so");
	} else if (!cq_launch_can_name(ways->library)) {
		say(ret, "library_name", "LD_PRELOAD takes no path with a space or a colon: %s", ways->library);
	} else if (program->load.complaint ||
		   (program->load.is_tried && !program->load.missing_count && !program->load.takes_library)) {
		say(ret, "library_refused", "the loader does not take the library%s%s",
		    program->load.complaint ? ": " : "", program->load.complaint ? program->load.complaint : "");
	} else {
		return true;
	}
	return false;
}

/* False, having said why, if nothing hands over what has the library where it could be handed over. */
static bool can_be_handed_over(const struct question *question)
{
	const struct cq_ways *ways = question->ways;
	struct cq_reach *ret = question->ret;

	if (question->program->runs.gives_rights)
		say(ret, "gives_rights",
		    "it asks the kernel; programs that give rights are not handed over to cpuquota-exec");
	else if (question->mode == CQ_MODE_ENV ? !ways->has_wrapper : !ways->tells_wrapper)
		say(ret, "no_exec", "it asks the kernel, and cpuquota-exec is not there to take it over: %s",
		    ways->wrapper);
	else
		return true;
	return false;
}

/* Whether the library hands a program over that env(1) executes: any one, if env(1) has the library. */
static bool is_handed_over_by_env(const struct question *question)
{
	const struct cq_inspection *program = question->program;
	const struct cq_ways *ways = question->ways;

	if (program->target.is_known && cq_launch_can_preload(&program->target) && ways->library &&
	    cq_launch_can_name(ways->library))
		return can_be_handed_over(question);
	say(question->ret, "not_handed_over", "it asks the kernel, and %s, which executes it, does not have the library",
	    program->target.executable);
	return false;
}

/* Of a static program, which nothing hands over that is started directly: whether another way will do. */
static void say_static(const struct question *question)
{
	const struct cq_policy *policy = question->policy;
	const char *why = question->program->runs.gives_rights	? "programs that give rights are not handed over"
			  : policy->trap == CQ_TRAP_NEVER	? "the policy says trap = never"
			  : policy->affinity == CQ_AFFINITY_REAL ? "the policy says affinity = real"
			  : !question->ways->library		 ? "the library is not found"
			  : !question->ways->has_wrapper	 ? "cpuquota-exec is not there to take it over"
								 : NULL;

	say(question->ret, "static", "it has no loader to preload with; %s%s",
	    why ? "nor does a program that starts it hand it over: "
		: "the library hands it over to cpuquota-exec if a program starts it that has the library (a shell)",
	    why ? why : "");
}

/* Whether the library hands a program over that was started directly: one that Go built, and only where glibc gives the
 * library's constructor the program's arguments. */
static bool is_handed_over(const struct question *question)
{
	const struct cq_inspection *program = question->program;
	struct cq_reach *ret = question->ret;

	if (!needs_trap(question))
		return false;
	if (program->env_program)
		return is_handed_over_by_env(question);
	if (!ret->by_preload) {
		if (program->linkage == CQ_KIND_STATIC || program->linkage == CQ_KIND_STATIC_PIE)
			say_static(question);
		return false;
	}
	if (program->libc == CQ_LIBC_GLIBC && program->runs.program.has_go_note)
		return can_be_handed_over(question);
	say(ret, "not_handed_over", "it asks the kernel, and the library cannot hand it over to cpuquota-exec: %s",
	    program->libc != CQ_LIBC_GLIBC ? "not with this libc" : "it has no build id of Go");
	return false;
}

/* Whether cpuquota-exec plants a trap before it executes the program. */
static bool plants_trap(const struct question *question)
{
	return question->mode != CQ_MODE_ENV &&
	       (question->policy->trap == CQ_TRAP_ALWAYS || cq_target_needs_trap(&question->program->target));
}

static bool wants_trap(const struct question *question)
{
	const struct cq_policy *policy = question->policy;
	bool may_hand_over = question->mode == CQ_MODE_ENV || question->program->env_program;

	if (!plants_trap(question) && !(may_hand_over && is_handed_over(question)))
		return false;
	if (policy->trap == CQ_TRAP_NEVER)
		say(question->ret, "trap_never", "it asks the kernel, and the policy says trap = never");
	else if (policy->affinity == CQ_AFFINITY_REAL)
		say(question->ret, "affinity_real", "it asks the kernel, and the policy says affinity = real");
	else
		return true;
	return false;
}

/* Where no trap can be planted cpuquota-exec tells Go by a variable. */
static void do_without_trap(const struct question *question)
{
	if (!is_go(question) || getenv("GOMAXPROCS"))
		return;
	question->ret->by_gomaxprocs = true;
	say(question->ret, "gomaxprocs",
	    "GOMAXPROCS is set instead; runtime.NumCPU stays, and a changed limit is not followed");
}

static void find_trap(const struct question *question)
{
	/* One that a program is handed over to knows nothing of --init. */
	const struct cq_trial_trap *trial = plants_trap(question) ? &question->trial : &question->ways->trap;
	struct cq_reach *ret = question->ret;
	char *text = NULL;
	const char *code;

	if (!wants_trap(question))
		return;
	code = cq_ways_trap_code(question->ways, trial, &text);
	if (code)
		say(ret, code, "%s", text);
	free(text);
	ret->by_trap = !trial->error && trial->reaches;
	if (trial->error)
		do_without_trap(question);
}

static enum cq_known known(bool is)
{
	return is ? CQ_KNOWN_YES : CQ_KNOWN_NO;
}

/* Which ways of asking are answered. Behind a trap, libc's own functions are so far as libc makes them of
 * sched_getaffinity: musl does, glibc reads a file, and of another one nothing is known. */
static void find_channels(const struct question *question)
{
	const struct cq_policy *policy = question->policy;
	enum cq_libc libc = question->program->libc;
	struct cq_reach *ret = question->ret;

	ret->counts = known(ret->by_preload);
	ret->affinity = known(ret->by_trap || (ret->by_preload && policy->affinity == CQ_AFFINITY_SHOWN));
	ret->files = known(ret->by_preload && policy->files == CQ_FILES_SHOWN);
	if (ret->by_trap && !ret->by_preload && !is_go(question)) {
		ret->counts = libc == CQ_LIBC_MUSL ? CQ_KNOWN_YES : libc == CQ_LIBC_GLIBC ? CQ_KNOWN_NO : CQ_NOT_KNOWN;
		say(ret, "kernel_only", "only sched_getaffinity is answered%s, not the files of /proc and /sys",
		    ret->counts == CQ_KNOWN_NO    ? ", not glibc's sysconf and get_nprocs"
		    : ret->counts == CQ_NOT_KNOWN ? ", and what its libc makes of that"
						  : "");
	}
	if (question->program->is_env_unclear && (ret->by_preload || ret->by_trap)) {
		ret->counts = ret->affinity = ret->files = CQ_NOT_KNOWN;
		say(ret, "env_options", "what %s executes, with options or variables, is not looked at",
		    question->program->interpreters[question->program->interpreter_count - 1]);
	}
	if (question->program->linkage == CQ_KIND_UNREADABLE && ret->by_preload) {
		ret->counts = ret->affinity = ret->files = CQ_NOT_KNOWN;
		say(ret, "unreadable", "the file cannot be read: it is reached if it is dynamically linked");
	}
}

/* Go asks by sched_getaffinity alone, and may have other words for the number of its threads. */
static enum cq_reached find_reached_of_go(const struct question *question)
{
	const struct cq_inspection *program = question->program;
	const char *user = getenv("GOMAXPROCS");
	struct cq_reach *ret = question->ret;

	if (!ret->by_trap && !ret->by_gomaxprocs)
		return CQ_REACHED_NO;
	if (user && *user)
		say(ret, "gomaxprocs_set",
		    "GOMAXPROCS=%s is set, which Go takes for its threads; runtime.NumCPU is answered", user);
	else if (program->has_automaxprocs)
		say(ret, "automaxprocs",
		    "automaxprocs is linked in: it sets GOMAXPROCS by a rule of its own (the limit, rounded down)");
	else if (program->reads_limit && question->policy->runtime_quota == CQ_RUNTIME_QUOTA_KEEP)
		say(ret, "reads_limit",
		    "this Go also reads the limit (rounded up, at least 2), and takes the smaller number");
	return ret->by_gomaxprocs || (user && *user) || program->has_automaxprocs ? CQ_REACHED_PARTLY : CQ_REACHED_YES;
}

static enum cq_reached find_reached(const struct question *question)
{
	struct cq_reach *ret = question->ret;

	if (is_go(question))
		return find_reached_of_go(question);
	if (ret->counts == CQ_KNOWN_YES && ret->affinity == CQ_KNOWN_YES)
		return CQ_REACHED_YES;
	if (ret->counts == CQ_KNOWN_NO && ret->affinity == CQ_KNOWN_NO && ret->files == CQ_KNOWN_NO)
		return CQ_REACHED_NO;
	if (ret->by_preload && question->policy->affinity == CQ_AFFINITY_REAL)
		say(ret, "affinity_real", "affinity calls stay real, as the policy says affinity = real");
	return CQ_REACHED_PARTLY;
}

static void find_ways(const struct question *question)
{
	struct cq_reach *ret = question->ret;

	/* Go takes no notice of the library, but for being handed over by it. */
	if (!is_go(question) || question->mode == CQ_MODE_ENV)
		ret->by_preload = is_preloaded(question);
	if (!question->ways->below_trap)
		find_trap(question);
	if (is_go(question))
		ret->by_preload = false;
}

static void find(const struct question *question)
{
	const struct cq_inspection *program = question->program;
	struct cq_reach *ret = question->ret;

	if (!can_run(question))
		return;
	for (unsigned i = 0; i < program->load.missing_count; i++)
		say(ret, "missing_library", "its loader does not find %s, and ends it", program->load.missing[i]);
	if (program->load.missing_count)
		return;
	if (program->load.is_before_sanitizer) {
		say(ret, "sanitizer",
		    "AddressSanitizer ends it, as the library is loaded before its runtime: set "
		    "ASAN_OPTIONS=verify_asan_link_order=0");
		return;
	}
	if (question->policy->is_off)
		say(ret, "off", "CPUQUOTA=off turns everything off");
	else
		find_ways(question);
	if (question->ways->below_trap) {
		ret->by_trap = true;
		say(ret, "below_trap", "this process is below a trap already, which answers");
	}
	find_channels(question);
	ret->reached = find_reached(question);
	if (program->is_for_shell && question->mode == CQ_MODE_ENV)
		say(ret, "for_shell",
		    "the kernel does not execute it: it runs by way of a shell, but not as a container's entrypoint");
}

void cq_reach_find(const struct cq_inspection *program, const struct cq_machine *machine, const struct cq_ways *ways,
		   struct cq_reach ret[CQ_MODES])
{
	/* A program that gives rights is not to lose them by no_new_privs. */
	bool may_take_rights = !program->target.gives_rights;

	memset(ret, 0, CQ_MODES * sizeof *ret);
	for (enum cq_mode mode = 0; mode < CQ_MODES; mode++) {
		struct question question = {program, machine, &machine->policy, ways, mode, ways->trap, &ret[mode]};

		if (!may_take_rights)
			question.trial = cq_trial_trap(mode == CQ_MODE_INIT, false);
		else if (mode == CQ_MODE_INIT)
			question.trial = ways->trap_of_init;
		find(&question);
	}
}
