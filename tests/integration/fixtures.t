#!/bin/sh
# SPDX-License-Identifier: MIT
# The count in layouts of cgroups that cannot be made here, read from trees.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

trees=$work/trees
"$top_srcdir/tests/fixtures/make-trees" "$trees" || exit 1

count() {
	"$wrapper" --count --sysroot "$trees/$1" --set "round=$2" 2>&1
}

while read -r tree ceil floor nearest; do
	is "$tree" "$(count "$tree" ceil) $(count "$tree" floor) $(count "$tree" nearest)" "$ceil $floor $nearest"
done <"$trees/expected"

# A policy in the tree is that of the machine it was captured on.
tree=$trees/v2-usual-place
directory=$("$wrapper" --help | sed -n 's/^ *\(\/.*\)\/cpuquota.conf$/\1/p')
mkdir -p "$tree$directory"
echo 'max = 1' >"$tree$directory/cpuquota.conf"
is 'the policy file of the tree counts' "$("$wrapper" --count --sysroot "$tree")" 1

is 'a tree without CPUs is an error' "$("$wrapper" --count --sysroot "$work/none" >/dev/null 2>&1; echo $?)" 125

done_testing
