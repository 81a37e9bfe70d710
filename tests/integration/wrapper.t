#!/bin/sh
# SPDX-License-Identifier: MIT
# cpuquota-exec: options, exit statuses, LD_PRELOAD, and that nothing of it is left.

# shellcheck disable=SC2016,SC2317 # scripts for another shell, and functions that are handed on by name
# shellcheck source=tests/lib.sh
. "${top_srcdir:?}/tests/lib.sh"
# shellcheck source=tests/programs/checks.sh
. "$top_srcdir/tests/programs/checks.sh"

CPUQUOTA_POLICY=$work/empty.conf
export CPUQUOTA_POLICY
: >"$CPUQUOTA_POLICY"

# ends DESCRIPTION STATUS PATTERN COMMAND...: the exit status, and standard error.
ends() {
	description=$1
	expected=$2
	pattern=$3
	shift 3
	status=0
	"$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
	is "$description: exit status" "$status" "$expected"
	matches "$description: standard error" "$(cat "$work/err")" "$pattern"
}

# Exit statuses.

ends 'the status of the program' 42 '' "$wrapper" sh -c 'exit 42'
ends 'success' 0 '' "$wrapper" true
ends 'a signal is the program'\''s' 143 '*' sh -c '"$0" sh -c "kill -TERM \$\$"' "$wrapper"
ends 'not found' 127 'cpuquota-exec: no-such-program: No such file or directory' "$wrapper" no-such-program
ends 'a path that is not found' 127 'cpuquota-exec: /no/such: No such file or directory' "$wrapper" /no/such
ends 'an empty name' 127 'cpuquota-exec: : *' "$wrapper" ''
: >"$work/data"
ends 'no permission to execute it' 126 'cpuquota-exec: *: Permission denied' "$wrapper" "$work/data"
ends 'a directory' 126 'cpuquota-exec: *' "$wrapper" "$work"
ends 'below a file' 126 'cpuquota-exec: *: Not a directory' "$wrapper" "$work/data/program"
echo 'exit 5' >"$work/script"
chmod +x "$work/script"
ends 'a script without an interpreter line, as env does' 5 '' "$wrapper" "$work/script"

ends 'no program' 125 'cpuquota-exec: no program given*--help*' "$wrapper"
ends 'no program after --' 125 'cpuquota-exec: no program given*' "$wrapper" --
ends 'no program after an option' 125 'cpuquota-exec: no program given*' "$wrapper" --set round=floor
ends 'an unknown option' 125 'cpuquota-exec: *--colour*--help*' "$wrapper" --colour true
ends 'an unknown short option' 125 '*x*--help*' "$wrapper" -x true
ends 'an option without its argument' 125 '*policy*--help*' "$wrapper" --policy
ends 'a short option without its argument' 125 '*s*--help*' "$wrapper" -s
ends 'an option with an argument that it does not take' 125 '*count*--help*' "$wrapper" --count=3
ends '--sysroot without --count' 125 'cpuquota-exec: --sysroot goes with --count*' "$wrapper" --sysroot / true
ends '--count with a program' 125 'cpuquota-exec: --count takes no program*' "$wrapper" --count true
ends '--check-policy with two files' 125 'cpuquota-exec: --check-policy takes one file*' "$wrapper" --check-policy a b
ends 'a sysroot without a name' 125 'cpuquota-exec: --sysroot: expected the name of a directory*' "$wrapper" --count --sysroot=
ends 'a sysroot that is not there' 125 "cpuquota-exec: --sysroot: $work/none has no list of CPUs*: No such file*" \
	"$wrapper" --count --sysroot "$work/none"

# What belongs to whom.

is 'options after PROGRAM are its own' "$("$wrapper" echo --help -s --policy x)" '--help -s --policy x'
is '-- ends the options' "$("$wrapper" -- echo -- x)" '-- x'
is '-- twice' "$("$wrapper" -s min=1 -- echo -V)" '-V'
printf '#!/bin/sh\necho "$@"\n' >"$work/-V"
chmod +x "$work/-V"
is 'a program whose name is an option' "$(PATH=$work:$PATH "$wrapper" -- -V x)" x
is 'arguments are handed on as they are' "$("$wrapper" printf '[%s]' 'a b' '' '*' "c
d")" "[a b][][*][c
d]"
is 'a long option may be abbreviated' "$("$wrapper" --pol="$CPUQUOTA_POLICY" echo x)" x

