#!/bin/sh
# SPDX-License-Identifier: MIT
# The trap answers as the kernel would, but for the CPUs that it does not show; and when something goes wrong, the
# program gets the kernel's answer or the shown one: never garbage, never a hang, and nothing stays behind. Needs root,
# and of Debian: gcc libc6-dev procps util-linux.

# shellcheck disable=SC2016,SC2317 # scripts for other shells, and functions that are called by name
# shellcheck source=tests/lib.sh
. "${top_srcdir:?}/tests/lib.sh"

programs=$top_srcdir/tests/system/programs
cc=${CC:-cc}
all=$(awk '/^Cpus_allowed_list:/ { print $2 }' /proc/self/status)
one=${all%%[-,]*}

if [ "$(id -u)" -ne 0 ]; then
	skip 'the trap' 'this needs root'
	done_testing
fi
if [ "$all" = "$one" ]; then
	skip 'the trap' 'one CPU tells nothing apart'
	done_testing
fi
cd "$work" || exit
# Without -pie the places in the program are the same in each process.
if ! "$cc" -O2 -static -no-pie -pthread -o trap-ask "$programs/trap-ask.c" >build.log 2>&1 ||
	! "$cc" -O2 -o no-seccomp "$programs/no-seccomp.c" >>build.log 2>&1 ||
	! "$cc" -O2 -o careless "$programs/careless.c" >>build.log 2>&1 ||
	! "$cc" -O2 -o forbid "$programs/forbid.c" >>build.log 2>&1 ||
	! "$cc" -O2 -o exec-errors "$programs/exec-errors.c" >>build.log 2>&1; then
	skip 'the trap' "no static program can be built: $(head -n 1 build.log)"
	done_testing
fi
# Other users have to be able to execute all of it.
chmod 755 "$work"
cp "$wrapper" cpuquota-exec
cp "$library" libcpuquota.so
W=$work/cpuquota-exec A=$work/trap-ask
CPUQUOTA_LIBRARY=$work/libcpuquota.so CPUQUOTA_EXEC=$W CPUQUOTA_POLICY=$work/empty.conf CPUQUOTA=mask=first,count=1
export CPUQUOTA_LIBRARY CPUQUOTA_EXEC CPUQUOTA_POLICY CPUQUOTA W A all one
: >empty.conf

# What hangs is killed, and says nothing.
guarded() { timeout -s KILL 20 "$@"; }

# either DESCRIPTION ANSWER: the kernel's answer or the shown one
either() {
	case $2 in
	"$one" | "$all") pass "$1" ;;
	*) fail "$1" "got:      $2" "expected: $one or $all" ;;
	esac
}

# eventually COMMAND...: true as soon as COMMAND is; false if that is not so within 10 seconds.
eventually() {
	for _ in $(seq 200); do
		if "$@"; then
			return
		fi
		sleep 0.05
	done
	return 1
}

# children PROCESS NAME: those that live, one a line
children() {
	ps -eo pid=,ppid=,stat=,comm= |
		awk -v parent="$1" -v name="$2" '$2 == parent && $4 == name && $3 !~ /^Z/ { print $1 }'
}
is_gone() { ! kill -0 "$1" 2>/dev/null || ps -o stat= -p "$1" | grep -q ^Z; }
has_state() { ps -o stat= -p "$1" | grep -q "^$2"; }

# in_namespace SCRIPT [ARGUMENT]...: as the first process of a pid namespace, which takes in orphans while it waits, and
# with which all the others end. It has the functions of this file that it needs.
cat >"$work/functions" <<'END'
supervisors() { ps -eo stat=,comm= | awk '$2 ~ /^cpuquota-/ && $1 !~ /^Z/' | wc -l; }
# The supervisors that are left when they had time to end.
left_over() {
	for _ in $(seq 100); do
		if [ "$(supervisors)" -eq 0 ]; then
			break
		fi
		sleep 0.05
	done
	supervisors
}
END
has_namespaces=
if unshare --pid --fork --mount-proc true 2>/dev/null; then
	has_namespaces=yes
