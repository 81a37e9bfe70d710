#!/bin/sh
# SPDX-License-Identifier: MIT
# The files under a real limit: /proc and /sys where they are masked, mounted elsewhere or made by others, the cgroup's own
# files with runtime_quota=hide, and the arenas of malloc. Needs root.

# shellcheck disable=SC2016,SC2317 # scripts for another shell, and functions that are handed on by name
# shellcheck source=tests/lib.sh
. "${top_srcdir:?}/tests/lib.sh"
# shellcheck source=tests/programs/checks.sh
. "$top_srcdir/tests/programs/checks.sh"

CPUQUOTA_POLICY=$work/empty.conf
export CPUQUOTA_POLICY
: >"$CPUQUOTA_POLICY"

if ! have_cgroups; then
	skip 'files under a limit' 'no cgroup with a CPU limit can be made here'
	done_testing
fi
if [ "$real" -lt 2 ]; then
	skip 'files under a limit' 'one CPU tells nothing apart'
	done_testing
fi

cpuinfo=/proc/cpuinfo stat=/proc/stat online_file=/sys/devices/system/cpu/online
policy=round=ceil
limited() { in_cgroup "$cgroup" env LD_PRELOAD="$library" CPUQUOTA="$policy" "$@"; }

# The three files, as scripts count them.

for quota in 50000 100000 150000; do
	new_cgroup "$quota"
	for policy in round=ceil round=floor; do
		count=$(expected_count "$quota" "${policy#*=}" 1 0 "$real")
		for way in ENV cpuquota-exec; do
			case $way in
			ENV) ask() { limited "$@"; } ;;
			*) ask() { in_cgroup "$cgroup" "$wrapper" --set "$policy" -- "$@"; } ;;
			esac
			description="$way, limit $quota, $policy"
			is "$description: grep -c ^processor" "$(ask grep -c ^processor "$cpuinfo")" "$count"
			is "$description: grep -c ^cpu[0-9]" "$(ask grep -c '^cpu[0-9]' "$stat")" "$count"
			is "$description: cpu/online" \
				"$(ask cat "$online_file" | awk -F- -v RS=, '{ n += $NF - $1 + 1 } END { print n }')" "$count"
			cpus=$(ask "$programs/ask" cpus)
			is "$description: one mask, cpuinfo" "$(ask awk '/^processor/ { print $NF }' "$cpuinfo")" "$cpus"
			is "$description: one mask, stat" "$(ask sed -n 's/^cpu\([0-9]\+\) .*/\1/p' "$stat")" "$cpus"
		done
	done
done

policy=round=ceil
new_cgroup 50000
for subject in descriptors other-opens leaks signals vfork threads no-descriptors file-size no-memory no-memfd; do
	checks "$subject" limited "$programs/files-calls" "$subject" 1 "$online"
done
limit=$([ "$cpu_version" = 2 ] && echo cpu.max || echo cpu.cfs_quota_us)
cat >"$work/twice.pl" <<'END'
sub count { open my $file, "<", "/proc/cpuinfo"; return scalar grep /^processor/, <$file> }
print count(), " ";
open my $limit, ">", $ARGV[0];
print $limit "150000\n";
close $limit;
sleep 2;
print count(), "\n";
END
is 'a changed limit is seen by a running program' "$(limited perl "$work/twice.pl" "$cgroup/$limit" 2>&1)" '1 2'

# The cgroup's own files.

new_cgroup 150000
parent=$cgroup
new_cgroup 120000 "$parent"
own=$cgroup
new_cgroup 130000 "$parent"
sister=$cgroup
new_cgroup 110000
other=$cgroup
cgroup=$own
if [ "$cpu_version" = 2 ]; then
	limit=cpu.max
	unlimited='max 100000'
	set_of() { echo "$1 100000"; }
	untouched='cpu.stat cpu.weight cgroup.procs cgroup.controllers cpu.pressure cpu.max.burst'
else
	limit=cpu.cfs_quota_us
	unlimited=-1
	set_of() { echo "$1"; }
	untouched='cpu.shares cpu.cfs_period_us cgroup.procs cpu.cfs_burst_us notify_on_release'
fi

for policy in round=ceil runtime_quota=keep off runtime_quota=hide,off; do
	is "$policy: the limit" "$(limited cat "$own/$limit")" "$(set_of 120000)"
	is "$policy: the parent's limit" "$(limited cat "$parent/$limit")" "$(set_of 150000)"
