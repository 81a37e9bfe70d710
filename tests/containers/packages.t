#!/bin/sh
# SPDX-License-Identifier: MIT
# What scripts/release makes: that it is whole and can be made again bit by bit, that the package comes and goes without a
# trace, and that what is in it runs: in a new Debian, in an old one, FROM scratch, and on the other architecture. Needs
# root, what scripts/release needs, and of Debian: lintian podman runc conmon debootstrap busybox-static qemu-user.

# shellcheck disable=SC2317 # functions that are called by a name in an argument
# shellcheck source=tests/lib.sh
. "${top_srcdir:?}/tests/lib.sh"
# shellcheck source=tests/containers/lib.sh
. "$top_srcdir/tests/containers/lib.sh"

unset CPUQUOTA_LIBRARY # what is installed is to be found
case $(uname -m) in
x86_64)
	native=amd64 triplet=x86_64-linux-gnu
	foreign=arm64 foreign_triplet=aarch64-linux-gnu emulator=qemu-aarch64
	;;
*)
	native=arm64 triplet=aarch64-linux-gnu
	foreign=amd64 foreign_triplet=x86_64-linux-gnu emulator=qemu-x86_64
	;;
esac
if ! command -v "$foreign_triplet-gcc" >/dev/null || ! command -v dpkg-deb >/dev/null; then
	skip 'a release' "no $foreign_triplet-gcc, or no dpkg-deb"
	done_testing
fi

# Making it.

release=$work/release
version=$("$wrapper" --version | sed 's/.* //')
mkdir "$work/tmp"
# make_release SOURCE DIRECTORY
make_release() {
	TMPDIR=$work/tmp "$1/scripts/release" "$2" 2>&1
}

if ! said=$(make_release "$top_srcdir" "$release"); then
	fail 'a release is made' "$said"
	done_testing
fi
is 'a release is made' "$(ls "$release")" "SHA256SUMS
cpuquota-$version-linux-amd64.tar.gz
cpuquota-$version-linux-arm64.tar.gz
cpuquota-$version.tar.xz
cpuquota_${version}_amd64.deb
cpuquota_${version}_arm64.deb"
succeeds 'its sums are right' sh -c "cd '$release' && sha256sum --check --strict SHA256SUMS"
is 'all of its files have a sum' "$(wc -l <"$release/SHA256SUMS")" "$(($(find "$release" -type f | wc -l) - 1))"
is 'nothing but the release is left' "$(ls -A "$work/tmp"; ls -d "$release"*)" "$release"

source=$work/source/cpuquota-$version
mkdir "$work/source"
tar -C "$work/source" -xf "$release/cpuquota-$version.tar.xz"
for page in cpuquota-exec.1 cpuquota.conf.5 libcpuquota.7; do
	succeeds "the source has $page" test -s "$source/man/$page"
done
succeeds 'a release is made of its own source' make_release "$source" "$work/again"
is 'it is the same, bit by bit' "$(cat "$work/again/SHA256SUMS")" "$(cat "$release/SHA256SUMS")"

# What cannot be made, and what is ended half-way, leaves nothing behind and takes nothing away.
mkdir "$work/full" "$work/parent" "$work/failing"
echo mine >"$work/full/file"
is 'a directory that has files is left alone' "$(make_release "$source" "$work/full"; echo $?; ls "$work/full")" \
	"scripts/release: $work/full: is there already, and not empty
1
file"
printf '#!/bin/sh\necho no space >&2\nexit 1\n' >"$work/failing/xz"
chmod +x "$work/failing/xz"
said=$(PATH=$work/failing:$PATH make_release "$source" "$work/parent/release")
is 'a step that fails is a failure' "$?" 1
matches 'and it says what failed' "$said" '*no space*scripts/release: failed'
TMPDIR=$work/tmp setsid "$source/scripts/release" "$work/parent/release" >/dev/null 2>&1 &
until [ -n "$(ls -A "$work/tmp")" ] || ! kill -0 $! 2>/dev/null; do
	sleep 0.1
done
kill -TERM "-$!"
wait $!
is 'the exit status of one that was ended' $? 143
is 'neither leaves anything behind' "$(ls -A "$work/tmp" "$work/parent")" "$work/parent:

$work/tmp:"

# The packages, as files.

for architecture in amd64 arm64; do
	package=$release/cpuquota_${version}_$architecture.deb
	if command -v lintian >/dev/null; then
		said=$(lintian --allow-root --fail-on error,warning "$package" 2>&1)
		is "lintian has nothing against the package for $architecture" "$?: $said" '0: '
	else
		skip "the package for $architecture" 'no lintian'
	fi
	is "the package for $architecture says so" "$(dpkg-deb -f "$package" Package Version Architecture)" "Package: cpuquota
