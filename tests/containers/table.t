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

{
	echo 'alone -'
	for way in ENV cpuquota-exec; do
		for quota in hide keep; do
			for policy in $policies; do
				echo "$way runtime_quota=$quota,$policy"
			done
		done
	done
} >"$luggage/questions" # for ask-runtimes

# The programs: in each root, a list for ask-runtimes. And a list of all with the rule by which they answer on their
# own:
#   machine        the limit is not known to them
#   ceil, floor    they read it, and round it like that
#   ceil2          the same, and at least 2
#   any            it depends on what version is on this machine, or on the kind of cgroup
: >"$work/rules"

# add ROOT NAME RULE COMMAND [keep]: keep for one that the limit cannot be hidden from.
add() {
	printf '%s\t%s\n' "$2" "$4" >>"$luggage/programs-$1"
	printf '%s\t%s\t%s\n' "$2" "$3" "${5-}" >>"$work/rules"
}

add_java() {
	add "$1" "$2" ceil "$3 -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp /mnt Processors"
}

python='-c "import os; print(os.cpu_count(), len(os.sched_getaffinity(0)))"'

# The machine itself.
add here nproc any nproc
if [ -x /usr/bin/python3 ]; then
	add here Python machine "/usr/bin/python3 $python"
else
	skip Python 'no /usr/bin/python3'
fi
if javac --release 8 -Xlint:-options -d "$luggage" "$top_srcdir/tests/system/programs/Processors.java" >"$work/log" 2>&1
then
	has_class=yes
	version=$(java -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p')
	add_java here "JDK $version" java
else
	has_class=
	skip JDK "cannot compile: $(head -n 1 "$work/log")"
fi
if command -v node >/dev/null; then
	add here "Node $(node -p 'process.versions.node.split(".")[0]')" any 'node /mnt/cpus.cjs'
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
	[ ! -e "$luggage/bun" ] || add here "bun $question" any "/mnt/bun /mnt/cpus.cjs '$question'"
	[ ! -e "$luggage/deno" ] || add here "deno $question" any \
		"/mnt/deno run --quiet --allow-all --no-config /mnt/cpus.cjs '$question'"
done
if rustc -O -o "$luggage/parallelism" "$from/programs/parallelism.rs" >"$work/log" 2>&1; then
	add here Rust any /mnt/parallelism
else
	skip Rust "cannot be built: $(head -n 1 "$work/log")"
fi
# It reads the cgroup by itself, by system calls that nothing here takes notice of: the mask is all that it can be told.
if rustc -O -C target-feature=+crt-static -o "$luggage/parallelism-static" "$from/programs/parallelism.rs" \
	>"$work/log" 2>&1; then
	add here 'Rust, static' any /mnt/parallelism-static keep
else
	skip 'Rust, static' "cannot be built: $(head -n 1 "$work/log")"
fi
for suite in here trixie sid; do
	if ! directory=$("$top_srcdir/tests/system/get-go" "$suite" 2>"$work/log"); then
		skip "Go of $suite" "$(tail -n 1 "$work/log")"
		continue
	fi
	read -r version <"$directory/version"
	rule=machine
	if [ "${version#1.}" -ge 25 ]; then
		rule=ceil2
	fi
	# They have GOMAXPROCS second; the first is the number of CPUs in the mask.
	cp "$directory/static" "$luggage/go$version"
	cp "$directory/cgo" "$luggage/cgo$version"
	add here "Go $version" "$rule" "/mnt/go$version"
	add here "Go $version, cgo" "$rule" "/mnt/cgo$version"
done

# Other Debians.
find_roots
for suite in ${roots#here}; do
	root=$(root_of "$suite")
	for java in "$root"/usr/lib/jvm/java-[0-9][0-9]-openjdk-*; do
		version=${java##*/java-}
		[ -z "$has_class" ] || add_java "$suite" "JDK ${version%%-*}, $suite" "${java#"$root"}/bin/java"
	done
	version=$(chroot "$root" node -p 'process.versions.node.split(".")[0]')
	add "$suite" "Node $version, $suite" any 'node /mnt/cpus.cjs'
	version=$(chroot "$root" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
	add "$suite" "Python $version" machine "python3 $python"
	version=$(chroot "$root" nproc --version | sed -n '1s/.* //p')
	add "$suite" "nproc $version" any nproc
done

# shellcheck disable=SC2086 # numbers
ask_all $limits

# What is expected, worked out without the program: for each limit and policy.
for limit in $limits; do
	for policy in $policies; do
		round=ceil min=1
		eval "$policy"
		printf '%s\t%s\t%s\n' "$limit" "$policy" "$(expected_count "$limit" "$round" "$min" 0 "$real")"
	done
	for rule in ceil:1 ceil:2 floor:1; do
		printf '%s\t%s\t%s\n' "$limit" "rule=$rule" \
			"$(expected_count "$limit" "${rule%:*}" "${rule#*:}" 0 "$real")"
	done
done >"$work/expected"

# The table, and a line for each of its rows, way and kind: what it is, what it says, what it should.
awk -F '\t' -v limits="$limits" -v policies="$policies" -v real="$real" -v rows="$work/rows" -f "$from/table.awk" \
	"$work/expected" "$work/rules" "$work"/answers-*
while IFS='	' read -r description said wanted; do
	is "$description" "$said" "$wanted"
done <"$work/rows"

done_testing
