#!/bin/sh
# SPDX-License-Identifier: MIT
# cpuquota-exec --init is a parent that one does not notice: signals, exit statuses, the terminal, orphans. Needs root,
# and of Debian: bash gcc libc6-dev procps python3 util-linux.

# shellcheck disable=SC2016,SC2317 # scripts for other shells, and functions that are called by name
# shellcheck source=tests/lib.sh
. "${top_srcdir:?}/tests/lib.sh"

programs=$top_srcdir/tests/system/programs
cc=${CC:-cc}
python=/usr/bin/python3 # not a wrapper script of that name
all=$(awk '/^Cpus_allowed_list:/ { print $2 }' /proc/self/status)
one=${all%%[-,]*}
cd "$work" || exit
if ! "$cc" -O2 -static -o static "$programs/init-show.c" >build.log 2>&1 ||
	! "$cc" -O2 -o dynamic "$programs/init-show.c" >>build.log 2>&1 ||
	! "$cc" -O2 -static -pthread -o trap-ask "$programs/trap-ask.c" >>build.log 2>&1; then
	skip '--init' "no program can be built: $(head -n 1 build.log)"
	done_testing
fi
CPUQUOTA_EXEC=$wrapper CPUQUOTA_POLICY=$work/empty.conf CPUQUOTA=mask=first,count=1
W=$wrapper A=$work/trap-ask S=$work/static
export CPUQUOTA_EXEC CPUQUOTA_POLICY CPUQUOTA W A S all one
: >empty.conf

# What hangs is killed, and says nothing. Not in a process group of its own, which would have no terminal.
guarded() { timeout --foreground -s KILL 20 "$@"; }
has_namespaces=
if unshare --pid --fork --mount-proc true 2>/dev/null; then
	has_namespaces=yes
fi
# As the first process.
first() { timeout -s KILL 20 unshare --pid --fork --kill-child --mount-proc "$@"; }
status_of() {
	"$@" >said 2>&1
	echo $?
}
eventually() {
	for _ in $(seq 200); do
		if "$@"; then
			return
		fi
		sleep 0.05
	done
	return 1
}
has_state() { ps -o stat= -p "$1" | grep -q "^[$2]"; }
is_gone() { ! kill -0 "$1" 2>/dev/null || has_state "$1" Z; }

# Exit statuses: of programs below a trap, and of those that need none.
for program in static dynamic; do
	wrong=
	for status in $(seq 0 255); do
		got=$(status_of guarded "$W" --init "./$program" exit "$status")
		if [ "$got" != "$status" ]; then
			wrong="$wrong $status:$got"
		fi
	done
	is "$program: all exit statuses" "$wrong" ''
	wrong=
	for signal in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 24 25 26 27 29 30 31 34 64; do
		got=$(status_of guarded "$W" --init "./$program" die "$signal")
		if [ "$got" != "$((128 + signal))" ]; then
			wrong="$wrong $signal:$got"
		fi
	done
	is "$program: all signals that kill" "$wrong" ''
	if [ "$has_namespaces" ]; then
		is "$program: exit status of a first process" "$(status_of first "$W" --init "./$program" exit 7)" 7
		is "$program: signal of a first process" "$(status_of first "$W" --init "./$program" die 15)" 143
	else
		skip "$program: a first process" 'no namespace can be made here'
	fi
done
is 'not found' "$(status_of guarded "$W" --init ./nonexistent)" 127
is 'not found: it says so' "$(cat said)" 'cpuquota-exec: ./nonexistent: No such file or directory'
is 'not found in PATH' "$(status_of guarded "$W" --init nonexistent-program)" 127
: >not-executable
is 'not executable' "$(status_of guarded "$W" --init ./not-executable)" 126
is 'a directory' "$(status_of guarded "$W" --init /)" 126
is 'no program' "$(status_of guarded "$W" --init)" 125

# The program has what it would have had.
for program in static dynamic; do
	for options in --default-signal --ignore-signal=CHLD --ignore-signal=HUP,PIPE,INT \
		--block-signal=USR1,TERM,CHLD; do
		guarded env "$options" "./$program" state >direct 2>&1
		guarded env "$options" "$W" --init "./$program" state >by-init 2>&1
		is "$program: what it is given, env $options" \
			"$(diff direct by-init; tail -n 1 by-init)" 'children: none'
	done
