/* SPDX-License-Identifier: MIT */
/* cpuquota-exec: runs a program so that it sees the CPUs that the policy shows. */
#include "capture.h"
#include "explain.h"
#include "launch.h"
#include "policy.h"
#include "settings.h"
#include "target.h"
#include "trap.h"
#include "view.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
	"Usage: cpuquota-exec [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
	"  or:  cpuquota-exec --explain [PROGRAM] | --check-policy [FILE]\n"
	"  or:  cpuquota-exec --count | --capture=DIR\n"
	"Run PROGRAM so that it sees the CPUs that its cgroup's CPU limit pays for.\n"
	"  -p, --policy=FILE    take the policy from FILE, not from\n"
	"                       " CQ_POLICY_DEFAULT_FILE "\n"
	"  -s, --set=KEY=VALUE  set a key of the policy (round=floor); may be repeated\n"
	"      --trap=WHEN      answer for programs that ask the kernel (Go, static):\n"
	"                       auto (only where PROGRAM needs it), always, never\n"
	"      --init           stay as PROGRAM's parent: pass on signals, reap orphans\n"
	"  -r, --report         stay, and say at the end how PROGRAM used its CPUs, how\n"
	"                       it was throttled, and which policy would suit better\n"
	"      --explain        say how the number comes about, and whether\n"
	"                       PROGRAM is reached\n"
	"      --json           with --explain or --report: as JSON\n"
	"      --count          print the number of CPUs that would be shown\n"
	"      --check-policy   say what is wrong with the policy, or with FILE\n"
	"      --capture=DIR    write what the number is made from to DIR\n"
	"      --sysroot=DIR    with --count or --explain: read such a DIR\n"
	"  -h, --help           print this help\n"
	"  -V, --version        print the version\n"
	"CPUQUOTA=KEY=VALUE,... overrides the policy, CPUQUOTA=off turns all off; see\n"
	"cpuquota.conf(5). Exit status: PROGRAM's own, or 125 if cpuquota-exec fails,\n"
	"126 if PROGRAM cannot be executed, 127 if it cannot be found.\n";

enum action { RUN, COUNT, CHECK_POLICY, EXPLAIN, CAPTURE };

static const char *const action_names[] = {"", "--count", "--check-policy", "--explain", "--capture"};

struct options {
	enum action action;
	const char *sysroot;
	const char *capture;
	bool has_policy;
	bool is_init;
	bool has_report;
	bool has_json;
};

enum {
	OPTION_TRAP = 256,
	OPTION_INIT,
	OPTION_COUNT,
	OPTION_CHECK_POLICY,
	OPTION_EXPLAIN,
	OPTION_JSON,
	OPTION_CAPTURE,
	OPTION_SYSROOT,
};

static const struct option long_options[] = {
	{"policy", required_argument, NULL, 'p'},
	{"set", required_argument, NULL, 's'},
	{"trap", required_argument, NULL, OPTION_TRAP},
	{"init", no_argument, NULL, OPTION_INIT},
	{"report", no_argument, NULL, 'r'},
	{"count", no_argument, NULL, OPTION_COUNT},
	{"check-policy", no_argument, NULL, OPTION_CHECK_POLICY},
	{"explain", no_argument, NULL, OPTION_EXPLAIN},
	{"json", no_argument, NULL, OPTION_JSON},
	{"capture", required_argument, NULL, OPTION_CAPTURE},
	{"sysroot", required_argument, NULL, OPTION_SYSROOT},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
	{NULL, 0, NULL, 0},
};

static void complain(const char *message)
{
	fprintf(stderr, "cpuquota-exec: %s\n", message);
}

static _Noreturn void die(const char *what, const char *why)
{
	fprintf(stderr, "cpuquota-exec: %s: %s\n", what, why);
	exit(CQ_EXIT_FAILED);
}

static _Noreturn void die_usage(const char *what)
{
	fprintf(stderr, "cpuquota-exec: %s\nTry 'cpuquota-exec --help'.\n", what);
	exit(CQ_EXIT_FAILED);
}

static void set_variable(const char *name, const char *value)
{
	if (setenv(name, value, 1) != 0)
		die(name, strerror(errno));
}

/* The policy goes to the program, and to those it starts elsewhere in the tree, by name: the name must be absolute. */
static void name_policy(const char *file)
{
	char directory[PATH_MAX], *path;

	if (*file == '/') {
		set_variable("CPUQUOTA_POLICY", file);
		return;
	}
	if (!*file)
		die("--policy", "expected the name of a file");
	if (!getcwd(directory, sizeof directory))
		die(file, strerror(errno));
	if (asprintf(&path, "%s/%s", directory, file) < 0)
		die(file, strerror(ENOMEM));
	set_variable("CPUQUOTA_POLICY", path);
	free(path);
}

