/* SPDX-License-Identifier: MIT */
#include "program.h"

#include "rawcall.h"
#include "smallfile.h"
#include "text.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

/* More than that no program has; what comes behind is not looked at. */
#define MAX_PROGRAM_HEADERS 64
#define MAX_NOTES_SIZE 1024
#define MAX_SECTION_NAMES 1024

/* The note's type (cmd/link/internal/ld/elf.go: ELF_NOTE_GOBUILDID_TAG). */
#define GO_BUILD_ID_NOTE 4

/* What execvp takes for PATH where the variable is not set (glibc; musl has /usr/local/bin before). */
#define DEFAULT_PATH "/bin:/usr/bin"

/* What the kernel reads of a script's first line (BINPRM_BUF_SIZE). */
#define FIRST_LINE_SIZE 256

#if defined __x86_64__
#define NATIVE_MACHINE EM_X86_64
#define COMPATIBLE_MACHINE EM_386
#define HAS_SHORT_POINTERS 1 /* x32 */
#elif defined __aarch64__
#define NATIVE_MACHINE EM_AARCH64
#define COMPATIBLE_MACHINE EM_ARM
#define HAS_SHORT_POINTERS 0
#endif

/* The beginning of the file, read at once: the headers and most often the notes are in it. */
struct file {
	int fd;
	size_t size; /* of what is in the buffer */
	char begin[1024] __attribute__((aligned(8)));
};

static int read_at(const struct file *file, uint64_t offset, void *buffer, size_t size)
{
	ssize_t got;

	if (offset < file->size && size <= file->size - offset) {
		memmove(buffer, file->begin + offset, size);
		return 0;
	}
	got = cq_rawcall(SYS_pread64, file->fd, (long)buffer, (long)size, (long)offset);
	if (got < 0)
		return (int)got;
	return (size_t)got == size ? 0 : -ENOEXEC;
}

/* A program header of either class. */
struct segment {
	uint32_t type;
	uint64_t offset;
	uint64_t size;
};

struct headers {
	bool is_64bit;
	uint16_t type; /* ET_* of elf(5) */
	uint16_t machine;
	uint64_t offset; /* of the program headers */
	unsigned entry_size, real_entry_size; /* as they are to be, and as the file says */
	unsigned count;
	uint64_t section_offset; /* of the section headers */
	unsigned section_count;
	unsigned names; /* the section that has the names */
};

static int read_headers(const struct file *file, struct headers *ret)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr elf32;
		Elf64_Ehdr elf64;
	} header;
	const unsigned char native_order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
	int r = read_at(file, 0, &header.elf32, sizeof header.elf32);

	if (r < 0)
		return r;
	if (memcmp(header.ident, ELFMAG, SELFMAG) != 0 || header.ident[EI_DATA] != native_order)
		return -ENOEXEC;
	ret->is_64bit = header.ident[EI_CLASS] == ELFCLASS64;
	ret->type = header.elf32.e_type;
	ret->machine = header.elf32.e_machine;
	if (!ret->is_64bit) {
		ret->offset = header.elf32.e_phoff;
		ret->entry_size = sizeof(Elf32_Phdr);
		ret->real_entry_size = header.elf32.e_phentsize;
		ret->count = header.elf32.e_phnum;
		ret->section_offset = header.elf32.e_shoff;
		ret->section_count = header.elf32.e_shnum;
		ret->names = header.elf32.e_shstrndx;
		return 0;
	}
	r = read_at(file, 0, &header.elf64, sizeof header.elf64);
	ret->offset = header.elf64.e_phoff;
	ret->entry_size = sizeof(Elf64_Phdr);
	ret->real_entry_size = header.elf64.e_phentsize;
	ret->count = header.elf64.e_phnum;
	ret->section_offset = header.elf64.e_shoff;
	ret->section_count = header.elf64.e_shnum;
	ret->names = header.elf64.e_shstrndx;
	return r;
}