Version: $version
Architecture: $architecture"
	dpkg-deb -x "$package" "$work/deb-$architecture"
	mkdir "$work/tar-$architecture"
	tar -C "$work/tar-$architecture" --strip-components=1 -xf "$release/cpuquota-$version-linux-$architecture.tar.gz"
done

# what_is FILE: its machine, and what it needs.
what_is() {
	LC_ALL=C readelf -hldW "$1" 2>/dev/null |
		sed -n 's/^ *Machine: *//p; s/.*(NEEDED).*\[\(.*\)\]/needs \1/p; s/^ *INTERP .*/has a loader/p'
}
for architecture in amd64 arm64; do
	case $architecture in
	amd64) machine='Advanced Micro Devices X86-64' libraries=usr/lib/x86_64-linux-gnu ;;
	arm64) machine=AArch64 libraries=usr/lib/aarch64-linux-gnu ;;
	esac
	is "$architecture: cpuquota-exec of the package is static" "$(what_is "$work/deb-$architecture/usr/bin/cpuquota-exec")" "$machine"
	is "$architecture: that of the tarball too" "$(what_is "$work/tar-$architecture/bin/cpuquota-exec")" "$machine"
	is "$architecture: the library of the package needs libc only" \
		"$(what_is "$work/deb-$architecture/$libraries/libcpuquota.so")" "$machine
needs libc.so.6"
	is "$architecture: that of the tarball too" "$(what_is "$work/tar-$architecture/lib/libcpuquota.so")" "$machine
needs libc.so.6"
done

# On the other architecture.

if have_cgroups && command -v "$emulator" >/dev/null; then
	new_cgroup 100000
	sysroot=/usr/$foreign_triplet
	"$foreign_triplet-gcc" -o "$work/cpus" "$top_srcdir/tests/system/programs/cpus.c"
	emulate() {
		in_cgroup "$cgroup" "$emulator" -L "$sysroot" "$@" 2>&1
	}
	wanted=$(expected_count 100000 ceil 1 0 "$real")
	is "$foreign: without the library the machine is seen" "$(emulate "$work/cpus")" "$real $real"
	for from_where in deb/usr/lib/$foreign_triplet tar/lib; do
		preload=$work/${from_where%%/*}-$foreign/${from_where#*/}/libcpuquota.so
		is "$foreign: the library of the ${from_where%%/*} shows the limit" \
			"$(emulate -E LD_PRELOAD="$preload" "$work/cpus")" "$wanted $wanted"
	done
	is "$foreign: cpuquota-exec of the package finds the limit" \
		"$(emulate "$work/deb-$foreign/usr/bin/cpuquota-exec" --count)" "$wanted"
	is "$foreign: that of the tarball too" "$(emulate "$work/tar-$foreign/bin/cpuquota-exec" --count)" "$wanted"
else
	skip "$foreign" "needs root, cgroups with a CPU limit, and $emulator"
fi

# In containers.

if [ "$(id -u)" -ne 0 ] || ! command -v podman >/dev/null || ! command -v runc >/dev/null; then
	skip 'the package and the tarball in containers' 'needs root, podman and runc'
	done_testing
fi
use_private_podman "$work/podman"
clean_up_containers() {
	our_podman rm --all --force --time 0 >/dev/null 2>&1
	our_podman rmi --all --force >/dev/null 2>&1
	remove_container_cgroups
	unmount_below "$podman_directory"
	clean_up
}
trap clean_up_containers EXIT
mkdir "$work/inside"
cp /bin/busybox "$work/inside/"

# run SUITE SCRIPT: below a limit of one CPU in a Debian, of which the container changes nothing.
run_in() {
	root=$("$from/get-root" "$1") || return
	cp "$2" "$work/inside/script"
	our_podman run --rm --cgroup-parent "$container_parent" --cpus 1 --volume "$release:/release:ro" \
		--volume "$work/inside:/inside:ro" --rootfs "$root:O" sh /inside/script 2>&1
}

# All files with their rights and what is in them, but for the notes and caches of apt, dpkg and ldconfig.
cat >"$work/inside/list" <<-'END'
	find / -xdev \( -path /var/lib/dpkg -o -path /var/lib/apt -o -path /var/cache -o -path /var/log \) -prune -o \
		\( -printf '%p %y %m %u %g %l\n' -a -type f -exec md5sum {} + \) | sort
END

