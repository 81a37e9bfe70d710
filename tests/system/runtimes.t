#!/bin/sh
# SPDX-License-Identifier: MIT
# Every runtime sees the policy's number of CPUs: under real limits, with LD_PRELOAD alone and through cpuquota-exec,
# for every rule. Needs root, and of Debian: g++ libc6-dev libgomp1 libjemalloc2 musl-tools nginx-light nodejs
# default-jdk-headless python3 ruby xz-utils. What is not there is skipped.

# shellcheck disable=SC2317 # functions that are called by a name put together
# shellcheck source=tests/lib.sh
. "${top_srcdir:?}/tests/lib.sh"

programs=$top_srcdir/tests/system/programs
python=/usr/bin/python3 # not a wrapper script of that name
real=$(getconf _NPROCESSORS_ONLN)

# On two CPUs, half a CPU tells whether the result is at least 1, 1.25 nearest from ceil, and 1.5 floor from both.
limits='50000 100000 125000 150000'
policies='round=ceil round=floor round=nearest min=2 max=1'

if ! have_cgroups; then
	skip 'runtimes under a limit' 'no cgroup with a CPU limit can be made here'
	done_testing
fi
if [ "$real" -lt 2 ]; then
	skip 'runtimes under a limit' 'one CPU tells nothing apart'
	done_testing
fi

# The built-in policy, whatever is installed on this machine.
CPUQUOTA_POLICY=$work/empty.conf
export CPUQUOTA_POLICY
: >"$CPUQUOTA_POLICY"

# launch COMMAND...: in $cgroup, by way of $way, with the policy $policy; another library of $first is preloaded too.
first=
launch() {
	case $way in
	alone) in_cgroup "$cgroup" env ${first:+LD_PRELOAD="$first"} "$@" ;;
	ENV) in_cgroup "$cgroup" env LD_PRELOAD="${first:+$first:}$library" CPUQUOTA="$policy" "$@" ;;
	cpuquota-exec) in_cgroup "$cgroup" env ${first:+LD_PRELOAD="$first"} "$wrapper" --set "$policy" -- "$@" ;;
	esac
}

# agreed: the one number that a program gives several times, else all that it says.
agreed() {
	awk '{ for (i = 1; i <= NF; i++) { all = all (i > 1 ? "/" : "") $i; if ($i != $1 || NR > 1) differ = 1 } }
		END { print differ ? all : $1 }'
}

# One function for each program: has_NAME if it can run here, else $why says what is missing; ask_NAME prints its
# number.

need() {
	for command; do
		why="no $command"
		command -v "$command" >/dev/null || return 1
	done
}

# build COMMAND...: makes one of the small programs.
build() {
	why="cannot be built: $1"
	need "$1" && "$@" >"$work/build.log" 2>&1
}

has_nproc() { need nproc; }
ask_nproc() { launch nproc; }

has_getconf() { need getconf; }
ask_getconf() { launch getconf _NPROCESSORS_ONLN; }

has_python() { need "$python"; }
ask_python() { launch "$python" -c 'import os; print(os.cpu_count(), len(os.sched_getaffinity(0)))' 2>&1 | agreed; }

has_node() { need node && why='no os.availableParallelism' && node -e 'os.availableParallelism()' 2>/dev/null; }
ask_node() { launch node -p 'os.availableParallelism()'; }

has_ruby() { need ruby; }
ask_ruby() { launch ruby --disable-gems -r etc -e 'puts Etc.nprocessors'; }

has_java() { need java && build javac -d "$work" "$programs/Processors.java"; }
# What does not matter here, and starts faster.
java() { launch java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto "$@" -cp "$work" Processors; }
ask_java() { java -XX:+UseContainerSupport; }

has_java_without_containers() { has_java; }
ask_java_without_containers() { java -XX:-UseContainerSupport; }

has_libgomp() { build "${CC:-cc}" -fopenmp -o "$work/openmp" "$programs/openmp.c"; }
ask_libgomp() { launch "$work/openmp" 2>&1 | agreed; }

has_libstdcxx() { build "${CXX:-c++}" -std=c++11 -o "$work/hardware_concurrency" "$programs/hardware_concurrency.cc"; }
ask_libstdcxx() { launch "$work/hardware_concurrency"; }

has_musl() { build musl-gcc -o "$work/cpus-musl" "$programs/cpus.c"; }
ask_musl() { launch "$work/cpus-musl" 2>&1 | agreed; }

# What it says it will use; that it does is looked at below.
has_xz() { need xz; }
ask_xz() { launch xz -T0 -0 -vv -c </dev/null 2>&1 >/dev/null | sed -n 's/.*Using up to \([0-9]*\) threads.*/\1/p'; }

