/* SPDX-License-Identifier: MIT */
#include "program.h"

#include "rawcall.h"
#include "smallfile.h"
#include "text.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

/* More than that no program has; what comes behind is not looked at. */
#define MAX_PROGRAM_HEADERS 64
#define MAX_NOTES_SIZE 1024
#define BEGINNING_SIZE 1024

/* The note's type (cmd/link/internal/ld/elf.go: ELF_NOTE_GOBUILDID_TAG). */
#define GO_BUILD_ID_NOTE 4

static int read_at(int fd, uint64_t offset, void *buffer, size_t size)
{
	ssize_t got = cq_rawcall(SYS_pread64, fd, (long)buffer, (long)size, (long)offset);

	if (got < 0)
		return (int)got;
	return (size_t)got == size ? 0 : -ENOEXEC;
}

/* The beginning of a file: the program headers stand there, and mostly the notes too. */
struct beginning {
	size_t length;
	char bytes[BEGINNING_SIZE] __attribute__((aligned(8)));
};

/* As read_at(), for what is in BEGINNING without a system call. */
static int read_near(int fd, const struct beginning *beginning, uint64_t offset, void *buffer, size_t size)
{
	if (offset > beginning->length || size > beginning->length - offset)
		return read_at(fd, offset, buffer, size);
	memmove(buffer, beginning->bytes + offset, size);
	return 0;
}

/* A program header of either class. */
struct segment {
	uint32_t type;
	uint64_t offset;
	uint64_t size;
};

struct headers {
	bool is_64bit;
	uint16_t machine;
	uint64_t offset; /* of the program headers */
	unsigned entry_size;
	unsigned count;
};

static int read_headers(int fd, const struct beginning *beginning, struct headers *ret)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr elf32;
		Elf64_Ehdr elf64;
	} header;
	const unsigned char native_order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
	int r = read_near(fd, beginning, 0, &header.elf32, sizeof header.elf32);

	if (r < 0)
		return r;
	if (memcmp(header.ident, ELFMAG, SELFMAG) != 0 || header.ident[EI_DATA] != native_order)
		return -ENOEXEC;
	ret->is_64bit = header.ident[EI_CLASS] == ELFCLASS64;
	ret->machine = header.elf32.e_machine;
	if (!ret->is_64bit) {
		ret->offset = header.elf32.e_phoff;
		ret->entry_size = sizeof(Elf32_Phdr);
		ret->count = header.elf32.e_phnum;
		return 0;
	}
	r = read_near(fd, beginning, 0, &header.elf64, sizeof header.elf64);
	ret->offset = header.elf64.e_phoff;
	ret->entry_size = sizeof(Elf64_Phdr);
	ret->count = header.elf64.e_phnum;
	return r;
}

static int read_segment(int fd, const struct beginning *beginning, const struct headers *headers, unsigned i,
			struct segment *ret)
{
	union {
		Elf32_Phdr elf32;
		Elf64_Phdr elf64;
	} header;
	int r = read_near(fd, beginning, headers->offset + (uint64_t)i * headers->entry_size, &header, headers->entry_size);

	if (r < 0)
		return r;
	ret->type = header.elf32.p_type; /* the first field in both */
	ret->offset = headers->is_64bit ? header.elf64.p_offset : header.elf32.p_offset;
	ret->size = headers->is_64bit ? header.elf64.p_filesz : header.elf32.p_filesz;
	return 0;
}

static size_t align4(size_t size)
{
	return (size + 3) & ~(size_t)3;
}

bool cq_program_has_go_note(const char *notes, size_t size)
{
	size_t at = 0;

	while (at + sizeof(Elf64_Nhdr) <= size) {
		Elf64_Nhdr note; /* the same as Elf32_Nhdr */
		const char *name = notes + at + sizeof note;

		memmove(&note, notes + at, sizeof note);
		at += sizeof note;
		if (note.n_namesz > size || note.n_descsz > size)
			return false;
		if (note.n_type == GO_BUILD_ID_NOTE && note.n_namesz == 4 && at + 4 <= size && memcmp(name, "Go\0", 4) == 0)
			return true;
		at += align4(note.n_namesz) + align4(note.n_descsz);
	}
	return false;
}

static bool is_go_segment(int fd, const struct beginning *beginning, const struct segment *segment)
{
	char notes[MAX_NOTES_SIZE] __attribute__((aligned(8)));
	size_t size = segment->size < sizeof notes ? (size_t)segment->size : sizeof notes;

	return read_near(fd, beginning, segment->offset, notes, size) == 0 && cq_program_has_go_note(notes, size);
}

int cq_program_inspect(int fd, struct cq_program *ret)
{
	struct headers headers;
	struct cq_program program = {.is_64bit = false};
	struct beginning beginning;
	ssize_t got = cq_rawcall(SYS_pread64, fd, (long)beginning.bytes, sizeof beginning.bytes, 0);
	int r;

	if (got < 0)
		return (int)got;
	beginning.length = (size_t)got;
	r = read_headers(fd, &beginning, &headers);
	if (r < 0)
		return r;
	program.is_64bit = headers.is_64bit;
	program.machine = headers.machine;
	for (unsigned i = 0; i < headers.count && i < MAX_PROGRAM_HEADERS; i++) {
		struct segment segment;

		r = read_segment(fd, &beginning, &headers, i, &segment);
		if (r < 0)
			return r;
		if (segment.type == PT_INTERP)
			program.has_interpreter = true;
		else if (segment.type == PT_NOTE && !program.is_go)
			program.is_go = is_go_segment(fd, &beginning, &segment);
	}
	*ret = program;
	return 0;
}

bool cq_program_is_go(const char *root, const char *executable)
{
	int fd = cq_open_below(root, executable);
	struct cq_program program;
	bool is_go;

	if (fd < 0)
		return false;
	is_go = cq_program_inspect(fd, &program) == 0 && program.is_go;
	cq_raw_close(fd);
	return is_go;
}

int cq_program_name(const char *root, const char *executable, char *ret, size_t size)
{
	static const char deleted[] = " (deleted)";
	char path[CQ_PATH_MAX];
	const char *name = executable;
	size_t length = strlen(executable);

	if (strcmp(root, "/") == 0 && strncmp(executable, "/proc/", 6) == 0) {
		ssize_t got = cq_raw_readlink(executable, path, sizeof path);

		if (got < 0)
			return (int)got;
		if ((size_t)got == sizeof path)
			return -ENAMETOOLONG;
		length = (size_t)got;
		if (length > sizeof deleted - 1 && memcmp(path + length - (sizeof deleted - 1), deleted, sizeof deleted - 1) == 0)
			length -= sizeof deleted - 1;
		name = path;
	}
	for (size_t i = length; i > 0; i--) {
		if (name[i - 1] == '/') {
			name += i;
			length -= i;
			break;
		}
	}
	if (length >= size)
		return -ENAMETOOLONG;
	memmove(ret, name, length);
	ret[length] = '\0';
	return 0;
}
