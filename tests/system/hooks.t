#!/bin/sh
# SPDX-License-Identifier: MIT
# The hooks under a real limit, where the number comes from files: in awkward places, without the files, in setuid
# programs. Needs root.

# shellcheck disable=SC2016,SC2317 # scripts for another shell, and functions that are handed on by name
# shellcheck source=tests/lib.sh
. "${top_srcdir:?}/tests/lib.sh"
# shellcheck source=tests/programs/checks.sh
. "$top_srcdir/tests/programs/checks.sh"

CPUQUOTA_POLICY=$work/empty.conf
export CPUQUOTA_POLICY
: >"$CPUQUOTA_POLICY"

if ! have_cgroups; then
	skip 'hooks under a limit' 'no cgroup with a CPU limit can be made here'
	done_testing
fi
if [ "$real" -lt 2 ]; then
	skip 'hooks under a limit' 'one CPU tells nothing apart'
	done_testing
fi

configured=$(getconf _NPROCESSORS_CONF)
new_cgroup 50000
limited() { in_cgroup "$cgroup" env LD_PRELOAD="$library" "$@"; }

checks 'masks' limited "$programs/masks" 1 "$configured" 1
checks 'put back' limited "$programs/restore" 1 1
for place in signals small-signal-stack threads-and-fork fork-of-thread vfork no-descriptors-at-first \
	no-descriptors-later closed-descriptors small-thread-stack pinned cleared-environment; do
	checks "$place" limited "$programs/places" "$place" 1 1
done
for order in "$preloads/early.so:$library" "$library:$preloads/early.so"; do
	is "asked in another constructor, $(basename "${order%%:*}") first" \
		"$(in_cgroup "$cgroup" env LD_PRELOAD="$order" "$programs/ask" 2>&1)" 'early: 1 1 1 1 1, put back
1 1 1 1 1'
done
for order in "$preloads/asking-malloc.so:$library" "$library:$preloads/asking-malloc.so"; do
	is "asked in malloc, $(basename "${order%%:*}") first" \
		"$(in_cgroup "$cgroup" env LD_PRELOAD="$order" ASKING_MALLOC_EXPECTS=1 "$programs/ask" 2>&1 | sort)" \
		'1 1 1 1 1
malloc: asked and answered, 0 wrong, 0 failed, 0 recursions'
done
is 'an empty environment' "$(in_cgroup "$cgroup" env -i LD_PRELOAD="$library" CPUQUOTA=min=1 "$programs/ask")" '1 1 1 1 1'

# Without /proc nothing is known, and the real CPUs are shown; a number that is set is still shown.
without_proc() {
	unshare --mount --propagation private sh -c 'mount -t tmpfs none /proc && exec "$@"' sh "$@"
}
if unshare --mount --propagation private true 2>/dev/null; then
	is 'no /proc' "$(without_proc env LD_PRELOAD="$library" "$programs/ask" 2>&1)" "$real $real $real $real $real"
	is 'no /proc, count=1' "$(without_proc env LD_PRELOAD="$library" CPUQUOTA=count=1 "$programs/ask" 2>&1)" '1 1 1 1 1'
	checks 'no /proc: masks' without_proc env LD_PRELOAD="$library" CPUQUOTA=count=1 "$programs/masks" 1 "$configured" 1
	is 'no /proc: another constructor' "$(without_proc env LD_PRELOAD="$library:$preloads/early.so" \
		CPUQUOTA=count=1 "$programs/ask" 2>&1 | tail -n 1)" '1 1 1 1 1'
	# One that loses sight of it goes on with what it knows.
	cat >"$work/lose.c" <<'END'
#include <stdio.h>
#include <sys/mount.h>
#include <unistd.h>
int main(void)
{
	printf("%ld ", sysconf(_SC_NPROCESSORS_ONLN));
	if (mount("none", "/proc", "tmpfs", 0, "") != 0)
		return 1;
	sleep(2);
	printf("%ld ", sysconf(_SC_NPROCESSORS_ONLN));
	sleep(2);
	printf("%ld\n", sysconf(_SC_NPROCESSORS_ONLN));
	return 0;
}
END
	if "${CC:-cc}" "$work/lose.c" -o "$work/lose" 2>/dev/null; then
		is '/proc disappears: the number stays' \
			"$(limited unshare --mount --propagation private "$work/lose")" '1 1 1'
	else
		skip '/proc disappears: the number stays' 'no compiler'
	fi
else
	skip 'no /proc' 'no mount namespace can be made here'
fi

# A program that has more rights than its user does not take the user's word for anything: ld.so loads the library only
# if root has installed it set-user-ID in a directory of the system, which this test leaves alone.
cp "$programs/ask" "$work/ask-setuid"
chmod 755 "$work"
chown 1 "$work/ask-setuid"
chmod 4755 "$work/ask-setuid"
if [ "$(stat -f -c %T "$work")" = unknown ] || findmnt -no OPTIONS -T "$work" 2>/dev/null | grep -qw nosuid; then
	skip 'a setuid program' "set-user-ID does nothing in $work"
elif command -v setpriv >/dev/null; then
	is 'a setuid program is left alone' "$(setpriv --reuid 65534 --regid 65534 --clear-groups \
		env LD_PRELOAD="$library" CPUQUOTA=count=1 "$work/ask-setuid" 2>/dev/null)" "$real $real $real $real $real"
else
	skip 'a setuid program' 'no setpriv'
fi

done_testing
