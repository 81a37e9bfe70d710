/* SPDX-License-Identifier: MIT */
#include "cgroup.h"
#include "suites.h"
#include "support.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define V2_MOUNT "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
#define TMPFS_MOUNT "25 24 0:22 / /sys/fs/cgroup ro - tmpfs tmpfs ro,mode=755\n"
#define CPU_MOUNT "33 25 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
#define UNIFIED_MOUNT "26 25 0:23 / /sys/fs/cgroup/unified rw shared:5 - cgroup2 cgroup2 rw\n"
#define SYSTEMD_MOUNT "27 25 0:24 / /sys/fs/cgroup/systemd rw shared:6 - cgroup cgroup rw,xattr,name=systemd\n"
#define CPUSET_MOUNT "34 25 0:30 / /sys/fs/cgroup/cpuset rw shared:10 - cgroup cgroup rw,cpuset\n"

static const struct place {
	const char *what;
	const char *membership, *mounts;
	const char *top;  /* NULL: no cgroup */
	const char *below;
	enum cq_cgroup_version version;
} places[] = {
	{"v2", "0::/user.slice/a.scope\n", V2_MOUNT, "/sys/fs/cgroup", "/user.slice/a.scope", CQ_CGROUP_V2},
	{"v2 without last newline", "0::/a", V2_MOUNT, "/sys/fs/cgroup", "/a", CQ_CGROUP_V2},
	{"v2, root", "0::/\n", V2_MOUNT, "/sys/fs/cgroup", "", CQ_CGROUP_V2},
	{"v2 elsewhere", "0::/a\n", "30 24 0:26 / /mnt rw - cgroup2 x rw\n", "/mnt", "/a", CQ_CGROUP_V2},
	{"v2 with a source that is any text", "0::/a\n", "30 24 0:26 / /mnt rw -  cgroup2 cgroup2 rw\n", NULL, NULL, 0},
	{"v2 with an empty source", "0::/a\n", "30 24 0:26 / /mnt rw - cgroup2  rw\n", "/mnt", "/a", CQ_CGROUP_V2},
	{"v1 cpu", "4:cpu:/a\n", "33 25 0:29 / /cg/cpu rw - cgroup x rw,cpu\n", "/cg/cpu", "/a", CQ_CGROUP_V1},
	{"v1 cpu,cpuacct", "4:cpu,cpuacct:/a/b\n", TMPFS_MOUNT CPU_MOUNT, "/sys/fs/cgroup/cpu,cpuacct", "/a/b",
	 CQ_CGROUP_V1},
	{"v1 cpuacct,cpu", "4:cpuacct,cpu:/a\n", "33 25 0:29 / /c rw - cgroup x rw,cpuacct,cpu\n", "/c", "/a",
	 CQ_CGROUP_V1},
	{"v1 with the other controllers of the name", "6:cpuset:/set\n5:cpuacct:/acct\n4:cpu:/a\n3:name=cpu:/n\n",
	 CPUSET_MOUNT "35 25 0:31 / /acct rw - cgroup x rw,cpuacct\n36 25 0:32 / /n rw - cgroup x rw,name=cpu\n"
	 "33 25 0:29 / /cpu rw - cgroup x rw,cpu\n", "/cpu", "/a", CQ_CGROUP_V1},
	{"only other controllers", "6:cpuset:/set\n5:cpuacct:/acct\n", CPUSET_MOUNT CPU_MOUNT, NULL, NULL, 0},
	{"hybrid, v1 has it", "1:name=systemd:/s\n4:cpu,cpuacct:/a\n0::/u\n",
	 TMPFS_MOUNT UNIFIED_MOUNT SYSTEMD_MOUNT CPU_MOUNT, "/sys/fs/cgroup/cpu,cpuacct", "/a", CQ_CGROUP_V1},
	{"hybrid, v2 named first", "0::/u\n4:cpu,cpuacct:/a\n", UNIFIED_MOUNT CPU_MOUNT,
	 "/sys/fs/cgroup/cpu,cpuacct", "/a", CQ_CGROUP_V1},
	{"hybrid, v2 has it", "1:name=systemd:/s\n0::/u\n", TMPFS_MOUNT UNIFIED_MOUNT SYSTEMD_MOUNT,
	 "/sys/fs/cgroup/unified", "/u", CQ_CGROUP_V2},
	{"v1 not mounted", "4:cpu,cpuacct:/a\n", TMPFS_MOUNT UNIFIED_MOUNT SYSTEMD_MOUNT, NULL, NULL, 0},
	{"v2 not mounted", "0::/a\n", TMPFS_MOUNT SYSTEMD_MOUNT CPU_MOUNT, NULL, NULL, 0},
	{"nothing mounted", "0::/a\n", "", NULL, NULL, 0},
	{"no cgroup at all", "", V2_MOUNT CPU_MOUNT, NULL, NULL, 0},
	{"named hierarchies alone", "1:name=systemd:/s\n", V2_MOUNT SYSTEMD_MOUNT, NULL, NULL, 0},

	{"mount root taken off", "4:cpu:/docker/abc/d\n", "33 25 0:29 /docker/abc /cg rw - cgroup x rw,cpu\n",
	 "/cg", "/d", CQ_CGROUP_V1},
	{"mount root is the cgroup", "0::/docker/abc\n", "33 25 0:29 /docker/abc /cg rw - cgroup2 x rw\n", "/cg", "",
	 CQ_CGROUP_V2},
	{"mount root is only the beginning of a name", "0::/docker/abcd\n",
	 "33 25 0:29 /docker/abc /cg rw - cgroup2 x rw\n", "/cg", "", CQ_CGROUP_V2},
	{"outside the mount root", "0::/other/d\n", "33 25 0:29 /docker/abc /cg rw - cgroup2 x rw\n", "/cg", "",
	 CQ_CGROUP_V2},
	{"above the mount root", "0::/docker\n", "33 25 0:29 /docker/abc /cg rw - cgroup2 x rw\n",
	 "/cg", "", CQ_CGROUP_V2},
	{"mount root with escapes", "0::/a b\\c/d e\n", "33 25 0:29 /a\\040b\\134c /c\\040g rw - cgroup2 x rw\n",
	 "/c g", "/d e", CQ_CGROUP_V2},

	{"climbs", "0::/..\n", V2_MOUNT, "/sys/fs/cgroup", "", CQ_CGROUP_V2},
	{"climbs far", "0::/../../x\n", V2_MOUNT, "/sys/fs/cgroup", "", CQ_CGROUP_V2},
	{"climbs inside", "0::/a/../b\n", V2_MOUNT, "/sys/fs/cgroup", "", CQ_CGROUP_V2},
	{"climbs at the end", "0::/a/..\n", V2_MOUNT, "/sys/fs/cgroup", "", CQ_CGROUP_V2},
	{"climbs as far as the mount root does", "0::/../x\n", "33 25 0:29 /.. /cg rw - cgroup2 x rw\n", "/cg", "/x",
	 CQ_CGROUP_V2},
	{"names with dots", "0::/..a/b../...\n", V2_MOUNT, "/sys/fs/cgroup", "/..a/b../...", CQ_CGROUP_V2},

	{"colons in the path", "0::/a:b/c::d\n", V2_MOUNT, "/sys/fs/cgroup", "/a:b/c::d", CQ_CGROUP_V2},
	{"colons in a v1 path", "4:cpu:/a:cpu:/b\n", "33 25 0:29 / /cg rw - cgroup x rw,cpu\n", "/cg", "/a:cpu:/b",
	 CQ_CGROUP_V1},
	{"slashes", "0::/a//b//\n", "33 25 0:29 / /cg/ rw - cgroup2 x rw\n", "/cg", "/a//b", CQ_CGROUP_V2},
	{"mounted on /", "0::/a\n", "33 25 0:29 / / rw - cgroup2 x rw\n", "", "/a", CQ_CGROUP_V2},

	{"later mount covers", "0::/a/b\n", "30 24 0:26 / /cg rw - cgroup2 x rw\n31 24 0:26 /a /cg rw - cgroup2 x rw\n",
	 "/cg", "/b", CQ_CGROUP_V2},
	{"later mount covers and shows less", "0::/a/b\n",
	 "30 24 0:26 / /cg rw - cgroup2 x rw\n31 24 0:26 /z /cg rw - cgroup2 x rw\n", "/cg", "", CQ_CGROUP_V2},
	{"the mount that shows most, first", "0::/a/b\n",
	 "30 24 0:26 / /cg rw - cgroup2 x rw\n31 24 0:26 /a /part rw - cgroup2 x rw\n", "/cg", "/a/b", CQ_CGROUP_V2},
	{"the mount that shows most, last", "0::/a/b\n",
	 "31 24 0:26 /a /part rw - cgroup2 x rw\n30 24 0:26 / /cg rw - cgroup2 x rw\n", "/cg", "/a/b", CQ_CGROUP_V2},
	{"the mount that shows it at all", "0::/a/b\n",
	 "30 24 0:26 /z /no rw - cgroup2 x rw\n31 24 0:26 /a /part rw - cgroup2 x rw\n"
	 "32 24 0:26 /y /no2 rw - cgroup2 x rw\n", "/part", "/b", CQ_CGROUP_V2},

	{"garbage in membership", "\n:\n::\n0:\nx\n4:cpu\n4:cpu:\n4:cpu:a\n0::\n0::a\n:::\n7:cpu:/a\n",
	 "33 25 0:29 / /cg rw - cgroup x rw,cpu\n", "/cg", "/a", CQ_CGROUP_V1},
	{"nothing but garbage", "\n:\n::\n0:\nx\n4:cpu\n4:cpu:\n4:cpu:a\n0::\n0::a\n:::\n", V2_MOUNT CPU_MOUNT,
	 NULL, NULL, 0},
	{"garbage in mounts", "0::/a\n",
	 "\n-\n - \nx\n30 24 0:26 / /no rw - cgroup2\n30 24 0:26 / /no cgroup2 x rw\n" V2_MOUNT "30 24\n",
	 "/sys/fs/cgroup", "/a", CQ_CGROUP_V2},
};