fi
in_namespace() {
	namespace_script=$1
	shift
	timeout -s KILL 40 unshare --pid --fork --kill-child --mount-proc \
		sh -c ". $work/functions; $namespace_script" sh "$@" 2>&1
}

# Exactness: with and without the trap the same is said, but for the program's own CPUs.

guarded "$A" exact "$all" >direct 2>&1
sed "/^own/s/: $all\$/: $one/" direct >narrowed
matches 'exact: all questions are asked' "$(tail -n 1 direct)" 'pinned, by number*'
# is_exact DESCRIPTION EXPECTED SHOWN COMMAND...
is_exact() {
	exact_name=$1 exact_expected=$2 exact_shown=$3
	shift 3
	guarded "$@" exact "$exact_shown" >trapped 2>&1
	if cmp -s "$exact_expected" trapped; then
		pass "exact: $exact_name"
	else
		fail "exact: $exact_name" "$(diff "$exact_expected" trapped | head -n 20)"
	fi
}
as_user='setpriv --reuid 1000 --regid 1000 --clear-groups'
CPUQUOTA=mask=first is_exact 'all CPUs are shown' direct "$all" "$W" "$A"
is_exact 'one CPU is shown' narrowed "$one" "$W" "$A"
is_exact 'one CPU is shown, --init' narrowed "$one" "$W" --init "$A"
# shellcheck disable=SC2086 # a command
is_exact 'one CPU is shown, as a user' narrowed "$one" $as_user "$W" "$A"
CPUQUOTA=count=1,affinity=real is_exact 'affinity=real' direct "$all" "$W" --trap=always "$A"
mkdir root
cp cpuquota-exec trap-ask root/
# Without /proc there is no way to write into a program; only its own file is not there to be mapped.
guarded chroot root /trap-ask exact "$all" >direct-chroot 2>&1
CPUQUOTA_POLICY='' is_exact 'no /proc' direct-chroot "$all" chroot root /cpuquota-exec /trap-ask

# What a preloaded process cannot execute, or executes in odd ways: as without the library, and shown one CPU.

mkdir odd
guarded ./exec-errors odd "$A" 2>&1 | sed "s/^$all\$/$one/" >direct-odd
guarded env LD_PRELOAD="$CPUQUOTA_LIBRARY" ./exec-errors odd "$A" >handed-odd 2>&1
is 'odd executions: all are tried' "$(grep -c ': status' direct-odd)" 17
is 'odd executions: handed over' "$(grep -c "^$one\$" handed-odd)" 3
if cmp -s direct-odd handed-odd; then
	pass 'odd executions come out the same'
else
	fail 'odd executions come out the same' "$(diff direct-odd handed-odd | head -n 20)"
fi

# Programs that share a trap.

is 'a shell and its children' "$(guarded "$W" --trap=always \
	sh -c '"$A" once; ("$A" once); "$A" once | cat; exec "$A" once' | paste -sd ' ')" "$one $one $one $one"
is 'a cleared environment' "$(guarded "$W" --trap=always env -i "$A" once)" "$one"
is 'sixteen threads' "$(guarded "$W" "$A" threads "$one" 2>&1)" 0
for kind in '' --init; do
	# shellcheck disable=SC2086 # no argument if empty
	is "two thousand processes $kind" \
		"$(guarded "$W" $kind "$A" flood 4 500 "$one" 2>&1 | sort | uniq -c | xargs)" '1 0'
done
succeeds 'exec, fork and other users in a loop' guarded "$W" "$A" change 60 "$one" "$all" "$A"
is 'programs that are killed while they ask' "$(guarded "$W" --trap=always sh -c 'for i in $(seq 30); do
		"$A" forever "$one" "$one" & sleep 0.01
		kill -9 $!
	done
	exec "$A" once' 2>&1)" "$one"
