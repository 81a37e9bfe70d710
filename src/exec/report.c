/* SPDX-License-Identifier: MIT */
#include "report.h"

#include "advice.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of the object; counted up when a key changes its meaning or goes, but not when one is added. */
#define SCHEMA_VERSION 1

/* A line of text, and where the values begin in it. */
#define COLUMNS 80
#define VALUE_COLUMN 20

static double seconds(uint64_t nanoseconds)
{
	return (double)nanoseconds / 1e9;
}

static double cpus_of(const struct cq_limit *limit)
{
	return (double)limit->quota / (double)limit->period;
}

static double cpus_used(const struct cq_figures *figures)
{
	return figures->wall ? (double)cq_figures_cpu(figures) / (double)figures->wall : 0;
}

/* Text. */

/* "NAME      ": every line but those that go on begins so. */
static void begin_line(FILE *out, const char *name)
{
	fprintf(out, "  %-*s", VALUE_COLUMN - 2, name);
}

/* Writes TEXT in lines of no more than COLUMNS, from VALUE_COLUMN on. */
static void write_wrapped(FILE *out, const char *text)
{
	size_t column = VALUE_COLUMN;

	while (*text) {
		size_t length = strcspn(text, " ");

		if (column > VALUE_COLUMN && column + 1 + length > COLUMNS) {
			fprintf(out, "\n%*s", VALUE_COLUMN, "");
			column = VALUE_COLUMN;
		} else if (column > VALUE_COLUMN) {
			fputc(' ', out);
			column++;
		}
		fprintf(out, "%.*s", (int)length, text);
		column += length;
		text += length + (text[length] == ' ');
	}
	fputc('\n', out);
}

/* "1 CPU", "1.5 CPUs" */
static void write_limit_of(FILE *out, const struct cq_limit *limit)
{
	fprintf(out, "%.4g CPU%s", cpus_of(limit), limit->quota == limit->period ? "" : "s");
}

static void write_limit(FILE *out, const struct cq_figures *figures)
{
	begin_line(out, "CPU limit");
	if (!figures->knows_cgroup)
		fprintf(out, "not known");
	else if (!figures->effective)
		fprintf(out, "none");
	else
		write_limit_of(out, &figures->effective->limit);
	fprintf(out, "%s\n", figures->limit_has_changed ? " to begin with; it has changed" : "");
}

static void write_shown(FILE *out, const struct cq_figures *figures)
{
	begin_line(out, "CPUs shown");
	if (figures->real)
		fprintf(out, "%u of %u%s\n", figures->shown, figures->real, figures->is_off ? " (CPUQUOTA=off)" : "");
	else
		fprintf(out, "not known\n");
}

static void write_level(FILE *out, const struct cq_metered_level *level)
{
	fprintf(out, "%llu of %llu periods, %.3f s lost", (unsigned long long)level->stat.throttled,
		(unsigned long long)level->stat.periods, seconds(level->stat.lost));
}

/* The effective limit; and of the others those that have throttled. */
static void write_throttling(FILE *out, const struct cq_figures *figures)
{
	begin_line(out, "throttled");
	if (!cq_figures_know_throttling(figures))
		fprintf(out, "not known");
	else if (figures->effective)
		write_level(out, figures->effective);
	else
		fprintf(out, "never");
	fputc('\n', out);
	for (size_t i = 0; i < figures->level_count; i++) {
		const struct cq_metered_level *level = &figures->levels[i];

		if (level == figures->effective || !cq_figures_know_level(figures, level) || !level->stat.throttled)
			continue;
		begin_line(out, "");
		write_level(out, level);
		fputs(", by a limit of ", out);
		write_limit_of(out, &level->limit);
		fputc('\n', out);
	}
}

static void write_text(FILE *out, const char *program, int status, const struct cq_figures *figures)
{
	fprintf(out, "cpuquota-exec: %s: exit status %d\n", program, status);
	write_limit(out, figures);
	write_shown(out, figures);
	begin_line(out, "CPUs used");
	fprintf(out, "%.2f on average\n", cpus_used(figures));
	begin_line(out, "wall time");
	fprintf(out, "%.3f s\n", seconds(figures->wall));
	begin_line(out, "CPU time");
	fprintf(out, "%.3f s (user %.3f s, system %.3f s)\n", seconds(cq_figures_cpu(figures)), seconds(figures->user),
		seconds(figures->system));
	write_throttling(out, figures);
	begin_line(out, "context switches");
	fprintf(out, "%llu voluntary, %llu involuntary\n", (unsigned long long)figures->voluntary,
		(unsigned long long)figures->involuntary);
	begin_line(out, "advice");
	write_wrapped(out, cq_advice_of(figures)->text);
}

/* JSON. Whatever is not known is null. */