# In place.

is 'the program has the process id that was started' \
	"$(sh -c 'echo $$; exec "$0" sh -c "echo \$\$"' "$wrapper" | uniq | wc -l)" 1
is 'the program has the parent that started it' \
	"$("$wrapper" sh -c 'echo $PPID')" "$(sh -c 'echo $PPID')"
is 'its name is its own' "$("$wrapper" cat /proc/self/comm)" cat
is 'its arguments are its own' "$("$wrapper" cat /proc/self/cmdline | tr '\0' ' ')" 'cat /proc/self/cmdline '
is 'it has no children' "$("$wrapper" sh -c 'cat "/proc/$$/task/$$/children"' | wc -w)" \
	"$(sh -c 'cat "/proc/$$/task/$$/children"' | wc -w)"
is 'no descriptor is left open' "$("$wrapper" sh -c 'echo /proc/self/fd/*')" "$(sh -c 'echo /proc/self/fd/*')"
for what in SigBlk SigIgn NoNewPrivs Seccomp Cpus_allowed; do
	is "$what is as before" "$("$wrapper" grep "^$what:" /proc/self/status)" "$(grep "^$what:" /proc/self/status)"
done
is 'a variable of the user stays' "$(GOMAXPROCS=7 OMP_NUM_THREADS=9 "$wrapper" sh -c 'echo $GOMAXPROCS $OMP_NUM_THREADS')" '7 9'
is 'the environment has LD_PRELOAD more, and nothing else' \
	"$(env -i A=b CPUQUOTA_EXEC="$wrapper" CPUQUOTA_LIBRARY="$library" "$wrapper" "$(command -v env)" | sort)" \
	"$(printf '%s\n' A=b "CPUQUOTA_EXEC=$wrapper" "CPUQUOTA_LIBRARY=$library" "LD_PRELOAD=$library")"
installed=$("$wrapper" --explain | sed -n 's/^  hand over  *\([^,]*\).*/\1/p')
is 'where none is installed, this one is what the library hands programs over to' \
	"$(env -u CPUQUOTA_EXEC "$wrapper" sh -c 'echo "$CPUQUOTA_EXEC"')" \
	"$([ -x "$installed" ] || readlink -f "$wrapper")"
is 'where one is named, that is' "$(CPUQUOTA_EXEC=/a/b "$wrapper" sh -c 'echo "$CPUQUOTA_EXEC"')" /a/b

# LD_PRELOAD. The libraries in it need not be there: ld.so says so, and goes on.

# preload BEFORE [OPTION]...: what becomes of it.
preload() {
	before=$1
	shift
	LD_PRELOAD=$before "$wrapper" "$@" sh -c 'printf "[%s]" "$LD_PRELOAD"' 2>/dev/null
}
is 'unset' "$("$wrapper" sh -c 'printf "[%s]" "$LD_PRELOAD"')" "[$library]"
is 'empty' "$(preload '')" "[$library]"
is 'one there: ours comes behind it' "$(preload /a.so)" "[/a.so:$library]"
is 'two there' "$(preload /a.so:b.so)" "[/a.so:b.so:$library]"
is 'separated by spaces' "$(preload '/a.so b.so')" "[/a.so:b.so:$library]"
is 'empty fields' "$(preload '::/a.so:: :b.so: ')" "[/a.so:b.so:$library]"
is 'nothing but empty fields' "$(preload ' :: ')" "[$library]"
is 'there already' "$(preload "$library")" "[$library]"
is 'there already, first' "$(preload "$library:/a.so")" "[$library:/a.so]"
is 'there already under another path' "$(preload "/a.so:/other/libcpuquota.so")" '[/a.so:/other/libcpuquota.so]'
is 'there already without a path' "$(preload 'libcpuquota.so /a.so')" '[libcpuquota.so:/a.so]'
is 'another with a name like it' "$(preload /a/libcpuquota.so.1:/xlibcpuquota.so)" \
	"[/a/libcpuquota.so.1:/xlibcpuquota.so:$library]"
is 'wrapped twice' "$("$wrapper" "$wrapper" sh -c 'printf "[%s]" "$LD_PRELOAD"')" "[$library]"
is 'a long list' "$(preload "$(seq -s : -f /lib/%g.so 2000)")" "[$(seq -s : -f /lib/%g.so 2000):$library]"
is 'off: LD_PRELOAD stays as it is' \
	"$(LD_PRELOAD=:/a.so CPUQUOTA=off "$wrapper" sh -c 'printf "[%s]" "$LD_PRELOAD"' 2>/dev/null)" '[:/a.so]'
