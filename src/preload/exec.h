/* SPDX-License-Identifier: MIT */
/*
 * The hand-over: a program that asks the kernel itself (built by Go, static) is executed by way of cpuquota-exec, which
 * plants the trap for it. Everything here may run between vfork and exec, or in a signal handler.
 */
#ifndef CQ_EXEC_H
#define CQ_EXEC_H

/* For the constructor, in a program that Go has built: executes it once more by way of cpuquota-exec, unless there is a
 * trap already. Returns if there is, or if that fails. */
void cq_exec_again(char *const *arguments, char *const *variables);

#endif
