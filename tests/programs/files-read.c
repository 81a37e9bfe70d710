/* SPDX-License-Identifier: MIT */
/*
 * files-read WAY PATH: writes to standard output what the file has when it is
 * opened and read in that way. Compiled as it is, and by the tests with
 * _FORTIFY_SOURCE and with _FILE_OFFSET_BITS=64, which make other functions of
 * the same names.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Not known to the compiler, so that the checking forms of open are called
 * where there are such. */
static volatile int flags = O_RDONLY;

#ifndef NOT_BY_NAME
/* Called by name too: a compiler without the checks of _FORTIFY_SOURCE does not
 * come to them. musl has none. */
extern int __open_2(const char *path, int flags) __attribute__((weak));
extern int __open64_2(const char *path, int flags) __attribute__((weak));
extern int __openat_2(int directory, const char *path, int flags)
    __attribute__((weak));
extern int __openat64_2(int directory, const char *path, int flags)
    __attribute__((weak));
#endif

__attribute__((noreturn)) static void give_up(const char *what) {
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  exit(2);
}

static void put(const char *text, size_t length) {
  if (fwrite(text, 1, length, stdout) != length)
    give_up("standard output");
}

static void read_in_pieces(int fd, size_t size) {
  char *buffer = malloc(size);
  ssize_t got;

  if (!buffer)
    give_up("malloc");
  while ((got = read(fd, buffer, size)) > 0)
    put(buffer, (size_t)got);
  if (got < 0)
    give_up("read");
  free(buffer);
}

static void read_by_pread(int fd) {
  char buffer[100];
  off_t at = 0;
  ssize_t got;

  while ((got = pread(fd, buffer, sizeof buffer, at)) > 0) {
    put(buffer, (size_t)got);
    at += got;
  }
  if (got < 0 || lseek(fd, 0, SEEK_CUR) != 0)
    give_up("pread");
}

/* To the end and back: the second reading is what counts. */
static void read_after_seek(int fd) {
  char buffer[64];

  while (read(fd, buffer, sizeof buffer) > 0)
    ;
  if (lseek(fd, 0, SEEK_SET) != 0)
    give_up("lseek");
  read_in_pieces(fd, 4096);
}

/* As many bytes as fstat says. The kernel's own files say 0, a copy can do
 * better. */
static void read_by_size(int fd) {
  struct stat status;
  char *buffer;

  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
    give_up("fstat");
  buffer = malloc((size_t)status.st_size + 1);
  if (!buffer || read(fd, buffer, (size_t)status.st_size) != status.st_size)
    give_up("read");
  put(buffer, (size_t)status.st_size);
  free(buffer);
}

static void read_by_mmap(int fd) {
  struct stat status;
  char *text;

  if (fstat(fd, &status) != 0)
    give_up("fstat");
  text = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE,
              fd, 0);
  if (text == MAP_FAILED)
    give_up("mmap");
  put(text, (size_t)status.st_size);
  munmap(text, (size_t)status.st_size);
}

static void read_stream(FILE *stream, const char *path) {
  char line[64];

  if (!stream)
    give_up(path);
  while (fgets(line, sizeof line, stream))
    put(line, strlen(line));
  if (ferror(stream) || fclose(stream) != 0)
    give_up(path);
}

static int open_in_directory(const char *path,
                             int (*at)(int directory, const char *path,
                                       int flags, ...)) {
  const char *slash = strrchr(path, '/');
  char directory[4096];
  int fd, ret;

  if (!slash || (size_t)(slash - path) >= sizeof directory)
    give_up(path);
  memcpy(directory, path, (size_t)(slash - path));
  directory[slash - path] = '\0';
  fd = open(directory, O_RDONLY | O_DIRECTORY);
  if (fd < 0)
    give_up(directory);
  ret = at(fd, slash + 1, flags);
  close(fd);
  return ret;
}

/* The ways to open a file. Returns false if WAY is none of them. */
static bool open_by(const char *way, const char *path, int *ret) {
  if (strcmp(way, "open") == 0)
    *ret = open(path, flags);
  else if (strcmp(way, "open-with-mode") == 0)
    *ret = open(path, O_RDONLY, 0644);
  else if (strcmp(way, "open64") == 0)
    *ret = open64(path, flags);
  else if (strcmp(way, "openat") == 0)
    *ret = openat(AT_FDCWD, path, flags);
  else if (strcmp(way, "openat64") == 0)
    *ret = openat64(AT_FDCWD, path, flags);
  else if (strcmp(way, "openat-any-directory") == 0)
    *ret = openat(-1, path, flags);
  else if (strcmp(way, "openat-directory") == 0)
    *ret = open_in_directory(path, openat);
  else if (strcmp(way, "openat64-directory") == 0)
    *ret = open_in_directory(path, openat64);
#ifndef NOT_BY_NAME
  else if (strcmp(way, "__open_2") == 0 && __open_2)
    *ret = __open_2(path, flags);
  else if (strcmp(way, "__open64_2") == 0 && __open64_2)
    *ret = __open64_2(path, flags);
  else if (strcmp(way, "__openat_2") == 0 && __openat_2)
    *ret = __openat_2(AT_FDCWD, path, flags);
  else if (strcmp(way, "__openat64_2") == 0 && __openat64_2)
    *ret = __openat64_2(AT_FDCWD, path, flags);
#endif
  else
    return false;
  return true;
}

/* The ways to read one that is open. */
static bool read_by(const char *way, int fd, const char *path) {
  if (strcmp(way, "bytes") == 0)
    read_in_pieces(fd, 1);
  else if (strcmp(way, "big") == 0)
    read_in_pieces(fd, 1 << 20);
  else if (strcmp(way, "pread") == 0)
    read_by_pread(fd);
  else if (strcmp(way, "lseek") == 0)
    read_after_seek(fd);
  else if (strcmp(way, "fstat") == 0)
    read_by_size(fd);
  else if (strcmp(way, "mmap") == 0)
    read_by_mmap(fd);
  else if (strcmp(way, "fdopen") == 0)
    read_stream(fdopen(fd, "r"), path);
  else
    return false;
  return true;
}

static bool read_stream_by(const char *way, const char *path) {
  const char *mode = strchr(way, ' ');

  if (strncmp(way, "fopen ", 6) == 0)
    read_stream(fopen(path, mode + 1), path);
  else if (strncmp(way, "fopen64 ", 8) == 0)
    read_stream(fopen64(path, mode + 1), path);
  else
    return false;
  return true;
}

int main(int argc, char **argv) {
  const char *way = argc == 3 ? argv[1] : "", *path = argv[argc - 1];
  int fd;

  if (open_by(way, path, &fd)) {
    if (fd < 0)
      give_up(path);
    read_in_pieces(fd, 4096);
  } else if (!read_stream_by(way, path)) {
    fd = open(path, O_RDONLY);
    if (fd < 0)
      give_up(path);
    if (!read_by(way, fd, path)) {
      fprintf(stderr, "usage: files-read WAY PATH\n");
      return 3;
    }
  }
  return fflush(stdout) != 0;
}
