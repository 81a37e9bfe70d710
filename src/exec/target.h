/* SPDX-License-Identifier: MIT */
/* The program that is to be started: where it is, and by which way it can be shown the CPUs. */
#ifndef CQ_TARGET_H
#define CQ_TARGET_H

#include "program.h"

#include <limits.h>

struct cq_target {
	char path[PATH_MAX];       /* what will be executed */
	char executable[PATH_MAX]; /* the ELF file that will run: PATH itself or, of a script, the interpreter */
	bool is_known;             /* PROGRAM is filled */
	bool gives_rights;         /* setuid, setgid, or with file capabilities */
	struct cq_program program;
};

/* Finds NAME as execvp(3) does, and looks at the file. Returns 0, or -ENOENT where there is no such file; a file that is
 * not understood is not known, and left to execvp. */
int cq_target_find(const char *name, struct cq_target *ret);

/* As cq_target_find(), of the file that PATH names. */
int cq_target_look_at(const char *path, struct cq_target *ret);

/* cq_program_needs_trap() of a program that is known. */
bool cq_target_needs_trap(const struct cq_target *target);

#endif
