#!/bin/sh
# SPDX-License-Identifier: MIT
# The manifests and the CDI spec of examples/. They are held to Kubernetes' schemas; the admission policy's expressions are
# evaluated; and the pods are played by podman, as they are and as the policy makes them. The DaemonSet's pod installs the
# library and the CDI spec on this machine, for this test alone, whose containers then ask for the device. Needs root, and
# of Debian: podman runc conmon catatonit python3-yaml nodejs npm debootstrap (for get-root), and what scripts/release
# needs.

# shellcheck disable=SC2317 # functions that are called by a name in an argument
# In a mount namespace, which takes what is mounted over /etc, /opt and /mnt away again.
if [ "$(id -u)" -eq 0 ] && [ -z "${CPUQUOTA_TEST_NODE:-}" ]; then
	exec env CPUQUOTA_TEST_NODE=1 unshare --mount --propagation private sh "$0" "$@"
fi
# shellcheck source=tests/lib.sh
. "${top_srcdir:?}/tests/lib.sh"
# shellcheck source=tests/containers/lib.sh
. "$top_srcdir/tests/containers/lib.sh"

unset CPUQUOTA_LIBRARY # what is installed is to be found
examples=$top_srcdir/examples
init_container=$examples/kubernetes/init-container.yaml
policy=$examples/kubernetes/admission-policy.yaml
plain=$examples/cdi/pod.yaml

# Schemas, and the policy.

packages=
if ! python3 -c 'import yaml' 2>/dev/null; then
	skip 'the manifests' 'no python3-yaml'
elif ! packages=$("$from/kubernetes/get-packages" 2>"$work/log"); then
	skip 'the manifests' "$(tail -n 1 "$work/log")"
fi

# documents FILE...: as JSON.
documents() {
	python3 "$from/kubernetes/documents.py" "$@"
}

# check FILE...
check() {
	documents "$@" >"$work/documents"
	node "$work/check.mjs" "$work/documents" "$work/objects" 2>&1
}

# admitted POD: what the policy makes of it.
admitted() {
	documents "$1" >"$work/pod.json"
	node "$work/apply-policy.mjs" "${2:-$work/policy.json}" "$work/pod.json" 2>&1
}

check_manifests() {
	ln -s "$packages/node_modules" "$work/node_modules"
	cp "$from"/kubernetes/*.mjs "$work/"

	is 'the manifests fit the schemas' \
		"$(check "$init_container" "$policy" "$plain" "$examples/cdi/daemonset.yaml")" \
		'Pod cpuquota-demo, MutatingAdmissionPolicy cpuquota, MutatingAdmissionPolicyBinding cpuquota, Pod cpuquota-device, DaemonSet cpuquota'
	sed 's/readOnly/readonly/' "$init_container" >"$work/wrong.yaml"
	matches 'a field that does not exist would be found' "$(check "$work/wrong.yaml")" "*'\"readonly\"' does not exist*"
	sed 's/mountPath: .*/mountPath: 1/' "$init_container" >"$work/wrong.yaml"
	matches 'a value of another type, too' "$(check "$work/wrong.yaml")" '*mountPath must be string*'

	documents "$policy" >"$work/policy.json"
	sed 's/^  annotations:/  labels: {cpuquota: enabled}\n&/' "$plain" >"$work/labelled.yaml"
	is 'the policy leaves a pod without the label alone' "$(admitted "$plain")" "$(sed 's/^.//; s/.$//' "$work/pod.json" | python3 -m json.tool --indent 2)"
	admitted "$work/labelled.yaml" >"$work/admitted.yaml"
	is 'what it makes of one with the label fits the schema' "$(check "$work/admitted.yaml")" 'Pod cpuquota-device'
	is 'it does so once' "$(admitted "$work/admitted.yaml")" "$(cat "$work/admitted.yaml")"
	sed 's/^      resources:/      env: [{name: LD_PRELOAD, value: libmine.so}]\n&/' "$work/labelled.yaml" >"$work/mine.yaml"
	is 'a container with an LD_PRELOAD of its own keeps it' \
		"$(admitted "$work/mine.yaml" | sed -n '/LD_PRELOAD/,/}/p' | tr -d ' \n')" '"name":"LD_PRELOAD","value":"libmine.so"}'
	sed 's/Object.spec.containers.env{/Object.spec.initContainers.env{/' "$policy" >"$work/wrong.yaml"
	documents "$work/wrong.yaml" >"$work/wrong.json"
	matches 'a type where another belongs would be found' "$(admitted "$work/labelled.yaml" "$work/wrong.json")" \
		'*Object.spec.initContainers.env where Object.spec.containers.env belongs*'
}
if [ -n "$packages" ]; then
	check_manifests
fi

# Playing the pods.

if [ "$(id -u)" -ne 0 ] || ! command -v podman >/dev/null || ! command -v runc >/dev/null; then
	skip 'the pods' 'needs root, podman and runc'
	done_testing
fi
if [ "$real" -lt 2 ]; then
	skip 'the pods' 'one CPU tells nothing apart'
	done_testing