static int read_segment(const struct file *file, const struct headers *headers, unsigned i, struct segment *ret)
{
	union {
		Elf32_Phdr elf32;
		Elf64_Phdr elf64;
	} header;
	int r = read_at(file, headers->offset + (uint64_t)i * headers->entry_size, &header, headers->entry_size);

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

static bool is_go_segment(const struct file *file, const struct segment *segment)
{
	char notes[MAX_NOTES_SIZE];
	size_t size = segment->size < sizeof notes ? (size_t)segment->size : sizeof notes;

	return read_at(file, segment->offset, notes, size) == 0 && cq_program_has_go_note(notes, size);
}

/* True if there is a section that only Go's programs have (cmd/link/internal/ld/data.go: .go.buildinfo), looked for by the
 * names of all sections. A program may have been linked without a build id, and so without the note. */
static bool has_go_section(const struct file *file, const struct headers *headers)
{
	static const char wanted[] = ".go.buildinfo";
	union {
		Elf32_Shdr elf32;
		Elf64_Shdr elf64;
	} header;
	size_t entry_size = headers->is_64bit ? sizeof header.elf64 : sizeof header.elf32, size;
	char names[MAX_SECTION_NAMES];
	uint64_t offset;

	if (!headers->section_offset || headers->names >= headers->section_count ||
	    read_at(file, headers->section_offset + headers->names * entry_size, &header, entry_size) < 0)
		return false;
	offset = headers->is_64bit ? header.elf64.sh_offset : header.elf32.sh_offset;
	size = headers->is_64bit ? header.elf64.sh_size : header.elf32.sh_size;
	if (size > sizeof names)
		size = sizeof names;
	if (read_at(file, offset, names, size) < 0)
		return false;
	for (size_t i = 0; i + sizeof wanted <= size; i++) {
		if (memcmp(names + i, wanted, sizeof wanted) == 0)
			return true;
	}
	return false;
}

/* What the kernel asks for before it looks further (fs/binfmt_elf.c, load_elf_binary, load_elf_phdrs). */
static bool is_program(const struct headers *headers)
{
	return (headers->type == ET_EXEC || headers->type == ET_DYN) && headers->real_entry_size == headers->entry_size;
}

int cq_program_inspect(int fd, struct cq_program *ret)
{
	struct file file = {.fd = fd};
	struct headers headers;
	struct cq_program program = {.is_64bit = false};
	ssize_t got = cq_rawcall(SYS_pread64, fd, (long)file.begin, sizeof file.begin, 0);
	int r;

	if (got < 0)
		return (int)got;
	file.size = (size_t)got;
	r = read_headers(&file, &headers);
	if (r < 0)
		return r;
	if (!is_program(&headers))
		return -ENOEXEC;
	program.is_64bit = headers.is_64bit;
	program.machine = headers.machine;
	for (unsigned i = 0; i < headers.count && i < MAX_PROGRAM_HEADERS; i++) {
		struct segment segment;

		r = read_segment(&file, &headers, i, &segment);
		if (r < 0)
			return r;
		if (segment.type == PT_INTERP)
			program.has_interpreter = true;
		else if (segment.type == PT_NOTE && !program.has_go_note)
			program.has_go_note = is_go_segment(&file, &segment);
	}
	program.is_go = program.has_go_note || has_go_section(&file, &headers);
	*ret = program;
	return 0;
}

int cq_program_interpreter(int fd, char *ret, size_t size)
{
	char line[FIRST_LINE_SIZE];
	ssize_t got = cq_rawcall(SYS_pread64, fd, (long)line, sizeof line - 1, 0);
	const char *name;
	size_t length;

	if (got < 0)
		return (int)got;
	line[got] = '\0';
	if (line[0] != '#' || line[1] != '!')
		return -ENOEXEC;
	name = line + 2 + strspn(line + 2, " \t");
	length = strcspn(name, " \t\n");
	/* One that does not end within what the kernel reads is none to it either (fs/binfmt_script.c). */
	if (!length || length >= size || (!name[length] && (size_t)got == sizeof line - 1))
		return -ENOEXEC;
	memmove(ret, name, length);
	ret[length] = '\0';
	return 0;
}

bool cq_program_is_native(const struct cq_program *program)
{
	return program->is_64bit && program->machine == NATIVE_MACHINE;
}

/* True if this machine's kernel may execute the program: it is native or of the older machine that this one still is. */
static bool is_runnable(const struct cq_program *program)
{
	return cq_program_is_native(program) || program->machine == COMPATIBLE_MACHINE ||
	       (program->machine == NATIVE_MACHINE && HAS_SHORT_POINTERS);
}

bool cq_program_needs_trap(const struct cq_program *program)
{
	return is_runnable(program) && (program->is_go || !program->has_interpreter || !cq_program_is_native(program));
}

bool cq_program_gives_rights(int fd, const struct stat *status)
{
	return status->st_mode & (S_ISUID | S_ISGID) ||
	       cq_rawcall(SYS_fgetxattr, fd, (long)"security.capability", 0, 0) >= 0;
}

static bool is_executable_file(const char *path)
{
	struct stat status;

	return cq_rawcall(SYS_newfstatat, AT_FDCWD, (long)path, (long)&status, 0) == 0 && S_ISREG(status.st_mode) &&
	       cq_rawcall(SYS_faccessat, AT_FDCWD, (long)path, X_OK, 0) == 0;
}

int cq_program_search(const char *name, const char *directories, char *ret, size_t size)
{
	size_t name_length = strlen(name), length;

	if (!name_length)
		return -ENOENT;
	for (directories = directories ? directories : DEFAULT_PATH;; directories += length + 1) {
		length = strcspn(directories, ":");
		if (length + name_length + 2 <= size) {
			memmove(ret, directories, length);
			ret[length] = '/';
			memmove(ret + length + (length != 0), name, name_length + 1); /* none: the working directory */
			if (is_executable_file(ret))
				return 0;
		}
		if (!directories[length])
			return -ENOENT;
	}
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
