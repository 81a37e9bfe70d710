/* SPDX-License-Identifier: MIT */
#include "capture.h"

#include "cgroup.h"
#include "format.h"
#include "launch.h"
#include "policy.h"
#include "smallfile.h"
#include "text.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINES_BUDGET (16 << 20)

/* The tree in the making. */
struct capture {
	char *directory;
	unsigned files;
	int error; /* the first one, as errno(3); what comes behind it does nothing */
};

static void fail(struct capture *capture, int error)
{
	if (!capture->error)
		capture->error = error ? error : EIO;
}

/* Makes the directories that PATH, below the tree, is in. */
static void make_directories(struct capture *capture, const char *path)
{
	char *full = cq_format("%s%s", capture->directory, path);

	for (char *slash = full + strlen(capture->directory) + 1; !capture->error && (slash = strchr(slash, '/'));
	     slash++) {
		*slash = '\0';
		if (mkdir(full, 0777) != 0 && errno != EEXIST)
			fail(capture, errno);
		*slash = '/';
	}
	free(full);
}

static void write_file(struct capture *capture, const char *path, const char *text, size_t length)
{
	char *full = cq_format("%s%s", capture->directory, path);
	FILE *stream;

	make_directories(capture, path);
	if (!capture->error) {
		stream = fopen(full, "wxe");
		if (!stream)
			fail(capture, errno);
		else if (fwrite(text, 1, length, stream) != length || fflush(stream) != 0)
			fail(capture, errno);
		if (stream && fclose(stream) != 0)
			fail(capture, errno);
		capture->files++;
	}
	free(full);
}

/* The lines of FROM that KEEP lets through, which it may change in place, as TO. A file that is not there, or without
 * such a line, is left out. */
static void capture_lines(struct capture *capture, const char *from, const char *to, bool (*keep)(char *line))
{
	struct cq_lines lines;
	char *line, *text = NULL;
	size_t size = 0;
	FILE *stream;

	if (cq_lines_open(&lines, "/", from, LINES_BUDGET) < 0)
		return;
	stream = cq_must(open_memstream(&text, &size));
	while ((line = cq_lines_next(&lines))) {
		if (!lines.is_cut && keep(line))
			fprintf(stream, "%s\n", line);
	}
	cq_lines_close(&lines);
	if (fclose(stream) != 0)
		fail(capture, ENOMEM);
	if (size)
		write_file(capture, to, text, size);
	free(text);
}

static bool keep_all(char *line)
{
	(void)line;
	return true;
}

static bool has_controller(const char *list)
{
	return cq_text_has_word(list, "cpu") || cq_text_has_word(list, "cpuset");
}

/* "ID:CONTROLLERS:PATH" */
static bool keep_membership(char *line)
{
	char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
	bool keeps;

	if (!path)
		return false;
	*path = '\0';
	keeps = strcmp(line, "0:") == 0 || has_controller(controllers + 1);
	*path = ':';
	return keeps;
}

/* Of the mounts only those of these controllers' cgroups, without the optional fields and the source. */
static bool keep_mount(char *line)
{
	char *begin = line, *separator = strstr(line, " - "), *type, *options;
	size_t type_length;
	char *kept;
	bool keeps;

	for (int i = 0; i < 6 && begin; i++) { /* the fields before the optional ones */
		begin = strchr(begin, ' ');
		begin = begin ? begin + 1 : NULL;
	}
	if (!separator || !begin || begin > separator + 1)
		return false;
	type = separator + 3;
	type_length = strcspn(type, " ");
	options = type[type_length] ? strchr(type + type_length + 1, ' ') : NULL;
	if (!options)
		return false;
	keeps = (type_length == 7 && memcmp(type, "cgroup2", 7) == 0) ||
		(type_length == 6 && memcmp(type, "cgroup", 6) == 0 && has_controller(options + 1));
	if (keeps) {
		kept = cq_format("%.*s- %.*s none%s", (int)(begin - line), line, (int)type_length, type, options);
		if (strlen(kept) <= strlen(line))
			strcpy(line, kept);
		else
			keeps = false;
		free(kept);
	}
	return keeps;
}

static bool keep_cpus_allowed(char *line)
{
	return strncmp(line, "Cpus_allowed", 12) == 0;
}

