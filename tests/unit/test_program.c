/* SPDX-License-Identifier: MIT */
#include "program.h"
#include "suites.h"
#include "support.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined __x86_64__
#define NATIVE EM_X86_64
#define FOREIGN EM_AARCH64
#define COMPATIBLE EM_386
#else
#define NATIVE EM_AARCH64
#define FOREIGN EM_X86_64
#define COMPATIBLE EM_ARM
#endif

#define NATIVE_ORDER (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB)
#define FOREIGN_ORDER (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2MSB : ELFDATA2LSB)

/* A file put together by hand. */
struct image {
	size_t size;
	char bytes[16384];
};

/* Notes begin with their sizes and type; this one is the first of most programs. */
static const char abi_note[] = "\4\0\0\0\20\0\0\0\1\0\0\0GNU\0\0\0\0\0\3\0\0\0\2\0\0\0\0\0\0\0";
/* With a build id of 5 bytes, so that it is padded. */
static const char go_note[] = "\4\0\0\0\5\0\0\0\4\0\0\0Go\0\0abcde\0\0";
#define NOTE_SIZE(note) (sizeof note - 1)

static void put(struct image *image, size_t offset, const void *bytes, size_t size)
{
	ck_assert_uint_le(offset + size, sizeof image->bytes);
	memcpy(image->bytes + offset, bytes, size);
	if (image->size < offset + size)
		image->size = offset + size;
}

static void put_header64(struct image *image, uint16_t machine, uint64_t offset, uint16_t count)
{
	Elf64_Ehdr header;

	memset(&header, 0, sizeof header);
	memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = NATIVE_ORDER;
	header.e_ident[EI_VERSION] = EV_CURRENT;
	header.e_type = ET_EXEC;
	header.e_machine = machine;
	header.e_phoff = offset;
	header.e_phentsize = sizeof(Elf64_Phdr);
	header.e_phnum = count;
	memset(image, 0, sizeof *image);
	put(image, 0, &header, sizeof header);
}

static void put_segment64(struct image *image, size_t at, uint32_t type, uint64_t offset, uint64_t size)
{
	Elf64_Phdr segment;

	memset(&segment, 0, sizeof segment);
	segment.p_type = type;
	segment.p_offset = offset;
	segment.p_filesz = size;
	put(image, at, &segment, sizeof segment);
}

#define AT64(i) (sizeof(Elf64_Ehdr) + (i) * sizeof(Elf64_Phdr))

static void put_header32(struct image *image, uint16_t machine, uint32_t offset, uint16_t count)
{
	Elf32_Ehdr header;

	memset(&header, 0, sizeof header);
	memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS32;
	header.e_ident[EI_DATA] = NATIVE_ORDER;
	header.e_ident[EI_VERSION] = EV_CURRENT;
	header.e_type = ET_EXEC;
	header.e_machine = machine;
	header.e_phoff = offset;
	header.e_phentsize = sizeof(Elf32_Phdr);
	header.e_phnum = count;
	memset(image, 0, sizeof *image);
	put(image, 0, &header, sizeof header);
}

static void put_segment32(struct image *image, size_t at, uint32_t type, uint32_t offset, uint32_t size)
{
	Elf32_Phdr segment;

	memset(&segment, 0, sizeof segment);
	segment.p_type = type;
	segment.p_offset = offset;
	segment.p_filesz = size;
	put(image, at, &segment, sizeof segment);
}

#define AT32(i) (sizeof(Elf32_Ehdr) + (i) * sizeof(Elf32_Phdr))

/* What cq_program_inspect() says of BYTES. On failure the result is as it was; the offset is never moved. */
static int inspect(const void *bytes, size_t size, struct cq_program *ret)
{
	static const struct cq_program untouched = {true, true, true, true, 4711};
	int fd = open_bytes(bytes, size), r;

	*ret = untouched;
	ck_assert_int_eq(lseek(fd, 3, SEEK_SET), 3);
	r = cq_program_inspect(fd, ret);
	ck_assert_int_eq(lseek(fd, 0, SEEK_CUR), 3);
	close(fd);
	ck_assert_int_le(r, 0);
	if (r < 0) {
		ck_assert(ret->is_64bit && ret->has_interpreter && ret->has_go_note && ret->is_go);
		ck_assert_int_eq(ret->machine, 4711);
	}
	return r;
}

static void expect_program(const struct image *image, bool is_64bit, bool has_interpreter, bool is_go, uint16_t machine)
{
	struct cq_program program;

	ck_assert_int_eq(inspect(image->bytes, image->size, &program), 0);
	ck_assert_int_eq(program.is_64bit, is_64bit);
	ck_assert_int_eq(program.has_interpreter, has_interpreter);
	ck_assert_int_eq(program.is_go, is_go);
	ck_assert(is_go || !program.has_go_note);
	ck_assert_int_eq(program.machine, machine);
}

