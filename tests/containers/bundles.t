#!/bin/sh
# SPDX-License-Identifier: MIT
# Containers by runc alone, with and without what is needed to see the limit in them: a cgroup namespace, the cgroup
# mount. Needs root, and of Debian: runc python3 debootstrap (for get-root).

# shellcheck disable=SC2317 # functions that are called by a name in an argument
# shellcheck source=tests/lib.sh
. "${top_srcdir:?}/tests/lib.sh"
# shellcheck source=tests/containers/lib.sh
. "$top_srcdir/tests/containers/lib.sh"

our_runc() { runc --root "$work/runc" "$@"; }

clean_up_containers() {
	if [ -d "$work/runc" ]; then
		our_runc list --quiet | while read -r container; do
			our_runc delete --force "$container"
		done
	fi
	remove_container_cgroups
	clean_up
}
trap clean_up_containers EXIT

if [ "$(id -u)" -ne 0 ] || ! command -v runc >/dev/null || [ ! -x /usr/bin/python3 ]; then
	skip 'containers by runc' 'needs root, runc and python3'
	done_testing
fi
if ! have_cgroups; then
	skip 'containers by runc' 'no cgroup with a CPU limit can be made here'
	done_testing
fi

mkdir "$work/bundle"
if ! copy_root bullseye "$work/bundle/rootfs"; then
	skip 'containers by runc' 'no root file system'
	done_testing
fi
cp "$library" "$work/bundle/rootfs/usr/lib/libcpuquota.so"
cp "$wrapper" "$work/bundle/rootfs/usr/bin/cpuquota-exec"
(cd "$work/bundle" && our_runc spec)
mv "$work/bundle/config.json" "$work/spec.json"

# run WAY CGROUPS USER QUOTA COMMAND...: see edit-spec.py.
run() {
	/usr/bin/python3 "$top_srcdir/tests/containers/edit-spec.py" "/$container_parent/bundle" "$@" \
		<"$work/spec.json" >"$work/bundle/config.json"
	our_runc run --bundle "$work/bundle" "$container_parent" 2>&1 </dev/null
}

policies='round=ceil round=floor round=nearest min=2 max=1'
# shellcheck disable=SC2086 # policies
check_cgroups() {
	is "$1, $2: as uid 1000, without rights" "$(run "$1" "$2" 1000 100000 sh -c "$ask_rights")" "$no_rights"
	for quota in 50000 100000 125000 150000; do
		if [ "$2" = unseen ]; then
			wanted=$(expected_counts max $policies)
		else
			wanted=$(expected_counts "$quota" $policies)
		fi
		for user in 0 1000; do
			is "$1, $2: uid $user, limit of $quota" \
				"$(run "$1" "$2" "$user" "$quota" sh -c "$ask_counts" sh $policies)" "$wanted"
		done
	done
	is "$1, $2: no limit" \
		"$(run "$1" "$2" 0 -1 sh -c "$ask_counts" sh $policies)" "$(expected_counts max $policies)"
}

# The three are what they are called.
own_path='sed -n "s/^[0-9]*:\(cpu\|cpu,cpuacct\|cpuacct,cpu\|\)://p" /proc/self/cgroup | head -n 1'
mounts='grep -c " - cgroup2* " /proc/self/mountinfo'
is 'a cgroup namespace: the path is /' "$(run alone namespace 0 100000 sh -c "$own_path")" /
is 'no cgroup namespace: the whole path' "$(run alone host 0 100000 sh -c "$own_path")" "/$container_parent/bundle"
is 'no cgroup mount' "$(run alone unseen 0 100000 sh -c "$mounts")" 0
is 'without the library the machine is seen' "$(run alone host 0 100000 getconf _NPROCESSORS_ONLN)" "$real"

for way in ENV cpuquota-exec; do
	for cgroups in namespace host unseen; do
		check_cgroups "$way" "$cgroups"
	done
done

# A container's files are carried out of it, and give the same number here.
# capture CGROUPS USER QUOTA: into the directory captured
# shellcheck disable=SC2016
capture() {
	rm -rf "$work/captured"
	mkdir "$work/captured"
	run alone "$1" "$2" "$3" sh -c 'cpuquota-exec --capture /dev/shm/captured >/dev/null && tar -C /dev/shm/captured -cf - .' |
		tar -C "$work/captured" -xf -
}
for cgroups in namespace host unseen; do
	for quota in 50000 150000; do
		capture "$cgroups" 1000 "$quota"
		if [ "$cgroups" = unseen ]; then
			quota=max
		fi
		wanted=$(for policy in $policies; do
			expected_counts "$quota" "$policy" | cut -d ' ' -f 2
		done | paste -sd ' ')
		is "captured, $cgroups, limit of $quota" "$(for policy in $policies; do
			"$wrapper" --set "$policy" --count --sysroot "$work/captured"
		done | paste -sd ' ')" "$wanted"
	done
	is "captured, $cgroups: the host name is not in it" "$(grep -rlw "$(run alone "$cgroups" 0 -1 hostname)" "$work/captured")" ''
	matches "explained, $cgroups" "$(run alone "$cgroups" 1000 100000 \
		env CPUQUOTA_LIBRARY=/usr/lib/libcpuquota.so cpuquota-exec --explain sh)" \
		'CPUs*Program: sh*ENV LD_PRELOAD * yes*'
done

done_testing
