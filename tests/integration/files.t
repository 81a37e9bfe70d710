#!/bin/sh
# SPDX-License-Identifier: MIT
# The files in which programs count CPUs: what is in them, in every way to open and read them, and all that is left alone.

# shellcheck disable=SC2016,SC2317 # scripts for another shell, and functions that are handed on by name
# shellcheck source=tests/lib.sh
. "${top_srcdir:?}/tests/lib.sh"
# shellcheck source=tests/programs/checks.sh
. "$top_srcdir/tests/programs/checks.sh"

# The built-in policy, whatever is installed on this machine.
CPUQUOTA_POLICY=$work/empty.conf
export CPUQUOTA_POLICY
: >"$CPUQUOTA_POLICY"

cpuinfo=/proc/cpuinfo stat=/proc/stat online_file=/sys/devices/system/cpu/online
source=$top_srcdir/tests/programs/files-read.c
python=/usr/bin/python3 # not a wrapper script of that name
command -v "$python" >/dev/null || python=$(command -v python3)
policy=count=1
hooked() { env LD_PRELOAD="$library" CPUQUOTA="$policy" "$@"; }

if [ "$real" -lt 2 ] || ! [ -r "$online_file" ]; then
	skip 'files' 'one CPU tells nothing apart, or there are no files'
	done_testing
fi

# have DESCRIPTION COMMAND: skips what needs COMMAND where there is none.
have() {
	command -v "$2" >/dev/null && return
	skip "$1" "no $2"
	return 1
}

# What is to be in the files, made of the real ones without the library: that of the CPUs of $cpus, one a line.

# Clock frequencies change from one reading to the next.
steady() { sed 's/^\(cpu MHz\|BogoMIPS\)\(.*\): .*/\1\2: ?/'; }

expect_cpuinfo() {
	awk -v cpus="$cpus" 'BEGIN { count = split(cpus, list); for (i = 1; i <= count; i++) shown[list[i]] = 1; keep = 1 }
		/^processor[ \t]*:/ { keep = $NF in shown }
		keep
		/^$/ { keep = 1 }' "$cpuinfo" | steady
}

expect_list() {
	echo "$cpus" | awk 'function put() { if (count++) printf ","; printf first == last ? "%d" : "%d-%d", first, last }
		NR > 1 && $1 != last + 1 { put() }
		NR == 1 || $1 != last + 1 { first = $1 }
		{ last = $1 }
		END { put(); print "" }'
}

# check_stat BEFORE SHOWN AFTER: SHOWN has the lines of BEFORE and AFTER, in their order and with as many fields, but those
# of other CPUs; no counter lies outside what it was before and after. What it says is what is wrong.
check_stat() {
	awk -v cpus="$cpus" 'BEGIN { count = split(cpus, list); for (i = 1; i <= count; i++) shown["cpu" list[i]] = 1 }
		FNR == 1 { file++; line = 0 }
		file != 2 && /^cpu[0-9]/ && !($1 in shown) { next }
		{ line++; key[file, line] = $1; fields[file, line] = NF; lines[file] = line
		  for (i = 2; i <= NF; i++) value[file, line, i] = $i }
		END {
			if (lines[1] != lines[2] || !lines[2]) print lines[2] " lines instead of " lines[1]
			for (line = 1; line <= lines[1]; line++) {
				name = key[2, line]
				if (name != key[1, line]) print "line " line " is " name " instead of " key[1, line]
				if (fields[2, line] != fields[1, line]) print name ": " fields[2, line] " fields"
				for (i = 2; i <= fields[1, line]; i++) {
					v = value[2, line, i]
					if (name ~ /^procs_/ || (name ~ /^cpu/ && (i == 5 || i == 6))) {
						# no counter, or one that may go back
					if (v !~ /^[0-9]+$/) print name ": " v
					} else if (v + 1 < value[1, line, i] || v > value[3, line, i] + 1) {
						print name " field " i ": " value[1, line, i] ", " v ", " value[3, line, i]
					}
				}
			}
		}' "$1" "$2" "$3"
}

