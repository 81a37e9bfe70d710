#!/bin/sh
# SPDX-License-Identifier: MIT
# Tools that count CPUs by the files of /proc and /sys, of several Debians, under a real limit: with LD_PRELOAD alone
# and through cpuquota-exec they count what the policy shows, or the machine where that is what they are asked for.
# Needs root, and of Debian: clang lld strace zstd; and what get-runtimes needs. What is not there is skipped.

# shellcheck source=tests/lib.sh
. "${top_srcdir:?}/tests/lib.sh"
# shellcheck source=tests/containers/runtimes.sh
. "$top_srcdir/tests/containers/runtimes.sh"

limit=150000
policies='round=ceil round=floor'

if ! have_cgroups; then
	skip 'tools under a limit' 'no cgroup with a CPU limit can be made here'
	done_testing
fi
if [ "$real" -lt 2 ]; then
	skip 'tools under a limit' 'one CPU tells nothing apart'
	done_testing
fi

{
	echo 'alone -'
	for way in ENV cpuquota-exec; do
		for policy in $policies; do
			echo "$way $policy"
		done
	done
} >"$luggage/questions"

# add ROOT NAME MEANING COMMAND: the meaning of its numbers is: shown, real (all CPUs, whatever is shown) or one (with
# any policy; alone it is not asked).
add() {
	printf '%s, %s\t%s\n' "$2" "$1" "$4" >>"$luggage/programs-$1"
	printf '%s, %s\t%s\n' "$2" "$1" "$3" >>"$work/meanings"
}

# has ROOT PROGRAM
has() {
	# shellcheck disable=SC2016
	chroot "$(root_of "$1")" sh -c 'command -v "$0"' "$2" >/dev/null
}

last=$((real - 1))
find_roots bullseye trixie sid
for root in $roots; do
	add "$root" 'grep /proc/cpuinfo' shown "grep -c '^processor' /proc/cpuinfo"
	add "$root" 'grep /proc/stat' shown "grep -c '^cpu[0-9]' /proc/stat"
	add "$root" 'a shell reading /proc/stat' shown \
		"sh -c 'n=0; while read -r name _; do case \$name in cpu?*) n=\$((n + 1)) ;; esac; done </proc/stat; echo \$n'"
	add "$root" 'lscpu --parse' shown "lscpu --parse=cpu | grep -vc '^#'"
	add "$root" 'nproc --all' real 'nproc --all'
	if has "$root" node; then
		# Of more than one CPU, that which is left has not the number 0.
		add "$root" 'node on the last CPU' one "taskset -c $last node /mnt/cpus.cjs"
	fi
	if has "$root" zstd; then
		said='s/^Note: \([0-9]*\) .* core(s) detected.*/\1/p; s/^Compressing with \([0-9]*\) worker.*/\1/p'
		add "$root" 'zstd -T0' shown "zstd -T0 -vv -c /mnt/cpus.cjs 2>&1 >/dev/null | sed -n '$said'"
	fi
	if has "$root" /usr/bin/python3 && chroot "$(root_of "$root")" /usr/bin/python3 -c 'import psutil' 2>/dev/null; then
		python='/usr/bin/python3 -c "from psutil import *; print'
		add "$root" psutil shown "$python(cpu_count(), len(cpu_times(percpu=True)), len(cpu_percent(percpu=True)))\""
		# It counts the directories below /sys/devices/system/cpu, which are all there.
		add "$root" 'psutil, cores' real "$python(cpu_count(logical=False))\""
	fi
	if has "$root" htop; then
		online="\$(($real - \$(TERM=xterm htop -n 1 2>/dev/null | grep -o offline | wc -l)))"
		add "$root" htop shown "sh -c 'echo $online'"
	fi
done
# Modules with enough in them that lld makes all its threads.
make_modules() {
	mkdir "$luggage/modules"
	for module in 1 2 3 4 5 6 7 8; do
		{
			echo 'int g(int);'
			for function in $(seq 300); do
				echo "int f${module}_$function(int x)
					{ for (int i = 0; i < x; i++) { x += g(x * i + $function); if (x % 3) x ^= g(x); } return x; }"
			done
		} | clang -O1 -flto=thin -x c -c -o "$luggage/modules/$module.o" - || return
	done
	echo 'int g(int x) { return x; } int main(void) { return 0; }' |
		clang -O1 -flto=thin -x c -c -o "$luggage/modules/main.o" -
}
if ! command -v clang >/dev/null || ! command -v ld.lld >/dev/null || ! command -v strace >/dev/null; then
	skip lld 'no clang, ld.lld or strace'
elif ! make_modules 2>"$work/log"; then
	skip lld "no modules can be made for it: $(head -n 1 "$work/log")"
else
	cp "$from/programs/thinlto-jobs" "$luggage"
	add here 'lld, ThinLTO' shown "/mnt/thinlto-jobs /mnt/modules $real"
fi

ask_all "$limit"

# meant MEANING WAY POLICY: the number.
meant() {
	case $1,$2 in
	one,*) echo 1 ;;
	real,* | *,alone) echo "$real" ;;
	*)
		round=ceil
		eval "$3"
		expected_count "$limit" "$round" 1 0 "$real"
		;;
	esac
}

# all_are NUMBER/NUMBER... NUMBER: the first, with each of its numbers the second.
all_are() {
	echo "$1" | sed "s/[^/]\{1,\}/$2/g"
}

while IFS='	' read -r name meaning; do
	while read -r way policy; do
		[ "$meaning,$way" != one,alone ] || continue
		said=$(awk -F '\t' -v name="$name" -v way="$way" -v policy="$policy" \
			'$1 == name && $2 == way && $3 == policy { print $4 }' "$work"/answers-*)
		if [ "$way" = alone ]; then
			is "alone: $name" "$said" "$(all_are "${said:-nothing}" "$(meant "$meaning" alone -)")"
		else
			is "$way: $name, $policy" "$said" "$(all_are "${said:-nothing}" "$(meant "$meaning" "$way" "$policy")")"
		fi
	done <"$luggage/questions"
done <"$work/meanings"

done_testing
