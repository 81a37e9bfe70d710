/* SPDX-License-Identifier: MIT */
/*
 * --init: cpuquota-exec stays as the parent of the program. It answers the trap's notifications itself, which it may also
 * where only ancestors may touch a process (Yama, ptrace_scope=1), hands every signal on, stops and goes on with the
 * program, takes in its orphans, and ends as the program ended.
 */
#ifndef CQ_INIT_H
#define CQ_INIT_H

#include "view.h"

#include <sys/types.h>

struct cq_init_program {
	int (*start)(void *argument);              /* executes the program; returns an exit status if that fails */
	void (*no_trap)(void *argument, int error); /* called where there can be no trap, with -Exxx */
	void *argument;
	bool may_take_rights;                       /* cq_filter_install() */
	int timer;                                  /* timerfd(2); -1: none */
	void (*look)(void *looker, pid_t program);  /* called in the parent when the timer is readable; sets it anew */
	void *looker;
};

/* Starts PROGRAM in a child, below a trap if VIEW is not NULL, and waits for it. Returns its exit status, 128 + N if
 * signal N ended it, or -Exxx if no child could be made. */
int cq_init_run(struct cq_view *view, const struct cq_init_program *program);

#endif
