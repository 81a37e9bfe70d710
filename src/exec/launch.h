/* SPDX-License-Identifier: MIT */
/* Starting the program in place of cpuquota-exec. */
#ifndef CQ_LAUNCH_H
#define CQ_LAUNCH_H

#include "policy.h"
#include "report.h"
#include "target.h"

/* Exit statuses of cpuquota-exec itself, as those of env(1) and timeout(1). */
#define CQ_EXIT_FAILED 125
#define CQ_EXIT_CANNOT_EXECUTE 126
#define CQ_EXIT_NOT_FOUND 127

/* Puts LIBRARY behind what LD_PRELOAD has in LIST (NULL: unset), unless a library of that file name is there already.
 * Empty fields are left out, all others stay as they are. Returns a new string; NULL without memory. */
char *cq_launch_edit_preload(const char *list, const char *library);

/* Where libcpuquota.so is: CPUQUOTA_LIBRARY, else where it was installed, else beside cpuquota-exec or in
 * ../lib from there. Returns a new string, or NULL if it is in none of these places. */
char *cq_launch_find_library(void);

/* What the library of a program that this cpuquota-exec starts hands programs over to: CPUQUOTA_EXEC, else the one that was
 * installed, else this one. Returns a new string, or NULL if none of these is there. */
char *cq_launch_find_wrapper(void);

/* True if TARGET is to run below a trap, as POLICY has it. */
bool cq_launch_wants_trap(const struct cq_target *target, const struct cq_policy *policy);

/* True if the program's loader can load the library; a program that is not known is treated as if it could. */
bool cq_launch_can_preload(const struct cq_target *target);

/* True if LD_PRELOAD can name LIBRARY: it takes no path with a space or a colon. */
bool cq_launch_can_name(const char *library);

/* What is to be executed. */
struct cq_command {
	char *const *arguments;
	const char *path; /* the file; NULL: ARGUMENTS[0], found as execvp(3) does */
	int fd;           /* the file, if it is not -1 */
	bool is_handed_over; /* by the preload library, in whose process nothing is to be said */
	bool has_parent;     /* cpuquota-exec stays, as the program's parent; as it does for a report */
	enum cq_report report;
};

/*
 * Executes COMMAND with the library preloaded and, where POLICY's `trap` says so and the
 * program needs it, below a trap; in place, or as a child, whose exit status it then returns. Whatever of this cannot be
 * had, the program runs. Returns an exit status if it cannot be executed, having said why.
 */
int cq_launch(const struct cq_command *command, const struct cq_target *target, const struct cq_policy *policy);

#endif
