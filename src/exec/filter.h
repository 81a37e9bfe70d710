/* SPDX-License-Identifier: MIT */
/* The seccomp filter that sends sched_getaffinity, and nothing else, to a supervisor; seccomp_unotify(2). */
#ifndef CQ_FILTER_H
#define CQ_FILTER_H

/* Returns 0 if the kernel can have such a filter and say when the last process below it is gone (Linux 5.9; 5.5 for the
 * answer "let the kernel do it"), else -ENOSYS, or -Exxx if the process may have no filter. */
int cq_filter_is_possible(void);

/* Puts the filter on the calling process, for good: its children inherit it. Without CAP_SYS_ADMIN this sets
 * no_new_privs, which takes setuid programs below it their power. Returns the listener, a descriptor that is closed on
 * exec, or -Exxx: -EBUSY if there is a filter with a listener already. */
int cq_filter_install(void);

#endif
