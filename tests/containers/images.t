#!/bin/sh
# SPDX-License-Identifier: MIT
# Containers by podman, from images that are built FROM scratch: with LD_PRELOAD in the image's environment, and with
# cpuquota-exec as its entrypoint. Needs root, and of Debian: podman runc conmon musl-tools debootstrap (for get-root).

# shellcheck disable=SC2317 # functions that are called by a name in an argument
# shellcheck source=tests/lib.sh
. "${top_srcdir:?}/tests/lib.sh"
# shellcheck source=tests/containers/lib.sh
. "$top_srcdir/tests/containers/lib.sh"

suites=${CPUQUOTA_TEST_SUITES-trixie sid} # of which to run a root, besides the bullseye of the images

# podman with a storage and settings of its own, so that the machine's are left alone.
use_private_podman "$work/podman"

clean_up_containers() {
	if command -v podman >/dev/null; then
		our_podman rm --all --force --time 0 >/dev/null 2>&1
		our_podman rmi --all --force >/dev/null 2>&1
	fi
	remove_container_cgroups
	# What podman has mounted there, should it have failed.
	unmount_below "$podman_directory"
	clean_up
}
trap clean_up_containers EXIT

if [ "$(id -u)" -ne 0 ] || ! command -v podman >/dev/null || ! command -v runc >/dev/null; then
	skip 'containers by podman' 'needs root, podman and runc'
	done_testing
fi
if ! said=$(our_podman info 2>&1); then
	skip 'containers by podman' "$said"
	done_testing
fi

# build NAME [LINE]...: an image, from what is in $work/context.
build() {
	name=$1
	shift
	printf '%s\n' "$@" >"$work/context/Containerfile"
	our_podman build --quiet --layers=false --pull=never --tag "$name" "$work/context" 2>&1
}

# run CPUS ARGUMENT...
run() {
	cpus=$1
	shift
	our_podman run --rm --cgroup-parent "$container_parent" --cpus "$cpus" "$@" 2>&1
}

unprivileged='--user 1000 --cap-drop=ALL --security-opt no-new-privileges --read-only'

mkdir "$work/context"
cp "$library" "$work/context/libcpuquota.so"
cp "$wrapper" "$work/context/cpuquota-exec"
printf 'max = 1\n' >"$work/context/one.conf"

# As an image of Debian would be made: one of glibc 2.31.
if ! copy_root bullseye "$work/context/root"; then
	skip 'images of Debian' 'no root file system'
	done_testing
fi
succeeds 'an image is built from scratch' \
	build plain 'FROM scratch' 'ADD root /' 'COPY libcpuquota.so /usr/lib/' \
	'COPY cpuquota-exec /usr/bin/' 'COPY one.conf /etc/'
succeeds 'an image with LD_PRELOAD' build preload 'FROM plain' 'ENV LD_PRELOAD=/usr/lib/libcpuquota.so'
succeeds 'an image with an entrypoint' build entrypoint 'FROM plain' \
	'ENV CPUQUOTA_LIBRARY=/usr/lib/libcpuquota.so' 'ENTRYPOINT ["/usr/bin/cpuquota-exec"]'

policies='round=ceil round=floor round=nearest min=2 max=1'
# shellcheck disable=SC2086 # options and policies
check_image() {
	is "$1, $2: as uid 1000, all capabilities dropped, read-only" \
		"$(run 1 $unprivileged --cgroupns "$2" "$1" sh -c "$ask_rights")" "$no_rights"
	for limit in 0.5=50000 1=100000 1.25=125000 1.5=150000; do
		wanted=$(expected_counts "${limit#*=}" $policies)
		cpus=${limit%=*}
		is "$1, cgroupns $2: --cpus $cpus as root" \
			"$(run "$cpus" --cgroupns "$2" "$1" sh -c "$ask_counts" sh $policies)" "$wanted"
		is "$1, cgroupns $2: --cpus $cpus without rights" \
			"$(run "$cpus" $unprivileged --cgroupns "$2" "$1" sh -c "$ask_counts" sh $policies)" "$wanted"
	done
	is "$1, cgroupns $2: no limit" "$(run 0 --cgroupns "$2" "$1" sh -c "$ask_counts" sh $policies)" \
		"$(expected_counts max $policies)"
}

for image in preload entrypoint; do
	for namespace in private host; do
		check_image "$image" "$namespace"
	done
	# shellcheck disable=SC2086
	is "$image: a policy file of the image" \
		"$(run 1.5 $unprivileged -e CPUQUOTA_POLICY=/etc/one.conf "$image" getconf _NPROCESSORS_ONLN)" 1
	is "$image: turned off" "$(run 1 -e CPUQUOTA=off "$image" getconf _NPROCESSORS_ONLN)" "$real"
done

