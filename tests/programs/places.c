/* SPDX-License-Identifier: MIT */
/*
 * Asking in awkward places. Each answer must be ONLINE, and a mask of SHOWN CPUs.
 *
 * usage: places PLACE ONLINE SHOWN   where PLACE is a function of the table at the end
 */
#include "checks.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/time.h>

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51 /* since Linux 5.14 */
#endif

#define THREADS 16
#define FORKS 200
#define SIGNALS 5000
#define SMALL_STACK 8192

static long online;
static unsigned shown;
static size_t page;

/*
 * Asks in all ways, and puts the mask back, which makes the library read its files each time if there are more real CPUs
 * than shown. Safe in a signal handler; errno stays.
 */
static bool ask(void)
{
	unsigned char mask[128];
	bool good = true;
	long filled;

	errno = KEPT_ERRNO;
	for (enum way way = LIBC; way < WAYS; way++) {
		unsigned cpus = 0;

		memset(mask, 0, sizeof mask);
		filled = get_mask(way, pthread_self(), 0, sizeof mask, mask);
		for (size_t i = 0; i < sizeof mask; i++)
			cpus += (unsigned)__builtin_popcount(mask[i]);
		good &= filled >= 0 && cpus == shown;
		good &= set_mask(way, pthread_self(), 0, sizeof mask, mask) == 0;
	}
	return good && sysconf(_SC_NPROCESSORS_ONLN) == online && get_nprocs() == online && errno == KEPT_ERRNO;
}

/* In a child of fork, where nothing but its exit status is told. */
static bool ask_in_child(bool (*question)(void))
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		alarm(30);
		_exit(question() ? 0 : 1);
	}
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static _Atomic unsigned long handled, handled_wrong;
static atomic_bool must_end;

static void handle(int number)
{
	int before = errno;

	(void)number;
	if (!ask())
		handled_wrong++;
	handled++;
	errno = before;
}

static void *send_signals(void *target)
{
	while (!must_end)
		pthread_kill(*(pthread_t *)target, SIGUSR1);
	return NULL;
}

/* A stack below which no page can be touched. Where the kernel's own frame is larger than with AVX-512 (AMX: 11 KiB), the
 * stack is larger by that much. */
static void use_small_stack(void)
{
	unsigned long frame = getauxval(AT_MINSIGSTKSZ), usual = 3632; /* of AVX-512 on x86-64 */
	size_t size = SMALL_STACK + (frame > usual ? frame - usual : 0);
	stack_t stack = {.ss_flags = 0};
	size_t pages = (size + page - 1) / page;
	char *memory = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0)
		give_up("mmap");
	stack.ss_sp = memory + page;
	stack.ss_size = size;
	if (sigaltstack(&stack, NULL) != 0)
		give_up("sigaltstack");
}

/* Handlers that ask while hooks run, as often as another thread can send signals. */
static void storm(bool is_on_small_stack)
{
	struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART | (is_on_small_stack ? SA_ONSTACK : 0)};
	struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
	pthread_t self = pthread_self(), sender;
	unsigned long wrong = 0;

	/* Now, so that ld.so does not look the functions up on the small stack, which takes kilobytes of its own. */
	check(ask(), "before any signal");
	if (is_on_small_stack) {
		use_small_stack();
		sigfillset(&action.sa_mask); /* it has room for one handler at a time */
	}
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	errno = pthread_create(&sender, NULL, send_signals, &self);
	if (errno)
		give_up("pthread_create");
	while (handled < SIGNALS)
		wrong += !ask();
	must_end = true;
	pthread_join(sender, NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	check(wrong == 0, "%lu wrong answers between signals", wrong);
	check(handled_wrong == 0, "%lu wrong answers in signal handlers", handled_wrong);
}

static void in_signals(void)
{
	storm(false);
}

static void in_signals_on_small_stack(void)
{
	storm(true);
}

static void *ask_all_the_time(void *wrong)
{
	while (!must_end) {
		if (!ask())
			++*(_Atomic unsigned long *)wrong;
	}
	return NULL;
}

static void in_threads_while_forking(void)
{
	static _Atomic unsigned long wrong;
	pthread_t threads[THREADS];
	unsigned bad_children = 0;

	for (int i = 0; i < THREADS; i++) {
		errno = pthread_create(&threads[i], NULL, ask_all_the_time, &wrong);
		if (errno)
			give_up("pthread_create");
	}
	for (int i = 0; i < FORKS; i++)
		bad_children += !ask_in_child(ask);
	must_end = true;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	check(wrong == 0, "%lu wrong answers in 16 threads", wrong);
	check(bad_children == 0, "%u of %d children were answered wrongly, or not at all", bad_children, FORKS);
}

/* Also in the child of a thread's fork. */
static void *fork_in_thread(void *good)
{
	*(bool *)good = ask_in_child(ask);
	return NULL;
}

static void in_fork_of_thread(void)
{
	bool good = false;
	pthread_t thread;

	pthread_create(&thread, NULL, fork_in_thread, &good);
	pthread_join(thread, NULL);
	check(good, "a child of another thread");
}

static void in_vfork(void)
{
	for (volatile int i = 0; i < 3; i++) {
		int status = -1;
		pid_t child;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
		child = vfork();
#pragma GCC diagnostic pop
		if (child == 0)
			_exit(ask() ? 0 : 1);
		waitpid(child, &status, 0);
		check(status == 0, "vfork child, round %d", i);
		check(ask(), "its parent, round %d", i);
	}
}

