#!/bin/sh
# SPDX-License-Identifier: MIT
# --explain: for real programs of all kinds the verdict is what then happens, in each way that they can be started; and
# what it says is of its schema. Needs root, and of Debian: default-jdk-headless gcc golang-go libc6-dev libc6-dev-i386
# libcap2-bin golang-uber-automaxprocs-dev musl-tools nginx-light nodejs python3 python3-jsonschema ruby util-linux; and
# what get-go needs. What is not there is skipped.

# shellcheck disable=SC2317 # functions that are called by a name put together
# shellcheck source=tests/lib.sh
. "${top_srcdir:?}/tests/lib.sh"

programs=$top_srcdir/tests/system/programs
python=/usr/bin/python3 # not a wrapper script of that name
schema=$top_srcdir/tests/system/explain-schema.json
real=$(getconf _NPROCESSORS_ONLN)
cc=${CC:-cc}

if ! "$python" -c 'import jsonschema' 2>/dev/null; then
	skip 'verdicts' 'no python3-jsonschema'
	done_testing
fi
if [ "$real" -lt 2 ]; then
	skip 'verdicts' 'one CPU tells nothing apart'
	done_testing
fi
if [ "$(id -u)" -ne 0 ]; then
	skip 'verdicts' 'not root'
	done_testing
fi

# One CPU is shown, whatever is installed on this machine. No limit is set, so that a runtime that looks for one itself
# finds all of them. Others have to be able to execute what is in $work.
CPUQUOTA_POLICY=$work/one.conf CPUQUOTA_EXEC=$wrapper
export CPUQUOTA_POLICY CPUQUOTA_EXEC
echo 'count = 1' >"$CPUQUOTA_POLICY"
unset GOMAXPROCS GODEBUG
chmod 755 "$work"
cd "$work" || exit
# They have to be able to read the library, too.
cp "$library" "$wrapper" "$work"
chmod 755 "$work/${library##*/}" "$work/${wrapper##*/}"
library=$work/${library##*/} wrapper=$work/${wrapper##*/}
CPUQUOTA_LIBRARY=$library CPUQUOTA_EXEC=$wrapper

explained() { "$python" "$programs/explained.py" "$schema" "$@"; }

as_user='setpriv --reuid 1000 --regid 1000 --clear-groups'

# start MODE COMMAND...: as $prefix, a list of words, has it.
start() {
	mode=$1
	shift
	# shellcheck disable=SC2086
	case $mode in
	env) $prefix env LD_PRELOAD="$library" "$@" ;;
	exec) $prefix "$wrapper" -- "$@" ;;
	init) $prefix "$wrapper" --init -- "$@" ;;
	esac
}

# explain COMMAND...: into the file `said`; the exit status is in $status.
explain() {
	status=0
	# shellcheck disable=SC2086
	$prefix "$wrapper" --explain --json -- "$@" >said 2>complaints || status=$?
}

# verdict NAME ASKS COMMAND...: the numbers that the command prints in each mode are those that follow from the verdict;
# ASKS says by which way each of them is found out. $codes: what the reasons must be, "MODE:CODE,... ..." in each mode
# that matters.
prefix='' codes=''
verdict() {
	name=$1 asks=$2
	shift 2
	explain "$@"
	is "$name: exit status" "$status" 0
	# shellcheck disable=SC2086
	if ! explained said verdict "$real" $asks >verdicts 2>&1; then
		fail "$name: explained" "$(tail -n 1 complaints)" "$(tail -n 1 verdicts)"
		return
	fi
	while read -r mode reached said_codes expected <&7; do
		observed=$(start "$mode" "$@" 2>&1 </dev/null 7<&- | tail -n 1) # the loader may have complained before
		matches "$name: $mode: $reached" "$observed" "$expected"
		check_codes
	done 7<verdicts
}

# check_codes: those in $said_codes are the ones that $codes has for $mode.
check_codes() {
	for code in $codes; do
		[ "${code%%:*}" != "$mode" ] || is "$name: $mode: why" "$said_codes" "${code#*:}"
	done
}

# no_start NAME COMMAND...: it cannot be executed, and cpuquota-exec's exit status is the one that was said.
no_start() {
	name=$1
	shift
	explain "$@"
	is "$name: exit status in JSON" "$(explained said get program.exit_status)" "$status"
	explained said verdict "$real" >verdicts
	is "$name: all modes are told of" "$(wc -l <verdicts)" 3
	while read -r mode reached said_codes <&7; do
		is "$name: $mode" "$reached" no
		observed=0
		start "$mode" "$@" >/dev/null 2>&1 </dev/null 7<&- || observed=$?
		is "$name: $mode: exit status" "$observed" "$status"
		check_codes
	done 7<verdicts
}

