# SPDX-License-Identifier: MIT
# In a machine with many CPUs and cgroups of version 2: cpuquota-exec --report. To be sourced behind lib.sh.
# shellcheck shell=sh
# shellcheck disable=SC2016,SC2154 # scripts for other shells; of lib.sh

# report [OPTION]... PROGRAM...: in $cgroup; as JSON, in $work/report. Gives the exit status.
report() {
	in_cgroup "$cgroup" "$wrapper" --report --json "$@" 2>"$work/report"
}

# value KEY: the first of that name, which is the run's and not a level's; JSON that is known to be on one line.
value() {
	sed -n '$s/^[^[]*"'"$1"'": "\{0,1\}\([^,"}]*\).*/\1/p' "$work/report"
}

# levels KEY: of all the levels.
levels() {
	sed 's/^[^[]*\[//' "$work/report" | tr '{,' '\n' | sed -n 's/^ *"'"$1"'": \([^}]*\).*/\1/p' | paste -sd ' ' -
}

# lost_so_far: microseconds, of $cgroup.
lost_so_far() {
	awk '$1 == "throttled_usec" { print $2 }' "$cgroup/cpu.stat"
}

advice() {
	sed -n '$s/.*"code": "\([a-z_]*\)".*/\1/p' "$work/report"
}

# advises CODE [OPTION]... PROGRAM...: a report with that advice, from one of five runs. An emulated machine whose host is
# busy stands still now and then, and the program is charged for it.
advises() {
	expected=$1
	shift
	for _ in 1 2 3 4 5; do
		report "$@"
		[ "$(advice)" != "$expected" ] || return 0
	done
}

# reckons DESCRIPTION EXPRESSION: of awk.
reckons() {
	if awk "BEGIN { exit !($2) }"; then
		pass "$1"
	else
		fail "$1" "$2" "$(cat "$work/report")"
	fi
}

new_cgroup 150000
in_cgroup "$cgroup" /programs/spin 1 2 # throttled as well, but before the run
report /programs/spin 1
is 'report: rounded up: exit status' "$?" 0
advises try_floor /programs/spin 3
is 'report: version of the cgroup' "$(value cgroup_version)" 2
is 'report: the cgroup' "$(value cgroup)" "$cgroup"
is 'report: the CPUs' "$(value shown_cpus) of $(value real_cpus)" "2 of $real"
is 'report: rounded up: the limit' "$(value limit_cpus)" 1.5
reckons 'report: rounded up: throttled in most periods' "$(value throttled_periods) * 2 > $(value periods)"
reckons 'report: rounded up: time is lost' "$(value throttled_seconds) > 0"
is 'report: rounded up: advice' "$(advice)" try_floor
lost=$(value throttled_seconds)
before=$(lost_so_far)
report /programs/spin 2
after=$(lost_so_far)
reckons 'report: rounded up: it is what cpu.stat says' \
	"$before > 0 && ($after - $before) / 1000000 - $(value throttled_seconds) < 0.01 &&
	$(value throttled_seconds) <= ($after - $before) / 1000000 + 0.000001"
reckons 'report: rounded up: the cgroup has seen what the run used' \
	"$(levels cgroup_cpu_seconds) > $(value cpu_seconds) * 0.9"
advises held_back -s round=floor /programs/spin 3
reckons 'report: rounded down: less time is lost' "$(value throttled_seconds) < $lost"
is 'report: rounded down: advice' "$(advice)" held_back
export CPUQUOTA=off
advises try_policy /programs/spin 3
unset CPUQUOTA
is 'report: off' "$(value shown_cpus) $(value policy_off)" "$real true"
is 'report: off: advice' "$(advice)" try_policy
reckons 'report: off: more time is lost' "$(value throttled_seconds) > $lost"
for _ in 1 2 3 4 5; do # as with advises: even who sleeps may be charged
	report sleep 2
	[ "$(value throttled_periods)" != 0 ] || break
done
is 'report: asleep' "$(value throttled_periods) $(advice)" '0 fine'
report sh -c 'exit 7'
is 'report: exit status' "$? $(value exit_status)" '7 7'
report sh -c 'kill -TERM $$'
is 'report: a signal' "$? $(value exit_status)" '143 143'

# Others in the same cgroup; a limit further up.
sh -c 'echo $$ >"$0/cgroup.procs" && exec /programs/spin 60 2' "$cgroup" &
others=$!
advises others /programs/spin 3 1
is 'report: with others' "$(advice)" others
kill "$others"
wait "$others" 2>/dev/null
parent=$cgroup
new_cgroup 400000 "$parent"
advises try_floor /programs/spin 3
is 'report: the tighter limit is above' "$(levels limit_cpus), $(levels effective)" '4.0 1.5, false true'
is 'report: the tighter limit is above: advice' "$(advice)" try_floor

# Elsewhere: the program itself, and what it started.
new_cgroup max
elsewhere=$cgroup
export elsewhere
new_cgroup 150000
report sh -c 'sleep 0.3; echo $$ >"$elsewhere/cgroup.procs"; sleep 2'
is 'report: it leaves its cgroup' "$(value throttled_periods) $(advice)" 'null moved'
report sh -c 'sh -c "echo \$\$ >\"\$elsewhere/cgroup.procs\"; exec /programs/spin 2 1"; true'
is 'report: what it started leaves its cgroup' "$(value throttled_periods) $(advice)" 'null moved'
set_limit "$cgroup" max
report true
is 'report: no limit' "$(value limited) $(value limit_cpus) $(value throttled_periods) $(advice)" 'false null 0 unlimited'
