/* SPDX-License-Identifier: MIT */
/*
 * All system calls here are made directly, and text is put together without stdio: the C library's part of this program
 * would otherwise be most of the memory that a supervisor takes (the kernel maps 64 KiB around each place it runs through).
 */
#include "supervisor.h"

#include "probe.h"
#include "settings.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Answers that are remembered, by the thread that asked. */
#define REMEMBERED 128

struct remembered {
	pid_t thread;
	dev_t device; /* of the executable, where the policy depends on it */
	ino_t inode;
	uint64_t time;
	bool is_shown;
	struct cq_answer answer;
};

static struct remembered remembered[REMEMBERED];

/* "/proc/THREAD", and FILE behind it if it is not NULL. */
static const char *proc_path(struct cq_message *path, pid_t thread, const char *file)
{
	path->length = 0;
	cq_message_add_string(path, "/proc/");
	cq_message_add_number(path, (uint64_t)thread);
	if (file)
		cq_message_add_string(path, file);
	return path->text;
}

static bool stat_path(const char *path, struct stat *ret)
{
	return cq_rawcall(SYS_newfstatat, AT_FDCWD, (long)path, (long)ret, 0) == 0;
}

/* The executable of a thread, as far as a policy with sections needs to tell programs apart. */
static bool identify(const struct cq_supervisor *supervisor, pid_t thread, struct stat *ret)
{
	struct cq_message path;

	memset(ret, 0, sizeof *ret);
	return !supervisor->view->policy.has_sections || stat_path(proc_path(&path, thread, "/exe"), ret);
}

/* The policy for the program of THREAD, and what it says of that program's cgroup now. */
static void look(const struct cq_supervisor *supervisor, pid_t thread, struct remembered *ret)
{
	static struct cq_view view; /* too large for the stack of a process that is to stay small */
	struct cq_policy policy = supervisor->view->policy;
	struct cq_message path;
	struct cq_cpumask real;

	if (policy.has_sections)
		cq_settings_load(&policy, "/", proc_path(&path, thread, "/exe"), NULL);
	ret->is_shown = !policy.is_off && policy.affinity == CQ_AFFINITY_SHOWN;
	if (!ret->is_shown)
		return;
	memcpy(&view.given, &supervisor->view->given, sizeof view.given);
	view.policy = policy;
	view.root = supervisor->view->root;
	view.now = supervisor->view->now;
	view.process = thread;
	atomic_store(&view.packed, 0);
	ret->answer = cq_view_look(&view, &real);
}

/* What to show to THREAD. False: the kernel is to answer. */
static bool find_answer(const struct cq_supervisor *supervisor, pid_t thread, struct cq_answer *ret)
{
	struct remembered *slot = &remembered[(unsigned)thread % REMEMBERED];
	uint64_t now = supervisor->view->now();
	uint64_t kept = (uint64_t)supervisor->view->policy.refresh * 1000;
	struct stat executable;

	if (!identify(supervisor, thread, &executable))
		return false;
	if (slot->thread != thread || slot->device != executable.st_dev || slot->inode != executable.st_ino ||
	    (kept && now - slot->time >= kept)) {
		slot->thread = thread;
		slot->device = executable.st_dev;
		slot->inode = executable.st_ino;
		slot->time = now;
		look(supervisor, thread, slot);
	}
	*ret = slot->answer;
	return slot->is_shown;
}

/* True if /proc is of the pid namespace that this process is in. That of another one, which a program started by
 * unshare --pid without --mount-proc has, has other processes by the same numbers: writing to one would destroy it. (The
 * numbers outside are higher: there is at least one process more.) */
static bool has_own_proc(void)
{
	char target[24];
	const char *p = target;
	uint64_t number;
	long length = cq_rawcall(SYS_readlinkat, AT_FDCWD, (long)"/proc/self", (long)target, sizeof target - 1);

	if (length <= 0)
		return false;
	target[length] = '\0';
	return cq_text_number(&p, INT32_MAX, &number) && number == (uint64_t)cq_rawcall(SYS_getpid, 0, 0, 0, 0);
}

/* Opens the memory of THREAD with the ids that it has in the file system: a root without CAP_SYS_PTRACE may touch only
 * what its own ids may (proc(5), ptrace(2) on PTRACE_MODE_FSCREDS). Returns a descriptor or -Exxx. */
static int open_memory(pid_t thread)
{
	struct cq_message path;
	struct stat status;
	long own_user, own_group;
	/* As who this is first: one that has changed its user since it was executed is root's alone. */
	int fd = cq_raw_openat(AT_FDCWD, proc_path(&path, thread, "/mem"), O_WRONLY | O_CLOEXEC);

	if (fd != -EACCES && fd != -EPERM)
		return fd;
	if (!stat_path(proc_path(&path, thread, NULL), &status))
		return -ESRCH;
	own_group = cq_rawcall(SYS_setfsgid, status.st_gid, 0, 0, 0);
	own_user = cq_rawcall(SYS_setfsuid, status.st_uid, 0, 0, 0);
	fd = cq_raw_openat(AT_FDCWD, proc_path(&path, thread, "/mem"), O_WRONLY | O_CLOEXEC);
	cq_rawcall(SYS_setfsuid, own_user, 0, 0, 0);
	cq_rawcall(SYS_setfsgid, own_group, 0, 0, 0);
	return fd;
}