static void expect_place(const struct cq_cgroup *cgroup, enum cq_cgroup_version version, const char *top,
			 const char *below)
{
	char path[2 * CQ_PATH_MAX];

	ck_assert_int_eq(cgroup->version, version);
	snprintf(path, sizeof path, "%s%s", top, below);
	ck_assert_str_eq(cgroup->path, path);
	ck_assert_uint_eq(cgroup->length, strlen(path));
	ck_assert_uint_eq(cgroup->top_length, strlen(top));
	ck_assert(!cgroup->top_is_unlimited);
}

START_TEST(place_is_found)
{
	const struct place *t = &places[_i];
	char *root = make_tree();
	struct cq_cgroup cgroup;
	int r;

	memset(&cgroup, 0xa5, sizeof cgroup);
	write_file(root, "proc/self/cgroup", "%s", t->membership);
	write_file(root, "proc/self/mountinfo", "%s", t->mounts);
	r = cq_cgroup_find(root, 0, "cpu", &cgroup);
	ck_assert_msg(r == 0, "%s: %d", t->what, r);
	if (!t->top) {
		ck_assert_msg(cgroup.version == CQ_CGROUP_NONE, "%s: found %s", t->what, cgroup.path);
	} else {
		ck_assert_msg(cgroup.version == t->version, "%s: version %d", t->what, cgroup.version);
		expect_place(&cgroup, t->version, t->top, t->below);
	}
	free(root);
}
END_TEST