static int check_policy(const char *file)
{
	bool is_standard_input = file && strcmp(file, "-") == 0;

	if (cq_settings_check(is_standard_input ? "/dev/stdin" : file, complain))
		return CQ_EXIT_FAILED;
	if (!file)
		file = getenv("CPUQUOTA_POLICY");
	if (is_standard_input)
		puts("standard input: no errors");
	else if (file && *file)
		printf("%s: no errors\n", file);
	else if (access(CQ_POLICY_DEFAULT_FILE, F_OK) == 0)
		printf(CQ_POLICY_DEFAULT_FILE ": no errors\n");
	else
		printf(CQ_POLICY_DEFAULT_FILE ": not there; the built-in policy holds\n");
	return 0;
}

static int print_count(const char *root)
{
	static struct cq_view view;
	struct cq_cpumask real;
	int r;

	if (cq_settings_load(&view.policy, root, NULL, complain))
		return CQ_EXIT_FAILED;
	r = cq_view_init(&view, root, cq_settings_now);
	if (r < 0 && strcmp(root, "/") != 0) {
		fprintf(stderr, "cpuquota-exec: --sysroot: %s has no list of CPUs (sys/devices/system/cpu/online): %s\n", root,
			strerror(-r));
		return CQ_EXIT_FAILED;
	}
	if (r < 0)
		die("the CPUs of this process cannot be found out", strerror(-r));
	if (view.policy.is_off)
		printf("%u\n", cq_cpumask_count(view.given.words, CQ_MASK_WORDS));
	else
		printf("%u\n", cq_view_look(&view, &real).count);
	return 0;
}

/* Options override what the variable has already, so they come behind it. */
static void add_override(const char *assignment)
{
	if (cq_settings_override(assignment) != 0)
		die("CPUQUOTA", strerror(errno));
}

static void add_override_of(const char *key, const char *value)
{
	char *assignment;

	if (asprintf(&assignment, "%s=%s", key, value) < 0)
		die(key, strerror(ENOMEM));
	add_override(assignment);
	free(assignment);
}

/* Output that cannot be written (a full disk, a closed descriptor) is a failure. */
static int finish(int status)
{
	if (fflush(stdout) != 0 || ferror(stdout))
		die("standard output", strerror(errno));
	return status;
}

/* What is to be done can be said once. */
static void choose(struct options *options, enum action action)
{
	if (options->action != RUN && options->action != action) {
		fprintf(stderr, "cpuquota-exec: %s and %s exclude each other\nTry 'cpuquota-exec --help'.\n",
			action_names[options->action], action_names[action]);
		exit(CQ_EXIT_FAILED);
	}
	options->action = action;
}

static const char *directory_of(const char *option, const char *argument)
{
	if (!*argument)
		die(option, "expected the name of a directory");
	return argument;
}

static void parse_options(int argc, char **argv, struct options *ret)
{
	int option;

	argv[0] = (char *)"cpuquota-exec"; /* which messages of getopt(3) begin with */
	/* "+": what follows PROGRAM is PROGRAM's. */
	while ((option = getopt_long(argc, argv, "+p:s:rhV", long_options, NULL)) != -1) {
		switch (option) {
		case 'p':
			ret->has_policy = true;
			name_policy(optarg);
			break;
		case 's':
			add_override(optarg);
			break;
		case OPTION_TRAP:
			add_override_of("trap", optarg);
			break;
		case OPTION_INIT:
			ret->is_init = true;
			break;
		case 'r':
			ret->has_report = true;
			break;
		case OPTION_JSON:
			ret->has_json = true;
			break;
		case OPTION_COUNT:
			choose(ret, COUNT);
			break;
		case OPTION_CHECK_POLICY:
			choose(ret, CHECK_POLICY);
			break;
		case OPTION_EXPLAIN:
			choose(ret, EXPLAIN);
			break;
		case OPTION_CAPTURE:
			choose(ret, CAPTURE);
			ret->capture = directory_of("--capture", optarg);
			break;
		case OPTION_SYSROOT:
			ret->sysroot = directory_of("--sysroot", optarg);
			break;
		case 'h':
			fputs(usage, stdout);
			exit(finish(0));
		case 'V':
			puts("cpuquota-exec " PACKAGE_VERSION);
			exit(finish(0));
		default:
			fputs("Try 'cpuquota-exec --help'.\n", stderr);
			exit(CQ_EXIT_FAILED);
		}
	}
}

