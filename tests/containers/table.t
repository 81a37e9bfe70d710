#!/bin/sh
# SPDX-License-Identifier: MIT
# One table: what each runtime takes for the number of CPUs under a real limit, with runtime_quota=hide, where the
# policy's number is to be final for all of them, and with runtime_quota=keep, where each takes the smaller of the
# policy's and its own. With LD_PRELOAD alone and through cpuquota-exec. Needs root, and of Debian: default-jdk-headless
# nodejs npm python3; what get-runtimes and get-go need; an npm registry for bun and deno; rustc. What is not there is
# skipped.

# shellcheck source=tests/lib.sh
. "${top_srcdir:?}/tests/lib.sh"
# shellcheck source=tests/containers/runtimes.sh
. "$top_srcdir/tests/containers/runtimes.sh"
# shellcheck source=tests/containers/table.sh
. "$top_srcdir/tests/containers/table.sh"

# On two CPUs, half a CPU tells "at least 2" from what rounds up, and 1.5 tells floor from ceil.
limits='50000 100000 150000'
policies='round=ceil round=floor round=nearest min=2'

if ! have_cgroups; then
	skip 'runtimes under a limit' 'no cgroup with a CPU limit can be made here'
	done_testing
fi
if [ "$real" -lt 2 ]; then
	skip 'runtimes under a limit' 'one CPU tells nothing apart'
	done_testing
fi

write_questions "$policies" >"$luggage/questions"

# The machine itself.
list_nproc here
if [ -x /usr/bin/python3 ]; then
	list_python here
else
	skip Python 'no /usr/bin/python3'
fi
has_class=
if compile_java; then
	has_class=yes
	list_java here "$(java -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p')" java
fi
if command -v node >/dev/null; then
	list_node here
else
	skip Node 'no node'
fi
for name in bun deno; do
	if ! program=$("$from/get-npm" "$name" 2>"$work/log"); then
		skip "$name" "$(tail -n 1 "$work/log")"
		continue
	fi
	ln -s "$program" "$luggage/$name"
done
# Their two answers differ without a policy: what is in the files, and what they would use.
for question in '' 'os.cpus()'; do
	[ ! -e "$luggage/bun" ] || list_program here "bun $question" any "/mnt/bun /mnt/cpus.cjs '$question'"
	[ ! -e "$luggage/deno" ] || list_program here "deno $question" any \
		"/mnt/deno run --quiet --allow-all --no-config /mnt/cpus.cjs '$question'"
done
list_rust here
for suite in here trixie sid; do
	list_go here "$suite" static cgo
done

# Other Debians.
find_roots bullseye trixie sid
for suite in ${roots#here}; do
	[ -z "$has_class" ] || list_javas "$suite"
	list_node "$suite"
	list_python "$suite"
	list_nproc "$suite"
done

# shellcheck disable=SC2086 # numbers
ask_all $limits

make_table 'on this machine' "$limits" "$policies" "$work/rules" "$luggage/questions" \
	"$work"/answers-*

done_testing