START_TEST(controllers_have_places_of_their_own)
{
	char *root = make_tree();
	struct cq_cgroup cgroup;

	write_file(root, "proc/self/cgroup", "6:cpuset:/set\n4:cpu,cpuacct:/a\n0::/u\n");
	write_file(root, "proc/self/mountinfo", CPU_MOUNT UNIFIED_MOUNT CPUSET_MOUNT);
	ck_assert_int_eq(cq_cgroup_find(root, 0, "cpu", &cgroup), 0);
	expect_place(&cgroup, CQ_CGROUP_V1, "/sys/fs/cgroup/cpu,cpuacct", "/a");
	ck_assert_int_eq(cq_cgroup_find(root, 0, "cpuset", &cgroup), 0);
	expect_place(&cgroup, CQ_CGROUP_V1, "/sys/fs/cgroup/cpuset", "/set");
	ck_assert_int_eq(cq_cgroup_find(root, 0, "memory", &cgroup), 0);
	expect_place(&cgroup, CQ_CGROUP_V2, "/sys/fs/cgroup/unified", "/u");
	free(root);
}
END_TEST

/* Its own membership, but our mounts: we are who reads there. */
START_TEST(place_of_another_process)
{
	char *root = make_tree();
	struct cq_cgroup cgroup;

	write_file(root, "proc/self/cgroup", "0::/self\n");
	write_file(root, "proc/self/mountinfo", V2_MOUNT);
	write_file(root, "proc/4711/cgroup", "0::/other\n");
	write_file(root, "proc/4711/mountinfo", "30 24 0:26 / /elsewhere rw - cgroup2 x rw\n");
	ck_assert_int_eq(cq_cgroup_find(root, 4711, "cpu", &cgroup), 0);
	expect_place(&cgroup, CQ_CGROUP_V2, "/sys/fs/cgroup", "/other");
	ck_assert_int_eq(cq_cgroup_find(root, INT_MAX, "cpu", &cgroup), -ENOENT);
	ck_assert_int_eq(cgroup.version, CQ_CGROUP_NONE);
	free(root);
}
END_TEST

