#!/bin/sh
# SPDX-License-Identifier: MIT
# What changes while a program runs is seen by it: its limit, its cgroup, its cpuset. Needs root, and of Debian:
# python3.

# shellcheck disable=SC2317 # functions that are called by a name in a variable
# shellcheck source=tests/lib.sh
. "${top_srcdir:?}/tests/lib.sh"

python=/usr/bin/python3 # not a wrapper script of that name
real=$(getconf _NPROCESSORS_ONLN)

if ! have_cgroups; then
	skip 'changes while a program runs' 'no cgroup with a CPU limit can be made here'
	done_testing
fi
if [ "$real" -lt 2 ]; then
	skip 'changes while a program runs' 'one CPU tells nothing apart'
	done_testing
fi
if [ ! -x "$python" ]; then
	skip 'changes while a program runs' "no $python"
	done_testing
fi

# The built-in policy, whatever is installed on this machine.
CPUQUOTA_POLICY=$work/empty.conf
export CPUQUOTA_POLICY
: >"$CPUQUOTA_POLICY"

# start COMMAND...: a program that answers on descriptor 4 for each line on 3.
start() {
	mkfifo "$work/questions" "$work/answers"
	"$@" "$python" "$top_srcdir/tests/system/programs/follow.py" <"$work/questions" >"$work/answers" 2>&1 &
	exec 3>"$work/questions" 4<"$work/answers"
	rm "$work/questions" "$work/answers"
}

patience=2000 # milliseconds
# shellcheck source=tests/system/follow.sh
. "$top_srcdir/tests/system/follow.sh"

# ask: puts the answer into $count and $cpus, and the process id into $program.
ask() {
	(echo >&3) # a subshell, for the SIGPIPE if the program has died
	read -r count cpus program <&4
}

# has_cpus DESCRIPTION COUNT: CPU count and mask agree.
has_cpus() {
	ask
	is "$1" "$count $(echo "$cpus" | tr , '\n' | wc -l)" "$2 $2"
}

through_preload() { in_cgroup "$cgroup" env LD_PRELOAD="$library" "$@"; }
through_exec() { in_cgroup "$cgroup" "$wrapper" "$@"; }

# The tightest limit on the way up holds, wherever it is. (v1 refuses one that is above a parent's, v2 takes it.)
new_cgroup max
outer=$cgroup
new_cgroup max "$outer"
middle=$cgroup
new_cgroup max "$middle"
inner=$cgroup
for limits in '100000 max max' 'max 100000 max' 'max max 100000' '150000 100000 max' '150000 max 100000' \
	'100000 150000 max'; do
	for directory in "$inner" "$middle" "$outer"; do
		set_limit "$directory" max
	done
	# shellcheck disable=SC2086 # three words
	set -- $limits
	if [ "$cpu_version" = 1 ] && [ "$2" != max ] && [ "$1" != max ] && [ "$2" -gt "$1" ]; then
		continue
	fi
	set_limit "$outer" "$1"
	set_limit "$middle" "$2"
	set_limit "$inner" "$3"
	cgroup=$inner
	for way in through_preload through_exec; do
		is "${way#through_}: a tighter parent wins, of $limits" \
			"$($way "$python" -c 'import os; print(os.cpu_count())' 2>&1)" 1
	done
done
for directory in "$inner" "$middle" "$outer"; do
	set_limit "$directory" max
done

new_cgroup 100000
narrow=$cgroup
for way in through_preload through_exec; do
	set_limit "$inner" 150000
	cgroup=$inner
	start $way
	has_cpus "${way#through_}: two CPUs at first" 2
	set_limit "$inner" 50000
	follows "${way#through_}: a lowered limit" 1
	set_limit "$inner" 200000
	follows "${way#through_}: a raised limit" 2
	set_limit "$inner" max
	set_limit "$outer" 90000
	follows "${way#through_}: a lowered limit of a parent's parent" 1
	set_limit "$outer" max
	follows "${way#through_}: no limit any more" "$real"
	echo "$program" >"$narrow/cgroup.procs"
	follows "${way#through_}: moved to a cgroup with a limit" 1
	has_cpus "${way#through_}: the mask with it" 1
	echo "$program" >"$inner/cgroup.procs"
	follows "${way#through_}: moved back" "$real"
	stop
