#!/bin/sh
# SPDX-License-Identifier: MIT
# The images, the Compose file and the systemd units of examples/: built and run under a limit, as they say that it is
# done. The images that they start from are not fetched: local ones get their names. Needs root, and of Debian: podman
# runc conmon docker.io docker-compose musl-tools systemd nginx-light debootstrap (for get-root), Go, a JDK and Node, and
# what scripts/release needs.

# shellcheck disable=SC2317 # functions that are called by a name in an argument
# shellcheck source=tests/lib.sh
. "${top_srcdir:?}/tests/lib.sh"
# shellcheck source=tests/containers/lib.sh
. "$top_srcdir/tests/containers/lib.sh"

unset CPUQUOTA_LIBRARY # what is installed is to be found
examples=$top_srcdir/examples

clean_up_containers() {
	if command -v podman >/dev/null; then
		our_podman rm --all --force --time 0 >/dev/null 2>&1
		our_podman rmi --all --force >/dev/null 2>&1
	fi
	stop_dockerd
	remove_container_cgroups
	unmount_below "$work/engines"
	clean_up
}
use_private_podman "$work/engines"
trap clean_up_containers EXIT

if [ "$(id -u)" -ne 0 ] || ! command -v podman >/dev/null || ! command -v runc >/dev/null; then
	skip 'the examples' 'needs root, podman and runc'
	done_testing
fi
if [ "$real" -lt 2 ]; then
	skip 'the examples' 'one CPU tells nothing apart'
	done_testing
fi
if ! release=$("$from/get-release" 2>"$work/log"); then
	skip 'the examples' "$(tail -n 1 "$work/log")"
	done_testing
fi
if ! copy_root bullseye "$work/debian" 2>"$work/log"; then
	skip 'the examples' "$(tail -n 1 "$work/log")"
	done_testing
fi

# Local images by the names of public ones. Those of languages have no programs of their own, but this machine's.

# An nproc for musl, as Alpine's is.
musl_root() {
	busybox_root "$1"
	mkdir "$1/lib"
	cp -L "/lib/ld-musl-$(uname -m).so.1" "$1/lib/"
	rm "$1/bin/nproc"
	musl-gcc -o "$1/bin/nproc" "$top_srcdir/tests/system/programs/cpus.c"
}

borrowed=
borrowing_root() {
	mkdir -p "$1/usr/local/bin" "$1/etc" "$1/tmp"
	for directory in bin lib lib64; do
		ln -s "usr/$directory" "$1/$directory"
	done
	for directory in /usr/bin /usr/lib /usr/lib64 /usr/share /etc/alternatives /etc/java-*; do
		[ ! -d "$directory" ] || borrowed="$borrowed --volume $directory:$directory:ro"
	done
}

busybox_root "$work/busybox"
borrowing_root "$work/borrowing"
for image in busybox:musl=busybox debian:bookworm-slim=debian golang:1=borrowing eclipse-temurin:21-jdk=borrowing \
	eclipse-temurin:21-jre=borrowing node:22-slim=borrowing; do
	import_root "$work/${image#*=}" "${image%=*}"
done

# run CPUS [OPTION]... IMAGE [ARGUMENT]...
run() {
	cpus=$1
	shift
	our_podman run --rm --pull=never --network none --cgroup-parent "/$container_parent" --cpus "$cpus" "$@" 2>&1
}

# serve CPUS [OPTION]... IMAGE: what a server says when it is ready.
serve() {
	cpus=$1
	shift
	container=$(our_podman run --detach --pull=never --network none --cgroup-parent "/$container_parent" --cpus "$cpus" "$@")
	for _ in $(seq 300); do
		[ -z "$(our_podman logs "$container" 2>&1)" ] || break
		sleep 0.1
	done
	our_podman logs "$container" 2>&1
	our_podman rm --force --time 0 "$container" >/dev/null 2>&1
}

# check_limits EXAMPLE PATTERN [OPTION]... IMAGE [ARGUMENT]...: what it says under each limit is PATTERN, with the number for
# each @.
check_limits() {
	example=$1 pattern=$2
	shift 2
	for limit in 0.5=50000 1=100000 1.5=150000; do
		count=$(expected_count "${limit#*=}" ceil 1 0 "$real")
		is "$example: --cpus ${limit%=*}" "$(run "${limit%=*}" "$@")" "$(printf '%s' "$pattern" | sed "s/@/$count/g")"
	done
}