for source in setitimer timer_create tgkill; do
	for kind in restart interrupt; do
		is "10,000 signals a second: $source, $kind" \
			"$(guarded "$W" "$A" signals "$source" "$kind" 2000 "$one" 2>&1)" 0
	done
done
is 'signals, --init' "$(guarded "$W" --init "$A" signals setitimer restart 2000 "$one" 2>&1)" 0

# The policy is that of the program that asks, also after it has executed another.
cp trap-ask wide
cp trap-ask real
printf 'mask = first\ncount = 1\n[program wide]\ncount = 1000\n[program real]\naffinity = real\n' >sections.conf
is 'the policy of each program' "$(CPUQUOTA='' CPUQUOTA_POLICY=$work/sections.conf guarded "$W" --trap=always sh -c \
	'"$A" once; ./wide once; ./real once; sh -c "$A once; exec ./wide once"; exec "$A" once' | paste -sd ' ')" \
	"$one $all $all $one $all $one"
is 'the policy of each program: one process' "$(CPUQUOTA='' CPUQUOTA_POLICY=$work/sections.conf guarded "$W" \
	--trap=always sh -c 'read -r x; exec ./wide serve' <<-END
	$one
	ask
	END
)" "$all"

# A program that is asked: start COMMAND..., then ask [REQUEST], which puts the answer into $answer.
start() {
	rm -f questions answers
	mkfifo questions answers
	guarded "$@" serve <questions >answers 2>started.err &
	exec 3>questions 4<answers
	ask pid
	program=$answer
}
ask() {
	(echo "${1-}" >&3) 2>/dev/null
	answer=
	read -r answer <&4
}
stop() {
	exec 3>&- 4<&-
	wait
}
# Finds both processes that serve $program.
find_supervisor() {
	supervisor=$(children "$watch" cpuquota-trap)
	[ "$supervisor" ] && has_state "$supervisor" S
}
find_watch() {
	watch=$(children "$program" cpuquota-watch)
	[ "$watch" ] && eventually find_supervisor
}
is_other_supervisor() { find_supervisor && [ "$supervisor" != "$old" ]; }

# follows DESCRIPTION EXPECTED: the program gets that answer within 4 seconds.
follows() {
	for _ in $(seq 80); do
		ask
		if [ "$answer" = "$2" ]; then
			break
		fi
		sleep 0.05
	done
	is "$1" "$answer" "$2"
}
if have_cgroups; then
	new_cgroup 100000
	CPUQUOTA=mask=first start sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$cgroup" "$W" "$A"
	follows 'the limit is followed: one CPU' "$one"
	set_limit "$cgroup" max
	follows 'the limit is followed: all CPUs' "$all"
	set_limit "$cgroup" 50000
	follows 'the limit is followed: half a CPU' "$one"
	stop
	is 'no cgroup is made' "$(find "$cgroup" -mindepth 1 -type d)" ''
else
	skip 'the limit is followed' 'no cgroup with a CPU limit can be made here'
fi

# The supervisor and its watch, stopped and killed.

start "$W" "$A"
if eventually find_watch; then
	pass 'a watch and a supervisor'
	ask
	is 'supervised' "$answer" "$one"
	for round in 1 2 3; do
		for signal in STOP KILL; do
			old=$supervisor
			kill -s "$signal" "$supervisor"
			ask
			either "supervisor gets SIG$signal, $round: an answer" "$answer"
			succeeds "supervisor gets SIG$signal, $round: another one comes" eventually is_other_supervisor
			eventually is_other_supervisor
			ask
			is "supervisor gets SIG$signal, $round: afterwards" "$answer" "$one"
		done
		kill -s STOP "$watch"
		ask
		is "watch is stopped, $round" "$answer" "$one"
		kill -s CONT "$watch"
	done
	for signal in TERM INT HUP QUIT USR1 TSTP PIPE; do
		kill -s "$signal" "$supervisor" "$watch"
	done
	old=$supervisor
	ask
	is 'both ignore other signals' "$answer" "$one"
	find_supervisor
	is 'both ignore other signals: it is still the same' "$supervisor" "$old"
	kill -s KILL "$watch"
	eventually is_gone "$watch"
	ask
	is 'watch is killed' "$answer" "$one"
	stop
	succeeds 'watch is killed: the supervisor ends with the program' eventually is_gone "$supervisor"
