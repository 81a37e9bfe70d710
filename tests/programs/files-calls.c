/* SPDX-License-Identifier: MIT */
/*
 * files-calls SUBJECT SHOWN REAL: checks what opens of the files in which CPUs
 * are counted give besides the bytes. SHOWN is how many CPUs there are in a
 * copy, REAL in the file itself. The subjects are the functions below.
 */
#include "checks.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>

#define THREADS 16
#define ALL_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL)

static const char *const paths[] = {"/proc/cpuinfo", "/proc/stat",
                                    "/sys/devices/system/cpu/online"};
static int shown, real;

/* Not known to the compiler, so that neither it nor the checks of
 * _FORTIFY_SOURCE have an opinion. */
static const char *volatile nowhere;

static bool is_about_cpu(const char *line) {
  return strncmp(line, "processor", 9) == 0 ||
         (strncmp(line, "cpu", 3) == 0 && line[3] >= '0' && line[3] <= '9');
}

/* Reads on from where FD is: as many CPUs as there are in one of the files, or
 * -1. Takes no memory. */
static __attribute__((noinline)) int count_in(int fd) {
  char text[512], head[10] = "";
  int lines = 0, listed = 0, first = 0, number = 0;
  bool is_list = true, is_range = false;
  size_t length = 0;
  ssize_t got;

  while ((got = read(fd, text, sizeof text)) > 0) {
    for (ssize_t i = 0; i < got; i++) {
      char c = text[i];

      if (length < sizeof head - 1)
        head[length++] = c;
      if (c == '\n') {
        lines += is_about_cpu(head);
        memset(head, 0, sizeof head);
        length = 0;
      }
      if (c >= '0' && c <= '9') {
        number = is_list ? number * 10 + c - '0' : 0;
      } else if (c == '-') {
        first = number, number = 0, is_range = true;
      } else if (c == ',' || c == '\n') {
        listed += is_range ? number - first + 1 : 1;
        number = 0, is_range = false;
      } else {
        is_list = false;
      }
    }
  }
  return got < 0 ? -1 : is_list ? listed : lines;
}

static bool is_copy(int fd) { return fcntl(fd, F_GET_SEALS) == ALL_SEALS; }

static int lowest_free(void) {
  int fd = dup(0);

  close(fd);
  return fd;
}

static __attribute__((noinline)) int count_descriptors(void) {
  int count = 0;

  for (int fd = 0; fd < 1024; fd++)
    count += fcntl(fd, F_GETFD) >= 0;
  return count;
}

/* The number, the flags, errno, the seals. */
static void check_descriptors(void) {
  for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
    const char *path = paths[i];
    int before = count_descriptors(), hole, fd, got;
    struct stat status;
    FILE *stream;

    hole = dup(0);
    fd = dup(0); /* above the hole */
    close(hole);
    errno = KEPT_ERRNO;
    got = open(path, O_RDONLY);
    check(got == hole && errno == KEPT_ERRNO,
          "%s: the lowest free descriptor, and errno is kept", path);
    check(is_copy(got) == (shown != real), "%s: a sealed copy, if it is one",
          path);
    check(count_in(got) == shown, "%s: has the CPUs shown", path);
    check(fcntl(got, F_GETFD) == 0, "%s: not closed on exec", path);
    close(got);
    got = open(path, O_RDONLY | O_CLOEXEC);
    check(got == hole && fcntl(got, F_GETFD) == FD_CLOEXEC &&
              is_copy(got) == (shown != real),
          "%s: O_CLOEXEC", path);
    close(got);
    got = openat(AT_FDCWD, path,
                 O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
    check(got == hole && fcntl(got, F_GETFD) == FD_CLOEXEC &&
              count_in(got) == shown,
          "%s: several flags", path);
    close(got);
    errno = KEPT_ERRNO;
    stream = fopen(path, "r");
    check(stream && fileno(stream) == hole && fcntl(hole, F_GETFD) == 0 &&
              count_in(hole) == shown,
          "%s: fopen r", path);
    fclose(stream);
    stream = fopen(path, "re");
    check(stream && fileno(stream) == hole &&
              fcntl(hole, F_GETFD) == FD_CLOEXEC && count_in(hole) == shown,
          "%s: fopen re", path);
    fclose(stream);
    close(fd);
    check(count_descriptors() == before, "%s: none is left open", path);

    if (shown == real)
      continue;
    fd = open(path, O_RDONLY);
    errno = 0;
    check(write(fd, "0", 1) == -1 && errno == EPERM, "%s: a write fails", path);
    check(ftruncate(fd, 0) == -1 && errno == EPERM, "%s: ftruncate fails",
          path);
    check(ftruncate(fd, 1 << 20) == -1 && errno == EPERM,
          "%s: ftruncate fails to grow it", path);
    check(mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) ==
              MAP_FAILED,
          "%s: cannot be mapped to write", path);
    check(lseek(fd, 0, SEEK_CUR) == 0 && fstat(fd, &status) == 0 &&
              S_ISREG(status.st_mode) && status.st_size > 0,
          "%s: starts at its beginning, and is a regular file with a size",
          path);
    check(count_in(fd) == shown && read(fd, &status, 1) == 0,
          "%s: has its bytes after that", path);
    close(fd);
  }
}

