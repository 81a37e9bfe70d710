/* SPDX-License-Identifier: MIT */
#include "view.h"

#include "cgroup.h"
#include "count.h"
#include "rawcall.h"
#include "smallfile.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>

/* The answer in one word: the count, the first CPU, and below them the time in milliseconds. */
#define COUNT_BITS 14
#define FIRST_BITS 13
#define TIME_BITS (64 - COUNT_BITS - FIRST_BITS)
#define TIME_MASK ((UINT64_C(1) << TIME_BITS) - 1)

_Static_assert(CQ_MAX_CPUS < 1 << COUNT_BITS && CQ_MAX_CPUS <= 1 << FIRST_BITS, "a count and a CPU number fit");

enum { CPU, CPUSET };
enum { FOLLOWS_UNKNOWN, FOLLOWS, FOLLOWS_NOT };

#define CPUSET_FILE_SIZE 1024

static uint64_t pack(struct cq_answer answer, uint64_t now)
{
	return (uint64_t)answer.count << (FIRST_BITS + TIME_BITS) | (uint64_t)answer.first << TIME_BITS | (now & TIME_MASK);
}

static struct cq_answer unpack(uint64_t packed)
{
	return (struct cq_answer){
		.count = (unsigned)(packed >> (FIRST_BITS + TIME_BITS)),
		.first = (unsigned)(packed >> TIME_BITS) & ((1u << FIRST_BITS) - 1),
	};
}

/* Takes the remembered place, if it is of this membership and nobody is writing it. */
static bool recall(struct cq_view_place *place, uint64_t membership, struct cq_cgroup *ret)
{
	uint32_t sequence = atomic_load_explicit(&place->sequence, memory_order_acquire);

	if (!sequence || sequence & 1 || place->membership != membership || place->length >= sizeof place->path)
		return false;
	ret->version = place->version;
	ret->top_is_unlimited = place->top_is_unlimited;
	ret->top_inode = place->top_inode;
	ret->top_length = place->top_length;
	ret->length = place->length;
	memmove(ret->path, place->path, ret->length);
	ret->path[ret->length] = '\0';
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&place->sequence, memory_order_relaxed) == sequence;
}

static void remember(struct cq_view_place *place, uint64_t membership, const struct cq_cgroup *cgroup)
{
	uint32_t sequence = atomic_load_explicit(&place->sequence, memory_order_relaxed);

	if (cgroup->version == CQ_CGROUP_NONE || cgroup->length >= sizeof place->path || sequence & 1)
		return;
	if (!atomic_compare_exchange_strong(&place->sequence, &sequence, sequence + 1))
		return;
	atomic_thread_fence(memory_order_release);
	place->membership = membership;
	place->version = (uint8_t)cgroup->version;
	place->top_is_unlimited = cgroup->top_is_unlimited;
	place->top_inode = cgroup->top_inode;
	place->top_length = (uint16_t)cgroup->top_length;
	place->length = (uint16_t)cgroup->length;
	memmove(place->path, cgroup->path, cgroup->length);
	atomic_store_explicit(&place->sequence, sequence + 2, memory_order_release);
}

static int locate(struct cq_view *view, int which, uint64_t membership, struct cq_cgroup *ret)
{
	uint64_t again;
	int r;

	if (recall(&view->places[which], membership, ret))
		return 0;
	r = cq_cgroup_find(view->root, view->process, which == CPU ? "cpu" : "cpuset", ret);
	/* A move in the meantime would put the new place under the old membership. */
	if (r == 0 && cq_cgroup_membership(view->root, view->process, &again) == 0 && again == membership)
		remember(&view->places[which], membership, ret);
	return r;
}

/* The CPUs that the cpuset leaves: of the cgroup itself or, where v2 has not enabled the controller, of the first level
 * above it that has the file. Returns 0, -ENOENT if nothing can be read, or another -Exxx. */
