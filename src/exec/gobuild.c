/* SPDX-License-Identifier: MIT */
#include "gobuild.h"

#include "format.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The header: the magic, the size of a pointer, flags, and from 16 the pointers or from 32 the texts. */
#define MAGIC "\xff Go buildinf:"
#define MAGIC_SIZE 14
#define HEADER_SIZE 32
#define ALIGNMENT 16
#define FLAG_BIG_ENDIAN 1
#define FLAG_INLINE 2

/* How far the header is looked for in data that has no section of its own (a stripped section table). */
#define SEARCHED (1 << 20)

/* Texts may not be larger; module information has a line for each module. */
#define MAX_TEXT (4 << 20)

/* Go puts 16 bytes around the module information, to be found by (cmd/go/internal/modload/build.go). */
#define SENTINEL_SIZE 16

static bool is_header(const struct cq_elf *elf, uint64_t address)
{
	char magic[MAGIC_SIZE];

	return cq_elf_read(elf, address, magic, sizeof magic) && memcmp(magic, MAGIC, MAGIC_SIZE) == 0;
}

/* The header is at the beginning of its section; without section headers it is looked for where data is. */
static bool find_header(const struct cq_elf *elf, uint64_t *ret)
{
	struct cq_elf_part section;

	if (cq_elf_find_section(elf, ".go.buildinfo", &section)) {
		*ret = section.address;
		return is_header(elf, section.address);
	}
	for (unsigned i = 0; i < elf->segment_count; i++) {
		const struct cq_elf_part *segment = &elf->segments[i];

		if (segment->type != PT_LOAD || (segment->flags & (PF_X | PF_W)) != PF_W)
			continue;
		for (uint64_t at = 0; at < SEARCHED && at + HEADER_SIZE <= segment->size; at += ALIGNMENT) {
			*ret = segment->address + at;
			if (is_header(elf, *ret))
				return true;
		}
	}
	return false;
}

/* Reads LENGTH bytes at ADDRESS as a new string. */
static char *read_text(const struct cq_elf *elf, uint64_t address, uint64_t length)
{
	char *text;

	if (length > MAX_TEXT)
		return NULL;
	text = cq_must(malloc((size_t)length + 1));
	if (!cq_elf_read(elf, address, text, (size_t)length)) {
		free(text);
		return NULL;
	}
	text[length] = '\0';
	return text;
}

/* A length as encoding/binary's uvarint, and behind it the text; *ADDRESS moves on. */
static char *read_inline(const struct cq_elf *elf, uint64_t *address, uint64_t *ret_length)
{
	uint64_t length = 0;
	unsigned char byte;
	char *text;

	for (unsigned shift = 0;; shift += 7) {
		if (shift > 28 || !cq_elf_read(elf, *address, &byte, 1))
			return NULL;
		++*address;
		length |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	text = read_text(elf, *address, length);
	*address += length;
	*ret_length = length;
	return text;
}

static bool read_pointer(const struct cq_elf *elf, uint64_t address, unsigned size, uint64_t *ret)
{
	uint32_t narrow;

	if (size == 8)
		return cq_elf_read(elf, address, ret, sizeof *ret);
	if (!cq_elf_read(elf, address, &narrow, sizeof narrow))
		return false;
	*ret = narrow;
	return true;
}

/* A pointer to one of Go's strings: a pointer to the bytes, and their number. */
static char *read_pointed(const struct cq_elf *elf, uint64_t address, unsigned size, uint64_t *ret_length)
{
	uint64_t string, bytes;

	if (!read_pointer(elf, address, size, &string) || !read_pointer(elf, string, size, &bytes) ||
	    !read_pointer(elf, string + size, size, ret_length))
		return NULL;
	return read_text(elf, bytes, *ret_length);
}

/* Takes the bytes around module information away. */
static char *without_sentinels(char *module, uint64_t length)
{
	char *inside;

	if (!module || length < 2 * SENTINEL_SIZE + 1 || module[length - SENTINEL_SIZE - 1] != '\n')
		inside = cq_format("%s", "");
	else
		inside = cq_copy(module + SENTINEL_SIZE, (size_t)length - 2 * SENTINEL_SIZE);
	free(module);
	return inside;
}

int cq_go_build_read(const struct cq_elf *elf, struct cq_go_build *ret)
{
	unsigned char header[HEADER_SIZE];
	uint64_t address, version_length, module_length = 0;
	char *version, *module;

	if (!find_header(elf, &address) || !cq_elf_read(elf, address, header, sizeof header))
		return -ENOENT;
	if (header[15] & FLAG_INLINE) {
		address += HEADER_SIZE;
		version = read_inline(elf, &address, &version_length);
		module = version ? read_inline(elf, &address, &module_length) : NULL;
	} else {
		unsigned size = header[14];

		if ((size != 4 && size != 8) || header[15] & FLAG_BIG_ENDIAN)
			return -ENOENT;
		version = read_pointed(elf, address + 16, size, &version_length);
		module = version ? read_pointed(elf, address + 16 + size, size, &module_length) : NULL;
	}
	if (!version || !*version) {
		free(version);
		free(module);
		return -ENOENT;
	}
	ret->version = version;
	ret->module = without_sentinels(module, module_length);
	return 0;
}

bool cq_go_build_has(const struct cq_go_build *build, const char *module)
{
	size_t length = strlen(module);

	for (const char *line = build->module; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		if ((strncmp(line, "dep\t", 4) == 0 || strncmp(line, "mod\t", 4) == 0) &&
		    strncmp(line + 4, module, length) == 0 && line[4 + length] == '\t')
			return true;
	}
	return false;
}

bool cq_go_build_reads_limit(const struct cq_go_build *build)
{
	unsigned minor;

	return sscanf(build->version, "go1.%u", &minor) == 1 && minor >= 25 &&
	       !strstr(build->module, "containermaxprocs=0");
}
