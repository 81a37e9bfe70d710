/* SPDX-License-Identifier: MIT */
/* other-listener PROGRAM [ARGUMENT]...: executes PROGRAM below a filter that has a listener, of which a process can have
 * one only. The filter sends nothing to it. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sock_filter instructions[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog program = {sizeof instructions / sizeof *instructions, instructions};
	long listener;

	if (argc < 2)
		return 125;
	listener = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (listener == 0)
		listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	/* It stays open below: once it is closed there could be another. */
	if (listener < 0 || dup2((int)listener, 20) != 20) {
		perror("other-listener: seccomp");
		return 125;
	}
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