static int control(const struct cq_supervisor *supervisor, unsigned long request, const void *argument)
{
	return (int)cq_rawcall(SYS_ioctl, supervisor->listener, (long)request, (long)argument, 0);
}

static bool write_mask(const struct cq_supervisor *supervisor, const void *mask, size_t size)
{
	const struct seccomp_notif *request = supervisor->request;
	int fd = open_memory((pid_t)request->pid);
	long written = -1;

	if (fd < 0)
		return false;
	/* Only while the thread still waits for this answer is what was opened by its number its own. */
	if (control(supervisor, SECCOMP_IOCTL_NOTIF_ID_VALID, &request->id) == 0)
		written = cq_rawcall(SYS_pwrite64, fd, (long)mask, (long)size, (long)request->data.args[2]);
	cq_raw_close(fd);
	return written == (long)size;
}

/* True if THREAD counts processes as this one does: it is in the same pid namespace. */
static bool has_same_numbers(pid_t thread)
{
	struct cq_message path;
	struct stat own, other;

	return stat_path("/proc/self/ns/pid", &own) && stat_path(proc_path(&path, thread, "/ns/pid"), &other) &&
	       own.st_ino == other.st_ino;
}

/* True for the thread that asks and the others of its process; NUMBER is as that process counts. */
static bool is_own_thread(pid_t thread, pid_t number)
{
	struct cq_message path;

	if (!number)
		return true;
	if (number < 0 || !has_same_numbers(thread))
		return false;
	if (number == thread)
		return true;
	proc_path(&path, thread, "/task/");
	cq_message_add_number(&path, (uint64_t)number);
	return cq_rawcall(SYS_faccessat, AT_FDCWD, (long)path.text, F_OK, 0) == 0;
}

/* Answers in the caller's place if this is the plain case: returns the number of bytes that were written, or 0. */
static long answer(const struct cq_supervisor *supervisor)
{
	const struct seccomp_notif *request = supervisor->request;
	pid_t thread = (pid_t)request->pid, number = (pid_t)request->data.args[0];
	uint32_t size = (uint32_t)request->data.args[1];
	struct cq_cpumask mask;
	struct cq_answer shown;
	long got;

	if (!size && request->data.args[2] == CQ_PROBE_ADDRESS)
		return CQ_PROBE_VERSION;
	if (request->data.args[0] >> 32 == CQ_PROBE_UNTRAPPED)
		return 0;
	/* A thread of another pid namespace has no number here. A mask that ends inside a word is a 32-bit program's. The
	 * kernel counts bits in 32 bits (kernel/sched/syscalls.c), and this must not find room where it finds none. */
	if (!thread || size % sizeof(uint64_t) || size > UINT32_MAX / 8 || !is_own_thread(thread, number))
		return 0;
	got = cq_raw_sched_getaffinity(number ? number : thread, size < sizeof mask ? size : sizeof mask, &mask);
	if (got <= 0 || !has_own_proc() || !find_answer(supervisor, thread, &shown))
		return 0;
	cq_cpumask_keep_run(mask.words, (size_t)got / sizeof(uint64_t), shown.first, shown.count);
	return write_mask(supervisor, &mask, (size_t)got) ? got : 0;
}

static void respond(const struct cq_supervisor *supervisor, long value)
{
	struct seccomp_notif_resp response = {.id = supervisor->request->id, .val = value};

	if (!value)
		response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	/* An error says that the thread no longer waits: it was killed, or a signal came first and it will ask again. */
	control(supervisor, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

void cq_supervisor_abandon(struct cq_supervisor *supervisor)
{
	if (supervisor->request->id)
		respond(supervisor, 0);
	supervisor->request->id = 0;
}

bool cq_supervisor_wait(const struct cq_supervisor *supervisor)
{
	struct pollfd listener = {.fd = supervisor->listener, .events = POLLIN};

	/* ppoll is there on all architectures; EINTR and the like only mean to wait again. */
	while (cq_rawcall(SYS_ppoll, (long)&listener, 1, 0, 0) <= 0)
		continue;
	return listener.revents & POLLIN;
}

void cq_supervisor_serve(struct cq_supervisor *supervisor)
{
	/* The kernel takes only a request that is all zero. */
	memset(supervisor->request, 0, sizeof *supervisor->request);
	if (control(supervisor, SECCOMP_IOCTL_NOTIF_RECV, supervisor->request) != 0) {
		supervisor->request->id = 0;
		return;
	}
	respond(supervisor, answer(supervisor));
	supervisor->request->id = 0;
}