/* What is not a plain open to read gets what the kernel gives. */
static void check_other_opens(void) {
  for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
    const char *path = paths[i];
    static const int writing[] = {O_WRONLY,
                                  O_RDWR,
                                  O_RDWR | O_CREAT,
                                  O_WRONLY | O_APPEND,
                                  O_RDONLY | O_DIRECTORY,
                                  O_RDONLY | O_CREAT | O_EXCL,
                                  O_RDONLY | O_TMPFILE};
    static const char *const modes[] = {"r+", "w", "a", "re+"};
    char name[64];
    int fd = open(path, O_PATH), kernel;
    FILE *stream;

    check(fd >= 0 && fcntl(fd, F_GETFL) & O_PATH, "%s: O_PATH", path);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    close(fd);
    for (size_t j = 0; j < sizeof writing / sizeof writing[0]; j++) {
      int error;

      kernel =
          (int)cq_rawcall(SYS_openat, AT_FDCWD, (long)path, writing[j], 0600);
      errno = 0;
      fd = open(path, writing[j], 0600);
      error = fd < 0 ? -errno : 0;
      check(kernel < 0 ? error == kernel
                       : fd >= 0 && fcntl(fd, F_GET_SEALS) < 0,
            "%s: flags 0%o: the kernel says %d, open %d", path,
            (unsigned)writing[j], kernel, error);
      if (kernel >= 0)
        close(kernel);
      if (fd >= 0)
        close(fd);
    }
    for (size_t j = 0; j < sizeof modes / sizeof modes[0]; j++) {
      stream = fopen(path, modes[j]);
      check(!stream || fcntl(fileno(stream), F_GET_SEALS) < 0,
            "%s: fopen %s gives no copy", path, modes[j]);
      if (stream)
        fclose(stream);
    }
  }
  /* Modes reach the kernel. */
  for (int i = 0; i < 2; i++) {
    static const mode_t modes[] = {0600, 0444};
    char name[] = "/tmp/cpuquota-files-XXXXXX";
    struct stat status;
    int fd = mkstemp(name);

    close(fd);
    unlink(name);
    umask(0);
    fd = i ? openat(AT_FDCWD, name, O_CREAT | O_EXCL | O_WRONLY, modes[i])
           : open(name, O_CREAT | O_EXCL | O_RDWR, modes[i]);
    check(fd >= 0 && fstat(fd, &status) == 0 &&
              (status.st_mode & 07777) == modes[i],
          "O_CREAT with mode 0%o", (unsigned)modes[i]);
    close(fd);
    unlink(name);
  }
}

