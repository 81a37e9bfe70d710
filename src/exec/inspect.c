/* SPDX-License-Identifier: MIT */
#include "inspect.h"

#include "format.h"
#include "launch.h"
#include "rawcall.h"
#include "text.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* What execvp(3) starts for a file that the kernel does not execute. */
#define SHELL "/bin/sh"

/* The kernel's own limit for the first line of a script. */
#define FIRST_LINE_SIZE 256

/* By which it asks, as measured: a preload spy and strace. The first pattern that matches counts. */
static const struct cq_runtime runtimes[] = {
	{"java", "JVM", "sched_getaffinity, and the cgroup's files by a rule of its own (it takes the smaller number)"},
	{"node*", "Node", "sched_getaffinity (availableParallelism), /proc/cpuinfo (os.cpus), sysconf (V8's threads)"},
	{"python*", "Python", "sysconf (os.cpu_count), sched_getaffinity"},
	{"pypy*", "PyPy", "sysconf (os.cpu_count), sched_getaffinity"},
	{"ruby*", "Ruby", "sched_getaffinity, sysconf (Etc.nprocessors)"},
	{"nginx*", "nginx", "sysconf (worker_processes auto)"},
	{"deno", "Deno",
	 "sched_getaffinity, and the cgroup's files by a rule of its own (it takes the smaller number)"},
	{"bun*", "Bun", "sysconf, sched_getaffinity"},
	{"dotnet", ".NET",
	 "sched_getaffinity, and the cgroup's files by a rule of its own (it takes the smaller number)"},
	{"beam.smp", "Erlang", "sysconf, sched_getaffinity"},
	{"nproc", "nproc", "sched_getaffinity"},
	{"xz", "xz", "sched_getaffinity"},
	{"zstd", "zstd", "sysconf, /proc/cpuinfo"},
	{"pigz", "pigz", "sysconf"},
	{"mariadbd", "MariaDB", "sched_getaffinity by syscall(), /proc/self/status"},
	{"postgres", "PostgreSQL", "it does not ask"},
	{"memcached", "memcached", "it does not ask"},
	{"php*", "PHP", "it does not ask"},
	{"make", "make", "it does not ask (but for make -j$(nproc), which asks by nproc)"},
};

static const struct cq_runtime *find_runtime(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < CQ_ARRAY_SIZE(runtimes); i++) {
		if (cq_text_matches(runtimes[i].pattern, name))
			return &runtimes[i];
	}
	return NULL;
}

static char *machine_name(uint16_t machine, bool is_64bit)
{
	switch (machine) {
	case EM_X86_64:
		return cq_format(is_64bit ? "x86-64" : "x32");
	case EM_386:
		return cq_format("i386");
	case EM_AARCH64:
		return cq_format("arm64");
	case EM_ARM:
		return cq_format("arm");
	case EM_RISCV:
		return cq_format("riscv%d", is_64bit ? 64 : 32);
	case EM_PPC64:
		return cq_format("ppc64le");
	case EM_LOONGARCH:
		return cq_format("loongarch");
	default:
		return cq_format("machine %d", machine);
	}
}

static bool is_loader_of_glibc(const char *name)
{
	return strncmp(name, "ld-linux", 8) == 0 || strncmp(name, "ld64.so", 7) == 0 || strcmp(name, "ld.so.1") == 0;
}

/* The loader's name says whose it is; a static program of glibc has a note of the oldest kernel that it runs on. */
static enum cq_libc find_libc(const struct cq_elf *elf, const char *loader, bool is_go)
{
	const char *slash = loader ? strrchr(loader, '/') : NULL, *name = slash ? slash + 1 : loader;

	if (name && strncmp(name, "ld-musl-", 8) == 0)
		return CQ_LIBC_MUSL;
	if (name)
		return is_loader_of_glibc(name) ? CQ_LIBC_GLIBC : CQ_LIBC_OTHER;
	if (cq_elf_has_note(elf, "GNU", NT_GNU_ABI_TAG))
		return CQ_LIBC_GLIBC;
	return is_go ? CQ_LIBC_NONE : CQ_LIBC_OTHER;
}

/* Whether execve(2) here would give rights: the new effective ids would not be the real ones, or the file's capabilities
 * count (security/commoncap.c, cap_bprm_creds_from_file). */
static bool is_secure(const struct cq_inspection *inspection, int fd, const struct stat *status)
{
	struct statvfs mount;
	bool is_honoured = fstatvfs(fd, &mount) != 0 || !(mount.f_flag & ST_NOSUID);
	bool may_gain = is_honoured && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1;

	if (may_gain && inspection->is_setuid ? status->st_uid != getuid() : geteuid() != getuid())
		return true;
	if (may_gain && inspection->is_setgid ? status->st_gid != getgid() : getegid() != getgid())
		return true;
	return is_honoured && inspection->has_capabilities && getuid() != 0;
}

