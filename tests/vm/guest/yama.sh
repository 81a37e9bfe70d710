# SPDX-License-Identifier: MIT
# In a machine whose kernel has Yama: what it lets a supervisor without rights do, by ptrace_scope. To be sourced behind
# lib.sh.
# shellcheck shell=sh
# shellcheck disable=SC2154 # of lib.sh

scope=/proc/sys/kernel/yama/ptrace_scope
new_cgroup 150000

# as_user COMMAND...: below the limit of 1.5 CPUs, with no rights but a user's.
as_user() {
	in_cgroup "$cgroup" /usr/bin/setpriv --reuid 1000 --regid 1000 --clear-groups --no-new-privs \
		--bounding-set -all --inh-caps -all "$@" 2>&1
}

# Static programs: this machine's shell, and what it starts.
child='/programs/ask-static | cut -d " " -f 3-5; exit 7'
grandchild='sh -c "sh -c \"/programs/ask-static; true\"; true" | cut -d " " -f 3-5; exit 7'
orphan='(sh -c "sleep 0.5; /programs/ask-static >/tmp/orphan" &); sleep 2; cut -d " " -f 3-5 /tmp/orphan; exit 7'

# check_descendants ABOUT COUNT [OPTION]
check_descendants() {
	is "$1: a child" "$(as_user "$wrapper" ${3:+"$3"} sh -c "$child"; echo $?)" "$(repeat "$2" 3; echo 7)"
	is "$1: a grandchild" "$(as_user "$wrapper" ${3:+"$3"} sh -c "$grandchild"; echo $?)" "$(repeat "$2" 3; echo 7)"
}

# check ABOUT OWN BELOW BELOW_INIT GOMAXPROCS: the counts that the program itself is shown, its descendants, and those with
# --init; and what Go makes of it.
check() {
	rm -f /tmp/orphan
	is "$1: the program itself" "$(masks as_user "$wrapper" /programs/ask-static)" "$(repeat "$2" 3)"
	is "$1: the program itself, with --init" "$(masks as_user "$wrapper" --init /programs/ask-static)" "$(repeat "$4" 3)"
	for go in $gos; do
		is "$1: ${go##*/}" "$(as_user "$wrapper" -s runtime_quota=hide "$go/static")" "$2 $5"
		is "$1: ${go##*/}, with --init" "$(as_user "$wrapper" --init -s runtime_quota=hide "$go/static")" "$4 $5"
	done
	check_descendants "$1" "$3"
	check_descendants "$1, --init" "$4" --init
	is "$1: an orphan, with --init" "$(as_user "$wrapper" --init sh -c "$orphan"; echo $?)" "$(repeat "$4" 3; echo 7)"
	is "$1: a program that libc shows the CPUs" "$(as_user "$wrapper" /programs/ask)" "$(repeat 2 5)"
	is "$1: such a program below a trap" \
		"$(as_user "$wrapper" sh -c "LD_PRELOAD=$library /programs/ask; true")" "$(repeat 2 5)"
	is "$1: a static program that a preloaded one becomes" \
		"$(masks as_user env LD_PRELOAD="$library" /programs/become /programs/ask-static)" "$(repeat "$2" 3)"
	nothing_left "$1: no supervisor is left"
}

# check_explained ABOUT EXEC INIT: how the first lines of --explain's verdicts on a static program begin, which what
# check() finds bears out; none of it is about the library.
check_explained() {
	as_user "$wrapper" --explain /programs/ask-static >/tmp/explained
	is "$1: explained" "$?" 0
	said=$(sed -n '/^Reached/,$p' /tmp/explained | tr -s ' \n' ' ')
	matches "$1: explained, cpuquota-exec" "$said" "* cpuquota-exec $2 cpuquota-exec --init *"
	matches "$1: explained, --init" "$said" "* cpuquota-exec --init $3"
}
kernel_only="only sched_getaffinity is answered, not glibc's sysconf and get_nprocs, not the files of /proc and /sys"

is 'the machine has the CPUs that it was to have' "$real" "$(nproc)"
is 'a user without rights has none' "$(as_user sed -n 's/^CapEff:\t//p' /proc/self/status)" 0000000000000000
for value in 0 1 2; do
	echo "$value" >"$scope"
	is "ptrace_scope is $value" "$(cat "$scope")" "$value"
	case $value in
	0)
		check "ptrace_scope $value" 2 2 2 2
		check_explained "ptrace_scope $value" "partly, by the trap $kernel_only" "partly, by the trap $kernel_only "
		;;
	1)
		check "ptrace_scope $value" 2 "$real" 2 2
		check_explained "ptrace_scope $value" \
			"partly, by the trap what it starts in turn is not reached: Yama, ptrace_scope=1; use --init $kernel_only" \
			"partly, by the trap $kernel_only "
		;;
	2)
		check "ptrace_scope $value" "$real" "$real" "$real" 2 # a Go program is told by GOMAXPROCS
		why='no no trap can be planted: Operation not permitted (Yama, ptrace_scope=2)'
		check_explained "ptrace_scope $value" "$why" "$why "
		;;
	esac
	# root is not restricted.
	is "ptrace_scope $value: root" \
		"$(masks in_cgroup "$cgroup" "$wrapper" sh -c '/programs/ask-static; true')" "$(repeat 2 3)"
done