for off in --set=off -soff; do
	is "$off: LD_PRELOAD stays unset" "$("$wrapper" "$off" sh -c 'printf "[%s]" "$LD_PRELOAD"')" '[]'
	is "CPUQUOTA=count=1 and $off: LD_PRELOAD stays unset" \
		"$(CPUQUOTA=count=1 "$wrapper" "$off" sh -c 'printf "[%s]" "$LD_PRELOAD"')" '[]'
done
ends 'no library' 3 'cpuquota-exec: CPUQUOTA_LIBRARY=*: not found: *sh sees the real CPUs' \
	env CPUQUOTA_LIBRARY="$work/none.so" "$wrapper" sh -c 'exit 3'
mkdir -p "$work/tree/bin" "$work/tree/lib"
cp "$wrapper" "$work/tree/bin/cpuquota-exec"
cp "$library" "$work/tree/lib/libcpuquota.so"
if [ -e "$(dirname "$installed")/../lib/libcpuquota.so" ]; then
	skip 'the library in ../lib' 'one is installed on this machine'
else
	is 'the library in ../lib' "$(env -u CPUQUOTA_LIBRARY "$work/tree/bin/cpuquota-exec" sh -c 'echo "$LD_PRELOAD"')" \
		"$work/tree/lib/libcpuquota.so"
	rm "$work/tree/lib/libcpuquota.so"
	ends 'no library anywhere' 3 'cpuquota-exec: /*/libcpuquota.so: not found, nor beside cpuquota-exec: *sh sees the real CPUs' \
		env -u CPUQUOTA_LIBRARY "$work/tree/bin/cpuquota-exec" sh -c 'exit 3'
fi
mkdir "$work/a b"
cp "$library" "$work/a b/libcpuquota.so"
ends 'a library that LD_PRELOAD cannot name' 3 'cpuquota-exec: *space*sh sees the real CPUs' \
	env CPUQUOTA_LIBRARY="$work/a b/libcpuquota.so" "$wrapper" sh -c 'exit 3'
mkdir "$work/beside"
cp "$wrapper" "$library" "$work/beside"
is 'the library beside cpuquota-exec, if it is installed nowhere' \
	"$(env -u CPUQUOTA_LIBRARY "$work/beside/cpuquota-exec" -s count=1 "$programs/ask" 2>&1)" '1 1 1 1 1'

# Policy.

is 'the number' "$("$wrapper" --set count=1 "$programs/ask")" '1 1 1 1 1'
is 'the last --set wins' "$("$wrapper" -s count=9999 -s count=1 "$programs/ask")" '1 1 1 1 1'
is '--set comes behind CPUQUOTA' "$(CPUQUOTA=count=9999 "$wrapper" -s count=1 "$programs/ask")" '1 1 1 1 1'
is 'CPUQUOTA keeps its other keys' "$(CPUQUOTA=affinity=real,count=9 "$wrapper" -s count=1 "$programs/ask")" "1 1 $real $real $real"
echo 'count = 1' >"$work/one.conf"
echo 'count = 9999' >"$work/many.conf"
is '--policy' "$("$wrapper" -p "$work/one.conf" "$programs/ask")" '1 1 1 1 1'
is 'the last --policy wins' "$("$wrapper" -p "$work/many.conf" --policy="$work/one.conf" "$programs/ask")" '1 1 1 1 1'
is '--policy comes before CPUQUOTA_POLICY' \
	"$(CPUQUOTA_POLICY=$work/many.conf "$wrapper" -p "$work/one.conf" "$programs/ask")" '1 1 1 1 1'
is 'CPUQUOTA_POLICY' "$(CPUQUOTA_POLICY=$work/one.conf "$wrapper" "$programs/ask")" '1 1 1 1 1'
is '--set comes behind --policy, wherever it stands' "$("$wrapper" -s count=1 -p "$work/many.conf" "$programs/ask")" '1 1 1 1 1'
is 'CPUQUOTA comes behind --policy' "$(CPUQUOTA=count=1 "$wrapper" -p "$work/many.conf" "$programs/ask")" '1 1 1 1 1'
is 'a relative --policy, from another directory' \
	"$(cd "$work" && "$wrapper" -p one.conf sh -c 'cd / && exec "$0"' "$programs/ask" 2>&1)" '1 1 1 1 1'