else
	fail 'a watch and a supervisor' "$(cat started.err)"
	stop
fi

start "$W" "$A"
eventually find_watch
kill -s STOP "$watch"
kill -s KILL "$watch" "$supervisor"
eventually is_gone "$supervisor"
ask
case $answer in # nobody is left who could say that the kernel should answer
ENOSYS | "$one" | "$all") pass 'both are killed: the program goes on' ;;
*) fail 'both are killed: the program goes on' "$answer" ;;
esac
stop

start "$W" "$A"
eventually find_watch
for process in "$watch" "$supervisor"; do
	kill -s STOP "$process"
	eventually has_state "$process" T
done
(echo >&3)
sleep 0.1
kill -s KILL "$program"
succeeds 'a program can be killed while it waits for an answer' eventually is_gone "$program"
kill -s CONT "$watch" "$supervisor" 2>/dev/null # the first may have ended the second by then
succeeds 'and then the supervisor ends' eventually is_gone "$supervisor"
succeeds 'and the watch' eventually is_gone "$watch"
stop

# A watch that cannot start another supervisor. Limits on processes do not hold for root.
as_other='setpriv --reuid 61234 --regid 61234 --clear-groups'
# shellcheck disable=SC2086 # a command
start $as_other "$W" "$A"
# shellcheck disable=SC2086
if eventually find_watch && $as_other prlimit --nproc=1:1 --pid "$watch" 2>build.log; then
	kill -s KILL "$supervisor"
	eventually is_gone "$supervisor"
	sleep 0.1
	ask
	either 'no other supervisor can be started' "$answer"
	ask
	either 'no other supervisor can be started: once more' "$answer"
else
	skip 'no other supervisor can be started' "$(head -n 1 build.log)"
fi
stop

start "$W" "$A"
eventually find_watch
for _ in $(seq 100); do
	ask
done
memory=$(awk '/^VmRSS:/ { print $2 }' "/proc/$supervisor/status")
echo "# the supervisor takes $memory kB"
succeeds 'the supervisor is small' [ "$memory" -le 600 ]
is 'no descriptor of the program' "$(find "/proc/$supervisor/fd" "/proc/$watch/fd" -type l -exec readlink {} + |
	grep -v -x -e 'anon_inode:.*' | head -n 3)" ''
is 'no directory of the program' "$(readlink "/proc/$supervisor/cwd" "/proc/$watch/cwd" | sort -u)" /
is 'not found by the command line of the program' \
	"$(for process in "$watch" "$supervisor"; do tr '\0' ' ' <"/proc/$process/cmdline" | xargs; done)" 'cpuquota-watch
cpuquota-trap'
is 'no session of the program' "$(ps -o sid= -p "$supervisor" | xargs)" "$watch"
stop

if unshare --mount --propagation private true 2>/dev/null; then
	mkdir mounted
	is 'a directory that the program has left can be unmounted' "$(guarded \
		unshare --mount --propagation private sh -c '
		mount -t tmpfs none mounted && cd mounted && mkfifo ../go ../leaving || exit
		"$W" "$A" serve <../go >../leaving &
		exec 3>../go 4<../leaving
		cd ..
		echo leave >&3
		read -r answer <&4
		echo "$answer"
		umount mounted && echo unmounted
		echo >&3
		read -r answer <&4
		echo "$answer"
		exec 3>&-
		wait' 2>&1 | paste -sd ' ')" "left unmounted $one"
else
	skip 'a directory that the program has left can be unmounted' 'no mount namespace can be made here'
