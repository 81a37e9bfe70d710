/* SPDX-License-Identifier: MIT */
/*
 * --init: cpuquota-exec stays as the parent of the program. It answers the trap's notifications itself, which it may also
 * where only ancestors may touch a process (Yama, ptrace_scope=1), hands every signal on, stops and goes on with the
 * program, takes in its orphans, and ends as the program ended.
 */
#ifndef CQ_INIT_H
#define CQ_INIT_H

#include "view.h"

/* Runs START in a child, below a trap if VIEW is not NULL, and waits for it. START executes the program; what it returns
 * is the child's exit status. Returns the program's exit status, 128 + N if signal N ended it, or -Exxx if no child could
 * be made. */
int cq_init_run(struct cq_view *view, int (*start)(void *argument), void *argument, void (*no_trap)(void *argument, int error));

#endif