is 'a relative --policy above' "$(cd "$work/beside" && "$wrapper" -p ../one.conf sh -c 'cd / && exec "$0"' "$programs/ask" 2>&1)" \
	'1 1 1 1 1'
is 'a policy with a space in its name' "$(cp "$work/one.conf" "$work/a b" && "$wrapper" -p "$work/a b/one.conf" "$programs/ask")" \
	'1 1 1 1 1'
is 'off' "$("$wrapper" -s count=1 -s off "$programs/ask")" "$online $online $real $real $real"
is 'CPUQUOTA=off, and no file is read' \
	"$(CPUQUOTA=off "$wrapper" -p "$work/none.conf" "$programs/ask" 2>&1)" "$online $online $real $real $real"

ends 'a missing policy' 125 "cpuquota-exec: $work/none.conf: no such file" "$wrapper" -p "$work/none.conf" true
ends 'a missing policy in CPUQUOTA_POLICY' 125 "cpuquota-exec: $work/none.conf: no such file" \
	env CPUQUOTA_POLICY="$work/none.conf" "$wrapper" true
ends 'an empty name of a policy' 125 'cpuquota-exec: *' "$wrapper" --policy= true
ends 'a policy that is a directory' 125 "cpuquota-exec: $work:*is a directory*" "$wrapper" -p "$work" true
mkfifo "$work/fifo"
ends 'a policy that is a pipe' 125 "cpuquota-exec: $work/fifo: *" timeout 20 "$wrapper" -p "$work/fifo" true
ends 'a policy that is a terminal or the like' 125 'cpuquota-exec: /dev/null: *' "$wrapper" -p /dev/null true
if [ "$(id -u)" -ne 0 ]; then
	echo 'count = 1' >"$work/secret.conf"
	chmod 000 "$work/secret.conf"
	ends 'a policy that cannot be read' 125 "cpuquota-exec: $work/secret.conf: permission denied" \
		"$wrapper" -p "$work/secret.conf" true
elif command -v setpriv >/dev/null; then
	chmod 755 "$work"
	echo 'count = 1' >"$work/secret.conf"
	chmod 000 "$work/secret.conf"
	ends 'a policy that cannot be read' 125 "cpuquota-exec: $work/secret.conf: permission denied" \
		setpriv --reuid 65534 --regid 65534 --clear-groups "$wrapper" -p "$work/secret.conf" true
else
	skip 'a policy that cannot be read' 'root may read all files'
fi
printf 'round = ceil\n\nround = up\n[go\nmin = 0\nfoo = 1\n' >"$work/bad.conf"
ends 'a bad policy' 125 "cpuquota-exec: $work/bad.conf:3: round = up: expected ceil, floor or nearest
*:4: *
*:5: *1*
*:6: *foo*" "$wrapper" -p "$work/bad.conf" touch "$work/touched"
is 'the program was not run' "$([ -e "$work/touched" ] && echo run)" ''
ends 'a bad --set' 125 'cpuquota-exec: *round = up: expected ceil, floor or nearest' "$wrapper" -s round=up true
ends 'a --set without a value' 125 'cpuquota-exec: *round*KEY = VALUE*' "$wrapper" -s round true
ends 'an unknown key' 125 'cpuquota-exec: *colour*round*' "$wrapper" -s colour=red true
ends 'a bad CPUQUOTA' 125 'cpuquota-exec: CPUQUOTA: min = 0: expected a whole number from 1 to *' env CPUQUOTA=min=0 "$wrapper" true
for value in 0 -1 1.5 '' x 99999999999999999999 1000001; do
	ends "count=$value" 125 'cpuquota-exec: *count*' "$wrapper" -s "count=$value" true
done

# What it does besides.

is '--count' "$("$wrapper" --count -s count=1)" 1
is '--count is never more than there are' "$("$wrapper" --count -s count=9999)" "$real"
is '--count when off' "$(CPUQUOTA=off "$wrapper" --count)" "$real"
ends '--count with a bad policy' 125 'cpuquota-exec: *' "$wrapper" --count -s count=0
is '--check-policy of a good one' "$("$wrapper" --check-policy "$work/one.conf"; echo $?)" "$work/one.conf: no errors
0"
ends '--check-policy of a bad one' 125 "cpuquota-exec: $work/bad.conf:3: *
*:6: *" "$wrapper" --check-policy "$work/bad.conf"
ends '--check-policy of a missing one' 125 "cpuquota-exec: $work/none.conf: *" "$wrapper" --check-policy "$work/none.conf"
ends '--check-policy of the one in CPUQUOTA_POLICY' 125 "cpuquota-exec: $work/bad.conf:3: *" \
	env CPUQUOTA_POLICY="$work/bad.conf" "$wrapper" --check-policy
