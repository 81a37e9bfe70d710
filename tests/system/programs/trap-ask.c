/* SPDX-License-Identifier: MIT */
/*
 * trap-ask MODE [ARGUMENT]...: asks the kernel for affinity masks, by nothing but system calls. To be linked
 * statically. Answers are printed as a list of CPUs ("0-1"), or as the name of an error. The modes stand in a table at
 * the end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATTERN 0xa5
#define LARGE (1u << 20)
#define PAGE 4096

/* The answer to one question. */
struct answer {
	char text[256];
};

static const char *error_name(int error)
{
	static char number[32];

	switch (error) {
	case EINVAL:
		return "EINVAL";
	case ESRCH:
		return "ESRCH";
	case EFAULT:
		return "EFAULT";
	case EINTR:
		return "EINTR";
	case ENOSYS:
		return "ENOSYS";
	}
	snprintf(number, sizeof number, "error %d", error);
	return number;
}

/* MASK as a list. */
static void print_list(struct answer *ret, const unsigned char *mask, size_t size)
{
	long first = -1, last = (long)size * 8;
	size_t length = 0;

	ret->text[0] = '\0';
	for (long cpu = 0; cpu <= last; cpu++) {
		int is_set = cpu < last && mask[cpu / 8] >> cpu % 8 & 1;

		if (is_set && first < 0)
			first = cpu;
		if (is_set || first < 0 || length + 32 > sizeof ret->text)
			continue;
		length += (size_t)sprintf(ret->text + length, "%s%ld", length ? "," : "", first);
		if (cpu - 1 > first)
			length += (size_t)sprintf(ret->text + length, "-%ld", cpu - 1);
		first = -1;
	}
	if (!length)
		strcpy(ret->text, "no CPU");
}

static long raw_ask(long thread, unsigned long size, void *mask)
{
	long got = syscall(SYS_sched_getaffinity, thread, size, mask);

	return got < 0 ? -errno : got;
}

static struct answer ask(long thread)
{
	unsigned char mask[1024];
	struct answer answer;
	long got = raw_ask(thread, sizeof mask, mask);

	if (got < 0)
		strcpy(answer.text, error_name((int)-got));
	else
		print_list(&answer, mask, (size_t)got);
	return answer;
}

static int is_expected(struct answer answer, const char *expected)
{
	if (strcmp(answer.text, expected) == 0)
		return 1;
	fprintf(stderr, "got %s, not %s\n", answer.text, expected);
	return 0;
}

static int is_either(struct answer answer, const char *expected, const char *other)
{
	return strcmp(answer.text, other) == 0 || is_expected(answer, expected);
}

static int pin(int cpu)
{
	cpu_set_t mask;

	CPU_ZERO(&mask);
	CPU_SET(cpu, &mask);
	return sched_setaffinity(0, sizeof mask, &mask);
}

/* Each question of "exact" is a line; those of which a trap narrows the answer begin with "own". */
static unsigned char *large;

static void question(const char *name, long thread, unsigned long size)
{
	struct answer answer;
	long got, end;

	memset(large, PATTERN, LARGE);
	got = raw_ask(thread, size, large);
	for (end = LARGE; end && large[end - 1] == PATTERN; end--)
		continue;
	if (got < 0)
		strcpy(answer.text, error_name((int)-got));
	else
		print_list(&answer, large, (size_t)got);
	printf("%s, %#lx bytes: returns %ld, writes %ld: %s\n", name, size, got, end, answer.text);
}

static void question_at(const char *name, unsigned long size, void *address)
{
	long got = raw_ask(0, size, address);
	struct answer answer;

	if (got > 0) {
		print_list(&answer, address, (size_t)got);
		printf("own, %s: returns %ld: %s\n", name, got, answer.text);
	} else {
		printf("%s: returns %ld: %s\n", name, got, error_name((int)-got));
	}
}

