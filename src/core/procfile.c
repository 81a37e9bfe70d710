/* SPDX-License-Identifier: MIT */
#include "procfile.h"

#include "rawcall.h"
#include "text.h"

#include <errno.h>
#include <string.h>

/* What has to be seen of a line to know which CPU it is about: "processor       : 8191". */
#define HEAD_SIZE 32

struct writer {
	int fd;
	int error;
	size_t length;
	char buffer[512];
};

static void flush(struct writer *writer)
{
	for (size_t written = 0; written < writer->length && !writer->error;) {
		ssize_t n = cq_raw_write(writer->fd, writer->buffer + written, writer->length - written);

		if (n < 0)
			writer->error = (int)n;
		else
			written += (size_t)n;
	}
	writer->length = 0;
}

static void put(struct writer *writer, const char *text, size_t length)
{
	while (length) {
		size_t room = sizeof writer->buffer - writer->length, part = length < room ? length : room;

		memmove(writer->buffer + writer->length, text, part);
		writer->length += part;
		text += part;
		length -= part;
		if (writer->length == sizeof writer->buffer)
			flush(writer);
	}
}

static void put_string(struct writer *writer, const char *text)
{
	put(writer, text, strlen(text));
}

static void put_number(struct writer *writer, unsigned number)
{
	struct cq_message digits = {.length = 0};

	cq_message_add_number(&digits, number);
	put(writer, digits.text, digits.length);
}

static bool is_in(const struct cq_cpumask *mask, uint64_t cpu)
{
	return cpu < CQ_MAX_CPUS && mask->words[cpu / CQ_WORD_BITS] >> cpu % CQ_WORD_BITS & 1;
}

/* "0-3,8\n" */
static void put_list(struct writer *writer, const struct cq_cpumask *mask)
{
	const char *separator = "";

	for (unsigned cpu = 0; cpu < CQ_MAX_CPUS; cpu++) {
		unsigned last = cpu;

		if (!is_in(mask, cpu))
			continue;
		while (is_in(mask, last + 1))
			last++;
		put_string(writer, separator);
		put_number(writer, cpu);
		if (last > cpu) {
			put_string(writer, "-");
			put_number(writer, last);
		}
		separator = ",";
		cpu = last;
	}
	put_string(writer, "\n");
}

/* Goes through a text of lines, and knows of each whether it stays. */
struct filter {
	enum cq_procfile kind;
	const struct cq_cpumask *shown;
	struct writer *writer;
	bool has_dropped, has_kept; /* a CPU */
	bool keeps_block; /* of cpuinfo: the block of lines that this one is in stays */
	bool is_decided;  /* about the current line, whose head has been passed on or dropped */
	bool keeps_line;
	size_t head_length;
	char head[HEAD_SIZE + 1];
};

static bool keeps_cpu(struct filter *filter, uint64_t cpu)
{
	bool keeps = is_in(filter->shown, cpu);

	filter->has_kept |= keeps;
	filter->has_dropped |= !keeps;
	return keeps;
}

/* "cpu12 3 4 5": a line of one CPU; "cpu  3 4 5" is all of them together, and stays. */
static bool keeps_stat_line(struct filter *filter)
{
	const char *p = filter->head + 3;
	uint64_t cpu;

	return strncmp(filter->head, "cpu", 3) != 0 || !cq_text_number(&p, UINT32_MAX, &cpu) || keeps_cpu(filter, cpu);
}

/* "processor\t: 12" begins a block; an empty line ends it, and goes with it. */
static bool keeps_cpuinfo_line(struct filter *filter)
{
	static const char key[] = "processor";
	bool keeps = filter->keeps_block;
	const char *p = filter->head + sizeof key - 1;
	uint64_t cpu;

	if (filter->head[0] == '\n') {
		filter->keeps_block = true;
		return keeps;
	}
	if (strncmp(filter->head, key, sizeof key - 1) != 0)
		return keeps;
	p += strspn(p, " \t:");
	if (cq_text_number(&p, UINT32_MAX, &cpu))
		filter->keeps_block = keeps_cpu(filter, cpu);
	return filter->keeps_block;
}

