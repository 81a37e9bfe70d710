# SPDX-License-Identifier: MIT
# In a machine with more CPUs than a word has bits. To be sourced behind lib.sh.
# shellcheck shell=sh
# shellcheck disable=SC2154 # of lib.sh

succeeds 'there are more than 64 CPUs' test "$real" -gt 64
for quota in 150000 3350000 6400000 6550000 max; do
	new_cgroup "$quota"
	[ "$quota" != max ] || quota=$((real * 100000))
	for round in ceil floor; do
		count=$(expected_count "$quota" "$round" 1 0 "$real")
		export CPUQUOTA="round=$round"
		about="limit of $quota, round=$round"
		is "$about: LD_PRELOAD" "$(in_cgroup "$cgroup" env LD_PRELOAD="$library" /programs/ask)" "$(repeat "$count" 5)"
		is "$about: a static program" "$(masks in_cgroup "$cgroup" "$wrapper" /programs/ask-static)" "$(repeat "$count" 3)"
		is "$about: the same CPUs" "$(in_cgroup "$cgroup" env LD_PRELOAD="$library" /programs/ask ids)" \
			"$(in_cgroup "$cgroup" "$wrapper" /programs/ask-static ids)"
		for go in $gos; do
			is "$about: ${go##*/}" \
				"$(in_cgroup "$cgroup" "$wrapper" -s runtime_quota=hide "$go/static" 2>&1)" "$count $count"
		done
		unset CPUQUOTA
	done
done

# A cpuset across the end of the first word, and of nothing but the second.
new_cgroup 300000
for cpus in 62-65 64-66 "63,$((real - 1))"; do
	echo "$cpus" >"$cgroup/cpuset.cpus"
	given=$(in_cgroup "$cgroup" /programs/ask ids)
	count=$(expected_count 300000 ceil 1 0 "$(echo "$given" | wc -l)")
	by_preload=$(in_cgroup "$cgroup" env LD_PRELOAD="$library" /programs/ask ids)
	is "cpuset of $cpus: LD_PRELOAD" "$(in_cgroup "$cgroup" env LD_PRELOAD="$library" /programs/ask)" \
		"$(repeat "$count" 5)"
	is "cpuset of $cpus: the trap shows the same CPUs" \
		"$(in_cgroup "$cgroup" "$wrapper" /programs/ask-static ids)" "$by_preload"
	is "cpuset of $cpus: no others" \
		"$( (echo "$given"; echo "$by_preload") | sort -n | uniq -u | wc -l)" "$(($(echo "$given" | wc -l) - count))"
done