/* Puts a descriptor that the first exec may have closed back in its place. NUMBERS: "NUMBER:COPY". */
static int restore_descriptor(const char *numbers)
{
	int number, copy;

	if (sscanf(numbers, "%d:%d", &number, &copy) != 2)
		return -1;
	if (fcntl(number, F_GETFD) < 0)
		dup3(copy, number, O_CLOEXEC);
	close(copy);
	return number;
}

/*
 * "cpuquota-exec --hand-over PATH ARGUMENT..." and "--hand-over-fd NUMBER:COPY ARGUMENT...", by which the preload library
 * has a program executed that needs a trap (src/preload/exec.c). Whatever is wrong, the program runs; the library has told
 * of a bad policy already.
 */
static int hand_over(bool is_descriptor, const char *file, char *const *arguments)
{
	static struct cq_target target;
	struct cq_command command = {.arguments = arguments, .fd = -1, .is_handed_over = true};
	struct cq_policy policy;
	char name[32];

	if (is_descriptor) {
		command.fd = restore_descriptor(file);
		snprintf(name, sizeof name, "/proc/self/fd/%d", command.fd);
		cq_target_look_at(name, &target);
	} else {
		command.path = file;
		cq_target_look_at(file, &target);
	}
	cq_settings_load(&policy, "/", target.is_known ? target.executable : NULL, NULL);
	return cq_launch(&command, &target, &policy);
}

/* ARGUMENTS: how many there are behind the options. */
static void check_combination(const struct options *options, int arguments)
{
	if (options->sysroot && options->action != COUNT && options->action != EXPLAIN)
		die_usage("--sysroot goes with --count and --explain");
	if (options->sysroot && options->action == EXPLAIN && arguments)
		die_usage("--explain takes no program with --sysroot: it can only be looked at on its own machine");
	if (options->has_json && options->action != EXPLAIN && !options->has_report)
		die_usage("--json goes with --explain and --report");
	if (options->is_init && options->action != RUN)
		die_usage("--init goes with a program");
	if (options->has_report && options->action != RUN)
		die_usage("--report goes with a program");
	if (options->action == COUNT && arguments)
		die_usage("--count takes no program");
	if (options->action == CAPTURE && arguments)
		die_usage("--capture takes no program");
	if (options->action == CHECK_POLICY && arguments > 1)
		die_usage("--check-policy takes one file");
	if (options->action == CHECK_POLICY && arguments && options->has_policy)
		die_usage("--policy goes with --check-policy without a file");
}

/* What stands behind PROGRAM are its arguments, of which nothing depends. */
static int explain(const struct options *options, const char *program)
{
	return cq_explain(options->sysroot ? options->sysroot : "/", program, options->has_json, complain);
}

int main(int argc, char **argv)
{
	struct options options = {.action = RUN};
	static struct cq_target target;
	struct cq_policy policy;
	struct cq_command command = {.fd = -1};

	if (!argc)
		die_usage("no program given");
	cq_trap_note_arguments(argc, argv);
	if (argc > 2 && strcmp(argv[1], "--hand-over") == 0)
		return hand_over(false, argv[2], argv + 3);
	if (argc > 2 && strcmp(argv[1], "--hand-over-fd") == 0)
		return hand_over(true, argv[2], argv + 3);
	parse_options(argc, argv, &options);
	argc -= optind;
	argv += optind;
	check_combination(&options, argc);
	switch (options.action) {
	case COUNT:
		return finish(print_count(options.sysroot ? options.sysroot : "/"));
	case CHECK_POLICY:
		return finish(check_policy(argv[0]));
	case EXPLAIN:
		return finish(explain(&options, argv[0]));
	case CAPTURE:
		return finish(cq_capture(options.capture));
	case RUN:
		break;
	}
	if (!argc)
		die_usage("no program given");
	cq_target_find(argv[0], &target);
	if (cq_settings_check_file(complain) ||
	    cq_settings_load(&policy, "/", target.is_known ? target.executable : NULL, complain))
		return CQ_EXIT_FAILED;
	command.arguments = argv;
	command.has_parent = options.is_init || options.has_report;
	if (options.has_report)
		command.report = options.has_json ? CQ_REPORT_JSON : CQ_REPORT_TEXT;
	return cq_launch(&command, &target, &policy);
}
