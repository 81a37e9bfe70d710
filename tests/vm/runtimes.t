#!/bin/sh
# SPDX-License-Identifier: MIT
# The table of tests/containers/table.t where the runtimes' own rules differ most: in virtual machines with 16 CPUs and
# cgroups of version 2. One machine for each Debian: an emulated one is slow, and keeps one CPU busy. Needs root, and of
# Debian: qemu-system-x86 cpio e2fsprogs default-jdk-headless; apt's sources (for get), and what get-runtimes and get-go
# need; rustc. What is not there is skipped.

# shellcheck source=tests/lib.sh
. "${top_srcdir:?}/tests/lib.sh"
# shellcheck source=tests/vm/lib.sh
. "$top_srcdir/tests/vm/lib.sh"
# shellcheck source=tests/containers/runtimes.sh
. "$top_srcdir/tests/containers/runtimes.sh"
# shellcheck source=tests/containers/table.sh
. "$top_srcdir/tests/containers/table.sh"

real=16
# 2.4, 2.5 and 2.6 CPUs: down, nearest and up are all told apart; 4 is more than any of them. By
# cpuquota-exec only that: table.t compares both ways in full.
limits='240000 250000 260000'
policies='round=ceil round=floor round=nearest min=4'
# A limit that is not the own cgroup's, but that of one above.
limit_above=250000
policies_above='round=floor min=4'
by_exec=min=4

needs_vm 'runtimes on 16 CPUs' "$own_architecture"
if [ "$(id -u)" -ne 0 ] || ! command -v mke2fs >/dev/null; then
	skip 'runtimes on 16 CPUs' 'needs root and mke2fs'
	done_testing
fi

write_questions "$policies" "$by_exec" >"$luggage/questions"
write_questions "$policies_above" "$by_exec" >"$luggage/questions-above"
echo "$limits" >"$luggage/limits"
echo "$limit_above" >"$luggage/limit-above"

# Each machine has about as much to do as the other. What is static, or as old as this machine's libc, runs in any.
has_class=
! compile_java || has_class=yes
find_roots trixie sid
suites=${roots#here}
if [ -z "$suites" ]; then
	done_testing
fi
for suite in $suites; do
	case $suite in
	trixie)
		[ -z "$has_class" ] || list_javas trixie 21
		list_node trixie
		;;
	sid)
		[ -z "$has_class" ] || list_javas sid 25
		list_python sid
		list_nproc sid
		list_rust sid
		list_go sid here static
		list_go sid sid static
		;;
	esac
done

add_tests "$library" "$wrapper"
add "$from/enter-root" /tests/containers/enter-root
cp -R "$luggage" "$overlay/luggage"

# run_machine SUITE
run_machine() {
	trap - EXIT
	make_disk "$work/disk-$1" "$(root_of "$1")"
	boot "$1" runtimes -a "$own_architecture" -c "$real" -d "$work/disk-$1" -t 900
	rm "$work/disk-$1"
}
for suite in $suites; do
	run_machine "$suite" &
done
wait

# The answers are taken out of what they have said.
for suite in $suites; do
	awk -F '\t' -v OFS='\t' -v answers="$work/answers-$suite" -v rest="$work/rest" '
		$1 == "answer" { print $3, $4, $5, $6 > (answers "-" $2); next } { print > rest }' "$work/$suite.out"
	mv "$work/rest" "$work/$suite.out"
	results "$suite"
done
make_table '16 CPUs, cgroup v2' "$limits" "$policies" "$work/rules" "$luggage/questions" \
	"$work"/answers-*-limit-*
# Not all of them look above their own cgroup when they are alone: there is no rule to hold them to.
awk -F '\t' -v OFS='\t' '{ $2 = "any"; print }' "$work/rules" >"$work/rules-above"
make_table '16 CPUs, cgroup v2, the limit two levels up' "$limit_above" "$policies_above" "$work/rules-above" \
	"$luggage/questions-above" "$work"/answers-*-above-*
done_testing