static __attribute__((noinline)) int read_cpuset(const char *root, struct cq_cgroup *cgroup, struct cq_cpumask *ret)
{
	const char *file = cgroup->version == CQ_CGROUP_V1 ? "cpuset.effective_cpus" : "cpuset.cpus.effective";
	char list[CPUSET_FILE_SIZE];
	int r;

	if (cgroup->version == CQ_CGROUP_NONE)
		return -ENOENT;
	do {
		r = cq_cgroup_read(root, cgroup, file, list, sizeof list);
	} while (r < 0 && r != -EFBIG && !cq_error_is_transient(r) && cq_cgroup_ascend(cgroup));
	return r < 0 ? r : cq_cpumask_parse_list(list, (size_t)r, ret);
}

/* True if all CPUs of MASK are in OTHER. */
static bool is_within(const struct cq_cpumask *mask, const struct cq_cpumask *other)
{
	for (size_t i = 0; i < CQ_MASK_WORDS; i++) {
		if (mask->words[i] & ~other->words[i])
			return false;
	}
	return true;
}

/* True if the kernel gives this process's first thread just the CPUs of MASK. */
static __attribute__((noinline)) bool leader_has(const char *root, const struct cq_cpumask *mask)
{
	struct cq_cpumask leader;

	return cq_cpumask_read_status(root, "/proc/self/status", &leader) == 0 && memcmp(&leader, mask, sizeof leader) == 0;
}

/*
 * The real CPUs: those the process was given, within its cpuset as it is now. Where the process had the whole cpuset to
 * begin with, all that the cpuset has now; also where the kernel has meanwhile given the first thread another cpuset, as
 * it does with a process that nobody has pinned. CGROUP is that of the cpuset; R < 0: it was not found.
 */
static int find_real(struct cq_view *view, int r, struct cq_cgroup *cgroup, struct cq_cpumask *ret)
{
	struct cq_cpumask *given = &view->given;
	unsigned follows = atomic_load_explicit(&view->follows_cpuset, memory_order_relaxed);

	if (r == 0)
		r = read_cpuset(view->root, cgroup, ret);
	if (r < 0 || cq_cpumask_count(ret->words, CQ_MASK_WORDS) == 0) {
		memmove(ret, given, sizeof *ret);
		return cq_error_is_transient(r) ? r : 0;
	}
	if (follows == FOLLOWS_UNKNOWN) {
		bool had_all = is_within(ret, given) || leader_has(view->root, ret);

		follows = had_all ? FOLLOWS : FOLLOWS_NOT;
		atomic_store_explicit(&view->follows_cpuset, follows, memory_order_relaxed);
	}
	if (follows == FOLLOWS_NOT)
		cq_cpumask_intersect(ret, given);
	return 0;
}

