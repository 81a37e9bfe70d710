#!/bin/sh
# SPDX-License-Identifier: MIT
# cpuquota-exec --explain and --capture: options, text for people, errors. Needs no root; what they say of real programs
# and limits is tested in tests/system/explain.t.

# shellcheck source=tests/lib.sh
. "${top_srcdir:?}/tests/lib.sh"

cd "$work" || exit
CPUQUOTA_POLICY=$work/empty.conf
export CPUQUOTA_POLICY
: >"$CPUQUOTA_POLICY"
unset GOMAXPROCS NO_COLOR
"$top_srcdir/tests/fixtures/make-trees" trees

# run COMMAND...: what it says is in $said and $complaints, its exit status in $status.
run() {
	status=0
	"$@" >said 2>complaints || status=$?
	said=$(cat said) complaints=$(cat complaints)
}

# is_failure DESCRIPTION MESSAGE: exit status 125, nothing on standard output, and that on standard error.
is_failure() {
	matches "$1" "$status:$said:$complaints" "125::cpuquota-exec: $2"
}

# Contradictory options.

for other in --count --check-policy '--capture=captured'; do
	run "$wrapper" --explain "$other"
	is_failure "--explain $other" "--explain and ${other%%=*} exclude each other*"
	run "$wrapper" "$other" --explain
	is_failure "$other --explain" "${other%%=*} and --explain exclude each other*"
done
run "$wrapper" --explain --explain true
is 'the same twice is once' "$status" 0
run "$wrapper" --explain --init true
is_failure '--explain --init' '*--init goes with a program*'
run "$wrapper" --json
is_failure '--json alone' '*--json goes with --explain*'
run "$wrapper" --json true
is_failure '--json with a program to run' '*--json goes with --explain*'
run "$wrapper" --json --count
is_failure '--json --count' '*--json goes with --explain*'
run "$wrapper" --sysroot trees/v2-max --explain true
is_failure '--sysroot and a program' '*takes no program with --sysroot*'
run "$wrapper" --sysroot trees/v2-max --capture captured
is_failure '--sysroot --capture' '*--sysroot goes with --count and --explain*'
run "$wrapper" --capture captured true
is_failure '--capture with a program' '*--capture takes no program*'
run "$wrapper" --capture
is '--capture without a directory' "$status" 125
run "$wrapper" --explain=true
is '--explain=PROGRAM' "$status" 125
is 'nothing was captured' "$(ls -d captured* 2>/dev/null)" ''

# A program, and what is behind it.

run "$wrapper" --explain true --no-such-option --count
is 'what is behind PROGRAM is its own' "$status" 0
matches 'PROGRAM is found' "$said" "*Program: true*found*Reached*"
run "$wrapper" --explain -- true
is '-- before PROGRAM' "$status" 0
run "$wrapper" --explain ''
is 'an empty name' "$status" 127
run "$wrapper" --explain ./nonexistent
matches 'a program that is not there is explained' "$status:$said" '127:*No such file*cpuquota-exec --init*No such file*'
run "$wrapper" --explain ./
matches 'a directory is explained' "$status:$said" '126:*a directory*cannot be executed*'
printf 'exit 0\n' >'odd
name'
chmod 755 'odd
name'
run "$wrapper" --explain './odd
name'
matches 'control characters stay where they are' "$status:$said" '0:*./odd?name*'
is 'as many lines begin a title as ever' "$(grep -c '^[^ ]' said)" 6
echo 'min = 1' >secret.conf
chmod 000 secret.conf
if command -v setpriv >/dev/null && [ "$(id -u)" -eq 0 ]; then
	chmod 755 .
	run setpriv --reuid 65534 --regid 65534 --clear-groups "$wrapper" -p "$work/secret.conf" --explain
	matches 'a policy that cannot be read is there' "$(tr -s ' \n' ' ' <said)" \
		"*file $work/secret.conf (by --policy or CPUQUOTA_POLICY) error *secret.conf: permission denied*"
fi
octets=$(printf 'caf\303\251-\302\233-\233-\351-end')
cp 'odd
name' "$octets"
run "$wrapper" --explain "./$octets"
matches 'nor do those above ASCII, or what is no UTF-8' "$status:$said" "0:*./$(printf 'caf\303\251')-??-?-?-end*"
octal=$(printf '\377')
cp 'odd
name' "not-utf8-$octal"
run "$wrapper" --explain --json "./not-utf8-$octal"
matches 'a name that JSON cannot hold' "$status:$said" '0:*"name": "./not-utf8-?"*'

# Captured trees: the number is that of --count.