static void check_errors(void) {
  static char path_max[PATH_MAX + 16];
  char *end = (char *)guarded(1);
  const struct {
    const char *name, *path;
  } bad[] = {
      {"NULL", nowhere},
      {"a bad pointer", (const char *)8},
      {"a path that ends where memory does", end},
      {"an empty path", ""},
      {"PATH_MAX and more", path_max},
      {"no such file in /proc", "/proc/cpuinfo/stat"},
      {"no such file", "/proc/none/cpuinfo"},
      {"no such limit", "/sys/fs/cgroup/none/cpu.max"},
      {"nowhere", "cpuinfo"},
      {"a directory that is none", "/proc/stat/online"},
  };

  *end = '/'; /* without a NUL behind it */
  memset(path_max, '/', sizeof path_max - 1);
  memcpy(path_max + sizeof path_max - 1 - strlen("proc/cpuinfo"),
         "proc/cpuinfo", strlen("proc/cpuinfo"));
  if (chdir("/") != 0)
    give_up("/");
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    int kernel = cq_raw_openat(AT_FDCWD, bad[i].path, O_RDONLY), got;
    FILE *stream;

    errno = 0;
    got = open(bad[i].path, O_RDONLY);
    check(kernel < 0 && got == -1 && errno == -kernel,
          "open, %s: %d, kernel %d", bad[i].name, errno, -kernel);
    errno = 0;
    got = openat(AT_FDCWD, bad[i].path, O_RDONLY);
    check(got == -1 && errno == -kernel, "openat, %s: %d, kernel %d",
          bad[i].name, errno, -kernel);
    errno = 0;
    stream = fopen(bad[i].path, "r");
    check(!stream && errno == -kernel, "fopen, %s: %d, kernel %d", bad[i].name,
          errno, -kernel);
  }
  errno = 0;
  check(openat(-1, "cpuinfo", O_RDONLY) == -1 && errno == EBADF,
        "openat, a bad directory descriptor");
  errno = 0;
  check(!fopen("/proc/cpuinfo", "x") && errno == EINVAL, "fopen, a bad mode");
  /* The longest path that the kernel takes: it names the file. */
  memmove(path_max, path_max + 16, sizeof path_max - 16);
  check(strlen(path_max) == PATH_MAX - 1, "a path of %zu characters",
        strlen(path_max));
  int fd = open(path_max, O_RDONLY);
  check(count_in(fd) == shown, "has the CPUs shown");
  close(fd);
}

static void check_leaks(void) {
  int before = count_descriptors(), wrong = 0;

  for (int i = 0; i < 10000; i++) {
    int fd = open(paths[i % 3], O_RDONLY | (i & 1 ? O_CLOEXEC : 0));

    wrong += fd < 0;
    /* Reading all of them takes its time with many CPUs. */
    if (i % 100 < 3)
      wrong += count_in(fd) != shown;
    close(fd);
  }
  check(wrong == 0, "10,000 opens, %d wrong", wrong);
  check(count_descriptors() == before,
        "no descriptor is left open: %d, were %d", count_descriptors(), before);
}

static volatile sig_atomic_t in_signal[3], signal_errno;

static void open_in_signal(int number) {
  int before = errno;

  (void)number;
  errno = KEPT_ERRNO;
  for (int i = 0; i < 3; i++) {
    int fd = open(paths[i], O_RDONLY);

    in_signal[i] = count_in(fd);
    close(fd);
  }
  signal_errno = errno;
  errno = before;
}

static void check_signals(void) {
  struct sigaction action = {.sa_handler = open_in_signal};
  sigset_t all;

  sigaction(SIGALRM, &action, NULL);
  raise(SIGALRM);
  check(in_signal[0] == shown && in_signal[1] == shown &&
            in_signal[2] == shown && signal_errno == KEPT_ERRNO,
        "in a signal handler: %d %d %d, errno kept", in_signal[0], in_signal[1],
        in_signal[2]);
  /* The handler comes while an open is on its way. */
  const struct itimerval often = {{0, 700}, {0, 700}}, never = {{0, 0}, {0, 0}};
  int wrong = 0, rounds = 0;

  setitimer(ITIMER_REAL, &often, NULL);
  for (; rounds < 2000; rounds++) {
    int fd = open(paths[rounds % 3], O_RDONLY);

    wrong += count_in(fd) != shown;
    close(fd);
    wrong += in_signal[rounds % 3] != shown;
  }
  setitimer(ITIMER_REAL, &never, NULL);
  check(wrong == 0, "interrupted again and again: %d of %d wrong", wrong,
        rounds);
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
  int fd = open(paths[0], O_RDONLY);
  check(count_in(fd) == shown, "all signals blocked");
  close(fd);
}

