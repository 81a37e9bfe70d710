/* SPDX-License-Identifier: MIT */
/*
 * CPU affinity masks of any size, as sched_getaffinity(2) has them: CPU n is bit n % 64 of word n / 64. The sizes are in
 * words of 64 bits, where the kernel's own (KERNEL BYTES / 8) end.
 */
#ifndef CQ_CPUMASK_H
#define CQ_CPUMASK_H

#include "base.h"

#define CQ_WORD_BITS 64
#define CQ_MASK_WORDS (CQ_MAX_CPUS / CQ_WORD_BITS)

struct cq_cpumask {
	uint64_t words[CQ_MASK_WORDS];
};

/* The number of bits that are set in WORD. The compiler's own would be a call to its library, as not every x86-64 CPU
 * has the instruction (Hacker's Delight, 5-1). */
static inline unsigned cq_cpumask_count_bits(uint64_t word)
{
	word -= word >> 1 & 0x5555555555555555;
	word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
	word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
	return (unsigned)(word * 0x0101010101010101 >> 56);
}

/* How many CPUs there are in the mask. */
unsigned cq_cpumask_count(const uint64_t *mask, size_t words);

bool cq_cpumask_is_empty(const uint64_t *mask, size_t words);

/* The CPU with NTH (from 0) others before it, or the last one; 0 in an empty mask. */
unsigned cq_cpumask_nth(const uint64_t *mask, size_t words, unsigned nth);

/* Keeps a run of COUNT CPUs and clears all others: the first ones from CPU number FIRST on, going round to the lowest.
 * A mask with no more than COUNT CPUs is left as it is. */
void cq_cpumask_keep_run(uint64_t *mask, size_t words, unsigned first, unsigned count);

/* Clears all CPUs that are not in OTHER. Returns false, and leaves the mask as it is, if none would stay. */
bool cq_cpumask_intersect(struct cq_cpumask *mask, const struct cq_cpumask *other);

/* Reads a list as in cpuset(7), "0-3,8\n". CPUs above CQ_MAX_CPUS are left out. Returns 0, or -EINVAL if it is none. */
int cq_cpumask_parse_list(const char *text, size_t length, struct cq_cpumask *ret);

/* Reads Cpus_allowed_list of FILE, a /proc/PID/status, below ROOT. Returns 0, -ENOENT without it, or another -Exxx. */
int cq_cpumask_read_status(const char *root, const char *file, struct cq_cpumask *ret);

/* The affinity mask of this thread, from the kernel also below a trap; for the start of a program (cq_probe_affinity()).
 * Returns 0 or -Exxx. */
int cq_cpumask_of_thread(struct cq_cpumask *ret);

#endif