/* A number that is the same for all processes of a container and, most likely, another one in the next. Never 0. */
static uint64_t find_identity(struct cq_view *view, const struct cq_cgroup *cgroup)
{
	uint64_t hash = atomic_load_explicit(&view->identity, memory_order_relaxed);
	char name[128];
	int length;

	if (hash)
		return hash;
	hash = cgroup->version == CQ_CGROUP_NONE ? 0 : cgroup->top_inode;
	length = cq_smallfile_read(view->root, "/proc/sys/kernel/hostname", name, sizeof name);
	for (int i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3; /* FNV-1a */
	/* Let the last bytes change all bits (from MurmurHash3's finalizer). */
	hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccd;
	hash = (hash ^ hash >> 33) | 1;
	atomic_store_explicit(&view->identity, hash, memory_order_relaxed);
	return hash;
}

/* What was read of the limit. */
struct found {
	int error; /* -Exxx: something could not be found out */
	int cpuset_error;
	uint64_t identity;
	struct cq_limit limit;
	struct cq_cgroup cgroup; /* that of the cpuset */
};

static int conclude(struct cq_view *view, struct found *found, struct cq_cpumask *real, struct cq_answer *ret)
{
	unsigned available;
	int r = found->error;

	memmove(real, &view->given, sizeof *real);
	if (r == 0)
		r = find_real(view, found->cpuset_error, &found->cgroup, real);
	available = cq_cpumask_count(real->words, CQ_MASK_WORDS);
	ret->count = cq_count(&view->policy, &found->limit, available);
	/* With all CPUs shown it does not matter where the run starts, and nothing needs to be spread. */
	ret->first = cq_cpumask_nth(real->words, CQ_MASK_WORDS,
				    ret->count < available ? (unsigned)(found->identity % available) : 0);
	return r;
}

/* Not inlined, so that the mask is not on the stack while the cgroups are being looked for: a signal handler may be what
 * asks, on a stack of a few kilobytes. */
static __attribute__((noinline)) int conclude_alone(struct cq_view *view, struct found *found, struct cq_answer *ret)
{
	struct cq_cpumask real;

	return conclude(view, found, &real, ret);
}

/* Reads everything anew. Returns 0, or -Exxx if something could not be found out: RET_REAL (NULL: nobody wants to know)
 * and RET then hold what the rest makes of it. */
static __attribute__((noinline)) int look(struct cq_view *view, struct cq_cpumask *ret_real, struct cq_answer *ret)
{
	struct found found;
	uint64_t membership;

	found.identity = 0;
	found.limit = (struct cq_limit){0, 0};
	found.error = cq_cgroup_membership(view->root, view->process, &membership);
	if (found.error == 0)
		found.error = locate(view, CPU, membership, &found.cgroup);
	if (found.error == 0) {
		if (view->policy.mask == CQ_MASK_SPREAD)
			found.identity = find_identity(view, &found.cgroup);
		found.error = cq_limit_read(view->root, &found.cgroup, &found.limit);
	}
	if (found.error == 0)
		found.cpuset_error = locate(view, CPUSET, membership, &found.cgroup);
	return ret_real ? conclude(view, &found, ret_real, ret) : conclude_alone(view, &found, ret);
}

/* Keeps what look() found, unless that is less than what was known: a program that can no longer see /proc, or has no
 * descriptor left, is still in the container that it was in. With refresh = 0 the first answer stays. */
static struct cq_answer keep(struct cq_view *view, int r, uint64_t before, struct cq_answer answer, uint64_t now)
{
	if (before && (r < 0 || !view->policy.refresh))
		return unpack(before);
	if (cq_error_is_transient(r))
		return answer;
	if (before && pack(unpack(before), 0) != pack(answer, 0))
		atomic_store_explicit(&view->previous, before, memory_order_relaxed);
	atomic_store_explicit(&view->packed, pack(answer, now), memory_order_release);
	return answer;
}

static __attribute__((noinline)) struct cq_answer refresh(struct cq_view *view, uint64_t before, uint64_t now)
{
	struct cq_answer answer;
	int r;

	/* Whoever moves the time stamp on makes the answer anew; without one, everybody has to. */
	if (before && !atomic_compare_exchange_strong(&view->packed, &before, pack(unpack(before), now)))
		return unpack(before);
	r = look(view, NULL, &answer);
	return keep(view, r, before, answer, now);
}

/* What is known or, if that is nothing, all CPUs. */
static __attribute__((noinline)) struct cq_answer frozen_answer(const struct cq_view *view)
{
	uint64_t packed = atomic_load_explicit(&view->packed, memory_order_acquire);
	const uint64_t *given = view->given.words;

	return packed ? unpack(packed)
		      : (struct cq_answer){cq_cpumask_count(given, CQ_MASK_WORDS), cq_cpumask_nth(given, CQ_MASK_WORDS, 0)};
}

void cq_view_freeze(struct cq_view *view)
{
	cq_view_answer(view);
	atomic_store_explicit(&view->is_frozen, true, memory_order_relaxed);
}

struct cq_answer cq_view_answer(struct cq_view *view)
{
	uint64_t packed = atomic_load_explicit(&view->packed, memory_order_acquire);
	uint64_t now;

	if (packed && !view->policy.refresh)
		return unpack(packed);
	if (atomic_load_explicit(&view->is_frozen, memory_order_relaxed))
		return frozen_answer(view);
	now = view->now();
	if (packed && ((now - packed) & TIME_MASK) < (uint64_t)view->policy.refresh * 1000)
		return unpack(packed);
	return refresh(view, packed, now);
}

struct cq_answer cq_view_look(struct cq_view *view, struct cq_cpumask *ret_real)
{
	uint64_t before = atomic_load_explicit(&view->packed, memory_order_acquire);
	struct cq_answer answer;
	int r;

	if (atomic_load_explicit(&view->is_frozen, memory_order_relaxed)) {
		memmove(ret_real, &view->given, sizeof *ret_real);
		return frozen_answer(view);
	}
	r = look(view, ret_real, &answer);
	return keep(view, r, before, answer, view->now());
}

bool cq_view_has_limit_file(struct cq_view *view, int fd, const char *name)
{
	struct stat opened;
	struct cq_cgroup cgroup;
	uint64_t membership;

	if (cq_rawcall(SYS_fstat, fd, (long)&opened, 0, 0) != 0 ||
	    cq_cgroup_membership(view->root, view->process, &membership) < 0 || locate(view, CPU, membership, &cgroup) < 0 ||
	    cgroup.version == CQ_CGROUP_NONE)
		return false;
	do {
		struct stat level;

		if (cq_cgroup_stat(view->root, &cgroup, name, &level) == 0 && level.st_ino == opened.st_ino &&
		    level.st_dev == opened.st_dev)
			return true;
	} while (cq_cgroup_ascend(&cgroup));
	return false;
}

/* True if the SIZE bytes of MASK, which has as many CPUs as the answer, are the run that the answer stands for. */
static __attribute__((noinline)) bool is_shown(const void *mask, size_t size, const struct cq_cpumask *real,
					       struct cq_answer answer)
{
	struct cq_cpumask shown;

	memmove(&shown, real, sizeof shown);
	cq_cpumask_keep_run(shown.words, CQ_MASK_WORDS, answer.first, answer.count);
	return memcmp(&shown, mask, size) == 0;
}

bool cq_view_is_all(struct cq_view *view, const void *mask, size_t size, struct cq_cpumask *ret_real)
{
	struct cq_answer answer = unpack(atomic_load_explicit(&view->packed, memory_order_acquire)), previous;
	unsigned count = 0;

	if (size > sizeof *ret_real)
		size = sizeof *ret_real;
	for (size_t i = 0; i < size; i++)
		count += cq_cpumask_count_bits(((const unsigned char *)mask)[i]);
	previous = unpack(atomic_load_explicit(&view->previous, memory_order_relaxed));
	/* Most masks that programs set have another number of CPUs, and cost no look. */
	if (answer.count && count != answer.count && (count != previous.count || count < 2))
		return false;
	answer = cq_view_look(view, ret_real);
	previous = unpack(atomic_load_explicit(&view->previous, memory_order_relaxed));
	return (count == answer.count && is_shown(mask, size, ret_real, answer)) ||
	       (count == previous.count && count >= 2 && is_shown(mask, size, ret_real, previous));
}

/* The CPUs of the machine whose /proc and /sys are in the tree: those online, of which the status of the process that
 * was captured may have only some. */
static int given_from_tree(const char *root, struct cq_cpumask *ret)
{
	char list[CPUSET_FILE_SIZE];
	struct cq_cpumask allowed;
	int r = cq_smallfile_read(root, "/sys/devices/system/cpu/online", list, sizeof list);

	if (r >= 0)
		r = cq_cpumask_parse_list(list, (size_t)r, ret);
	if (r == 0 && cq_cpumask_read_status(root, "/proc/self/status", &allowed) == 0)
		cq_cpumask_intersect(ret, &allowed);
	return r;
}

int cq_view_init(struct cq_view *view, const char *root, uint64_t (*now)(void))
{
	int r = strcmp(root, "/") == 0 ? cq_cpumask_of_thread(&view->given) : given_from_tree(root, &view->given);

	if (r < 0)
		return r;
	if (cq_cpumask_is_empty(view->given.words, CQ_MASK_WORDS))
		return -ENOENT;
	view->root = root;
	view->process = 0;
	view->now = now;
	atomic_init(&view->packed, 0);
	atomic_init(&view->previous, 0);
	atomic_init(&view->follows_cpuset, FOLLOWS_UNKNOWN);
	atomic_init(&view->is_frozen, false);
	atomic_init(&view->identity, 0);
	for (size_t i = 0; i < CQ_ARRAY_SIZE(view->places); i++)
		atomic_init(&view->places[i].sequence, 0);
	return 0;
}
