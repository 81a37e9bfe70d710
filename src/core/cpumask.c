/* SPDX-License-Identifier: MIT */
#include "cpumask.h"

#include "probe.h"
#include "rawcall.h"
#include "smallfile.h"
#include "text.h"

#include <errno.h>
#include <string.h>

#define STATUS_BUDGET 65536

unsigned cq_cpumask_count(const uint64_t *mask, size_t words)
{
	unsigned count = 0;

	for (size_t i = 0; i < words; i++) {
		if (mask[i]) /* most words of most masks are empty */
			count += cq_cpumask_count_bits(mask[i]);
	}
	return count;
}

bool cq_cpumask_is_empty(const uint64_t *mask, size_t words)
{
	for (size_t i = 0; i < words; i++) {
		if (mask[i])
			return false;
	}
	return true;
}

/* The number of the lowest bit of WORD that has NTH set bits below it; WORD has more than NTH. */
static unsigned nth_bit(uint64_t word, unsigned nth)
{
	while (nth--)
		word &= word - 1;
	return (unsigned)__builtin_ctzll(word);
}

unsigned cq_cpumask_nth(const uint64_t *mask, size_t words, unsigned nth)
{
	unsigned last = 0;

	for (size_t i = 0; i < words; i++) {
		unsigned here = cq_cpumask_count_bits(mask[i]);

		if (here > nth)
			return (unsigned)i * CQ_WORD_BITS + nth_bit(mask[i], nth);
		if (here)
			last = (unsigned)i * CQ_WORD_BITS + nth_bit(mask[i], here - 1);
		nth -= here;
	}
	return last;
}

/* Keeps the lowest COUNT bits that are set in WORD. */
static uint64_t lowest_bits(uint64_t word, unsigned count)
{
	uint64_t rest = word;

	for (; count && rest; count--)
		rest &= rest - 1;
	return word ^ rest;
}

/* The bits of word I that belong to CPUs from number FIRST on. */
static uint64_t from_cpu(size_t i, unsigned first)
{
	size_t base = i * CQ_WORD_BITS;

	if (base >= first)
		return ~UINT64_C(0);
	return first - base >= CQ_WORD_BITS ? 0 : ~UINT64_C(0) << (first - base);
}

/* cq_cpumask_keep_run() where no CPU has a number above 63: nearly everywhere, and once for each call of a program that
 * reads its affinity. */
static uint64_t keep_run_of_word(uint64_t word, unsigned first, unsigned count)
{
	uint64_t high = word & from_cpu(0, first), kept;

	if (count >= 8 && cq_cpumask_count_bits(word) <= count) /* else found out sooner bit by bit */
		return word;
	kept = lowest_bits(high, count);
	if (kept == high) /* all of them, and there may be room for more */
		kept |= lowest_bits(word ^ high, count - cq_cpumask_count_bits(kept));
	return kept;
}

void cq_cpumask_keep_run(uint64_t *mask, size_t words, unsigned first, unsigned count)
{
	unsigned left = count;

	while (words > 1 && !mask[words - 1])
		words--;
	if (words == 1) {
		mask[0] = keep_run_of_word(mask[0], first, count);
		return;
	}
	if (cq_cpumask_count(mask, words) <= count)
		return;
	/* From FIRST up, where what lies below it stays for the second round; then from the bottom. */
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < words; i++) {
			uint64_t high = from_cpu(i, first);
			uint64_t here = round == 0 ? mask[i] & high : mask[i] & ~high;
			uint64_t kept = lowest_bits(here, left);

			left -= cq_cpumask_count_bits(kept);
			mask[i] ^= here ^ kept;
		}
	}
}

bool cq_cpumask_intersect(struct cq_cpumask *mask, const struct cq_cpumask *other)
{
	uint64_t common = 0;

	for (size_t i = 0; i < CQ_MASK_WORDS; i++)
		common |= mask->words[i] & other->words[i];
	if (!common)
		return false;
	for (size_t i = 0; i < CQ_MASK_WORDS; i++)
		mask->words[i] &= other->words[i];
	return true;
}

/* Reads a list. Without a mask to put it in, only says whether it is one. */
static int read_list(const char *text, size_t length, struct cq_cpumask *mask)
{
	const char *p = text, *end = text + length;
	uint64_t first, last;

	while (p < end && *p != '\n') {
		if (!cq_text_number(&p, UINT32_MAX, &first))
			return -EINVAL;
		last = first;
		if (*p == '-' && (p++, !cq_text_number(&p, UINT32_MAX, &last) || last < first))
			return -EINVAL;
		for (uint64_t cpu = first; mask && cpu <= last && cpu < CQ_MAX_CPUS; cpu++)
			mask->words[cpu / CQ_WORD_BITS] |= UINT64_C(1) << cpu % CQ_WORD_BITS;
		if (*p == ',')
			p++;
		else if (p < end && *p != '\n')
			return -EINVAL;
	}
	return 0;
}

int cq_cpumask_parse_list(const char *text, size_t length, struct cq_cpumask *ret)
{
	/* Twice, as a second mask is a kilobyte of stack that a signal handler may not have. */
	int r = read_list(text, length, NULL);

	if (r < 0)
		return r;
	memset(ret, 0, sizeof *ret);
	return read_list(text, length, ret);
}

int cq_cpumask_read_status(const char *root, const char *file, struct cq_cpumask *ret)
{
	static const char key[] = "Cpus_allowed_list:";
	struct cq_lines lines;
	const char *line;
	int r = cq_lines_open(&lines, root, file, STATUS_BUDGET);

	if (r < 0)
		return r;
	r = -ENOENT;
	while (r == -ENOENT && (line = cq_lines_next(&lines))) {
		if (strncmp(line, key, sizeof key - 1) != 0)
			continue;
		line += sizeof key - 1;
		line += strspn(line, " \t");
		r = lines.is_cut ? -EFBIG : cq_cpumask_parse_list(line, strlen(line), ret);
	}
	cq_lines_close(&lines);
	return lines.error ? lines.error : r;
}

int cq_cpumask_of_thread(struct cq_cpumask *ret)
{
	/* A trap would answer with the CPUs that it shows, and those would be all, also when the limit is raised. The kernel
	 * wants a size of at least its own nr_cpu_ids; it fills only that many. */
	long got = cq_probe_affinity(sizeof *ret, ret);

	if (got < 0)
		return (int)got;
	memset((char *)ret + got, 0, sizeof *ret - (size_t)got);
	return 0;
}
