#!/bin/sh
# SPDX-License-Identifier: MIT
# In a virtual machine whose kernel has Yama: guest/yama.sh. Needs of Debian: qemu-system-x86 cpio gcc libc6-dev
# util-linux, apt's sources (for get), and what tests/system/get-go says.

# shellcheck source=tests/lib.sh
. "${top_srcdir:?}/tests/lib.sh"
# shellcheck source=tests/vm/lib.sh
. "$top_srcdir/tests/vm/lib.sh"

needs_vm 'Yama' "$own_architecture"
add_tests "$library" "$wrapper"
add "$(command -v setpriv)" /usr/bin/setpriv
add_libraries "$(command -v setpriv)"
compile ask "$top_srcdir/tests/programs/ask.c" -pthread
compile ask-static "$top_srcdir/tests/programs/ask.c" -pthread -static
compile become "$vm/programs/become.c"
for suite in here sid; do
	add_go "$suite"
done
guest yama -a "$own_architecture" -c 4
done_testing
