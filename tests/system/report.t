#!/bin/sh
# SPDX-License-Identifier: MIT
# cpuquota-exec --report: what it says of runs in real cgroups, and that the run is as it would be without it. Needs root,
# and of Debian: gcc libc6-dev python3 util-linux. (Version 2: tests/vm/guest/report.sh.)

# shellcheck disable=SC2016,SC2317 # scripts for other shells, and functions that are called by name
# shellcheck source=tests/lib.sh
. "${top_srcdir:?}/tests/lib.sh"

programs=$top_srcdir/tests/system/programs
cc=${CC:-cc}
python=/usr/bin/python3 # not a wrapper script of that name
real=$(getconf _NPROCESSORS_ONLN)
if ! have_cgroups; then
	skip '--report' 'no cgroup with a CPU limit can be made here'
	done_testing
fi
if [ "$real" -lt 2 ]; then
	skip '--report' 'one CPU tells nothing apart'
	done_testing
fi
if [ ! -x "$python" ]; then
	skip '--report' "no $python"
	done_testing
fi
cd "$work" || exit
if ! "$cc" -O2 -pthread -o spin "$programs/spin.c" >build.log 2>&1 ||
	! "$cc" -O2 -static -pthread -o trap-ask "$programs/trap-ask.c" >>build.log 2>&1; then
	skip '--report' "no program can be built: $(head -n 1 build.log)"
	done_testing
fi
CPUQUOTA_EXEC=$wrapper CPUQUOTA_POLICY=$work/empty.conf
W=$wrapper
export CPUQUOTA_EXEC CPUQUOTA_POLICY W
: >empty.conf

# busy_cgroup QUOTA: as new_cgroup, and what else runs on this machine gives way.
busy_cgroup() {
	new_cgroup "$@"
	if [ "$cpu_version" = 2 ]; then
		echo 10000 >"$cgroup/cpu.weight"
	else
		echo 262144 >"$cgroup/cpu.shares"
	fi
}

# report [OPTION]... PROGRAM...: in $cgroup; as JSON, the last line of ./report. Gives the exit status.
report() {
	timeout -s KILL 60 sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$cgroup" "$wrapper" --report --json "$@" 2>report
}

# holds DESCRIPTION EXPRESSION: in Python, of `r`, the report in ./report.
holds() {
	succeeds "$1" "$python" -c '
import json, sys
text = open("report", "rb").read().splitlines()[-1]
r = json.loads(text)
effective = [level for level in r["levels"] or [] if level["effective"]]
throttling = [r["periods"], r["throttled_periods"], r["throttled_seconds"]]
since = lambda before, after: [round(new - old, 6) for old, new in zip(before, after)]
if not eval("(" + sys.argv[1] + ")"):
    sys.exit(text.decode())
' "$2"
}

# value KEY
value() {
	tail -n 1 report | "$python" -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"
}

# counters: the throttled periods of $cgroup so far, and the seconds lost.
counters() {
	awk '$1 == "nr_throttled" { periods = $2 } $1 == "throttled_time" { lost = $2 / 1e9 } $1 == "throttled_usec" { lost = $2 / 1e6 }
		END { printf "%d, %.9f\n", periods, lost }' "$cgroup/cpu.stat"
}

# A steady load: as many threads as there are CPUs shown. The limit of 1.5 comes to two of them, or to one.
busy_cgroup 150000
in_cgroup "$cgroup" ./spin 1 2 # throttled as well, but before the run
before=$(counters)
report ./spin 3
after=$(counters)
holds 'it is what cpu.stat says' \
	"all(-1e-5 < outer - inner < 0.01 for inner, outer in zip(throttling[1:], since([$before], [$after])))"
holds 'rounded up: the limit and the CPUs' \
	'r["limited"] and r["limit_cpus"] == 1.5 and r["shown_cpus"] == 2 and r["real_cpus"] == '"$real"
holds 'rounded up: throttled in most periods' 'r["periods"] / 2 < r["throttled_periods"] <= r["periods"]'
holds 'rounded up: time is lost' 'r["throttled_seconds"] > 0'
holds 'rounded up: advice' 'r["advice"]["code"] == "try_floor" and "round=floor" in r["advice"]["text"]'
holds 'rounded up: not more CPU than the limit pays for' '0.8 * 1.5 < r["used_cpus"] < 1.5 * 1.2'
holds 'the times agree' 'abs(r["used_cpus"] * r["wall_seconds"] - r["cpu_seconds"]) < 0.001 and
	abs(r["user_seconds"] + r["system_seconds"] - r["cpu_seconds"]) < 0.001'