succeeds 'examples/image is built' build_image cpuquota "$release" --file "$examples/image/Dockerfile"

# The package, and the tarball.

static=--volume=$(command -v busybox):/busybox:ro
succeeds 'examples/debian is built' build_image cpuquota-debian "$release" --file "$examples/debian/Dockerfile"
is 'examples/debian: without the library the machine is seen' "$(run 1 debian:bookworm-slim nproc)" "$real"
check_limits examples/debian @ cpuquota-debian
check_limits 'examples/debian, a static program' @ "$static" cpuquota-debian sh -c '/busybox nproc; :'

if musl_root "$work/musl" 2>"$work/log" && import_root "$work/musl" alpine:3; then
	succeeds 'examples/alpine is built' build_image cpuquota-alpine "$release" --file "$examples/alpine/Dockerfile"
	is 'examples/alpine: without the library the machine is seen' "$(run 1 --env LD_PRELOAD= cpuquota-alpine)" "$real $real"
	check_limits examples/alpine '@ @' cpuquota-alpine
else
	skip examples/alpine "$(tail -n 1 "$work/log")"
fi

# What starts from the image `cpuquota`.

succeeds 'examples/entrypoint is built' build_image cpuquota-entrypoint "$examples/entrypoint"
is 'examples/entrypoint: without cpuquota-exec the machine is seen' "$(run 1 --entrypoint nproc cpuquota-entrypoint)" "$real"
is 'examples/entrypoint: root is let go of' "$(run 1 cpuquota-entrypoint id -u)" 1000
# shellcheck disable=SC2016
is 'examples/entrypoint: the program is process 1' "$(run 1 cpuquota-entrypoint sh -c 'echo $$')" 1
check_limits examples/entrypoint @ cpuquota-entrypoint
check_limits 'examples/entrypoint, a static program' @ "$static" cpuquota-entrypoint /busybox nproc

if [ -x /usr/bin/go ]; then
	# shellcheck disable=SC2086 # options
	succeeds 'examples/scratch-go is built' build_image cpuquota-scratch-go "$examples/scratch-go" $borrowed
	primes='9592 primes below 100000'
	is 'examples/scratch-go: without cpuquota-exec the machine is seen' "$(run 1 --entrypoint /app cpuquota-scratch-go)" \
		"GOMAXPROCS=$real NumCPU=$real
$primes"
	check_limits examples/scratch-go "GOMAXPROCS=@ NumCPU=@
$primes" cpuquota-scratch-go
else
	skip examples/scratch-go 'no Go of Debian'
fi

# The policies of both servers give other numbers than their runtimes would find, in either direction.
# shellcheck disable=SC2086 # options
if [ -x /usr/bin/javac ]; then
	succeeds 'examples/java is built' build_image cpuquota-java "$examples/java" $borrowed
	ready='listening on 8080:'
	is 'examples/java: the JVM alone' "$(serve 1 --env CPUQUOTA=off $borrowed cpuquota-java)" "$ready 1 processors"
	is 'examples/java: the policy shows more' "$(serve 1 $borrowed cpuquota-java)" "$ready 2 processors"
	is 'examples/java: and less' "$(serve 1.5 --env CPUQUOTA=round=floor,min=1 $borrowed cpuquota-java)" "$ready 1 processors"
else
	skip examples/java 'no JDK of Debian'
fi
# shellcheck disable=SC2086 # options
if [ -x /usr/bin/node ]; then
	succeeds 'examples/node is built' build_image cpuquota-node "$examples/node"
	is 'examples/node: without the library the machine is seen' "$(serve 1.5 --env CPUQUOTA=off $borrowed cpuquota-node)" \
		"$ready $real workers, $real CPUs"
	count=$(expected_count 150000 floor 1 0 "$real")
	is 'examples/node: the policy' "$(serve 1.5 $borrowed cpuquota-node)" "$ready $count workers, $count CPUs"
else
	skip examples/node 'no Node of Debian'
fi

# systemd is not run here. Its own program reads the units, below a root of their own, and what they start is started in
# the image of the package, under the limit that they set.

