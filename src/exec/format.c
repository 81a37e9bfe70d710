/* SPDX-License-Identifier: MIT */
#include "format.h"

#include "launch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *cq_must(void *pointer)
{
	if (!pointer) {
		fputs("cpuquota-exec: no memory\n", stderr);
		exit(CQ_EXIT_FAILED);
	}
	return pointer;
}

char *cq_format(const char *format, ...)
{
	va_list list;
	char *text = NULL;

	va_start(list, format);
	if (vasprintf(&text, format, list) < 0)
		text = NULL;
	va_end(list);
	return cq_must(text);
}

char *cq_copy(const char *text, size_t length)
{
	return cq_must(strndup(text, length));
}

static bool is_in(const struct cq_cpumask *mask, unsigned cpu)
{
	return cpu < CQ_MAX_CPUS && mask->words[cpu / CQ_WORD_BITS] >> cpu % CQ_WORD_BITS & 1;
}

char *cq_format_list(const struct cq_cpumask *mask)
{
	char *text = NULL;
	size_t size;
	FILE *stream = cq_must(open_memstream(&text, &size));
	const char *separator = "";

	for (unsigned cpu = 0; cpu < CQ_MAX_CPUS; cpu++) {
		unsigned last = cpu;

		if (!is_in(mask, cpu))
			continue;
		while (is_in(mask, last + 1))
			last++;
		fprintf(stream, last > cpu ? "%s%u-%u" : "%s%u", separator, cpu, last);
		separator = ",";
		cpu = last;
	}
	fclose(stream);
	return cq_must(text);
}