# with_library FUNCTION: it may change $library and $CPUQUOTA_LIBRARY.
with_library() {
	true_library=$library
	"$1"
	library=$true_library CPUQUOTA_LIBRARY=$true_library
}

# has_built NAME COMMAND...
has_built() {
	name=$1
	shift
	if "$@" >build.log 2>&1; then
		return
	fi
	skip "$name" "cannot be built: $(head -n 1 build.log)"
	return 1
}

# ---- libc, and none

if has_built 'dynamic programs' "$cc" -o cpus "$programs/cpus.c"; then
	verdict 'dynamic' 'counts affinity' ./cpus
	is 'dynamic: kind, libc, bits' "$(explained said get program.kind program.libc program.bits)" 'dynamic glibc 64'
	PATH=$work:$PATH verdict 'found by PATH' 'counts affinity' cpus
	is 'found by PATH: where' "$(PATH=$work:$PATH "$wrapper" --explain cpus | sed -n 's/^  found  *//p')" "$work/cpus"
	CPUQUOTA=trap=always verdict 'dynamic, trap=always' 'counts affinity' ./cpus
	is 'dynamic, trap=always: by' "$(explained said get program.modes.1.by)" '["preload", "trap"]'
	codes='env:affinity_real exec:affinity_real'
	CPUQUOTA=affinity=real verdict 'dynamic, affinity=real' 'counts affinity' ./cpus
	codes='env:off exec:off init:off'
	CPUQUOTA=off verdict 'off' 'counts affinity' ./cpus
	# shellcheck disable=SC2034 # $library is for start
	no_library() {
		library=/nonexistent/libcpuquota.so CPUQUOTA_LIBRARY=/nonexistent/libcpuquota.so
		verdict 'no library' 'counts affinity' ./cpus
	}
	codes='env:no_library exec:no_library init:no_library'
	with_library no_library
	odd_library() {
		mkdir -p 'a b'
		cp "$library" 'a b'
		library="$work/a b/libcpuquota.so" CPUQUOTA_LIBRARY=$library
		verdict 'a library whose path has a space' 'counts affinity' ./cpus
	}
	codes='env:library_name exec:library_name init:library_name'
	with_library odd_library
	broken_library() {
		mkdir -p broken
		echo 'this is none' >broken/libcpuquota.so
		library=$work/broken/libcpuquota.so CPUQUOTA_LIBRARY=$library
		verdict 'a library that is none' 'counts affinity' ./cpus
	}
	codes='env:library_refused exec:library_refused init:library_refused'
	with_library broken_library
	codes=
	cp cpus unreadable
	chmod 711 unreadable
	prefix=$as_user codes='env:unreadable exec:unreadable init:unreadable'
	verdict 'a file that may not be read' 'counts affinity' ./unreadable
	prefix='' codes=''
fi
if has_built 'musl' musl-gcc -o cpus-musl "$programs/cpus.c"; then
	verdict 'musl' 'counts affinity' ./cpus-musl
	is 'musl: libc' "$(explained said get program.libc)" musl
fi
if has_built AddressSanitizer gcc -fsanitize=address -o cpus-asan "$programs/cpus.c"; then
	explain ./cpus-asan
	explained said verdict "$real" counts >verdicts
	codes='env:sanitizer exec:sanitizer init:sanitizer'
	while read -r mode reached said_codes expected <&7; do
		is "AddressSanitizer: $mode" "$reached" no
		matches "AddressSanitizer: $mode: it ends" "$(start "$mode" ./cpus-asan 2>&1 7<&-)" '*ASan runtime does not come first*'
		check_codes
	done 7<verdicts
	codes=
	ASAN_OPTIONS=verify_asan_link_order=0
	export ASAN_OPTIONS
	verdict 'AddressSanitizer, told not to mind' 'counts affinity' ./cpus-asan
	unset ASAN_OPTIONS
