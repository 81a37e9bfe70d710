#!/bin/sh
# SPDX-License-Identifier: MIT
# The library in programs that others have built: musl, jemalloc, sanitizers, valgrind, gdb, dlopen. Needs what it finds.

# shellcheck disable=SC2317 # functions that are handed on by name
# shellcheck source=tests/lib.sh
. "${top_srcdir:?}/tests/lib.sh"
# shellcheck source=tests/programs/checks.sh
. "$top_srcdir/tests/programs/checks.sh"

CPUQUOTA_POLICY=$work/empty.conf
export CPUQUOTA_POLICY
: >"$CPUQUOTA_POLICY"

source=$top_srcdir/tests/programs
hooked() { env LD_PRELOAD="$library" CPUQUOTA=count=1 "$@"; }

# have DESCRIPTION COMMAND: skips the rest of what needs COMMAND where there is none.
have() {
	command -v "$2" >/dev/null && return
	skip "$1" "no $2"
	return 1
}

# build DESCRIPTION NAME COMPILER...: tests/programs/NAME.c into $work/NAME.
build() {
	description=$1
	name=$2
	shift 2
	if "$@" -D_GNU_SOURCE -g -O1 -pthread -I "$top_srcdir/src/core" -I "$source" "$source/$name.c" -o "$work/$name" \
		>"$work/build.log" 2>&1; then
		return 0
	fi
	skip "$description" "cannot be built: $(head -n 1 "$work/build.log")"
	return 1
}

# musl: its loader finds libc.so.6 and libdl.so.2 in itself.
if have musl musl-gcc; then
	build musl ask musl-gcc && {
		is 'musl: the number' "$(hooked "$work/ask")" '1 1 1 1 1'
		is 'musl: off' "$(env LD_PRELOAD="$library" CPUQUOTA=off "$work/ask")" "$real $real $real $real $real"
		is 'musl: through cpuquota-exec' "$("$wrapper" -s count=1 "$work/ask")" '1 1 1 1 1'
		is 'musl: nothing is missing' "$(hooked "$work/ask" 2>&1 >/dev/null)" ''
	}
	# musl's syscall() and its masks have ways of their own, which are held to as they are without the library.
	for name in masks places restore; do
		build "musl: $name" "$name" musl-gcc || continue
		case $name in
		masks) checks "musl: $name" hooked "$work/$name" 1 "$real" 1 ;;
		restore) [ "$real" -lt 2 ] || checks "musl: $name" hooked "$work/$name" 1 1 ;;
		places)
			[ "$real" -ge 2 ] && for place in signals threads-and-fork vfork closed-descriptors small-thread-stack; do
				checks "musl: $place" hooked "$work/places" "$place" 1 1
			done
			;;
		esac
	done
fi

# jemalloc asks while it starts, in the first malloc.
jemalloc=$(ldconfig -p 2>/dev/null | sed -n 's/.*libjemalloc\.so\.2 .*=> //p' | head -n 1)
if [ -z "$jemalloc" ]; then
	skip 'jemalloc' 'no libjemalloc.so.2'
else
	for order in "$jemalloc:$library" "$library:$jemalloc"; do
		is "jemalloc, $(basename "${order%%:*}") first" "$(env LD_PRELOAD="$order" CPUQUOTA=count=1 "$programs/ask" 2>&1)" \
			'1 1 1 1 1'
		# Four arenas for each CPU, and one where there is one CPU (jemalloc.c, malloc_narenas_default()).
		is "jemalloc's idea of it, $(basename "${order%%:*}") first" \
			"$(env LD_PRELOAD="$order" CPUQUOTA=count=1 MALLOC_CONF=stats_print:true "$programs/ask" 2>&1 |
				awk '/opt\.narenas:/ { print $2 }')" 1
		is "jemalloc's threads, $(basename "${order%%:*}") first" \
			"$(env LD_PRELOAD="$order" CPUQUOTA=count=1 MALLOC_CONF=background_thread:true,percpu_arena:percpu \
				"$programs/places" threads-and-fork 1 1 2>&1 | tail -n 1)" 'done'
	done