done
is 'input and output' "$(echo hello | guarded "$W" --init "$S" echo | tail -n 1)" 'got hello'
is 'no input' "$(guarded "$W" --init "$S" echo <&- | wc -l)" 1
is 'no output' "$(status_of guarded sh -c 'exec "$W" --init "$S" exit 3 0<&- 1>&- 2>&-')" 3
is 'a reader sees the end' "$(guarded "$W" --init "$S" exit 0 | cat)" ''
is 'shown, static' "$(guarded "$W" --init "$A" once)" "$one"
if [ -x "$python" ]; then
	is 'shown, by the library' "$(guarded "$W" --init "$python" -c 'import os; print(os.cpu_count())')" 1
fi
is 'CPUQUOTA=off' "$(CPUQUOTA=off guarded "$W" --init "$A" once)" "$all"
is 'trap=never' "$(guarded "$W" --init --trap=never "$A" once)" "$all"

# A program that is asked: start COMMAND... makes it; then ask, which puts what it says into $answer. It is $program,
# and its parent $init, which leads a process group.
start() {
	rm -f questions answers
	mkfifo questions answers
	setsid "$@" <questions >answers 2>started.err &
	init=$!
	exec 3>questions 4<answers
	hear
	program=$answer
}
# Not for ever; and no more than a line.
hear() { answer=$(timeout 10 sed -u q <&4); }
ask() {
	(echo "${1-}" >&3) 2>/dev/null
	hear
}
stop() {
	exec 3>&- 4<&-
	if ! eventually is_gone "$init"; then
		kill -s KILL "$init" "$program"
	fi
	wait "$init"
	status=$?
}

# True once the program has had a signal, however often.
wait_until_it_has_come() {
	for _ in $(seq 100); do
		ask
		if [ "$answer" ]; then
			break
		fi
		sleep 0.02
	done
}

for program_name in static dynamic; do
	start "$W" --init "./$program_name" signals
	is "$program_name: the program is a child" "$(ps -o ppid= -p "$program" | xargs)" "$init"
	for target in "$init" "-$init"; do
		wrong=
		for signal in 1 2 3 4 5 6 7 8 10 11 12 13 14 15 16 18 20 21 22 23 24 25 26 27 28 29 30 31 34 50 64; do
			env kill -"$signal" -- "$target" # not all shells' own can do this
			wait_until_it_has_come
			first_answer=$answer
			ask # and no more
			if [ "$first_answer$answer" != "$signal:1" ]; then
				wrong="$wrong $signal: $first_answer $answer"
			fi
		done
		is "$program_name: every signal reaches the program once, sent to ${target%"$init"}init" "$wrong" ''
	done
	kill -s STOP "$program"
	eventually has_state "$program" T
	sleep 0.2
	kill -s CONT "$init"
	wait_until_it_has_come
	is "$program_name: it is told once that it goes on" "$answer" 18:1
	stop
	is "$program_name: and it ends well" "$status" 0
done

# Stopped and continued, without a terminal.
start "$W" --init "$S" echo
for signal in TSTP TTIN TTOU; do
	kill -s "$signal" "$init"
	succeeds "SIG$signal stops the program" eventually has_state "$program" T
	# What is stopped as well has first to be so.
	sleep 0.2
	kill -s CONT "$init"
	succeeds "SIGCONT: the program goes on after SIG$signal" eventually has_state "$program" SR
	ask "$signal"
	is "SIGCONT: it works after SIG$signal" "$answer" "got $signal"
done
kill -s STOP "$init"
eventually has_state "$init" T
kill -s CONT "$init"
ask again
is 'the parent was stopped' "$answer" 'got again'
kill -s STOP "$program"
eventually has_state "$program" T
sleep 0.2
kill -s CONT "$program"
ask again
is 'the program was stopped' "$answer" 'got again'
exec 3>&-
succeeds 'the program was stopped: both end' eventually is_gone "$init"
kill -s CONT "$init" 2>/dev/null
stop
is 'the program was stopped: exit status' "$status" 0

