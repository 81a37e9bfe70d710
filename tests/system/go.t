#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs that ask the kernel: built by Go, static. They see the policy's number under real limits, through
# cpuquota-exec and by being handed over to it, and are otherwise what they would have been. Needs root, and of Debian:
# busybox-static default-jdk-headless gcc golang-go libc6-dev libcap2-bin musl-tools nodejs npm python3; what get-go
# needs; and for esbuild an npm registry. What is not there is skipped.

# shellcheck disable=SC2317 # functions that are called by a name put together
# shellcheck source=tests/lib.sh
. "${top_srcdir:?}/tests/lib.sh"

programs=$top_srcdir/tests/system/programs
python=/usr/bin/python3 # not a wrapper script of that name
real=$(getconf _NPROCESSORS_ONLN)
limits='50000 100000 150000'
POLICIES='round=ceil round=floor min=2' # for launch.*
export POLICIES

if ! have_cgroups; then
	skip 'Go under a limit' 'no cgroup with a CPU limit can be made here'
	done_testing
fi
if [ "$real" -lt 2 ]; then
	skip 'Go under a limit' 'one CPU tells nothing apart'
	done_testing
fi

# The built-in policy, whatever is installed on this machine. Others have to be able to execute what is in $work.
CPUQUOTA_POLICY=$work/empty.conf CPUQUOTA_EXEC=$wrapper
export CPUQUOTA_POLICY CPUQUOTA_EXEC
: >"$CPUQUOTA_POLICY"
chmod 755 "$work"
cd "$work" || exit

new_cgroup max

through_exec() { in_cgroup "$cgroup" "$wrapper" -- "$@"; }
through_preload() { in_cgroup "$cgroup" env LD_PRELOAD="$library" "$@"; }
# Its shell hands the program over.
# shellcheck disable=SC2016
through_shell() { through_preload sh -c '"$0" "$@"; exit' "$@"; }

# has_built NAME COMMAND...
has_built() {
	name=$1
	shift
	if "$@" >"$work/build.log" 2>&1; then
		return
	fi
	skip "$name" "cannot be built: $(head -n 1 "$work/build.log")"
	return 1
}

# Go's numbers: what NumCPU and GOMAXPROCS are. The first is the policy's. So is the second, but that Go 1.25 and later
# read the limit themselves, round it up, make 2 of 1, and take the smaller of the two numbers (runtime, GOMAXPROCS).
# expected_numbers VERSION QUOTA POLICY
expected_numbers() {
	round=ceil min=1 max=0
	eval "$3"
	number=$(expected_count "$2" "$round" "$min" "$max" "$real")
	own=$real
	if [ "${1#1.}" -ge 25 ]; then
		own=$(expected_count "$2" ceil 2 0 "$real")
	fi
	echo "$number $((own < number ? own : number))"
}

# expected_lines VERSION...: what launch.* print, for each program the policies' lines.
expected_lines() {
	for expected_version; do
		for policy in $POLICIES; do
			echo "$policy: $(expected_numbers "$expected_version" "$limit" "$policy")"
		done
	done | paste -sd ,
}

# each_policy COMMAND...: prints the same.
each_policy() {
	for policy in $POLICIES; do
		echo "$policy: $(CPUQUOTA=$policy "$@" 2>&1)"
	done
}

# Real Go.

all_static=
all_versions=
for suite in here trixie sid; do
	if ! directory=$("$top_srcdir/tests/system/get-go" "$suite" 2>"$work/build.log"); then
		skip "Go of $suite" "$(tail -n 1 "$work/build.log")"
		continue
	fi
	read -r version <"$directory/version"
	newest=$directory newest_version=$version
	all_static="$all_static $directory/static"
	all_versions="$all_versions $version"
	for limit in $limits; do
		set_limit "$cgroup" "$limit"
		for kind in static pie cgo stripped; do
			is "cpuquota-exec: Go $version, $kind, $limit" \
				"$(each_policy through_exec "$directory/$kind" | paste -sd ,)" "$(expected_lines "$version")"
		done
		for kind in pie cgo; do
			is "LD_PRELOAD: Go $version, $kind, $limit" \
				"$(each_policy through_preload "$directory/$kind" | paste -sd ,)" "$(expected_lines "$version")"
		done
	done
	# Without any of this it sees the machine.
	is "alone: Go $version" "$(in_cgroup "$cgroup" "$directory/static" | cut -d ' ' -f 1)" "$real"
