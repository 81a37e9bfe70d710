/* SPDX-License-Identifier: MIT */
/* Texts of any length, for what does not run in other people's programs. Without memory cpuquota-exec ends, having said so. */
#ifndef CQ_FORMAT_H
#define CQ_FORMAT_H

#include "cpumask.h"

#include <stddef.h>

/* POINTER, which is not NULL: there was memory. */
void *cq_must(void *pointer);

/* A new string, as printf(3) makes it. */
char *cq_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A new string with the first LENGTH bytes of TEXT. */
char *cq_copy(const char *text, size_t length);

/* The CPUs of MASK as a new string in the list format of cpuset(7): "0-3,8"; empty without any. */
char *cq_format_list(const struct cq_cpumask *mask);

#endif
