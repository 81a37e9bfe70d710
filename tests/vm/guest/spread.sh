# SPDX-License-Identifier: MIT
# In a machine with many CPUs and cgroups of version 2: which CPUs are shown. To be sourced behind lib.sh.
# shellcheck shell=sh
# shellcheck disable=SC2154 # of lib.sh

# Real ones, the same by all channels, and not those of every other container.
new_cgroup 150000
# in_container HOST COMMAND...: with the cgroups of its own namespace at /sys/fs/cgroup, as engines do it.
in_container() {
	# shellcheck disable=SC2016
	in_cgroup "$cgroup" /usr/bin/unshare --uts --cgroup --mount sh -c '
		hostname "$0"
		umount /sys/fs/cgroup
		mount -t cgroup2 cgroup2 /sys/fs/cgroup
		exec "$@"' "$@" 2>&1
}
all=
for host in one two three four five six; do
	by_preload=$(in_container "$host" env LD_PRELOAD="$library" /programs/ask ids | paste -sd ' ' -)
	by_trap=$(in_container "$host" "$wrapper" /programs/ask-static ids | paste -sd ' ' -)
	is "host $host: the same CPUs by preload and trap" "$by_trap" "$by_preload"
	is "host $host: two, and real ones" "$(for cpu in $by_preload; do
		[ -d "/sys/devices/system/cpu/cpu$cpu" ] && echo real
	done | paste -sd ' ' -)" 'real real'
	all="$all$by_preload
"
done
matches "the hosts' CPUs differ" "$(printf '%s' "$all" | sort -u | wc -l)" '[2-6]'
is "mask=first: the lowest" \
	"$(in_container one env CPUQUOTA=mask=first "$wrapper" /programs/ask-static ids | paste -sd ' ' -)" '0 1'