# agree DESCRIPTION COMMAND...: what COMMAND, which is given a path, writes of each of the three files is right for $cpus;
# or for $stat_cpus, of /proc/stat, if that is set.
agree() {
	description=$1
	shift
	"$@" "$cpuinfo" >"$work/cpuinfo.got" 2>"$work/err" || echo "exit status $?" >>"$work/err"
	cat "$stat" >"$work/stat.before"
	"$@" "$stat" >"$work/stat.got" 2>>"$work/err" || echo "exit status $?" >>"$work/err"
	cat "$stat" >"$work/stat.after"
	"$@" "$online_file" >"$work/online.got" 2>>"$work/err" || echo "exit status $?" >>"$work/err"
	expect_cpuinfo >"$work/cpuinfo.want"
	steady <"$work/cpuinfo.got" >"$work/cpuinfo.steady"
	problem=$(
		[ -n "$cpus" ] || echo 'no CPUs to look for'
		cmp "$work/cpuinfo.want" "$work/cpuinfo.steady" 2>&1
		cpus=${stat_cpus:-$cpus} check_stat "$work/stat.before" "$work/stat.got" "$work/stat.after"
		[ "$(cat "$work/online.got")" = "$(expect_list)" ] || echo "online: $(cat "$work/online.got")"
		cat "$work/err"
	)
	problem=$(echo "$problem" | head -n 8)
	is "$description" "$problem" ''
}

all_cpus=$(awk -F- -v RS=, '{ for (i = $1; i <= $NF; i++) print i + 0 }' "$online_file")
available=$(awk '/^Cpus_allowed_list/ { print $2 }' /proc/self/status |
	awk -F- -v RS=, '{ for (i = $1; i <= $NF; i++) print i + 0 }')

# The checks above tell a wrong file from a right one.
cpus=$all_cpus
agree 'without the library: the files have all CPUs' cat
cpus=$(echo "$all_cpus" | head -n 1)
cat "$stat" >"$work/before"
grep -v ctxt "$stat" | grep -v '^cpu[1-9]' >"$work/wrong"
cat "$stat" >"$work/after"
matches 'a missing line is noticed' "$(check_stat "$work/before" "$work/wrong" "$work/after")" '*lines instead of*'
matches 'a line too many is noticed' "$(check_stat "$work/before" "$work/before" "$work/after")" '*lines instead of*'

# The same CPUs as everywhere, by their real numbers.

for policy in count=1 count=1,mask=first count=1,mask=spread count=1,affinity=shown,conf=shown; do
	cpus=$(hooked "$programs/ask" cpus)
	agree "$policy: cat" hooked cat
	is "$policy: grep -c ^processor" "$(hooked grep -c ^processor "$cpuinfo")" 1
	is "$policy: grep -c ^cpu[0-9]" "$(hooked grep -c '^cpu[0-9]' "$stat")" 1
	is "$policy: cpu/online" "$(hooked cat "$online_file")" "$cpus"
done
is 'mask=first: the lowest' "$(policy=count=1,mask=first && hooked cat "$online_file")" "$(echo "$available" | head -n 1)"
is 'affinity=real: the files show the policy all the same' \
	"$(policy=count=1,affinity=real && hooked grep -c ^processor "$cpuinfo")" 1
policy=count=1
agree 'through cpuquota-exec' "$wrapper" --set count=1 -- cat
# shellcheck disable=SC2086 # one word each
for cpu in $(echo $available | cut -d ' ' -f 1-4); do
	cpus=$cpu
	for policy in count=1,mask=first min=1 count=100; do
		agree "on CPU $cpu alone, $policy" hooked taskset -c "$cpu" cat
	done
done
cpus=$available
for policy in count=100000 "count=$real" "count=$real,mask=spread"; do
	agree "$policy: all that this process has" hooked cat
done
cpus=$all_cpus
for policy in off count=1,off files=real,count=1; do
	agree "$policy: the files themselves" hooked cat
	checks "$policy: descriptors" hooked "$programs/files-calls" descriptors "$online" "$online"
done
is 'files=real: only the files are' "$(policy=files=real,count=1 && hooked "$programs/ask")" '1 1 1 1 1'
agree 'CPUQUOTA=off for cpuquota-exec' env CPUQUOTA=off "$wrapper" -- cat

# Every way to open them, and to read them.

policy=count=1
cpus=$(hooked "$programs/ask" cpus)
for way in open open-with-mode open64 openat openat64 openat-any-directory openat-directory openat64-directory \
	__open_2 __open64_2 __openat_2 __openat64_2 'fopen r' 'fopen re' 'fopen rb' 'fopen rm' 'fopen64 r' 'fopen64 re' \
	bytes big pread lseek fstat mmap fdopen; do
	case $way in
	__*) [ -n "$(getconf GNU_LIBC_VERSION 2>/dev/null)" ] || continue ;;
	esac
	agree "$way" hooked "$programs/files-read" "$way"