cat >"$work/package" <<-END
	export DEBIAN_FRONTEND=noninteractive
	sh /inside/list >/dev/shm/before
	apt-get -qq install ./release/cpuquota_${version}_$native.deb >/dev/shm/log 2>&1 || cat /dev/shm/log
	echo "verified: \$(dpkg --verify cpuquota)"
	echo "alone: \$(nproc); preloaded everywhere: \$(ls /etc/ld.so.preload 2>/dev/null)"
	echo "by path: \$(LD_PRELOAD=/usr/lib/$triplet/libcpuquota.so nproc)"
	echo "by name: \$(LD_PRELOAD=libcpuquota.so nproc)"
	echo "by cpuquota-exec: \$(cpuquota-exec nproc)"
	echo "static, handed over: \$(LD_PRELOAD=libcpuquota.so sh -c '/inside/busybox nproc; :')"
	echo "static, by cpuquota-exec: \$(cpuquota-exec /inside/busybox nproc)"
	cpuquota-exec --check-policy
	echo 'count = $real' >>/etc/cpuquota.conf
	echo "by the policy: \$(LD_PRELOAD=libcpuquota.so nproc) \$(cpuquota-exec --count)"
	apt-get -qq remove cpuquota >/dev/shm/log 2>&1 || cat /dev/shm/log
	sh /inside/list >/dev/shm/after
	echo "removed: \$(diff /dev/shm/before /dev/shm/after | sed -n 's/^\([<>] \/[^ ]*\).*/\1/p')"
	apt-get -qq purge cpuquota >/dev/shm/log 2>&1 || cat /dev/shm/log
	sh /inside/list >/dev/shm/after
	echo "purged: \$(diff /dev/shm/before /dev/shm/after)"
END
one=$(expected_count 100000 ceil 1 0 "$real")
suite=trixie
if "$from/get-root" "$suite" >/dev/null 2>"$work/get-root"; then
	is "the package comes and goes in $suite" "$(run_in "$suite" "$work/package")" "verified: 
alone: $real; preloaded everywhere: 
by path: $one
by name: $one
by cpuquota-exec: $one
static, handed over: $one
static, by cpuquota-exec: $one
/etc/cpuquota.conf: no errors
by the policy: $real $real
removed: > /etc/cpuquota.conf
purged: "
else
	skip "the package in $suite" "$(tail -n 1 "$work/get-root")"
fi

cat >"$work/tarball" <<-END
	chmod 2775 /usr/local/lib
	tar -C /usr/local --strip-components=1 -xf /release/cpuquota-$version-linux-$native.tar.gz
	stat -c '%a %n' /usr/local/lib
	getconf GNU_LIBC_VERSION
	echo "alone: \$(nproc)"
	echo "preloaded: \$(LD_PRELOAD=/usr/local/lib/libcpuquota.so nproc)"
	echo "by cpuquota-exec: \$(cpuquota-exec nproc)"
	echo "static, handed over: \$(LD_PRELOAD=/usr/local/lib/libcpuquota.so sh -c '/inside/busybox nproc; :')"
	cp /usr/local/share/doc/cpuquota/cpuquota.conf /etc/
	cpuquota-exec --check-policy
END
suite=bullseye
if "$from/get-root" "$suite" >/dev/null 2>"$work/get-root"; then
	is "the tarball in $suite" "$(run_in "$suite" "$work/tarball")" "2775 /usr/local/lib
glibc 2.31
alone: $real
preloaded: $one
by cpuquota-exec: $one
static, handed over: $one
/etc/cpuquota.conf: no errors"
else
	skip "the tarball in $suite" "$(tail -n 1 "$work/get-root")"
fi

# Nothing but the tarball and a static program.
mkdir "$work/context"
cp "$release/cpuquota-$version-linux-$native.tar.gz" "$work/inside/busybox" "$work/context/"
cat >"$work/context/Containerfile" <<-END
	FROM scratch
	ADD cpuquota-$version-linux-$native.tar.gz /
	COPY busybox /
	ENTRYPOINT ["/cpuquota-$version-linux-$native/bin/cpuquota-exec"]
END
succeeds 'an image is built from scratch' our_podman build --quiet --layers=false --pull=never --tag scratch "$work/context"
run_scratch() {
	our_podman run --rm --cgroup-parent "$container_parent" --cpus 1 "$@" 2>&1
}
is 'FROM scratch: without cpuquota-exec the machine is seen' "$(run_scratch --entrypoint /busybox scratch nproc)" "$real"
is 'FROM scratch: with it the limit' "$(run_scratch scratch /busybox nproc)" "$one"
is 'FROM scratch: the number' "$(run_scratch scratch --count)" "$one"

done_testing
