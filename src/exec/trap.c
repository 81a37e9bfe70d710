/* SPDX-License-Identifier: MIT */
#include "trap.h"

#include "filter.h"
#include "orphans.h"
#include "probe.h"
#include "supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A watch that finds its supervisor gone again and again takes its place. */
#define MAX_SUPERVISORS 1000

static int send_descriptor(int socket, int fd)
{
	char byte = 0;
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof fd)];
	} control = {.space = {0}};
	struct iovec data = {&byte, 1};
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.space};

	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
	return sendmsg(socket, &message, MSG_NOSIGNAL) == 1 ? 0 : -errno;
}

static int receive_descriptor(int socket)
{
	char byte;
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec data = {&byte, 1};
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.space};
	const struct cmsghdr *header;
	ssize_t got;
	int fd;

	do
		got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	header = got == 1 ? CMSG_FIRSTHDR(&message) : NULL;
	if (!header || header->cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&fd, CMSG_DATA(header), sizeof fd);
	return fd;
}

static void close_range_of(unsigned first, unsigned last)
{
	if (first > last || syscall(SYS_close_range, first, last, 0) == 0)
		return;
	for (unsigned fd = first; fd <= last && fd < 65536; fd++) /* before Linux 5.9, or kept away by a seccomp profile */
		close((int)fd);
}

/* The arguments of this process, one behind the other (proc(5), cmdline). */
static char *arguments_begin;
static size_t arguments_size;

void cq_trap_note_arguments(int count, char **arguments)
{
	if (count < 1)
		return;
	arguments_begin = arguments[0];
	arguments_size = (size_t)(arguments[count - 1] + strlen(arguments[count - 1]) - arguments_begin);
}

static void set_name(const char *name)
{
	prctl(PR_SET_NAME, name);
	if (arguments_size)
		strncpy(arguments_begin, name, arguments_size); /* with zeros behind it */
}

/* Lets go of all that belongs to the program: descriptors but FD, its directory, its signals, its terminal. */
static void detach(int fd)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	signal(SIGCHLD, SIG_DFL);
	setsid();
	if (chdir("/") != 0) {
		/* then it stays where it was */
	}
	if (fd > 0)
		close_range_of(0, (unsigned)fd - 1);
	close_range_of((unsigned)fd + 1, ~0u);
}

/* Gives back the pages of this program's code that only its start needed; what is needed again comes from the file. No
 * function of the C library is called, as that would bring its pages back. */
static void shed_code(void)
{
	extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));
	const ElfW(Phdr) *segment = (const void *)((const char *)&__ehdr_start + __ehdr_start.e_phoff);
	uintptr_t base = __ehdr_start.e_type == ET_EXEC ? 0 : (uintptr_t)&__ehdr_start;

	for (unsigned i = 0; i < __ehdr_start.e_phnum; i++, segment++) {
		uintptr_t start = (base + segment->p_vaddr) & ~(uintptr_t)4095;

		if (segment->p_type == PT_LOAD && !(segment->p_flags & PF_W))
			cq_rawcall(SYS_madvise, (long)start, (long)(base + segment->p_vaddr + segment->p_memsz - start),
				   MADV_DONTNEED, 0);
	}
}

static _Noreturn void supervise(struct cq_supervisor *supervisor)
{
	set_name("cpuquota-trap");
	shed_code();
	cq_supervisor_abandon(supervisor); /* what the one before it has left */
	while (cq_supervisor_wait(supervisor))
		cq_supervisor_serve(supervisor);
	_exit(0);
}

static pid_t start_supervisor(struct cq_supervisor *supervisor)
{
	pid_t process = fork();

	if (process == 0)
		supervise(supervisor);
	return process;
}

/* Ends the supervisor, whatever it is doing. */
static void end(pid_t process)
{
	kill(process, SIGKILL);
	waitpid(process, NULL, 0);
}

/* True if the supervisor no longer answers; it is gone then. */
static bool has_failed(pid_t process)
{
	int status;

	if (waitpid(process, &status, WNOHANG | WUNTRACED) != process)
		return false;
	if (WIFSTOPPED(status))
		end(process);
	return true;
}

static _Noreturn void watch(struct cq_supervisor *supervisor, int signals)
{
	struct pollfd polled[] = {{.fd = supervisor->listener}, {.fd = signals, .events = POLLIN}};
	struct signalfd_siginfo info;
	unsigned started = 1;
	pid_t process;

	set_name(CQ_WATCH_NAME);
	process = start_supervisor(supervisor);
	while (process > 0) {
		if (poll(polled, 2, -1) < 0)
			continue;
		if (polled[0].revents) { /* the last process below the filter is gone (POLLHUP, Linux 5.9) */
			end(process);
			_exit(0);
		}
		if (read(signals, &info, sizeof info) < 0)
			continue;
		if (has_failed(process))
			process = started++ < MAX_SUPERVISORS ? start_supervisor(supervisor) : -1;
	}
	supervise(supervisor); /* there can be no other process */
}

