# SPDX-License-Identifier: MIT
# For tests of programs that are asked again and again, by lines through descriptors 3 and 4, while something changes. To
# be sourced by POSIX sh, which then defines `ask`: it asks once, and puts the answer into $count and, if it has them,
# $cpus. Those two, and $patience, are the caller's.
# shellcheck shell=sh disable=SC2154

# Ends the program that was asked.
stop() {
	exec 3>&- 4<&-
	wait
}

milliseconds() {
	read -r uptime _ </proc/uptime
	echo "${uptime%.*}${uptime#*.}0"
}

# follows DESCRIPTION COUNT [CPUS]: asked no later than $patience milliseconds after this call, the program gives the new
# answer.
follows() {
	deadline=$(($(milliseconds) + patience))
	while :; do
		asked=$(milliseconds)
		ask
		if [ "$count $cpus" = "$2 ${3-$cpus}" ]; then
			pass "$1"
			return
		fi
		if [ "$asked" -ge "$deadline" ]; then
			fail "$1" "still $count ($cpus), not $2 ${3:+($3)}"
			return
		fi
		sleep 0.05
	done
}
