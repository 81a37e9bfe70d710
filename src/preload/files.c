/* SPDX-License-Identifier: MIT */
/*
 * Files in which programs count CPUs, and cgroup files in which runtimes read the limit on their own. The file is opened as
 * the program asked; if it then is one of those, the descriptor is made that of a sealed copy which has what is shown. So
 * every error is the real one, and whatever cannot be made leaves the real file.
 *
 * The hooks have fixed parameters, not `...` for the mode: it comes in the same register, and is handed on as it came.
 */
#include "next.h"
#include "procfile.h"
#include "program.h"
#include "rawcall.h"
#include "start.h"

#include <linux/memfd.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define EXPORT_AS(name) __asm__(#name) CQ_EXPORT

/* Only what can be read, and only what is read, is replaced; O_PATH and the like name a file without reading it. */
#define PLAIN_FLAGS (O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW | O_NOATIME | O_LARGEFILE_IN_KERNEL | O_ACCMODE)

/* glibc defines O_LARGEFILE as 0 on 64-bit machines; programs for others pass the kernel's. */
#if defined __aarch64__
#define O_LARGEFILE_IN_KERNEL 0400000
#else
#define O_LARGEFILE_IN_KERNEL 0100000
#endif

int cq_open(const char *path, int flags, mode_t mode) EXPORT_AS(open);
int cq_open64(const char *path, int flags, mode_t mode) EXPORT_AS(open64);
int cq_openat(int directory, const char *path, int flags, mode_t mode) EXPORT_AS(openat);
int cq_openat64(int directory, const char *path, int flags, mode_t mode) EXPORT_AS(openat64);
int cq_open_2(const char *path, int flags) EXPORT_AS(__open_2);
int cq_open64_2(const char *path, int flags) EXPORT_AS(__open64_2);
int cq_openat_2(int directory, const char *path, int flags) EXPORT_AS(__openat_2);
int cq_openat64_2(int directory, const char *path, int flags) EXPORT_AS(__openat64_2);

struct shown_file {
	char name[20];         /* the last component of its path */
	char path[32];         /* where it is; of the cgroup's files: empty */
	enum cq_procfile kind;
};

static const struct shown_file shown_files[] = {
	{"cpuinfo", "/proc/cpuinfo", CQ_PROCFILE_CPUINFO},
	{"stat", "/proc/stat", CQ_PROCFILE_STAT},
	{"online", "/sys/devices/system/cpu/online", CQ_PROCFILE_ONLINE},
	{"cpu.max", "", CQ_PROCFILE_CPU_MAX},
	{"cpu.cfs_quota_us", "", CQ_PROCFILE_CFS_QUOTA},
};

/* Tells nearly all paths apart by their first characters: an absolute one must begin as /proc or /sys do, or with
 * something that comes out as that, as // and /. may; a relative one must be no more than the name. */
static inline bool may_be_shown(const char *path)
{
	if (*path == '/')
		return path[1] == 'p' || path[1] == 's' || path[1] == '/' || path[1] == '.';
	return *path == 'c' || *path == 's' || *path == 'o';
}

/* The file that PATH may name, by its last component, or NULL. */
static const struct shown_file *recognize(const char *path)
{
	const char *name = path;

	if (*path == '/') {
		if (strncmp(path, "/proc/", 6) == 0 && ((path[6] >= '0' && path[6] <= '9') || path[6] == 's') && path[7] != 't')
			return NULL; /* the stat of a process, which ps opens by the thousand */
		for (const char *p = path; *p; p++) {
			if (*p == '/')
				name = p + 1;
		}
	}
	for (size_t i = 0; i < CQ_ARRAY_SIZE(shown_files); i++) {
		if (*name == *shown_files[i].name && strcmp(name, shown_files[i].name) == 0)
			return &shown_files[i];
	}
	return NULL;
}