done

# The other functions that the same source makes: checking ones, and those of large files.

# variant DESCRIPTION FUNCTIONS OPTION...: FUNCTIONS are those that must be called.
variant() {
	description=$1
	functions=$2
	shift 2
	if ! gcc -O2 -D_GNU_SOURCE -U_FORTIFY_SOURCE -DNOT_BY_NAME "$@" "$source" -o "$work/read" 2>"$work/err"; then
		skip "$description" "cannot be built: $(head -n 1 "$work/err")"
		return
	fi
	for function in $functions; do
		is "$description calls $function" "$(nm -D --undefined-only "$work/read" | sed 's/@.*//' |
			grep -c " $function\$")" 1
	done
	for way in open open64 openat openat64 openat-directory openat64-directory 'fopen r' 'fopen64 re' fdopen mmap; do
		agree "$description: $way" hooked "$work/read" "$way"
	done
}

if have '_FORTIFY_SOURCE' gcc && have '_FORTIFY_SOURCE' nm; then
	variant _FORTIFY_SOURCE '__open_2 __open64_2 __openat_2 __openat64_2' -D_FORTIFY_SOURCE=2
	variant _FILE_OFFSET_BITS=64 'open64 openat64 fopen64' -D_FILE_OFFSET_BITS=64
	variant 'both' '__open64_2 __openat64_2 fopen64' -D_FORTIFY_SOURCE=2 -D_FILE_OFFSET_BITS=64
fi
if have 'musl' musl-gcc; then
	if musl-gcc -O2 -D_GNU_SOURCE "$source" -DNOT_BY_NAME -o "$work/read-musl" 2>"$work/err"; then
		for way in open open64 openat openat64 openat-directory 'fopen r' 'fopen re' bytes mmap fdopen; do
			agree "musl: $way" hooked "$work/read-musl" "$way"
		done
	else
		fail 'musl: builds' "$(cat "$work/err")"
	fi
fi

# Languages, which have ways of their own to read a file.

if have 'C++' g++; then
	cat >"$work/ifstream.cc" <<'END'
#include <fstream>
#include <iostream>
int main(int, char **arguments)
{
	std::ifstream file(arguments[1]);
	std::cout << file.rdbuf();
	return file ? 0 : 1;
}
END
	succeeds 'C++: builds' g++ -O1 "$work/ifstream.cc" -o "$work/ifstream" &&
		agree 'C++: ifstream' hooked "$work/ifstream"
fi
if have 'Rust' rustc; then
	cat >"$work/read.rs" <<'END'
use std::io::{Read, Write};
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let mut text = Vec::new();
    std::fs::File::open(&path).unwrap().read_to_end(&mut text).unwrap();
    if path.ends_with("online") {
        assert_eq!(text, std::fs::read(&path).unwrap());
    }
    std::io::stdout().write_all(&text).unwrap();
}
END
	succeeds 'Rust: builds' rustc -C prefer-dynamic=no -o "$work/read-rust" "$work/read.rs" &&
		agree 'Rust: File' hooked "$work/read-rust"
fi
if have 'Java' javac; then
	mkdir "$work/java"
	cat >"$work/java/Read.java" <<'END'
import java.io.FileInputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;

class Read {
	public static void main(String[] arguments) throws Exception {
		Path path = Path.of(arguments[1]);
		switch (arguments[0]) {
		case "stream":
			try (FileInputStream stream = new FileInputStream(arguments[1])) {
				stream.transferTo(System.out);
			}
			break;
		case "lines":
			for (String line : Files.readAllLines(path))
				System.out.print(line + "\n");
			break;
		case "mapped":
			try (FileChannel channel = FileChannel.open(path)) {
				byte[] bytes = new byte[(int) channel.size()];
				channel.map(FileChannel.MapMode.READ_ONLY, 0, bytes.length).get(bytes);
				System.out.write(bytes);
			}
			break;
		}
		System.out.flush();
	}
}
END
	if succeeds 'Java: builds' javac -d "$work/java" "$work/java/Read.java"; then
		stat_cpus=$all_cpus # a JVM takes the load of each CPU from there
		for way in stream lines; do
			agree "Java: $way" hooked java -XX:TieredStopAtLevel=1 -cp "$work/java" Read "$way"
		done
		stat_cpus=
		hooked java -XX:TieredStopAtLevel=1 -cp "$work/java" Read mapped "$cpuinfo" 2>&1 | steady >"$work/cpuinfo.mapped"
		is 'Java: mapped' "$(expect_cpuinfo | cmp - "$work/cpuinfo.mapped" 2>&1)" ''
	fi
