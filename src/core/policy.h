/* SPDX-License-Identifier: MIT */
/* The rules that turn a limit into a count: policy files, cpuquota.conf(5), and the variables that override them. */
#ifndef CQ_POLICY_H
#define CQ_POLICY_H

#include "base.h"
#include "limit.h"

/* The largest number that min, max and count take: far above any machine, so that it can stand for "no bound". */
#define CQ_POLICY_MAX_COUNT 1000000
#define CQ_POLICY_MAX_REFRESH 86400

/* The policy that holds where no other is named. */
#define CQ_POLICY_DEFAULT_FILE SYSCONFDIR "/cpuquota.conf"

/* A policy file may not be larger, in bytes. */
#define CQ_POLICY_FILE_BUDGET 65536

enum cq_round { CQ_ROUND_CEIL, CQ_ROUND_FLOOR, CQ_ROUND_NEAREST };
enum cq_mask_choice { CQ_MASK_SPREAD, CQ_MASK_FIRST };
enum cq_conf { CQ_CONF_REAL, CQ_CONF_SHOWN };
enum cq_affinity { CQ_AFFINITY_SHOWN, CQ_AFFINITY_REAL };
enum cq_files { CQ_FILES_SHOWN, CQ_FILES_REAL };
enum cq_runtime_quota { CQ_RUNTIME_QUOTA_KEEP, CQ_RUNTIME_QUOTA_HIDE };
enum cq_malloc_arenas { CQ_MALLOC_ARENAS_SHOWN, CQ_MALLOC_ARENAS_REAL };
enum cq_trap { CQ_TRAP_AUTO, CQ_TRAP_ALWAYS, CQ_TRAP_NEVER };

struct cq_policy {
	bool is_off;               /* CPUQUOTA=off: hook nothing */
	bool has_sections;         /* so that another program may have another policy */
	unsigned round;            /* enum cq_round */
	unsigned min;              /* never show fewer CPUs */
	unsigned max;              /* never show more; 0: no maximum */
	unsigned count;            /* show this many whatever the limit is; 0: unset */
	struct cq_limit unlimited; /* stands for the limit where there is none; itself none: show all CPUs */
	unsigned mask;             /* enum cq_mask_choice */
	unsigned conf;             /* enum cq_conf */
	unsigned affinity;         /* enum cq_affinity */
	unsigned files;            /* enum cq_files */
	unsigned runtime_quota;    /* enum cq_runtime_quota */
	unsigned malloc_arenas;    /* enum cq_malloc_arenas */
	unsigned trap;             /* enum cq_trap */
	unsigned refresh;          /* seconds; 0: read the limit once */
};

/* A key whose value is one of some words, of which the policy keeps the place in the list, or a number. No pointers, so
 * that the table needs no relocation in the preload library. */
struct cq_policy_key {
	char name[16];
	char words[24]; /* separated by commas; empty: a number from LEAST to MOST */
	unsigned least, most;
	size_t field;   /* where in struct cq_policy the number is, an unsigned */
};

/* All keys but `unlimited`, whose value is of no such kind. */
#define CQ_POLICY_KEYS 12
extern const struct cq_policy_key cq_policy_keys[CQ_POLICY_KEYS];

/* "KEY = VALUE" as it was written: in LINE of the file NAME, or in a variable of that name, without lines (0). */
struct cq_policy_assignment {
	const char *key;
	const char *value; /* VALUE_LENGTH bytes */
	size_t value_length;
	const char *name;
	unsigned line;
};

/* Where a policy comes from, and who is told of its errors. */
struct cq_policy_source {
	const char *root;       /* of the file system that DEFAULT_FILE stands in */
	const char *default_file;
	const char *executable; /* the program that the policy is for; NULL: no section matches */
	bool (*is_go)(void);    /* whether Go built it; NULL: look at the file */
	const char *(*environment)(const char *name);
	/* Called for every error, with "FILE:LINE: what is wrong, what is allowed". */
	void (*problem)(void *argument, const char *message);
	/* Called for every assignment that holds until a later one of the same key; NULL: nobody wants to know. */
	void (*assigned)(void *argument, const struct cq_policy_assignment *assignment);
	void *argument;
};

void cq_policy_init(struct cq_policy *ret);

/* Reads FILE below ROOT on top of POLICY. A line in error is told of and changes nothing. Returns 0, or -Exxx if the
 * file could not be read, which is told of as well. */
int cq_policy_read_file(struct cq_policy *policy, const struct cq_policy_source *source, const char *root,
			const char *file);

/* As cq_policy_read_file(), of a regular file that is open as FD, which is closed; NAME stands for it in messages. */
int cq_policy_read_open(struct cq_policy *policy, const struct cq_policy_source *source, int fd, const char *name);

/* Reads "key=value,key=value" (or "off") on top of POLICY; NAME stands for the file in messages. */
void cq_policy_read_inline(struct cq_policy *policy, const struct cq_policy_source *source, const char *name,
			   const char *text);

/* The whole policy: the built-in values, then the file that CPUQUOTA_POLICY names or else the default file if there is
 * one, then CPUQUOTA. */
void cq_policy_load(struct cq_policy *ret, const struct cq_policy_source *source);

#endif