/* Where the kernel says EFAULT and a trap that writes as a debugger does may have written: "EFAULT or MASK". */
static void question_read_only(const char *name, void *address, const char *shown)
{
	long got = raw_ask(0, 8, address);
	struct answer answer;

	if (got > 0) {
		mprotect(address, PAGE, PROT_READ);
		print_list(&answer, address, (size_t)got);
	} else {
		strcpy(answer.text, error_name((int)-got));
	}
	printf("%s: %s\n", name, got == -EFAULT || strcmp(answer.text, shown) == 0 ? "EFAULT or shown" : answer.text);
}

static void *pages(int count, int protection)
{
	void *address = mmap(NULL, (size_t)count * PAGE, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (address == MAP_FAILED)
		exit(125);
	return address;
}

/* "exact SHOWN" */
static _Atomic pid_t other_thread;
static _Atomic int thread_may_end;

static void *be_a_thread(void *argument)
{
	question("own, a thread of itself", gettid(), 128);
	question("own, the first thread", getpid(), 128);
	other_thread = gettid();
	while (!thread_may_end)
		poll(NULL, 0, 1);
	return argument;
}

static pid_t start_other(int cpu)
{
	int ready[2];
	char byte;
	pid_t other;

	if (pipe(ready) != 0 || (other = fork()) < 0)
		exit(125);
	if (other == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (cpu >= 0)
			pin(cpu);
		if (write(ready[1], "", 1) != 1)
			_exit(125);
		for (;;)
			pause();
	}
	if (read(ready[0], &byte, 1) != 1)
		exit(125);
	close(ready[0]);
	close(ready[1]);
	return other;
}

static void end_other(pid_t other)
{
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
}

static void ask_sizes(void)
{
	static const unsigned long sizes[] = {0, 1, 4, 7, 8, 9, 12, 16, 24, 64, 128, 1000, 1024, 1032, 8192, LARGE,
		0x1ffffff8, 0x20000000, 0x40000000, 0x80000000, 0xffffffff,
		0x100000000, 0x100000004, 0x100000008, ULONG_MAX};

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		question("own", 0, sizes[i]);
}

static void ask_threads(void)
{
	static const long nobody[] = {-1, INT_MIN, INT_MAX, 4194305};
	pthread_t thread;
	pid_t other;

	question("own, by number", getpid(), 128);
	question("own, by number, odd size", getpid(), 12);
	question("own, with bits above the number", 1L << 32, 128);
	question("own, by number with bits above it", (1L << 33) + getpid(), 128);
	for (size_t i = 0; i < sizeof nobody / sizeof *nobody; i++) {
		question("nobody", nobody[i], 128);
		question("nobody", nobody[i], 4);
	}
	other = start_other(-1);
	question("another process", other, 128);
	question("another process", other, 8);
	end_other(other);
	question("one that has gone", other, 128);
	for (int cpu = 0; cpu < 2; cpu++) {
		other = start_other(cpu);
		question("another process, pinned", other, 128);
		end_other(other);
	}
	question("the parent", getppid(), 128);
	fflush(stdout);
	if (pthread_create(&thread, NULL, be_a_thread, NULL) != 0)
		exit(125);
	while (!other_thread)
		poll(NULL, 0, 1);
	question("own, another thread", other_thread, 128);
	question("own, another thread", other_thread, 8192);
	question("own, another thread", other_thread, 4);
	thread_may_end = 1;
	pthread_join(thread, NULL);
}

static void ask_addresses(const char *shown)
{
	static const unsigned char constant[1024] __attribute__((aligned(PAGE))) = {1};
	unsigned char *mapped = pages(3, PROT_READ | PROT_WRITE);
	int file = open("/proc/self/exe", O_RDONLY);
	void *shared = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file, 0);

	munmap(mapped + PAGE, PAGE);
	question_at("at the end of a page", 8, mapped + PAGE - 8);
	question_at("over the end of a page", 8, mapped + PAGE - 4);
	question_at("over the end of a page by one", 8, mapped + PAGE - 7);
	question_at("in front of a page", 8, mapped + 2 * PAGE - 4);
	question_at("an odd address", 8, mapped + 1);
	question_at("more room than there is", 1024, mapped + PAGE - 8);
	question_at("unmapped", 8, mapped + PAGE);
	question_at("unmapped, no room", 0, mapped + PAGE);
	question_at("unmapped, an odd size", 12, mapped + PAGE);
	question_at("null", 8, NULL);
	question_at("one", 8, (void *)1);
	question_at("the kernel's", 8, (void *)0xffffffff81000000);
	question_at("not canonical", 8, (void *)0x8000000000000000);
	question_at("the last", 8, (void *)-8);
	mprotect(mapped + 2 * PAGE, PAGE, PROT_WRITE);
	question_at("write-only", 8, mapped + 2 * PAGE);
	question_read_only("read-only memory", pages(1, PROT_READ), shown);
	question_read_only("no access", pages(1, PROT_NONE), shown);
	question_read_only("a read-only file", shared, shown);
	question_read_only("a constant", (void *)(uintptr_t)constant, shown);
}