START_TEST(missing_files)
{
	char *root = make_tree();
	struct cq_cgroup cgroup;

	ck_assert_int_eq(cq_cgroup_find(root, 0, "cpu", &cgroup), -ENOENT);
	ck_assert_int_eq(cgroup.version, CQ_CGROUP_NONE);
	write_file(root, "proc/self/cgroup", "0::/a\n");
	ck_assert_int_eq(cq_cgroup_find(root, 0, "cpu", &cgroup), -ENOENT);
	ck_assert_int_eq(cgroup.version, CQ_CGROUP_NONE);
	make_directory(root, "proc/self/mountinfo");
	ck_assert_int_eq(cq_cgroup_find(root, 0, "cpu", &cgroup), -EISDIR);
	ck_assert_int_eq(cgroup.version, CQ_CGROUP_NONE);
	ck_assert_int_eq(cq_cgroup_find("/no such root", 0, "cpu", &cgroup), -ENOENT);
	free(root);

	root = make_tree();
	write_file(root, "proc/self/mountinfo", V2_MOUNT);
	ck_assert_int_eq(cq_cgroup_find(root, 0, "cpu", &cgroup), -ENOENT);
	free(root);
}
END_TEST

START_TEST(inode_of_the_top)
{
	char *root = make_tree(), *path = NULL;
	struct cq_cgroup cgroup;
	struct stat status;

	write_file(root, "proc/self/cgroup", "0::/a\n");
	write_file(root, "proc/self/mountinfo", V2_MOUNT);
	ck_assert_int_eq(cq_cgroup_find(root, 0, "cpu", &cgroup), 0);
	ck_assert_uint_eq(cgroup.top_inode, 0);
	make_directory(root, "sys/fs/cgroup");
	ck_assert_int_eq(cq_cgroup_find(root, 0, "cpu", &cgroup), 0);
	ck_assert_int_gt(asprintf(&path, "%s/sys/fs/cgroup", root), 0);
	ck_assert_int_eq(stat(path, &status), 0);
	ck_assert_uint_eq(cgroup.top_inode, status.st_ino);
	expect_place(&cgroup, CQ_CGROUP_V2, "/sys/fs/cgroup", "/a");
	free(path);
	free(root);
}
END_TEST

/* Paths of all lengths about the largest: one that does not fit is one that cannot be seen, so that the mount point
 * stands for it, and there is room behind each for the name of a file. */
START_TEST(long_paths)
{
	char *root = make_tree(), *name = repeat('x', 5 * CQ_PATH_MAX);
	unsigned fit = 0, unfit = 0;

	write_file(root, "proc/self/mountinfo", V2_MOUNT);
	for (int length = CQ_PATH_MAX - 100; length < CQ_PATH_MAX + 100; length++) {
		struct cq_cgroup cgroup;
		char buffer[8];
		int r;

		write_file(root, "proc/self/cgroup", "0::/%.*s\n", length, name);
		ck_assert_int_eq(cq_cgroup_find(root, 0, "cpu", &cgroup), 0);
		ck_assert_uint_le(cgroup.length + 32, sizeof cgroup.path);
		if (cgroup.length > cgroup.top_length) {
			ck_assert_uint_eq(cgroup.length, strlen("/sys/fs/cgroup/") + (size_t)length);
			ck_assert_uint_eq(unfit, 0);
			fit++;
		} else {
			expect_place(&cgroup, CQ_CGROUP_V2, "/sys/fs/cgroup", "");
			unfit++;
		}
		r = cq_cgroup_read(root, &cgroup, "a.name.of.thirty.characters.in", buffer, sizeof buffer);
		ck_assert_int_lt(r, 0);
	}
	ck_assert_uint_gt(fit, 0);
	ck_assert_uint_gt(unfit, 100);
	free(name);
	free(root);
}
END_TEST

