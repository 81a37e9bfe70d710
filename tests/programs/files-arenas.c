/* SPDX-License-Identifier: MIT */
/*
 * files-arenas [THREADS]: that many threads (64) allocate memory, one after
 * another, and give it back, but for the piece that was allocated last: threads
 * that share an arena share what was given back. Prints the number of arenas,
 * as glibc tells it ("-" where malloc is another), and how much memory is in
 * use, in KiB.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECES 500
#define PIECE_SIZE 4000

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t are_all_done;

extern int malloc_info(int options, FILE *stream) __attribute__((weak));

static void *allocate(void *argument) {
  void *pieces[PIECES];

  pthread_mutex_lock(&turn);
  for (int i = 0; i < PIECES; i++) {
    pieces[i] = malloc(PIECE_SIZE);
    if (!pieces[i])
      exit(1);
    memset(pieces[i], i, PIECE_SIZE);
  }
  for (int i = 0; i < PIECES - 1; i++)
    free(pieces[i]);
  *(void **)argument = pieces[PIECES - 1];
  pthread_mutex_unlock(&turn);
  pthread_barrier_wait(&are_all_done); /* the arena of a thread that has ended
                                          is free for the next */
  pthread_barrier_wait(&are_all_done);
  return NULL;
}

/* malloc_info(3): <heap nr="0"> and so on. */
static int count_arenas(void) {
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  int count = 0;

  if (!malloc_info || !stream || malloc_info(0, stream) != 0 ||
      fclose(stream) != 0)
    return 0;
  for (const char *p = text; (p = strstr(p, "<heap nr=")) != NULL; p++)
    count++;
  free(text);
  return count;
}

static long resident(void) {
  FILE *stream = fopen("/proc/self/statm", "r");
  long pages = 0;

  if (!stream || fscanf(stream, "%*d %ld", &pages) != 1)
    exit(1);
  fclose(stream);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(int argc, char **argv) {
  int count = argc > 1 ? atoi(argv[1]) : 64, arenas;
  pthread_t *threads = calloc((size_t)count, sizeof *threads);
  void **left = calloc((size_t)count, sizeof *left);

  if (!threads || !left ||
      pthread_barrier_init(&are_all_done, NULL, (unsigned)count + 1) != 0)
    return 1;
  for (int i = 0; i < count; i++) {
    if (pthread_create(&threads[i], NULL, allocate, &left[i]) != 0)
      return 1;
  }
  pthread_barrier_wait(&are_all_done);
  arenas = count_arenas();
  if (arenas)
    printf("%d %ld\n", arenas, resident());
  else
    printf("- %ld\n", resident());
  pthread_barrier_wait(&are_all_done);
  for (int i = 0; i < count; i++) {
    pthread_join(threads[i], NULL);
    free(left[i]);
  }
  free(threads);
  free(left);
  return 0;
}