static int exact(char **arguments)
{
	large = malloc(LARGE);
	ask_sizes();
	ask_threads();
	ask_addresses(arguments[0]);
	for (int cpu = 0; cpu < 2; cpu++) {
		if (pin(cpu) != 0)
			exit(125);
		question("pinned", 0, 128);
		question("pinned, by number", getpid(), 128);
	}
	return 0;
}

static int once(char **arguments)
{
	(void)arguments;
	puts(ask(0).text);
	return 0;
}

static int expect(char **arguments)
{
	return !is_expected(ask(0), arguments[0]);
}

/* "serve": an answer for each line. "pid" and "leave" are other requests. */
static int serve(char **arguments)
{
	char line[64];

	(void)arguments;
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof line, stdin)) {
		if (strncmp(line, "pid", 3) == 0)
			printf("%d\n", getpid());
		else if (strncmp(line, "leave", 5) == 0)
			puts(chdir("/") == 0 ? "left" : "stayed");
		else
			puts(ask(0).text);
	}
	return 0;
}

/* "forever SHOWN REAL": asks in a loop until it is killed, or the answer is neither. */
static int forever(char **arguments)
{
	while (is_either(ask(0), arguments[0], arguments[1]))
		continue;
	return 1;
}

static int count_failures(int processes)
{
	int failures = 0, status;

	for (int i = 0; i < processes; i++) {
		if (wait(&status) < 0 || status != 0)
			failures++;
	}
	return failures;
}

/* "flood WAVES PROCESSES SHOWN": that many start at once and ask, as copies and then having executed this. */
static int flood(char **arguments)
{
	int waves = atoi(arguments[0]), processes = atoi(arguments[1]), failures = 0;

	for (int wave = 0; wave < waves; wave++) {
		int gate[2], started = 0;
		char byte;

		if (pipe(gate) != 0)
			return 125;
		for (; started < processes; started++) {
			pid_t process = fork();

			if (process < 0)
				return 125;
			if (process)
				continue;
			close(gate[1]);
			if (read(gate[0], &byte, 1) != 0 || !is_expected(ask(0), arguments[2]))
				_exit(1);
			execl("/proc/self/exe", "trap-ask", "expect", arguments[2], NULL);
			_exit(126);
		}
		close(gate[1]);
		close(gate[0]);
		failures += count_failures(started);
	}
	printf("%d\n", failures);
	return failures != 0;
}

/* "change N SHOWN REAL FILE": the same process asks, executes FILE (this program), forks, and changes its user, N
 * times. Between a change of user and the next exec nobody but root may write into it: the answer may be REAL. */