done

# The static ones are started by others that are preloaded.
launch_sh() {
	for program; do
		# shellcheck disable=SC2016
		each_policy through_preload sh -c 'exec "$0"' "$program"
	done
}
# shellcheck disable=SC2016
launch_bash() {
	through_preload bash -c 'for program; do
		for policy in $POLICIES; do
			echo "$policy: $(CPUQUOTA=$policy; export CPUQUOTA; "$program")"
		done
	done' bash "$@"
}
launch_python() { through_preload "$python" "$programs/launch.py" "$@"; }
launch_node() { through_preload node "$programs/launch.js" "$@"; }
launch_java() { through_preload java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto -cp "$work" Launch "$@"; }

has_sh() { :; }
has_bash() { command -v bash; }
has_python() { [ -x "$python" ]; }
has_node() { command -v node; }
has_java() { command -v java && javac -d "$work" "$programs/Launch.java"; }

for launcher in sh bash python node java; do
	if ! "has_$launcher" >"$work/build.log" 2>&1; then
		skip "LD_PRELOAD: $launcher starts static programs" "not here: $(head -n 1 "$work/build.log")"
		continue
	fi
	for limit in $limits; do
		set_limit "$cgroup" "$limit"
		# shellcheck disable=SC2086 # lists of words
		is "LD_PRELOAD: $launcher starts static programs, Go$all_versions, $limit" \
			"$("launch_$launcher" $all_static 2>&1 | paste -sd ,)" "$(expected_lines $all_versions)"
	done
done

