/* SPDX-License-Identifier: MIT */
/*
 * The definitions behind the hooks: those that the program would have called without this library. Each pointer first
 * leads to a stub that looks its function up (lookup.h), for calls that come before the constructor, which looks all of
 * them up.
 */
#ifndef CQ_NEXT_H
#define CQ_NEXT_H

#include "base.h"

#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <time.h>

/* Marks a hook; everything else in the library is hidden. */
#define CQ_EXPORT __attribute__((visibility("default")))

struct cq_next {
	/* Where the hook of syscall() jumps for all that is not its own: first to a copy of what libc does (syscall.S, which
	 * takes it to be the first of these). */
	long (*syscall)(long number, ...);
	/* Not hooks, but wanted: libc's clock, which makes no system call, and the auxiliary vector. NULL before the
	 * constructor has run. */
	int (*clock_gettime)(clockid_t clock, struct timespec *ret);
	unsigned long (*getauxval)(unsigned long type);
#define CQ_HOOK(type, name, parameters, arguments) type(*name) parameters;
#define CQ_HOOK_ALONE(name)
#include "hooks.def"
#undef CQ_HOOK
#undef CQ_HOOK_ALONE
};

extern struct cq_next cq_next;

/* The next definition of the function NAME, or NULL. */
void *cq_next_find(const char *name);

/* Looks all of them up. Called by the constructor, or earlier by who asks earlier. */
void cq_next_resolve(void);

#endif