fi
codes='env:static exec:kernel_only init:kernel_only'
if has_built 'static programs' "$cc" -static -o cpus-static "$programs/cpus.c"; then
	verdict 'static' 'counts affinity' ./cpus-static
	is 'static: kind, libc' "$(explained said get program.kind program.libc program.modes.1.reached)" 'static glibc partly'
	codes='env:static exec:trap_never init:trap_never'
	CPUQUOTA=trap=never verdict 'static, trap=never' 'counts affinity' ./cpus-static
	hand_over_said() { "$wrapper" "$@" --explain ./cpus-static | tr -s ' \n' ' '; }
	matches 'static: it can be handed over' "$(hand_over_said)" '*ENV LD_PRELOAD no it has no loader*the library hands it over*'
	matches 'static, trap=never: it is not handed over' "$(hand_over_said --trap never)" '*loader*nor does*trap = never*'
	matches 'static, affinity=real: nor is it then' "$(hand_over_said -s affinity=real)" '*loader*nor does*affinity = real*'
	matches 'static, no cpuquota-exec: nor is it then' "$(CPUQUOTA_EXEC=/nonexistent hand_over_said)" '*loader*nor does*not there*'
	matches 'static, no library: nor is it then' "$(CPUQUOTA_LIBRARY=/nonexistent hand_over_said)" '*loader*nor does*not found*'
	codes='env:static exec:affinity_real init:affinity_real'
	CPUQUOTA=affinity=real verdict 'static, affinity=real' 'counts affinity' ./cpus-static
fi
codes='env:static exec:kernel_only init:kernel_only'
if has_built 'static-pie programs' "$cc" -static-pie -fPIE -o cpus-static-pie "$programs/cpus.c"; then
	verdict 'static-pie' 'counts affinity' ./cpus-static-pie
	is 'static-pie: kind' "$(explained said get program.kind)" static-pie
fi
if has_built 'static musl' musl-gcc -static -o cpus-musl-static "$programs/cpus.c"; then
	verdict 'static musl' 'counts affinity' ./cpus-musl-static
fi
if has_built 'i386 without libc' "$cc" -m32 -O1 -fno-stack-protector -fno-pie -nostdlib -static -o cpus-i386 \
	"$programs/cpus-i386.c" && ./cpus-i386 >build.log 2>&1; then
	verdict 'i386, static' 'affinity' ./cpus-i386
	is 'i386, static: bits, machine' "$(explained said get program.bits program.machine)" '32 i386'
else
	skip 'i386, static' 'this kernel does not run it'
fi
codes='env:wrong_class exec:kernel_only,wrong_class init:kernel_only,wrong_class'
if has_built 'i386 with glibc' "$cc" -m32 -o cpus-i386-glibc "$programs/cpus.c" && ./cpus-i386-glibc >build.log 2>&1; then
	verdict 'i386, dynamic' 'counts affinity' ./cpus-i386-glibc
else
	skip 'i386, dynamic' 'this kernel does not run it'
fi
codes=

# ---- Go