# What the user says of GOMAXPROCS stands.
set_limit "$cgroup" 100000
for program in $all_static ${newest:+"$newest/cgo"}; do
	name=${program%/*}
	name="${name##*/} ${program##*/}"
	for way in exec shell; do
		is "$way: GOMAXPROCS=7 is left alone: $name" "$(GOMAXPROCS=7 "through_$way" "$program" 2>&1)" '1 7'
	done
	is "exec: runtime.GOMAXPROCS(5) is left alone: $name" "$(through_exec "$program" set 5 2>&1)" '1 5'
done

# A Go that looks again follows the limit while it runs.

# start COMMAND...: a program that answers on descriptor 4 for each line on 3.
start() {
	mkfifo "$work/questions" "$work/answers"
	"$@" <"$work/questions" >"$work/answers" 2>&1 &
	exec 3>"$work/questions" 4<"$work/answers"
	rm "$work/questions" "$work/answers"
}

patience=3000 # milliseconds
cpus=
# shellcheck source=tests/system/follow.sh
. "$top_srcdir/tests/system/follow.sh"

# ask: puts GOMAXPROCS into $count.
ask() {
	(echo >&3) # a subshell, for the SIGPIPE if the program has died
	read -r _ count <&4
}

# The descriptors of the cgroup's files that Go keeps open if it reads them itself.
own_readings() {
	while read -r process; do
		readlink "/proc/$process/fd/"*
	done <"$cgroup/cgroup.procs" | grep -c '/cpu\.[^/]*$'
}

if [ "${newest_version#1.}" -ge 25 ] 2>/dev/null; then
	for way in 'exec static' 'shell static' 'preload cgo'; do
		set_limit "$cgroup" 100000
		start "through_${way% *}" "$newest/${way#* }" follow
		ask
		is "$way: Go $newest_version: one CPU at first" "$count" 1
		set_limit "$cgroup" 200000
		follows "$way: Go $newest_version follows a raised limit" 2
		set_limit "$cgroup" 100000
		follows "$way: Go $newest_version follows a lowered limit" 1
		matches "$way: Go $newest_version reads the limit itself" "$(own_readings)" '[1-9]*'
		stop
		CPUQUOTA=runtime_quota=hide,min=2
		export CPUQUOTA
		set_limit "$cgroup" 50000
		start "through_${way% *}" "$newest/${way#* }" follow
		ask
		is "$way: Go $newest_version, half a CPU, hide, min=2" "$count" 2
		is "$way: Go $newest_version leaves the limit to the policy" "$(own_readings)" 0
		set_limit "$cgroup" 30000
		sleep 2.5
		ask
		is "$way: Go $newest_version, a third of a CPU, hide, min=2" "$count" 2
		stop
		unset CPUQUOTA
	done
else
	skip 'a changed limit is followed' 'no Go 1.25 or later'
fi

# A program that nobody here built, which says by how many threads it runs Go if GODEBUG asks for that.
esbuild=${CPUQUOTA_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cpuquota}/npm
esbuild=$esbuild/node_modules/@esbuild/linux-$(node -p process.arch 2>/dev/null)/bin/esbuild
has_esbuild() {
	[ -x "$esbuild" ] || npm install --silent --no-audit --no-fund --prefix "${esbuild%/node_modules/*}" esbuild
	[ -x "$esbuild" ]
}
# It is kept waiting for its input until it has said so.
ask_esbuild() {
	rm -f "$work/fifo" "$work/trace"
	mkfifo "$work/fifo"
	GODEBUG=schedtrace=20 "$@" "$esbuild" <"$work/fifo" >/dev/null 2>"$work/trace" &
	exec 3>"$work/fifo"
	for _ in $(seq 200); do
		if grep -qs gomaxprocs= "$work/trace"; then
			break
		fi
		sleep 0.02
	done
	exec 3>&-
	wait
	sed -n 's/.*gomaxprocs=\([0-9]*\).*/\1/p' "$work/trace" | tail -n 1
}

if ! command -v npm >/dev/null || ! has_esbuild >"$work/build.log" 2>&1; then
	skip 'esbuild' "cannot be had: $(head -n 1 "$work/build.log")"
else
	# It has been stripped of what `go version` looks for, but not of the runtime's own string.
	version=$(LC_ALL=C grep -ao 'go1\.[0-9][0-9]*' "$esbuild" | head -n 1)
	version=${version#go}
	for limit in $limits; do
		set_limit "$cgroup" "$limit"
		for way in exec shell; do
			wanted=$(for policy in $POLICIES; do
				expected_numbers "$version" "$limit" "$policy" | cut -d ' ' -f 2
			done | paste -sd ' ')
			is "$way: esbuild, $limit" "$(for policy in $POLICIES; do
				CPUQUOTA=$policy ask_esbuild "through_$way"
			done | paste -sd ' ')" "$wanted"
		done
	done
fi

# Other static programs.
set_limit "$cgroup" 100000

# shows_one NAME COMMAND...: alone the program sees all CPUs, each way one.
shows_one() {
	shown=$1
	shift
	is "alone: $shown" "$(in_cgroup "$cgroup" "$@" 2>&1)" "$alone"
	for way in exec shell; do
		is "$way: $shown" "$("through_$way" "$@" 2>&1)" "$one"
	done
}

alone="$real $real" one='1 1'
cc=${CC:-cc}
if has_built 'static musl' musl-gcc -static -o cpus-musl "$programs/cpus.c"; then
	shows_one 'static musl' ./cpus-musl
fi
alone=$real one=1
if has_built 'static programs' "$cc" -O2 -static -o state "$programs/state.c"; then
	shows_one 'static' ./state count
fi
if has_built 'static-pie programs' "$cc" -O2 -static-pie -fPIE -o state-pie "$programs/state.c"; then
	shows_one 'static-pie' ./state-pie count
fi
if has_built 'i386 programs' "$cc" -m32 -O1 -fno-stack-protector -fno-pie -nostdlib -static -o cpus-i386 \
	"$programs/cpus-i386.c"; then
	if ./cpus-i386 >"$work/build.log" 2>&1; then
		shows_one 'i386' ./cpus-i386
	else
		skip 'i386 programs' 'this kernel does not run them'
	fi
fi
busybox=$(command -v busybox)
if [ "$busybox" ] && ! LD_PRELOAD=/nonexistent "$busybox" true 2>&1 | grep -q nonexistent; then
	shows_one 'busybox' "$busybox" nproc
	printf '#!%s sh\nnproc\n' "$busybox" >script
	chmod +x script
	shows_one 'a script for a static interpreter' ./script
else
	skip 'a script for a static interpreter' 'no static busybox'
fi

# A program that is handed over is what it would have been.

if ! [ -x state ] || ! has_built 'exec-by' "$cc" -O2 -o exec-by "$programs/exec-by.c"; then
	skip 'a program that is handed over is what it would have been' 'no programs for that'
	done_testing
fi

# exec_by ARGUMENT...: what exec-by and its program say, with everything that differs from run to run checked and taken
# out: the two have to agree on the process.
exec_by() {
	in_cgroup "$cgroup" env LD_PRELOAD="$library" ./exec-by "$@" >said 2>&1
	status=$?
	awk '/^process / { if (!process) process = $0; else if (process != $0) print process, "is", $0; next }
		/^descriptor .*memfd:/ { print; getline; next }
		{ sub(/, at [0-9]*: .*\/said$/, ""); print }' said
	return $status
}

# is_same ARGUMENT...: handed over and not, the program says the same, and something.
is_same() {
	CPUQUOTA_EXEC=$wrapper exec_by "$@" >handed-over
	echo "exit status $?" >>handed-over
	CPUQUOTA_EXEC=/nonexistent exec_by "$@" >direct
	echo "exit status $?" >>direct
	if cmp -s handed-over direct; then
		pass "handed over: exec-by $*"
	else
		fail "handed over: exec-by $*" "$(diff direct handed-over | head -n 20)"
	fi
}

by_name='execve execv execvp execvpe execl execlp execle execveat'
by_descriptor='fexecve fexecve-cloexec fexecve-memfd fexecve-memfd-cloexec execveat_empty execveat_empty-cloexec
	execveat_directory'
for way in $by_name $by_descriptor posix_spawn posix_spawnp; do
	# The one thing that is not handed over is a file that is named below a directory's descriptor.
	if [ "$way" != execveat_directory ]; then
		is "handed over: by $way" "$(exec_by "$way" "$work/state" count)" 1
	fi
	is_same "$way" "$work/state" one 'two words' ''
	is_same "$way" ./state one
	case $way in
	posix_spawn*) ;;
	*) is_same -v "$way" "$work/state" one ;;
	esac
