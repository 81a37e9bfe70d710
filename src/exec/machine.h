/* SPDX-License-Identifier: MIT */
/* How the number came about: the CPUs, every level of the cgroup, the policy and where it is from. For --explain. */
#ifndef CQ_MACHINE_H
#define CQ_MACHINE_H

#include "cgroup.h"
#include "cpumask.h"
#include "policy.h"
#include "view.h"

/* A directory on the way from the process's cgroup up to where it can be seen. */
struct cq_level {
	char *path;
	struct cq_limit limit;
	bool is_root;      /* of the whole hierarchy, which has no limit */
	bool is_effective; /* the tightest; of several that are alike the innermost */
};

/* Where the value of a key is from. */
struct cq_origin {
	char *value;   /* as it is written in a policy */
	char *name;    /* the file or the variable; NULL: built in */
	unsigned line; /* of the file; 0: of a variable, or built in */
};

/* A step from the limit to the count: what KEY of the policy made of it. */
struct cq_step {
	const char *key; /* a key of the policy; "real": there are no more CPUs; "limit": there is none */
	unsigned count;  /* after it */
};

#define CQ_MAX_STEPS 4

/* The keys of cq_policy_keys, and behind them `unlimited`. */
#define CQ_KEY_UNLIMITED CQ_POLICY_KEYS
#define CQ_ORIGINS (CQ_POLICY_KEYS + 1)

struct cq_machine {
	const char *root;
	struct cq_view view; /* with the policy */
	struct cq_policy policy;
	char *policy_file;
	bool has_policy_file; /* it is there */
	bool is_named_file;   /* by CPUQUOTA_POLICY */
	char **errors;        /* of the policy; "FILE:LINE: what is wrong" */
	unsigned error_count;
	struct cq_origin origins[CQ_ORIGINS];

	int error; /* 0, or -Exxx: the CPUs cannot be found out; what follows is then not known */
	bool has_online;
	struct cq_cpumask online; /* of the machine */
	struct cq_cpumask given;  /* to this process */
	struct cq_cpumask real;   /* of those, the ones that its cpuset has */
	struct cq_cpumask shown;
	bool knows_which;         /* SHOWN holds: of a captured tree mask=spread does not say which, as that depends on
				   * the host name, which is left out */
	unsigned online_count, real_count, shown_count;
	enum cq_cgroup_version version;
	struct cq_level *levels; /* the process's own first */
	unsigned level_count;
	struct cq_limit limit; /* the effective one */
	struct cq_step steps[CQ_MAX_STEPS];
	unsigned step_count;
};

/* Finds all of this out below ROOT, with the policy for EXECUTABLE (NULL: for no program in particular). COMPLAIN is told
 * of every error of the policy as well. */
void cq_machine_find(struct cq_machine *ret, const char *root, const char *executable,
		     void (*complain)(const char *message));

/* The name of the key of that number. */
const char *cq_machine_key(unsigned key);

/* The origin of the key of that name, or NULL if it is none. */
const struct cq_origin *cq_machine_origin(const struct cq_machine *machine, const char *key);

#endif
