#!/bin/sh
# SPDX-License-Identifier: MIT
# In a virtual machine with 16 CPUs and cgroups of version 2: guest/limits.sh, changes.sh, report.sh and spread.sh. Needs of
# Debian: qemu-system-x86 cpio gcc libc6-dev util-linux, apt's sources (for get), and what tests/system/get-go says.

# shellcheck source=tests/lib.sh
. "${top_srcdir:?}/tests/lib.sh"
# shellcheck source=tests/vm/lib.sh
. "$top_srcdir/tests/vm/lib.sh"

needs_vm 'limits on 16 CPUs' "$own_architecture"
add_tests "$library" "$wrapper"
add "$(command -v unshare)" /usr/bin/unshare
add_libraries "$(command -v unshare)"
compile ask "$top_srcdir/tests/programs/ask.c" -pthread
add_libraries "$overlay/programs/ask"
compile ask-static "$top_srcdir/tests/programs/ask.c" -pthread -static
compile follow "$vm/programs/follow.c"
compile follow-static "$vm/programs/follow.c" -static
compile spin "$top_srcdir/tests/system/programs/spin.c" -pthread
for suite in here trixie sid; do
	add_go "$suite"
done
guest "limits changes spread report" -a "$own_architecture" -c 16
done_testing
