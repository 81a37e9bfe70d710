/* SPDX-License-Identifier: MIT */
/* What a program is, and how it asks for the number of CPUs: the part of --explain that is about PROGRAM. */
#ifndef CQ_INSPECT_H
#define CQ_INSPECT_H

#include "gobuild.h"
#include "target.h"
#include "trial.h"

enum cq_kind {
	CQ_KIND_NONE,       /* not found */
	CQ_KIND_UNREADABLE, /* may be executed, but not read */
	CQ_KIND_DIRECTORY,
	CQ_KIND_SPECIAL,    /* a device, a pipe, a socket */
	CQ_KIND_EMPTY,
	CQ_KIND_TEXT,       /* without a first line that names an interpreter */
	CQ_KIND_SCRIPT,
	CQ_KIND_STATIC,
	CQ_KIND_STATIC_PIE,
	CQ_KIND_DYNAMIC,
	CQ_KIND_OTHER,      /* neither text nor a program for this machine's byte order */
};

enum cq_libc { CQ_LIBC_NONE, CQ_LIBC_GLIBC, CQ_LIBC_MUSL, CQ_LIBC_OTHER };

/* How a runtime that is known by its name asks. */
struct cq_runtime {
	const char *pattern; /* of the name of its executable, as in a policy */
	const char *name;
	const char *asks;
};

struct cq_inspection {
	const char *name;         /* as it was given */
	struct cq_target target;
	struct cq_target runs;    /* what runs in the end: TARGET; of a script of env(1), what that executes; of a text, a shell */
	bool is_found;
	enum cq_kind kind;        /* of the file itself */
	enum cq_kind linkage;     /* of the executable that runs in the end: KIND, or that of a script's interpreter */
	char *interpreters[CQ_PROGRAM_MAX_INTERPRETERS]; /* of a script, the last one being what is executed */
	unsigned interpreter_count;
	char *env_program;        /* what a script's `env NAME` executes then, or NAME if that is not found; NULL: none */
	bool is_env_unclear;      /* it has options, or sets variables, that change what is executed, or how */
	/* Of the executable that runs in the end, if it is a program. */
	char *machine;
	char *loader;
	enum cq_libc libc;
	bool is_setuid, is_setgid, has_capabilities;
	bool is_secure;           /* started here it would have more rights than who starts it; ld.so(8) */
	bool has_build;           /* of Go */
	struct cq_go_build build;
	bool has_automaxprocs, reads_limit;
	const struct cq_runtime *runtime; /* NULL: not known */
	/* How it went when it was tried. */
	int exec_error;           /* 0, or -Exxx: it cannot be executed or, where there is ENV_PROGRAM, that one cannot */
	bool is_for_shell;        /* the kernel does not execute it, and execvp(3) gives it to /bin/sh */
	struct cq_trial_load load;
};

/* Finds out about NAME, and what its loader says of LIBRARY (NULL: there is none). */
void cq_inspect(const char *name, const char *library, struct cq_inspection *ret);

/* The file that runs in the end, which the policy goes by, or NULL. */
const char *cq_inspect_executable(const struct cq_inspection *inspection);

/* The exit status that cpuquota-exec has if the program cannot be executed, else 0. */
int cq_inspect_status(const struct cq_inspection *inspection);

#endif