# jemalloc asks while malloc starts. It makes four arenas for a CPU, but one if there is only one CPU.
jemalloc=
for file in /usr/lib/*/libjemalloc.so.2; do
	[ ! -r "$file" ] || jemalloc=$file
done
has_jemalloc() { why='no libjemalloc.so.2' && [ "$jemalloc" ]; }
ask_jemalloc() {
	first=$jemalloc
	MALLOC_CONF=stats_print:true launch "$(command -v true)" 2>&1 |
		awk '/opt\.narenas:/ { print $2 == 1 ? 1 : $2 / 4 }'
	first=
}

# Its workers are counted when the master, which starts all before it looks for signals, has answered one.
has_nginx() {
	need nginx || return
	mkdir "$work/nginx" || return
	cat >"$work/nginx/nginx.conf" <<-EOF
		worker_processes auto;
		daemon off;
		pid $work/nginx/pid;
		error_log $work/nginx/log notice;
		events { worker_connections 8; }
	EOF
}
ask_nginx() {
	rm -f "$work/nginx/pid" "$work/nginx/log"
	launch nginx -p "$work/nginx" -c "$work/nginx/nginx.conf" 2>&1 &
	if wait_for test -s "$work/nginx/pid"; then
		master=$(cat "$work/nginx/pid")
		kill -USR1 "$master"
		wait_for grep -qs 'reopening logs' "$work/nginx/log"
		echo $(($(wc -l <"$cgroup/cgroup.procs") - 1))
		kill -QUIT "$master"
	fi
	wait
}

# wait_for COMMAND...: until it succeeds, but not for ever.
wait_for() {
	for _ in $(seq 500); do
		if "$@"; then
			return
		fi
		sleep 0.02
	done
	return 1
}

# smaller NUMBER NUMBER; what is no number stays, to be seen.
smaller() {
	if [ "$2" -lt "$1" ] 2>/dev/null; then
		echo "$2"
	else
		echo "$1"
	fi
}

# expected QUOTA: what the policy makes of it.
expected() {
	round=ceil min=1 max=0
	eval "$policy"
	expected_count "$1" "$round" "$min" "$max" "$real"
}

# answers PROGRAM: under each limit.
answers() {
	for limit in $limits; do
		set_limit "$cgroup" "$limit"
		"ask_$1" 2>&1
	done | paste -sd ' '
}

new_cgroup max

# Without the library: programs that do not read the cgroup see the machine, whatever the limit is. The others by now do
# so by rules of their own, which hold as well: they show the smaller number.
own_answers() {
	way=alone own=$(answers "$1")
	case $1 in
	java)
		policy=round=ceil
		is 'alone: java by its own rule' "$own" \
			"$(for limit in $limits; do expected "$limit"; done | paste -sd ' ')"
		;;
	node | nproc)
		matches "alone: $1" "$own" '[1-9]*'
		;;
	*)
		is "alone: $1 sees the machine" "$own" "$(for limit in $limits; do echo "$real"; done | paste -sd ' ')"
		;;
	esac
}

check_program() {
	own_answers "$1"
	for way in ENV cpuquota-exec; do
		for policy in $policies; do
			# shellcheck disable=SC2086 # numbers
			set -- "$1" $own
			wanted=$(for limit in $limits; do
				smaller "$(expected "$limit")" "$2"
				shift
			done | paste -sd ' ')
			is "$way: $1, $policy" "$(answers "$1")" "$wanted"
		done
	done
}

for program in nproc getconf python node java java_without_containers ruby libgomp libstdcxx nginx xz jemalloc musl; do
	if "has_$program"; then
		check_program "$program"
	else
		skip "$program" "$why"
	fi
done

# What a JVM says of the machine's load comes from /proc/stat, a CPU of its cpuset at a time.
if has_java && build javac -nowarn -d "$work" "$programs/CpuLoad.java"; then
	set_limit "$cgroup" 50000
	for way in alone ENV cpuquota-exec; do
		for policy in runtime_quota=keep runtime_quota=hide; do
			is "$way: the JVM knows the load, $policy" "$(launch java -cp "$work" CpuLoad 2>&1)" known
		done
	done
else
	skip 'the load that a JVM finds' "$why"
fi

# xz as it works: with more blocks to compress than there are CPUs, while its input stays open, it has all its threads.
xz_threads() {
	mkfifo "$work/fifo"
	launch xz -T0 -3 --block-size=1MiB -c <"$work/fifo" >"$work/compressed" &
	exec 3>"$work/fifo"
	# When this is written all has been taken but for what fits into a pipe, which is less than a block.
	head -c $(((real + 2) << 20)) /dev/urandom >&3
	threads=$(wc -l <"$cgroup/$thread_list")
	exec 3>&-
	wait
	rm "$work/fifo"
	# The first thread compresses nothing unless it is alone.
	echo $((threads > 1 ? threads - 1 : 1))
}

thread_list=tasks
if [ "$cpu_version" = 2 ]; then
	thread_list=cgroup.threads
fi
if has_xz; then
	set_limit "$cgroup" 150000
	way=alone
	is 'alone: xz has a thread for each CPU' "$(xz_threads)" "$real"
	for way in ENV cpuquota-exec; do
		for policy in round=ceil round=floor; do
			is "$way: threads of xz, $policy" "$(xz_threads)" "$(expected 150000)"
		done
	done
else
	skip 'threads of xz' "$why"
fi

done_testing
