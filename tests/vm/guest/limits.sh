# SPDX-License-Identifier: MIT
# In a machine with many CPUs and cgroups of version 2: limits, and programs that ask libc or the kernel. To be
# sourced behind lib.sh.
# shellcheck shell=sh
# shellcheck disable=SC2154 # of lib.sh

is 'the machine has the CPUs that it was to have' "$real" "$(nproc)"
is 'alone, programs see them all' "$(/programs/ask)" "$(repeat "$real" 5)"

for quota in 50000 150000 240000 250000 260000; do
	new_cgroup "$quota"
	for round in ceil floor nearest; do
		export CPUQUOTA="round=$round"
		count=$(expected_count "$quota" "$round" 1 0 "$real")
		about="limit of $quota, round=$round"
		is "$about: LD_PRELOAD" "$(in_cgroup "$cgroup" env LD_PRELOAD="$library" /programs/ask)" "$(repeat "$count" 5)"
		is "$about: cpuquota-exec" "$(in_cgroup "$cgroup" "$wrapper" /programs/ask)" "$(repeat "$count" 5)"
		is "$about: a static program" "$(masks in_cgroup "$cgroup" "$wrapper" /programs/ask-static)" "$(repeat "$count" 3)"
		for go in $gos; do
			is "$about: ${go##*/}" \
				"$(in_cgroup "$cgroup" "$wrapper" -s runtime_quota=hide "$go/static" 2>&1)" "$count $count"
		done
		unset CPUQUOTA
	done
done

# What Go 1.25 and later find out for themselves, up and at least 2, stands beside the policy: the smaller one holds.
for go in $gos; do
	case $(cat "$go/version") in
	1.1? | 1.2[0-4]) continue ;;
	esac
	new_cgroup 50000
	is "${go##*/} with a limit of its own: min=4" \
		"$(in_cgroup "$cgroup" "$wrapper" -s min=4 "$go/static")" '4 2'
	is "${go##*/} without one: min=4" \
		"$(in_cgroup "$cgroup" "$wrapper" -s min=4,runtime_quota=hide "$go/static" 2>&1)" '4 4'
done

# Levels.
new_cgroup 150000
parent=$cgroup
new_cgroup 400000 "$parent"
is 'a tighter parent: LD_PRELOAD' "$(in_cgroup "$cgroup" env LD_PRELOAD="$library" /programs/ask)" "$(repeat 2 5)"
is 'a tighter parent: the trap' "$(masks in_cgroup "$cgroup" "$wrapper" /programs/ask-static)" "$(repeat 2 3)"
set_limit "$cgroup" max
is 'a parent with a limit, none below: LD_PRELOAD' \
	"$(in_cgroup "$cgroup" env LD_PRELOAD="$library" /programs/ask)" "$(repeat 2 5)"
is 'a parent with a limit, none below: the trap' \
	"$(masks in_cgroup "$cgroup" "$wrapper" /programs/ask-static)" "$(repeat 2 3)"
set_limit "$parent" max
set_limit "$cgroup" 500000
is 'a limit below a parent without one: LD_PRELOAD' \
	"$(in_cgroup "$cgroup" env LD_PRELOAD="$library" /programs/ask)" "$(repeat 5 5)"
is 'a limit below a parent without one: the trap' \
	"$(masks in_cgroup "$cgroup" "$wrapper" /programs/ask-static)" "$(repeat 5 3)"
set_limit "$cgroup" max
is 'no limit at all: LD_PRELOAD' "$(in_cgroup "$cgroup" env LD_PRELOAD="$library" /programs/ask)" "$(repeat "$real" 5)"
is 'no limit at all: the trap' "$(masks in_cgroup "$cgroup" "$wrapper" /programs/ask-static)" "$(repeat "$real" 3)"