static void expect_failure(const void *bytes, size_t size, int error)
{
	struct cq_program program;

	ck_assert_int_eq(inspect(bytes, size, &program), error);
}

START_TEST(static_program)
{
	struct image image;

	put_header64(&image, NATIVE, sizeof(Elf64_Ehdr), 2);
	put_segment64(&image, AT64(0), PT_LOAD, 0, 100);
	put_segment64(&image, AT64(1), PT_GNU_STACK, 0, 0);
	expect_program(&image, true, false, false, NATIVE);
	put_header64(&image, NATIVE, 0, 0);
	expect_program(&image, true, false, false, NATIVE);
}
END_TEST

START_TEST(dynamic_program)
{
	struct image image;

	put_header64(&image, FOREIGN, sizeof(Elf64_Ehdr), 3);
	put_segment64(&image, AT64(0), PT_PHDR, 0, 0);
	put_segment64(&image, AT64(1), PT_INTERP, 0, 28);
	put_segment64(&image, AT64(2), PT_LOAD, 0, 100);
	expect_program(&image, true, true, false, FOREIGN);
}
END_TEST

START_TEST(program_of_32_bits)
{
	struct image image;

	put_header32(&image, EM_386, sizeof(Elf32_Ehdr), 2);
	put_segment32(&image, AT32(0), PT_LOAD, 0, 100);
	put_segment32(&image, AT32(1), PT_INTERP, 0, 20);
	expect_program(&image, false, true, false, EM_386);
	put_header32(&image, EM_ARM, sizeof(Elf32_Ehdr), 1);
	put_segment32(&image, AT32(0), PT_NOTE, 2000, NOTE_SIZE(go_note));
	put(&image, 2000, go_note, NOTE_SIZE(go_note));
	expect_program(&image, false, false, true, EM_ARM);
	/* The smallest file there is: its header alone. */
	put_header32(&image, EM_386, 0, 0);
	expect_program(&image, false, false, false, EM_386);
	/* A header of 52 bytes is one of 32 bits only. */
	image.bytes[EI_CLASS] = ELFCLASS64;
	expect_failure(image.bytes, image.size, -ENOEXEC);
}
END_TEST

/* The note where the linker puts it, across the end of what is read at once, behind it, and behind another note. */
START_TEST(go_program)
{
	static const size_t places[] = {AT64(2), 1024 - NOTE_SIZE(go_note), 1010, 1024, 1025, 5000};
	struct image image;

	for (size_t i = 0; i < CQ_ARRAY_SIZE(places); i++) {
		put_header64(&image, NATIVE, sizeof(Elf64_Ehdr), 2);
		put_segment64(&image, AT64(0), PT_INTERP, 0, 0);
		put_segment64(&image, AT64(1), PT_NOTE, places[i], NOTE_SIZE(go_note));
		put(&image, places[i], go_note, NOTE_SIZE(go_note));
		expect_program(&image, true, true, true, NATIVE);
		/* The segment goes on behind the file's end. */
		image.size--;
		expect_program(&image, true, true, false, NATIVE);
	}

	put_header64(&image, NATIVE, sizeof(Elf64_Ehdr), 3);
	put_segment64(&image, AT64(0), PT_NOTE, 400, NOTE_SIZE(abi_note));
	put_segment64(&image, AT64(1), PT_NOTE, 500, NOTE_SIZE(abi_note) + NOTE_SIZE(go_note));
	put_segment64(&image, AT64(2), PT_NOTE, 600, NOTE_SIZE(abi_note));
	put(&image, 400, abi_note, NOTE_SIZE(abi_note));
	put(&image, 500, abi_note, NOTE_SIZE(abi_note));
	put(&image, 500 + NOTE_SIZE(abi_note), go_note, NOTE_SIZE(go_note));
	put(&image, 600, abi_note, NOTE_SIZE(abi_note));
	expect_program(&image, true, false, true, NATIVE);
}
END_TEST

/* Section headers at AT, of which number NAMES says where the names of all are. */
static void put_sections64(struct image *image, size_t at, uint16_t count, uint16_t names, uint64_t offset,
			   uint64_t size)
{
	Elf64_Ehdr header;
	Elf64_Shdr section;

	memcpy(&header, image->bytes, sizeof header);
	header.e_shoff = at;
	header.e_shentsize = sizeof section;
	header.e_shnum = count;
	header.e_shstrndx = names;
	put(image, 0, &header, sizeof header);
	memset(&section, 0, sizeof section);
	section.sh_type = SHT_STRTAB;
	section.sh_offset = offset;
	section.sh_size = size;
	put(image, at + names * sizeof section, &section, sizeof section);
}

