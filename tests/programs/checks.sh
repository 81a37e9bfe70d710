# SPDX-License-Identifier: MIT
# For the tests that run the programs here. To be sourced after lib.sh.
# shellcheck shell=sh

# shellcheck disable=SC2034,SC2154 # of lib.sh, and for whoever sources this
programs=$top_builddir/tests/programs
# shellcheck disable=SC2034
preloads=$top_builddir/tests/programs/.libs

# checks DESCRIPTION COMMAND...: runs a program that ends in done() of checks.h. Each check that fails is a failed test;
# that all were made, and that it said nothing else, are tests as well.
# shellcheck disable=SC2154
checks() {
	prefix=$1
	shift
	status=0
	"$@" >"$work/checks.out" 2>"$work/checks.err" </dev/null || status=$?
	good=$(grep -c '^ok - ' "$work/checks.out")
	bad=$(grep -c '^not ok - ' "$work/checks.out")
	sed -n 's/^not ok - //p' "$work/checks.out" >"$work/checks.bad"
	while IFS= read -r line; do
		fail "$prefix: $line"
	done <"$work/checks.bad"
	if [ "$status" -le 1 ] && [ "$((good + bad))" -gt 0 ] && [ "$(tail -n 1 "$work/checks.out")" = "done" ]; then
		pass "$prefix: all $((good + bad)) checks are made"
	else
		fail "$prefix: all checks are made" "exit status $status after:" "$(tail -n 3 "$work/checks.out")" \
			"$(cat "$work/checks.err")"
	fi
	is "$prefix: says nothing on standard error" "$(cat "$work/checks.err")" ''
}

# How many CPUs this process has, by the kernel (nproc has ideas of its own), and how many libc finds online.
# shellcheck disable=SC2034
real=$(awk '/^Cpus_allowed_list:/ { print $2 }' /proc/self/status | tr , '\n' |
	awk -F- '{ count += $NF - $1 + 1 } END { print count }')
# shellcheck disable=SC2034
online=$(getconf _NPROCESSORS_ONLN)