fi

# Where the trap cannot be had, or not in full.

is 'filters are forbidden' "$(guarded ./no-seccomp "$W" "$A" once 2>&1)" "$all"
is 'filters are forbidden, --init' "$(guarded ./no-seccomp "$W" --init "$A" once 2>&1)" "$all"
# What a supervisor needs, and what its start needs: there is the shown answer or the kernel's, and nothing is left that
# would wait for one, or spin.
if [ "$has_namespaces" ]; then
	for call in ioctl poll ppoll recvmsg sendmsg socketpair wait4; do
		[ "$call" != poll ] || [ "$(uname -m)" = x86_64 ] || continue
		for way in '"$W"' '"$W" --trap=always' 'env LD_PRELOAD="$CPUQUOTA_LIBRARY" setpriv --inh-caps=-all'; do
			said=$(in_namespace "timeout -s KILL 10 ./forbid $call $way \"\$A\" once; echo \$?; left_over" | paste -sd ' ')
			case $said in
			"$one 0 0" | "$all 0 0") pass "$call is forbidden: $way" ;;
			*) fail "$call is forbidden: $way" "got:      $said" "expected: $one 0 0, or $all 0 0" ;;
			esac
		done
	done
else
	skip 'calls of the supervisor are forbidden' 'no namespace of processes can be made here'
fi
is 'no file may be written' "$(guarded prlimit --fsize=0 "$W" "$A" once 2>&1 | cat)" "$one"
is 'no file may be written, --init' "$(guarded prlimit --fsize=0 "$W" --init "$A" once 2>&1 | cat)" "$one"
# The policy file needs one, and cpuquota-exec does not start without the policy.
for number in 4 5 6 7 8; do
	either "$number descriptors" "$(guarded prlimit --nofile="$number" "$W" "$A" once 2>&1)"
	either "$number descriptors, --init" "$(guarded prlimit --nofile="$number" "$W" --init "$A" once 2>&1)"
done
is 'plenty of descriptors' "$(guarded prlimit --nofile=16 "$W" "$A" once 2>&1)" "$one"
is 'a program that has used all its descriptors' "$(guarded "$W" "$A" no-descriptors 2>&1)" "$one"
for kind in '' --init; do
	# shellcheck disable=SC2086 # no argument if empty
	succeeds "all descriptors are closed ${kind:-}" \
		guarded sh -c 'exec 0<&- 1>&- 2>&-; exec "$W" $1 "$A" expect "$one"' sh $kind
done
is 'an undumpable program' "$(guarded "$W" "$A" undumpable 2>&1)" "$one"
# shellcheck disable=SC2086 # a command
either 'an undumpable program of a user' "$(guarded $as_user "$W" "$A" undumpable 2>&1)"
cp trap-ask unreadable
chmod 711 unreadable
# shellcheck disable=SC2086
either 'a program that its user may not read' "$(guarded $as_user "$W" --trap=always ./unreadable once 2>&1)"
# shellcheck disable=SC2086
either 'a program that its user may not read, trapped by root' \
	"$(guarded "$W" --trap=always $as_user ./unreadable once 2>&1)"

for options in '' '--inh-caps=-all' '--inh-caps=-all --bounding-set=-all' '--no-new-privs' \
	'--inh-caps=-all --bounding-set=-all --no-new-privs'; do
	# shellcheck disable=SC2086
	is "a user has the trap: setpriv $options" "$(guarded $as_user $options "$W" "$A" once 2>&1)" "$one"
	# shellcheck disable=SC2086
	is "a user has the trap: setpriv $options, --init" \
		"$(guarded $as_user $options "$W" --init "$A" once 2>&1)" "$one"
	# shellcheck disable=SC2086
	is "root becomes a user below the trap: setpriv $options" \
		"$(guarded "$W" --trap=always $as_user $options "$A" once 2>&1)" "$one"
	# shellcheck disable=SC2086
	is "root becomes a user below the trap: setpriv $options, --init" \
		"$(guarded "$W" --init --trap=always $as_user $options "$A" once 2>&1)" "$one"