done
for way in execvp execvpe execlp posix_spawnp; do
	is "handed over: by $way, found in PATH" "$(exec_by "$way" state count)" 1
	is_same "$way" state one
done
# Neither has to be installed: cpuquota-exec says where it is itself.
mkdir -p elsewhere
cp "$wrapper" elsewhere/cpuquota-exec
cp "$library" elsewhere/libcpuquota.so
# shellcheck disable=SC2016 # $0
is 'handed over to a cpuquota-exec that is not installed' "$(in_cgroup "$cgroup" \
	env -u CPUQUOTA_EXEC -u CPUQUOTA_LIBRARY elsewhere/cpuquota-exec sh -c '"$0" count; "$0" count' "$work/state" | paste -sd ' ')" '1 1'
mkdir -p in-the-way/state
path=$PATH PATH=$work/in-the-way:$PATH
is 'handed over: by execvp, found in PATH behind a directory of that name' "$(exec_by execvp state count)" 1
is_same execvp state one
PATH=$path
is_same -n 3000 execve ./state
is_same -n 3000 -v execvp ./state
is_same -n 3000 posix_spawn ./state
is_same -e execve ./state
is_same -e fexecve-cloexec ./state
is_same -e posix_spawn ./state
IGNORE_SIGCHLD=1
export IGNORE_SIGCHLD
is_same execve ./state
unset IGNORE_SIGCHLD

