/* SPDX-License-Identifier: MIT */
/*
 * More of an ELF file than src/core/program.h has any use for: what --explain tells of. Nothing in the file is trusted;
 * elf(5).
 */
#ifndef CQ_ELFFILE_H
#define CQ_ELFFILE_H

#include "base.h"

#define CQ_ELF_MAX_SEGMENTS 64

struct cq_elf_part {
	uint32_t type;    /* PT_* of a segment; SHT_* of a section */
	uint32_t flags;   /* PF_* of a segment */
	uint64_t offset;  /* in the file */
	uint64_t address; /* in memory */
	uint64_t size;    /* in the file */
};

struct cq_elf {
	int fd;
	bool is_64bit;
	uint16_t type;    /* ET_* */
	uint16_t machine; /* EM_* */
	uint64_t section_offset;
	unsigned section_count, section_names;
	unsigned segment_count;
	struct cq_elf_part segments[CQ_ELF_MAX_SEGMENTS];
};

/* Reads the headers of the file behind FD, which is to stay open. Returns 0, or -ENOEXEC if it is no ELF file of this
 * machine's byte order, or one that is cut. */
int cq_elf_open(int fd, struct cq_elf *ret);

/* True if the file begins as ELF files do, of whatever byte order. */
bool cq_elf_has_magic(int fd);

/* Reads what will be in memory at ADDRESS. False if the file has not that much for it. */
bool cq_elf_read(const struct cq_elf *elf, uint64_t address, void *buffer, size_t size);

/* Finds the section of that name. */
bool cq_elf_find_section(const struct cq_elf *elf, const char *name, struct cq_elf_part *ret);

/* The loader that the program asks for (PT_INTERP), as a new string; NULL: it is static. */
char *cq_elf_loader(const struct cq_elf *elf);

/* True if there is a note of that type by OWNER in one of the segments. */
bool cq_elf_has_note(const struct cq_elf *elf, const char *owner, uint32_t type);

#endif