# The library is the image's only: without it the machine is seen. Else all of the above would say nothing.
is 'an image without the library sees the machine' "$(run 1 plain getconf _NPROCESSORS_ONLN)" "$real"

# A cpuset beside the limit: its CPU, whatever its number is.
last=$(taskset -cp $$ | sed 's/.*[ ,-]//')
is 'preload: --cpuset-cpus below --cpus' \
	"$(run 1.5 --cpuset-cpus "$last" preload sh -c "$ask_counts; taskset -c $last nproc" sh round=ceil)" \
	"$(printf 'round=ceil: 1 1\n1')"

# A limit changed from outside while one program runs on in the container, as Kubernetes does it.
if [ "$cpu_version" ]; then
	mkfifo "$work/questions" "$work/answers"
	# 84 is _SC_NPROCESSORS_ONLN in glibc.
	# shellcheck disable=SC2016
	run 0.5 --interactive preload \
		perl -M-warnings -MPOSIX -e '$| = 1; print POSIX::sysconf(84), "\n" while <STDIN>' \
		<"$work/questions" >"$work/answers" &
	exec 3>"$work/questions" 4<"$work/answers"
	(echo >&3)
	read -r before <&4
	directory=$(find "$cpu_hierarchy/$container_parent" -type d -name 'libpod-*' | head -n 1)
	set_limit "$directory" 150000
	sleep 2
	(echo >&3)
	read -r after <&4
	exec 3>&- 4<&-
	wait
	is 'a running container whose limit is raised' "$before, $after" "1, $(expected_count 150000 ceil 1 0 "$real")"
fi

# Nothing but a program for musl and its loader: no glibc, no shell.
loader=/lib/ld-musl-$(uname -m).so.1
if command -v musl-gcc >/dev/null && [ -e "$loader" ]; then
	rm -rf "$work/context/root"
	mkdir -p "$work/context/root/lib"
	cp -L "$loader" "$work/context/root/lib/"
	musl-gcc -o "$work/context/root/cpus" "$top_srcdir/tests/system/programs/cpus.c"
	succeeds 'an image for musl is built' build musl 'FROM scratch' 'ADD root /' \
		'COPY libcpuquota.so /usr/lib/' 'COPY cpuquota-exec /' 'CMD ["/cpus"]'
	succeeds 'an image for musl with LD_PRELOAD' build musl-preload 'FROM musl' \
		'ENV LD_PRELOAD=/usr/lib/libcpuquota.so'
	succeeds 'an image for musl with an entrypoint' build musl-entrypoint 'FROM musl' \
		'ENV CPUQUOTA_LIBRARY=/usr/lib/libcpuquota.so' 'ENTRYPOINT ["/cpuquota-exec"]' 'CMD ["/cpus"]'
	is 'an image for musl without the library sees the machine' "$(run 1 musl)" "$real $real"
	for image in musl-preload musl-entrypoint; do
		for limit in 0.5=50000 1=100000 1.5=150000; do
			for round in ceil floor; do
				count=$(expected_count "${limit#*=}" "$round" 1 0 "$real")
				# shellcheck disable=SC2086
				is "$image: --cpus ${limit%=*}, round=$round" \
					"$(run "${limit%=*}" $unprivileged -e "CPUQUOTA=round=$round" "$image")" \
					"$count $count"
			done
		done
	done
else
	skip 'images for musl' 'no musl-gcc'
fi

# Roots of other Debians, with the library laid into them. Their nproc may read the cgroup by itself, and rounds to
# the nearest: these policies show no more than that.
policies='round=ceil round=floor max=1'
for suite in $suites; do
	if ! root=$("$top_srcdir/tests/containers/get-root" "$suite" 2>"$work/get-root"); then
		skip "$suite" "$(tail -n 1 "$work/get-root")"
		continue
	fi
	for limit in 0.5=50000 1=100000 1.5=150000; do
		# shellcheck disable=SC2086
		wanted=$(expected_counts "${limit#*=}" $policies)
		# shellcheck disable=SC2086
		is "$suite: --cpus ${limit%=*} and LD_PRELOAD" "$(
			run "${limit%=*}" --volume "$library:/usr/lib/libcpuquota.so:ro" \
				--env LD_PRELOAD=/usr/lib/libcpuquota.so --rootfs "$root:O" \
				sh -c "$ask_counts" sh $policies
		)" "$wanted"
		# shellcheck disable=SC2086
		is "$suite: --cpus ${limit%=*} and cpuquota-exec" "$(
			run "${limit%=*}" --volume "$library:/opt/libcpuquota.so:ro" \
				--volume "$wrapper:/opt/cpuquota-exec:ro" \
				--rootfs "$root:O" /opt/cpuquota-exec sh -c "$ask_counts" sh $policies
		)" "$wanted"
	done
done

done_testing
