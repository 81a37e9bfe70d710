/* SPDX-License-Identifier: MIT */
/*
 * files-opens WAY COUNT PATH...: opens the files in turn, COUNT times in all,
 * and closes them. Of WAY "lines" the first line is read, as programs do that
 * read settings; "bare" does nothing in between.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void read_line(const char *path) {
  char line[256];
  FILE *stream = fopen(path, "r");

  if (!stream || !fgets(line, sizeof line, stream) || fclose(stream) != 0)
    exit(1);
}

static void open_bare(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);

  if (fd < 0 || close(fd) != 0)
    exit(1);
}

int main(int argc, char **argv) {
  unsigned long count;

  if (argc < 4)
    return 2;
  count = strtoul(argv[2], NULL, 10);
  for (unsigned long i = 0; i < count; i++) {
    const char *path = argv[3 + i % (unsigned long)(argc - 3)];

    if (strcmp(argv[1], "lines") == 0)
      read_line(path);
    else
      open_bare(path);
  }
  return 0;
}