static const char go_names[] = "\0.text\0.go.buildinfo\0.shstrtab";
static const char c_names[] = "\0.text\0.note.gnu.build-id\0.shstrtab\0";

/* One that was linked without a build id (-ldflags=-buildid=) has no note, but its sections tell. */
START_TEST(go_program_without_note)
{
	static const size_t places[] = {300, 1024 - sizeof go_names, 1010, 5000};
	struct image image;

	for (size_t i = 0; i < CQ_ARRAY_SIZE(places); i++) {
		put_header64(&image, NATIVE, sizeof(Elf64_Ehdr), 1);
		put_segment64(&image, AT64(0), PT_INTERP, 0, 0);
		put_sections64(&image, 8000, 4, 3, places[i], sizeof go_names);
		put(&image, places[i], go_names, sizeof go_names);
		expect_program(&image, true, true, true, NATIVE);
		/* Another one has other names. */
		image.bytes[places[i] + strlen("X.text") + strlen("X.go.buildinf")] = 'X';
		expect_program(&image, true, true, false, NATIVE);
	}
	/* The names end in it, and it has to be whole. */
	for (size_t size = 0; size <= sizeof go_names; size++) {
		put_header64(&image, NATIVE, 0, 0);
		put_sections64(&image, 128, 4, 3, 5000, size);
		put(&image, 5000, go_names, sizeof go_names);
		expect_program(&image, true, false, size >= strlen("X.text") + 1 + sizeof ".go.buildinfo", NATIVE);
	}
	put_header64(&image, NATIVE, 0, 0);
	put_sections64(&image, 128, 2, 1, 5000, sizeof c_names);
	put(&image, 5000, c_names, sizeof c_names);
	expect_program(&image, true, false, false, NATIVE);
}
END_TEST

START_TEST(go_program_of_32_bits_without_note)
{
	Elf32_Ehdr header;
	Elf32_Shdr section;
	struct image image;

	put_header32(&image, EM_386, 0, 0);
	memcpy(&header, image.bytes, sizeof header);
	header.e_shoff = 200;
	header.e_shnum = 2;
	header.e_shstrndx = 1;
	put(&image, 0, &header, sizeof header);
	memset(&section, 0, sizeof section);
	section.sh_offset = 3000;
	section.sh_size = sizeof go_names;
	put(&image, 200 + sizeof section, &section, sizeof section);
	put(&image, 3000, go_names, sizeof go_names);
	expect_program(&image, false, false, true, EM_386);
	put(&image, 3000, c_names, sizeof c_names);
	expect_program(&image, false, false, false, EM_386);
}
END_TEST

/* Whatever the section headers say, the program is one, and no one's of Go. */
START_TEST(hostile_sections)
{
	static const uint64_t offsets[] = {0, 1, 63, 6000, 16383, 1 << 20, INT64_MAX, UINT64_MAX, UINT64_MAX - 63};
	static const uint64_t sizes[] = {0, 1, 13, 1024, 1025, 1 << 20, INT64_MAX, UINT64_MAX};
	struct image image;
	Elf64_Ehdr header;

	for (size_t i = 0; i < CQ_ARRAY_SIZE(offsets); i++) {
		for (size_t j = 0; j < CQ_ARRAY_SIZE(sizes); j++) {
			put_header64(&image, NATIVE, 0, 0);
			put_sections64(&image, 128, 4, 3, offsets[i], sizes[j]);
			expect_program(&image, true, false, false, NATIVE);
		}
		put_header64(&image, NATIVE, 0, 0);
		put_sections64(&image, 128, 4, 3, 5000, sizeof go_names);
		put(&image, 5000, go_names, sizeof go_names);
		expect_program(&image, true, false, true, NATIVE);
		memcpy(&header, image.bytes, sizeof header);
		header.e_shoff = offsets[i];
		put(&image, 0, &header, sizeof header);
		expect_program(&image, true, false, false, NATIVE);
	}
	/* The names are in a section that there is none of, though there is something in its place. */
	put_header64(&image, NATIVE, 0, 0);
	put(&image, 5000, go_names, sizeof go_names);
	for (uint16_t count = 0; count < 6; count++) {
		put_sections64(&image, 128, count, 3, 5000, sizeof go_names);
		expect_program(&image, true, false, count > 3, NATIVE);
	}
	memcpy(&header, image.bytes, sizeof header);
	header.e_shstrndx = SHN_XINDEX;
	put(&image, 0, &header, sizeof header);
	expect_program(&image, true, false, false, NATIVE);
	/* Only the first names of many are looked at. */
	for (size_t size = 1000; size < 4000; size += 12) {
		put_header64(&image, NATIVE, 0, 0);
		put_sections64(&image, 128, 4, 3, 5000, size);
		put(&image, 5000, go_names, sizeof go_names);
		put(&image, 9000, "", 1);
		expect_program(&image, true, false, true, NATIVE);
		memset(image.bytes + 5000, 0, sizeof go_names);
		put(&image, 6024, go_names, sizeof go_names);
		expect_program(&image, true, false, false, NATIVE);
	}
}
END_TEST