static int change(char **arguments)
{
	const char *shown = arguments[1], *all = arguments[2], *file = arguments[3];
	int left = atoi(arguments[0]), status;
	char number[16];
	pid_t process;
	uid_t user = left % 3 ? 1000 + (uid_t)left : 0;

	if (left == 0)
		return 0;
	if (!is_expected(ask(0), shown) || setresgid(user, user, 0) != 0 || setresuid(user, user, 0) != 0 ||
	    !is_either(ask(0), shown, all))
		return 1;
	process = fork();
	if (process == 0) {
		/* For good, after which the program is executed by its new user. */
		if (setresuid(0, 0, 0) != 0 || setresgid(1000, 1000, 1000) != 0 || setresuid(1000, 1000, 1000) != 0 ||
		    !is_either(ask(0), shown, all))
			_exit(1);
		execl(file, "trap-ask", "expect", shown, NULL);
		_exit(126);
	}
	if (waitpid(process, &status, 0) != process || status != 0)
		return 1;
	if (setresuid(0, 0, 0) != 0 || setresgid(0, 0, 0) != 0 || !is_either(ask(0), shown, all))
		return 1;
	snprintf(number, sizeof number, "%d", left - 1);
	execl(file, "trap-ask", "change", number, shown, all, file, NULL);
	return 126;
}

static _Atomic unsigned long signals_seen;
static _Atomic int is_over;

static void see(int signal)
{
	(void)signal;
	signals_seen++;
}

static void *send_signals(void *argument)
{
	struct timespec pause = {0, 100000};

	while (!is_over) {
		syscall(SYS_tgkill, getpid(), getpid(), SIGURG);
		nanosleep(&pause, NULL);
	}
	return argument;
}

static int start_signals(const char *source)
{
	struct itimerval interval = {{0, 100}, {0, 100}};
	struct itimerspec timer_interval = {{0, 100000}, {0, 100000}};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGURG};
	timer_t timer;
	pthread_t thread;

	if (strcmp(source, "setitimer") == 0)
		return setitimer(ITIMER_REAL, &interval, NULL);
	if (strcmp(source, "timer_create") == 0) {
		if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
			return -1;
		return timer_settime(timer, 0, &timer_interval, NULL);
	}
	return pthread_create(&thread, NULL, send_signals, NULL);
}

/* "signals SOURCE restart|interrupt N SHOWN": asks while 10,000 signals a second arrive. Without SA_RESTART the kernel
 * hands out EINTR where a signal comes before the supervisor has taken the question; then this asks again. */
