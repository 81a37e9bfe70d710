/* SPDX-License-Identifier: MIT */
#include "start.h"

#include "exec.h"
#include "next.h"
#include "program.h"
#include "rawcall.h"
#include "text.h"

#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>

#define EXEC_PATH_MAX 256

extern char **environ;

/* Only glibc has it. */
extern const char *gnu_get_libc_version(void) __attribute__((weak));

unsigned cq_state = CQ_STATE_EARLY;
struct cq_view cq_view;
char cq_exec_path[EXEC_PATH_MAX];

static uint64_t now(void)
{
	struct timespec time;

	/* The coarse clock is read without a system call, and its ticks of a few milliseconds do. */
	if (!cq_next.clock_gettime || cq_next.clock_gettime(CLOCK_MONOTONIC_COARSE, &time) != 0)
		cq_rawcall(SYS_clock_gettime, CLOCK_MONOTONIC_COARSE, (long)&time, 0, 0);
	return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

/* True for a program that has more rights than who started it, and must not take its word; ld.so(8), secure-execution
 * mode. If that cannot be found out, the answer is the careful one. */
static bool is_secure_execution(void)
{
	return !cq_next.getauxval || cq_next.getauxval(AT_SECURE) != 0;
}

/* True if the segment is in memory: tools that rewrite programs may leave notes behind that are in the file alone. */
static bool is_loaded(const ElfW(Phdr) *headers, unsigned long count, const ElfW(Phdr) *segment)
{
	for (unsigned long i = 0; i < count; i++) {
		if (headers[i].p_type == PT_LOAD && headers[i].p_flags & PF_R && segment->p_vaddr >= headers[i].p_vaddr &&
		    segment->p_vaddr - headers[i].p_vaddr <= headers[i].p_filesz &&
		    segment->p_filesz <= headers[i].p_filesz - (segment->p_vaddr - headers[i].p_vaddr))
			return true;
	}
	return false;
}

/* Whether the program is Go's, by its program headers in memory: that takes no system call. */
static bool is_go(void)
{
	const ElfW(Phdr) *headers = cq_next.getauxval ? (const ElfW(Phdr) *)cq_next.getauxval(AT_PHDR) : NULL;
	unsigned long count = headers ? cq_next.getauxval(AT_PHNUM) : 0;
	ElfW(Addr) base = 0;

	for (unsigned long i = 0; i < count; i++) {
		if (headers[i].p_type == PT_PHDR)
			base = (ElfW(Addr))headers - headers[i].p_vaddr;
	}
	for (unsigned long i = 0; i < count; i++) {
		if (headers[i].p_type == PT_NOTE && is_loaded(headers, count, &headers[i]) &&
		    cq_program_has_go_note((const char *)(base + headers[i].p_vaddr), headers[i].p_filesz))
			return true;
	}
	return false;
}

const char *cq_environment(const char *name)
{
	for (char **variable = environ; variable && *variable; variable++) {
		size_t same = 0;

		while (name[same] && (*variable)[same] == name[same])
			same++;
		if (!name[same] && (*variable)[same] == '=')
			return *variable + same + 1;
	}
	return NULL;
}

static const char *no_environment(const char *name)
{
	(void)name;
	return NULL;
}

/* Writes one line to standard error, as ld.so does, without the SIGPIPE that a closed pipe would answer with. */
static void complain(const char *text)
{
	uint64_t pipe_signal = UINT64_C(1) << (SIGPIPE - 1), before;
	struct timespec at_once = {0, 0};
	struct cq_message message = {.length = 0};
	long written;

	cq_message_add_string(&message, "libcpuquota.so: ");
	cq_message_add_string(&message, text);
	if (message.length == sizeof message.text - 1)
		message.length--;
	cq_message_add_string(&message, "\n");
	if (cq_rawcall(SYS_rt_sigprocmask, SIG_BLOCK, (long)&pipe_signal, (long)&before, sizeof before) < 0)
		return;
	written = cq_raw_write(2, message.text, message.length);
	if (written == -EPIPE && !(before & pipe_signal))
		cq_rawcall(SYS_rt_sigtimedwait, (long)&pipe_signal, 0, (long)&at_once, sizeof pipe_signal);
	cq_rawcall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, sizeof before);
}

/* One line for a process is enough; cpuquota-exec --check-policy tells of all. */
static void complain_once(void *argument, const char *message)
{
	bool *has_complained = argument;

	if (!*has_complained)
		complain(message);
	*has_complained = true;
}

static void say_nothing(void *argument, const char *message)
{
	(void)argument, (void)message;
}