START_TEST(go_note_in_no_note_segment_is_none)
{
	struct image image;

	put_header64(&image, NATIVE, sizeof(Elf64_Ehdr), 1);
	put_segment64(&image, AT64(0), PT_LOAD, 400, NOTE_SIZE(go_note));
	put(&image, 400, go_note, NOTE_SIZE(go_note));
	expect_program(&image, true, false, false, NATIVE);
}
END_TEST

START_TEST(not_elf)
{
	static const char script[] = "#!/bin/sh\nexec true, and so on, for more bytes than an ELF header has\n";
	struct image image;

	expect_failure("", 0, -ENOEXEC);
	expect_failure("x", 1, -ENOEXEC);
	expect_failure(ELFMAG, SELFMAG, -ENOEXEC);
	expect_failure(script, sizeof script - 1, -ENOEXEC);
	memset(&image, 0, sizeof image);
	expect_failure(image.bytes, sizeof image.bytes, -ENOEXEC);
	memset(&image, 0xff, sizeof image);
	expect_failure(image.bytes, sizeof image.bytes, -ENOEXEC);
	put_header64(&image, NATIVE, 0, 0);
	image.bytes[EI_DATA] = FOREIGN_ORDER;
	expect_failure(image.bytes, image.size, -ENOEXEC);
	for (size_t i = 0; i < SELFMAG; i++) {
		put_header64(&image, NATIVE, 0, 0);
		image.bytes[i] ^= 1;
		expect_failure(image.bytes, image.size, -ENOEXEC);
	}
}
END_TEST

START_TEST(cannot_be_read)
{
	struct cq_program program;
	char name[64];
	int ends[2], fd;

	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(cq_program_inspect(ends[0], &program), -ESPIPE);
	ck_assert_int_eq(cq_program_interpreter(ends[0], name, sizeof name), -ESPIPE);
	ck_assert_int_eq(cq_program_inspect(ends[1], &program), -ESPIPE);
	close(ends[0]);
	close(ends[1]);
	ck_assert_int_eq(cq_program_inspect(-1, &program), -EBADF);
	ck_assert_int_eq(cq_program_interpreter(-1, name, sizeof name), -EBADF);
	fd = open("/", O_RDONLY | O_DIRECTORY);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(cq_program_inspect(fd, &program), -EISDIR);
	ck_assert_int_eq(cq_program_interpreter(fd, name, sizeof name), -EISDIR);
	close(fd);
}
END_TEST

START_TEST(hostile_headers)
{
	struct cq_program program;
	struct image image;

	/* Program headers behind the end, at the end of the world, and where the sum overflows. */
	put_header64(&image, NATIVE, 4096, 1);
	expect_failure(image.bytes, image.size, -ENOEXEC);
	put_header64(&image, NATIVE, INT64_MAX, 1);
	ck_assert_int_lt(inspect(image.bytes, image.size, &program), 0);
	put_header64(&image, NATIVE, UINT64_MAX, 1);
	ck_assert_int_lt(inspect(image.bytes, image.size, &program), 0);
	put_header64(&image, NATIVE, UINT64_MAX - sizeof(Elf64_Phdr), 2);
	ck_assert_int_lt(inspect(image.bytes, image.size, &program), 0);
	put_header32(&image, EM_386, UINT32_MAX, UINT16_MAX);
	expect_failure(image.bytes, image.size, -ENOEXEC);

	/* Notes there; the rest of what the file says still holds. */
	static const uint64_t offsets[] = {0, 100, 4096, 1 << 20, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX - 1023,
					   UINT64_MAX};
	for (size_t i = 0; i < CQ_ARRAY_SIZE(offsets); i++) {
		for (size_t j = 0; j < CQ_ARRAY_SIZE(offsets); j++) {
			put_header64(&image, NATIVE, sizeof(Elf64_Ehdr), 2);
			put_segment64(&image, AT64(0), PT_NOTE, offsets[i], offsets[j]);
			put_segment64(&image, AT64(1), PT_INTERP, offsets[i], offsets[j]);
			expect_program(&image, true, true, false, NATIVE);
		}
	}
}
END_TEST