/* A child of vfork shares the memory, and its descriptors are its own. Returns
 * its exit status. */
static __attribute__((noinline)) int open_in_vfork_child(const char *path) {
  int status;
  pid_t child = vfork();

  if (child == 0) {
    int fd = open(path, O_RDONLY);

    _exit(fd >= 0 && count_in(fd) == shown ? 42 : 1);
  }
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
             ? WEXITSTATUS(status)
             : -1;
}

static void check_vfork(void) {
  int before = count_descriptors();

  for (size_t i = 0; i < 3; i++) {
    int fd;

    check(open_in_vfork_child(paths[i]) == 42, "%s in a vfork child", paths[i]);
    fd = open(paths[i], O_RDONLY);
    check(count_in(fd) == shown, "%s after it", paths[i]);
    close(fd);
  }
  check(count_descriptors() == before, "no descriptor is left open");
}

static int wrong_in_threads;

static void *open_in_thread(void *argument) {
  for (int i = 0; i < 300; i++) {
    const char *path = paths[(i + *(int *)argument) % 3];
    FILE *stream = i & 1 ? fopen(path, "re") : NULL;
    int fd = i & 1 ? (stream ? fileno(stream) : -1) : open(path, O_RDONLY);

    if (fd < 0 || count_in(fd) != shown)
      __atomic_add_fetch(&wrong_in_threads, 1, __ATOMIC_RELAXED);
    if (stream)
      fclose(stream);
    else
      close(fd);
  }
  return NULL;
}

static void check_threads(void) {
  pthread_t threads[THREADS];
  int numbers[THREADS], before = count_descriptors();

  for (int i = 0; i < THREADS; i++) {
    numbers[i] = i;
    if (pthread_create(&threads[i], NULL, open_in_thread, &numbers[i]) != 0)
      give_up("pthread_create");
  }
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  check(wrong_in_threads == 0, "%d wrong in %d threads", wrong_in_threads,
        THREADS);
  check(count_descriptors() == before, "no descriptor is left open");
}

/* True if PATH gives the file itself, with all of its CPUs, though it would be
 * a copy if nothing were in the way. */
static bool is_left_alone(const char *path) {
  int fd = open(path, O_RDONLY);
  bool is_good = fd >= 0 && fcntl(fd, F_GET_SEALS) < 0 && count_in(fd) == real;
  FILE *stream;

  close(fd);
  stream = fopen(path, "r");
  is_good = is_good && stream && fcntl(fileno(stream), F_GET_SEALS) < 0 &&
            count_in(fileno(stream)) == real;
  if (stream)
    fclose(stream);
  return is_good;
}

static void check_left_alone(const char *what) {
  for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
    check(is_left_alone(paths[i]), "%s: %s is the file itself", what, paths[i]);
}

static void check_no_descriptors(void) {
  const struct rlimit few = {20, 20};
  int fds[32], count = 0;

  if (setrlimit(RLIMIT_NOFILE, &few) != 0)
    give_up("RLIMIT_NOFILE");
  while ((fds[count] = dup(0)) >= 0)
    count++;
  for (size_t i = 0; i < 3; i++) {
    errno = 0;
    check(open(paths[i], O_RDONLY) == -1 && errno == EMFILE,
          "none is free: EMFILE of open");
    errno = 0;
    check(!fopen(paths[i], "r") && errno == EMFILE,
          "none is free: EMFILE of fopen");
  }
  close(fds[--count]);
  check_left_alone("one is free");
  check(lowest_free() == fds[count], "it is free again");
  close(fds[--count]);
  for (size_t i = 0; i < 3; i++) {
    int fd = open(paths[i], O_RDONLY);

    check(fd == fds[count] || fd == fds[count + 1],
          "two are free: one of them is taken");
    check(count_in(fd) == shown || !is_copy(fd),
          "two are free: the file is whole");
    close(fd);
  }
}