START_TEST(lines_longer_than_the_buffer)
{
	char *root = make_tree(), *name = repeat('x', 5 * CQ_PATH_MAX);
	struct cq_cgroup cgroup;

	write_file(root, "proc/self/mountinfo", V2_MOUNT);
	write_file(root, "proc/self/cgroup", "0::/%s\n", name);
	ck_assert_int_eq(cq_cgroup_find(root, 0, "cpu", &cgroup), 0);
	expect_place(&cgroup, CQ_CGROUP_V2, "/sys/fs/cgroup", "");
	/* What comes behind a long line is found all the same. */
	write_file(root, "proc/self/cgroup", "9:freezer:/%s\n0::/a\n", name);
	write_file(root, "proc/self/mountinfo", "20 1 0:2 / /%s rw - cgroup2 x rw\n" V2_MOUNT, name);
	ck_assert_int_eq(cq_cgroup_find(root, 0, "cpu", &cgroup), 0);
	expect_place(&cgroup, CQ_CGROUP_V2, "/sys/fs/cgroup", "/a");
	free(name);
	free(root);
}
END_TEST

/* Mount points as long as a line has room for; in a hostile tree all other fields may be empty. */
START_TEST(long_mount_points)
{
	char *root = make_tree(), *name = repeat('x', CQ_PATH_MAX);

	write_file(root, "proc/self/cgroup", "0::/a\n");
	for (int length = CQ_PATH_MAX - 80; length < CQ_PATH_MAX - 1; length++) {
		struct {
			struct cq_cgroup cgroup;
			char guard[64];
		} c;
		char buffer[8];
		int r;

		memset(&c, 'g', sizeof c);
		write_file(root, "proc/self/mountinfo", "    /%.*s  - cgroup2  \n", length, name);
		ck_assert_int_eq(cq_cgroup_find(root, 0, "cpu", &c.cgroup), 0);
		if (c.cgroup.version != CQ_CGROUP_NONE) {
			ck_assert_uint_lt(c.cgroup.length, sizeof c.cgroup.path);
			r = cq_cgroup_read(root, &c.cgroup, "cpuset.cpus.effective", buffer, sizeof buffer);
			ck_assert_int_lt(r, 0);
		}
		for (size_t i = 0; i < sizeof c.guard; i++)
			ck_assert_msg(c.guard[i] == 'g', "mount point of %d bytes: byte %zu behind the path",
				      length, i);
	}
	free(name);
	free(root);
}
END_TEST

/* SIZE pseudo-random bytes, most of them out of BYTES. */
static void fill(char *text, size_t size, const char *bytes)
{
	size_t count = strlen(bytes);

	for (size_t i = 0; i < size; i++)
		text[i] = rand() % 64 ? bytes[(size_t)rand() % count] : (char)rand();
}

START_TEST(garbage)
{
	static const char membership_bytes[] = "00::://..cpu,\n\nab";
	static const char mount_bytes[] = "   ---//..cgroup2,\n\\040";

	srand(3);
	for (unsigned round = 0; round < 400; round++) {
		char *root = make_tree(), membership[512], mounts[2048];
		size_t sizes[2] = {(size_t)rand() % sizeof membership, (size_t)rand() % (sizeof mounts - 400)};
		struct cq_cgroup cgroup;

		fill(membership, sizes[0], membership_bytes);
		fill(mounts, sizes[1], mount_bytes);
		/* So that it comes to the mounts at all, and that there is one among the garbage. */
		if (round % 2 && sizes[0] >= 5)
			memcpy(membership, "0::/a", 5);
		memcpy(mounts + sizes[1], "\n" V2_MOUNT, sizeof "\n" V2_MOUNT - 1);
		sizes[1] += sizeof "\n" V2_MOUNT - 1;
		write_bytes(root, "proc/self/cgroup", membership, sizes[0]);
		write_bytes(root, "proc/self/mountinfo", mounts, sizes[1]);
		ck_assert_int_eq(cq_cgroup_find(root, 0, "cpu", &cgroup), 0);
		if (round % 2 && sizes[0] >= 5)
			ck_assert_int_ne(cgroup.version, CQ_CGROUP_NONE);
		if (cgroup.version != CQ_CGROUP_NONE) {
			ck_assert_uint_le(cgroup.top_length, cgroup.length);
			ck_assert_uint_eq(strlen(cgroup.path), cgroup.length);
			ck_assert_ptr_null(strstr(cgroup.path + cgroup.top_length, "/../"));
		}
		free(root);
	}
}
END_TEST

