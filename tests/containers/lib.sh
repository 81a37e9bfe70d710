# SPDX-License-Identifier: MIT
# For the tests in containers: what they ask there, and what is expected. To be sourced behind tests/lib.sh.
# shellcheck shell=sh

# shellcheck disable=SC2154 # from tests/lib.sh
from=$top_srcdir/tests/containers
real=$(getconf _NPROCESSORS_ONLN)

# The containers' cgroups are all below this one, which is made by whoever runs them, in every hierarchy.
container_parent=cpuquota-test-$$

remove_container_cgroups() {
	remove_cgroups "$container_parent"
}

# remove_cgroups NAME: those of this name in every hierarchy, and what is below them.
remove_cgroups() {
	for directory in /sys/fs/cgroup/"${1:?}" /sys/fs/cgroup/*/"$1"; do
		if [ -d "$directory" ]; then
			find "$directory" -depth -type d | while read -r inner; do
				remove_cgroup "$inner"
			done
		fi
	done
}

# This is run in the container, its arguments are policies: a line of both counts for each.
# shellcheck disable=SC2016,SC2034
ask_counts='for policy; do
	export CPUQUOTA="$policy"
	echo "$policy: $(nproc) $(getconf _NPROCESSORS_ONLN)"
done'

# expected_counts QUOTA POLICY...: those lines, for a limit of so many microseconds in 100,000; max: none.
expected_counts() {
	quota=$1
	shift
	if [ "$quota" = max ]; then
		quota=$((real * 100000))
	fi
	for policy; do
		round=ceil min=1 max=0
		eval "$policy"
		count=$(expected_count "$quota" "$round" "$min" "$max" "$real")
		echo "$policy: $count $count"
	done
}

# And this too: who it is, its bounding set of capabilities and whether it may get more, and whether the root can be
# written to.
# shellcheck disable=SC2016,SC2034
ask_rights='unset LD_PRELOAD
	id -u
	sed -n "s/^\(CapBnd\|NoNewPrivs\):\t//p" /proc/self/status
	if (: >/file) 2>/dev/null; then echo writable; else echo read-only; fi'
# shellcheck disable=SC2034
no_rights='1000
0000000000000000
1
read-only'

# copy_root SUITE DIRECTORY: a copy of a Debian root, without what nothing here looks at.
copy_root() {
	cached=$("$from/get-root" "$1") || return
	mkdir -p "$2"
	tar -C "$cached" --one-file-system --exclude='./dev/*' --exclude='./var/cache/*' \
		--exclude='./var/lib/apt/lists/*' --exclude=./usr/share/doc --exclude=./usr/share/locale \
		--exclude=./usr/share/man -cf - . |
		tar -C "$2" -xf -
}

# use_private_podman DIRECTORY: `our_podman` is then podman with all that it keeps below DIRECTORY, and no network.
use_private_podman() {
	podman_directory=$1
	mkdir -p "$podman_directory"
	CONTAINERS_CONF=$podman_directory/containers.conf
	export CONTAINERS_CONF
	cat >"$CONTAINERS_CONF" <<-'END'
		[containers]
		default_ulimits = ["nofile=20000:20000", "nproc=32768:32768"]
		netns = "none"
		[engine]
		runtime = "runc"
		cgroup_manager = "cgroupfs"
		events_logger = "none"
		lock_type = "file"
	END
}

our_podman() {
	podman --root "$podman_directory/root" --runroot "$podman_directory/run" --tmpdir "$podman_directory/tmp" "$@"
}

# busybox_root DIRECTORY: busybox and its names.
busybox_root() {
	mkdir -p "$1/bin" "$1/etc" "$1/tmp"
	cp "$(command -v busybox)" "$1/bin/busybox"
	busybox --list | while read -r name; do
		[ -e "$1/bin/$name" ] || ln -s busybox "$1/bin/$name"
	done
}

# import_root DIRECTORY NAME [CHANGE]: makes an image of it, for podman.
import_root() {
	tar -C "$1" -cf - . | our_podman import --quiet --change 'ENV PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' \
		--change "${3:-CMD [\"sh\"]}" - "$2" >/dev/null
}

# build_image NAME CONTEXT [OPTION]...: by podman, of images that are there.
build_image() {
	name=$1 context=$2
	shift 2
	our_podman build --quiet --pull=never --cgroup-parent "/$container_parent/build" --tag "$name" "$@" "$context" 2>&1
}

# start_dockerd DIRECTORY: `our_docker` then talks to a dockerd with all that it keeps below DIRECTORY, and no network. What
# it says is in DIRECTORY/docker.log.
dockerd=
start_dockerd() {
	docker_directory=$1
	mkdir -p "$docker_directory"
	dockerd --data-root "$docker_directory/docker-root" --exec-root "$docker_directory/docker-exec" \
		-H "unix://$docker_directory/docker.sock" -p "$docker_directory/docker.pid" \
		--iptables=false --ip6tables=false --ip-forward=false --bridge=none >"$docker_directory/docker.log" 2>&1 &
	dockerd=$!
	for _ in $(seq 100); do
		our_docker version >/dev/null 2>&1 && return
		kill -0 "$dockerd" 2>/dev/null || break
		sleep 0.2
	done
	return 1
}

our_docker() {
	DOCKER_BUILDKIT=0 DOCKER_CONFIG=$docker_directory/docker docker -H "unix://$docker_directory/docker.sock" "$@"
}

stop_dockerd() {
	[ -n "$dockerd" ] || return 0
	for container in $(our_docker ps --all --quiet); do
		our_docker rm --force "$container" >/dev/null 2>&1
	done
	kill "$dockerd"
	wait "$dockerd"
	dockerd=
}

# unmount_below DIRECTORY: what is still mounted there. Only in a directory of this test's own: with a name that came out
# empty, every mount of the machine would be below it.
unmount_below() {
	case $1 in
	"${work:?}"/?*) ;;
	*)
		printf '# nothing is unmounted below "%s", which is not of this test\n' "$1"
		return 1
		;;
	esac
	awk -v below="$1/" 'index($5, below) == 1 { print $5 }' /proc/self/mountinfo | sort -r |
		while read -r point; do
			umount "$point"
		done
}