# Errors.
mkdir directory
cp state no-permission
chmod -x no-permission
head -c 300 state >cut-off # execvp and its relatives have a shell run this one
: >empty
echo 'echo run by a shell' >no-interpreter
printf '#!%s/state  a  b \n' "$work" >state-script
printf '#!%s/no-permission\n' "$work" >no-permission-script
printf '#!%s/nonexistent\n' "$work" >no-file-script
chmod +x cut-off empty no-interpreter ./*-script
for way in $by_name fexecve posix_spawn posix_spawnp; do
	for file in ./nonexistent ./directory ./no-permission ./cut-off ./empty ./no-interpreter ./state-script \
		./no-permission-script ./no-file-script ./state/file nonexistent no-permission; do
		case $way$file in
		execvp./cut-off | execvpe./cut-off | execlp./cut-off) ;;
		*) is_same "$way" "$file" argument ;;
		esac
	done
done
# And they are errors.
is 'handed over: no permission' "$(exec_by execve ./no-permission)" EACCES
is 'handed over: no file' "$(exec_by execve ./nonexistent)" ENOENT
is 'handed over: no program' "$(exec_by execve ./cut-off)" ENOEXEC

is 'no cpuquota-exec: the program runs' "$(CPUQUOTA_EXEC=/nonexistent through_shell ./state count 2>&1)" "$real"
if [ "${newest:-}" ]; then
	is 'no cpuquota-exec: cgo runs' \
		"$(CPUQUOTA_EXEC=/nonexistent through_preload "$newest/cgo" 2>&1 | cut -d ' ' -f 1)" "$real"
fi

# No second trap below the first, by any way: the number of filters that there are.
# shellcheck disable=SC2209
count_filters='sed -n s/^Seccomp_filters:.//p /proc/self/status'
before=$($count_filters)
if [ "$before" ]; then
	is 'one trap' "$(through_exec "$wrapper" --trap=always sh -c "$count_filters")" $((before + 1))
	for inner in "$wrapper --trap=always" "$wrapper --trap=always $wrapper --trap=always" \
		"$wrapper --trap=always --init" "env LD_PRELOAD=$library"; do
		# shellcheck disable=SC2086 # commands
		is "no second trap: ${inner##*/}" "$(in_cgroup "$cgroup" "$wrapper" --trap=always $inner sh -c "$count_filters")" \
			$((before + 1))
	done
	# shellcheck disable=SC2016
	is 'cpuquota-exec below a trap' \
		"$(in_cgroup "$cgroup" "$wrapper" --trap=always sh -c '"$0" ./state count' "$wrapper" 2>&1)" 1
else
	skip 'no second trap' 'this kernel does not count filters'
fi

# GODEBUG.
godebug() { through_exec ./state | sed -n 's/.*"\(GODEBUG=.*\)"$/\1/p'; }
is 'GODEBUG is not set by keep' "$(godebug)" ''
is 'GODEBUG is left alone by keep' "$(GODEBUG=a=1 godebug)" 'GODEBUG=a=1'
CPUQUOTA=runtime_quota=hide
export CPUQUOTA
is 'GODEBUG by hide' "$(godebug)" 'GODEBUG=containermaxprocs=0'
is 'GODEBUG by hide: other keys are kept' "$(GODEBUG=a=1,b=2 godebug)" 'GODEBUG=a=1,b=2,containermaxprocs=0'
for value in containermaxprocs=1 a=1,containermaxprocs=1 containermaxprocs=1,b=2; do
	is "GODEBUG by hide: the user's stands: $value" "$(GODEBUG=$value godebug)" "GODEBUG=$value"
