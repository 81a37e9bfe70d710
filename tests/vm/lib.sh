# SPDX-License-Identifier: MIT
# For the tests in virtual machines: what is laid into them. To be sourced behind tests/lib.sh.
# shellcheck shell=sh

# shellcheck disable=SC2154 # from tests/lib.sh
vm=$top_srcdir/tests/vm
overlay=$work/overlay
# shellcheck disable=SC2034
case $(uname -m) in
aarch64) own_architecture=arm64 ;;
*) own_architecture=amd64 ;;
esac

# needs_vm DESCRIPTION ARCHITECTURE: ends the test where such a machine cannot be had.
needs_vm() {
	case $2 in
	arm64) emulator=qemu-system-aarch64 ;;
	*) emulator=qemu-system-x86_64 ;;
	esac
	for command in "$emulator" cpio; do
		if ! command -v "$command" >/dev/null; then
			skip "$1" "no $command"
			done_testing
		fi
	done
	if ! "$vm/get" "$2" >/dev/null 2>"$work/get"; then
		skip "$1" "$(tail -n 1 "$work/get")"
		done_testing
	fi
}

# add FILE [NAME]: puts a file into the machine, at the path NAME (default: its own).
add() {
	target=$overlay${2:-$1}
	mkdir -p "${target%/*}"
	cp -L "$1" "$target"
}

# add_libraries FILE: the loader and the libraries of a program for this machine's libc.
add_libraries() {
	ldd "$1" | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p; s/^[ \t]*\(\/[^ ]*\) (.*/\1/p' >"$work/libraries"
	while read -r file; do
		[ -e "$overlay$file" ] || add "$file"
	done <"$work/libraries"
}

# add_tests LIBRARY WRAPPER: what the scripts in guest/ expect; in the machine, too, the tree is $top_srcdir.
add_tests() {
	add "$top_srcdir/tests/lib.sh" /tests/lib.sh
	for script in "$vm"/guest/*.sh; do
		add "$script" "/tests/vm/guest/${script##*/}"
	done
	add "$1" /build/.libs/libcpuquota.so
	add "$2" /build/cpuquota-exec
}

# add_go SUITE: /programs/go-SUITE/static and /programs/go-SUITE/version. False: it cannot be had.
add_go() {
	if ! built=$("$top_srcdir/tests/system/get-go" "$1" 2>"$work/get-go"); then
		skip "Go of $1" "$(tail -n 1 "$work/get-go")"
		return 1
	fi
	add "$built/static" "/programs/go-$1/static"
	add "$built/version" "/programs/go-$1/version"
}

# compile NAME SOURCE [OPTION]...: /programs/NAME, by $compiler.
compile() {
	name=$1 source=$2
	shift 2
	mkdir -p "$overlay/programs"
	"${compiler:-cc}" -O -D_GNU_SOURCE -o "$overlay/programs/$name" "$source" "$@"
}

# make_disk FILE DIRECTORY: an image with that directory's files, for run's -d. It is as large only as what is in it.
make_disk() {
	mke2fs -q -t ext4 -O ^has_journal -d "$2" "$1" 4G >"$1.log" 2>&1 || sed 's/^/# /' "$1.log"
}

# boot MACHINE SCRIPTS [OPTION]...: runs guest/NAME.sh for each NAME in SCRIPTS in a machine, with options of run. In
# it, $machine is MACHINE.
boot() {
	machine=$1
	command="export top_srcdir=/ top_builddir=/build; machine=$machine; . /tests/vm/guest/lib.sh"
	for script in $2; do
		command="$command; . /tests/vm/guest/$script.sh"
	done
	shift 2
	status=0
	"$vm/run" "$@" "$overlay" "$command; finish" >"$work/$machine.out" 2>"$work/$machine.err" || status=$?
	echo "$status" >"$work/$machine.status"
}

# results MACHINE: the scripts speak TAP; their results are this test's.
results() {
	read -r status <"$work/$1.status"
	sed 's/^/# /' "$work/$1.err"
	before=$tests_run
	bad=0
	planned=
	while IFS= read -r line; do
		case $line in
		'ok '*)
			tests_run=$((tests_run + 1))
			echo "ok $tests_run - ${line#* - }"
			;;
		'not ok '*)
			tests_run=$((tests_run + 1)) tests_failed=$((tests_failed + 1)) bad=1
			echo "not ok $tests_run - ${line#* - }"
			;;
		1..*) planned=${line#1..} ;;
		*) echo "$line" ;;
		esac
	done <"$work/$1.out"
	is "$1: all tests were made" "${planned:-none}, exit status $status" "$((tests_run - before)), exit status $bad"
}

# guest SCRIPTS [OPTION]...: both, in one machine.
guest() {
	scripts=$1
	shift
	boot machine "$scripts" "$@"
	results machine
}
