/* SPDX-License-Identifier: MIT */
/* What becomes of an affinity mask when its process becomes another program. */
#ifndef CQ_AFFINITY_H
#define CQ_AFFINITY_H

#include "base.h"

/*
 * To be called before an exec. A thread that was set to just the CPUs that are shown has all the real ones: that
 * mask is what a program saves and restores. But a program that does nothing with masks but that, and then becomes
 * another, as taskset(1) and numactl(8) do, has meant those CPUs: the thread is now set to them. Returns true if so.
 */
bool cq_affinity_pin_for_exec(void);

/* Undoes it, where the exec has failed. */
void cq_affinity_unpin(void);

#endif
