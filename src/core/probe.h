/* SPDX-License-Identifier: MIT */
/* How a process finds out that it runs below a trap: it asks what no program asks, and only a supervisor answers. */
#ifndef CQ_PROBE_H
#define CQ_PROBE_H

#include "rawcall.h"

/* The address that a question of length 0 gives for its mask: "cpuquota". No program's memory can be there. */
#define CQ_PROBE_ADDRESS 0x63707571756f7461

/* What a supervisor answers with. */
#define CQ_PROBE_VERSION 1

/* The version of the trap that this process is below; 0: none. The kernel's own answer to a mask without room for a CPU
 * is EINVAL, before it looks at the address (kernel/sched/syscalls.c, sched_getaffinity). */
static inline int cq_probe_trap(void)
{
	long version = cq_raw_sched_getaffinity(0, 0, (void *)CQ_PROBE_ADDRESS);

	return version > 0 ? (int)version : 0;
}

#endif
