# SPDX-License-Identifier: MIT
# For the shell tests: TAP, temporary cgroups, and where the built files are. To be sourced by POSIX sh.
# shellcheck shell=sh

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${top_builddir:=$top_srcdir}"
library=${CPUQUOTA_TEST_LIBRARY:-$top_builddir/.libs/libcpuquota.so}
# shellcheck disable=SC2034 # for the tests
wrapper=${CPUQUOTA_TEST_EXEC:-$top_builddir/cpuquota-exec}
CPUQUOTA_LIBRARY=$library
export CPUQUOTA_LIBRARY
unset LD_PRELOAD CPUQUOTA CPUQUOTA_POLICY

tests_run=0
tests_failed=0
work=$(mktemp -d "${TMPDIR:-/tmp}/cpuquota-test.XXXXXX")
cgroups_made=

clean_up() {
	for directory in $cgroups_made; do # the last one made stands first: children before their parents
		remove_cgroup "$directory"
	done
	rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# pass DESCRIPTION; fail DESCRIPTION [DETAIL]...
pass() {
	tests_run=$((tests_run + 1))
	printf 'ok %d - %s\n' "$tests_run" "$1"
}

fail() {
	tests_run=$((tests_run + 1))
	tests_failed=$((tests_failed + 1))
	printf 'not ok %d - %s\n' "$tests_run" "$1"
	shift
	for detail; do
		printf '%s\n' "$detail" | sed 's/^/# /'
	done
}

# skip DESCRIPTION REASON: a failure where CPUQUOTA_MUST_WORK=1 says that all of this can run here.
skip() {
	if [ "${CPUQUOTA_MUST_WORK:-0}" = 1 ]; then
		fail "$1" "could not run: $2"
		return
	fi
	tests_run=$((tests_run + 1))
	printf 'ok %d - %s # SKIP %s\n' "$tests_run" "$1" "$2"
}

# is DESCRIPTION ACTUAL EXPECTED
is() {
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		fail "$1" "got:      $2" "expected: $3"
	fi
}

# matches DESCRIPTION TEXT PATTERN: a shell pattern
matches() {
	# shellcheck disable=SC2254
	case $2 in
	$3) pass "$1" ;;
	*) fail "$1" "got:      $2" "expected: $3" ;;
	esac
}

# succeeds DESCRIPTION COMMAND...: by exit status; what the command says is shown if it fails.
succeeds() {
	description=$1
	shift
	if said=$("$@" 2>&1); then
		pass "$description"
	else
		fail "$description" "exit status $?" "$said"
	fi
}

done_testing() {
	printf '1..%d\n' "$tests_run"
	[ "$tests_failed" -eq 0 ]
	exit
}

# Temporary cgroups of whatever hierarchy has the cpu controller here.

cpu_hierarchy=
cpu_version=
for directory in /sys/fs/cgroup/cpu /sys/fs/cgroup/cpu,cpuacct /sys/fs/cgroup/cpuacct,cpu; do
	if [ -z "$cpu_hierarchy" ] && [ -f "$directory/cpu.cfs_quota_us" ]; then
		cpu_hierarchy=$directory cpu_version=1
	fi
done
if [ -z "$cpu_hierarchy" ] && grep -qw cpu /sys/fs/cgroup/cgroup.controllers 2>/dev/null; then
	cpu_hierarchy=/sys/fs/cgroup cpu_version=2
fi

# have_cgroups: true if cgroups with a CPU limit can be made.
have_cgroups() {
	[ -n "$cpu_hierarchy" ] && [ -w "$cpu_hierarchy" ] && [ "$(id -u)" -eq 0 ]
}

# new_cgroup QUOTA [PARENT]: makes a cgroup with a limit of QUOTA microseconds in 100,000 (max: none), in the directory
# that is then in $cgroup.
new_cgroup() {
	cgroup=${2:-$cpu_hierarchy}/cpuquota-test-$$-$(printf '%s' "$cgroups_made" | wc -w)
	if [ "$cpu_version" = 2 ]; then
		echo +cpu >"${cgroup%/*}/cgroup.subtree_control"
	fi
	mkdir "$cgroup" || exit 1
	cgroups_made="$cgroup $cgroups_made"
	set_limit "$cgroup" "$1"
}

# set_limit DIRECTORY QUOTA
set_limit() {
	if [ "$cpu_version" = 2 ]; then
		echo "$2 100000" >"$1/cpu.max"
	elif [ "$2" = max ]; then
		echo -1 >"$1/cpu.cfs_quota_us"
	else
		echo "$2" >"$1/cpu.cfs_quota_us"
	fi
}

# A cgroup is busy for a moment after its last process has gone.
remove_cgroup() {
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		rmdir "$1" 2>/dev/null && return
		[ -d "$1" ] || return 0
		sleep 0.1
	done
	printf '# %s could not be removed\n' "$1"
}

# in_cgroup DIRECTORY COMMAND...
in_cgroup() {
	# shellcheck disable=SC2016
	sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$@"
}

# The policy's number under a limit of QUOTA microseconds in 100,000, worked out here independently of the program.
# expected_count QUOTA ROUND MIN MAX REAL
expected_count() {
	awk -v quota="$1" -v round="$2" -v min="$3" -v max="$4" -v real="$5" 'BEGIN {
		whole = int(quota / 100000); rest = quota - whole * 100000
		count = whole
		if (round == "ceil" && rest > 0) count++
		if (round == "nearest" && rest * 2 >= 100000) count++
		if (count < min) count = min
		if (max > 0 && count > max) count = max
		if (count < 1) count = 1
		if (count > real) count = real
		print count
	}'
}
