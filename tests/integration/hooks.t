#!/bin/sh
# SPDX-License-Identifier: MIT
# The hooks where they are called at awkward times and in awkward places, and what passes through them.

# shellcheck disable=SC2016,SC2317 # scripts for another shell, and functions that are handed on by name
# shellcheck source=tests/lib.sh
. "${top_srcdir:?}/tests/lib.sh"
# shellcheck source=tests/programs/checks.sh
. "$top_srcdir/tests/programs/checks.sh"

# The built-in policy, whatever is installed on this machine.
CPUQUOTA_POLICY=$work/empty.conf
export CPUQUOTA_POLICY
: >"$CPUQUOTA_POLICY"

hooked() { env LD_PRELOAD="$library" CPUQUOTA=count=1 "$@"; }

# asks DESCRIPTION COMMAND...: the program `ask`, however it is run, is shown one CPU everywhere.
asks() {
	description=$1
	shift
	is "$description" "$("$@" 2>&1)" '1 1 1 1 1'
}

# What is not about CPUs.

"$programs/names" >"$work/names.plain"
for policy in count=1 off affinity=real; do
	env LD_PRELOAD="$library" CPUQUOTA="$policy" "$programs/names" >"$work/names.hooked"
	succeeds "$policy: sysconf of all other names, -1 among them, is as ever" cmp "$work/names.plain" "$work/names.hooked"
done
is 'sysconf(-1): EINVAL' "$(sed -n 1p "$work/names.hooked")" "$(printf '%s' '-1 -1 errno 22 -1 errno 22')"
is 'more than 20 names were asked for' "$([ "$(wc -l <"$work/names.plain")" -gt 20 ] && echo yes)" yes

checks 'syscall() without the library' "$programs/calls"
checks 'syscall()' hooked "$programs/calls"
checks 'syscall() when off' hooked env CPUQUOTA=off "$programs/calls"

# Awkward places.

if [ "$real" -lt 2 ]; then
	skip 'hooks in awkward places' 'one CPU tells nothing apart'
else
	for place in signals small-signal-stack threads-and-fork fork-of-thread vfork no-descriptors-at-first \
		no-descriptors-later closed-descriptors small-thread-stack pinned cleared-environment; do
		checks "$place" hooked "$programs/places" "$place" 1 1
	done
	for call in prctl seccomp syscall; do
		checks "a sandbox by $call" hooked "$programs/sandbox" "$call" 1 1
	done
	checks 'vfork with refresh=0' hooked env CPUQUOTA=count=1,refresh=0 "$programs/places" vfork 1 1
fi

# Before the library's own constructor: ld.so runs that of the last library first.

early=$preloads/early.so
for order in "$early:$library" "$library:$early"; do
	env LD_PRELOAD="$order" CPUQUOTA=count=1 "$programs/ask" >"$work/out" 2>"$work/err"
	is "asked in another constructor, $(basename "${order%%:*}") first" "$(cat "$work/err")" 'early: 1 1 1 1 1, put back'
	is "and in the program, $(basename "${order%%:*}") first" "$(cat "$work/out")" '1 1 1 1 1'
	env LD_PRELOAD="$order" CPUQUOTA=count=1,affinity=real "$programs/ask" >"$work/out" 2>"$work/err"
	is "affinity=real, $(basename "${order%%:*}") first" "$(cat "$work/err" "$work/out")" \
		"early: 1 1 $real $real $real, put back
1 1 $real $real $real"
	env LD_PRELOAD="$order" CPUQUOTA=off "$programs/ask" >"$work/out" 2>"$work/err"
	is "off, $(basename "${order%%:*}") first" "$(cat "$work/err" "$work/out")" \
		"early: $online $online $real $real $real, put back
$online $online $real $real $real"
done

# In every malloc.

malloc=$preloads/asking-malloc.so
quiet='malloc: asked and answered, 0 wrong, 0 failed, 0 recursions'
for order in "$malloc:$library" "$library:$malloc"; do
	for bind in '' 1; do
		env LD_PRELOAD="$order" LD_BIND_NOW="$bind" CPUQUOTA=count=1 ASKING_MALLOC_EXPECTS=1 "$programs/ask" \
			>"$work/out" 2>"$work/err"
		is "asked in malloc, $(basename "${order%%:*}") first, LD_BIND_NOW=$bind" "$(cat "$work/err" "$work/out")" \
			"$quiet