holds 'threads that are stopped are switched' 'r["involuntary_switches"] > 0'
holds 'the cgroup' 'r["cgroup"] == "'"$cgroup"'" and r["cgroup_version"] == '"$cpu_version"
holds 'the levels' 'len(effective) == 1 and effective[0]["cgroup"] == r["cgroup"] and
	effective[0]["quota_microseconds"] == 150000 and effective[0]["period_microseconds"] == 100000 and
	[effective[0]["periods"], effective[0]["throttled_periods"], effective[0]["throttled_seconds"]] == throttling'
lost=$(value throttled_seconds)
report -s round=floor ./spin 3
holds 'rounded down: one CPU is shown' 'r["shown_cpus"] == 1'
holds 'rounded down: hardly throttled' 'r["throttled_periods"] * 20 <= r["periods"]'
holds 'rounded down: less time is lost' "r['throttled_seconds'] < $lost"
holds 'rounded down: advice' 'r["advice"]["code"] in ("held_back", "fine")'
report -s round=floor ./spin 2 2
holds 'more threads than CPUs shown: advice' 'r["advice"]["code"] == "raise_limit"'

# With the shim and without it, side by side.
busy_cgroup 100000
CPUQUOTA=off report ./spin 3
holds 'off: all CPUs' "r['policy_off'] and r['shown_cpus'] == r['real_cpus'] == $real"
holds 'off: advice' 'r["advice"]["code"] == "try_policy"'
lost=$(value throttled_seconds)
report ./spin 3
holds 'on: one CPU, less time lost' "not r['policy_off'] and r['shown_cpus'] == 1 and r['throttled_seconds'] < $lost"

# Only this run's share: the same cgroup has been throttled before.
report sleep 1.5
holds 'asleep: never throttled' 'r["throttled_periods"] == 0 and r["throttled_seconds"] == 0'
holds 'asleep: advice' 'r["advice"]["code"] == "fine"'
holds 'asleep: no CPU' 'r["used_cpus"] < 0.5'
report true
holds 'a short one: advice' 'r["advice"]["code"] == "too_short"'
in_cgroup "$cgroup" sh -c './spin 1 1; exec "$W" --report --json true' 2>report
holds 'not those that ran before, of the same parent' "r['used_cpus'] < $real + 1"
busy_cgroup 30000
report ./spin 3 -2
holds 'bursts: below the limit, and throttled' 'r["used_cpus"] < r["limit_cpus"] and r["throttled_periods"] > 0'
holds 'bursts: advice' 'r["advice"]["code"] == "bursty"'

# Levels. (Version 1 refuses one that is above its parent's.)
busy_cgroup 100000
parent=$cgroup
new_cgroup max "$parent"
report ./spin 2 2
holds 'a limit above: it is effective' 'len(r["levels"]) == 1 and effective[0]["cgroup"] == "'"$parent"'"'
holds 'a limit above: the cgroup is the own one' 'r["cgroup"] == "'"$cgroup"'"'
holds 'a limit above: throttled' 'r["throttled_periods"] > 0 and r["advice"]["code"] == "raise_limit"'
set_limit "$cgroup" 50000
report ./spin 2 2
holds 'two limits: both are there, from the inner one up' '[level["limit_cpus"] for level in r["levels"]] == [0.5, 1.0]'
holds 'two limits: the tighter one throttles' \
	'effective[0]["limit_cpus"] == 0.5 and r["throttled_periods"] > r["levels"][1]["throttled_periods"]'
in_cgroup "$parent" ./spin 4 2 &
spinning=$!
set_limit "$cgroup" 90000
report ./spin 3 -1
holds 'a limit above that others use up' 'r["levels"][1]["throttled_periods"] > 0 and r["advice"]["code"] == "shared_limit"'
wait "$spinning"

# Whatever cannot be known is not said.
new_cgroup max
if [ "$cpu_version" = 1 ]; then
	report true
	holds 'no limit' 'r["limited"] == False and r["limit_cpus"] is None and throttling == [0, 0, 0] and
		r["advice"]["code"] == "unlimited"'
