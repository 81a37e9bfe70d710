#!/bin/sh
# SPDX-License-Identifier: MIT
# On arm64: builds the library and cpuquota-exec for it, and runs them in a virtual machine with 12 CPUs. Needs of
# Debian: qemu-system-arm cpio make gcc-aarch64-linux-gnu libc6-dev-arm64-cross (libc6-dev on arm64 itself) golang-go,
# and apt's sources (for get).

# shellcheck source=tests/lib.sh
. "${top_srcdir:?}/tests/lib.sh"
# shellcheck source=tests/vm/lib.sh
. "$top_srcdir/tests/vm/lib.sh"

compiler=aarch64-linux-gnu-gcc
if ! command -v "$compiler" >/dev/null; then
	skip 'arm64' "no $compiler"
	done_testing
fi
needs_vm 'arm64' arm64

build() {
	mkdir "$work/build" && cd "$work/build" || return
	"$top_srcdir/scripts/configure-for" arm64 --disable-tests --enable-werror &&
		make -j "$(nproc)" libcpuquota.la cpuquota-exec
}
# In a subshell, as it changes the directory.
said=$( (build) 2>&1)
if [ ! -x "$work/build/cpuquota-exec" ] || [ ! -e "$work/build/.libs/libcpuquota.so" ]; then
	fail 'it is built for arm64 without a warning' "$(echo "$said" | tail -n 30)"
	done_testing
fi
pass 'it is built for arm64 without a warning'

add_tests "$work/build/.libs/libcpuquota.so" "$work/build/cpuquota-exec"
add "$top_srcdir/tests/programs/checks.sh" /tests/programs/checks.sh
compile ask "$top_srcdir/tests/programs/ask.c" -pthread
compile ask-static "$top_srcdir/tests/programs/ask.c" -pthread -static
compile follow "$vm/programs/follow.c"
compile follow-static "$vm/programs/follow.c" -static
for program in calls masks places restore; do
	compile "$program" "$top_srcdir/tests/programs/$program.c" -I "$top_srcdir/src/core" -pthread
done
add "$("$compiler" -print-file-name=ld-linux-aarch64.so.1)" /lib/ld-linux-aarch64.so.1
add "$("$compiler" -print-file-name=libc.so.6)" /lib/libc.so.6

# A Go that is at hand builds for any machine. Its libraries for this one are made once. As a module of that Go: see
# tests/system/get-go.
go_cache=${CPUQUOTA_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cpuquota}/go/arm64-build
build_go() {
	version=$(go env GOVERSION | sed 's/^go\([0-9]*\.[0-9]*\).*/\1/')
	mkdir -p "$work/go" "$overlay/programs/go-here"
	cp "$top_srcdir/tests/system/programs/counts.go" "$work/go/"
	printf 'module counts\n\ngo %s\n' "$version" >"$work/go/go.mod"
	printf '%s\n' "$version" >"$overlay/programs/go-here/version"
	cd "$work/go" && GOARCH=arm64 CGO_ENABLED=0 GOPATH=$work/go/path GOCACHE=$go_cache GOFLAGS='' GO111MODULE=on \
		GOPROXY=off GOTOOLCHAIN=local go build -o "$overlay/programs/go-here/static" counts.go
}
if ! said=$( (build_go) 2>&1); then
	skip 'Go on arm64' "$said"
	rm -rf "$overlay/programs/go-here"
fi
guest 'limits changes checks' -a arm64 -c 12
done_testing