static void forbid_descriptors(void)
{
	struct rlimit none = {0, 0};

	getrlimit(RLIMIT_NOFILE, &none);
	none.rlim_cur = 0;
	if (setrlimit(RLIMIT_NOFILE, &none) != 0)
		give_up("setrlimit");
}

static void allow_descriptors(void)
{
	struct rlimit some;

	getrlimit(RLIMIT_NOFILE, &some);
	some.rlim_cur = some.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &some) != 0)
		give_up("setrlimit");
}

/* Before the first question nothing is known, and all real CPUs are shown; what matters is that it lives, and knows
 * the number as soon as it can be known. */
static void without_descriptors_at_first(void)
{
	long answer;

	forbid_descriptors();
	answer = sysconf(_SC_NPROCESSORS_ONLN);
	allow_descriptors();
	check(answer >= online, "no descriptor before the first question: %ld", answer);
	check(ask(), "with descriptors after that");
}

/* Longer than an answer is kept. */
static void let_it_grow_old(void)
{
	usleep(1200000);
}

static void without_descriptors_later(void)
{
	check(ask(), "with descriptors");
	forbid_descriptors();
	let_it_grow_old();
	check(ask(), "without descriptors, asked again");
	let_it_grow_old();
	check(ask(), "without descriptors, and again");
}

static bool ask_without_open_files(void)
{
	for (int fd = 0; fd < 1024; fd++)
		close(fd);
	if (!ask())
		return false;
	let_it_grow_old();
	if (!ask())
		return false;
	/* It kept none for itself. */
	for (int fd = 0; fd < 1024; fd++) {
		if (fcntl(fd, F_GETFD) != -1)
			return false;
	}
	return true;
}

static void with_all_descriptors_closed(void)
{
	check(ask_in_child(ask_without_open_files), "all descriptors closed before the first question");
	check(ask(), "with descriptors");
	check(ask_in_child(ask_without_open_files), "all descriptors closed after a question");
}

static void *ask_in_thread(void *good)
{
	*(bool *)good = ask();
	return NULL;
}

/* The smallest that a thread may have. */
static void on_small_thread_stack(void)
{
	size_t size = 16384;
	pthread_attr_t attributes;
	pthread_t thread;
	bool good = false;

	pthread_attr_init(&attributes);
	while (pthread_attr_setstacksize(&attributes, size) != 0) /* more where registers need more */
		size += 4096;
	errno = pthread_create(&thread, &attributes, ask_in_thread, &good);
	if (errno)
		give_up("pthread_create");
	pthread_join(thread, NULL);
	check(good, "a thread with a stack of %zu bytes", size);
}

/* A thread that was pinned before it asks, and one that pins itself: the count is the process's. */
static void *ask_pinned(void *good)
{
	struct mask real, pin;
	bool *is_good = good;

	kernel_mask(0, &real);
	*is_good = true;
	for (unsigned cpu = 0; cpu < LARGEST * 8; cpu++) {
		if (!has_cpu(&real, cpu))
			continue;
		only_cpu(&pin, cpu);
		cq_raw_sched_setaffinity(0, sizeof pin, &pin);
		*is_good &= sysconf(_SC_NPROCESSORS_ONLN) == online && get_nprocs() == online;
	}
	return NULL;
}

static void when_pinned(void)
{
	bool good = false;
	pthread_t thread;

	pthread_create(&thread, NULL, ask_pinned, &good);
	pthread_join(thread, NULL);
	check(good, "the first question comes from a pinned thread");
	let_it_grow_old();
	pthread_create(&thread, NULL, ask_pinned, &good);
	pthread_join(thread, NULL);
	check(good, "a later question comes from a pinned thread");
	ask_pinned(&good);
	check(good, "the main thread is pinned");
	let_it_grow_old();
	check(sysconf(_SC_NPROCESSORS_ONLN) == online, "the main thread is pinned and the answer is made anew");
}

/* As many programs do that set up their own environment: nothing is taken from it any more. */
static void with_environment_gone(void)
{
	check(clearenv() == 0 && ask(), "the environment is cleared before the first question");
	let_it_grow_old();
	check(ask(), "the environment is cleared before a later question");
}

static const struct {
	const char *name;
	void (*run)(void);
} all_places[] = {
	{"signals", in_signals},
	{"small-signal-stack", in_signals_on_small_stack},
	{"threads-and-fork", in_threads_while_forking},
	{"fork-of-thread", in_fork_of_thread},
	{"vfork", in_vfork},
	{"no-descriptors-at-first", without_descriptors_at_first},
	{"no-descriptors-later", without_descriptors_later},
	{"closed-descriptors", with_all_descriptors_closed},
	{"small-thread-stack", on_small_thread_stack},
	{"pinned", when_pinned},
	{"cleared-environment", with_environment_gone},
};

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	online = atol(argv[2]);
	shown = (unsigned)atoi(argv[3]);
	page = (size_t)getpagesize();
	for (size_t i = 0; i < sizeof all_places / sizeof *all_places; i++) {
		if (strcmp(argv[1], all_places[i].name) == 0) {
			all_places[i].run();
			return done();
		}
	}
	return 2;
}