/* The files of one level whose names are in NAMES, which NULL ends. */
static void capture_level(struct capture *capture, struct cq_cgroup *cgroup, const char *const *names)
{
	char text[4096];

	for (; *names; names++) {
		int length = cq_cgroup_read("/", cgroup, *names, text, sizeof text);
		char *path;

		if (length < 0)
			continue;
		path = cq_format("%s/%s", cgroup->path, *names);
		write_file(capture, path, text, (size_t)length);
		free(path);
	}
}

static void capture_levels(struct capture *capture, const char *controller, const char *const *v1,
			   const char *const *v2)
{
	struct cq_cgroup cgroup;

	if (cq_cgroup_find("/", 0, controller, &cgroup) < 0 || cgroup.version == CQ_CGROUP_NONE)
		return;
	do
		capture_level(capture, &cgroup, cgroup.version == CQ_CGROUP_V1 ? v1 : v2);
	while (cq_cgroup_ascend(&cgroup));
}

static void capture_cgroups(struct capture *capture)
{
	static const char *const cpu_v1[] = {"cpu.cfs_quota_us", "cpu.cfs_period_us", NULL};
	static const char *const cpu_v2[] = {"cpu.max", NULL};
	static const char *const cpuset_v1[] = {"cpuset.effective_cpus", NULL};
	static const char *const cpuset_v2[] = {"cpuset.cpus.effective", NULL};

	capture_levels(capture, "cpu", cpu_v1, cpu_v2);
	capture_levels(capture, "cpuset", cpuset_v1, cpuset_v2);
}

/* The policy that holds stands where --sysroot looks for it, whatever its name was. */
static void capture_policy(struct capture *capture)
{
	const char *named = getenv("CPUQUOTA_POLICY");

	capture_lines(capture, named && *named ? named : CQ_POLICY_DEFAULT_FILE, CQ_POLICY_DEFAULT_FILE, keep_all);
}

static void capture_all(struct capture *capture)
{
	capture_lines(capture, "/sys/devices/system/cpu/online", "/sys/devices/system/cpu/online", keep_all);
	capture_lines(capture, "/proc/self/status", "/proc/self/status", keep_cpus_allowed);
	capture_lines(capture, "/proc/self/cgroup", "/proc/self/cgroup", keep_membership);
	capture_lines(capture, "/proc/self/mountinfo", "/proc/self/mountinfo", keep_mount);
	capture_cgroups(capture);
	capture_policy(capture);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *place)
{
	(void)status, (void)type, (void)place;
	return remove(path);
}

static int complain(const char *directory, int error)
{
	fprintf(stderr, "cpuquota-exec: --capture: %s: %s\n", directory, strerror(error));
	return CQ_EXIT_FAILED;
}

/* Moves what is finished to its place: in one step, and not over anything. Returns 0 or an errno(3). */
static int put_in_place(const struct capture *capture, const char *directory)
{
	mode_t mask = umask(0);

	umask(mask);
	if (chmod(capture->directory, 0777 & ~mask) != 0 || rename(capture->directory, directory) != 0)
		return errno;
	return 0;
}

/* DIRECTORY without slashes at its end. */
static char *without_slashes(const char *directory)
{
	size_t length = strlen(directory);

	while (length > 1 && directory[length - 1] == '/')
		length--;
	return cq_copy(directory, length);
}

int cq_capture(const char *directory)
{
	char *target = without_slashes(directory);
	struct capture capture = {.directory = cq_format("%s.XXXXXX", target)};
	sigset_t all, before;

	sigfillset(&all); /* they come when nothing is half-written any more */
	sigprocmask(SIG_BLOCK, &all, &before);
	if (!*target || !mkdtemp(capture.directory))
		return complain(directory, *target ? errno : ENOENT);
	capture_all(&capture);
	if (!capture.error)
		capture.error = put_in_place(&capture, target);
	if (capture.error)
		nftw(capture.directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (capture.error)
		return complain(directory, capture.error);
	printf("%s: %u files. They have the names of this process's cgroups: look at them before you send them.\n",
	       target, capture.files);
	free(capture.directory);
	free(target);
	return 0;
}
