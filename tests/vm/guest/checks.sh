# SPDX-License-Identifier: MIT
# In a machine: what the hooks promise of masks and of system calls, by tests/programs. To be sourced behind lib.sh.
# shellcheck shell=sh
# shellcheck disable=SC2154 # of lib.sh

# shellcheck disable=SC2317 # for checks.sh; there is no program of that name here
getconf() { echo "$real"; }
# shellcheck source=tests/programs/checks.sh
. "$top_srcdir/tests/programs/checks.sh"
programs=/programs # not where a build has them

new_cgroup 150000
limited() { in_cgroup "$cgroup" env LD_PRELOAD="$library" "$@"; }

checks 'syscall() without the library' "$programs/calls"
checks 'syscall()' limited "$programs/calls"
checks 'masks without the library' "$programs/masks" "$real" "$real" "$real"
checks 'masks' limited "$programs/masks" 2 "$real" 2
checks 'masks, conf=shown' limited env CPUQUOTA=conf=shown "$programs/masks" 2 2 2
checks 'saved and restored' limited "$programs/restore" 2 2
# Not those with threads that are always busy: an emulator of 16 CPUs that is one thread takes minutes for them.
for place in fork-of-thread vfork no-descriptors-later pinned cleared-environment; do
	checks "$place" limited "$programs/places" "$place" 2 2
done
