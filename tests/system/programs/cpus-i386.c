/* SPDX-License-Identifier: MIT */
/* An i386 program without libc: prints on how many CPUs it may run, as one digit or what stands behind 9 in ASCII. */

static int call(int number, int a, int b, int c)
{
	int result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
	return result;
}

void _start(void)
{
	unsigned mask[256] = {0};
	char text[2] = "0\n";
	int size = call(242, 0, sizeof mask, (int)mask); /* sched_getaffinity */

	for (int word = 0; word < size / 4; word++) {
		for (; mask[word]; mask[word] &= mask[word] - 1)
			text[0]++;
	}
	call(4, 1, (int)text, sizeof text); /* write */
	call(1, size <= 0, 0, 0);           /* exit */
	for (;;)
		;
}
