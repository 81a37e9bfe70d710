/* SPDX-License-Identifier: MIT */
#include "measure.h"

#include "count.h"
#include "settings.h"
#include "smallfile.h"
#include "view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define BILLION UINT64_C(1000000000)

/* Milliseconds from one look at the program to the next: soon at first, then rarely. */
#define FIRST_PAUSE 10
#define LAST_PAUSE 1000

/* What a cgroup may be granted on top of the quota of each period that it was counted: the first and the last one in
 * part, and a slice that every CPU may keep (sched_cfs_bandwidth_slice_us). */
#define EXTRA_PERIODS 2
#define CPU_SLICE (BILLION / 200)

/* By how much two clocks of the kernel may differ over a run: a part of it, and nanoseconds. */
#define CLOCK_PART 100
#define CLOCK_SLACK (BILLION / 50)

/* A flag of a process that is ending, in field 9 of its stat file; include/linux/sched.h. */
#define PF_EXITING 0x4

static uint64_t now(void)
{
	struct timespec time = {0, 0};

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * BILLION + (uint64_t)time.tv_nsec;
}

static uint64_t nanoseconds(struct timeval time)
{
	return (uint64_t)time.tv_sec * BILLION + (uint64_t)time.tv_usec * 1000;
}

/* Adds what this process's children have used so far, SIGN times. It may have had some before it became cpuquota-exec. */
static void add_usage(struct cq_figures *figures, int sign)
{
	struct rusage usage;

	if (getrusage(RUSAGE_CHILDREN, &usage) != 0)
		return;
	figures->user += (uint64_t)sign * nanoseconds(usage.ru_utime);
	figures->system += (uint64_t)sign * nanoseconds(usage.ru_stime);
	figures->voluntary += (uint64_t)sign * (uint64_t)usage.ru_nvcsw;
	figures->involuntary += (uint64_t)sign * (uint64_t)usage.ru_nivcsw;
}

/* Makes CGROUP that of a level of the run's cgroup. */
static void go_to(const struct cq_figures *figures, size_t length, struct cq_cgroup *cgroup)
{
	*cgroup = figures->cgroup;
	cgroup->length = length;
	cgroup->path[length] = '\0';
}

static bool read_level(struct cq_cgroup *cgroup, struct cq_metered_level *ret)
{
	struct stat file;

	ret->is_known = cq_cgroup_stat("/", cgroup, "cpu.stat", &file) == 0 && cq_cpustat_read("/", cgroup, &ret->stat) == 0;
	if (ret->is_known)
		ret->inode = file.st_ino;
	return ret->is_known;
}

/* The levels with a limit, from the cgroup itself upward, as cq_limit_read() takes them. */
static void find_levels(struct cq_figures *figures)
{
	struct cq_cgroup cgroup = figures->cgroup;

	do {
		struct cq_metered_level *level = &figures->levels[figures->level_count];

		if (cgroup.length == cgroup.top_length && cgroup.top_is_unlimited)
			break;
		if (cq_limit_read_level("/", &cgroup, &level->limit) < 0 || !cq_limit_is_set(&level->limit))
			continue;
		level->length = cgroup.length;
		read_level(&cgroup, level);
		if (!figures->effective || cq_limit_is_tighter(&level->limit, &figures->effective->limit))
			figures->effective = level;
		figures->level_count++;
	} while (figures->level_count < CQ_MAX_LEVELS && cq_cgroup_ascend(&cgroup));
}

static void count_shown(struct cq_figures *figures, const struct cq_policy *policy)
{
	static const struct cq_limit none = {0, 0};
	const struct cq_limit *limit = figures->effective ? &figures->effective->limit : &none;
	struct cq_policy other = *policy;
	static struct cq_view view;
	struct cq_cpumask real;

	view.policy = *policy;
	if (cq_view_init(&view, "/", cq_settings_now) < 0)
		return;
	figures->shown = cq_view_look(&view, &real).count;
	figures->real = cq_cpumask_count(real.words, CQ_MASK_WORDS);
	if (policy->is_off)
		figures->shown = figures->real;
	other.round = CQ_ROUND_FLOOR;
	figures->shown_by_floor = cq_count(&other, limit, figures->real);
	other.round = CQ_ROUND_CEIL;
	figures->shown_by_ceil = cq_count(&other, limit, figures->real);
}

/* True if /proc has the process ids of this process's own namespace. */
static bool has_own_proc(void)
{
	char pid[16] = "";

	return readlink("/proc/self", pid, sizeof pid - 1) > 0 && atol(pid) == getpid();
}

static void set_timer(struct cq_measure *measure)
{
	struct itimerspec next = {
		.it_value = {.tv_sec = measure->pause / 1000, .tv_nsec = (long)(measure->pause % 1000) * 1000000}};

	timerfd_settime(measure->timer, 0, &next, NULL);
}