/* What the kernel says here is read the same from a copy of it. */
START_TEST(captured_tree_is_read_as_the_real_one)
{
	static const char *const files[] = {"proc/self/cgroup", "proc/self/mountinfo"};
	char *root = make_tree(), text[65536];
	struct cq_cgroup real, captured;
	int r;

	for (size_t i = 0; i < CQ_ARRAY_SIZE(files); i++) {
		char path[64];
		FILE *file;

		snprintf(path, sizeof path, "/%s", files[i]);
		file = fopen(path, "r");
		if (file) {
			write_bytes(root, files[i], text, fread(text, 1, sizeof text, file));
			fclose(file);
		}
	}
	r = cq_cgroup_find("/", 0, "cpu", &real);
	ck_assert_int_eq(cq_cgroup_find(root, 0, "cpu", &captured), r);
	ck_assert_int_eq(captured.version, real.version);
	if (real.version != CQ_CGROUP_NONE) {
		ck_assert_str_eq(captured.path, real.path);
		ck_assert_uint_eq(captured.top_length, real.top_length);
	}
	free(root);
}
END_TEST

START_TEST(ascend_to_the_top)
{
	static const char *const levels[] = {"/cg/a.slice//b/c", "/cg/a.slice//b", "/cg/a.slice", "/cg"};
	struct cq_cgroup cgroup;

	memset(&cgroup, 0, sizeof cgroup);
	strcpy(cgroup.path, levels[0]);
	cgroup.length = strlen(levels[0]);
	cgroup.top_length = 3;
	for (size_t i = 1; i < CQ_ARRAY_SIZE(levels); i++) {
		ck_assert(cq_cgroup_ascend(&cgroup));
		ck_assert_str_eq(cgroup.path, levels[i]);
		ck_assert_uint_eq(cgroup.length, strlen(levels[i]));
	}
	for (int i = 0; i < 2; i++) {
		ck_assert(!cq_cgroup_ascend(&cgroup));
		ck_assert_str_eq(cgroup.path, "/cg");
	}
}
END_TEST

START_TEST(ascend_where_the_top_is_empty)
{
	struct cq_cgroup cgroup;

	memset(&cgroup, 0, sizeof cgroup);
	strcpy(cgroup.path, "/a/b");
	cgroup.length = 4;
	ck_assert(cq_cgroup_ascend(&cgroup));
	ck_assert_str_eq(cgroup.path, "/a");
	ck_assert(cq_cgroup_ascend(&cgroup));
	ck_assert_str_eq(cgroup.path, "");
	ck_assert(!cq_cgroup_ascend(&cgroup));
}
END_TEST

START_TEST(read_of_a_level)
{
	char *root = make_tree(), buffer[8];
	struct cq_cgroup cgroup;

	write_file(root, "cg/a/cpu.max", "1 2\n");
	memset(&cgroup, 0, sizeof cgroup);
	strcpy(cgroup.path, "/cg/a");
	cgroup.length = 5;
	cgroup.top_length = 3;
	ck_assert_int_eq(cq_cgroup_read(root, &cgroup, "cpu.max", buffer, sizeof buffer), 4);
	ck_assert_str_eq(buffer, "1 2\n");
	ck_assert_str_eq(cgroup.path, "/cg/a");
	ck_assert_int_eq(cq_cgroup_read(root, &cgroup, "cpu.min", buffer, sizeof buffer), -ENOENT);
	ck_assert_str_eq(cgroup.path, "/cg/a");
	ck_assert_int_eq(cq_cgroup_read(root, &cgroup, "cpu.max", buffer, 4), -EFBIG);
	ck_assert_int_eq(cq_cgroup_read(root, &cgroup, "a.name.of.31.characters.in.all.", buffer, sizeof buffer),
			 -ENAMETOOLONG);
	ck_assert_str_eq(cgroup.path, "/cg/a");
	free(root);
}
END_TEST

