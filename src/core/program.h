/* SPDX-License-Identifier: MIT */
/* What kind of program an executable file is. */
#ifndef CQ_PROGRAM_H
#define CQ_PROGRAM_H

#include "base.h"

#define CQ_PROGRAM_NAME_MAX 256

struct cq_program {
	bool is_64bit;
	bool has_interpreter; /* asks for a loader (PT_INTERP), which can preload; without one it is static */
	bool is_go;           /* has the note that Go's linker writes, .note.go.buildid (cmd/link/internal/ld/elf.go) */
	uint16_t machine;     /* EM_* of elf(5) */
};

/* Looks at the ELF headers of the file behind FD, whose offset it does not move. Returns 0, -ENOEXEC if it is not an ELF
 * file of this machine's byte order, or another -Exxx if it cannot be read. */
int cq_program_inspect(int fd, struct cq_program *ret);

/* True if one of the notes in SIZE bytes, of a PT_NOTE segment, is the one that Go's linker puts there. */
bool cq_program_has_go_note(const char *notes, size_t size);

/* True if EXECUTABLE, below ROOT, was built by Go; false for all that cannot be found out. */
bool cq_program_is_go(const char *root, const char *executable);

/* The name of EXECUTABLE without its directory; for a link of /proc, as /proc/self/exe, that of the file behind it, also
 * after that was deleted. Returns 0, or -Exxx if it is longer than SIZE - 1 bytes or cannot be read. */
int cq_program_name(const char *root, const char *executable, char *ret, size_t size);

#endif