/* No more than 64 program headers are looked at, however many there are said to be. */
START_TEST(many_program_headers)
{
	static const unsigned last[] = {0, 1, 17, 63};
	struct image image;

	for (size_t i = 0; i < CQ_ARRAY_SIZE(last); i++) {
		put_header64(&image, NATIVE, sizeof(Elf64_Ehdr), UINT16_MAX);
		put_segment64(&image, AT64(63), PT_LOAD, 0, 0);
		put_segment64(&image, AT64(last[i]), PT_INTERP, 0, 0);
		expect_program(&image, true, true, false, NATIVE);
		image.size = AT64(64) - 1;
		expect_failure(image.bytes, image.size, -ENOEXEC);
	}
}
END_TEST

static size_t read_self(char *buffer, size_t size)
{
	FILE *file = fopen("/proc/self/exe", "r");
	size_t got;

	ck_assert_ptr_nonnull(file);
	got = fread(buffer, 1, size, file);
	fclose(file);
	return got;
}

/* This program itself, and every length that it may be cut to. */
START_TEST(truncated_program)
{
	char bytes[1024];
	Elf64_Ehdr header;
	size_t headers_end;

	ck_assert_uint_eq(read_self(bytes, sizeof bytes), sizeof bytes);
	memcpy(&header, bytes, sizeof header);
	headers_end = header.e_phoff + (size_t)header.e_phnum * header.e_phentsize;
	ck_assert_uint_lt(headers_end, sizeof bytes);
	for (size_t size = 0; size <= sizeof bytes; size++) {
		struct cq_program program;

		ck_assert_int_eq(inspect(bytes, size, &program), size < headers_end ? -ENOEXEC : 0);
		if (size >= headers_end) {
			ck_assert(program.is_64bit && program.has_interpreter && !program.is_go);
			ck_assert_int_eq(program.machine, NATIVE);
			ck_assert(!cq_program_needs_trap(&program));
		}
	}
}
END_TEST

/* Bits turned over in the headers of this program and in a Go note: an answer or an error, and nothing else happens. */
START_TEST(damaged_program)
{
	struct image image;
	unsigned good = 0, bad = 0;

	put_header64(&image, NATIVE, sizeof(Elf64_Ehdr), 3);
	put_segment64(&image, AT64(0), PT_INTERP, 0, 0);
	put_segment64(&image, AT64(1), PT_NOTE, 500, NOTE_SIZE(abi_note) + NOTE_SIZE(go_note));
	put_segment64(&image, AT64(2), PT_NOTE, 1100, NOTE_SIZE(go_note));
	put(&image, 500, abi_note, NOTE_SIZE(abi_note));
	put(&image, 500 + NOTE_SIZE(abi_note), go_note, NOTE_SIZE(go_note));
	put(&image, 1100, go_note, NOTE_SIZE(go_note));
	srand(4);
	for (unsigned round = 0; round < 3000; round++) {
		struct image damaged = image;
		struct cq_program program;

		for (unsigned i = (unsigned)rand() % 8; i < 8; i++) {
			size_t at = (size_t)rand() % 2 ? (size_t)rand() % AT64(3) : 500 + (size_t)rand() % 60;

			damaged.bytes[at] ^= (char)(1 << rand() % 8);
		}
		if (inspect(damaged.bytes, damaged.size, &program) == 0)
			good++;
		else
			bad++;
	}
	ck_assert_uint_gt(good, 0);
	ck_assert_uint_gt(bad, 0);
}
END_TEST

/* In memory of just their size: whatever is read behind it is an error to a sanitizer. */
static bool has_go_note(const void *notes, size_t size)
{
	char *copy = malloc(size ? size : 1);
	bool has;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, notes, size);
	has = cq_program_has_go_note(copy, size);
	free(copy);
	return has;
}

START_TEST(notes)
{
	char both[NOTE_SIZE(abi_note) + NOTE_SIZE(go_note)];
	size_t go_at = NOTE_SIZE(abi_note);

	memcpy(both, abi_note, NOTE_SIZE(abi_note));
	memcpy(both + go_at, go_note, NOTE_SIZE(go_note));
	ck_assert(has_go_note(go_note, NOTE_SIZE(go_note)));
	ck_assert(!has_go_note(abi_note, NOTE_SIZE(abi_note)));
	ck_assert(has_go_note(both, sizeof both));
	ck_assert(!has_go_note("", 0));
	/* Truncated: up to the end of its name the note is not one. */
	for (size_t size = 0; size < sizeof both; size++)
		ck_assert_int_eq(has_go_note(both, size), size >= go_at + 16);
	/* Other types and names. */
	for (size_t i = 0; i < 16; i++) {
		if (i >= 4 && i < 8) /* its length may be any */
			continue;
		memcpy(both + go_at, go_note, NOTE_SIZE(go_note));
		both[go_at + i] ^= 2;
		ck_assert_msg(!has_go_note(both, sizeof both), "byte %zu", i);
	}
}
END_TEST

