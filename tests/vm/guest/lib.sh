# SPDX-License-Identifier: MIT
# For the scripts that run in a virtual machine. To be sourced there, by its busybox sh.
# shellcheck shell=sh

# shellcheck source=tests/lib.sh
. "${top_srcdir:?}/tests/lib.sh"

CPUQUOTA_EXEC=$wrapper # built in is where it will be installed
CPUQUOTA_POLICY=$work/empty.conf
export CPUQUOTA_EXEC CPUQUOTA_POLICY
: >"$CPUQUOTA_POLICY"
chmod 755 "$work"

# shellcheck disable=SC2034 # for whoever sources this
real=$(grep -c '^processor' /proc/cpuinfo)
# shellcheck disable=SC2034
gos=$(ls -d /programs/go-* 2>/dev/null)

# repeat COUNT N: COUNT, so many times: what programs/ask prints where all channels agree.
repeat() {
	seq "$2" | sed "s/.*/$1/" | paste -sd ' ' -
}

# masks COMMAND...: only what ask sees by masks: static programs count the machine's CPUs by its files.
masks() {
	"$@" 2>&1 | cut -d ' ' -f 3-5
}

# start_following COMMAND...: a program that gives an answer on descriptor 4 for each line on 3.
start_following() {
	mkfifo "$work/questions" "$work/answers"
	"$@" <"$work/questions" >"$work/answers" 2>&1 &
	follower=$!
	exec 3>"$work/questions" 4<"$work/answers"
	rm "$work/questions" "$work/answers"
}

stop_following() {
	exec 3>&- 4<&-
	wait "$follower"
}

# comes_to DESCRIPTION PATTERN: the program's answer becomes that, at the latest when it has been asked for 10 seconds;
# an emulated machine is slow.
comes_to() {
	answer=
	for _ in $(seq 50); do
		(echo >&3)
		read -r answer <&4
		# shellcheck disable=SC2254
		case $answer in
		$2) break ;;
		esac
		sleep 0.2
	done
	matches "$1" "$answer" "$2"
}

# nothing_left DESCRIPTION: all traps are gone, at the latest after 5 seconds.
nothing_left() {
	for _ in $(seq 50); do
		left=$(sed -n 's/^Name:[ \t]*\(cpuquota-.*\)/\1/p' /proc/[0-9]*/status 2>/dev/null)
		[ -n "$left" ] || break
		sleep 0.1
	done
	is "$1" "$left" ''
}

# The last word of every machine.
finish() {
	nothing_left 'no supervisor is left'
	done_testing
}