/* Returns the state that the view is then in. */
static enum cq_state prepare(struct cq_view *view, void (*problem)(void *argument, const char *message))
{
	bool has_complained = false;
	struct cq_policy_source source = {
		.root = "/",
		.default_file = CQ_POLICY_DEFAULT_FILE,
		.executable = "/proc/self/exe",
		.is_go = cq_next.getauxval ? is_go : NULL,
		.environment = is_secure_execution() ? no_environment : cq_environment,
		.problem = problem,
		.argument = &has_complained,
	};

	cq_policy_load(&view->policy, &source);
	if (view->policy.is_off || cq_view_init(view, "/", now) < 0)
		return CQ_STATE_OFF;
	return CQ_STATE_READY;
}

/* CPUQUOTA_EXEC is copied, as the program may write over its environment. */
static void find_exec(void)
{
	const char *named = is_secure_execution() ? NULL : cq_environment("CPUQUOTA_EXEC");
	size_t length = named ? strlen(named) : 0;

	if (!length || length >= EXEC_PATH_MAX)
		named = BINDIR "/cpuquota-exec", length = sizeof BINDIR "/cpuquota-exec" - 1;
	memmove(cq_exec_path, named, length < EXEC_PATH_MAX ? length : 0);
}

/* glibc gives constructors the arguments of main; musl gives them nothing. */
static __attribute__((constructor)) void start(int argc, char **arguments, char **variables)
{
	enum cq_state state;

	(void)argc;
	cq_next_resolve();
	state = prepare(&cq_view, complain_once);
	find_exec();
	__atomic_store_n(&cq_state, state, __ATOMIC_RELEASE);
	if (gnu_get_libc_version && !is_secure_execution() && is_go())
		cq_exec_again(arguments, variables);
}

/* Something to be found out from a view, with what belongs to it in ARGUMENT. */
typedef bool question_fn(struct cq_view *view, void *argument);

static __attribute__((noinline)) bool ask_early(enum cq_channel channel, question_fn *question, void *argument)
{
	struct cq_view view;

	cq_next_resolve();
	return prepare(&view, say_nothing) == CQ_STATE_READY && cq_channel_is_shown(&view.policy, channel) &&
	       question(&view, argument);
}

static bool find_answer(struct cq_view *view, void *argument)
{
	struct cq_answer *answer = argument;

	*answer = cq_view_answer(view);
	return true;
}

bool cq_channel_answer_early(enum cq_channel channel, struct cq_answer *ret)
{
	return ask_early(channel, find_answer, ret);
}

/* False where the policy leaves CHANNEL alone. */
static bool ask(enum cq_channel channel, question_fn *question, void *argument)
{
	switch (__atomic_load_n(&cq_state, __ATOMIC_ACQUIRE)) {
	case CQ_STATE_READY:
		return cq_channel_is_shown(&cq_view.policy, channel) && question(&cq_view, argument);
	case CQ_STATE_OFF:
		return false;
	default:
		return ask_early(channel, question, argument);
	}
}

struct mask_question {
	const void *mask;
	size_t size;
	struct cq_cpumask *ret;
};

static bool is_all(struct cq_view *view, void *argument)
{
	const struct mask_question *mask = argument;

	return cq_view_is_all(view, mask->mask, mask->size, mask->ret);
}

bool cq_channel_is_all(const void *mask, size_t size, struct cq_cpumask *ret_real)
{
	struct mask_question argument = {mask, size, ret_real};

	return ask(CQ_CHANNEL_AFFINITY, is_all, &argument);
}

static bool find_mask(struct cq_view *view, void *argument)
{
	struct cq_cpumask *mask = argument;
	struct cq_answer answer = cq_view_look(view, mask);

	cq_cpumask_keep_run(mask->words, CQ_MASK_WORDS, answer.first, answer.count);
	return true;
}

bool cq_channel_mask(enum cq_channel channel, struct cq_cpumask *ret)
{
	return ask(channel, find_mask, ret);
}

void cq_channel_freeze(void)
{
	if (__atomic_load_n(&cq_state, __ATOMIC_ACQUIRE) == CQ_STATE_READY)
		cq_view_freeze(&cq_view);
}

bool cq_channel_is_frozen(void)
{
	return atomic_load_explicit(&cq_view.is_frozen, memory_order_relaxed);
}

struct file_question {
	int fd;
	const char *name;
};

static bool has_limit_file(struct cq_view *view, void *argument)
{
	const struct file_question *file = argument;

	return cq_view_has_limit_file(view, file->fd, file->name);
}

bool cq_channel_has_limit_file(int fd, const char *name)
{
	struct file_question argument = {fd, name};

	return ask(CQ_CHANNEL_RUNTIME_QUOTA, has_limit_file, &argument);
}
