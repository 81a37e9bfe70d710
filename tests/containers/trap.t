#!/bin/sh
# SPDX-License-Identifier: MIT
# The trap in containers by podman and dockerd, with their own seccomp profiles: Go programs FROM scratch below
# cpuquota-exec, with rights and without, below another init and as PID 1; and programs that a preloaded shell becomes.
# Needs root, and of Debian: podman catatonit docker.io tini runc conmon debootstrap (for get-root), and what
# tests/system/get-go says.

# shellcheck disable=SC2317 # functions that are called by a name in an argument
# shellcheck source=tests/lib.sh
. "${top_srcdir:?}/tests/lib.sh"
# shellcheck source=tests/containers/lib.sh
. "$top_srcdir/tests/containers/lib.sh"

# Both engines with storage and settings of their own, so that the machine's are left alone.
engines=$work/engines
mkdir "$engines"

use_private_podman "$engines"

clean_up_containers() {
	if command -v podman >/dev/null; then
		our_podman rm --all --force --time 0 >/dev/null 2>&1
		our_podman rmi --all --force >/dev/null 2>&1
	fi
	stop_dockerd
	remove_container_cgroups
	# What an engine has mounted there, should it have failed.
	unmount_below "$engines"
	clean_up
}
trap clean_up_containers EXIT

if [ "$(id -u)" -ne 0 ] || ! have_cgroups; then
	skip 'the trap in containers' 'needs root, and cgroups with a CPU limit'
	done_testing
fi
if [ "$real" -lt 2 ]; then
	skip 'the trap in containers' 'one CPU tells nothing apart'
	done_testing
fi

# What goes into the images.
context=$work/context
mkdir "$context"
cp "$library" "$context/libcpuquota.so"
cp "$wrapper" "$context/cpuquota-exec"
programs=
for suite in here sid; do
	if built=$("$top_srcdir/tests/system/get-go" "$suite" 2>"$work/get-go"); then
		cp "$built/static" "$context/go-$suite"
		programs="$programs /go-$suite"
	else
		skip "Go of $suite" "$(tail -n 1 "$work/get-go")"
	fi
done
if [ -z "$programs" ]; then
	done_testing
fi
program=${programs##* }
if ! copy_root bullseye "$context/root"; then
	skip 'the trap in containers' 'no root file system'
	done_testing
fi
# shellcheck disable=SC2016
cat >"$context/serve" <<'END'
#!/bin/sh
trap 'echo terminated; exit 9' TERM
echo "$$"
while :; do sleep 0.1; done
END
chmod 755 "$context/serve"

# build NAME [LINE]...: an image, by $engine.
build() {
	name=$1
	shift
	printf '%s\n' "$@" >"$context/Dockerfile"
	case $engine in
	our_podman) our_podman build --quiet --layers=false --pull=never --tag "$name" "$context" 2>&1 ;;
	*) our_docker build --quiet --tag "$name" "$context" 2>&1 ;;
	esac
}

# run CPUS ARGUMENT...
run() {
	cpus=$1
	shift
	"$engine" run --rm --network none --cgroup-parent "/$container_parent" --cpus "$cpus" "$@" 2>&1
}

# start ARGUMENT...: its number is then in $container; waits until it has said something.
start() {
	container=$(
		"$engine" run --detach --network none --cgroup-parent "/$container_parent" --cpus 1 "$@" 2>"$work/start"
	) || cat "$work/start"
	for _ in $(seq 50); do
		[ -z "$("$engine" logs "$container" 2>/dev/null)" ] || break
		sleep 0.1
	done
}

# stopped DESCRIPTION STATUS OUTPUT: the container of start(), told to stop, ends with STATUS and has said OUTPUT. 137
# would be that of SIGKILL, which comes after the time that engines wait.
stopped() {
	"$engine" stop --time 15 "$container" >/dev/null
	is "$1" "$("$engine" wait "$container"), $("$engine" logs "$container" 2>&1 | paste -sd ' ' -)" "$2, $3"
	"$engine" rm --force "$container" >/dev/null
}