done

# What refresh=0 is for: the first answer holds.
set_limit "$inner" 150000
cgroup=$inner
start through_exec env CPUQUOTA=refresh=0
has_cpus 'refresh=0: two CPUs at first' 2
set_limit "$inner" 50000
sleep 2.5
has_cpus 'refresh=0: still two' 2
stop
set_limit "$inner" max

# A cpuset of one's own, in whatever hierarchy has that controller. It is busy for a moment after its last process.
cpuset=
new_cpuset() {
	if [ -f /sys/fs/cgroup/cpuset/cpuset.cpus ]; then
		cpuset=/sys/fs/cgroup/cpuset/cpuset-test-$$
		mkdir "$cpuset" || return
		cat "${cpuset%/*}/cpuset.mems" >"$cpuset/cpuset.mems"
	elif grep -qw cpuset /sys/fs/cgroup/cgroup.controllers 2>/dev/null; then
		cpuset=/sys/fs/cgroup/cpuset-test-$$
		echo +cpuset >"${cpuset%/*}/cgroup.subtree_control"
		mkdir "$cpuset" || return
	else
		return 1
	fi
	cgroups_made="$cpuset $cgroups_made"
}

within_cpuset() { in_cgroup "$cpuset" env LD_PRELOAD="$library" "$@"; }

within_both() {
	# shellcheck disable=SC2016
	in_cgroup "$inner" sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$cpuset" env LD_PRELOAD="$library" "$@"
}

# The first two CPUs that there are.
online=$(taskset -cp $$ | sed 's/.*: //' | tr , '\n' | awk -F- '{ for (i = $1; i <= $NF; i++) print i }')
one=$(echo "$online" | sed -n 1p)
two=$(echo "$online" | sed -n 2p)

if new_cpuset; then
	for given in "$one,$two" "$one" "$two"; do
		echo "$given" >"$cpuset/cpuset.cpus"
		start within_cpuset
		has_cpus "cpuset $given: at first" "$(echo "$given" | tr , '\n' | wc -l)"
		echo "$one" >"$cpuset/cpuset.cpus"
		follows "cpuset $given, made $one" 1 "$one"
		echo "$two" >"$cpuset/cpuset.cpus"
		follows "cpuset $given, made $two" 1 "$two"
		echo "$one,$two" >"$cpuset/cpuset.cpus"
		follows "cpuset $given, made $one,$two" 2 "$one,$two"
		stop
	done

	# One that was pinned by its user stays so, whatever its cpuset gets.
	start within_cpuset taskset -c "$two"
	has_cpus 'cpuset and taskset: one CPU at first' 1
	sleep 1.2
	follows 'cpuset and taskset: it stays pinned' 1 "$two"
	echo "$one" >"$cpuset/cpuset.cpus"
	follows 'cpuset and taskset: its CPU is taken away' 1 "$one"
	echo "$one,$two" >"$cpuset/cpuset.cpus"
	follows 'cpuset and taskset: its CPU is back' 1 "$two"
	stop

	# Both at once: the limit shows one of the CPUs that the cpuset has now.
	# (Not where a process cannot be in both, as they are of one hierarchy.)
	if [ "${cpuset%/*}" != "$cpu_hierarchy" ]; then
		set_limit "$inner" 100000
		start within_both
		has_cpus 'cpuset and limit: one CPU' 1
		echo "$two" >"$cpuset/cpuset.cpus"
		follows 'cpuset and limit: the one that the cpuset has' 1 "$two"
		echo "$one" >"$cpuset/cpuset.cpus"
		follows 'cpuset and limit: the other' 1 "$one"
		stop
		set_limit "$inner" max
	fi
else
	skip 'a changed cpuset is followed' 'no cpuset can be made here'
fi

done_testing
