/* SPDX-License-Identifier: MIT */
/* What kind of program an executable file is. */
#ifndef CQ_PROGRAM_H
#define CQ_PROGRAM_H

#include "base.h"

#include <sys/stat.h>

#define CQ_PROGRAM_NAME_MAX 256

struct cq_program {
	bool is_64bit;
	bool has_interpreter; /* asks for a loader (PT_INTERP), which can preload; without one it is static */
	bool has_go_note;     /* has the note with Go's build id, which is in memory too while the program runs */
	bool is_go;           /* has a note or a section that only Go's linker writes (cmd/link/internal/ld) */
	uint16_t machine;     /* EM_* of elf(5) */
};

/* Looks at the ELF headers of the file behind FD, whose offset it does not move. Returns 0, -ENOEXEC if it is not an ELF
 * program of this machine's byte order, or another -Exxx if it cannot be read. */
int cq_program_inspect(int fd, struct cq_program *ret);

/* True if one of the ELF notes in SIZE bytes at NOTES is Go's. */
bool cq_program_has_go_note(const char *notes, size_t size);

/* Puts the interpreter of a script, which its first line names ("#! /bin/sh -e"), into RET. Returns 0, -ENOEXEC if the
 * file is none, or another -Exxx if it cannot be read. */
int cq_program_interpreter(int fd, char *ret, size_t size);

/* How many interpreters of interpreters the kernel follows (fs/exec.c, exec_binprm). */
#define CQ_PROGRAM_MAX_INTERPRETERS 5

/* True if the program is for the machine that this library is for. */
bool cq_program_is_native(const struct cq_program *program);

/* True if the program can run here and asks the kernel itself, or cannot be given the preload library: built by Go,
 * static, or made for 32-bit machines. */
bool cq_program_needs_trap(const struct cq_program *program);

/* True if whoever executes the file behind FD, of that STATUS, gets rights by it: setuid, setgid, file capabilities. A
 * filter would take those from the program. */
bool cq_program_gives_rights(int fd, const struct stat *status);

/* Finds NAME, which has no slash in it, as execvp(3) does: the first file of that name that may be executed, in one of
 * DIRECTORIES, the value of PATH; NULL where the variable is not set. Puts its path into RET. Returns 0, or -ENOENT where
 * there is none whose path fits. */
int cq_program_search(const char *name, const char *directories, char *ret, size_t size);

/* True if EXECUTABLE, below ROOT, was built by Go; false for all that cannot be found out. */
bool cq_program_is_go(const char *root, const char *executable);

/* The name of EXECUTABLE without its directory; for a link of /proc, as /proc/self/exe, that of the file behind it, also
 * after that was deleted. Returns 0, or -Exxx if it is longer than SIZE - 1 bytes or cannot be read. */
int cq_program_name(const char *root, const char *executable, char *ret, size_t size);

#endif
