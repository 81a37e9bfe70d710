#!/bin/sh
# SPDX-License-Identifier: MIT
# What the library exports and imports, and what it costs to have it in a process. Needs binutils; strace.

# shellcheck source=tests/lib.sh
. "${top_srcdir:?}/tests/lib.sh"
# shellcheck source=tests/programs/checks.sh
. "$top_srcdir/tests/programs/checks.sh"

CPUQUOTA_POLICY=$work/empty.conf
export CPUQUOTA_POLICY
: >"$CPUQUOTA_POLICY"

sources=$top_srcdir/src/preload

have() {
	command -v "$1" >/dev/null && return
	skip "$2" "no $1"
	return 1
}

have nm 'the symbols' || done_testing
have readelf 'the sections' || done_testing

# Exports: the hooks, and nothing else.

exports=$(nm -D --defined-only "$library" | awk '{ print $NF }' | sort)
table=$(sed -n -e 's/^CQ_HOOK([^,]*, *\([a-z0-9_]*\),.*/\1/p' -e 's/^CQ_HOOK_ALONE(\([a-z0-9_]*\))/\1/p' "$sources/hooks.def" | sort)
map=$(sed -n '/global:/,/local:/s/^\t\([a-z0-9_]*\);$/\1/p' "$sources/libcpuquota.map" | sort)
is 'exported is just what hooks.def lists' "$exports" "$table"
is 'exported is just what libcpuquota.map lists' "$exports" "$map"
for hook in sysconf __sysconf get_nprocs get_nprocs_conf sched_getaffinity sched_setaffinity pthread_getaffinity_np \
	pthread_setaffinity_np syscall; do
	is "$hook is among them" "$(echo "$exports" | grep -cx "$hook")" 1
done
is 'no export has a version' "$(nm -D --defined-only --with-symbol-versions "$library" | grep -c @)" 0

# Imports: what the oldest glibc of this architecture has, and musl.

case $(readelf -h "$library") in
*X86-64*) oldest=GLIBC_2.2.5 ;;
*AArch64*) oldest=GLIBC_2.17 ;;
*) oldest=unknown ;;
esac
imports=$(nm -D --undefined-only --with-symbol-versions "$library" | awk '{ print $NF }')
# All but those that may be missing.
needed=$(nm -D --undefined-only --with-symbol-versions "$library" | awk '$1 == "U" { print $NF }')
is 'the list of imports is not empty' "$([ -n "$needed" ] && echo yes)" yes
is "all imports are of $oldest" "$(echo "$imports" | sed -n 's/.*@//p' | sort -u)" "$oldest"
is 'no import is without a version' "$(echo "$needed" | grep -v @)" ''
is 'no function for fortified code' "$(echo "$imports" | grep '_chk')" ''
is 'the versions that the file asks for, too' \
	"$(readelf -V "$library" | sed -n 's/.*Name: \(GLIBC_[0-9.]*\).*/\1/p' | sort -u)" "$oldest"
libraries=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort)
is 'it asks for libc' "$(echo "$libraries" | grep -cx 'libc\.so\.6')" 1
is 'it asks for nothing that musl does not take as its own' "$(echo "$libraries" | grep -vxE 'libc\.so\.6|libdl\.so\.2')" ''
# Functions that musl 1.2 has as well.
known='__errno_location environ __environ dl_iterate_phdr fileno pthread_self'
for import in $needed; do
	name=${import%%@*}
	is "the import $name is one that musl has" "$(echo "$known" | tr ' ' '\n' | grep -cx "$name")" 1
done

# How it is to be loaded.

is 'no thread-local storage' "$(readelf -lW "$library" | grep -c '^ *TLS ')" 0
is 'its stack is not executable' "$(readelf -lW "$library" | awk '$1 == "GNU_STACK" { print $(NF - 1) }')" RW
is 'nothing is writable and executable' "$(readelf -lW "$library" | awk '$1 == "LOAD"' | grep -c 'RWE')" 0
is 'it has a part that is read-only after relocation' "$(readelf -lW "$library" | grep -c GNU_RELRO)" 1
is 'it is bound at once' "$(readelf -d "$library" | grep -cE 'FLAGS.*NOW')" 2
is 'no relocation of code' "$(readelf -d "$library" | grep -c TEXTREL)" 0
is 'no path to look for libraries in' "$(readelf -d "$library" | grep -cE 'RPATH|RUNPATH')" 0

strip -o "$work/stripped.so" "$library"
size=$(wc -c <"$work/stripped.so")
is "the stripped file of $size bytes is no larger than 64 KiB" "$([ "$size" -le 65536 ] && echo yes)" yes
is 'the stripped file works' "$(env LD_PRELOAD="$work/stripped.so" CPUQUOTA=count=1 "$programs/ask")" '1 1 1 1 1'

# What it costs a process that never asks: the pages of it that were written to, up to the end of its last segment.
hexadecimal() { echo $((0x$1)); }
span=0
for end in $(readelf -lW "$library" | awk '$1 == "LOAD" { print substr($3, 3) "+" substr($6, 3) }'); do
	end=$(($(hexadecimal "${end%+*}") + $(hexadecimal "${end#*+}")))
	[ "$end" -le "$span" ] || span=$end
done
for policy in round=floor off; do
	env LD_PRELOAD="$library" CPUQUOTA="$policy" cat /proc/self/smaps >"$work/smaps"
	base=
	private=0
	while read -r first second _ _ _ file; do
		case $first in
		*[0-9a-f]-[0-9a-f]*)
			at=$(hexadecimal "${first%-*}")
			[ "$file" != "$library" ] || [ -n "$base" ] || base=$at
			;;
		Anonymous:)
			[ -n "$base" ] && [ "$at" -ge "$base" ] && [ "$at" -lt $((base + span)) ] && private=$((private + second))
			;;
		esac
	done <"$work/smaps"
	is "$policy: $private KiB of private memory are more than none, and no more than 8" \
		"$([ "$private" -gt 0 ] && [ "$private" -le 8 ] && echo yes)" yes
done

# And in system calls, beside a library with nothing in it.
if have strace 'system calls of the constructor'; then
	# calls_with LIBRARIES [VARIABLE=VALUE]
	calls_with() {
		env -u CPUQUOTA_POLICY strace -qq -o "$work/trace" -E LD_PRELOAD="$1" ${2:+-E "$2"} true
		grep -c . "$work/trace"
	}
	empty=$(calls_with "$preloads/empty.so")
	is 'strace saw the empty library' "$(grep -c empty.so "$work/trace")" 1
	for policy in '' CPUQUOTA=off "CPUQUOTA_POLICY=$work/empty.conf"; do
		more=$(($(calls_with "$library" "$policy") - empty))
		is "${policy:-built-in policy}: $more system calls more than an empty library are no more than 4" \
			"$([ "$more" -le 4 ] && echo yes)" yes
	done
	grep -nE 'cgroup|mountinfo|cpu' "$work/trace" | grep -vE 'libcpuquota|execve|empty.conf|cpuquota.conf|sched_getaffinity' >"$work/files"
	is 'the constructor reads no cgroup file' "$(cat "$work/files")" ''
fi

done_testing