units=$work/units/etc/systemd/system
# value KEY FILE: of a line KEY=VALUE.
value() {
	sed -n "s/^$1=//p" "$2"
}
if command -v systemd-analyze >/dev/null && [ -f /lib/systemd/system/nginx.service ]; then
	mkdir -p "$units" "$work/units/usr/bin" "$work/units/usr/local/bin" "$work/units/usr/sbin"
	cp -r "$examples"/systemd/* /lib/systemd/system/nginx.service /lib/systemd/system/*.target "$units"
	for program in bin/cpuquota-exec local/bin/app sbin/nginx; do
		cp "$wrapper" "$work/units/usr/$program"
	done
	verify() {
		systemd-analyze verify --man=no --root="$work/units" "$@" 2>&1
	}
	is 'examples/systemd: nothing is wrong with the units' "$(verify app.service nginx.service; echo $?)" 0
	sed 's/^CPUQuota/CPUQuote/' "$examples/systemd/app.service" >"$units/wrong.service"
	matches 'something would be found' "$(verify wrong.service)" '*CPUQuote*'
else
	skip 'examples/systemd: reading the units' 'no systemd-analyze, or no nginx.service'
fi
printf '#!/bin/sh\nexec nproc\n' >"$work/app"
chmod 755 "$work/app"
# limited UNIT [ARGUMENT]...: `run` under its limit.
limited() {
	percent=$(value CPUQuota "$examples/systemd/$1")
	percent=${percent%\%}
	shift
	run "$((percent / 100)).$((percent % 100))" "$@"
}
# The limit of both is 100%.
one=$(expected_count 100000 ceil 1 0 "$real")
unit=app.service
# shellcheck disable=SC2046 # words of a command
is "examples/systemd/$unit: what it starts, under its limit" "$(
	limited "$unit" --env LD_PRELOAD= --volume "$work/app:/usr/local/bin/app:ro" cpuquota-debian \
		$(value ExecStart "$examples/systemd/$unit")
)" "$one"
unit=nginx.service.d/cpuquota.conf
is "examples/systemd/$unit: what it sets, under its limit" "$(
	limited "$unit" --env LD_PRELOAD= --env "$(value Environment "$examples/systemd/$unit")" cpuquota-debian nproc
)" "$one"

# Compose. Its engine is dockerd, whose networks are not to be made here.

compose=$examples/compose/compose.yaml
our_compose() {
	COMPOSE_DOCKER_CLI_BUILD=0 DOCKER_CONFIG=$work/engines/docker IMAGE=debian:bookworm-slim \
		CPUQUOTA_DIRECTORY=$work/tarball docker-compose --project-name cpuquota-test-$$ --no-ansi \
		--host "unix://$work/engines/docker.sock" "$@" 2>&1
}
if command -v docker-compose >/dev/null; then
	succeeds 'examples/compose: nothing is wrong with the file' our_compose --file "$compose" config --quiet
	mkdir "$work/compose"
	sed 's/cpus:/cpu:/' "$compose" >"$work/compose/wrong.yaml"
	matches 'something would be found' "$(our_compose --file "$work/compose/wrong.yaml" config --quiet)" "*'cpu'*"
	cat >"$work/compose/override.yaml" <<-END
		x-here: &here
		  network_mode: none
		  cgroup_parent: /$container_parent
		services:
		  web: *here
		  worker: *here
	END
	mkdir "$work/tarball"
	tar -C "$work/tarball" --strip-components 2 -xzf "$release"/cpuquota-*-linux-"$(dpkg --print-architecture)".tar.gz \
		--wildcards '*/lib/libcpuquota.so' '*/bin/cpuquota-exec'
	if command -v dockerd >/dev/null && start_dockerd "$work/engines"; then
		tar -C "$work/debian" -cf - . | our_docker import - debian:bookworm-slim >/dev/null
		our_compose --file "$compose" --file "$work/compose/override.yaml" up --no-color >"$work/log"
		# "web_1     | 2"
		for service in web=150000 worker=100000; do
			is "examples/compose: ${service%=*}" "$(sed -n "s/^${service%=*}_1 *| *\([0-9]*\)$/\1/p" "$work/log")" \
				"$(expected_count "${service#*=}" ceil 1 0 "$real")"
		done
		stop_dockerd
	else
		skip 'examples/compose: running it' 'no dockerd that runs'
	fi
else
	skip examples/compose 'no docker-compose'
fi

done_testing
