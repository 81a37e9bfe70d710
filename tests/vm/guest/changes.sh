# SPDX-License-Identifier: MIT
# In a machine with many CPUs and cgroups of version 2: what changes while a program runs. To be sourced behind lib.sh.
# shellcheck shell=sh
# shellcheck disable=SC2154 # of lib.sh

# What sysconf says is checked of the program that asks libc.
check_changes() {
	about=$1 sysconf=$2
	new_cgroup 150000
	first=$cgroup
	new_cgroup 700000
	second=$cgroup
	start_following in_cgroup "$first" env "$3" "$4" "$5"
	comes_to "$about: a limit of 1.5" "$sysconf 2 *"
	set_limit "$first" 400000
	comes_to "$about: raised to 4" "$(echo "$sysconf" | tr 2 4) 4 *"
	set_limit "$first" 50000
	comes_to "$about: lowered to 0.5" "$(echo "$sysconf" | tr 2 1) 1 *"
	set_limit "$first" max
	echo 4-6 >"$first/cpuset.cpus"
	comes_to "$about: a cpuset of 4-6" "$(echo "$sysconf" | tr 2 3) 3 4,5,6"
	echo 4-11 >"$first/cpuset.cpus"
	comes_to "$about: widened to 4-11" "$(echo "$sysconf" | tr 2 8) 8 4,5,6,7,8,9,10,11"
	set_limit "$first" 240000
	comes_to "$about: with a limit of 2.4" "$(echo "$sysconf" | tr 2 3) 3 *"
	is "$about: only CPUs of the cpuset" "$(echo "${answer##* }" | tr , '\n' | sort -n | awk '
		$1 < 4 || $1 > 11 { print $1 }')" ''
	while read -r process; do
		echo "$process" >"$second/cgroup.procs"
	done <"$first/cgroup.procs"
	comes_to "$about: moved to another cgroup, of 7" "$(echo "$sysconf" | tr 2 7) 7 *"
	stop_following
}
check_changes 'preloaded' 2 LD_PRELOAD="$library" env /programs/follow
check_changes 'trapped' '*' CPUQUOTA= "$wrapper" /programs/follow-static

for go in $gos; do
	case $(cat "$go/version") in
	1.1? | 1.2[0-4]) continue ;;
	esac
	new_cgroup 150000
	start_following in_cgroup "$cgroup" "$wrapper" "$go/static" follow
	comes_to "${go##*/}: a limit of 1.5" '2 2'
	set_limit "$cgroup" 600000
	comes_to "${go##*/}: raised to 6" '* 6'
	set_limit "$cgroup" 300000
	comes_to "${go##*/}: lowered to 3" '* 3'
	stop_following
done
