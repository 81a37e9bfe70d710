#!/bin/sh
# SPDX-License-Identifier: MIT
# The completions of bash and zsh, and the manual pages: that they have the options of --help, and the keys of the policy
# with their values, all of them and no others. Both shells are made to complete.

# shellcheck source=tests/lib.sh
. "${top_srcdir:?}/tests/lib.sh"

in_bash() {
	"$top_srcdir/tests/programs/complete-bash" "$top_srcdir/completions/cpuquota-exec" "$1" 2>&1
}
in_zsh() {
	"$top_srcdir/tests/programs/complete-zsh" "$top_srcdir/completions" "$1" 2>&1
}

# What --help lists: "-p", "--policy=".
options=$("$wrapper" --help | sed -n 's/^ \{2,6\}-/-/p' | sed 's/  .*//' | grep -oE -e '-[A-Za-z]\b' -e '--[a-z-]+=?' | sort)
long_options=$(echo "$options" | sed -n 's/^\(--[^=]*\).*/\1/p')
matches '--help lists options' "$options" '*--count*--help*-V*'

is 'cpuquota-exec(1) has the options of --help' "$(
	awk '/^# / { section = $2 } section == "OPTIONS" && /^\*-/' "$top_srcdir/man/cpuquota-exec.1.scd" |
		grep -oE -e '\*-[A-Za-z]\*' -e '\*--[a-z-]+\*' | tr -d '*' | sort
)" "$(echo "$options" | tr -d = | sort)"

# The keys of cpuquota.conf(5), and "KEY: VALUE VALUE..." for those with words as values.
keys=$(sed -n 's/^\*\([a-z_]*\)\* = .*/\1/p' "$top_srcdir/man/cpuquota.conf.5.scd" | sort)
values=$(sed -n '/ | /s/^\*\([a-z_]*\)\* = \(.*\)/\1: \2/p' "$top_srcdir/man/cpuquota.conf.5.scd" | sed 's/_NAME_//; s/ |//g' | tr -d '*')
matches 'cpuquota.conf(5) has keys' "$keys" '*max*round*'
# Of these, `unlimited` has a value of its own kind, and is not in the table.
is 'they are those that the program knows' "$keys" \
	"$( (echo unlimited && sed -n 's/^\t{"\([a-z_]*\)", .*/\1/p' "$top_srcdir/src/core/policy.c") | sort)"

# words TEXT: sorted, in one line.
words() {
	echo "$1" | tr ' ' '\n' | sed '/^$/d' | sort | paste -sd ' '
}

if [ -e /usr/share/bash-completion/bash_completion ]; then
	is 'bash completes the options of --help' "$(in_bash 'cpuquota-exec -' | sort)" "$options"
	is 'bash completes the keys of cpuquota.conf(5)' "$(in_bash 'cpuquota-exec --set ' | tr -d = | sort)" "$keys"
	while read -r key allowed; do
		is "bash completes --set ${key%:}=" "$(words "$(in_bash "cpuquota-exec --set ${key%:}=")")" "$(words "$allowed")"
	done <<-END
		$values
	END
	is 'bash completes the second of several keys' "$(in_bash 'cpuquota-exec --set round=floor,mi')" floor,min=
	is 'bash completes the value of the second' "$(in_bash 'cpuquota-exec --set round=floor,mask=sp')" spread
	is 'bash completes behind options in one word' "$(in_bash 'cpuquota-exec -rs ro')" round=
	is 'bash completes a program behind these' "$(in_bash 'cpuquota-exec -rs max=1 base6' | sort -u)" base64
	is 'bash completes an argument behind =' "$(in_bash 'cpuquota-exec --trap=n')" never
	mkdir "$work/captured"
	is 'bash completes a directory' "$(in_bash "cpuquota-exec --count --sysroot $work/capt")" "$work/captured"
	for line in 'cpuquota-exec ' 'cpuquota-exec --init -s max=1 ' 'cpuquota-exec -- ' 'cpuquota-exec nohup '; do
		is "bash completes a program: $line..." "$(in_bash "${line}base6" | sort -u)" base64
	done
else
	skip 'completion in bash' 'no bash-completion'
fi

if command -v zsh >/dev/null; then
	is 'zsh completes the options of --help' "$(in_zsh 'cpuquota-exec -' | grep -oE -e '^--[a-z-]+' | sort)" "$long_options"
	is 'zsh completes the short ones beside them' \
		"$(in_zsh 'cpuquota-exec -' | sed -n 's/^--[a-z-]*  *\(-[A-Za-z]\) .*/\1/p' | sort)" \
		"$(echo "$options" | grep -E '^-[A-Za-z]$')"
	is 'zsh completes the keys of cpuquota.conf(5)' \
		"$(in_zsh 'cpuquota-exec --set ' | sed -n 's/^\([a-z_]*\)  *-- .*/\1/p' | sort)" "$keys"
	while read -r key allowed; do
		is "zsh completes --set ${key%:}=" "$(words "$(
			in_zsh "cpuquota-exec --set ${key%:}=" | sed -n '2s/cpuquota-exec .*//p'
		)")" "$(words "$allowed")"
	done <<-END
		$values
	END
	matches 'zsh completes an argument behind =' "$(in_zsh 'cpuquota-exec --trap=n')" '*--trap=never*'
	for line in 'cpuquota-exec ' 'cpuquota-exec --init -s max=1 ' 'cpuquota-exec -- ' 'cpuquota-exec nohup '; do
		matches "zsh completes a program: $line..." "$(in_zsh "${line}base6")" '*base64 *'
	done
else
	skip 'completion in zsh' 'no zsh'
fi

done_testing