1 1 1 1 1"
	done
	env LD_PRELOAD="$order" CPUQUOTA=count=1 ASKING_MALLOC_EXPECTS=1 "$programs/places" threads-and-fork 1 1 \
		>"$work/out" 2>"$work/err"
	is "asked in malloc in threads and children, $(basename "${order%%:*}") first" \
		"$(sort -u "$work/err"; tail -n 1 "$work/out")" "$quiet
done"
done

# Next to nothing to start with.

asks 'an empty environment' env -i LD_PRELOAD="$library" CPUQUOTA=count=1 "$programs/ask"
is 'an empty environment, without a policy of its own' \
	"$(env -i LD_PRELOAD="$library" "$programs/ask" 2>&1 | awk '{ print NF }')" 5
asks 'all descriptors closed' sh -c 'LD_PRELOAD=$0 CPUQUOTA=count=1 "$1" <&- 2>&-' "$library" "$programs/ask"
asks 'bound at once' hooked env LD_BIND_NOW=1 "$programs/ask"
asks 'twice in LD_PRELOAD' env LD_PRELOAD="$library:$library" CPUQUOTA=count=1 "$programs/ask"
cp "$library" "$work/copy.so"
asks 'two copies in LD_PRELOAD' env LD_PRELOAD="$library:$work/copy.so" CPUQUOTA=count=1 "$programs/ask"
asks 'through a child' hooked sh -c '"$0"; :' "$programs/ask"
asks 'in a working directory that is gone' hooked sh -c 'mkdir "$1" && cd "$1" && rmdir "$1" && "$0"' "$programs/ask" "$work/gone"

# The policy's errors are one line, and the program runs.

# complains DESCRIPTION PATTERN COMMAND...
complains() {
	description=$1
	pattern=$2
	shift 2
	"$@" "$programs/ask" >"$work/out" 2>"$work/err"
	is "$description: the program runs" "$?, $(wc -w <"$work/out")" '0, 5'
	is "$description: one line" "$(wc -l <"$work/err")" 1
	matches "$description: what it says" "$(cat "$work/err")" "$pattern"
}

printf '# nothing\nround = up\nmin = x\nnonsense\n[go\n' >"$work/bad.conf"
complains 'an unknown key' 'libcpuquota.so: CPUQUOTA:*colour*round*' env LD_PRELOAD="$library" CPUQUOTA=colour=red
complains 'several bad keys' 'libcpuquota.so: CPUQUOTA:*round*ceil*' env LD_PRELOAD="$library" CPUQUOTA=round=up,min=0,x=1
complains 'a bad file' "libcpuquota.so: $work/bad.conf:2: round = up: expected ceil, floor or nearest" \
	env LD_PRELOAD="$library" CPUQUOTA_POLICY="$work/bad.conf"
complains 'a missing file' "libcpuquota.so: $work/none.conf:*" env LD_PRELOAD="$library" CPUQUOTA_POLICY="$work/none.conf"
complains 'a directory' "libcpuquota.so: $work:*" env LD_PRELOAD="$library" CPUQUOTA_POLICY="$work"
mkfifo "$work/fifo"
# A pipe that nobody writes to must not hold the program up. Its contents are read as an empty policy, or it is told of.
succeeds 'a pipe does not hold it up' timeout 20 env LD_PRELOAD="$library" CPUQUOTA_POLICY="$work/fifo" "$programs/ask"
head -c 5000 /dev/zero | tr '\0' x >"$work/long.conf"
complains 'a line of 5,000 characters' "libcpuquota.so: $work/long.conf:1: *" \
	env LD_PRELOAD="$library" CPUQUOTA_POLICY="$work/long.conf"
complains 'control characters' 'libcpuquota.so: *?\[2J*' env LD_PRELOAD="$library" CPUQUOTA="$(printf '\033[2J=1')"
is 'the keys without an error hold' \
	"$(env LD_PRELOAD="$library" CPUQUOTA=min=x,count=1,max=y "$programs/ask" 2>/dev/null)" '1 1 1 1 1'

bad() { env LD_PRELOAD="$library" CPUQUOTA=count=1,round=up "$@"; }
is 'standard error closed' "$(bad "$programs/ask" 2>&-)" '1 1 1 1 1'
is 'standard error full' "$(bad "$programs/ask" 2>/dev/full)" '1 1 1 1 1'
# A pipe that nobody reads: one that is open for both at first.
is 'standard error a broken pipe' "$(
	exec 3<>"$work/fifo"
	exec 4>"$work/fifo" 3>&-
	bad "$programs/ask" 2>&4
	echo "$?"
)" '1 1 1 1 1
0'
is 'a fork says it no second time' \
	"$(bad "$programs/places" fork-of-thread 1 1 2>&1 >/dev/null | wc -l)" 1

done_testing
