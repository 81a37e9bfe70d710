/* SPDX-License-Identifier: MIT */
/*
 * What every file of the core shares. The core runs inside other people's programs: it allocates nothing, prints
 * nothing, takes no lock and leaves errno alone.
 */
#ifndef CQ_BASE_H
#define CQ_BASE_H

/* A fortified libc header would bring in symbols (__read_chk) that older C libraries and musl do not have. */
#undef _FORTIFY_SOURCE

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The largest NR_CPUS that Linux can be built with (arch/x86/Kconfig, MAXSMP; arch/powerpc/Kconfig). */
#define CQ_MAX_CPUS 8192

/* The longest path of a cgroup that is followed, mount point included, and the longest line of a file. Both stand on the
 * stack of whatever thread happens to ask, which may be a signal handler's alternate stack of a few kilobytes. */
#define CQ_PATH_MAX 1024

#define CQ_ARRAY_SIZE(a) (sizeof(a) / sizeof *(a))

#endif