fi
if have 'Python' "$python"; then
	agree 'Python: open' hooked "$python" -c 'import sys; sys.stdout.write(open(sys.argv[1]).read())'
	agree 'Python: unbuffered' hooked "$python" -c '
import sys
with open(sys.argv[1], "rb", 0) as file:
    sys.stdout.buffer.write(file.read())'
	agree 'Python: os.open, os.pread' hooked "$python" -c '
import os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
assert not os.get_inheritable(fd)
sys.stdout.buffer.write(os.pread(fd, os.fstat(fd).st_size, 0))'
	agree 'Python: mmap' hooked "$python" -c '
import mmap, sys
with open(sys.argv[1], "rb") as file:
    sys.stdout.buffer.write(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))'
fi
if have 'Perl' perl; then
	agree 'Perl: <>' hooked perl -e 'print while <>'
	agree 'Perl: sysopen' hooked perl -MFcntl -e 'sysopen(F, $ARGV[0], O_RDONLY) or die; print while <F>'
fi
agree 'sh: redirected' hooked sh -c 'while IFS= read -r line; do printf "%s\n" "$line"; done <"$0"'
have 'awk' awk && agree 'awk' hooked awk 1
agree 'sed' hooked sed ''
agree 'dd by single bytes' hooked sh -c 'dd bs=1 if="$0" status=none'
# Those that compare what they have opened with what they were told to open must not take it for another file.
for copy in cp install; do
	for path in "$cpuinfo" "$stat" "$online_file"; do
		succeeds "$copy copies $path" hooked "$copy" "$path" "$work/copied"
		last=$(tail -n 1 "$path" | cut -c 1-7 | sed 's/^[0-9].*/[0-9]/')
		matches "$copy copies all of $path" "$(tail -n 1 "$work/copied" | tr '\n' .)" "$last*"
	done
done

# Descriptors, errors, places, faults.

for subject in descriptors other-opens errors leaks signals vfork threads no-descriptors file-size no-memory no-memfd \
	no-pread no-dup3; do
	checks "$subject, without the library" "$programs/files-calls" "$subject" "$online" "$online"
	checks "$subject" hooked "$programs/files-calls" "$subject" 1 "$online"
done
policy=count=1,refresh=0
for subject in descriptors vfork signals threads; do
	checks "$subject, refresh=0" hooked "$programs/files-calls" "$subject" 1 "$online"
done
policy=count=1

# Paths that come out the same.

for path in //proc/cpuinfo //proc/./cpuinfo /proc//cpuinfo /proc/../proc/cpuinfo /./proc/cpuinfo \
	///proc////.//cpuinfo; do
	is "$path" "$(hooked grep -c ^processor "$path")" 1
done
for path in //proc/stat /proc/./stat /proc/../proc//stat; do
	is "$path" "$(hooked grep -c '^cpu[0-9]' "$path")" 1
done
for path in //sys/devices/system/cpu/online /sys/devices/system/./cpu//online /sys/devices/system/node/../cpu/online; do
	is "$path" "$(hooked cat "$path")" "$cpus"
done
is 'cpuinfo in /proc' "$(cd /proc && hooked grep -c ^processor cpuinfo)" 1
is 'stat in /proc' "$(cd /proc && hooked grep -c '^cpu[0-9]' stat)" 1
is 'online in its directory' "$(cd /sys/devices/system/cpu && hooked cat online)" "$cpus"
ln -s /proc/cpuinfo "$work/cpuinfo"
is 'a link of the same name' "$(cd "$work" && hooked grep -c ^processor cpuinfo)" 1

# What has the same name and is another file, or another name.

# same DESCRIPTION DIRECTORY PATH: byte for byte as without the library.
same() {
	(cd "$2" && cat "$3" >"$work/plain" && hooked cat "$3" >"$work/hooked") 2>"$work/err"
	is "$1" "$(cat "$work/err"; cmp "$work/plain" "$work/hooked" 2>&1)" ''
}

mkdir "$work/own"
printf 'processor : 0\n\nprocessor : 1\n\nprocessor : 77\n' |
	tee "$work/own/online" "$work/own/stat" >"$work/own/cpuinfo"