fi
elsewhere=$cgroup
export elsewhere
new_cgroup 150000
report sh -c 'sleep 0.1; echo $$ >"$elsewhere/cgroup.procs"; sleep 1.2'
holds 'it leaves its cgroup' 'throttling == [None] * 3 and r["advice"]["code"] == "moved"'
report sh -c 'sh -c "echo \$\$ >\"\$elsewhere/cgroup.procs\"; exec ./spin 3 1"; true'
holds 'what it started leaves its cgroup' 'throttling == [None] * 3 and r["advice"]["code"] == "moved"'
set_limit "$elsewhere" 150000
cgroup=$elsewhere
report sh -c 'sleep 0.1; echo 140000 >"$elsewhere/'"$([ "$cpu_version" = 1 ] && echo cpu.cfs_quota_us || echo cpu.max)"'"; sleep 1.2'
holds 'its limit changes' 'r["limit_changed"] and r["limit_cpus"] == 1.5 and r["advice"]["code"] == "limit_changed"'
new_cgroup 150000
own=$cgroup
export own
report sh -c 'echo $PPID >"$elsewhere/cgroup.procs"; echo $$ >"$elsewhere/cgroup.procs"
	while ! rmdir "$own"; do sleep 0.1; done; sleep 1'
holds 'its cgroup is removed' 'throttling == [None] * 3 and r["advice"]["code"] == "moved"'
mkdir "$own"
set_limit "$own" 150000
report sleep 0.1
holds 'its cgroup is there' 'None not in throttling'
report sh -c 'echo $PPID >"$elsewhere/cgroup.procs"; echo $$ >"$elsewhere/cgroup.procs"
	while ! rmdir "$own"; do sleep 0.1; done
	mkdir "$own"; echo $$ >"$own/cgroup.procs"'
holds 'another cgroup of that name' 'throttling == [None] * 3'
set_limit "$own" 150000
if unshare --mount true 2>/dev/null; then
	in_cgroup "$own" unshare --mount sh -c 'mount -t tmpfs none /proc && exec "$W" --report --json sh -c "exit 7"' 2>report
	is 'no /proc: exit status' "$?" 7
	holds 'no /proc' '[r[key] for key in ("limited", "limit_cpus", "limit_changed", "cgroup", "cgroup_version", "levels")] ==
		[None] * 6 and throttling == [None] * 3 and r["advice"]["code"] == "no_cgroup"'
else
	skip 'no /proc' 'no namespace can be made here'
fi

# The keys are those of the manual.
cgroup=$own
report true
sed -n '/^# THE REPORT/,/^# EXPLANATIONS/{/^\*[a-z_]*\*\(, \*[a-z_]*\*\)*$/p;}' "$top_srcdir/man/cpuquota-exec.1.scd" | tr -d '*,' | tr ' ' '\n' >documented
"$python" -c '
import json
r = json.loads(open("report").read().splitlines()[-1])
print("\n".join([*r, *r["levels"][0], *r["advice"]]))' >keys
is 'the manual has all keys, and no others' "$(sort -u documented)" "$(sort -u keys)"
is 'the manual has all advice, and no other' \
	"$(sed -n '/^# THE REPORT/,/^# EXPLANATIONS/s/^|[[ ] *\*\([a-z_]*\)\*$/\1/p' "$top_srcdir/man/cpuquota-exec.1.scd" | sort)" \
	"$(sed -n 's/^.*{"\([a-z_]*\)", "[A-Z].*/\1/p' "$top_srcdir/src/exec/advice.c" | sort)"
holds 'version' 'r["version"] == 1 and r["program"] == "true"'
name=$(printf 'caf\351 "\\\t\033')
cp /bin/true "$name"
report "./$name"
holds 'a name that is no UTF-8' 'r["program"].startswith("./caf") and r["exit_status"] == 0'

# The run is as it would be without a report.
for status in 0 7 255; do
	report sh -c "exit $status"
	is "exit status $status" "$?" "$status"
	holds "exit status $status is in the report" "r['exit_status'] == $status"
done
for signal in 9 15; do
	report sh -c "kill -$signal \$\$"
	is "signal $signal" "$?" "$((128 + signal))"
done
report ./nonexistent
is 'not found' "$?" 127
matches 'not found: it says so' "$(head -n 1 report)" '*./nonexistent: No such file or directory'
report /
is 'cannot be executed' "$?" 126
"$wrapper" --report --json sh -c 'trap "exit 9" TERM; echo ready; while :; do sleep 0.05; done' >said 2>report &
running=$!
for _ in $(seq 100); do
	grep -q ready said && break
	sleep 0.05
