/* SPDX-License-Identifier: MIT */
/*
 * The trap: a filter on this process, and two small processes of their own session that outlive the program: the
 * supervisor, which answers, and a watch, which puts another in its place if it is stopped or killed and which ends both
 * when the last process below the filter is gone.
 *
 * The watch is a child of this process that sends no signal when it ends, so that a program which becomes what this
 * process is, and waits for its children, does not meet one it never started (clone(2) on exit signals). Only that
 * program: it ends before its watch, and the kernel then gives the watch to a subreaper or to PID 1, as a child that does
 * send SIGCHLD (kernel/exit.c, reparent_leader) and that is to be reaped. No process that outlives the program can be
 * anybody else's; where PID 1 does not reap, see orphans.h.
 */
#ifndef CQ_TRAP_H
#define CQ_TRAP_H

#include "view.h"

#include <linux/seccomp.h>

/* Remembers where the arguments of this process are: a watch and a supervisor show their own names there, so that whoever
 * looks for a program by its command line does not find them (pgrep -f). */
void cq_trap_note_arguments(int count, char **arguments);

/* Returns 0 if there can be a trap that answers, as far as can be told without trying; else -Exxx. */
int cq_trap_is_possible(void);

/* Plants the trap on the calling process, for good, unless it is below one already. VIEW is ready for use;
 * MAY_TAKE_RIGHTS as in cq_filter_install(). Returns 0, or -Exxx: why there can be none (-EUSERS: cq_orphans_pile_up(); -EAGAIN:
 * there can be few processes more);
 * the process then is as it was. */
int cq_trap_plant(struct cq_view *view, bool may_take_rights);

/* As cq_trap_plant(), but hands the listener to the process at the other end of SOCKET, an ancestor of this one: waits
 * until that is ready, as a filter is for good, and until it has taken the listener. Before, both rehearse. */
int cq_trap_plant_for(int socket, bool may_take_rights);

/* Says that all is ready for the listener, and takes the one that cq_trap_plant_for() sends. Returns it, or -1 if there
 * will be none. */
int cq_trap_receive(int socket);

/* Becomes the watch of LISTENER, with a supervisor of its own. REQUEST is shared memory, with what is in hand. */
_Noreturn void cq_trap_watch(struct cq_view *view, int listener, struct seccomp_notif *request);

/* Memory for a request that processes share. NULL if there is none. */
struct seccomp_notif *cq_trap_new_request(void);

#endif
