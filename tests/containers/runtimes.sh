# SPDX-License-Identifier: MIT
# For tests that ask programs of several Debians: on this machine ("here") and below the roots of get-runtimes. To be
# sourced behind tests/lib.sh.
# shellcheck shell=sh

# shellcheck disable=SC2154 # from tests/lib.sh
from=$top_srcdir/tests/containers
# shellcheck disable=SC2034
real=$(getconf _NPROCESSORS_ONLN)

# What is taken along into each root, where it is /mnt. The files `questions`, and `programs-ROOT` for each root, are
# for ask-runtimes.
# shellcheck disable=SC2154
luggage=$work/luggage
mkdir "$luggage"
cp "$library" "$wrapper" "$from/ask-runtimes" "$from/programs/cpus.cjs" "$luggage"
: >"$luggage/empty.conf"

# find_roots: the roots that can be had, in $roots. Whatever fails is skipped.
find_roots() {
	roots=here
	for suite in bullseye trixie sid; do
		if "$from/get-runtimes" "$suite" >"$work/root-$suite" 2>"$work/log"; then
			roots="$roots $suite"
		else
			skip "programs of $suite" "$(tail -n 1 "$work/log")"
		fi
	done
}

# root_of ROOT: its directory.
root_of() {
	if [ "$1" = here ]; then
		echo /
	else
		cat "$work/root-$1"
	fi
}

# ask ROOT: all its programs all questions. Below that root, with the system's own file systems; in a mount namespace
# that takes all mounts away again.
ask() {
	# shellcheck disable=SC2016
	unshare --mount --propagation private sh -eu -c '
		if [ "$0" != / ]; then
			mount --rbind /proc "$0/proc"
			mount --rbind /sys "$0/sys"
			mount --bind /dev "$0/dev"
		fi
		mount --bind "$1" "$0/mnt"
		exec chroot "$0" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/nonexistent DENO_DIR=/mnt/deno NO_COLOR=1 LC_ALL=C \
			/mnt/ask-runtimes "/mnt/programs-$2" /mnt/questions' "$(root_of "$1")" "$luggage" "$1"
}

# ask_all LIMIT...: all of them under each limit, in microseconds of 100,000; what they say is in the files
# $work/answers-ROOT-LIMIT. At the same time, each in a cgroup of its own: most of the time they wait for their limits.
ask_all() {
	for root in $roots; do
		for limit; do
			new_cgroup "$limit"
			(
				trap - EXIT
				sh -c 'echo $PPID' >"$cgroup/cgroup.procs"
				ask "$root"
			) >"$work/answers-$root-$limit" 2>&1 &
		done
	done
	wait
}