static void look_at_rights(struct cq_inspection *ret, int fd)
{
	struct stat status;

	if (fstat(fd, &status) != 0)
		return;
	ret->is_setuid = status.st_mode & S_ISUID;
	ret->is_setgid = (status.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP);
	ret->has_capabilities = cq_rawcall(SYS_fgetxattr, fd, (long)"security.capability", 0, 0) >= 0;
	ret->is_secure = is_secure(ret, fd, &status);
}

static void look_at_go(struct cq_inspection *ret, const struct cq_elf *elf)
{
	ret->has_build = cq_go_build_read(elf, &ret->build) == 0;
	if (!ret->has_build)
		return;
	ret->has_automaxprocs = cq_go_build_has(&ret->build, "go.uber.org/automaxprocs");
	ret->reads_limit = cq_go_build_reads_limit(&ret->build);
}

/* The executable that will run. */
static void look_at_executable(struct cq_inspection *ret, const char *path)
{
	struct cq_elf elf;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0) {
		ret->linkage = errno == EACCES ? CQ_KIND_UNREADABLE : CQ_KIND_NONE;
		return;
	}
	look_at_rights(ret, fd);
	if (cq_elf_open(fd, &elf) == 0) {
		ret->machine = machine_name(elf.machine, elf.is_64bit);
		ret->loader = cq_elf_loader(&elf);
		ret->linkage = elf.type == ET_DYN ? CQ_KIND_STATIC_PIE : CQ_KIND_STATIC;
		if (ret->loader)
			ret->linkage = CQ_KIND_DYNAMIC;
		ret->libc = find_libc(&elf, ret->loader, ret->target.is_known && ret->target.program.is_go);
		if (ret->target.is_known && ret->target.program.is_go)
			look_at_go(ret, &elf);
	} else {
		ret->linkage = CQ_KIND_OTHER;
	}
	close(fd);
}

static enum cq_kind look_at_content(int fd)
{
	unsigned char begin[FIRST_LINE_SIZE];
	ssize_t got = pread(fd, begin, sizeof begin, 0);
	char interpreter[PATH_MAX];

	if (got <= 0)
		return got == 0 ? CQ_KIND_EMPTY : CQ_KIND_OTHER;
	if (cq_program_interpreter(fd, interpreter, sizeof interpreter) == 0)
		return CQ_KIND_SCRIPT;
	for (ssize_t i = 0; i < got; i++) {
		if (!begin[i])
			return CQ_KIND_OTHER;
	}
	return CQ_KIND_TEXT;
}

/* What the file itself is; of an ELF file of this byte order that is CQ_KIND_DYNAMIC for now. */
static enum cq_kind look_at_file(const char *path)
{
	struct stat status;
	struct cq_elf elf;
	enum cq_kind kind;
	int fd;

	if (stat(path, &status) != 0)
		return CQ_KIND_NONE;
	if (S_ISDIR(status.st_mode))
		return CQ_KIND_DIRECTORY;
	if (!S_ISREG(status.st_mode))
		return CQ_KIND_SPECIAL;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return CQ_KIND_UNREADABLE;
	kind = cq_elf_open(fd, &elf) == 0 ? CQ_KIND_DYNAMIC : look_at_content(fd);
	close(fd);
	return kind;
}

/* What `env [OPTION]... [NAME=VALUE]... PROGRAM` on the first line of a script would execute. */
static char *find_env_program(const char *line)
{
	char *words = cq_copy(line, strcspn(line, "\n")), *rest = words, *word, *found = NULL;
	struct cq_target target;

	strsep(&rest, " \t");
	while (!found && (word = strsep(&rest, " \t"))) {
		if (*word && *word != '-' && !strchr(word, '='))
			found = cq_target_find(word, &target) == 0 ? cq_format("%s", target.executable)
								   : cq_format("%s", word);
	}
	free(words);
	return found;
}

