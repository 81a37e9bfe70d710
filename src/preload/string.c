/* SPDX-License-Identifier: MIT */
/*
 * The few functions of string.h that the core uses, for the preload library alone. With these it asks nothing of the
 * process it is in: no symbol that is newer than the image (memcpy of GLIBC_2.14), none that a sanitizer or an allocator
 * has taken over, and a dozen fewer to look up while every program starts.
 */
#if defined __SSE2__
#include <emmintrin.h>
#endif
#include <stddef.h>
#include <string.h>
#include <strings.h>

/* From how many bytes on the CPU's own loop is quicker. */
#define LONG_FILL 512

/* Eight bytes anywhere in memory. */
typedef unsigned long __attribute__((may_alias, aligned(1))) chunk;
typedef unsigned long __attribute__((vector_size(16), may_alias, aligned(1))) pair;

void *memmove(void *to, const void *from, size_t size)
{
	char *t = to;
	const char *f = from;

	if (t <= f) {
		for (; size >= sizeof(chunk); size -= sizeof(chunk), t += sizeof(chunk), f += sizeof(chunk))
			*(chunk *)t = *(const chunk *)f;
		while (size--)
			*t++ = *f++;
	} else {
		while (size--)
			t[size] = f[size];
	}
	return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
	return memmove(to, from, size);
}

void *memset(void *to, int byte, size_t size)
{
	chunk pattern = (unsigned char)byte * (~0ul / 255);
	char *t = to;

#if defined __x86_64__
	/* Quicker from a few hundred bytes on; the rest of an 8,192-byte affinity mask is cleared by each call. */
	if (size >= LONG_FILL) {
		__asm__ volatile("rep stosb" : "+D"(t), "+c"(size) : "a"(byte) : "memory");
		return to;
	}
#endif
	for (; size >= 2 * sizeof(chunk); size -= 2 * sizeof(chunk), t += 2 * sizeof(chunk))
		*(pair *)t = (pair){pattern, pattern};
	for (; size >= sizeof(chunk); size -= sizeof(chunk), t += sizeof(chunk))
		*(chunk *)t = pattern;
	while (size--)
		*t++ = (char)byte;
	return to;
}

int memcmp(const void *a, const void *b, size_t size)
{
	const unsigned char *x = a, *y = b;

	for (; size; size--, x++, y++) {
		if (*x != *y)
			return *x < *y ? -1 : 1;
	}
	return 0;
}

/* clang's name for a comparison that asks only whether there is a difference. */
int bcmp(const void *a, const void *b, size_t size)
{
	return memcmp(a, b, size);
}

void *memchr(const void *text, int byte, size_t size)
{
	const chunk low_bits = ~0ul / 255, high_bits = low_bits << 7, pattern = (unsigned char)byte * low_bits;
	const char *t = text;

#if defined __SSE2__
	const __m128i wanted = _mm_set1_epi8((char)byte);

	for (; size >= sizeof wanted; size -= sizeof wanted, t += sizeof wanted) {
		int found = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)t), wanted));

		if (found)
			return (void *)(t + __builtin_ctz((unsigned)found));
	}
#endif
	/* Over eight bytes at a time as long as none is the wanted one: one that is has become 0, which the subtraction turns
	 * into a high bit that was not there before. */
	for (; size >= sizeof(chunk); size -= sizeof(chunk), t += sizeof(chunk)) {
		chunk difference = *(const chunk *)t ^ pattern;

		if ((difference - low_bits) & ~difference & high_bits)
			break;
	}
	for (; size--; t++) {
		if (*t == (char)byte)
			return (void *)t;
	}
	return NULL;
}

size_t strlen(const char *text)
{
	size_t length = 0;

	while (text[length])
		length++;
	return length;
}

char *strchr(const char *text, int byte)
{
	for (;; text++) {
		if (*text == (char)byte)
			return (char *)text;
		if (!*text)
			return NULL;
	}
}

int strncmp(const char *a, const char *b, size_t size)
{
	for (; size; size--, a++, b++) {
		if (*a != *b)
			return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
		if (!*a)
			break;
	}
	return 0;
}

int strcmp(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b ? 0 : (unsigned char)*a < (unsigned char)*b ? -1 : 1;
}

size_t strspn(const char *text, const char *accepted)
{
	size_t length = 0;

	while (text[length] && strchr(accepted, text[length]))
		length++;
	return length;
}

size_t strcspn(const char *text, const char *rejected)
{
	size_t length = 0;

	while (text[length] && !strchr(rejected, text[length]))
		length++;
	return length;
}

char *strstr(const char *text, const char *wanted)
{
	size_t length = strlen(wanted);

	for (; strncmp(text, wanted, length) != 0; text++) {
		if (!*text)
			return NULL;
	}
	return (char *)text;
}
