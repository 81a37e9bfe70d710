/* SPDX-License-Identifier: MIT */
/*
 * The answer that every channel asks for: how many CPUs are shown, and which. Kept for `refresh` seconds, then made anew.
 *
 * There are no locks. The answer is one 64-bit word, so that whoever reads it has a whole one. When it has grown old,
 * one thread moves its time stamp on and makes it anew, while all others go on with the old one; if that thread dies, or
 * a fork leaves it behind, the next one comes along after another `refresh` seconds.
 */
#ifndef CQ_VIEW_H
#define CQ_VIEW_H

#include "base.h"
#include "cpumask.h"
#include "policy.h"

/* The shown CPUs: the run of COUNT real CPUs from number FIRST on (cq_cpumask_keep_run()). COUNT is at least 1. */
struct cq_answer {
	unsigned count;
	unsigned first;
};

/* The longest path of a cgroup that is remembered from one answer to the next; a longer one is found anew each time. */
#define CQ_VIEW_PATH_MAX 448

/* Where a controller's cgroup is, as long as this process stays in the same cgroups. */
struct cq_view_place {
	_Atomic uint32_t sequence; /* odd while it is written; stays odd, and the place unused, if its writer is gone */
	uint64_t membership;
	uint64_t top_inode;
	uint16_t top_length;
	uint16_t length;
	uint8_t version;
	bool top_is_unlimited;
	char path[CQ_VIEW_PATH_MAX];
};

struct cq_view {
	const char *root;         /* of the file system */
	pid_t process;            /* whose cgroups count; 0: this one's */
	uint64_t (*now)(void);    /* milliseconds that never go back */
	struct cq_policy policy;
	struct cq_cpumask given;  /* the CPUs that this process had when it started */
	_Atomic uint64_t packed;  /* the answer and its time stamp; 0: none yet */
	_Atomic uint64_t previous; /* the answer before, as long as another one; 0: none */
	_Atomic uint32_t follows_cpuset; /* whether GIVEN was all of the cpuset: 0 not known yet, 1 yes, 2 no */
	_Atomic bool is_frozen;
	_Atomic uint64_t identity; /* of the container, for mask=spread; 0: not known yet */
	struct cq_view_place places[2];
};

/* Makes VIEW ready for use: the policy is to be in it already. Takes the CPUs of this process from the kernel, or from
 * the tree below ROOT where that is not "/". Returns 0, or -Exxx if they cannot be found out; nothing can then be shown. */
int cq_view_init(struct cq_view *view, const char *root, uint64_t (*now)(void));

/* The current answer. */
struct cq_answer cq_view_answer(struct cq_view *view);

/* Makes the answer anew, and with it the real CPUs that it is a part of. */
struct cq_answer cq_view_look(struct cq_view *view, struct cq_cpumask *ret_real);

/* Makes the answer anew, if it has grown old, for the last time: from then on nothing is read, and the real CPUs are taken
 * to be those that were given. */
void cq_view_freeze(struct cq_view *view);

/* True if the file behind FD is NAME in one of the directories, from this process's cgroup up, whose limits count. */
bool cq_view_has_limit_file(struct cq_view *view, int fd, const char *name);

/*
 * True if MASK is what this process was shown as all of its CPUs: now or, as it may have kept the mask while the limit
 * changed, before. (A single CPU that was all before is not taken for it: it is more likely to be a pin.) Then gives the
 * real CPUs that it stands for.
 */
bool cq_view_is_all(struct cq_view *view, const void *mask, size_t size, struct cq_cpumask *ret_real);

#endif
