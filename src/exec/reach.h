/* SPDX-License-Identifier: MIT */
/* Whether a program is reached, here and now, in each of the ways that it can be started; for --explain. */
#ifndef CQ_REACH_H
#define CQ_REACH_H

#include "inspect.h"
#include "machine.h"

/* What there is to reach programs with. */
struct cq_ways {
	char *library;       /* NULL: not found */
	char *named_library; /* CPUQUOTA_LIBRARY; NULL: not set */
	char *wrapper;       /* what the library hands programs over to */
	bool has_wrapper;
	bool tells_wrapper;  /* what this cpuquota-exec starts is told of one that is there */
	bool has_no_new_privs;
	int ptrace_scope;    /* of Yama; -1: there is no Yama, or it cannot be read */
	int seccomp_filters; /* on this process; -1: not known (before Linux 5.9) */
	int below_trap;      /* cq_probe_trap() */
	struct cq_trial_trap trap, trap_of_init; /* for a program that gives no rights */
};

enum cq_mode { CQ_MODE_ENV, CQ_MODE_EXEC, CQ_MODE_INIT, CQ_MODES };

enum cq_reached { CQ_REACHED_NO, CQ_REACHED_PARTLY, CQ_REACHED_YES };

enum cq_known { CQ_KNOWN_NO, CQ_KNOWN_YES, CQ_NOT_KNOWN };

struct cq_reason {
	const char *code; /* for programs; cpuquota-exec(1) has all of them */
	char *text;
};

#define CQ_MAX_REASONS 8

struct cq_reach {
	enum cq_reached reached;
	bool by_preload, by_trap, by_gomaxprocs;
	enum cq_known counts;   /* sysconf and relatives are answered */
	enum cq_known affinity; /* sched_getaffinity */
	enum cq_known files;    /* /proc/cpuinfo and the others */
	struct cq_reason reasons[CQ_MAX_REASONS];
	unsigned reason_count;
};

/* Finds what there is, and tries a trap, as for a program that gives no rights. */
void cq_ways_find(struct cq_ways *ret);

/* Why a trap is not planted, or not answered, for -Exxx and the other findings of TRIAL; NULL: it is. */
const char *cq_ways_trap_code(const struct cq_ways *ways, const struct cq_trial_trap *trial, char **ret_text);

/* The verdict for each mode. */
void cq_reach_find(const struct cq_inspection *program, const struct cq_machine *machine, const struct cq_ways *ways,
		   struct cq_reach ret[CQ_MODES]);

/* "ENV LD_PRELOAD" and the like; for programs: "env", "exec", "init". */
const char *cq_mode_title(enum cq_mode mode);
const char *cq_mode_name(enum cq_mode mode);

#endif
