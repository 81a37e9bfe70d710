/* SPDX-License-Identifier: MIT */
#include "launch.h"

#include "init.h"
#include "measure.h"
#include "probe.h"
#include "settings.h"
#include "trap.h"
#include "view.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LIBRARY_NAME "libcpuquota.so"

/* What separates the fields of LD_PRELOAD; ld.so(8). */
static const char separators[] = ": ";

struct launch {
	const struct cq_command *command;
	const struct cq_target *target;
	struct cq_view *view; /* what a trap would answer from */
};

/* The part of a path behind its last slash, up to LENGTH. */
static const char *base_name(const char *path, size_t length)
{
	const char *slash = memrchr(path, '/', length);

	return slash ? slash + 1 : path;
}

static int is_same_library(const char *field, size_t length, const char *library)
{
	const char *name = base_name(field, length);
	const char *wanted = base_name(library, strlen(library));
	size_t name_length = (size_t)(field + length - name);

	return name_length == strlen(wanted) && memcmp(name, wanted, name_length) == 0;
}

char *cq_launch_edit_preload(const char *list, const char *library)
{
	const char *field = list ? list : "";
	int is_there = 0;
	char *edited = malloc(strlen(field) + strlen(library) + 2), *end = edited;

	if (!edited)
		return NULL;
	for (;;) {
		size_t length;

		field += strspn(field, separators);
		length = strcspn(field, separators);
		if (!length)
			break;
		is_there |= is_same_library(field, length, library);
		if (end != edited)
			*end++ = ':';
		end = mempcpy(end, field, length);
		field += length;
	}
	*end = '\0';
	if (!is_there) {
		if (end != edited)
			*end++ = ':';
		strcpy(end, library);
	}
	return edited;
}

/* Where cpuquota-exec itself is, in RET. Returns the length, or 0. */
static size_t find_itself(char *ret, size_t size)
{
	ssize_t length = readlink("/proc/self/exe", ret, size - 1);

	if (length <= 0)
		return 0;
	ret[length] = '\0';
	return (size_t)length;
}

/* The library beside cpuquota-exec itself, or in the lib that is beside its directory, as in a tarball that was unpacked
 * anywhere. */
static char *find_beside(void)
{
	static const char *const places[] = {LIBRARY_NAME, "../lib/" LIBRARY_NAME};
	char path[4096 + sizeof "../lib/" LIBRARY_NAME], *found;
	size_t length = find_itself(path, 4096);
	char *name = path + (base_name(path, length) - path);

	for (size_t i = 0; length && i < CQ_ARRAY_SIZE(places); i++) {
		strcpy(name, places[i]);
		found = access(path, R_OK) == 0 ? realpath(path, NULL) : NULL;
		if (found)
			return found;
	}
	return NULL;
}

char *cq_launch_find_library(void)
{
	const char *named = getenv("CPUQUOTA_LIBRARY");

	if (named && *named)
		return access(named, R_OK) == 0 ? strdup(named) : NULL;
	if (access(LIBDIR "/" LIBRARY_NAME, R_OK) == 0)
		return strdup(LIBDIR "/" LIBRARY_NAME);
	return find_beside();
}

char *cq_launch_find_wrapper(void)
{
	const char *named = getenv("CPUQUOTA_EXEC");
	char path[4096];

	if (named && *named)
		return access(named, X_OK) == 0 ? strdup(named) : NULL;
	if (access(BINDIR "/cpuquota-exec", X_OK) == 0)
		return strdup(BINDIR "/cpuquota-exec");
	return find_itself(path, sizeof path) && access(path, X_OK) == 0 ? strdup(path) : NULL;
}

bool cq_launch_can_name(const char *library)
{
	return !strpbrk(library, separators);
}

/* Says why a program sees the real CPUs, where somebody wants to know. */
static void explain(const char *program, const char *what, int error)
{
	if (getenv("CPUQUOTA_DEBUG"))
		fprintf(stderr, "cpuquota-exec: %s: %s: %s\n", program, what, strerror(-error));
}

/* The library hands programs over to the cpuquota-exec that was installed, unless it is told of another one. */
static void name_wrapper(void)
{
	char *wrapper = cq_launch_find_wrapper();

	if (wrapper && strcmp(wrapper, BINDIR "/cpuquota-exec") != 0)
		setenv("CPUQUOTA_EXEC", wrapper, 1);
	free(wrapper);
}

/* Without the library the program runs all the same: it sees the real CPUs. Nothing is said of that if the program could
 * not load it, but only what it may start. */
static void preload(const char *program, bool can_load)
{
	char *library = cq_launch_find_library();
	char *list;

	if (!library) {
		const char *named = getenv("CPUQUOTA_LIBRARY");
		bool is_named = named && *named;

		if (can_load)
			fprintf(stderr, "cpuquota-exec: %s%s: not found%s: %s sees the real CPUs\n",
				is_named ? "CPUQUOTA_LIBRARY=" : "", is_named ? named : LIBDIR "/" LIBRARY_NAME,
				is_named ? "" : ", nor beside cpuquota-exec", program);
		return;
	}
	if (!cq_launch_can_name(library)) {
		fprintf(stderr, "cpuquota-exec: %s: LD_PRELOAD takes no path with a space or a colon: %s sees the real CPUs\n",
			library, program);
		free(library);
		return;
	}
	list = cq_launch_edit_preload(getenv("LD_PRELOAD"), library);
	if (!list || setenv("LD_PRELOAD", list, 1) != 0)
		fprintf(stderr, "cpuquota-exec: LD_PRELOAD: %s\n", strerror(errno));
	name_wrapper();
	free(list);
	free(library);
}