fi

# Sanitizers take functions over as well, and are loaded first.
for compiler in gcc clang; do
	have "sanitizers of $compiler" "$compiler" || continue
	for sanitizer in address,undefined thread memory; do
		[ "$compiler $sanitizer" != 'gcc memory' ] || continue # gcc has none
		build "$compiler -fsanitize=$sanitizer" ask "$compiler" -fsanitize="$sanitizer" || continue
		# ASan wants to be the first of all libraries, which it is not where it is linked as one, as gcc does.
		is "$compiler -fsanitize=$sanitizer" \
			"$(hooked env ASAN_OPTIONS=verify_asan_link_order=0 "$work/ask" 2>&1)" '1 1 1 1 1'
		[ "$real" -ge 2 ] && build "$compiler -fsanitize=$sanitizer" places "$compiler" -fsanitize="$sanitizer" &&
			checks "$compiler -fsanitize=$sanitizer: threads" \
				hooked env ASAN_OPTIONS=verify_asan_link_order=0 "$work/places" threads-and-fork 1 1
	done
done

# Without what compilers say for debuggers, which older valgrinds do not understand all of.
if have valgrind valgrind && have valgrind strip; then
	strip -o "$work/ask.stripped" "$programs/ask"
	strip -o "$work/libcpuquota.so" "$library"
	is 'valgrind finds nothing' "$(env LD_PRELOAD="$work/libcpuquota.so" CPUQUOTA=count=1 \
		valgrind -q --error-exitcode=9 --leak-check=full "$work/ask.stripped" 2>&1)" '1 1 1 1 1'
fi
if have gdb gdb; then
	is 'under gdb' "$(gdb -nx -q -batch -ex 'set startup-with-shell off' -ex "set environment LD_PRELOAD $library" \
		-ex 'set environment CPUQUOTA count=1' -ex run "$programs/ask" 2>&1 | grep -x '1 1 1 1 1')" '1 1 1 1 1'
fi

# Loaded by dlopen it is in nobody's way: the program has libc's functions already.
cat >"$work/open.c" <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/sysinfo.h>
#include <unistd.h>

static void *ask(void *hook)
{
	return (void *)((long (*)(int))hook)(_SC_NPROCESSORS_ONLN);
}

int main(int argc, char **argv)
{
	(void)argc;
	for (int i = 0; i < 3; i++) {
		void *library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL), *counts[8];
		pthread_t threads[8];

		if (!library || !dlsym(library, "sysconf"))
			return 1;
		for (int t = 0; t < 8; t++)
			pthread_create(&threads[t], NULL, ask, dlsym(library, "sysconf"));
		for (int t = 0; t < 8; t++)
			pthread_join(threads[t], &counts[t]);
		printf("%ld %ld\n", (long)counts[0], (long)counts[7]);
		if (dlclose(library) != 0)
			return 1;
	}
	printf("%ld %d\n", sysconf(_SC_NPROCESSORS_ONLN), get_nprocs());
	return 0;
}
END
# A program with functions of those names has its own.
cat >"$work/own.c" <<'END'
#include <stdio.h>
#include <unistd.h>
#include <sys/sysinfo.h>

long sysconf(int name)
{
	return name == _SC_NPROCESSORS_ONLN ? 77 : -1;
}

int main(void)
{
	printf("%ld %d\n", sysconf(_SC_NPROCESSORS_ONLN), get_nprocs());
	return 0;
}
END
if have 'own programs' "${CC:=cc}"; then
	if "$CC" -pthread "$work/open.c" -o "$work/open" -ldl; then
		is 'dlopen and dlclose, with threads' "$(CPUQUOTA=count=1 "$work/open" "$library" 2>&1)" "1 1
1 1
1 1
$online $online"
	else
		fail 'dlopen and dlclose, with threads' 'cannot be built'
	fi
	if "$CC" "$work/own.c" -o "$work/own" -rdynamic; then
		is 'a program with a sysconf of its own' "$(hooked "$work/own")" '77 1'
	else
		fail 'a program with a sysconf of its own' 'cannot be built'
	fi
fi

done_testing
