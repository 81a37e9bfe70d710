/* SPDX-License-Identifier: MIT */
/*
 * What can be tried out is not guessed: whether the kernel executes a file, whether its loader takes the library, whether
 * a trap can be planted here and is answered. Each trial is made by a process of its own, and leaves nothing behind; none
 * of them runs an instruction of the program.
 */
#ifndef CQ_TRIAL_H
#define CQ_TRIAL_H

#include <stdbool.h>

/* Has the kernel execute PATH, traced, and ends it where its first instruction would be. Returns 0, or -Exxx as
 * execve(2); *RET_TRIED is false, and 0 returned, where nothing may be traced. */
int cq_trial_execute(const char *path, bool *ret_tried);

struct cq_trial_load {
	bool is_tried;
	bool takes_library;
	bool is_before_sanitizer; /* the library comes before AddressSanitizer's runtime, which ends the program for that */
	char *complaint; /* of the loader about the library; NULL: none */
	char **missing;  /* libraries, or versions of them, that are not found: the loader ends the program */
	unsigned missing_count;
};

/* Asks LOADER, as ldd(1) does, what it would load for PROGRAM with LIBRARY (NULL: none) preloaded. It is asked only if its
 * name is that of a loader, and if it belongs to root or to who asks. */
void cq_trial_load(const char *loader, const char *program, const char *library, struct cq_trial_load *ret);

struct cq_trial_trap {
	int error;             /* 0; -Exxx: a trap cannot be planted, or no process started for the trial */
	bool reaches;          /* the process that it is planted on is answered */
	bool reaches_children; /* so are those that this process starts */
};

/* Plants a trap as cq_launch() does, with IS_INIT as for --init, and asks below it. */
struct cq_trial_trap cq_trial_trap(bool is_init, bool may_take_rights);

#endif