done
for policy in runtime_quota=hide runtime_quota=hide,files=real runtime_quota=hide,affinity=real,refresh=0; do
	is "$policy: the limit" "$(limited cat "$own/$limit")" "$unlimited"
	is "$policy: the parent's limit" "$(limited cat "$parent/$limit")" "$unlimited"
	is "$policy: in its directory" "$(cd "$own" && limited cat "$limit")" "$unlimited"
	is "$policy: by another path" "$(limited cat "/$own/../$(basename "$own")/./$limit")" "$unlimited"
	is "$policy: a sister's limit" "$(limited cat "$sister/$limit")" "$(set_of 130000)"
	is "$policy: another's limit" "$(limited cat "$other/$limit")" "$(set_of 110000)"
done
policy=runtime_quota=hide
for way in open openat-directory openat64-directory 'fopen r' 'fopen64 re' bytes big pread mmap fstat fdopen; do
	is "$policy: $way" "$(limited "$programs/files-read" "$way" "$own/$limit")" "$unlimited"
done
for file in $untouched; do
	[ -r "$own/$file" ] || continue
	case $file in
	cgroup.procs) is "$policy: $file" "$(limited cat "$own/$file" | wc -l)" 1 ;; # the one that asks
	*) is "$policy: $file" "$(limited cat "$own/$file")" "$(cat "$own/$file")" ;;
	esac
done
is "$policy: cpu.stat" "$(limited cat "$own/cpu.stat" | awk '{ print $1, NF }')" "$(awk '{ print $1, NF }' "$own/cpu.stat")"
is "$policy: /proc/self/cgroup" "$(limited cat /proc/self/cgroup)" "$(in_cgroup "$own" cat /proc/self/cgroup)"
for file in /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/pids/pids.max /sys/fs/cgroup/memory.max; do
	[ ! -r "$file" ] || is "$policy: $file" "$(limited cat "$file")" "$(cat "$file")"
done
is "$policy: the count is that of the limit" "$(limited "$programs/ask" | cut -d ' ' -f 1)" \
	"$(expected_count 120000 ceil 1 0 "$real")"
succeeds "$policy: it can be written" limited sh -c 'echo "$2" >"$0/$1"' "$own" "$limit" "$(set_of 90000)"
is "$policy: and is written" "$(cat "$own/$limit")" "$(set_of 90000)"
is "$policy: a write through a descriptor for both" \
	"$(limited sh -c 'exec 3<>"$0/$1" && cat <&3' "$own" "$limit")" "$(set_of 90000)"
is "$policy, through cpuquota-exec" "$(in_cgroup "$own" "$wrapper" --set "$policy" -- cat "$own/$limit")" "$unlimited"
succeeds "$policy: cp, which compares what it has opened with what it was told to open" \
	limited cp "$own/$limit" "$work/copied"
mkdir "$work/own"
echo 12345 | tee "$work/own/cpu.max" >"$work/own/cpu.cfs_quota_us"
is "$policy: a file of one's own of that name" "$(cd "$work/own" && limited cat cpu.max cpu.cfs_quota_us)" '12345
12345'
# The process moves: its files are then those of where it is.
is "$policy: after a move" "$(limited sh -c 'cat "$0/$2"; echo $$ >"$1/cgroup.procs"; cat "$0/$2" "$1/$2"' \
	"$own" "$other" "$limit" | tr '\n' ';')" "$unlimited;$(set_of 90000);$unlimited;"

# Where /proc and /sys are not as usual.

new_cgroup 50000
policy=round=ceil
# elsewhere SCRIPT COMMAND...: in a mount namespace that SCRIPT, with $0 as the directory of this test, has arranged.
elsewhere() {
	script=$1
	shift
	in_cgroup "$cgroup" unshare --mount --propagation private sh -c "$script"'
		library=$1 policy=$2
		shift 2
		exec env LD_PRELOAD="$library" CPUQUOTA="$policy" "$@"' "$work" "$library" "$policy" "$@" 2>&1
}