done
is 'GODEBUG by hide: a key that ends alike is another' "$(GODEBUG=xcontainermaxprocs=1 godebug)" \
	'GODEBUG=xcontainermaxprocs=1,containermaxprocs=0'
unset CPUQUOTA

# Programs that give rights keep them; they see the real CPUs.

as_user() { in_cgroup "$cgroup" setpriv --reuid 1000 --regid 1000 --clear-groups "$@"; }

# keeps_rights KIND FILE FIELD: the field of /proc/self/status that tells of the rights
keeps_rights() {
	with=$(as_user "$2" | grep "^$3:")
	without=$(as_user ./state | grep "^$3:")
	if [ "$with" = "$without" ]; then
		skip "$1 programs keep their rights" 'they have none here'
		return
	fi
	# shellcheck disable=SC2016
	is "handed over: $1 programs are not" \
		"$(as_user env LD_PRELOAD="$library" sh -c '"$0" "$@"; exit' "$2" | grep "^$3:")" "$with"
	is "exec: $1 programs keep their rights" "$(as_user "$wrapper" "$2" | grep "^$3:")" "$with"
	# Root may have both.
	is "exec: root sees the policy's number, $1" "$(through_exec "$2" count)" 1
}
if as_user ./state count >"$work/build.log" 2>&1; then
	cp state state-setuid && chmod 4755 state-setuid
	keeps_rights setuid ./state-setuid Uid
	cp state state-setgid && chgrp 5 state-setgid && chmod 2755 state-setgid
	keeps_rights setgid ./state-setgid Gid
	if cp state state-capability && setcap cap_net_raw+ep state-capability 2>"$work/build.log"; then
		keeps_rights 'file-capability' ./state-capability CapEff
	else
		skip 'file-capability programs keep their rights' "$(head -n 1 "$work/build.log")"
	fi
else
	skip 'setuid programs keep their rights' "$(head -n 1 "$work/build.log")"
fi

# Where there can be no trap, Go is told by its variable, and all programs run.
if [ "${newest:-}" ] && has_built 'no trap' "$cc" -O2 -o no-seccomp "$programs/no-seccomp.c"; then
	without_seccomp() { in_cgroup "$cgroup" ./no-seccomp "$@"; }
	for kind in static cgo; do
		is "no trap: GOMAXPROCS is set, $kind" "$(without_seccomp "$wrapper" "$newest/$kind" 2>&1)" "$real 1"
		is "no trap: GOMAXPROCS of the user, $kind" \
			"$(GOMAXPROCS=7 without_seccomp "$wrapper" "$newest/$kind" 2>&1)" "$real 7"
		matches "no trap: one line says so, $kind" \
			"$(CPUQUOTA_DEBUG=1 without_seccomp "$wrapper" "$newest/$kind" 2>&1 >/dev/null)" \
			"cpuquota-exec: $newest/$kind: no trap can be planted: Operation not permitted"
		is "no trap: by a shell, $kind" \
			"$(without_seccomp env LD_PRELOAD="$library" sh -c "$newest/$kind; exit" 2>&1)" "$real 1"
	done
	is 'no trap: cgo under LD_PRELOAD' "$(without_seccomp env LD_PRELOAD="$library" "$newest/cgo" 2>&1)" "$real 1"
	is 'no trap: other static programs' "$(without_seccomp "$wrapper" ./state count 2>&1)" "$real"
	is 'no trap: --init' "$(without_seccomp "$wrapper" --init "$newest/static" 2>&1)" "$real 1"
else
	skip 'no trap' 'no programs for that'
fi

done_testing