/* Paths and names may have any bytes, JSON only UTF-8: what is not gets a `?` for each byte that is not ASCII. */
static json_t *make_string(const char *text, size_t length)
{
	json_t *string = json_stringn(text, length);
	char *copy;

	if (string)
		return string;
	copy = strndup(text, length);
	for (char *p = copy; p && *p; p++) {
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	}
	string = copy ? json_string(copy) : NULL;
	free(copy);
	return string;
}

static json_t *make_count(bool is_known, uint64_t number)
{
	return is_known ? json_integer((json_int_t)number) : json_null();
}

static json_t *make_seconds(bool is_known, uint64_t nanoseconds)
{
	return is_known ? json_real(seconds(nanoseconds)) : json_null();
}

static json_t *make_level(const struct cq_figures *figures, const struct cq_metered_level *level)
{
	bool is_known = cq_figures_know_level(figures, level);

	return json_pack("{s:o, s:b, s:I, s:I, s:f, s:o, s:o, s:o, s:o}",
		"cgroup", make_string(figures->cgroup.path, level->length),
		"effective", level == figures->effective,
		"quota_microseconds", (json_int_t)level->limit.quota,
		"period_microseconds", (json_int_t)level->limit.period,
		"limit_cpus", cpus_of(&level->limit),
		"periods", make_count(is_known, level->stat.periods),
		"throttled_periods", make_count(is_known, level->stat.throttled),
		"throttled_seconds", make_seconds(is_known, level->stat.lost),
		"cgroup_cpu_seconds", make_seconds(is_known && level->stat.knows_used, level->stat.used));
}

static json_t *make_levels(const struct cq_figures *figures)
{
	json_t *levels;

	if (!figures->knows_cgroup)
		return json_null();
	levels = json_array();
	for (size_t i = 0; i < figures->level_count; i++)
		json_array_append_new(levels, make_level(figures, &figures->levels[i]));
	return levels;
}

static json_t *make_report(const char *program, int status, const struct cq_figures *figures)
{
	static const struct cq_metered_level none; /* which has throttled nothing */
	const struct cq_metered_level *effective = figures->effective ? figures->effective : &none;
	const struct cq_advice *advice = cq_advice_of(figures);
	bool is_known = cq_figures_know_throttling(figures);

	return json_pack("{s:i, s:o, s:i, s:b, s:o, s:o, s:o, s:o, s:o, s:f, s:f, s:f, s:f, s:f, s:o, s:o, s:o, s:I, s:I, "
			 "s:o, s:o, s:o, s:{s:s, s:s}}",
		"version", SCHEMA_VERSION,
		"program", make_string(program, strlen(program)),
		"exit_status", status,
		"policy_off", figures->is_off,
		"shown_cpus", make_count(figures->real, figures->shown),
		"real_cpus", make_count(figures->real, figures->real),
		"limited", figures->knows_cgroup ? json_boolean(figures->effective != NULL) : json_null(),
		"limit_cpus", figures->effective ? json_real(cpus_of(&effective->limit)) : json_null(),
		"limit_changed", figures->knows_cgroup ? json_boolean(figures->limit_has_changed) : json_null(),
		"wall_seconds", seconds(figures->wall),
		"cpu_seconds", seconds(cq_figures_cpu(figures)),
		"user_seconds", seconds(figures->user),
		"system_seconds", seconds(figures->system),
		"used_cpus", cpus_used(figures),
		"periods", make_count(is_known, effective->stat.periods),
		"throttled_periods", make_count(is_known, effective->stat.throttled),
		"throttled_seconds", make_seconds(is_known, effective->stat.lost),
		"voluntary_switches", (json_int_t)figures->voluntary,
		"involuntary_switches", (json_int_t)figures->involuntary,
		"cgroup_version", figures->knows_cgroup ? json_integer(figures->cgroup.version) : json_null(),
		"cgroup", figures->knows_cgroup ? make_string(figures->cgroup.path, figures->cgroup.length) : json_null(),
		"levels", make_levels(figures),
		"advice", "code", advice->code, "text", advice->text);
}

static void write_json(FILE *out, const char *program, int status, const struct cq_figures *figures)
{
	json_t *report = make_report(program, status, figures);

	if (report && json_dumpf(report, out, JSON_REAL_PRECISION(9)) == 0)
		fputc('\n', out);
	json_decref(report);
}

static void write_all(int fd, const char *text, size_t length)
{
	while (length) {
		ssize_t written = write(fd, text, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return;
		text += written;
		length -= (size_t)written;
	}
}

void cq_report_write(enum cq_report kind, const char *program, int status, const struct cq_figures *figures)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return;
	if (kind == CQ_REPORT_JSON)
		write_json(out, program, status, figures);
	else
		write_text(out, program, status, figures);
	if (fclose(out) == 0)
		write_all(STDERR_FILENO, text, length);
	free(text);
}