fi
# remove_pods: podman does not remove all of their cgroups, and lets no one choose where those are.
remove_pods() {
	for pod in $(our_podman pod ps --quiet --no-trunc); do
		our_podman pod rm --force --time 0 "$pod" >/dev/null 2>&1
		remove_cgroups "libpod_parent/$pod"
	done
}
clean_up_containers() {
	remove_pods
	our_podman rm --all --force --time 0 >/dev/null 2>&1
	our_podman volume rm --all --force >/dev/null 2>&1
	our_podman rmi --all --force >/dev/null 2>&1
	remove_container_cgroups
	unmount_below "$podman_directory"
	clean_up
}
use_private_podman "$work/podman"
trap clean_up_containers EXIT

if ! release=$("$from/get-release" 2>"$work/log"); then
	skip 'the pods' "$(tail -n 1 "$work/log")"
	done_testing
fi
if ! copy_root bullseye "$work/debian" 2>"$work/log"; then
	skip 'the pods' "$(tail -n 1 "$work/log")"
	done_testing
fi

# Local images by the names of public ones.
busybox_root "$work/busybox"
import_root "$work/debian" debian:bookworm-slim
import_root "$work/busybox" busybox:musl
import_root "$work/busybox" registry.k8s.io/pause:3.10 'CMD ["sleep", "60"]'
succeeds 'the image that the pods bring the library from is built' \
	build_image cpuquota "$release" --file "$examples/image/Dockerfile"

# play FILE: the pods in it. podman removes init containers that have ended, and fails if they seem to be running yet; those
# of this type it leaves, but it would start them again and again where the pod's restartPolicy is Always.
play() {
	documents "$1" | python3 -c '
import json, sys
for each in json.load(sys.stdin):
    if each["kind"] == "Pod":
        each["metadata"].setdefault("annotations", {})["io.podman.annotations.init.container.type"] = "always"
        each["spec"]["restartPolicy"] = "Never"
    print("---", json.dumps(each), sep="\n")' >"$work/played.yaml"
	our_podman play kube --network none "$work/played.yaml" >"$work/log" 2>&1 || cat "$work/log"
}

# played FILE POD: what its container `app` says, once it has ended.
played() {
	play "$1"
	our_podman wait "$2-app" >/dev/null
	our_podman logs "$2-app" 2>&1
	remove_pods
}

one=$(expected_count 100000 ceil 1 0 "$real")
is 'a pod without the library sees the machine' "$(played "$plain" cpuquota-device)" "$real"
is 'examples/kubernetes/init-container.yaml: the pod sees its limit' "$(played "$init_container" cpuquota-demo)" "$one"
sed '/name: LD_PRELOAD/,/value:/d' "$init_container" >"$work/without.yaml"
is 'and not without LD_PRELOAD' "$(played "$work/without.yaml" cpuquota-demo)" "$real"
if [ -n "$packages" ]; then
	is 'examples/kubernetes/admission-policy.yaml: the pod that it makes sees its limit' \
		"$(played "$work/admitted.yaml" cpuquota-device)" "$one"
fi

# The DaemonSet's pod, on this machine as a node: with an /etc and an /opt that are the machine's below, and of which what is
# written is here only.

mount -t tmpfs none /mnt
for directory in etc opt; do
	mkdir "/mnt/$directory" "/mnt/$directory.work"
	mount -t overlay -o "lowerdir=/$directory,upperdir=/mnt/$directory,workdir=/mnt/$directory.work" none "/$directory"
done
# run [OPTION]... IMAGE [ARGUMENT]...
run() {
	our_podman run --rm --pull=never --network none --cgroup-parent "/$container_parent" --cpus 1 "$@" 2>&1
}
matches 'before, there is no such device' "$(run --device cpuquota/cpus=shown debian:bookworm-slim nproc)" '*cpuquota/cpus=shown*'
python3 "$from/kubernetes/node-pod.py" "$examples/cdi" >"$work/node.yaml"
play "$work/node.yaml"
is 'examples/cdi/daemonset.yaml: what it installs' "$(find /opt/cpuquota -type f -printf '%m %f\n' | LC_ALL=C sort)" "644 cpuquota.conf
644 libcpuquota.so
755 cpuquota-exec"
succeeds 'and the CDI spec' cmp "$examples/cdi/cpuquota.yaml" /etc/cdi/cpuquota.yaml
is 'examples/cdi/cpuquota.yaml: a container that asks for the device sees its limit' \
	"$(run --device cpuquota/cpus=shown debian:bookworm-slim nproc)" "$one"
is 'and so does a static program in it' "$(
	run --device cpuquota/cpus=shown --volume "$(command -v busybox):/busybox:ro" debian:bookworm-slim sh -c '/busybox nproc; :'
)" "$one"
is 'one that does not ask sees the machine' "$(run debian:bookworm-slim nproc)" "$real"
echo 'count = 2' >/opt/cpuquota/cpuquota.conf
is "the node's policy is the container's" "$(run --device cpuquota/cpus=shown debian:bookworm-slim nproc)" 2

done_testing
