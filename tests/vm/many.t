#!/bin/sh
# SPDX-License-Identifier: MIT
# In a virtual machine with 72 CPUs, where a mask takes more than a word: guest/many.sh. Needs of Debian:
# qemu-system-x86 cpio gcc libc6-dev, apt's sources (for get), and what tests/system/get-go says.

# shellcheck source=tests/lib.sh
. "${top_srcdir:?}/tests/lib.sh"
# shellcheck source=tests/vm/lib.sh
. "$top_srcdir/tests/vm/lib.sh"

needs_vm '72 CPUs' "$own_architecture"
add_tests "$library" "$wrapper"
compile ask "$top_srcdir/tests/programs/ask.c" -pthread
add_libraries "$overlay/programs/ask"
compile ask-static "$top_srcdir/tests/programs/ask.c" -pthread -static
add_go trixie
guest many -a "$own_architecture" -c 72
done_testing
