/* SPDX-License-Identifier: MIT */
/*
 * The trap: a filter on this process, and two small processes of their own session that outlive the program: the
 * supervisor, which answers, and a watch, which puts another in its place if it is stopped or killed and which ends both
 * when the last process below the filter is gone.
 *
 * The watch is a child of this process that sends no signal when it ends, so that a program which becomes what this
 * process is, and waits for its children, does not meet one it never started (clone(2) on exit signals). Only that
 * program: when it ends before its watch, the kernel gives the watch to a subreaper or to PID 1, as a child that does
 * send SIGCHLD (kernel/exit.c, reparent_leader).
 */
#ifndef CQ_TRAP_H
#define CQ_TRAP_H

#include "view.h"

#include <linux/seccomp.h>

/* Plants the trap on the calling process, for good, unless it is below one already. VIEW is ready for use;
 * MAY_TAKE_RIGHTS as in cq_filter_install(). Returns 0, or -Exxx: why there can be none; the process then is as it was. */
int cq_trap_plant(struct cq_view *view, bool may_take_rights);

/* As cq_trap_plant(), but hands the listener to the process at the other end of SOCKET, an ancestor of this one, and waits
 * until that has taken it. */
int cq_trap_plant_for(int socket, bool may_take_rights);

/* Takes the listener that cq_trap_plant_for() sends. Returns it, or -1 if there will be none. */
int cq_trap_receive(int socket);

/* Becomes the watch of LISTENER, with a supervisor of its own. REQUEST is shared memory, with what is in hand. Tells the
 * process at the other end of SOCKET (-1: none) when nothing of the program is held any more. */
_Noreturn void cq_trap_watch(struct cq_view *view, int listener, struct seccomp_notif *request, int socket);

/* Memory for a request that processes share. NULL if there is none. */
struct seccomp_notif *cq_trap_new_request(void);

#endif