done
for set in -sys_ptrace -sys_admin -sys_ptrace,-sys_admin -all,+setuid,+setgid,+setpcap; do
	is "root without capabilities: $set" \
		"$(guarded setpriv --inh-caps=-all --bounding-set="$set" "$W" "$A" once 2>&1)" "$one"
	# shellcheck disable=SC2086
	is "root without capabilities becomes a user: $set" "$(guarded setpriv --inh-caps=-all --bounding-set="$set" \
		"$W" --trap=always $as_user "$A" once 2>&1)" "$one"
done
is 'root without any capability' \
	"$(guarded setpriv --inh-caps=-all --bounding-set=-all "$W" "$A" once 2>&1)" "$one"
# A user without rights over a program that root has started below the trap: the kernel answers.
# shellcheck disable=SC2086
either 'in a user namespace' "$(guarded "$W" --trap=always unshare --user --map-root-user "$A" once 2>&1)"

# Namespaces of processes, in which numbers are other ones.

if [ -z "$has_namespaces" ]; then
	skip 'namespaces of processes' 'none can be made here'
	done_testing
fi
is 'the first process of a namespace' "$(in_namespace 'exec "$W" "$A" wait')" "1 $one ECHILD"
is 'the first process of a namespace, --init' "$(in_namespace 'exec "$W" --init "$A" once')" "$one"
either 'a namespace below the trap' "$(guarded "$W" --trap=always unshare --pid --fork "$A" once 2>&1)"
either 'a namespace below the trap, with its own /proc' \
	"$(guarded "$W" --trap=always unshare --pid --fork --mount-proc "$A" once 2>&1)"
# Its numbers are those of other processes outside.
is 'a namespace below the trap: numbers of processes' "$(in_namespace '
	"$W" --trap=always unshare --pid --fork --mount-proc sh -c "for i in 1 2 3 4 5; do $A numbers; done"' |
	sed 's/.* //' | paste -sd ' ')" '0 0 0 0 0'
# Where /proc is that of the namespace outside, the programs there must be left alone.
in_namespace 'mkfifo hold
	for i in $(seq 16); do
		"$A" untouched <hold >>touched &
	done
	exec 3>hold
	sleep 0.3
	unshare --pid --fork sh -c "for i in 1 2 3 4 5 6 7 8; do $W $A fixed; done" >asked
	exec 3>&-
	wait' >foreign.err 2>&1
is "another namespace's /proc: its processes are left alone" "$(sort touched | uniq -c | xargs)" '16 untouched'
is "another namespace's /proc: the answers" "$(grep -c -x -e "$one" -e "$all" asked)" 8

# A limit on processes: of each number that there may be. Root of the namespace takes in what ends.
for kind in '' --init; do
	for number in 1 2 3 4 5; do
		answer=$(in_namespace 'timeout -s KILL 10 setpriv --reuid 61234 --regid 61234 --clear-groups \
			prlimit --nproc="$1" "$W" $2 "$A" once' "$number" "$kind" | tail -n 1)
		case $answer in # not even the program can be started then
		'cpuquota-exec: no child can be started: Resource temporarily unavailable') answer=$all ;;
		esac
		either "$number processes $kind" "$answer"
	done
done

