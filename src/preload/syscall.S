/* SPDX-License-Identifier: MIT */
/*
 * syscall(): the calls of affinity are the library's own, and it has to know of those that make a sandbox; all others go
 * on to the next definition by a jump, so that what the kernel does to the stack of the caller (clone, vfork) it does to
 * the caller's and not to a frame of this library.
 *
 * cq_syscall_itself is what libc's syscall() does, for calls that come before the constructor has looked libc's up.
 */
#include <sys/syscall.h>

#if defined __x86_64__

	.text
	.globl	syscall
	.type	syscall, @function
syscall:
	.cfi_startproc
	endbr64
	cmpl	$SYS_sched_getaffinity, %edi
	je	cq_syscall_sched_getaffinity
	cmpl	$SYS_sched_setaffinity, %edi
	je	cq_syscall_sched_setaffinity
	cmpl	$SYS_seccomp, %edi
	je	cq_syscall_sandbox
	cmpl	$SYS_prctl, %edi
	je	cq_syscall_sandbox
	jmp	*cq_next(%rip)
	.cfi_endproc
	.size	syscall, . - syscall

	.globl	cq_syscall_itself
	.hidden	cq_syscall_itself
	.type	cq_syscall_itself, @function
cq_syscall_itself:
	.cfi_startproc
	endbr64
	movq	%rdi, %rax
	movq	%rsi, %rdi
	movq	%rdx, %rsi
	movq	%rcx, %rdx
	movq	%r8, %r10
	movq	%r9, %r8
	movq	8(%rsp), %r9
	syscall
	cmpq	$-4095, %rax
	jae	1f
	ret
1:	movq	%rax, %rdi
	jmp	cq_syscall_failed
	.cfi_endproc
	.size	cq_syscall_itself, . - cq_syscall_itself

/* Both ends of indirect jumps are marked for control-flow enforcement. */
	.section .note.gnu.property, "a"
	.balign	8
	.long	4, 16, 5
	.asciz	"GNU"
	.long	0xc0000002, 4, 3, 0

#elif defined __aarch64__

	.text
	.globl	syscall
	.type	syscall, %function
syscall:
	.cfi_startproc
	hint	34 /* bti c */
	cmp	w0, #SYS_sched_getaffinity
	b.eq	cq_syscall_sched_getaffinity
	cmp	w0, #SYS_sched_setaffinity
	b.eq	cq_syscall_sched_setaffinity
	cmp	w0, #SYS_seccomp
	b.eq	cq_syscall_sandbox
	cmp	w0, #SYS_prctl
	b.eq	cq_syscall_sandbox
	adrp	x16, cq_next
	ldr	x16, [x16, :lo12:cq_next]
	br	x16
	.cfi_endproc
	.size	syscall, . - syscall

	.globl	cq_syscall_itself
	.hidden	cq_syscall_itself
	.type	cq_syscall_itself, %function
cq_syscall_itself:
	.cfi_startproc
	hint	34 /* bti c */
	uxtw	x8, w0
	mov	x0, x1
	mov	x1, x2
	mov	x2, x3
	mov	x3, x4
	mov	x4, x5
	mov	x5, x6
	svc	0
	cmn	x0, #4095
	b.cs	1f
	ret
1:	b	cq_syscall_failed
	.cfi_endproc
	.size	cq_syscall_itself, . - cq_syscall_itself

#endif

	.section .note.GNU-stack, "", %progbits