# What stays in the background is answered also while the program is stopped.
touch stay
start "$W" --init --trap=always sh -c '"$A" daemon "$PWD/stay"; exec "$S" echo'
kill -s TSTP "$init"
eventually has_state "$program" T
sleep 0.2
rm stay
succeeds 'stopped: others are answered' eventually [ -s stay.answer ]
is 'stopped: the answer' "$(cat stay.answer 2>/dev/null)" "$one"
kill -s CONT "$init"
stop

# Killed with no chance to tell: the program goes on.
start "$W" --init "$S" echo
kill -s KILL "$init"
ask again
is 'the parent is killed: the program goes on' "$answer" 'got again'
exec 3>&- 4<&-
wait

start "$W" --init --trap=always sh -c 'echo $$; exec "$A" serve'
ask
is 'the parent is there: the answer' "$answer" "$one"
kill -s KILL "$init"
eventually is_gone "$init"
ask
case $answer in # nobody is left who could say that the kernel should answer
ENOSYS | "$one" | "$all") pass 'the parent is killed: there are answers' ;;
*) fail 'the parent is killed: there are answers' "$answer" ;;
esac
exec 3>&- 4<&-
wait

# Those who ask while the parent ends, and another process takes its place, get what is right.
if [ "$has_namespaces" ]; then
	is 'the parent ends: those who ask go on' "$(first sh -c 'for i in $(seq 8); do
			"$W" --init --trap=always sh -c "for j in 1 2 3 4; do
					\"$A\" forever $one $all & done
				sleep 0.1"
		done
		sleep 0.3
		ps -eo args= | grep -c "^$A forever"' 2>&1)" 32
else
	skip 'the parent ends: those who ask go on' 'no namespace can be made here'
fi

# Orphans.
orphans_of() { ps -eo ppid=,stat= | awk -v parent="$1" '$1 == parent && $2 ~ /^Z/' | wc -l; }
no_zombies() { [ "$(orphans_of "$init")" -eq 0 ]; }
for program_name in static dynamic; do
	rm -f questions answers
	mkfifo questions answers
	setsid "$W" --init "./$program_name" orphans 100 <questions >answers 2>started.err &
	init=$!
	exec 3>questions 4<answers
	hear
	program=
	is "$program_name: orphans are made" "$answer" left
	sleep 0.1
	succeeds "$program_name: orphans are taken in" eventually no_zombies
	stop
	is "$program_name: orphans do not change the exit status" "$status" 0
	if [ "$has_namespaces" ]; then
		is "$program_name: a first process takes orphans in" "$(first "$W" --init sh -c '
			(sleep 1; :) | "$0" orphans 50
			sleep 0.2
			ps -eo stat= | grep -c ^Z' "./$program_name" 2>&1 | paste -sd ' ')" 'left 0'
	fi
done
if [ "$has_namespaces" ]; then
	is 'a first process: signals' "$(first sh -c 'mkfifo in; exec "$W" --init sh -c "trap \"echo term; exit 9\" TERM
		(sleep 0.3; kill -s TERM 1) & while :; do sleep 0.05; done"'; echo $?)" 'term
9'
	is 'a first process: the program is another' "$(first "$W" --init sh -c 'echo $(($$ > 1)) $PPID')" '1 1'
fi

# Below a trap already, and in a cgroup of its own accord: nothing more is planted, but the rest is as told.
is '--init below a trap' "$(guarded "$W" --trap=always "$W" --init sh -c '"$A" once; exit 5'; echo $?)" "$one
5"
is '--init below --init' "$(guarded "$W" --init "$W" --init sh -c '"$A" once; exit 5'; echo $?)" "$one
5"

# A terminal.
if [ ! -x "$python" ] || ! command -v bash >/dev/null; then
	skip 'a terminal' "no $python or no bash"
else
	for program_name in static dynamic; do
		timeout -s KILL 120 "$python" "$programs/init-terminal.py" "$W" "./$program_name" >terminal.out 2>&1
		while IFS= read -r line; do
			is "$program_name: ${line%%: *}" "${line#*: }" 'as expected'
		done <terminal.out
		is "$program_name: all is tried in a terminal" "$(wc -l <terminal.out)" \
			"$(sed -n '/^SCENES/,/^]/p' "$programs/init-terminal.py" | grep -c '^    (')"
	done
fi

done_testing