START_TEST(hostile_notes)
{
	static const uint32_t sizes[] = {0, 1, 3, 4, 5, 100, 0x7ffffffc, 0x7fffffff, 0x80000000, 0xfffffff4, 0xfffffffc,
					 0xfffffffd, 0xffffffff};
	char both[12 + NOTE_SIZE(go_note)];

	/* Sizes that overflow when they are rounded up or added: the walk ends, and inside. */
	for (size_t i = 0; i < CQ_ARRAY_SIZE(sizes); i++) {
		for (size_t j = 0; j < CQ_ARRAY_SIZE(sizes); j++) {
			memset(both, 0, 12);
			memcpy(both, &sizes[i], 4);
			memcpy(both + 4, &sizes[j], 4);
			memcpy(both + 12, go_note, NOTE_SIZE(go_note));
			ck_assert_int_eq(has_go_note(both, sizeof both), sizes[i] == 0 && sizes[j] == 0);
		}
	}
	srand(5);
	for (unsigned round = 0; round < 20000; round++) {
		uint32_t words[24];
		size_t size = (size_t)rand() % sizeof words;

		for (size_t i = 0; i < CQ_ARRAY_SIZE(words); i++)
			words[i] = (uint32_t)(rand() % 16 ? rand() % 9 : rand());
		/* A name cannot come about by chance. */
		ck_assert(!has_go_note(words, size));
	}
}
END_TEST

static const struct script {
	const char *text;
	const char *interpreter; /* NULL: none */
} scripts[] = {
	{"#!/bin/sh\n", "/bin/sh"},
	{"#!/bin/sh", "/bin/sh"},
	{"#! /bin/sh -e\n", "/bin/sh"},
	{"#!\t \t/usr/bin/env\tpython3\n", "/usr/bin/env"},
	{"#!/bin/sh \n", "/bin/sh"},
	{"#!/bin/sh\r\n", "/bin/sh\r"}, /* the kernel looks for that, too */
	{"#!sh\n", "sh"},
	{"#!x", "x"},
	{"", NULL},
	{"#", NULL},
	{"#!", NULL},
	{"#!\n/bin/sh\n", NULL},
	{"#!  \t\n/bin/sh\n", NULL},
	{"#!    ", NULL},
	{"# !/bin/sh\n", NULL},
	{" #!/bin/sh\n", NULL},
	{"\n#!/bin/sh\n", NULL},
	{"!#/bin/sh\n", NULL},
	{"\177ELF", NULL},
	{"true\n", NULL},
};

START_TEST(interpreter_of_script)
{
	const struct script *t = &scripts[_i];
	char name[64] = "untouched";
	int fd = open_bytes(t->text, strlen(t->text));

	ck_assert_int_eq(cq_program_interpreter(fd, name, sizeof name), t->interpreter ? 0 : -ENOEXEC);
	ck_assert_str_eq(name, t->interpreter ? t->interpreter : "untouched");
	if (t->interpreter) {
		size_t length = strlen(t->interpreter);

		ck_assert_int_eq(cq_program_interpreter(fd, name, length + 1), 0);
		strcpy(name, "untouched");
		ck_assert_int_eq(cq_program_interpreter(fd, name, length), -ENOEXEC);
		ck_assert_str_eq(name, "untouched");
	}
	close(fd);
}
END_TEST

START_TEST(interpreter_with_nul_bytes)
{
	char name[64] = "untouched";
	int fd = open_bytes("#!/bin/sh\0 x\n", 13);

	ck_assert_int_eq(cq_program_interpreter(fd, name, sizeof name), 0);
	ck_assert_str_eq(name, "/bin/sh");
	close(fd);
	strcpy(name, "untouched");
	fd = open_bytes("#!\0/bin/sh\n", 11);
	ck_assert_int_eq(cq_program_interpreter(fd, name, sizeof name), -ENOEXEC);
	ck_assert_str_eq(name, "untouched");
	close(fd);
}
END_TEST

/* The kernel reads 256 bytes, and takes no name that may go on behind them (fs/binfmt_script.c). */
START_TEST(interpreter_that_is_cut)
{
	char *text = repeat('x', 1000), name[512] = "untouched";
	int fd;

	memcpy(text, "#!/", 3);
	fd = open_bytes(text, 1000);
	ck_assert_int_eq(cq_program_interpreter(fd, name, sizeof name), -ENOEXEC);
	ck_assert_str_eq(name, "untouched");
	close(fd);
	/* Its arguments may go on. */
	text[200] = ' ';
	fd = open_bytes(text, 1000);
	ck_assert_int_eq(cq_program_interpreter(fd, name, sizeof name), 0);
	ck_assert_uint_eq(strlen(name), 198);
	close(fd);
	/* Nothing but spaces up to there. */
	memset(text + 2, ' ', 998);
	fd = open_bytes(text, 1000);
	ck_assert_int_eq(cq_program_interpreter(fd, name, sizeof name), -ENOEXEC);
	close(fd);
	free(text);
}
END_TEST

