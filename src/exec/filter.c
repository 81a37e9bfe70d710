/* SPDX-License-Identifier: MIT */
#include "filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

/* A notification that the supervisor has received is interrupted by a fatal signal only (Linux 5.19). */
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

/* More than the few dozen instructions that libseccomp makes of one rule. */
#define MAX_INSTRUCTIONS 512

int cq_filter_is_possible(void)
{
	uint32_t action = SECCOMP_RET_USER_NOTIF;
	struct utsname name;
	unsigned major = 0, minor = 0;

	if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) != 0)
		return -errno;
	if (uname(&name) != 0 || sscanf(name.release, "%u.%u", &major, &minor) != 2)
		return -ENOSYS;
	return major > 5 || (major == 5 && minor >= 9) ? 0 : -ENOSYS;
}

/* The other system call conventions that this processor's kernel has. */
static int add_compatible_architectures(scmp_filter_ctx context)
{
	static const uint32_t compatible[] = {
#if defined __x86_64__
		SCMP_ARCH_X86, SCMP_ARCH_X32,
#elif defined __aarch64__
		SCMP_ARCH_ARM,
#endif
	};

	for (size_t i = 0; i < sizeof compatible / sizeof *compatible; i++) {
		int r = seccomp_arch_add(context, compatible[i]);

		if (r < 0 && r != -EEXIST)
			return r;
	}
	return 0;
}

/* libseccomp's own load() does not know all the flags that are wanted here, so that its program is taken from it. */
static int export_program(struct sock_filter *instructions, unsigned short *ret_count)
{
	scmp_filter_ctx context = seccomp_init(SCMP_ACT_ALLOW);
	int pipes[2] = {-1, -1}; /* not a file, which RLIMIT_FSIZE would hold for */
	ssize_t size = 0;
	int r = -ENOMEM;

	if (context && pipe2(pipes, O_CLOEXEC) == 0) {
		r = add_compatible_architectures(context);
		/* Let all architectures that were not added run as they would. */
		if (r == 0)
			r = seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ALLOW);
		if (r == 0)
			r = seccomp_rule_add(context, SCMP_ACT_NOTIFY, SCMP_SYS(sched_getaffinity), 0);
		if (r == 0)
			r = seccomp_export_bpf(context, pipes[1]);
		if (r == 0) {
			/* Far less than a pipe holds, and written at once. */
			size = read(pipes[0], instructions, MAX_INSTRUCTIONS * sizeof *instructions);
			r = size > 0 ? 0 : -EIO;
		}
	}
	if (pipes[0] >= 0) {
		close(pipes[0]);
		close(pipes[1]);
	}
	seccomp_release(context);
	*ret_count = (unsigned short)((size_t)size / sizeof *instructions);
	return r;
}

static int set_filter(const struct sock_fprog *program, unsigned long flags)
{
	long listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, program);

	return listener < 0 ? -errno : (int)listener;
}

int cq_filter_install(bool may_take_rights)
{
	static const unsigned long wanted = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_SPEC_ALLOW;
	struct sock_filter instructions[MAX_INSTRUCTIONS];
	struct sock_fprog program = {.filter = instructions};
	unsigned long flags = wanted | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
	int listener = export_program(instructions, &program.len);

	if (listener < 0)
		return listener;
	listener = set_filter(&program, flags);
	if (listener == -EINVAL) /* before Linux 5.19 */
		listener = set_filter(&program, flags = wanted);
	if (listener == -EACCES && may_take_rights && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		listener = set_filter(&program, flags);
	return listener;
}