static volatile sig_atomic_t signals;

static void count_signal(int number) {
  (void)number;
  signals++;
}

/* A write to a copy beyond it would end the program (SIGXFSZ). Nothing can be
 * said until the limit is gone. */
static void check_file_size(void) {
  static const rlim_t sizes[] = {0, 1, 100, 4096};
  const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};

  signal(SIGXFSZ, count_signal);
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    for (size_t j = 0; j < sizeof paths / sizeof paths[0]; j++) {
      const struct rlimit small = {sizes[i], RLIM_INFINITY};
      bool is_good;

      if (setrlimit(RLIMIT_FSIZE, &small) != 0)
        give_up("RLIMIT_FSIZE");
      is_good = is_left_alone(paths[j]);
      setrlimit(RLIMIT_FSIZE, &none);
      check(is_good && signals == 0,
            "RLIMIT_FSIZE %lu: %s is the file itself, %d signals",
            (unsigned long)sizes[i], paths[j], (int)signals);
    }
  }
}

static void check_no_memory(void) {
  const struct rlimit none = {1 << 20, 1 << 20}; /* below what is in use */
  void *more;

  if (setrlimit(RLIMIT_AS, &none) != 0)
    give_up("RLIMIT_AS");
  more = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check(more == MAP_FAILED, "there is no memory");
  for (size_t i = 0; i < 3; i++) {
    int fd = open(paths[i], O_RDONLY);

    check(fd >= 0 && count_in(fd) == (is_copy(fd) ? shown : real),
          "RLIMIT_AS: %s is whole", paths[i]);
    check(is_copy(fd) == (shown != real),
          "RLIMIT_AS: %s: a copy takes no memory of the program's", paths[i]);
    close(fd);
  }
}

/* From here on the kernel answers system call NUMBER with ERROR. */
static void forbid(unsigned number, unsigned error) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};

  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    give_up("seccomp");
}

static void check_no_memfd(void) {
  forbid(SYS_memfd_create, EPERM);
  errno = 0;
  check(syscall(SYS_memfd_create, "x", 0) == -1 && errno == EPERM,
        "memfd_create is forbidden");
  check_left_alone("memfd_create forbidden");
}

static void check_no_pread(void) {
  forbid(SYS_pread64, EPERM);
  for (size_t i = 0; i < 2; i++) {
    int fd = open(paths[i], O_RDONLY);

    check(fd >= 0 && !is_copy(fd) && count_in(fd) == real,
          "pread forbidden: %s is the file itself", paths[i]);
    close(fd);
  }
}

static void check_no_dup3(void) {
  int before = count_descriptors();

  forbid(SYS_dup3, ENOSYS);
  check_left_alone("dup3 forbidden");
  check(count_descriptors() == before, "no descriptor is left open");
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*check)(void);
  } subjects[] = {
      {"descriptors", check_descriptors},
      {"other-opens", check_other_opens},
      {"errors", check_errors},
      {"leaks", check_leaks},
      {"signals", check_signals},
      {"vfork", check_vfork},
      {"threads", check_threads},
      {"no-descriptors", check_no_descriptors},
      {"file-size", check_file_size},
      {"no-memory", check_no_memory},
      {"no-memfd", check_no_memfd},
      {"no-pread", check_no_pread},
      {"no-dup3", check_no_dup3},
  };

  if (argc != 4)
    return 2;
  shown = atoi(argv[2]);
  real = atoi(argv[3]);
  for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++) {
    if (strcmp(argv[1], subjects[i].name) == 0) {
      subjects[i].check();
      return done();
    }
  }
  fprintf(stderr, "no subject %s\n", argv[1]);
  return 2;
}
