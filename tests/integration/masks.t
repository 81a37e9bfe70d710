#!/bin/sh
# SPDX-License-Identifier: MIT
# What programs are told about their CPUs, in all ways, and what becomes of what they say.

# shellcheck source=tests/lib.sh
. "${top_srcdir:?}/tests/lib.sh"
# shellcheck source=tests/programs/checks.sh
. "$top_srcdir/tests/programs/checks.sh"

# The built-in policy, whatever is installed on this machine.
CPUQUOTA_POLICY=$work/empty.conf
export CPUQUOTA_POLICY
: >"$CPUQUOTA_POLICY"

configured=$(getconf _NPROCESSORS_CONF)

# with POLICY COMMAND...
with() {
	policy=$1
	shift
	env LD_PRELOAD="$library" CPUQUOTA="$policy" "$@"
}

checks 'without the library' "$programs/masks" "$online" "$configured" "$real"
checks 'off' with off "$programs/masks" "$online" "$configured" "$real"
checks 'off among others' with count=1,off,min=1 "$programs/masks" "$online" "$configured" "$real"
checks 'count=1' with count=1 "$programs/masks" 1 "$configured" 1
checks 'conf=shown' with count=1,conf=shown "$programs/masks" 1 1 1
checks 'affinity=real' with count=1,affinity=real "$programs/masks" 1 "$configured" "$real"
checks 'more than there are' with count=100000 "$programs/masks" "$real" "$configured" "$real"
checks 'mask=first' with count=1,mask=first "$programs/masks" 1 "$configured" 1
checks 'refresh=0' with count=1,refresh=0 "$programs/masks" 1 "$configured" 1
checks 'through cpuquota-exec' "$wrapper" -s count=1 "$programs/masks" 1 "$configured" 1

# Which one: the lowest, or any, but the same one in every process here.
available=$(awk '/^Cpus_allowed_list/ { print $2 }' /proc/self/status | tr , '\n' |
	awk -F- '{ for (i = $1; i <= $NF; i++) print i }')
lowest=$(echo "$available" | head -n 1)
is 'mask=first shows the lowest' "$(with count=1,mask=first "$programs/ask" cpus)" "$lowest"
for policy in count=1 count=1,mask=spread; do
	one=$(with "$policy" "$programs/ask" cpus)
	two=$(with "$policy" sh -c "$programs/ask cpus; :")
	is "$policy: two processes are shown the same CPU" "$two" "$one"
	is "$policy: a real one" "$(echo "$available" | grep -cx "$one")" 1
done

if [ "$real" -lt 2 ]; then
	skip 'masks that are put back' 'one CPU tells nothing apart'
	done_testing
fi

checks 'put back' with count=1 "$programs/restore" 1 1
checks 'put back, mask=first' with count=1,mask=first "$programs/restore" 1 1
checks 'put back, refresh=0' with count=1,refresh=0 "$programs/restore" 1 1
if [ "$real" -gt 2 ]; then
	checks 'put back, one less than all' with count=$((real - 1)) "$programs/restore" $((real - 1)) $((real - 1))
fi

# Whoever starts the program pinned gets what they want.
for cpu in $available; do
	is "taskset -c $cpu is respected" "$(taskset -c "$cpu" env LD_PRELOAD="$library" "$programs/ask")" '1 1 1 1 1'
	is "taskset -c $cpu, preloaded itself: its program sees that CPU" \
		"$(with count=1 taskset -c "$cpu" "$programs/ask" cpus)" "$cpu"
	is "taskset -c $cpu, preloaded itself: so does the kernel" \
		"$(with count=1 taskset -c "$cpu" grep Cpus_allowed_list /proc/self/status)" "Cpus_allowed_list:	$cpu"
	is "taskset -c $cpu: the CPU it is" \
		"$(taskset -c "$cpu" env LD_PRELOAD="$library" CPUQUOTA=count=1 "$programs/ask" cpus)" "$cpu"
done

# Just the CPUs that are shown: saved and put back they are all that there is, for another program they are what they say.
allowed() { with count=1 "$programs/become" "$1" grep Cpus_allowed_list /proc/self/status 2>&1 | cut -f 2; }
all=$(allowed child)
is 'a child is not pinned' "$all" "$(grep Cpus_allowed_list /proc/self/status | cut -f 2)"
one=$(with count=1 "$programs/ask" cpus)
is 'what a launcher sets is for its program' "$(allowed at-once)" "$one"
is 'an exec that fails changes nothing, and the next one does' "$(allowed failing)" "$one"
is 'put back after a pin, it is all for the next program too' "$(allowed after-pin)" "$all"
is 'another thread that executes is not pinned' "$(allowed sibling)" "$all"

done_testing