static void decide(struct filter *filter)
{
	filter->head[filter->head_length] = '\0';
	filter->keeps_line = filter->kind == CQ_PROCFILE_STAT ? keeps_stat_line(filter) : keeps_cpuinfo_line(filter);
	filter->is_decided = true;
	if (filter->keeps_line)
		put(filter->writer, filter->head, filter->head_length);
	filter->head_length = 0;
}

static void pass(struct filter *filter, const char *text, size_t length)
{
	for (size_t i = 0; i < length;) {
		if (!filter->is_decided) {
			char c = filter->head[filter->head_length++] = text[i++];

			if (c == '\n' || filter->head_length == HEAD_SIZE)
				decide(filter);
			if (c == '\n')
				filter->is_decided = false;
		} else {
			const char *newline = memchr(text + i, '\n', length - i);
			size_t part = newline ? (size_t)(newline - (text + i)) + 1 : length - i;

			if (filter->keeps_line)
				put(filter->writer, text + i, part);
			filter->is_decided = !newline;
			i += part;
		}
	}
}

/* These three are not inlined: a program may read a file in a signal handler, on a stack of a few kilobytes, which is not
 * to hold the buffers of all of them. */
static __attribute__((noinline)) int pass_lines(struct filter *filter, int from)
{
	char text[1024];
	ssize_t got;

	for (size_t at = 0; at < CQ_PROCFILE_MAX_SIZE; at += (size_t)got) {
		got = cq_rawcall(SYS_pread64, from, (long)text, sizeof text, (long)at);
		if (got < 0)
			return (int)got;
		if (got == 0) {
			if (filter->head_length)
				decide(filter);
			return filter->has_kept || !filter->has_dropped ? 0 : -ENOENT;
		}
		pass(filter, text, (size_t)got);
	}
	return -EFBIG;
}

/* The CPUs of the list that are shown: all that are, where the file is the kernel's. */
static __attribute__((noinline)) int put_shown_of_list(struct writer *writer, const struct cq_cpumask *shown, int from)
{
	char text[1024];
	struct cq_cpumask mask;
	ssize_t got = cq_rawcall(SYS_pread64, from, (long)text, sizeof text - 1, 0);

	if (got < 0)
		return (int)got;
	text[got] = '\0';
	if (cq_cpumask_parse_list(text, (size_t)got, &mask) < 0)
		return -EINVAL;
	if (!cq_cpumask_intersect(&mask, shown))
		return -ENOENT;
	put_list(writer, &mask);
	return 0;
}

/* "150000 100000\n" becomes "max 100000\n". */
static __attribute__((noinline)) int put_without_limit(struct writer *writer, int from)
{
	char text[64];
	ssize_t got = cq_rawcall(SYS_pread64, from, (long)text, sizeof text - 1, 0);
	const char *period;

	if (got < 0)
		return (int)got;
	text[got] = '\0';
	period = strchr(text, ' ');
	if (!period)
		return -EINVAL;
	put_string(writer, "max");
	put_string(writer, period);
	return 0;
}

int cq_procfile_write(enum cq_procfile kind, const struct cq_cpumask *shown, int from, int to)
{
	struct writer writer = {.fd = to};
	struct filter filter = {.kind = kind, .shown = shown, .writer = &writer, .keeps_block = true};
	int r = 0;

	switch (kind) {
	case CQ_PROCFILE_CPUINFO:
	case CQ_PROCFILE_STAT:
		r = pass_lines(&filter, from);
		break;
	case CQ_PROCFILE_ONLINE:
		r = put_shown_of_list(&writer, shown, from);
		break;
	case CQ_PROCFILE_CPU_MAX:
		r = put_without_limit(&writer, from);
		break;
	case CQ_PROCFILE_CFS_QUOTA:
		put_string(&writer, "-1\n");
		break;
	case CQ_PROCFILE_NONE:
		return -EINVAL;
	}
	flush(&writer);
	return r < 0 ? r : writer.error;
}