static uint64_t membership_of(const char *root, const void *text, size_t size)
{
	uint64_t value = 0;

	write_bytes(root, "proc/self/cgroup", text, size);
	ck_assert_int_eq(cq_cgroup_membership(root, 0, &value), 0);
	return value;
}

START_TEST(membership_changes_with_every_hierarchy)
{
	static const struct {
		const char *text;
		size_t size;
	} files[] = {
#define FILE_OF(text) {text, sizeof text - 1}
		FILE_OF("4:cpu:/a\n0::/u\n"), FILE_OF("4:cpu:/b\n0::/u\n"), FILE_OF("4:cpu:/a\n0::/v\n"),
		FILE_OF("4:cpu:/a\n"), FILE_OF("4:cpu:/a0::/u\n"), FILE_OF(""), FILE_OF("\n"), FILE_OF("\n\n"),
		FILE_OF("0::/\n"), FILE_OF("0::/a\0b\n"), FILE_OF("0::/a\0c\n"), FILE_OF("0::/a\n"), FILE_OF("0::/b\n"),
#undef FILE_OF
	};
	char *root = make_tree();
	uint64_t values[CQ_ARRAY_SIZE(files)], other;

	for (size_t i = 0; i < CQ_ARRAY_SIZE(files); i++) {
		values[i] = membership_of(root, files[i].text, files[i].size);
		ck_assert_uint_eq(membership_of(root, files[i].text, files[i].size), values[i]);
		for (size_t j = 0; j < i; j++)
			ck_assert_msg(values[i] != values[j], "files %zu and %zu", i, j);
	}
	write_file(root, "proc/7/cgroup", "4:cpu:/a\n0::/u\n");
	ck_assert_int_eq(cq_cgroup_membership(root, 7, &other), 0);
	ck_assert_uint_eq(other, values[0]);
	ck_assert_int_eq(cq_cgroup_membership(root, 8, &other), -ENOENT);
	ck_assert_uint_eq(other, values[0]);
	free(root);
}
END_TEST

/* A file larger than the buffer is read to its end all the same. */
START_TEST(membership_of_a_long_file)
{
	char *root = make_tree(), *text = repeat('x', 20000);
	uint64_t before;

	for (size_t i = 99; i < 20000; i += 100)
		text[i] = '\n';
	before = membership_of(root, text, 20000);
	text[19990] = 'y';
	ck_assert_uint_ne(membership_of(root, text, 20000), before);
	free(text);
	free(root);
}
END_TEST

START_TEST(membership_of_an_endless_file)
{
	char *root = make_tree(), *text = repeat('x', 100000);
	uint64_t value = 4711;

	write_bytes(root, "proc/self/cgroup", text, 100000);
	ck_assert_int_eq(cq_cgroup_membership(root, 0, &value), -EFBIG);
	ck_assert_uint_eq(value, 4711);
	free(text);
	free(root);
}
END_TEST

Suite *cq_test_cgroup(void)
{
	Suite *suite = suite_create("cgroup");
	TCase *tests = tcase_create("cgroup");

	tcase_set_timeout(tests, 60); /* under valgrind */
	tcase_add_loop_test(tests, place_is_found, 0, CQ_ARRAY_SIZE(places));
	tcase_add_test(tests, controllers_have_places_of_their_own);
	tcase_add_test(tests, place_of_another_process);
	tcase_add_test(tests, missing_files);
	tcase_add_test(tests, inode_of_the_top);
	tcase_add_test(tests, long_paths);
	tcase_add_test(tests, lines_longer_than_the_buffer);
	tcase_add_test(tests, long_mount_points);
	tcase_add_test(tests, garbage);
	tcase_add_test(tests, captured_tree_is_read_as_the_real_one);
	tcase_add_test(tests, ascend_to_the_top);
	tcase_add_test(tests, ascend_where_the_top_is_empty);
	tcase_add_test(tests, read_of_a_level);
	tcase_add_test(tests, membership_changes_with_every_hierarchy);
	tcase_add_test(tests, membership_of_a_long_file);
	tcase_add_test(tests, membership_of_an_endless_file);
	suite_add_tcase(suite, tests);
	return suite;
}