# go_verdicts NAME DIRECTORY
go_verdicts() {
	codes=env:static
	verdict "Go $1, static" 'affinity gomaxprocs' "$2/static"
	matches "Go $1, static: version" "$(explained said get program.go.version)" "go$1*"
	is "Go $1, static: whether it reads the limit" "$(explained said get program.go.reads_limit)" \
		"$(if [ "${1#1.}" -ge 25 ]; then echo true; else echo false; fi)"
	codes=
	verdict "Go $1, pie" 'affinity gomaxprocs' "$2/pie"
	verdict "Go $1, cgo" 'affinity gomaxprocs' "$2/cgo"
	codes=env:not_handed_over
	verdict "Go $1, cgo, stripped" 'affinity gomaxprocs' "$2/stripped"
	codes=
}
go=
for suite in here sid; do
	if go_of_suite=$("$top_srcdir/tests/system/get-go" "$suite" 2>build.log); then
		read -r version <"$go_of_suite/version"
		go_verdicts "$version" "$go_of_suite"
		# Later ones may need a loader that a user cannot read.
		go=${go:-$go_of_suite}
	else
		skip "Go of $suite" "$(tail -n 1 build.log)"
	fi
done
if [ "$go" ]; then
	cp "$go/static" go-static
	cp "$go/cgo" go-cgo
	codes='exec:gomaxprocs_set init:gomaxprocs_set'
	GOMAXPROCS=7
	export GOMAXPROCS
	verdict 'Go, GOMAXPROCS is set' 'affinity gomaxprocs' ./go-static
	unset GOMAXPROCS
	codes='env:trap_never exec:trap_never init:trap_never'
	CPUQUOTA=trap=never verdict 'Go, cgo, trap=never' 'affinity gomaxprocs' ./go-cgo
	codes=env:no_exec
	CPUQUOTA_EXEC=/nonexistent/cpuquota-exec verdict 'Go, cgo, no cpuquota-exec to hand over to' 'affinity gomaxprocs' ./go-cgo
	codes=
	prefix="$as_user --no-new-privs"
	verdict 'Go, no_new_privs' 'affinity gomaxprocs' ./go-static
	prefix="$wrapper --set count=1 --trap=always --" codes='exec:below_trap init:below_trap'
	verdict 'Go, below a trap' 'affinity gomaxprocs' ./go-static
	prefix='' codes=''
fi

# With the real module, as Debian has it. What it does is its own matter; Go's threads then may not be as many as are shown.
automaxprocs=/usr/share/gocode/src/go.uber.org/automaxprocs
make_automaxprocs() {
	mkdir -p automaxprocs
	cat >automaxprocs/main.go <<-'END'
		package main

		import (
			"fmt"
			"runtime"

			_ "go.uber.org/automaxprocs"
		)

		func main() { fmt.Println(runtime.NumCPU(), runtime.GOMAXPROCS(0)) }
	END
	(cd automaxprocs && GOFLAGS=-mod=mod GOPROXY=off GOSUMDB=off GOTOOLCHAIN=local CGO_ENABLED=0 &&
		export GOFLAGS GOPROXY GOSUMDB GOTOOLCHAIN CGO_ENABLED && go mod init example.org/main &&
		go mod edit -require=go.uber.org/automaxprocs@v0.0.0 -replace="go.uber.org/automaxprocs=$automaxprocs" &&
		go build -o ../automaxprocs.exe)
}
if has_built automaxprocs make_automaxprocs; then
	codes='exec:automaxprocs init:automaxprocs'
	verdict 'Go, automaxprocs' 'affinity gomaxprocs' ./automaxprocs.exe
	is 'Go, automaxprocs: is found, and only partly reached' \
		"$(explained said get program.go.automaxprocs program.modes.1.reached)" 'true partly'
	codes=
fi

# ---- filters and rights

if [ -x cpus-static ] && has_built 'no trap' "$cc" -O2 -o no-seccomp "$programs/no-seccomp.c"; then
	prefix=./no-seccomp codes='env:static exec:trap_forbidden init:trap_forbidden'
	verdict 'static, filters are forbidden' 'counts affinity' ./cpus-static
	codes=
	verdict 'dynamic, filters are forbidden' 'counts affinity' ./cpus
	if [ "$go" ]; then
		codes='env:static exec:gomaxprocs,trap_forbidden init:gomaxprocs,trap_forbidden'
		verdict 'Go, filters are forbidden' 'affinity gomaxprocs' ./go-static
		codes='env:gomaxprocs,trap_forbidden exec:gomaxprocs,trap_forbidden init:gomaxprocs,trap_forbidden'
		verdict 'Go, cgo, filters are forbidden' 'affinity gomaxprocs' ./go-cgo
	fi
	prefix='' codes=''
fi
if has_built 'another listener' "$cc" -O2 -o other-listener "$programs/other-listener.c"; then
	prefix=./other-listener codes='env:static exec:trap_busy init:trap_busy'
	verdict 'static, below a filter with a listener' 'counts affinity' ./cpus-static
	prefix='' codes=''
fi

# A user who may start no further process: there is none to answer a trap, nor for --init.
if [ -x cpus-static ] && command -v prlimit >build.log && command -v setpriv >build.log; then
	prefix='prlimit --nproc=1:1 setpriv --reuid 61235 --regid 61235 --clear-groups'
	explain ./cpus-static
	explained said verdict "$real" counts affinity >verdicts
	is 'static, no further process: verdicts' "$(cut -d ' ' -f 1-3 verdicts | paste -sd ,)" \
		'env no static,exec no no_process,init no no_process'
	is 'static, no further process' "$(start exec ./cpus-static)" "$real $real"
	observed=0
	start init ./cpus-static >said 2>&1 || observed=$?
	matches 'static, no further process, --init' "$observed $(cat said)" '125 *no child can be started: *'
	explain ./cpus
	is 'dynamic, no further process: --init does not start' "$(explained said get program.modes.2.reached)" no
	codes=
	prefix=''
fi

# Rights: what counts is who starts it.
if [ -x cpus ] && command -v setpriv >build.log; then
	cp cpus cpus-setuid
	cp cpus-static cpus-setuid-static
	chown 1 cpus-setuid cpus-setuid-static
	chmod 4755 cpus-setuid cpus-setuid-static
	cp cpus cpus-root
	chmod 4755 cpus-root
	cp cpus cpus-setgid
	chgrp 1 cpus-setgid
	chmod 2755 cpus-setgid
	verdict 'setuid root, by root' 'counts affinity' ./cpus-root
	is 'setuid root, by root: rights' "$(explained said get program.rights program.secure_execution)" '["setuid"] false'
	codes='env:secure_execution exec:secure_execution init:secure_execution'
	verdict 'setuid, by root' 'counts affinity' ./cpus-setuid
	verdict 'setgid, by root' 'counts affinity' ./cpus-setgid
	prefix=$as_user
	verdict 'setuid root, by a user' 'counts affinity' ./cpus-root
	verdict 'setgid, by a user' 'counts affinity' ./cpus-setgid
	codes='env:static exec:trap_forbidden init:trap_forbidden'
	verdict 'setuid, static, by a user' 'counts affinity' ./cpus-setuid-static
	prefix="$as_user --no-new-privs" codes=
	verdict 'setuid root, no_new_privs' 'counts affinity' ./cpus-root
	verdict 'dynamic, no_new_privs' 'counts affinity' ./cpus
	verdict 'static, no_new_privs' 'counts affinity' ./cpus-static
	prefix=$as_user
	verdict 'static, by a user' 'counts affinity' ./cpus-static
	prefix=
	verdict 'setuid, static, by root' 'counts affinity' ./cpus-setuid-static
	cp cpus cpus-capabilities
	if has_built 'file capabilities' setcap cap_net_raw+ep cpus-capabilities; then
		verdict 'file capabilities, by root' 'counts affinity' ./cpus-capabilities
		prefix=$as_user codes='env:secure_execution exec:secure_execution init:secure_execution'
		verdict 'file capabilities, by a user' 'counts affinity' ./cpus-capabilities
		prefix='' codes=''
	fi
fi

# ---- files of other kinds

if [ -x cpus ]; then
	printf '#!/bin/sh\nexec %s/cpus\n' "$work" >script
	printf '#!%s/script\n' "$work" >script-of-script
	printf '#!/usr/bin/env -S sh\nexec %s/cpus\n' "$work" >script-of-env
	printf '%s/cpus\n' "$work" >text
	: >empty
	chmod 755 script script-of-script script-of-env text empty
	verdict 'script' 'counts affinity' ./script
	is 'script: kind, interpreters' "$(explained said get program.kind program.interpreters)" 'script ["/bin/sh"]'
	verdict 'script of a script' 'counts affinity' ./script-of-script
	is 'script of a script: interpreters' "$(explained said get program.interpreters)" "[\"$work/script\", \"/bin/sh\"]"
	verdict 'script of env' 'counts affinity' ./script-of-env
	is 'script of env: what it executes' "$(explained said get program.env_program)" "$(readlink -f "$(command -v sh)")"
	# What env executes counts, and that may be such a script again; the library that env has hands it over.
	printf '#!/usr/bin/env cpus-static\n' >static-of-env
	printf '#!/usr/bin/env -S A=1 static-of-env\n' >script-of-env-of-env
	printf '#!/usr/bin/env -S -u LD_PRELOAD sh\nexec %s/cpus\n' "$work" >options-of-env
	printf '#!/usr/bin/env cpuquota-nonexistent\n' >nothing-of-env
	printf '#!/usr/bin/env sh -e\n' >two-words-of-env
	printf '#!/usr/bin/env no-permission\n' >no-permission-of-env
	echo '#!/bin/sh' >no-permission
	chmod 755 static-of-env script-of-env-of-env options-of-env nothing-of-env two-words-of-env no-permission-of-env
	true_path=$PATH PATH=$work:$PATH
	if [ -x cpus-static ]; then
		codes='env:kernel_only exec:kernel_only init:kernel_only'
		verdict 'static, by a script of env' 'counts affinity' ./static-of-env
		is 'static, by a script of env: what it executes' "$(explained said get program.linkage program.env_program)" \
			"static $work/cpus-static"
		verdict 'static, by env and env' 'counts affinity' ./script-of-env-of-env
		codes='env:no_exec exec:no_exec init:no_exec'
		CPUQUOTA_EXEC=/nonexistent/cpuquota-exec \
			verdict 'static, by a script of env, no cpuquota-exec' 'counts affinity' ./static-of-env
		codes='env:trap_never exec:trap_never init:trap_never'
		CPUQUOTA=trap=never verdict 'static, by a script of env, trap=never' 'counts affinity' ./static-of-env
		codes='env:kernel_only exec:kernel_only init:kernel_only'
		CPUQUOTA=trap=always verdict 'static, by a script of env, trap=always' 'counts affinity' ./static-of-env
	fi
	codes='env:env_options exec:env_options init:env_options'
	verdict 'a script of env with options' 'counts affinity' ./options-of-env
	codes='env:cannot_execute exec:cannot_execute init:cannot_execute'
	no_start 'a script of env, not found' ./nothing-of-env
	is 'a script of env, not found: exit status' "$status" 127
	no_start 'a script of env, two words' ./two-words-of-env
	is 'a script of env, two words: exit status' "$status" 127
	no_start 'a script of env, no permission' ./no-permission-of-env
	is 'a script of env, no permission: exit status' "$status" 126
	PATH=$true_path
	codes=env:for_shell
	verdict 'text without #!' 'counts affinity' ./text
	is 'text without #!: kind, bits' "$(explained said get program.kind program.bits)" 'text 64'
	verdict 'empty file' '' ./empty
	is 'empty file: kind' "$(explained said get program.kind)" empty
	codes=
	# Descriptors of files without a name.
	cp cpus deleted
	exec 8<deleted
	rm deleted
	verdict 'a deleted file' 'counts affinity' /proc/self/fd/8
	exec 8<&-
	# shellcheck disable=SC2016
	in_memory='import os, sys
memory = os.memfd_create("program", 0)
os.write(memory, open(sys.argv[1], "rb").read())
os.dup2(memory, 9)
os.execvp(sys.argv[2], sys.argv[2:])'
	# It is the prefix of all that is started, which then has the program as descriptor 9.
	printf '#!%s\nimport sys\nsys.argv[1:1] = ["%s"]\n%s\n' "$python" "$work/cpus" "$in_memory" >memory
	printf '#!%s\nimport sys\nsys.argv[1:1] = ["%s"]\n%s\n' "$python" "$work/cpus-static" "$in_memory" >memory-static
	chmod 755 memory memory-static
	prefix=./memory
	verdict 'a memfd' 'counts affinity' /proc/self/fd/9
	prefix=./memory-static codes='env:static exec:kernel_only init:kernel_only'
	verdict 'a memfd, static' 'counts affinity' /proc/self/fd/9
	prefix='' codes=''
fi

# ---- runtimes

verdict 'Python' 'counts affinity' "$python" -c 'import os; print(os.cpu_count(), len(os.sched_getaffinity(0)))'
is 'Python: by name' "$(explained said get program.runtime.name)" Python
if command -v node >build.log; then
	verdict 'Node' 'affinity files' node -p 'os.availableParallelism() + " " + os.cpus().length'
	is 'Node: by name' "$(explained said get program.runtime.name)" Node
else
	skip 'Node' 'no node'
fi
if command -v ruby >build.log; then
	verdict 'Ruby' affinity ruby --disable-gems -r etc -e 'puts Etc.nprocessors'
	is 'Ruby: by name' "$(explained said get program.runtime.name)" Ruby
else
	skip 'Ruby' 'no ruby'
fi
if command -v java >build.log && has_built 'Java' javac -d "$work" "$programs/Processors.java"; then
	verdict 'JVM' affinity java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto -cp "$work" Processors
	is 'JVM: by name' "$(explained said get program.runtime.name)" JVM
fi

# nginx is its own witness: a script counts its workers.
make_nginx() {
	command -v nginx || return
	mkdir nginx
	cat >nginx/nginx.conf <<-END
		worker_processes auto;
		daemon off;
		pid $work/nginx/pid;
		error_log $work/nginx/log notice;
		events { worker_connections 8; }
	END
}
if has_built 'nginx' make_nginx; then
	explain nginx
	is 'nginx: by name' "$(explained said get program.runtime.name)" nginx
	explained said verdict "$real" counts >verdicts
	while read -r mode reached said_codes expected <&7; do
		rm -f nginx/pid nginx/log
		start "$mode" nginx -p "$work/nginx" -c "$work/nginx/nginx.conf" >nginx/said 2>&1 7<&- &
		for _ in $(seq 500); do
			# When the master has answered a signal, it has started all of its workers.
			if [ -s nginx/pid ] && kill -USR1 "$(cat nginx/pid)" && grep -qs 'reopening logs' nginx/log; then
				break
			fi
			sleep 0.02
		done
		master=$(cat nginx/pid)
		is "nginx: $mode: $reached" "$(wc -w <"/proc/$master/task/$master/children")" "$expected"
		kill -QUIT "$master"
		wait
	done 7<verdicts
fi

# ---- what does not start

codes='env:not_found exec:not_found init:not_found'
no_start 'not found' ./nonexistent
is 'not found: exit status' "$status" 127
no_start 'not found by PATH' cpuquota-nonexistent
is 'not found by PATH: exit status' "$status" 127
long=$(printf '%0300d' 0)
mkdir -m 700 closed
cp "$(command -v true)" closed/in-closed
ln -s loop loop
for program in ./loop loop ./said/below "./$long" "$long"; do
	PATH=$work:$PATH no_start "not to be found: $(printf '%.12s' "$program")" "$program"
	is "$name: exit status" "$status" 126
done
for program in closed/in-closed in-closed; do
	prefix=$as_user PATH=$work/closed:$PATH no_start "in a closed directory: $program" "$program"
	is "$name: exit status" "$status" 126
done
codes='env:cannot_execute exec:cannot_execute init:cannot_execute'
mkdir directory
no_start 'directory' ./directory
is 'directory: exit status, kind' "$status $(explained said get program.kind)" '126 directory'
printf '#!/nonexistent/sh\n' >no-interpreter
chmod 755 no-interpreter
no_start 'missing interpreter' ./no-interpreter
is 'missing interpreter: exit status' "$status" 127
echo '#!/bin/sh' >no-permission
chmod 644 no-permission
no_start 'no permission' ./no-permission
is 'no permission: exit status' "$status" 126
if [ -x cpus ]; then
	has_built 'a program whose loader is missing' "$cc" -Wl,--dynamic-linker=/nonexistent/ld.so -o no-loader "$programs/cpus.c" &&
		no_start 'missing loader' ./no-loader
	make_no_library() {
		echo 'int there(void) { return 1; }' >there.c
		printf 'int there(void); int main(void) { return !there(); }\n' >no-library.c
		"$cc" -shared -fPIC -o libthere.so there.c && "$cc" -o no-library no-library.c -L. -lthere && rm libthere.so
	}
	codes='env:missing_library exec:missing_library init:missing_library'
	if has_built 'a program whose library is missing' make_no_library; then
		name='missing library'
		explain ./no-library
		is 'missing library: which' "$(explained said get program.missing_libraries)" '["libthere.so"]'
		explained said verdict "$real" >verdicts
		while read -r mode reached said_codes <&7; do
			observed=$(start "$mode" ./no-library 2>&1 7<&-)
			matches "missing library: $mode: $reached" "$observed" '*libthere.so*'
			check_codes
		done 7<verdicts
	fi
fi
codes=

# ---- real limits, level by level

if have_cgroups; then
	cat >"$CPUQUOTA_POLICY" <<-'END'
		# The last of those that apply wins.
		round = nearest
		[program cpus]
		round = floor
		[program nobody]
		max = 7
		[go]
		min = 2
	END
	new_cgroup 150000
	outer=$cgroup
	new_cgroup max "$outer" # version 1 takes no limit above that of the level above
	prefix="in_cgroup $cgroup"
	# shellcheck disable=SC2086 # $prefix
	for limit in 50000 100000 150000 180000; do
		set_limit "$outer" "$limit"
		explain ./cpus
		wanted=$(expected_count "$limit" floor 1 0 "$real")
		is "limit $limit: the number, its last step" "$(explained said get cpus.shown_count) $("$python" -c \
			'import json; print(json.load(open("said"))["policy"]["steps"][-1]["count"])')" "$wanted $wanted"
		is "limit $limit: effective" "$(explained said get cgroup.limit.quota cgroup.limit.period cgroup.limit.cpus)" \
			"$limit 100000 $(awk -v limit="$limit" 'BEGIN { print limit % 100000 ? limit / 100000 : limit / 100000 ".0" }')"
		observed=$(start exec ./cpus)
		is "limit $limit: what a program sees" "$observed" "$wanted $wanted"
		# A capture has the same levels, with the policy that holds for no program in particular.
		rm -rf captured
		$prefix "$wrapper" --explain --json >said
		live=$(explained said get cpus.shown_count cpus.real cgroup.version cgroup.limit policy.steps)
		succeeds "limit $limit: capture" $prefix "$wrapper" --capture captured
		is "limit $limit: capture, --count" "$(env -u CPUQUOTA_POLICY "$wrapper" --count --sysroot captured)" \
			"$($prefix "$wrapper" --count)"
		env -u CPUQUOTA_POLICY "$wrapper" --explain --json --sysroot captured >said
		is "limit $limit: capture, --explain" \
			"$(explained said get cpus.shown_count cpus.real cgroup.version cgroup.limit policy.steps)" "$live"
	done
	set_limit "$outer" 150000
	explain ./cpus
	is 'levels: paths, from the inside out' "$(explained said get cgroup.levels.0.path cgroup.levels.1.path)" "$cgroup $outer"
	is 'levels: which is effective' "$(explained said get cgroup.levels.0.effective cgroup.levels.1.effective)" 'false true'
	set_limit "$cgroup" 100000
	explain ./cpus
	is 'levels: the inner one is tighter' "$(explained said get cgroup.levels.0.effective cgroup.levels.1.effective \
		cgroup.levels.1.limit.quota)" 'true false 150000'
	set_limit "$cgroup" max
	explain ./cpus
	is 'policy: the line that decided' "$(explained said get policy.keys.round.value policy.keys.round.from policy.keys.round.line)" \
		"floor $CPUQUOTA_POLICY 4"
	is 'policy: what is about others' "$(explained said get policy.keys.max.value policy.keys.max.from policy.keys.max.line)" \
		'unset null null'
	prefix='' explain ./cpus
	$wrapper --set round=ceil --explain --json >said
	is 'policy: a variable decided' "$(explained said get policy.keys.round.value policy.keys.round.from policy.keys.round.line)" \
		'ceil CPUQUOTA null'
	if [ "$go" ]; then
		explain ./go-static
		is 'policy: of Go' "$(explained said get policy.keys.min.value policy.keys.min.line)" '2 8'
	fi
	# automaxprocs rounds the limit of 1.5 CPUs down, whatever the policy says.
	if [ -x automaxprocs.exe ]; then
		prefix="in_cgroup $cgroup"
		set_limit "$cgroup" 150000 # it looks at no other level
		is 'automaxprocs has a rule of its own' "$(start exec ./automaxprocs.exe 2>/dev/null)" \
			"$(expected_count 150000 nearest 2 0 "$real") $(expected_count 150000 floor 1 0 "$real")"
		set_limit "$cgroup" max
	fi
	prefix="in_cgroup $cgroup"
	$prefix "$wrapper" --explain ./cpus >text
	matches 'as text: the effective level' "$(tr -s ' \n' ' ' <text)" "* 1.5 150000/100000 us, effective: $outer *"
	matches 'as text: what decided' "$(tr -s ' \n' ' ' <text)" "*a limit of 1.5 CPUs, round = floor ($CPUQUOTA_POLICY:4): 1*"
	prefix=''
else
	skip 'levels' 'no cgroup with a CPU limit can be made here'
fi

prefix='' status=0
"$wrapper" --explain --json --sysroot nonexistent >said || status=$?
is 'a tree that is not there: exit status, JSON' "$status $(explained said get cpus.shown_count cpus.error ways)" \
	'125 null No such file or directory null'

# ---- Go's build information, and files that are broken

# As Go wrote it up to 1.17: pointers to strings.
if has_built 'old build information' "$cc" -static -fno-pie -no-pie -o go-old "$programs/go-buildinfo.c"; then
	explain ./go-old
	is 'Go 1.15, by pointers' "$(explained said get program.go.version program.go.automaxprocs)" 'go1.15.15 true'
fi
# Each copy has other bytes of its headers, or of its build information, changed. None of them is let run.
broken() {
	"$python" - "$1" <<-'END'
		import os, random, subprocess, sys
		random.seed(5)
		whole = bytearray(open(sys.argv[1], "rb").read())
		at = whole.find(b"\xff Go buildinf:")
		places = [(0, 1200)] + ([(at, 96)] if at > 0 else [])
		bad = []
		for n in range(60):
		    copy = bytearray(whole)
		    begin, length = random.choice(places)
		    for _ in range(random.randint(1, 6)):
		        copy[begin + random.randrange(length)] = random.choice([0, 1, 255, 127, random.randrange(256)])
		    if n % 5 == 0:
		        del copy[random.randrange(4096):]
		    with open("broken.exe", "wb") as stream:
		        stream.write(copy)
		    os.chmod("broken.exe", 0o755)
		    r = subprocess.run([os.environ["CPUQUOTA_EXEC"], "--explain", "--json", "./broken.exe"], capture_output=True)
		    if r.returncode not in (0, 126, 127) or not r.stdout.endswith(b"}\n"):
		        bad.append((n, r.returncode))
		print(len(bad), bad[:3])
	END
}
for file in cpus cpus-static go-static go-old; do
	[ ! -x "$file" ] || is "broken copies of $file" "$(broken "$file")" '0 []'
done

done_testing