ends '--check-policy of the one in --policy' 125 "cpuquota-exec: $work/bad.conf:3: *" "$wrapper" -p "$work/bad.conf" --check-policy
ends '--check-policy with --policy and a file' 125 'cpuquota-exec: --policy goes with --check-policy without a file*' \
	"$wrapper" -p "$work/one.conf" --check-policy "$work/one.conf"
ends '--check-policy when off' 125 "cpuquota-exec: $work/bad.conf:3: *" env CPUQUOTA=off "$wrapper" --check-policy "$work/bad.conf"
ends '--check-policy when off, of a missing one' 125 "cpuquota-exec: $work/none.conf: no such file" \
	env CPUQUOTA=off "$wrapper" --check-policy "$work/none.conf"
ends '--check-policy when off, of the one that would be read' 125 "cpuquota-exec: $work/bad.conf:3: *" \
	env CPUQUOTA=off CPUQUOTA_POLICY="$work/bad.conf" "$wrapper" --check-policy
# shellcheck disable=SC2016 # $0
is '--check-policy of a slow pipe' "$( (sleep 0.2; echo 'min = 1'; sleep 0.2; echo 'max = 2') | "$wrapper" --check-policy -)" \
	'standard input: no errors'
ends '--check-policy of a pipe with an error' 125 'cpuquota-exec: /dev/stdin:2: *' \
	sh -c '(echo "min = 1"; sleep 0.2; echo "max = 0") | "$0" --check-policy /dev/stdin' "$wrapper"
ends '--check-policy of an endless file' 125 'cpuquota-exec: /dev/zero:*' timeout 20 "$wrapper" --check-policy /dev/zero
ends '--check-policy of a pipe that no program could read' 125 "cpuquota-exec: $work/fifo: expected a file*" \
	env CPUQUOTA_POLICY="$work/fifo" timeout 20 "$wrapper" --check-policy
ends '--check-policy with a bad CPUQUOTA' 125 'cpuquota-exec: CPUQUOTA: *' env CPUQUOTA=min=0 "$wrapper" --check-policy "$work/one.conf"
version=$(sed -n 's/^#define PACKAGE_VERSION "\(.*\)"/\1/p' "$top_builddir/config.h")
is '--version' "$("$wrapper" --version)" "cpuquota-exec ${version:-unknown}"
is '-V' "$("$wrapper" -V)" "$("$wrapper" --version)"
is '-h' "$("$wrapper" -h)" "$("$wrapper" --help)"
ends '--help' 0 '' "$wrapper" --help
is '--help fits a terminal of 24 lines' "$([ "$("$wrapper" --help | wc -l)" -le 24 ] && echo yes)" yes
# The directory that the default policy is in is longer in a build for a test than in one that is installed.
directory=$("$wrapper" --help | sed -n 's/.* \(\/.*\)\/cpuquota\.conf$/\1/p')
is '--help fits 80 columns' "$("$wrapper" --help | sed "s|${directory:-none}|/etc|" | awk 'length > 80')" ''
for option in --policy --set --trap --init --explain --json --count --check-policy --capture --sysroot --help --version; do
	is "--help tells of $option" "$("$wrapper" --help | grep -q -e "$option" && echo yes)" yes
done
for action in --count --help --version "--check-policy $work/one.conf"; do
	# shellcheck disable=SC2086
	ends "$action to a full disk" 125 'cpuquota-exec: *' sh -c '"$@" >/dev/full' sh "$wrapper" $action
	# shellcheck disable=SC2086
	ends "$action with standard output closed" 125 'cpuquota-exec: *' sh -c '"$@" >&-' sh "$wrapper" $action
done
ends 'all three descriptors closed' 42 '' sh -c '"$@" <&- >&- 2>&-' sh "$wrapper" sh -c 'exit 42'
ends 'no such program, and standard error closed' 127 '' sh -c '"$@" 2>&-' sh "$wrapper" no-such-program

done_testing
