# SPDX-License-Identifier: MIT
# In a machine with many CPUs and cgroups of version 2: the programs of one Debian, whose root is /disk, are asked under
# limits. /luggage has what runtimes.t has put there. What they say goes to runtimes.t, as lines of ask-runtimes behind
# "answer", a tab, where it was asked, and a tab. To be sourced behind lib.sh.
# shellcheck shell=sh
# shellcheck disable=SC2154 # of lib.sh and vm/lib.sh

# ask_in CGROUP QUESTIONS WHERE
ask_in() {
	in_cgroup "$1" unshare --mount --propagation private /tests/containers/enter-root /disk /luggage \
		/mnt/ask-runtimes "/mnt/programs-$machine" "/mnt/$2" 2>&1 | sed "s/^/answer	$3	/"
}

is "$machine: it has the CPUs that it was to have" "$real" "$(nproc)"
read -r limits </luggage/limits
for quota in $limits; do
	new_cgroup "$quota"
	ask_in "$cgroup" questions "limit-$quota"
done

# The limit that counts is two levels up; the program's own cgroup has one, and that is a wider one.
read -r quota </luggage/limit-above
new_cgroup "$quota"
new_cgroup max "$cgroup"
new_cgroup 800000 "$cgroup"
ask_in "$cgroup" questions-above "above-$quota"
