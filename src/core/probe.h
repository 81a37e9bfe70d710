/* SPDX-License-Identifier: MIT */
/* How a process deals with a trap that it may be below: it asks what no program asks, which a supervisor understands. */
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

/* What stands above a pid of 0 where the kernel itself is to answer; it looks at the lower half alone, as a pid has 32
 * bits. Only for the time before the program runs: later the program may have filters of its own that take such a number
 * for an attack. */
#define CQ_PROBE_UNTRAPPED 0x63707571

/* The affinity mask of this thread as the kernel has it, also below a trap. Returns as cq_raw_sched_getaffinity(). */
static inline long cq_probe_affinity(size_t size, void *mask)
{
	return cq_rawcall(SYS_sched_getaffinity, (long)CQ_PROBE_UNTRAPPED << 32, (long)size, (long)mask, 0);
}

#endif
