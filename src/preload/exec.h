/* SPDX-License-Identifier: MIT */
/*
 * The hand-over: a program that asks the kernel itself (built by Go, static) is executed by way of cpuquota-exec, which
 * plants the trap for it. Everything here may run between vfork and exec, or in a signal handler.
 */
#ifndef CQ_EXEC_H
#define CQ_EXEC_H

/* For the constructor: if this very process is a program built by Go, which was started with this library but without a
 * trap, executes it once more by way of cpuquota-exec. Returns if it is not, or if that fails. */
void cq_exec_if_go(char *const *arguments, char *const *variables);

#endif