static bool is_same_file(int fd, const char *path)
{
	struct stat opened, named;

	return cq_rawcall(SYS_fstat, fd, (long)&opened, 0, 0) == 0 &&
	       cq_rawcall(SYS_newfstatat, AT_FDCWD, (long)path, (long)&named, 0) == 0 &&
	       opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

/* Programs that do not open these files to count CPUs, and for which a copy will not do. */
static const struct {
	char name[8];
	bool copies; /* compares what it has opened with what it was to open, and takes the copy for another file */
} exempt[] = {
	{"cp", true}, {"install", true}, {"mv", true}, {"tar", true},
	/* Those that keep /proc/stat open, and read it again from its beginning to see how it changes. */
	{"netdata", false}, {"nmon", false}, {"top", false}, {"vmstat", false},
	/* Takes the load of each CPU of its cpuset from the line of that number, and gives up where one is missing. */
	{"java", false},
};

static bool is_exempt(enum cq_procfile kind)
{
	char name[CQ_PROGRAM_NAME_MAX];

	if (cq_program_name("/", "/proc/self/exe", name, sizeof name) < 0)
		return false;
	for (size_t i = 0; i < CQ_ARRAY_SIZE(exempt); i++) {
		if (strcmp(name, exempt[i].name) == 0)
			return exempt[i].copies || kind == CQ_PROCFILE_STAT;
	}
	return false;
}

/* True if a copy may be as large as any: the kernel kills a program that writes beyond its limit (SIGXFSZ, setrlimit(2)). */
static bool may_write(void)
{
	struct rlimit limit;

	return cq_rawcall(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit) == 0 && limit.rlim_cur >= CQ_PROCFILE_MAX_SIZE;
}

/* Puts a copy with what is shown behind FD, if FD is the file that it looks like. */
static __attribute__((noinline)) void replace(int fd, const struct shown_file *file)
{
	static const unsigned seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
	enum cq_channel channel = *file->path ? CQ_CHANNEL_FILES : CQ_CHANNEL_RUNTIME_QUOTA;
	struct cq_cpumask shown;
	struct stat status;
	long flags;
	int copy;

	if (*file->path ? !is_same_file(fd, file->path) : !cq_channel_has_limit_file(fd, file->name))
		return;
	if (is_exempt(file->kind) || !may_write() || !cq_channel_mask(channel, &shown))
		return;
	copy = (int)cq_rawcall(SYS_memfd_create, (long)file->name, MFD_CLOEXEC | MFD_ALLOW_SEALING, 0, 0);
	if (copy < 0)
		return;
	flags = cq_rawcall(SYS_fcntl, fd, F_GETFD, 0, 0);
	if (cq_rawcall(SYS_fstat, fd, (long)&status, 0, 0) == 0)
		cq_rawcall(SYS_fchmod, copy, status.st_mode & 0777, 0, 0); /* a memfd has 0777 */
	if (cq_procfile_write(file->kind, &shown, fd, copy) == 0 && flags >= 0 &&
	    cq_rawcall(SYS_lseek, copy, 0, SEEK_SET, 0) == 0 && cq_rawcall(SYS_fcntl, copy, F_ADD_SEALS, seals, 0) == 0)
		cq_rawcall(SYS_dup3, copy, fd, flags & FD_CLOEXEC ? O_CLOEXEC : 0, 0);
	cq_raw_close(copy);
}

static __attribute__((noinline)) void look_at(int fd, const char *path, int flags)
{
	const struct shown_file *file;

	if (fd < 0 || flags & ~PLAIN_FLAGS || (flags & O_ACCMODE) != O_RDONLY || cq_channel_is_frozen())
		return;
	file = recognize(path);
	if (file)
		replace(fd, file);
}

/* What comes behind every open: FD is its result. The path is looked at only where the kernel has done so before, as a bad
 * address is its EFAULT. */
static inline int opened(int fd, const char *path, int flags)
{
	if (fd >= 0 && may_be_shown(path))
		look_at(fd, path, flags);
	return fd;
}

int cq_open(const char *path, int flags, mode_t mode)
{
	return opened(cq_next.open(path, flags, mode), path, flags);
}

int cq_open64(const char *path, int flags, mode_t mode)
{
	return opened(cq_next.open64(path, flags, mode), path, flags);
}

int cq_openat(int directory, const char *path, int flags, mode_t mode)
{
	return opened(cq_next.openat(directory, path, flags, mode), path, flags);
}

int cq_openat64(int directory, const char *path, int flags, mode_t mode)
{
	return opened(cq_next.openat64(directory, path, flags, mode), path, flags);
}

/* What programs that are compiled with _FORTIFY_SOURCE call: it checks that a mode is there where one is needed, and is
 * glibc's alone. */
int cq_open_2(const char *path, int flags)
{
	return opened(cq_next.__open_2(path, flags), path, flags);
}

int cq_open64_2(const char *path, int flags)
{
	return opened(cq_next.__open64_2(path, flags), path, flags);
}

int cq_openat_2(int directory, const char *path, int flags)
{
	return opened(cq_next.__openat_2(directory, path, flags), path, flags);
}

int cq_openat64_2(int directory, const char *path, int flags)
{
	return opened(cq_next.__openat64_2(directory, path, flags), path, flags);
}

/* Nothing has been read yet, so that the stream does not notice that its descriptor is another file's. */
static __attribute__((noinline)) void look_at_stream(FILE *stream, const char *path, const char *mode)
{
	if (*mode == 'r' && !strchr(mode, '+'))
		look_at(fileno(stream), path, O_RDONLY);
}

static inline FILE *opened_stream(FILE *stream, const char *path, const char *mode)
{
	if (stream && may_be_shown(path))
		look_at_stream(stream, path, mode);
	return stream;
}

CQ_EXPORT FILE *fopen(const char *path, const char *mode)
{
	return opened_stream(cq_next.fopen(path, mode), path, mode);
}

CQ_EXPORT FILE *fopen64(const char *path, const char *mode)
{
	return opened_stream(cq_next.fopen64(path, mode), path, mode);
}