for name in cpuinfo stat online; do
	same "a file of one's own, $name" "$work/own" "$name"
	same "a file of one's own by its path, $name" / "$work/own/$name"
done
for path in /sys/devices/system/cpu/possible /sys/devices/system/cpu/present /sys/devices/system/node/online \
	/sys/devices/system/cpu/offline /sys/devices/system/cpu/kernel_max /proc/version; do
	[ -r "$path" ] && same "$path" / "$path"
done
for cpu in $all_cpus; do
	if [ -r "/sys/devices/system/cpu/cpu$cpu/online" ]; then
		same "cpu$cpu/online" "/sys/devices/system/cpu/cpu$cpu" online
	fi
done
sleep 1000 &
sleeper=$!
until [ "$(awk '{ print $2, $3 }' "/proc/$sleeper/stat")" = '(sleep) S' ]; do
	sleep 0.1
done
for path in "/proc/$sleeper/stat" "//proc/$sleeper/stat" "/proc/./$sleeper/task/$sleeper/stat"; do
	same "$path" / "$path"
done
same 'stat in the directory of a process' "/proc/$sleeper" stat
kill "$sleeper"
for path in /proc/self/stat /proc/thread-self/stat //proc/self/stat; do
	is "$path" "$(hooked cat "$path" | awk '{ print $2, NF }')" "(cat) $(awk '{ print NF }' /proc/self/stat)"
done
matches 'opened by a link of /proc/self' "$(hooked readlink -f /proc/self/fd/0 <"$work/own/stat")" "*/own/stat"
is 'a copy says what it is of' "$(hooked sh -c 'readlink /proc/self/fd/3 3<"$0"' "$cpuinfo")" '/memfd:cpuinfo (deleted)'

# Programs that keep /proc/stat open would never see it change.
for name in top vmstat netdata; do
	cp "$programs/files-read" "$work/$name"
	is "$name: /proc/stat is left to it" "$(hooked "$work/$name" open "$stat" | grep -c '^cpu[0-9]')" "$online"
	is "$name: /proc/cpuinfo is not" "$(hooked "$work/$name" open "$cpuinfo" | grep -c ^processor)" 1
done

# 10,000 opens of other files, by instructions: time says little on a busy machine.

if have '10,000 opens' valgrind; then
	# Without what it has for debuggers: valgrind does not understand every compiler's.
	counted=$work/counted.so
	strip -o "$counted" "$library" 2>/dev/null || cp "$library" "$counted"
	# instructions_of COUNT LIBRARY WAY PATH...
	instructions_of() {
		count=$1
		preload=$2
		way=$3
		shift 3
		env LD_PRELOAD="$preload" CPUQUOTA=count=1 valgrind --tool=callgrind --callgrind-out-file=/dev/null \
			"$programs/files-opens" "$way" "$count" "$@" 2>&1 | sed -n 's/.*Collected : //p'
	}
	# instructions LIBRARY WAY PATH...: of 10,000 opens, without the start of the program.
	instructions() {
		echo $(($(instructions_of 10010 "$@") - $(instructions_of 10 "$@")))
	}
	mkdir "$work/etc"
	# Names of every kind, some of them like those of the files.
	for name in passwd hosts settings.ini c.conf stat online cpuinfo a.py index.js some-longer-name-of-a-file.txt; do
		printf 'some text\nand more\n' >"$work/etc/$name"
	done
	for way in lines bare; do
		for kind in "files:$work/etc/*" \
			'/proc and /sys:/proc/self/status /proc/meminfo /sys/devices/system/cpu/possible'; do
			# shellcheck disable=SC2086
			set -- ${kind#*:}
			without=$(instructions "$preloads/empty.so" "$way" "$@")
			with=$(instructions "$counted" "$way" "$@")
			ratio=$(awk -v with="${with:-0}" -v without="${without:-0}" \
				'BEGIN { if (without > 0 && with > 0) printf "%.4f", with / without }')
			echo "# 10,000 opens of ${kind%%:*}, $way: $without instructions, with the library $with: $ratio"
			case $way,${kind%%:*} in
			lines,files) is "$way of ${kind%%:*}: at most 2 % more" \
				"$(awk -v ratio="$ratio" 'BEGIN { print (ratio != "" && ratio <= 1.02) }')" 1 ;;
			esac
		done
	done
fi

done_testing
