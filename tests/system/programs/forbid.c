/* SPDX-License-Identifier: MIT */
/* forbid CALL PROGRAM [ARGUMENT]...: executes PROGRAM below a filter that answers the system call CALL with EPERM. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *name;
	unsigned number;
} calls[] = {
	{"ioctl", SYS_ioctl},     {"ppoll", SYS_ppoll},     {"recvmsg", SYS_recvmsg},
	{"sendmsg", SYS_sendmsg}, {"socketpair", SYS_socketpair}, {"wait4", SYS_wait4},
#ifdef SYS_poll
	{"poll", SYS_poll},
#endif
};

static int forbid(unsigned number)
{
	struct sock_filter instructions[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof instructions / sizeof *instructions, instructions};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 125;
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		if (strcmp(argv[1], calls[i].name) != 0)
			continue;
		if (forbid(calls[i].number) != 0) {
			perror("forbid: seccomp");
			return 125;
		}
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		return 127;
	}
	fprintf(stderr, "forbid: %s: not one of its calls\n", argv[1]);
	return 125;
}