/* What the kernel would refuse is no program: an object file, or one whose headers have another size. */
START_TEST(not_executable)
{
	static const uint16_t types[] = {ET_NONE, ET_REL, ET_CORE};
	struct cq_program program;
	Elf64_Ehdr header;
	struct image image;

	put_header64(&image, NATIVE, 0, 0);
	memcpy(&header, image.bytes, sizeof header);
	for (size_t i = 0; i < CQ_ARRAY_SIZE(types); i++) {
		header.e_type = types[i];
		put(&image, 0, &header, sizeof header);
		ck_assert_int_eq(inspect(image.bytes, image.size, &program), -ENOEXEC);
	}
	header.e_type = ET_DYN;
	put(&image, 0, &header, sizeof header);
	ck_assert_int_eq(inspect(image.bytes, image.size, &program), 0);
	header.e_phentsize++;
	put(&image, 0, &header, sizeof header);
	ck_assert_int_eq(inspect(image.bytes, image.size, &program), -ENOEXEC);
}
END_TEST

START_TEST(trap_is_needed)
{
	for (unsigned i = 0; i < 8; i++) {
		struct cq_program program = {.is_64bit = i & 1, .has_interpreter = i & 2, .is_go = i & 4};

		program.machine = NATIVE; /* with short pointers, x32, on x86-64 only */
		ck_assert_int_eq(cq_program_needs_trap(&program), (program.is_64bit || NATIVE == EM_X86_64) && i != 3);
		program.machine = COMPATIBLE;
		ck_assert(cq_program_needs_trap(&program));
		program.machine = FOREIGN;
		ck_assert(!cq_program_needs_trap(&program));
	}
}
END_TEST

START_TEST(go_program_by_name)
{
	char *root = make_tree();
	struct image image;

	put_header64(&image, NATIVE, sizeof(Elf64_Ehdr), 1);
	put_segment64(&image, AT64(0), PT_NOTE, 400, NOTE_SIZE(go_note));
	put(&image, 400, go_note, NOTE_SIZE(go_note));
	write_bytes(root, "bin/go-program", image.bytes, image.size);
	write_file(root, "bin/script", "#!/bin/go-program\n");
	make_directory(root, "bin/directory");
	ck_assert(cq_program_is_go(root, "/bin/go-program"));
	ck_assert(!cq_program_is_go(root, "/bin/script"));
	ck_assert(!cq_program_is_go(root, "/bin/directory"));
	ck_assert(!cq_program_is_go(root, "/bin/missing"));
	ck_assert(!cq_program_is_go("/", "/proc/self/exe"));
	free(root);
}
END_TEST

/* first/tool is a directory, second/tool may not be executed, third/tool may. */
static char *make_path(void)
{
	char *root = make_tree(), *tool;

	make_directory(root, "first/tool");
	write_file(root, "second/tool", "text");
	write_file(root, "third/tool", "text");
	ck_assert_int_gt(asprintf(&tool, "%s/third/tool", root), 0);
	ck_assert_int_eq(chmod(tool, 0755), 0);
	free(tool);
	return root;
}

START_TEST(search_passes_what_cannot_be_executed)
{
	char *root = make_path(), *directories, *expected, found[4096];

	ck_assert_int_gt(asprintf(&directories, "%s/none:%s/first:%s/second:%s/third", root, root, root, root), 0);
	ck_assert_int_gt(asprintf(&expected, "%s/third/tool", root), 0);
	ck_assert_int_eq(cq_program_search("tool", directories, found, sizeof found), 0);
	ck_assert_str_eq(found, expected);
	ck_assert_int_eq(cq_program_search("tool", directories, found, strlen(expected) + 1), 0);
	ck_assert_int_eq(cq_program_search("tool", directories, found, strlen(expected)), -ENOENT);
	ck_assert_int_eq(cq_program_search("nothing", directories, found, sizeof found), -ENOENT);
	ck_assert_int_eq(cq_program_search("", directories, found, sizeof found), -ENOENT);
	free(expected);
	free(directories);
	free(root);
}
END_TEST

START_TEST(search_without_directories)
{
	char *root = make_path(), *third, found[4096];

	ck_assert_int_eq(cq_program_search("sh", NULL, found, sizeof found), 0);
	ck_assert_str_eq(found, "/bin/sh");
	ck_assert_int_eq(cq_program_search("sh", "", found, sizeof found), -ENOENT);
	ck_assert_int_gt(asprintf(&third, "%s/third", root), 0);
	ck_assert_int_eq(chdir(third), 0);
	ck_assert_int_eq(cq_program_search("tool", "", found, sizeof found), 0);
	ck_assert_str_eq(found, "tool");
	ck_assert_int_eq(cq_program_search("tool", "/none:", found, sizeof found), 0);
	ck_assert_str_eq(found, "tool");
	ck_assert_int_eq(chdir("/"), 0);
	free(third);
	free(root);
}
END_TEST