void cq_measure_begin(struct cq_measure *ret, const struct cq_policy *policy)
{
	struct cq_figures *figures = &ret->figures;

	memset(ret, 0, offsetof(struct cq_measure, figures.levels)); /* the levels are filled as they are found */
	figures->effective = NULL;
	ret->timer = -1;
	figures->is_off = policy->is_off;
	figures->knows_cgroup =
		cq_cgroup_find("/", 0, "cpu", &figures->cgroup) == 0 && figures->cgroup.version != CQ_CGROUP_NONE;
	if (figures->knows_cgroup)
		find_levels(figures);
	count_shown(figures, policy);
	if (figures->knows_cgroup && has_own_proc())
		ret->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	ret->pause = FIRST_PAUSE;
	set_timer(ret);
	add_usage(figures, -1);
	ret->begun = now();
}

/* True if PROCESS, or its first thread, is ending, or nothing is known of it. */
static bool is_ending(pid_t process)
{
	char path[32], text[512];
	const char *behind_name;
	unsigned long flags;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
	if (cq_smallfile_read("/", path, text, sizeof text) < 0)
		return true;
	behind_name = strrchr(text, ')');
	return !behind_name || sscanf(behind_name, ") %*c %*d %*d %*d %*d %*d %lu", &flags) != 1 || flags & PF_EXITING;
}

/* Leaves CGROUP, which is the run's, at the mount point. */
static bool has_other_limit(const struct cq_figures *figures, struct cq_cgroup *cgroup)
{
	struct cq_limit limit;

	if (cq_limit_read("/", cgroup, &limit) < 0)
		return false;
	if (!figures->effective)
		return cq_limit_is_set(&limit);
	return cq_limit_is_tighter(&limit, &figures->effective->limit) ||
	       cq_limit_is_tighter(&figures->effective->limit, &limit);
}

void cq_measure_look(void *argument, pid_t program)
{
	struct cq_measure *measure = argument;
	struct cq_figures *figures = &measure->figures;
	struct cq_cgroup cgroup;
	uint64_t ticks;

	if (read(measure->timer, &ticks, sizeof ticks) == sizeof ticks) {
		measure->pause = measure->pause < LAST_PAUSE / 2 ? measure->pause * 2 : LAST_PAUSE;
		set_timer(measure);
	}
	/* v1 shows the dead in the root cgroup (kernel/cgroup/cgroup.c, proc_cgroup_show). */
	if (cq_cgroup_find("/", program, "cpu", &cgroup) < 0 || is_ending(program))
		return;
	if (strcmp(cgroup.path, figures->cgroup.path) != 0)
		figures->has_moved = true;
	else
		figures->limit_has_changed |= has_other_limit(figures, &cgroup);
}

/* What a level has counted since the run began; not known if the cgroup is gone, or another one of that name is there. */
static void end_level(struct cq_figures *figures, struct cq_metered_level *level)
{
	struct cq_cgroup cgroup;
	struct cq_metered_level end;

	go_to(figures, level->length, &cgroup);
	level->is_known = level->is_known && read_level(&cgroup, &end) && end.inode == level->inode &&
			  cq_cpustat_subtract(&end.stat, &level->stat, &level->stat) == 0;
}

/* True if a level has not seen all of the CPU that the run used: then some of that was used elsewhere. Where the level
 * does not count CPU, what its periods can have granted at most stands for it. */
static bool has_missed_some(const struct cq_figures *figures, const struct cq_metered_level *level)
{
	const struct cq_cpustat *stat = &level->stat;
	uint64_t cpu = cq_figures_cpu(figures);
	unsigned __int128 granted;

	if (!level->is_known)
		return false;
	if (stat->knows_used)
		return stat->used + stat->used / CLOCK_PART + CLOCK_SLACK < cpu;
	/* cpu.cfs_burst_us may add a quota, once. */
	granted = (unsigned __int128)(stat->periods + EXTRA_PERIODS + 1) * level->limit.quota * 1000;
	return granted + granted / CLOCK_PART + (unsigned __int128)figures->real * CPU_SLICE + CLOCK_SLACK < cpu;
}

void cq_measure_end(struct cq_measure *measure)
{
	struct cq_figures *figures = &measure->figures;
	struct cq_cgroup cgroup;

	figures->wall = now() - measure->begun;
	add_usage(figures, 1);
	if (measure->timer >= 0)
		close(measure->timer);
	if (!figures->knows_cgroup)
		return;
	go_to(figures, figures->cgroup.length, &cgroup);
	for (size_t i = 0; i < figures->level_count; i++)
		end_level(figures, &figures->levels[i]);
	if (!figures->effective || figures->effective->is_known) /* else it is gone */
		figures->limit_has_changed |= has_other_limit(figures, &cgroup);
	/* The limit that was measured against has to be the one that held. */
	for (size_t i = 0; i < figures->level_count && !figures->limit_has_changed; i++)
		figures->has_moved |= has_missed_some(figures, &figures->levels[i]);
}
