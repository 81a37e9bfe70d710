/* SPDX-License-Identifier: MIT */
/* The seccomp filter that sends sched_getaffinity, and nothing else, to a supervisor; seccomp_unotify(2). */
#ifndef CQ_FILTER_H
#define CQ_FILTER_H

#include <stdbool.h>

/* Returns 0 if the kernel can have such a filter and say when the last process below it is gone (Linux 5.9; 5.5 for the
 * answer "let the kernel do it"), else -ENOSYS, or -Exxx if the process may have no filter. */
int cq_filter_is_possible(void);

/* Puts the filter on the calling process, for good: its children inherit it. Without CAP_SYS_ADMIN this takes
 * no_new_privs, by which setuid programs below lose their power; it is set if MAY_TAKE_RIGHTS. Returns the listener, a
 * descriptor that is closed on exec, or -Exxx: -EBUSY if there is a filter with a listener already, -EACCES without
 * no_new_privs. */
int cq_filter_install(bool may_take_rights);

#endif