START_TEST(name_without_directory)
{
	static const struct {
		const char *executable, *name;
	} names[] = {
		{"/usr/bin/java", "java"}, {"java", "java"}, {"./java", "java"}, {"/java", "java"}, {"/", ""}, {"", ""},
		{"/usr/bin/", ""}, {"a/b c", "b c"}, {"/bin/x (deleted)", "x (deleted)"},
	};

	for (size_t i = 0; i < CQ_ARRAY_SIZE(names); i++) {
		size_t length = strlen(names[i].name);
		char name[32] = "untouched";

		ck_assert_int_eq(cq_program_name("/", names[i].executable, name, sizeof name), 0);
		ck_assert_str_eq(name, names[i].name);
		ck_assert_int_eq(cq_program_name("/", names[i].executable, name, length + 1), 0);
		ck_assert_str_eq(name, names[i].name);
		if (!length)
			continue;
		strcpy(name, "untouched");
		ck_assert_int_eq(cq_program_name("/", names[i].executable, name, length), -ENAMETOOLONG);
		ck_assert_str_eq(name, "untouched");
	}
}
END_TEST

START_TEST(name_behind_a_link_of_proc)
{
	char *root = make_tree(), *path = NULL, link[64], name[64] = "untouched";
	const char *self;
	char real[4096];
	ssize_t length = readlink("/proc/self/exe", real, sizeof real - 1);
	int fd;

	ck_assert_int_gt(length, 0);
	real[length] = '\0';
	self = strrchr(real, '/') + 1;
	ck_assert_int_eq(cq_program_name("/", "/proc/self/exe", name, sizeof name), 0);
	ck_assert_str_eq(name, self);
	ck_assert_int_eq(cq_program_name("/", "/proc/self/no link", name, sizeof name), -ENOENT);
	/* In another tree such a path is a name as any. */
	ck_assert_int_eq(cq_program_name(root, "/proc/self/exe", name, sizeof name), 0);
	ck_assert_str_eq(name, "exe");

	/* The link of an open file says the same as that of an executable when the file is deleted. */
	write_file(root, "program", "x");
	ck_assert_int_gt(asprintf(&path, "%s/program", root), 0);
	fd = open(path, O_RDONLY);
	ck_assert_int_ge(fd, 0);
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ck_assert_int_eq(cq_program_name("/", link, name, sizeof name), 0);
	ck_assert_str_eq(name, "program");
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(cq_program_name("/", link, name, sizeof name), 0);
	ck_assert_str_eq(name, "program");
	ck_assert_int_eq(cq_program_name("/", link, name, sizeof "program" - 1), -ENAMETOOLONG);
	close(fd);
	free(path);
	free(root);
}
END_TEST

Suite *cq_test_program(void)
{
	Suite *suite = suite_create("program");
	TCase *tests = tcase_create("program");

	tcase_set_timeout(tests, 60); /* under valgrind */
	tcase_add_test(tests, static_program);
	tcase_add_test(tests, dynamic_program);
	tcase_add_test(tests, program_of_32_bits);
	tcase_add_test(tests, go_program);
	tcase_add_test(tests, go_program_without_note);
	tcase_add_test(tests, go_program_of_32_bits_without_note);
	tcase_add_test(tests, hostile_sections);
	tcase_add_test(tests, go_note_in_no_note_segment_is_none);
	tcase_add_test(tests, not_elf);
	tcase_add_test(tests, cannot_be_read);
	tcase_add_test(tests, hostile_headers);
	tcase_add_test(tests, many_program_headers);
	tcase_add_test(tests, truncated_program);
	tcase_add_test(tests, damaged_program);
	tcase_add_test(tests, notes);
	tcase_add_test(tests, hostile_notes);
	tcase_add_loop_test(tests, interpreter_of_script, 0, CQ_ARRAY_SIZE(scripts));
	tcase_add_test(tests, interpreter_with_nul_bytes);
	tcase_add_test(tests, interpreter_that_is_cut);
	tcase_add_test(tests, not_executable);
	tcase_add_test(tests, trap_is_needed);
	tcase_add_test(tests, go_program_by_name);
	tcase_add_test(tests, search_passes_what_cannot_be_executed);
	tcase_add_test(tests, search_without_directories);
	tcase_add_test(tests, name_without_directory);
	tcase_add_test(tests, name_behind_a_link_of_proc);
	suite_add_tcase(suite, tests);
	return suite;
}