/* Go takes this instead of the number of CPUs that it finds; as the user's word, and for good. */
static void set_gomaxprocs(struct cq_view *view)
{
	char count[16];

	snprintf(count, sizeof count, "%u", cq_view_answer(view).count);
	setenv("GOMAXPROCS", count, 0);
}

/* What is left where there can be no trap. */
static void do_without_trap(void *argument, int error)
{
	struct launch *launch = argument;

	explain(launch->target->path,
		error == -EUSERS ? "no trap: PID 1 does not reap, and has this for zombies" : "no trap can be planted", error);
	/* Nor can there be later: whoever hands programs over need not try. */
	cq_settings_override("trap=never");
	if (launch->target->is_known && launch->target->program.is_go)
		set_gomaxprocs(launch->view);
}

/* Go 1.25 and later read the cgroup themselves; this key of theirs leaves them the affinity mask alone. */
static void hide_quota_from_go(void)
{
	static const char key[] = "containermaxprocs=";
	const char *before = getenv("GODEBUG");
	char *joined;

	if (!before || !*before) {
		setenv("GODEBUG", "containermaxprocs=0", 1);
	} else if (strncmp(before, key, sizeof key - 1) != 0 && !strstr(before, ",containermaxprocs=") &&
		   asprintf(&joined, "%s,containermaxprocs=0", before) > 0) {
		setenv("GODEBUG", joined, 1);
		free(joined);
	}
}

bool cq_launch_wants_trap(const struct cq_target *target, const struct cq_policy *policy)
{
	if (policy->affinity == CQ_AFFINITY_REAL || policy->trap == CQ_TRAP_NEVER)
		return false;
	return policy->trap == CQ_TRAP_ALWAYS || cq_target_needs_trap(target);
}

bool cq_launch_can_preload(const struct cq_target *target)
{
	return !target->is_known || (target->program.has_interpreter && cq_program_is_native(&target->program));
}

static int execute(void *argument)
{
	const struct launch *launch = argument;
	const struct cq_command *command = launch->command;
	const char *name = command->path ? command->path : command->arguments[0];
	int error;

	if (command->fd >= 0)
		syscall(SYS_execveat, command->fd, "", command->arguments, environ, AT_EMPTY_PATH);
	else if (command->path)
		execve(command->path, command->arguments, environ);
	else
		execvp(name, command->arguments);
	error = errno; /* which a closed standard error changes */
	fprintf(stderr, "cpuquota-exec: %s: %s\n", name ? name : "?", strerror(error));
	return error == ENOENT ? CQ_EXIT_NOT_FOUND : CQ_EXIT_CANNOT_EXECUTE;
}

/* Makes the view that the trap answers from. False if there is to be no trap, or one is there already. */
static bool prepare_trap(struct launch *launch, const struct cq_policy *policy)
{
	static struct cq_view view;
	int r;

	if (policy->is_off || !cq_launch_wants_trap(launch->target, policy) || cq_probe_trap())
		return false;
	view.policy = *policy;
	r = cq_view_init(&view, "/", cq_settings_now);
	if (r < 0)
		explain(launch->target->path, "the CPUs of this process cannot be found out", r);
	launch->view = &view;
	return r == 0;
}

/* Makes this process one that can be stopped and ended while it waits for whoever reads its report, but not by signals that
 * came for the program. A reader that has gone is no reason to end by a signal either. */
static void take_signals_again(const sigset_t *mask)
{
	static const struct timespec at_once;
	sigset_t all;

	signal(SIGPIPE, SIG_IGN);
	sigfillset(&all);
	while (sigtimedwait(&all, NULL, &at_once) > 0)
		continue;
	sigprocmask(SIG_SETMASK, mask, NULL);
}

/* Stays as the parent. A standard error that is closed is so to the end: other descriptors may take its number. */
static int run_child(struct launch *launch, const struct cq_policy *policy, bool has_trap)
{
	static struct cq_measure measure = {.timer = -1};
	enum cq_report report = fcntl(STDERR_FILENO, F_GETFD) < 0 ? CQ_REPORT_NONE : launch->command->report;
	struct cq_init_program program = {
		.start = execute,
		.no_trap = do_without_trap,
		.argument = launch,
		.may_take_rights = !launch->target->gives_rights,
		.look = cq_measure_look,
		.looker = &measure,
	};
	sigset_t mask;
	int r;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	if (report)
		cq_measure_begin(&measure, policy);
	program.timer = measure.timer;
	r = cq_init_run(has_trap ? launch->view : NULL, &program);
	if (r < 0) {
		fprintf(stderr, "cpuquota-exec: no child can be started: %s\n", strerror(-r));
		return CQ_EXIT_FAILED;
	}
	if (report) {
		cq_measure_end(&measure);
		take_signals_again(&mask);
		cq_report_write(report, launch->command->arguments[0], r, &measure.figures);
	}
	return r;
}

int cq_launch(const struct cq_command *command, const struct cq_target *target, const struct cq_policy *policy)
{
	struct launch launch = {.command = command, .target = target};
	bool has_trap = prepare_trap(&launch, policy);
	int r;

	if (!policy->is_off) {
		if (!command->is_handed_over) /* else whoever has done that has the library */
			preload(target->path, cq_launch_can_preload(target));
		if (policy->runtime_quota == CQ_RUNTIME_QUOTA_HIDE)
			hide_quota_from_go();
	}
	if (command->has_parent)
		return run_child(&launch, policy, has_trap);
	r = has_trap ? cq_trap_plant(launch.view, !target->gives_rights) : 0;
	if (r < 0)
		do_without_trap(&launch, r);
	return execute(&launch);
}
