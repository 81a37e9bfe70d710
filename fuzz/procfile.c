/* SPDX-License-Identifier: MIT */
/* The files in which programs count CPUs, of any bytes: what comes out is part of what went in. */
#include "fuzz.h"

#include "procfile.h"

static size_t length_of(int fd)
{
	return (size_t)lseek(fd, 0, SEEK_END);
}

/* True if the lines of COPY are lines of FILE, in the same order. */
static int is_part(const char *file, const char *copy)
{
	while (*copy) {
		size_t length = strcspn(copy, "\n");

		length += copy[length] == '\n';
		while (*file && strncmp(file, copy, length) != 0)
			file += strcspn(file, "\n") + (file[strcspn(file, "\n")] == '\n');
		if (!*file)
			return 0;
		file += length;
		copy += length;
	}
	return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cq_cpumask shown = {{5}};
	int from = make_file(data, size);

	for (int kind = CQ_PROCFILE_CPUINFO; kind <= CQ_PROCFILE_CFS_QUOTA; kind++) {
		int to = make_file(NULL, 0);
		int r = cq_procfile_write((enum cq_procfile)kind, &shown, from, to);

		if (r == 0 && kind <= CQ_PROCFILE_STAT && !memchr(data, 0, size)) {
			size_t written = length_of(to);
			char *file = make_string(data, size), *copy = calloc(1, written + 1);

			must(copy && pread(to, copy, written, 0) == (ssize_t)written);
			must(written <= size && is_part(file, copy));
			free(file);
			free(copy);
		}
		close(to);
	}
	must(lseek(from, 0, SEEK_CUR) == (off_t)size);
	close(from);
	return 0;
}
