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

# find_roots SUITE...: this machine, and of those the roots that can be had, in $roots. Whatever fails is skipped.
find_roots() {
	roots=here
	for suite; do
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

# in_root ROOT COMMAND...: by the root's own files alone.
in_root() {
	directory=$(root_of "$1")
	shift
	chroot "$directory" "$@"
}

# ask ROOT: all its programs all questions.
ask() {
	unshare --mount --propagation private "$from/enter-root" "$(root_of "$1")" "$luggage" \
		/mnt/ask-runtimes "/mnt/programs-$1" /mnt/questions
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