# The same by the controller, in a preloaded shell: a filter without anyone to answer would be worse than none.
pids=$(awk '$3 == "cgroup" && $4 ~ /(^|,)pids(,|$)/ { print $2; exit }' /proc/mounts)
if [ "$pids" ] && mkdir "$pids/cpuquota-test.$$" 2>/dev/null; then
	pids=$pids/cpuquota-test.$$
	for number in 1 2 3 4; do
		echo "$number" >"$pids/pids.max"
		answer=$(guarded env LD_PRELOAD="$CPUQUOTA_LIBRARY" sh -c 'echo $$ >"$0/cgroup.procs" && exec "$A" once' "$pids" 2>&1)
		if [ "$number" -eq 1 ]; then
			is "pids.max $number" "$answer" "$all"
		else
			is "pids.max $number" "$answer" "$one"
		fi
		eventually rmdir "$pids" 2>/dev/null && mkdir "$pids"
	done
	rmdir "$pids"
	# Where PID 1 keeps what is left of each trap, there is room for the program's own processes.
	mkdir "$pids"
	echo 40 >"$pids/pids.max"
	in_namespace 'echo $$ >"$1/cgroup.procs" && exec env LD_PRELOAD="$CPUQUOTA_LIBRARY" ./careless 60 0 0 "$A" once' \
		"$pids" >careless.out
	is 'pids.max 40 and a PID 1 that does not reap: all run' "$(grep -c -x -e "$one" -e "$all" careless.out)" 60
	zombies=$(sed -n 's/ zombies$//p' careless.out)
	is 'pids.max 40: a quarter of it is left' "$([ "$zombies" -gt 10 ] && [ "$zombies" -le 31 ] && echo yes)" yes
	eventually rmdir "$pids" 2>/dev/null
else
	skip 'pids.max' 'no cgroup of the pids controller of version 1 can be made here'
fi

# Nothing stays behind, but where PID 1 does not reap: there it is no more than it can bear.
in_namespace 'exec env LD_PRELOAD="$CPUQUOTA_LIBRARY" ./careless 34 7 6 "$A" once' >careless.out
is 'PID 1 that reaps no orphans has a few of them, and then no more' "$(sort careless.out | uniq -c | xargs)" \
	"$(printf '%s\n' "34 $one" "6 $all" '1 34 zombies' | sort -k 2 | xargs)"
is 'PID 1 that reaps no orphans: none with --init' "$(in_namespace 'exec ./careless 5 0 0 "$W" --init "$A" once' | sort -u | xargs)" \
	"$one 0 zombies"
is 'PID 1 that reaps no orphans: none below one trap' \
	"$(in_namespace 'exec "$W" --trap=always ./careless 5 0 0 "$A" once' | sort -u | xargs)" "$one 0 zombies"

is 'two hundred at once leave nothing behind' "$(in_namespace 'for i in $(seq 200); do
		"$W" "$A" expect "$one" || echo failed &
	done
	wait
	left_over')" 0
is 'two hundred at once leave nothing behind, --init' "$(in_namespace 'for i in $(seq 200); do
		"$W" --init "$A" expect "$one" || echo failed &
	done
	wait
	left_over')" 0
is 'killed ones leave nothing behind' "$(in_namespace 'for i in $(seq 50); do
		"$W" "$A" forever "$one" "$one" &
		programs="$programs $!"
	done
	sleep 0.3
	kill -s KILL $programs
	wait 2>wait.err
	left_over' 2>&1)" 0
for kind in '' --init; do
	is "a process that is left behind is served to its end ${kind:-}" "$(in_namespace 'touch stay
		"$W" $1 "$A" daemon "$PWD/stay" | cat
		sleep 0.3
		echo $(($(supervisors) > 0))
		rm stay
		for i in $(seq 100); do
			if [ -s stay.answer ]; then
				break
			fi
			sleep 0.05
		done
		cat stay.answer
		rm stay.answer
		left_over' "$kind" | paste -sd ' ')" "1 $one 0"
done
if command -v script >/dev/null; then
	is 'no terminal' "$(in_namespace 'script -qec "$W --trap=always ps -eo comm=,tty=" /dev/null </dev/null' |
		tr -d '\r' | awk '/^cpuquota-/ { print $1, $2 } /^ps / { print $1, $2 != "?" }' |
		sort)" 'cpuquota-trap ?
cpuquota-watch ?
ps 1'
else
	skip 'no terminal' 'no script(1)'
fi

done_testing