done
kill -TERM "$running"
wait "$running"
is 'SIGTERM is handed on' "$?" 9
holds 'SIGTERM: there is a report' 'r["exit_status"] == 9'
is 'standard output is the program'"'"'s' "$(echo hello | "$wrapper" -r cat 2>report.txt)" hello
for kind in '' --json; do
	# shellcheck disable=SC2086 # none or one
	{
		is "closed standard error $kind" "$("$wrapper" -r $kind sh -c 'echo out; exit 4' 2>&-; echo $?)" "$(printf 'out\n4')"
		is "full standard error $kind" "$("$wrapper" -r $kind sh -c 'exit 4' 2>/dev/full; echo $?)" 4
		"$python" - "$wrapper" -r $kind sh -c 'exit 4' <<'END' >said 2>&1
import os, socket, subprocess, sys
reading, writing = os.pipe()
os.close(reading)
print(subprocess.run(sys.argv[1:], stderr=writing).returncode, end=" ")
packets, stderr = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
print(subprocess.run(sys.argv[1:], stderr=stderr).returncode, end=" ")
packets.setblocking(False)
received = []
while True:
    try:
        received.append(packets.recv(65536))
    except BlockingIOError:
        break
print(len(received), received[-1].endswith(b"\n"))
END
		is "nobody reads; and whoever does gets all of it at once $kind" "$(cat said)" '4 4 1 True'
	}
done
is 'no more than one line of JSON' "$("$wrapper" -r --json true 2>&1 | wc -l)" 1
is 'a static program is shown the CPUs' \
	"$(in_cgroup "$own" "$wrapper" -r -s count=1 ./trap-ask once 2>/dev/null | tr , '\n' | wc -l)" 1
report -s count=1 ./trap-ask once >/dev/null
holds 'a static program: in the report' 'r["shown_cpus"] == 1'
if unshare --pid --fork --mount-proc true 2>/dev/null; then
	timeout -s KILL 20 unshare --pid --fork --kill-child --mount-proc "$wrapper" -r --json sh -c 'sleep 0.3; exit 7' 2>report
	is 'as the first process' "$?" 7
	holds 'as the first process: the report' 'r["exit_status"] == 7 and r["advice"]["code"] != "moved"'
	timeout -s KILL 20 unshare --pid --fork --kill-child "$wrapper" -r --json sh -c 'sleep 0.3; exit 7' 2>report
	holds 'below a /proc of other process ids' 'r["exit_status"] == 7 and r["advice"]["code"] != "moved"'
else
	skip 'as the first process' 'no namespace can be made here'
fi

# The text.
in_cgroup "$own" "$wrapper" --report sh -c 'exit 3' 2>report.txt
is 'text: exit status' "$(head -n 1 report.txt)" 'cpuquota-exec: sh: exit status 3'
is 'text: the limit' "$(sed -n 's/^  CPU limit *//p' report.txt)" '1.5 CPUs'
is 'text: the CPUs' "$(sed -n 's/^  CPUs shown *//p' report.txt)" "2 of $real"
matches 'text: throttling' "$(sed -n 's/^  throttled *//p' report.txt)" '* of * periods, * s lost'
CPUQUOTA=off in_cgroup "$own" "$wrapper" --report sleep 1.2 2>off.txt
in_cgroup "$own" "$wrapper" --report sleep 1.2 2>on.txt
for side in off on; do
	sed -n 's/^  \([A-Za-z].\{15\}\).*/\1/p' "$side.txt" >"$side.names"
done
is 'text: the lines are the same with the shim and without' "$(cat on.names)" "$(cat off.names)"
is 'text: there are lines' "$(wc -l <on.names)" 8
is 'text: no more than 80 columns' "$(cat report.txt off.txt on.txt | awk 'length > 80')" ''

# What does not go together.
refused() {
	description=$1 message=$2
	shift 2
	timeout -s KILL 20 "$wrapper" "$@" >said 2>&1
	is "$description" "$? $(head -n 1 said)" "125 cpuquota-exec: $message"
}
refused '--report --count' '--report goes with a program' --report --count
refused '--report --check-policy' '--report goes with a program' -r --check-policy
refused '--json alone' '--json goes with --explain and --report' --json true
refused '--json --count' '--json goes with --explain and --report' --json --count
refused 'no program' 'no program given' --report
matches 'an error in the policy' "$("$wrapper" -r -s round=up true 2>&1; echo $?)" '*round*
125'
done_testing