struct seccomp_notif *cq_trap_new_request(void)
{
	void *request = mmap(NULL, sizeof(struct seccomp_notif), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return request == MAP_FAILED ? NULL : request;
}

/* Tells when a child ends or stops. Returns a descriptor, or -1. */
static int signals_of_children(void)
{
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	return signalfd(-1, &child, SFD_CLOEXEC);
}

_Noreturn void cq_trap_watch(struct cq_view *view, int listener, struct seccomp_notif *request)
{
	struct cq_supervisor supervisor = {.view = view, .listener = listener, .request = request};
	int signals;

	detach(listener);
	signals = signals_of_children();
	if (signals < 0)
		supervise(&supervisor);
	watch(&supervisor, signals);
}

static int send_byte(int socket)
{
	return send(socket, "", 1, MSG_NOSIGNAL) == 1 ? 0 : -errno;
}

static int wait_for_byte(int socket)
{
	char byte;
	ssize_t got;

	do
		got = read(socket, &byte, 1);
	while (got < 0 && errno == EINTR);
	return got == 1 ? 0 : -EPIPE;
}

/* Whoever is to answer tries out what that takes, as an outer filter may forbid it, and a filter without an answer is worse
 * than none: nobody is there to say that the kernel should give it. */
static bool can_answer(int socket)
{
	struct pollfd polled = {.fd = socket};
	const struct timespec at_once = {0, 0};

	return poll(&polled, 1, 0) >= 0 && cq_rawcall(SYS_ppoll, (long)&polled, 1, (long)&at_once, 0) >= 0 &&
	       cq_rawcall(SYS_ioctl, socket, (long)SECCOMP_IOCTL_NOTIF_RECV, 0, 0) == -ENOTTY &&
	       waitpid(getpid(), NULL, WNOHANG) < 0 && errno == ECHILD; /* no child of its own */
}

int cq_trap_receive(int socket)
{
	/* The first descriptor only shows that it can be done. */
	int rehearsal = receive_descriptor(socket), listener = -1;

	if (rehearsal < 0)
		return -1;
	close(rehearsal);
	if (can_answer(socket) && send_byte(socket) == 0)
		listener = receive_descriptor(socket);
	if (listener >= 0 && send_byte(socket) != 0) {
		close(listener);
		return -1;
	}
	return listener;
}

int cq_trap_plant_for(int socket, bool may_take_rights)
{
	int listener, r = send_descriptor(socket, socket);

	if (r == 0)
		r = wait_for_byte(socket);
	if (r < 0)
		return r;
	listener = cq_filter_install(may_take_rights);
	if (listener < 0)
		return listener;
	r = send_descriptor(socket, listener);
	if (r == 0)
		r = wait_for_byte(socket);
	close(listener);
	return r;
}

/* The process that is to be the watch: lets go of all, gets what it needs, and only then asks for the listener. */
static _Noreturn void become_watch(struct cq_view *view, int socket)
{
	struct cq_supervisor supervisor = {.view = view, .request = cq_trap_new_request()};
	int signals;

	detach(socket);
	signals = signals_of_children();
	if (!supervisor.request || signals < 0)
		_exit(1);
	supervisor.listener = cq_trap_receive(socket);
	if (supervisor.listener < 0)
		_exit(1);
	close(socket);
	watch(&supervisor, signals);
}

/* Plants the trap with the watch at the other end of SOCKET, and lets the watch and its children write into this process
 * where Yama lets only ancestors (EINVAL without Yama). */
static int plant_for_watch(int socket, pid_t watch, bool may_take_rights)
{
	prctl(PR_SET_PTRACER, (unsigned long)watch, 0, 0, 0);
	return cq_trap_plant_for(socket, may_take_rights);
}

static bool has_ptrace_capability(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	return syscall(SYS_capget, &header, data) == 0 && data[0].effective & 1u << CAP_SYS_PTRACE;
}

/* The supervisor writes through /proc, and finds a cgroup there. */
static bool has_proc(void)
{
	return access("/proc/self/mem", F_OK) == 0;
}

/* Yama lets only those with CAP_SYS_PTRACE write into another process where ptrace_scope is 2, and nobody where it is 3
 * (Documentation/admin-guide/LSM/Yama.rst); a supervisor could then give no answer but the kernel's. */
static bool may_write_memory(void)
{
	FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int scope = 0;

	if (!file)
		return true;
	if (fscanf(file, "%d", &scope) != 1)
		scope = 0;
	fclose(file);
	return scope < 2 || (scope == 2 && has_ptrace_capability());
}

int cq_trap_is_possible(void)
{
	int r = cq_filter_is_possible();

	if (r == 0 && !has_proc())
		return -ENOENT;
	return r == 0 && !may_write_memory() ? -EPERM : r;
}

int cq_trap_plant(struct cq_view *view, bool may_take_rights)
{
	int sockets[2], r;
	pid_t process;

	if (cq_probe_trap())
		return 0;
	r = cq_trap_is_possible();
	if (r < 0)
		return r;
	if (cq_orphans_pile_up())
		return -EUSERS;
	if (cq_processes_are_scarce())
		return -EAGAIN;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
		return -errno;
	process = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, 0);
	if (process == 0) {
		close(sockets[0]);
		become_watch(view, sockets[1]);
	}
	close(sockets[1]);
	r = process < 0 ? -errno : plant_for_watch(sockets[0], process, may_take_rights);
	close(sockets[0]);
	if (r < 0 && process > 0)
		waitpid(process, NULL, __WCLONE);
	return r;
}