static void look_for_env(struct cq_inspection *ret, const char *script)
{
	char line[FIRST_LINE_SIZE], *begin = line + 2;
	int fd = open(script, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd >= 0 ? pread(fd, line, sizeof line - 1, 0) : -1;
	const char *slash;
	size_t length;

	if (fd >= 0)
		close(fd);
	if (got < 3)
		return;
	line[got] = '\0';
	begin += strspn(begin, " \t");
	length = strcspn(begin, " \t\n");
	slash = memrchr(begin, '/', length);
	if (slash && (size_t)(begin + length - slash) == 4 && memcmp(slash, "/env", 4) == 0)
		ret->env_program = find_env_program(begin);
}

/* Follows a script to what will run. */
static void follow_interpreters(struct cq_inspection *ret)
{
	char next[PATH_MAX];
	const char *script = ret->target.path;

	while (ret->interpreter_count < CQ_PROGRAM_MAX_INTERPRETERS) {
		int fd = open(script, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		bool is_script = fd >= 0 && cq_program_interpreter(fd, next, sizeof next) == 0;

		if (fd >= 0)
			close(fd);
		if (!is_script)
			break;
		look_for_env(ret, script);
		script = ret->interpreters[ret->interpreter_count++] = cq_format("%s", next);
	}
}

/* The file's rights alone, where the kernel cannot be asked. */
static int guess_error(const struct cq_inspection *inspection)
{
	if (inspection->kind == CQ_KIND_DIRECTORY || inspection->kind == CQ_KIND_SPECIAL ||
	    access(inspection->target.path, X_OK) != 0)
		return -EACCES;
	return inspection->kind == CQ_KIND_TEXT || inspection->kind == CQ_KIND_EMPTY ? -ENOEXEC : 0;
}

static void try_to_execute(struct cq_inspection *ret)
{
	ret->exec_error = cq_trial_execute(ret->target.path, &ret->is_exec_tried);
	if (!ret->is_exec_tried)
		ret->exec_error = guess_error(ret);
	if (ret->exec_error == -ENOEXEC && (ret->kind == CQ_KIND_TEXT || ret->kind == CQ_KIND_EMPTY)) {
		ret->exec_error = 0;
		ret->is_for_shell = true;
		ret->interpreters[ret->interpreter_count++] = cq_format("%s", SHELL);
	}
}

/* Why a name without a slash was not found: a file of that name that may not be executed is another error than none. */
static int find_error(const char *name)
{
	const char *directories = getenv("PATH");
	int error = -ENOENT;

	if (strchr(name, '/') || !*name)
		return error;
	for (directories = directories ? directories : "/bin:/usr/bin";; directories++) {
		size_t length = strcspn(directories, ":");
		char *path = cq_format("%.*s%s%s", (int)length, directories, length ? "/" : "", name);
		struct stat status;

		if (stat(path, &status) == 0)
			error = -EACCES;
		free(path);
		directories += length;
		if (!*directories)
			return error;
	}
}

void cq_inspect(const char *name, const char *library, struct cq_inspection *ret)
{
	const char *executable;

	memset(ret, 0, sizeof *ret);
	ret->name = name;
	ret->is_found = cq_target_find(name, &ret->target) == 0;
	if (!ret->is_found) {
		ret->exec_error = find_error(name);
		return;
	}
	ret->kind = look_at_file(ret->target.path);
	if (ret->kind == CQ_KIND_SCRIPT)
		follow_interpreters(ret);
	try_to_execute(ret);
	executable = ret->interpreter_count ? ret->interpreters[ret->interpreter_count - 1] : ret->target.path;
	if (ret->kind == CQ_KIND_DYNAMIC || ret->interpreter_count)
		look_at_executable(ret, executable);
	if (ret->kind == CQ_KIND_DYNAMIC)
		ret->kind = ret->linkage;
	else if (ret->kind == CQ_KIND_UNREADABLE)
		ret->linkage = ret->kind;
	ret->runtime = find_runtime(ret->env_program ? ret->env_program : cq_inspect_executable(ret));
	if (!ret->runtime && !ret->interpreter_count)
		ret->runtime = find_runtime(ret->target.path);
	if (ret->exec_error == 0 && ret->linkage == CQ_KIND_DYNAMIC && ret->target.is_known &&
	    cq_launch_can_preload(&ret->target)) /* by its true name: it may look for libraries beside itself */
		cq_trial_load(ret->loader, ret->target.executable, library, &ret->load);
}

const char *cq_inspect_executable(const struct cq_inspection *inspection)
{
	if (inspection->env_program)
		return inspection->env_program;
	if (inspection->is_for_shell)
		return SHELL;
	return inspection->is_found && inspection->target.is_known ? inspection->target.executable
								   : inspection->target.path;
}

int cq_inspect_status(const struct cq_inspection *inspection)
{
	if (!inspection->exec_error)
		return 0;
	return inspection->exec_error == -ENOENT ? CQ_EXIT_NOT_FOUND : CQ_EXIT_CANNOT_EXECUTE;
}