agree=0 differ=
while read -r name _; do
	counted=$("$wrapper" --count --sysroot "trees/$name")
	if [ "$("$wrapper" --explain --json --sysroot "trees/$name" |
		sed -n 's/^ *"shown_count": \([0-9]*\).*/\1/p')" = "$counted" ]; then
		agree=$((agree + 1))
	else
		differ="$differ $name"
	fi
done <trees/expected
is 'explained trees: those that differ from --count' "$differ" ''
is 'explained trees: all of them' "$agree" "$(wc -l <trees/expected)"
run "$wrapper" --explain --sysroot trees/v2-parent-tighter
matches 'levels of a tree' "$said" '*  4         400000/100000 us: /sys/fs/cgroup/a/b
  0.5       50000/100000 us, effective: /sys/fs/cgroup/a
  no limit  /sys/fs/cgroup
*'
is 'a tree has no ways to reach a program' "$(printf '%s\n' "$said" | grep -c '^Here')" 0
# Which CPUs those are depends on the host, which a tree leaves out.
run "$wrapper" --explain --json --sysroot trees/v2-parent-tighter
matches 'which CPUs, mask=spread' "$said" '*"shown": null,*'
run "$wrapper" --set mask=first --explain --json --sysroot trees/v2-parent-tighter
matches 'which CPUs, mask=first' "$said" '*"shown": "0",*'
run "$wrapper" --explain --sysroot nonexistent
matches 'a tree that is not there' "$status:$(tr -s ' \n' ' ' <said)" '125:*not known: * has no list of CPUs*: No such file*'

# A policy with errors is told of, and all else too.

printf 'min = 2\nround = up\n[program t*e]\nmax = 0\nmask = first\n' >"$CPUQUOTA_POLICY"
run "$wrapper" --explain true
matches 'an error in the policy: standard error' "$complaints" "cpuquota-exec: $CPUQUOTA_POLICY:2: round = up:*
cpuquota-exec: $CPUQUOTA_POLICY:4: max = 0:*"
matches 'an error in the policy: the rest is told' "$status:$(tr -s ' \n' ' ' <said)" \
	"125:CPUs *error $CPUQUOTA_POLICY:2: round = up*set min = 2 ($CPUQUOTA_POLICY:1)*mask = first ($CPUQUOTA_POLICY:5)*Program: true*the policy has an error*"
matches 'an error in the policy: the library goes on' "$(grep 'ENV LD_PRELOAD' said)" '*yes*'
: >"$CPUQUOTA_POLICY"
mkfifo pipe
run env CPUQUOTA_POLICY=pipe "$wrapper" --explain true
matches 'a policy that is a pipe' "$status:$complaints:$said" \
	'125:*pipe: expected a file that can be read more than once:*the policy has an error*'
run env CPUQUOTA_POLICY=/nonexistent.conf "$wrapper" --explain
matches 'a policy that is not there' "$status:$said" '125:*/nonexistent.conf*which is not there*'
run "$wrapper" --set round=up --explain --json
matches 'an error in CPUQUOTA, JSON' "$status:$said" '125:*"errors": \[*CPUQUOTA: round = up*'

# Output that cannot be written.

run sh -c '"$0" --explain true >&-' "$wrapper"
is_failure 'standard output is closed' 'standard output: *'
run sh -c '"$0" --explain --json true >&-' "$wrapper"
is_failure 'standard output is closed, JSON' 'standard output: *'
if [ -c /dev/full ]; then
	for option in --explain --json; do
		run sh -c '"$0" --explain "$1" true >/dev/full' "$wrapper" "$option"
		is_failure "standard output is full: $option" 'standard output: No space left on device'
	done
fi
run sh -c '"$0" --explain ./nonexistent 2>&-' "$wrapper"
matches 'standard error is closed' "$status:$said" '127:*No such file*'
run sh -c '"$0" --explain true <&- 2>&-' "$wrapper"
matches 'standard input and error are closed' "$status:$said" '0:*ENV LD_PRELOAD*yes*'

# What the manual says of the JSON is what its schema has.

schema=$top_srcdir/tests/system/explain-schema.json
unnamed=
for word in $(tr ',[]{}' '\n' <"$schema" | sed -n 's/^[ \t]*"\([a-z][a-z_-]*\)".*/\1/p' | sort -u); do
	case $word in
	additionalProperties | const | definitions | enum | exclusiveMinimum | items | integer | array | boolean | number | object | \
		pattern | properties | required | string | type | uniqueItems | minItems | minLength | minimum | limit | mode | origin | text | trial | cpus | null) ;;
	*) grep -q "\*$word\*" "$top_srcdir/man/cpuquota-exec.1.scd" "$top_srcdir/man/cpuquota.conf.5.scd" || unnamed="$unnamed $word" ;;
	esac
done
is 'the manuals name all of the schema' "$unnamed" ''

# As wide as the terminal, coloured only there.