if unshare --mount --propagation private true 2>/dev/null; then
	mkdir -p "$work/host/proc" "$work/host/sys"
	host='mount --rbind /proc "$0/host/proc" && mount --rbind /sys "$0/host/sys"'
	is 'the host'\''s /proc, mounted elsewhere' "$(elsewhere "$host" grep -c ^processor "$work/host$cpuinfo")" "$online"
	is 'the host'\''s /proc/stat' "$(elsewhere "$host" grep -c '^cpu[0-9]' "$work/host$stat")" "$online"
	is 'the host'\''s cpu/online' "$(elsewhere "$host" cat "$work/host$online_file")" "$(cat "$online_file")"
	is 'and its own' "$(elsewhere "$host" grep -c ^processor "$cpuinfo")" 1
	is 'another /proc, in its directory' \
		"$(elsewhere 'mount -t proc none "$0/host/proc" && cd "$0/host/proc"' grep -c ^processor cpuinfo)" "$online"

	is 'no /proc' "$(elsewhere 'mount -t tmpfs none /proc' cat "$cpuinfo" "$stat" | sed 's/.*: //' | sort -u)" \
		'No such file or directory'
	is 'no /sys' "$(elsewhere 'mount -t tmpfs none /sys' cat "$online_file" | sed 's/.*: //')" 'No such file or directory'
	policy=count=1
	matches 'no /proc: cpu/online, count=1' "$(elsewhere 'mount -t tmpfs none /proc' cat "$online_file")" '[0-9]'
	is 'no /sys: /proc/cpuinfo, count=1' "$(elsewhere 'mount -t tmpfs none /sys' grep -c ^processor "$cpuinfo")" 1
	policy=round=ceil
	is 'cpuinfo and stat masked as container engines do' \
		"$(elsewhere 'mount --bind /dev/null /proc/cpuinfo && mount --bind /dev/null /proc/stat' cat "$cpuinfo" "$stat")" ''

	# lxcfs mounts files with CPUs that it has numbered anew. Those that are shown may not be among them: a file that
	# then has none would be worse than one that has more.
	for cpu in 0 1; do
		printf 'processor\t: %d\nmodel name\t: made by another\n\n' "$cpu"
	done >"$work/lxcfs-cpuinfo"
	printf 'cpu  9 9 9 9\ncpu0 1 1 1 1\ncpu1 2 2 2 2\nctxt 5\n' >"$work/lxcfs-stat"
	lxcfs='mount --bind "$0/lxcfs-cpuinfo" /proc/cpuinfo && mount --bind "$0/lxcfs-stat" /proc/stat'
	is 'files of lxcfs: the CPUs shown are among them' \
		"$(elsewhere "$lxcfs" cat "$cpuinfo" "$stat" | grep -c '^processor\|^cpu[0-9]')" 2
	sed 's/: \([01]\)$/: 7\1/' "$work/lxcfs-cpuinfo" >"$work/odd"
	cat "$work/odd" >"$work/lxcfs-cpuinfo"
	printf 'cpu  9 9 9 9\ncpu70 1 1 1 1\ncpu71 2 2 2 2\nctxt 5\n' >"$work/lxcfs-stat"
	is 'files of lxcfs: none of the CPUs shown is among them' \
		"$(elsewhere "$lxcfs" cat "$cpuinfo" "$stat")" "$(cat "$work/lxcfs-cpuinfo" "$work/lxcfs-stat")"
	echo 70-71 >"$work/lxcfs-online"
	is 'its cpu/online' "$(elsewhere 'mount --bind "$0/lxcfs-online" /sys/devices/system/cpu/online' cat "$online_file")" 70-71
	# A pipe must not be read from, nor waited for.
	mkfifo "$work/fifo"
	is 'a pipe in the place of a file' "$(elsewhere 'mount --bind "$0/fifo" /proc/cpuinfo; echo from the pipe >"$0/fifo" &' \
		timeout 20 cat "$cpuinfo")" 'from the pipe'
else
	skip '/proc and /sys elsewhere' 'no mount namespace can be made here'
fi

# In a chroot there is no /proc, or an own one.
cat >"$work/chroot.c" <<'END'
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	char text[100];
	int fd = -1;
	ssize_t got;
	if (argc != 3 || sysconf(_SC_NPROCESSORS_ONLN) != 1 || chroot(argv[1]) != 0 || chdir("/") != 0)
		return 1;
	fd = open(argv[2], O_RDONLY);
	if (fd < 0)
		return printf("%s\n", strerror(errno)) < 0;
	while ((got = read(fd, text, sizeof text)) > 0)
		fwrite(text, 1, (size_t)got, stdout);
	return 0;
}
END
if "${CC:-cc}" "$work/chroot.c" -o "$work/chroot" 2>"$work/err"; then
	mkdir -p "$work/root/empty" "$work/root/own/proc" "$work/root/own/sys/devices/system/cpu"
	printf 'processor\t: 4711\n\nprocessor\t: 4712\n\n' >"$work/root/own/proc/cpuinfo"
	for path in "$cpuinfo" "$stat" "$online_file"; do
		is "chroot: no $path" "$(limited "$work/chroot" "$work/root/empty" "$path")" 'No such file or directory'
	done
	is 'chroot: a file that another has made' "$(limited "$work/chroot" "$work/root/own" "$cpuinfo")" \
		"$(cat "$work/root/own/proc/cpuinfo")"
