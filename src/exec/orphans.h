/* SPDX-License-Identifier: MIT */
/* Processes whose parent has ended belong to PID 1, which is to reap them when they end. */
#ifndef CQ_ORPHANS_H
#define CQ_ORPHANS_H

#include <stdbool.h>

/* What the watch of a trap is called (trap.h). */
#define CQ_WATCH_NAME "cpuquota-watch"

/* True in a container whose PID 1 does not reap: watches of earlier programs are zombies there, and have become too many.
 * False where that cannot be found out. */
bool cq_orphans_pile_up(void);

/* True if nearly all processes that this process's cgroup may have (pids.max) are there: a trap takes two, and where PID 1
 * does not reap it keeps one. False where there is no such limit, or it is not known. */
bool cq_processes_are_scarce(void);

#endif
