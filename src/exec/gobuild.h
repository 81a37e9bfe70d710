/* SPDX-License-Identifier: MIT */
/* What Go's linker writes into a program of how it was built; Go's package debug/buildinfo. */
#ifndef CQ_GOBUILD_H
#define CQ_GOBUILD_H

#include "elffile.h"

struct cq_go_build {
	char *version; /* "go1.24.4" */
	char *module;  /* lines of the module information, "dep\tPATH\tVERSION\tSUM" among them; empty without any */
};

/* Reads it in both of its forms, that of Go 1.13 with pointers and that of Go 1.18 with the texts themselves. Returns 0
 * with new strings, or -ENOENT if the program has none that can be read. */
int cq_go_build_read(const struct cq_elf *elf, struct cq_go_build *ret);

/* True if packages of MODULE are linked in. */
bool cq_go_build_has(const struct cq_go_build *build, const char *module);

/* True if programs of that build look at the cgroup's limit on their own: Go 1.25 and later, for modules that ask for such
 * a Go (GODEBUG key containermaxprocs). */
bool cq_go_build_reads_limit(const struct cq_go_build *build);

#endif
