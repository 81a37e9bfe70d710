# SPDX-License-Identifier: MIT
# For tests that make a table of what each runtime takes for the number of CPUs: which runtimes there are, how they are
# asked, what they should say. To be sourced behind runtimes.sh, of whose roots it speaks.
# shellcheck shell=sh
# shellcheck disable=SC2154 # of tests/lib.sh and runtimes.sh

# All programs with the rule by which they answer on their own:
#   machine        the limit is not known to them
#   ceil, floor    they read it, and round it like that
#   ceil2          the same, and at least 2
#   any            it depends on what version is on this machine, or on the kind of cgroup
: >"$work/rules"

# write_questions POLICIES [POLICIES]: for ask-runtimes. The latter: those that cpuquota-exec is asked for (default: the
# same).
write_questions() {
	echo 'alone -'
	for quota in hide keep; do
		for policy in $1; do
			echo "ENV runtime_quota=$quota,$policy"
		done
		for policy in ${2-$1}; do
			echo "cpuquota-exec runtime_quota=$quota,$policy"
		done
	done
}

# list_program ROOT NAME RULE COMMAND [keep]: puts it on the lists; keep for one that the limit cannot be hidden from.
list_program() {
	printf '%s\t%s\n' "$2" "$4" >>"$luggage/programs-$1"
	printf '%s\t%s\t%s\n' "$2" "$3" "${5-}" >>"$work/rules"
}

# name_in ROOT NAME: of other Debians' programs, it says which Debian.
name_in() {
	if [ "$1" = here ]; then
		echo "$2"
	else
		echo "$2, $1"
	fi
}

# compile_java: the class that list_java asks. False, and skipped: it cannot be had.
compile_java() {
	if ! javac --release 8 -Xlint:-options -d "$luggage" "$top_srcdir/tests/system/programs/Processors.java" \
		>"$work/log" 2>&1; then
		skip JDK "cannot compile: $(head -n 1 "$work/log")"
		return 1
	fi
}

# list_java ROOT VERSION COMMAND: with what makes it start sooner, and does not bear on the number.
list_java() {
	list_program "$1" "$(name_in "$1" "JDK $2")" ceil "$3 -Xint -XX:+UseSerialGC -cp /mnt Processors"
}

# list_javas ROOT [VERSION]: the JDKs of another Debian, or that one of them.
list_javas() {
	for java in "$(root_of "$1")"/usr/lib/jvm/java-[0-9][0-9]-openjdk-*; do
		version=${java##*/java-}
		version=${version%%-*}
		if [ "${2-$version}" = "$version" ]; then
			list_java "$1" "$version" "/usr/lib/jvm/${java##*/}/bin/java"
		fi
	done
}

list_node() {
	version=$(in_root "$1" node -p 'process.versions.node.split(".")[0]')
	list_program "$1" "$(name_in "$1" "Node $version")" any 'node /mnt/cpus.cjs'
}

list_python() {
	version=$(in_root "$1" /usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
	list_program "$1" "$(name_in "$1" "Python $version")" machine \
		'/usr/bin/python3 -c "import os; print(os.cpu_count(), len(os.sched_getaffinity(0)))"'
}

list_nproc() {
	version=$(in_root "$1" nproc --version | sed -n '1s/.* //p')
	list_program "$1" "$(name_in "$1" "nproc $version")" any nproc
}

# list_rust ROOT
list_rust() {
	if rustc -O -o "$luggage/parallelism" "$from/programs/parallelism.rs" >"$work/log" 2>&1; then
		list_program "$1" Rust any /mnt/parallelism
	else
		skip Rust "cannot be built: $(head -n 1 "$work/log")"
	fi
	# It reads the cgroup by itself, by system calls that nothing here takes notice of: the mask is all that it can be
	# told.
	if rustc -O -C target-feature=+crt-static -o "$luggage/parallelism-static" "$from/programs/parallelism.rs" \
		>"$work/log" 2>&1; then
		list_program "$1" 'Rust, static' any /mnt/parallelism-static keep
	else
		skip 'Rust, static' "cannot be built: $(head -n 1 "$work/log")"
	fi
}

# list_go ROOT SUITE KIND...: what get-go builds with the Go of that suite, of the kinds static and cgo. They have
# GOMAXPROCS second; the first is the number of CPUs in the mask.
list_go() {
	root=$1 suite=$2
	shift 2
	if ! directory=$("$top_srcdir/tests/system/get-go" "$suite" 2>"$work/log"); then
		skip "Go of $suite" "$(tail -n 1 "$work/log")"
		return
	fi
	read -r version <"$directory/version"
	rule=machine
	if [ "${version#1.}" -ge 25 ]; then
		rule=ceil2
	fi
	for kind; do
		name="Go $version, $kind"
		cp "$directory/$kind" "$luggage/go$version-$kind"
		list_program "$root" "${name%, static}" "$rule" "/mnt/go$version-$kind"
	done
}

# expect LIMITS POLICIES: what is expected, worked out without the program: for each limit and policy or rule.
expect() {
	for limit in $1; do
		for policy in $2; do
			round=ceil min=1
			eval "$policy"
			printf '%s\t%s\t%s\n' "$limit" "$policy" "$(expected_count "$limit" "$round" "$min" 0 "$real")"
		done
		for rule in ceil:1 ceil:2 floor:1; do
			printf '%s\t%s\t%s\n' "$limit" "rule=$rule" \
				"$(expected_count "$limit" "${rule%:*}" "${rule#*:}" 0 "$real")"
		done
	done
}

# make_table TITLE LIMITS POLICIES RULES QUESTIONS ANSWERS...: prints it, and compares each of its rows, way by way and
# kind by kind. RULES, QUESTIONS and ANSWERS are files; the names of the latter end in -LIMIT.
make_table() {
	title=$1 limits=$2 policies=$3 rules=$4 questions=$5
	shift 5
	expect "$limits" "$policies" >"$work/expected"
	: >"$work/rows"
	succeeds "$title: there are answers" ls "$@"
	awk -F '\t' -v title="$title" -v limits="$limits" -v policies="$policies" -v real="$real" -v rows="$work/rows" \
		-f "$from/table.awk" what=expected "$work/expected" what=rules "$rules" what=questions "$questions" \
		what=answers "$@"
	while IFS='	' read -r description said wanted; do
		is "$title: $description" "$said" "$wanted"
	done <"$work/rows"
}
