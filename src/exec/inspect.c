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
#include <limits.h>
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

/* The executable that runs in the end. */
static void look_at_executable(struct cq_inspection *ret)
{
	bool is_followed = ret->env_program || ret->is_for_shell;
	const char *direct = ret->interpreter_count ? ret->interpreters[ret->interpreter_count - 1] : ret->target.path;
	struct cq_elf elf;
	int fd = open(is_followed ? ret->runs.executable : direct, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

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
		ret->libc = find_libc(&elf, ret->loader, ret->runs.is_known && ret->runs.program.is_go);
		if (ret->runs.is_known && ret->runs.program.is_go)
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

/* The interpreter of SCRIPT, in NEXT of PATH_MAX bytes; false if it is no script. */
static bool read_interpreter(const char *script, char *next)
{
	int fd = open(script, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool is_script = fd >= 0 && cq_program_interpreter(fd, next, PATH_MAX) == 0;

	if (fd >= 0)
		close(fd);
	return is_script;
}

/* Follows a script to what executes it. */
static void follow_interpreters(struct cq_inspection *ret)
{
	char next[PATH_MAX];
	const char *script = ret->target.path;

	while (ret->interpreter_count < CQ_PROGRAM_MAX_INTERPRETERS && read_interpreter(script, next))
		script = ret->interpreters[ret->interpreter_count++] = cq_format("%s", next);
}

/* The file's rights alone, where the kernel cannot be asked. */
static int guess_error(const char *path, enum cq_kind kind)
{
	if (kind == CQ_KIND_DIRECTORY || kind == CQ_KIND_SPECIAL || access(path, X_OK) != 0)
		return -EACCES;
	return kind == CQ_KIND_TEXT || kind == CQ_KIND_EMPTY ? -ENOEXEC : 0;
}

/* Tries to execute RET->runs, of KIND. Returns true, with a shell in that place, if execvp(3) would give the file to one. */
static bool try_to_execute(struct cq_inspection *ret, enum cq_kind kind)
{
	bool is_tried;

	ret->exec_error = cq_trial_execute(ret->runs.path, &is_tried);
	if (!is_tried)
		ret->exec_error = guess_error(ret->runs.path, kind);
	if (ret->exec_error != -ENOEXEC || (kind != CQ_KIND_TEXT && kind != CQ_KIND_EMPTY))
		return false;
	ret->exec_error = cq_target_look_at(SHELL, &ret->runs);
	return true;
}

/* Why NAME was not found, as execvp(3) says: in PATH a file that may not be executed, or a directory that may not be
 * searched, is another error than none, and what is neither ends the search. */
static int find_error(const char *name)
{
	const char *directories = getenv("PATH");
	int error = -ENOENT;

	if (strchr(name, '/') || !*name)
		return access(name, F_OK) != 0 ? -errno : error;
	if (strlen(name) > NAME_MAX)
		return -ENAMETOOLONG;
	for (directories = directories ? directories : "/bin:/usr/bin";; directories++) {
		size_t length = strcspn(directories, ":");
		char *path = cq_format("%.*s%s%s", (int)length, directories, length ? "/" : "", name);
		int reason = access(path, F_OK) != 0 ? errno : EACCES;

		free(path);
		if (reason != ENOENT && reason != ENOTDIR)
			error = -reason;
		directories += length;
		if (!*directories || (error != -ENOENT && error != -EACCES))
			return error;
	}
}

/* Of a script whose interpreter is env(1), what that is given: all that is behind it in the first line, as a new string;
 * else NULL. */
static char *read_env_argument(const char *script)
{
	char line[FIRST_LINE_SIZE], *begin = line + 2, *end;
	int fd = open(script, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t got = fd >= 0 ? pread(fd, line, sizeof line - 1, 0) : -1;
	const char *slash;
	size_t length;

	if (fd >= 0)
		close(fd);
	if (got < 3)
		return NULL;
	line[got] = '\0';
	begin += strspn(begin, " \t");
	length = strcspn(begin, " \t\n");
	slash = memrchr(begin, '/', length);
	if (!slash || (size_t)(begin + length - slash) != 4 || memcmp(slash, "/env", 4) != 0)
		return NULL;
	begin += length;
	begin += strspn(begin, " \t");
	end = begin + strcspn(begin, "\n");
	while (end > begin && strchr(" \t", end[-1]))
		end--;
	return cq_copy(begin, (size_t)(end - begin));
}

/* True if VARIABLE, "NAME=VALUE", may change what is executed, or how cpuquota is found there. */
static bool matters(const char *variable)
{
	return strncmp(variable, "PATH=", 5) == 0 || strncmp(variable, "LD_", 3) == 0 ||
	       strncmp(variable, "CPUQUOTA", 8) == 0;
}

/* What `env -S ARGUMENT` executes, as a new string; NULL if that is not clear. */
static char *split_env_argument(const char *argument)
{
	char *words = cq_format("%s", argument), *rest = words, *word, *found = NULL;

	while (!found && (word = strsep(&rest, " \t"))) {
		if (*word == '-' || strpbrk(word, "\\\"'$#") || matters(word))
			break;
		if (*word && !strchr(word, '='))
			found = cq_format("%s", word);
	}
	free(words);
	return found;
}

/* What env(1) executes for the one ARGUMENT that the kernel gives it, before the name of the script. */
static char *find_env_program(const char *argument)
{
	static const char *const splits[] = {"-S", "-vS", "--split-string="};

	for (size_t i = 0; i < CQ_ARRAY_SIZE(splits); i++) {
		if (strncmp(argument, splits[i], strlen(splits[i])) == 0)
			return split_env_argument(argument + strlen(splits[i]));
	}
	/* Without a program it executes the script, which has it start again. */
	return *argument && *argument != '-' && !strchr(argument, '=') ? cq_format("%s", argument) : NULL;
}

/* The argument of env(1), if that is what a chain of scripts, PATH the first of them, ends at; else NULL. */
static char *find_env_argument(const char *path, unsigned longest)
{
	char next[PATH_MAX], *argument;

	if (!longest || !read_interpreter(path, next))
		return NULL;
	argument = find_env_argument(next, longest - 1);
	return argument ? argument : read_env_argument(path);
}

/* Follows scripts of env(1) to what that executes, which may be such a script again. */
static void follow_env(struct cq_inspection *ret)
{
	for (unsigned i = 0; i < CQ_PROGRAM_MAX_INTERPRETERS && !ret->exec_error; i++) {
		char *argument = find_env_argument(ret->runs.path, CQ_PROGRAM_MAX_INTERPRETERS);
		char *name = argument ? find_env_program(argument) : NULL;

		ret->is_env_unclear = argument && !name;
		free(argument);
		if (!name)
			return;
		if (cq_target_find(name, &ret->runs) == 0)
			try_to_execute(ret, look_at_file(ret->runs.path));
		else
			ret->exec_error = find_error(name);
		free(ret->env_program);
		ret->env_program = cq_format("%s", ret->runs.is_known ? ret->runs.executable : name);
		free(name);
	}
}

void cq_inspect(const char *name, const char *library, struct cq_inspection *ret)
{
	memset(ret, 0, sizeof *ret);
	ret->name = name;
	ret->is_found = cq_target_find(name, &ret->target) == 0;
	if (!ret->is_found) {
		ret->exec_error = find_error(name);
		return;
	}
	ret->runs = ret->target;
	ret->kind = look_at_file(ret->target.path);
	if (ret->kind == CQ_KIND_SCRIPT)
		follow_interpreters(ret);
	ret->is_for_shell = try_to_execute(ret, ret->kind);
	if (ret->is_for_shell)
		ret->interpreters[ret->interpreter_count++] = cq_format("%s", SHELL);
	follow_env(ret);
	if ((ret->kind == CQ_KIND_DYNAMIC || ret->interpreter_count) && !(ret->env_program && ret->exec_error))
		look_at_executable(ret);
	if (ret->kind == CQ_KIND_DYNAMIC)
		ret->kind = ret->linkage;
	else if (ret->kind == CQ_KIND_UNREADABLE)
		ret->linkage = ret->kind;
	ret->runtime = find_runtime(cq_inspect_executable(ret));
	if (!ret->runtime && !ret->interpreter_count)
		ret->runtime = find_runtime(ret->target.path);
	if (ret->exec_error == 0 && ret->linkage == CQ_KIND_DYNAMIC && ret->runs.is_known &&
	    cq_launch_can_preload(&ret->runs)) /* by its true name: it may look for libraries beside itself */
		cq_trial_load(ret->loader, ret->runs.executable, library, &ret->load);
}

const char *cq_inspect_executable(const struct cq_inspection *inspection)
{
	if (inspection->env_program)
		return inspection->env_program;
	return inspection->is_found ? inspection->runs.executable : NULL;
}

int cq_inspect_status(const struct cq_inspection *inspection)
{
	if (!inspection->exec_error)
		return 0;
	return inspection->exec_error == -ENOENT ? CQ_EXIT_NOT_FOUND : CQ_EXIT_CANNOT_EXECUTE;
}
