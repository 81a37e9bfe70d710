/* SPDX-License-Identifier: MIT */
/*
 * A program that puts a seccomp filter on itself has asked for what it needs before, and may be killed for a system call
 * that it does not make itself: this library's reading. So all is read once more before the filter is there, and nothing
 * after: counts and masks stay what they are, files are the real ones.
 */
#include "next.h"
#include "start.h"

#include <sys/prctl.h>
#include <sys/syscall.h>

/* syscall() of seccomp(2) and prctl(2); jumped to by syscall.S. */
long cq_syscall_sandbox(long number, long a, long b, long c, long d, long e);

long cq_syscall_sandbox(long number, long a, long b, long c, long d, long e)
{
	if (number == SYS_seccomp || (int)a == PR_SET_SECCOMP)
		cq_channel_freeze();
	return cq_next.syscall(number, a, b, c, d, e);
}

/* With fixed parameters, as all that it may have come in registers. */
int cq_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d) __asm__("prctl") CQ_EXPORT;

int cq_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
	if (option == PR_SET_SECCOMP)
		cq_channel_freeze();
	return cq_next.prctl(option, a, b, c, d);
}