else
	skip 'chroot' "cannot be built: $(head -n 1 "$work/err")"
fi

# The arenas of malloc: 8 for each CPU shown. Resident memory is compared in the same run.

arenas() { limited "$@" "$programs/files-arenas"; }
at_most() { awk -v value="$1" -v most="$2" 'BEGIN { print (value != "" && value > 0 && value <= most) }'; }

if [ -z "$(getconf GNU_LIBC_VERSION 2>/dev/null)" ]; then
	skip 'arenas' 'not glibc'
else
	for way in ENV cpuquota-exec; do
		case $way in
		ENV) run() { limited "$@"; } ;;
		*) run() { in_cgroup "$cgroup" "$wrapper" --set "$policy" -- "$@"; } ;;
		esac
		policy=round=ceil
		shown=$(run "$programs/files-arenas")
		policy=malloc_arenas=real
		unbounded=$(run "$programs/files-arenas")
		echo "# $way, arenas and KiB resident: $shown, with malloc_arenas=real: $unbounded"
		is "$way: at most 8 arenas" "$(at_most "${shown% *}" 8)" 1
		is "$way, malloc_arenas=real: more than 8" "$([ "${unbounded% *}" -gt 8 ] && echo yes)" yes
		is "$way: less memory with fewer arenas" "$([ "${shown#* }" -lt "${unbounded#* }" ] && echo yes)" yes
	done
	policy=off
	is 'off: more than 8' "$([ "$(arenas | cut -d ' ' -f 1)" -gt 8 ] && echo yes)" yes
	for policy in min=2 count=2; do
		number=$(arenas | cut -d ' ' -f 1)
		is "$policy: more than 8, at most 16" "$([ "$number" -gt 8 ] && at_most "$number" 16)" 1
	done
	policy=files=real,affinity=real
	is "$policy: at most 8 all the same" "$(at_most "$(arenas | cut -d ' ' -f 1)" 8)" 1
	policy=round=ceil
	for number in 2 12; do
		is "MALLOC_ARENA_MAX=$number wins" "$(arenas env MALLOC_ARENA_MAX="$number" | cut -d ' ' -f 1)" "$number"
		is "GLIBC_TUNABLES, arena_max=$number, wins" \
			"$(arenas env GLIBC_TUNABLES="glibc.malloc.arena_max=$number" | cut -d ' ' -f 1)" "$number"
	done
	is 'other tunables leave it' "$(at_most "$(arenas env GLIBC_TUNABLES=glibc.malloc.tcache_count=0 | cut -d ' ' -f 1)" 8)" 1
	succeeds 'one thread' limited "$programs/files-arenas" 1
fi

# Other allocators, which may have a mallopt of their own.
for allocator in libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2; do
	path=$(ldconfig -p 2>/dev/null | awk -v name="$allocator" '$1 == name { print $NF; exit }')
	[ -n "$path" ] || path=$(find /usr/lib /usr/local/lib -name "$allocator*" 2>/dev/null | head -n 1)
	if [ -z "$path" ]; then
		skip "$allocator" 'not installed'
		continue
	fi
	for order in "$path:$library" "$library:$path"; do
		limited env LD_PRELOAD="$order" "$programs/files-arenas" >"$work/out" 2>"$work/err"
		is "$allocator, $(basename "${order%%:*}") first: 64 threads" "$? $(wc -w <"$work/out") $(cat "$work/err")" '0 2 '
		is "$allocator, $(basename "${order%%:*}") first: the files" \
			"$(limited env LD_PRELOAD="$order" grep -c ^processor "$cpuinfo")" 1
		checks "$allocator, $(basename "${order%%:*}") first: threads that open" \
			limited env LD_PRELOAD="$order" "$programs/files-calls" threads 1 "$online"
	done
done

# musl has no arenas, and no mallopt.
if ! command -v musl-gcc >/dev/null; then
	skip 'musl' 'no musl-gcc'
elif musl-gcc -D_GNU_SOURCE -O1 "$top_srcdir/tests/programs/files-arenas.c" -o "$work/musl" 2>"$work/err"; then
	matches 'musl: 64 threads' "$(limited "$work/musl" 2>&1)" '- [1-9]*'
else
	fail 'musl' "$(cat "$work/err")"
fi

done_testing
