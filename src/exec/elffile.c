/* SPDX-License-Identifier: MIT */
#include "elffile.h"

#include "format.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* Longer names than are looked for, and more notes and sections than programs have. */
#define MAX_NAME 64
#define MAX_NOTES 4096
#define MAX_SECTIONS 65536

static bool read_file(int fd, uint64_t offset, void *buffer, size_t size)
{
	return offset <= INT64_MAX - size && pread(fd, buffer, size, (off_t)offset) == (ssize_t)size;
}

bool cq_elf_has_magic(int fd)
{
	char magic[SELFMAG];

	return read_file(fd, 0, magic, sizeof magic) && memcmp(magic, ELFMAG, SELFMAG) == 0;
}

/* Copies the fields that the headers of both classes have, in whatever width. */
#define TAKE_HEADER(elf, header, ret_offset)                        \
	do {                                                        \
		(elf)->type = (header).e_type;                      \
		(elf)->machine = (header).e_machine;                \
		(elf)->section_offset = (header).e_shoff;           \
		(elf)->section_count = (header).e_shnum;            \
		(elf)->section_names = (header).e_shstrndx;         \
		(elf)->segment_count = (header).e_phnum;            \
		(ret_offset) = (header).e_phoff;                    \
	} while (0)

#define TAKE_SEGMENT(header) \
	(struct cq_elf_part){(header).p_type, (header).p_flags, (header).p_offset, (header).p_vaddr, (header).p_filesz}

#define TAKE_SECTION(header) \
	(struct cq_elf_part){(header).sh_type, 0, (header).sh_offset, (header).sh_addr, (header).sh_size}

static bool read_segment(const struct cq_elf *elf, uint64_t offset, unsigned i, struct cq_elf_part *ret)
{
	Elf64_Phdr wide;
	Elf32_Phdr narrow;

	if (elf->is_64bit) {
		if (!read_file(elf->fd, offset + i * sizeof wide, &wide, sizeof wide))
			return false;
		*ret = TAKE_SEGMENT(wide);
	} else {
		if (!read_file(elf->fd, offset + i * sizeof narrow, &narrow, sizeof narrow))
			return false;
		*ret = TAKE_SEGMENT(narrow);
	}
	return true;
}

/* NAME: where the section's name is in the section of names. */
static bool read_section(const struct cq_elf *elf, unsigned i, struct cq_elf_part *ret, uint32_t *ret_name)
{
	Elf64_Shdr wide;
	Elf32_Shdr narrow;

	if (elf->is_64bit) {
		if (!read_file(elf->fd, elf->section_offset + i * sizeof wide, &wide, sizeof wide))
			return false;
		*ret = TAKE_SECTION(wide);
		*ret_name = wide.sh_name;
	} else {
		if (!read_file(elf->fd, elf->section_offset + i * sizeof narrow, &narrow, sizeof narrow))
			return false;
		*ret = TAKE_SECTION(narrow);
		*ret_name = narrow.sh_name;
	}
	return true;
}

int cq_elf_open(int fd, struct cq_elf *ret)
{
	const unsigned char native_order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
	unsigned char ident[EI_NIDENT];
	Elf64_Ehdr wide;
	Elf32_Ehdr narrow;
	uint64_t offset;

	if (!read_file(fd, 0, ident, sizeof ident) || memcmp(ident, ELFMAG, SELFMAG) != 0 ||
	    ident[EI_DATA] != native_order)
		return -ENOEXEC;
	memset(ret, 0, sizeof *ret);
	ret->fd = fd;
	ret->is_64bit = ident[EI_CLASS] == ELFCLASS64;
	if (!read_file(fd, 0, ret->is_64bit ? (void *)&wide : (void *)&narrow,
		       ret->is_64bit ? sizeof wide : sizeof narrow))
		return -ENOEXEC;
	if (ret->is_64bit)
		TAKE_HEADER(ret, wide, offset);
	else
		TAKE_HEADER(ret, narrow, offset);
	if (ret->segment_count > CQ_ELF_MAX_SEGMENTS)
		ret->segment_count = CQ_ELF_MAX_SEGMENTS;
	for (unsigned i = 0; i < ret->segment_count; i++) {
		if (!read_segment(ret, offset, i, &ret->segments[i]))
			return -ENOEXEC;
	}
	return 0;
}

bool cq_elf_read(const struct cq_elf *elf, uint64_t address, void *buffer, size_t size)
{
	for (unsigned i = 0; i < elf->segment_count; i++) {
		const struct cq_elf_part *segment = &elf->segments[i];
		uint64_t inside = address - segment->address;

		if (segment->type == PT_LOAD && address >= segment->address && inside <= segment->size &&
		    size <= segment->size - inside && segment->offset <= UINT64_MAX - inside)
			return read_file(elf->fd, segment->offset + inside, buffer, size);
	}
	return false;
}

bool cq_elf_find_section(const struct cq_elf *elf, const char *name, struct cq_elf_part *ret)
{
	size_t length = strlen(name) + 1;
	struct cq_elf_part names, section;
	uint32_t at;

	if (!elf->section_offset || elf->section_names >= elf->section_count || elf->section_count > MAX_SECTIONS ||
	    length > MAX_NAME || !read_section(elf, elf->section_names, &names, &at))
		return false;
	for (unsigned i = 0; i < elf->section_count; i++) {
		char found[MAX_NAME];

		if (read_section(elf, i, &section, &at) && at < names.size && length <= names.size - at &&
		    names.offset <= UINT64_MAX - at && read_file(elf->fd, names.offset + at, found, length) &&
		    memcmp(found, name, length) == 0) {
			*ret = section;
			return true;
		}
	}
	return false;
}

char *cq_elf_loader(const struct cq_elf *elf)
{
	char path[PATH_MAX];

	for (unsigned i = 0; i < elf->segment_count; i++) {
		const struct cq_elf_part *segment = &elf->segments[i];

		if (segment->type == PT_INTERP && segment->size && segment->size < sizeof path &&
		    read_file(elf->fd, segment->offset, path, (size_t)segment->size))
			return cq_copy(path, (size_t)segment->size);
	}
	return NULL;
}

static bool has_note_in(const char *notes, size_t size, const char *owner, uint32_t type)
{
	size_t at = 0, length = strlen(owner) + 1;
	Elf64_Nhdr note; /* the same as Elf32_Nhdr */

	while (size - at >= sizeof note) {
		memcpy(&note, notes + at, sizeof note);
		at += sizeof note;
		if (note.n_namesz > size - at)
			return false;
		if (note.n_type == type && note.n_namesz == length && memcmp(notes + at, owner, length) == 0)
			return true;
		/* Both are padded to 4 bytes; a note that claims more than there is is the last one. */
		for (unsigned i = 0; i < 2; i++) {
			size_t part = ((size_t)(i ? note.n_descsz : note.n_namesz) + 3) & ~(size_t)3;

			if (part > size - at)
				return false;
			at += part;
		}
	}
	return false;
}

bool cq_elf_has_note(const struct cq_elf *elf, const char *owner, uint32_t type)
{
	char notes[MAX_NOTES];

	for (unsigned i = 0; i < elf->segment_count; i++) {
		const struct cq_elf_part *segment = &elf->segments[i];
		size_t size = segment->size < sizeof notes ? (size_t)segment->size : sizeof notes;

		if (segment->type == PT_NOTE && read_file(elf->fd, segment->offset, notes, size) &&
		    has_note_in(notes, size, owner, type))
			return true;
	}
	return false;
}
