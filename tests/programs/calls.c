/* SPDX-License-Identifier: MIT */
/* syscall() for all that is not about affinity: arguments, errors, and system calls that change the caller's stack. */
#include "checks.h"

#include <fcntl.h>
#include <signal.h>

#define STACK 65536

/*
 * vfork_by_syscall(path, arguments): vforks through syscall() and, in the child, writes over all of
 * the stack that lies below the return address of syscall(), then executes PATH. That is the child's to use: a hook
 * with a frame of its own would find its return address gone when the parent goes on.
 */
long vfork_by_syscall(const char *path, const char *const *arguments);

#if defined __x86_64__
__asm__(".text\n"
	".globl vfork_by_syscall\n"
	".type vfork_by_syscall, @function\n"
	"vfork_by_syscall:\n"
	"	push %rbx\n"
	"	push %r12\n"
	"	sub $8, %rsp\n"
	"	mov %rdi, %rbx\n"
	"	mov %rsi, %r12\n"
	"	mov $56, %edi\n"     /* SYS_clone */
	"	mov $0x4111, %esi\n" /* CLONE_VM | CLONE_VFORK | SIGCHLD */
	"	xor %edx, %edx\n"
	"	xor %ecx, %ecx\n"
	"	xor %r8d, %r8d\n"
	"	xor %r9d, %r9d\n"
	"	xor %eax, %eax\n"
	"	call syscall@PLT\n"
	"	test %rax, %rax\n"
	"	jnz 2f\n"
	"	mov $-16, %rcx\n"
	"1:	movq $0, (%rsp, %rcx)\n"
	"	sub $8, %rcx\n"
	"	cmp $-2048, %rcx\n"
	"	jg 1b\n"
	"	mov $59, %eax\n" /* SYS_execve */
	"	mov %rbx, %rdi\n"
	"	mov %r12, %rsi\n"
	"	xor %edx, %edx\n"
	"	syscall\n"
	"	mov $60, %eax\n" /* SYS_exit */
	"	mov $126, %edi\n"
	"	syscall\n"
	"2:	add $8, %rsp\n"
	"	pop %r12\n"
	"	pop %rbx\n"
	"	ret\n"
	".size vfork_by_syscall, . - vfork_by_syscall\n");
#elif defined __aarch64__
__asm__(".text\n"
	".globl vfork_by_syscall\n"
	".type vfork_by_syscall, %function\n"
	"vfork_by_syscall:\n"
	"	stp x29, x30, [sp, #-32]!\n"
	"	stp x19, x20, [sp, #16]\n"
	"	mov x19, x0\n"
	"	mov x20, x1\n"
	"	mov x0, #220\n"    /* SYS_clone */
	"	mov x1, #0x4111\n" /* CLONE_VM | CLONE_VFORK | SIGCHLD */
	"	mov x2, #0\n"
	"	mov x3, #0\n"
	"	mov x4, #0\n"
	"	mov x5, #0\n"
	"	bl syscall\n"
	"	cbnz x0, 2f\n"
	"	sub x9, sp, #2048\n"
	"	mov x10, sp\n"
	"1:	str xzr, [x10, #-8]!\n"
	"	cmp x10, x9\n"
	"	b.hi 1b\n"
	"	mov x8, #221\n" /* SYS_execve */
	"	mov x0, x19\n"
	"	mov x1, x20\n"
	"	mov x2, #0\n"
	"	svc 0\n"
	"	mov x8, #93\n" /* SYS_exit */
	"	mov x0, #126\n"
	"	svc 0\n"
	"2:	ldp x19, x20, [sp, #16]\n"
	"	ldp x29, x30, [sp], #32\n"
	"	ret\n"
	".size vfork_by_syscall, . - vfork_by_syscall\n");
#endif

static int exit_status(pid_t child)
{
	int status;

	if (child <= 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static void check_results(void)
{
	int r;

	errno = KEPT_ERRNO;
	check(syscall(SYS_getpid) == getpid() && errno == KEPT_ERRNO, "getpid, errno is kept");
	errno = 0;
	check(syscall(SYS_close, -1) == -1 && errno == EBADF, "close(-1): EBADF");
	errno = 0;
	check(syscall(-1) == -1 && errno == ENOSYS, "no such system call: ENOSYS");
	errno = 0;
	check(syscall(SYS_tgkill, getpid(), NOBODY, 0) == -1 && errno == ESRCH, "tgkill: ESRCH");
	errno = 0;
	r = (int)syscall(SYS_openat, AT_FDCWD, "/proc/nonexistent", O_RDONLY);
	check(r == -1 && errno == ENOENT, "openat: ENOENT");
}

/* The sixth argument is on the stack on x86-64. */
static void check_six_arguments(void)
{
	size_t page = (size_t)getpagesize();
	char path[] = "/tmp/cpuquota-calls.XXXXXX", *mapped;
	int fd = mkstemp(path);

	if (fd < 0)
		give_up(path);
	unlink(path);
	if (ftruncate(fd, (off_t)page * 2) != 0 || pwrite(fd, "second", 6, (off_t)page) != 6)
		give_up("pwrite");
	mapped = (char *)syscall(SYS_mmap, NULL, page, PROT_READ, MAP_PRIVATE, fd, page);
	check(mapped != MAP_FAILED && memcmp(mapped, "second", 6) == 0, "mmap: all six arguments");
	errno = 0;
	mapped = (char *)syscall(SYS_mmap, NULL, page, PROT_READ, MAP_PRIVATE, fd, 1l);
	check(mapped == MAP_FAILED && errno == EINVAL, "mmap: EINVAL");
	close(fd);
}

static void check_fork(void)
{
	pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (child == 0)
		_exit(sysconf(_SC_NPROCESSORS_ONLN) > 0 ? 7 : 8);
	check(exit_status(child) == 7, "clone as fork");
}

static volatile int written_by_clone;

static __attribute__((noreturn, used)) void run_on_new_stack(void)
{
	written_by_clone = 42;
	for (;;)
		cq_rawcall(SYS_exit, 9, 0, 0, 0);
}

/* The child comes out of syscall() with its own stack, and takes its return address from there (x86-64). */
static void check_new_stack(void)
{
	char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void **top = (void **)(void *)(stack + STACK - 64);
	pid_t child;

	if (stack == MAP_FAILED)
		give_up("mmap");
	*top = (void *)(uintptr_t)run_on_new_stack;
	child = (pid_t)syscall(SYS_clone, CLONE_VM | SIGCHLD, top, 0, 0, 0);
	if (child == 0) /* only where the return address is in a register: arm64 */
		run_on_new_stack();
	check(exit_status(child) == 9 && written_by_clone == 42, "clone with a new stack");
}

static void check_vfork(void)
{
	const char *arguments[] = {"sh", "-c", "exit 11", NULL};
	const char *missing[] = {"/proc/nonexistent", NULL};

	check(exit_status((pid_t)vfork_by_syscall("/bin/sh", arguments)) == 11, "vfork, and exec in the child");
	check(exit_status((pid_t)vfork_by_syscall(missing[0], missing)) == 126, "vfork, and a failed exec in the child");
}

int main(void)
{
	check_results();
	check_six_arguments();
	check_fork();
	check_new_stack();
	check_vfork();
	return done();
}