# on_terminal COLUMNS COMMAND...
on_terminal() {
	columns=$1
	shift
	TERM=xterm script -qec "stty cols $columns rows 24; $*" /dev/null </dev/null | tr -d '\r'
}
escape=$(printf '\033')
run "$wrapper" --explain true
is 'no colours in a file' "$(grep -c "$escape" said)" 0
is 'no line of more than 80 columns but for a word that is longer' "$(awk 'length > 80 && / [^ ]+ [^ ]/ && !/^ *[^ ]*$/' said |
	awk '{ if (length($NF) < 60) print }')" ''
if command -v script >/dev/null && [ "$(on_terminal 33 stty size)" = '24 33' ]; then
	for columns in 20 40 79 200; do
		on_terminal "$columns" NO_COLOR= "$wrapper" --explain true >coloured
		sed "s/$escape\[[0-9]*m//g" coloured >plain
		# A word that is longer than a line stands alone in it.
		is "$columns columns: no line is longer" "$(awk -v width="$columns" 'length > (width < 80 ? width : 80) && split($0, words, " ") > 1 &&
			length > length(words[split($0, words, " ")]) + 24' plain)" ''
		is "$columns columns: no line is empty" "$(grep -c '^ *$' plain)" 0
		is "$columns columns: the same words" "$(tr -s ' \n' '\n' <plain)" "$(tr -s ' \n' '\n' <said)"
		matches "$columns columns: colours" "$(cat coloured)" "*$escape\\[1m*"
	done
	is 'NO_COLOR' "$(on_terminal 80 NO_COLOR=1 "$wrapper" --explain true | grep -c "$escape")" 0
	is 'a dumb terminal' "$(on_terminal 80 TERM=dumb "$wrapper" --explain true | grep -c "$escape")" 0
else
	skip 'on a terminal' 'no script'
fi

# --capture

run "$wrapper" --capture captured
is '--capture' "$status" 0
is '--capture: the number' "$("$wrapper" --count --sysroot captured)" "$("$wrapper" --count)"
is '--capture: nothing else is left' "$(echo captured*)" captured
is '--capture: the mode of the directory' "$(stat -c %a captured)" "$(mkdir made && stat -c %a made)"
(cd captured && find . -type f) >files
is '--capture: files that are none of those that are read' "$(grep -vE \
	'^\./(proc/self/(cgroup|mountinfo|status)|sys/devices/system/cpu/online|.*/cpu\.(max|cfs_(quota|period)_us)|.*/cpuset\.(effective_cpus|cpus\.effective)|.*/cpuquota\.conf)$' files)" ''
is '--capture: the status has nothing but CPUs' "$(grep -vc '^Cpus_allowed' captured/proc/self/status)" 0
is '--capture: mounts of other file systems' "$(awk '$(NF - 2) !~ /^cgroup2?$/' captured/proc/self/mountinfo)" ''
is '--capture: the host name' "$(grep -rlw "$(uname -n)" captured | grep -v '/cgroup/')" ''
run "$wrapper" --capture captured
is_failure '--capture to where something is' '--capture: captured: Directory not empty'
is '--capture to where something is: it stays' "$(cd captured && find . -type f | cmp - ../files && echo same)" same
mkdir empty
run "$wrapper" --capture empty///
is '--capture to an empty directory' "$status:$("$wrapper" --count --sysroot empty)" "0:$("$wrapper" --count)"
run "$wrapper" --capture nowhere/captured
is_failure '--capture to where there is no directory' '--capture: nowhere/captured: No such file or directory'
echo text >file
run "$wrapper" --capture file
is_failure '--capture over a file' '--capture: file: Not a directory'
is '--capture over a file: it stays' "$(cat file)" text
run "$wrapper" --capture ''
is_failure '--capture to no name' '--capture: expected the name of a directory'
run "$wrapper" --capture /proc/captured
is_failure '--capture to where nothing can be made' '--capture: /proc/captured: *'
is '--capture that cannot write' "$(sh -c 'ulimit -f 0; trap "" XFSZ; "$0" --capture large; echo $?' "$wrapper" 2>&1)" \
	'cpuquota-exec: --capture: large: File too large
125'
run sh -c '"$0" --capture closed >&-' "$wrapper"
is_failure '--capture, standard output is closed' 'standard output: *'
is '--capture: failures leave nothing half-written' "$(echo large* nowhere* file*)" 'large* nowhere* file files'
# The policy goes along, under the name that is looked for.
printf '[program x]\nmin = 1\n' >named.conf
run env CPUQUOTA_POLICY=named.conf "$wrapper" --capture with-policy
is '--capture: the policy' "$(cat "$(find with-policy -name cpuquota.conf)")" "$(cat named.conf)"

done_testing
