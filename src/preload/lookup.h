/* SPDX-License-Identifier: MIT */
/*
 * dlsym(RTLD_NEXT) without dlsym: it takes the loader's lock and, in glibc before 2.34, allocates; it would also need
 * libdl.so.2, which glibc 2.34 made an empty shell of: loading that costs a program that never asks more than all the
 * rest of this library (nine system calls, 13,000 instructions).
 */
#ifndef CQ_LOOKUP_H
#define CQ_LOOKUP_H

#include "base.h"

struct cq_lookup {
	const char *name;
	void *found; /* NULL at first */
	uint32_t hash;
};

/* Finds, for each of COUNT names, the default version of that function in the first object that was loaded behind this
 * library and has it; ->found stays NULL where there is none. Allocates nothing, makes no system call. */
void cq_lookup_next(struct cq_lookup *lookups, size_t count);

#endif
