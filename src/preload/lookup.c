/* SPDX-License-Identifier: MIT */
#include "lookup.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#define WORD_BITS (8 * sizeof(ElfW(Addr)))

/* In the table of versions: not the default one. */
#define HIDDEN_VERSION 0x8000

/* Where this library is loaded: the linker puts its ELF header at address 0. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

struct search {
	struct cq_lookup *lookups;
	size_t count;
	size_t missing;
	bool is_behind; /* this library has been passed */
};

/* What the dynamic section of an object says of its symbols. */
struct object {
	ElfW(Addr) base;
	const ElfW(Sym) *symbols;
	const char *strings;
	const ElfW(Half) *versions;
	const uint32_t *gnu_hash;
	const uint32_t *sysv_hash;
};

/* glibc has put the base into the addresses of most dynamic sections; musl leaves all as they are in the file. */
static const void *address_in(const struct object *object, ElfW(Addr) address)
{
	return (const void *)(address < object->base ? object->base + address : address);
}

static bool open_object(const struct dl_phdr_info *info, struct object *ret)
{
	const ElfW(Dyn) *dynamic = NULL;

	memset(ret, 0, sizeof *ret);
	ret->base = info->dlpi_addr;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	}
	for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
		switch (dynamic->d_tag) {
		case DT_SYMTAB:
			ret->symbols = address_in(ret, dynamic->d_un.d_ptr);
			break;
		case DT_STRTAB:
			ret->strings = address_in(ret, dynamic->d_un.d_ptr);
			break;
		case DT_VERSYM:
			ret->versions = address_in(ret, dynamic->d_un.d_ptr);
			break;
		case DT_GNU_HASH:
			ret->gnu_hash = address_in(ret, dynamic->d_un.d_ptr);
			break;
		case DT_HASH:
			ret->sysv_hash = address_in(ret, dynamic->d_un.d_ptr);
			break;
		}
	}
	return ret->symbols && ret->strings;
}

/* Takes symbol I if it is what is wanted: a function in its default version. */
static bool take(struct cq_lookup *lookup, const struct object *object, uint32_t i)
{
	const ElfW(Sym) *symbol = &object->symbols[i];

	if (symbol->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC ||
	    strcmp(object->strings + symbol->st_name, lookup->name) != 0)
		return false;
	if (object->versions && object->versions[i] & HIDDEN_VERSION)
		return false;
	lookup->found = (void *)(object->base + symbol->st_value);
	return true;
}

/* The table is: the numbers of buckets, of the first symbol, of words in the filter, a shift; filter; buckets; hashes. */
static bool search_gnu_hash(struct cq_lookup *lookup, const struct object *object)
{
	const uint32_t *table = object->gnu_hash;
	uint32_t bucket_count = table[0], first = table[1], filter_size = table[2], shift = table[3];
	uint32_t hash = lookup->hash, i;
	const ElfW(Addr) *filter = (const ElfW(Addr) *)(table + 4);
	const uint32_t *buckets = (const uint32_t *)(filter + filter_size);
	const uint32_t *hashes = buckets + bucket_count;
	ElfW(Addr) word;

	if (!bucket_count || !filter_size)
		return false;
	word = filter[hash / WORD_BITS % filter_size];
	if (!(word >> hash % WORD_BITS & word >> (hash >> shift) % WORD_BITS & 1))
		return false;
	i = buckets[hash % bucket_count];
	if (i < first)
		return false;
	for (;; i++) {
		if ((hashes[i - first] | 1) == (hash | 1) && take(lookup, object, i))
			return true;
		if (hashes[i - first] & 1)
			return false;
	}
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t hash = 5381;

	for (const unsigned char *c = (const unsigned char *)name; *c; c++)
		hash = hash * 33 + *c;
	return hash;
}

static uint32_t sysv_hash(const char *name)
{
	uint32_t hash = 0;

	for (const unsigned char *c = (const unsigned char *)name; *c; c++) {
		hash = (hash << 4) + *c;
		hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
	}
	return hash;
}

/* The table is: the numbers of buckets and of symbols; buckets; for each symbol the next one. */
static bool search_sysv_hash(struct cq_lookup *lookup, const struct object *object)
{
	const uint32_t *table = object->sysv_hash;
	const uint32_t *buckets = table + 2, *chain = buckets + table[0];

	if (!table[0])
		return false;
	for (uint32_t i = buckets[sysv_hash(lookup->name) % table[0]]; i != STN_UNDEF; i = chain[i]) {
		if (take(lookup, object, i))
			return true;
	}
	return false;
}

/* The objects come in the order in which they were loaded, which is that in which the loader searches them. Stops when
 * nothing is missing. */
static int search_object(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct search *search = argument;
	bool is_self = info->dlpi_addr == (ElfW(Addr))__ehdr_start;
	struct object object;

	(void)size;
	if (!search->is_behind) {
		search->is_behind = is_self;
		return 0;
	}
	if (is_self || !open_object(info, &object))
		return 0;
	for (size_t i = 0; i < search->count; i++) {
		struct cq_lookup *lookup = &search->lookups[i];

		if (lookup->found)
			continue;
		if (object.gnu_hash ? search_gnu_hash(lookup, &object) : object.sysv_hash && search_sysv_hash(lookup, &object))
			search->missing--;
	}
	return search->missing == 0;
}

static size_t search(struct cq_lookup *lookups, size_t count, bool is_behind)
{
	struct search search = {.lookups = lookups, .count = count, .is_behind = is_behind};

	for (size_t i = 0; i < count; i++) {
		lookups[i].hash = gnu_hash(lookups[i].name);
		search.missing += !lookups[i].found;
	}
	if (search.missing)
		dl_iterate_phdr(search_object, &search);
	return search.missing;
}

void cq_lookup_next(struct cq_lookup *lookups, size_t count)
{
	struct cq_lookup libc = {.name = "sysconf"};

	/* Loaded by dlopen() this library stands behind libc. Only then is what stands before it asked too: a preload library
	 * there would call this one in turn. */
	if (search(lookups, count, false) && search(&libc, 1, false))
		search(lookups, count, true);
}