static int ask_among_signals(char **arguments)
{
	int is_restarted = strcmp(arguments[1], "restart") == 0, wanted = atoi(arguments[2]), wrong = 0;
	struct sigaction action = {.sa_handler = see, .sa_flags = is_restarted ? SA_RESTART : 0};

	sigaction(SIGURG, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	if (start_signals(arguments[0]) != 0)
		return 125;
	/* Until enough questions were asked, and enough signals came to be in between. */
	for (int asked = 0; asked < wanted || signals_seen < 1000;) {
		struct answer answer = ask(0);

		if (!is_restarted && strcmp(answer.text, "EINTR") == 0)
			continue;
		asked++;
		wrong += !is_expected(answer, arguments[3]);
	}
	is_over = 1;
	printf("%d\n", wrong);
	return wrong != 0;
}

static _Atomic int threads_wrong;

static void *ask_in_thread(void *argument)
{
	for (int i = 0; i < 200; i++) {
		if (!is_expected(ask(i % 2 ? 0 : gettid()), argument))
			threads_wrong++;
	}
	return NULL;
}

/* "threads SHOWN": sixteen at once. */
static int ask_in_threads(char **arguments)
{
	pthread_t threads[16];

	for (int i = 0; i < 16; i++) {
		if (pthread_create(&threads[i], NULL, ask_in_thread, arguments[0]) != 0)
			return 125;
	}
	for (int i = 0; i < 16; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", threads_wrong);
	return threads_wrong != 0;
}

/* "undumpable" */
static int ask_undumpable(char **arguments)
{
	(void)arguments;
	if (prctl(PR_SET_DUMPABLE, 0) != 0)
		return 125;
	return once(NULL);
}

/* "no-descriptors" */
static int ask_without_descriptors(char **arguments)
{
	struct answer answer;

	(void)arguments;
	while (open("/", O_RDONLY) >= 0)
		continue;
	answer = ask(0);
	puts(errno == EMFILE || errno == ENFILE || answer.text[0] ? answer.text : "?");
	return 0;
}

/* "wait": what waiting finds in a program that has started nothing. */
static int wait_for_nobody(char **arguments)
{
	int status;
	pid_t process;

	(void)arguments;
	printf("%d %s ", getpid(), ask(0).text);
	process = waitpid(-1, &status, WNOHANG);
	puts(process < 0 && errno == ECHILD ? "ECHILD" : "somebody");
	return 0;
}

/* "numbers": asks for all small numbers, and says for which of them there is an answer though there is no process. */
static int ask_for_numbers(char **arguments)
{
	int wrong = 0;

	(void)arguments;
	for (pid_t number = 1; number <= 300; number++) {
		int is_there = kill(number, 0) == 0 || errno == EPERM;

		if (!is_there && strcmp(ask(number).text, "ESRCH") != 0)
			wrong++;
	}
	printf("%s %d\n", ask(0).text, wrong);
	return wrong != 0;
}

static unsigned char fixed_place[1024] __attribute__((aligned(PAGE)));

/* "fixed": asks into a place that is the same in all that run this program. */
static int ask_into_fixed_place(char **arguments)
{
	struct answer answer;
	long got = raw_ask(0, sizeof fixed_place, fixed_place);

	(void)arguments;
	if (got > 0)
		print_list(&answer, fixed_place, (size_t)got);
	puts(got > 0 ? answer.text : error_name((int)-got));
	return 0;
}

/* "untouched": says, at the end of its input, whether somebody has written there. */
static int watch_fixed_place(char **arguments)
{
	int is_untouched = 1;

	(void)arguments;
	memset(fixed_place, PATTERN, sizeof fixed_place);
	while (getchar() != EOF)
		continue;
	for (size_t i = 0; i < sizeof fixed_place; i++)
		is_untouched &= fixed_place[i] == PATTERN;
	puts(is_untouched ? "untouched" : "touched");
	return 0;
}

/* "daemon FILE": leaves a process of its own session behind that asks until FILE is gone, and writes the last answer
 * into FILE.answer, then ends. Ends itself at once. */
static int leave_daemon(char **arguments)
{
	char name[PATH_MAX];
	struct answer answer;
	FILE *file;

	if (fork() != 0)
		return 0;
	setsid();
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	while (access(arguments[0], F_OK) == 0) {
		answer = ask(0);
		poll(NULL, 0, 1);
	}
	answer = ask(0);
	snprintf(name, sizeof name, "%s.answer", arguments[0]);
	file = fopen(name, "w");
	if (file) {
		fprintf(file, "%s\n", answer.text);
		fclose(file);
	}
	return 0;
}

static const struct {
	const char *name;
	int arguments;
	int (*run)(char **arguments);
} modes[] = {
	{"exact", 1, exact},
	{"once", 0, once},
	{"expect", 1, expect},
	{"serve", 0, serve},
	{"forever", 2, forever},
	{"flood", 3, flood},
	{"change", 4, change},
	{"signals", 4, ask_among_signals},
	{"threads", 1, ask_in_threads},
	{"undumpable", 0, ask_undumpable},
	{"no-descriptors", 0, ask_without_descriptors},
	{"wait", 0, wait_for_nobody},
	{"numbers", 0, ask_for_numbers},
	{"fixed", 0, ask_into_fixed_place},
	{"untouched", 0, watch_fixed_place},
	{"daemon", 1, leave_daemon},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		if (argc == modes[i].arguments + 2 && strcmp(argv[1], modes[i].name) == 0)
			return modes[i].run(argv + 2);
	}
	return 125;
}