unprivileged='--user 1000 --cap-drop=ALL --security-opt no-new-privileges --read-only'

# check_counts ABOUT IMAGE [OPTION]...: every program, under every limit.
check_counts() {
	about=$1 image=$2
	shift 2
	for limit in 0.5=50000 1=100000 1.5=150000; do
		for each in $programs; do
			count=$(expected_count "${limit#*=}" ceil 1 0 "$real")
			is "${engine#our_}, $about, --cpus ${limit%=*}: ${each#/}" \
				"$(run "${limit%=*}" "$@" "$image" "$each")" "$count $count"
		done
	done
}

# What --init of the engines needs.
has_init() {
	case $engine in
	our_podman) [ -x /usr/libexec/podman/catatonit ] ;;
	*) command -v docker-init >/dev/null ;;
	esac
}

check_engine() {
	succeeds "${engine#our_}: an image is built from scratch" \
		build scratch 'FROM scratch' 'COPY cpuquota-exec go-* /' 'ENTRYPOINT ["/cpuquota-exec", "--"]'
	succeeds "${engine#our_}: an image with an init of ours" \
		build scratch-init 'FROM scratch' 'COPY cpuquota-exec go-* /' 'ENTRYPOINT ["/cpuquota-exec", "--init", "--"]'
	succeeds "${engine#our_}: an image of Debian" build debian 'FROM scratch' 'ADD root /' 'COPY go-* serve /' \
		'COPY cpuquota-exec /usr/bin/' 'COPY libcpuquota.so /usr/lib/' \
		'ENV CPUQUOTA_EXEC=/usr/bin/cpuquota-exec CPUQUOTA_LIBRARY=/usr/lib/libcpuquota.so'
	succeeds "${engine#our_}: an image of Debian with LD_PRELOAD" \
		build preload 'FROM debian' 'ENV LD_PRELOAD=/usr/lib/libcpuquota.so'

	is "${engine#our_}: without a trap the machine is seen" \
		"$(run 1 --entrypoint "$program" scratch)" "$real $real"
	check_counts 'root' scratch
	check_counts 'user 1000' scratch --user 1000
	# shellcheck disable=SC2086 # options
	{
		check_counts 'no rights' scratch $unprivileged
		check_counts 'no rights, init of ours' scratch-init $unprivileged
	}
	is "${engine#our_}: floor" "$(run 1.5 --env CPUQUOTA=round=floor scratch "$program")" '1 1'
	is "${engine#our_}: init of ours, exit status" "$(run 1 scratch-init "$program" wrong >/dev/null; echo $?)" 2

	# --explain foretells that, by the engine's own seccomp profile.
	for options in '' '--user 1000' "$unprivileged"; do
		# shellcheck disable=SC2086 # options
		matches "${engine#our_}: --explain${options:+, $options}" \
			"$(run 1 $options --entrypoint /cpuquota-exec scratch --explain "$program")" \
			'CPUs*shown * 1 of *Reached*ENV LD_PRELOAD * no*cpuquota-exec * yes, by the trap*cpuquota-exec --init * yes, by the trap*'
	done

	# Below another init.
	if has_init; then
		check_counts 'init of the engine' scratch --init
		is "${engine#our_}: init of the engine, LD_PRELOAD" \
			"$(run 1 --init preload sh -c "exec $program")" '1 1'
	else
		skip "${engine#our_}: init of the engine" 'no catatonit or tini'
	fi

	# A preloaded shell becomes the program.
	for user in 0 1000; do
		for limit in 0.5=50000 1=100000 1.5=150000; do
			count=$(expected_count "${limit#*=}" ceil 1 0 "$real")
			is "${engine#our_}, LD_PRELOAD, uid $user, --cpus ${limit%=*}: sh -c exec" \
				"$(run "${limit%=*}" --user "$user" preload sh -c "exec $program")" "$count $count"
		done
	done
	# shellcheck disable=SC2086 # options
	is "${engine#our_}, LD_PRELOAD, no rights: sh -c exec" \
		"$(run 1 $unprivileged preload sh -c "exec $program")" '1 1'
	is "${engine#our_}, LD_PRELOAD: the process keeps its number" \
		"$(run 1 preload sh -c 'exec /usr/bin/cpuquota-exec --trap=always sh -c "echo \$\$"')" 1

	# root lets go of its rights on the way.
	drop='setpriv --reuid 1000 --regid 1000 --clear-groups'
	# shellcheck disable=SC2086 # words of a command
	{
		is "${engine#our_}: setpriv, handed over" "$(run 1 preload $drop "$program")" '1 1'
		is "${engine#our_}: cpuquota-exec setpriv" "$(run 1 debian cpuquota-exec -- $drop "$program")" '1 1'
		is "${engine#our_}: setpriv below the trap" \
			"$(run 1 debian cpuquota-exec --trap=always $drop "$program")" '1 1'
		is "${engine#our_}: setpriv below the trap of an init" \
			"$(run 1 debian cpuquota-exec --init --trap=always $drop "$program")" '1 1'
		is "${engine#our_}: setpriv and no more privileges, below the trap" \
			"$(run 1 debian cpuquota-exec --trap=always $drop --no-new-privs --bounding-set -all "$program")" '1 1'
	}
	# setuid programs keep their power where root has planted the trap: no_new_privs was not needed, if there is the right.
	is "${engine#our_}: a setuid program below a trap that root has planted, with CAP_SYS_ADMIN" "$(
		run 1 --cap-add SYS_ADMIN debian sh -c 'cp /usr/bin/id /tmp/id && chmod 4755 /tmp/id &&
			exec cpuquota-exec --trap=always setpriv --reuid 1000 --clear-groups /tmp/id -u'
	)" 0

	# Signals, orphans, and programs that are started later.
	start debian /usr/bin/cpuquota-exec --trap=always /serve
	stopped "${engine#our_} stop: the program is PID 1, and is told" 9 '1 terminated'
	start debian /usr/bin/cpuquota-exec --init --trap=always /serve
	pid=$("$engine" logs "$container" 2>&1)
	is "${engine#our_} exec: a program beside it" \
		"$("$engine" exec "$container" cpuquota-exec "$program" 2>&1)" '1 1'
	# shellcheck disable=SC2016
	"$engine" exec "$container" sh -c '(sh -c "sleep 0.2" &)'
	sleep 1
	# shellcheck disable=SC2016
	is "${engine#our_}: an init of ours takes in orphans" \
		"$("$engine" exec "$container" sh -c 'grep -l "^State:.Z" /proc/[0-9]*/status')" ''
	stopped "${engine#our_} stop: an init of ours hands it on" 9 "$pid terminated"
	succeeds "${engine#our_}: the program below it is not PID 1" test "$pid" -gt 1
	if has_init; then
		start --init debian cpuquota-exec --trap=always /serve
		pid=$("$engine" logs "$container" 2>&1)
		stopped "${engine#our_} stop: an init of the engine hands it on" 9 "$pid terminated"
	fi
	# A program that does nothing about SIGTERM: as PID 1 it would live on.
	container=$("$engine" run --detach --interactive --network none --cgroup-parent "/$container_parent" \
		scratch-init "$program" follow 2>/dev/null)
	sleep 0.5
	stopped "${engine#our_} stop: a Go program below an init of ours" 143 ''
}

if command -v podman >/dev/null && command -v runc >/dev/null; then
	if said=$(our_podman info 2>&1); then
		engine=our_podman
		check_engine
	else
		skip 'podman' "$said"
	fi
else
	skip 'podman' 'needs podman and runc'
fi

if command -v dockerd >/dev/null && command -v docker >/dev/null; then
	if start_dockerd "$engines"; then
		engine=our_docker
		check_engine
	else
		skip 'dockerd' "$(tail -n 5 "$engines/docker.log")"
	fi
else
	skip 'dockerd' 'no dockerd or no docker'
fi

done_testing
