# SPDX-License-Identifier: MIT
"""Usage: edit-spec.py CGROUP WAY CGROUPS USER QUOTA COMMAND...

Changes the configuration that `runc spec` makes, from standard input to standard output: a container in CGROUP with a
limit of QUOTA microseconds in 100,000, which runs COMMAND as USER. WAY: "ENV" for LD_PRELOAD, "cpuquota-exec", or
"alone". CGROUPS: "namespace", "host" for no namespace, or "unseen" for no cgroup mount.
"""
import json
import sys

cgroup, way, cgroups, user, quota, *command = sys.argv[1:]
spec = json.load(sys.stdin)
process, linux = spec["process"], spec["linux"]

process["terminal"] = False
process.pop("rlimits", None)
process["user"] = {"uid": int(user), "gid": int(user)}
if int(user):
    process["capabilities"] = {}
process["noNewPrivileges"] = int(user) != 0
spec["root"]["readonly"] = True
if way == "ENV":
    process["env"].append("LD_PRELOAD=/usr/lib/libcpuquota.so")
elif way == "cpuquota-exec":
    process["env"].append("CPUQUOTA_LIBRARY=/usr/lib/libcpuquota.so")
    command.insert(0, "cpuquota-exec")
process["args"] = command

linux["cgroupsPath"] = cgroup
linux.setdefault("resources", {})["cpu"] = {"quota": int(quota), "period": 100000}
linux["namespaces"] = [space for space in linux["namespaces"] if space["type"] != "cgroup"]
if cgroups == "namespace":
    linux["namespaces"].append({"type": "cgroup"})
if cgroups == "unseen":
    spec["mounts"] = [mount for mount in spec["mounts"] if mount["type"] != "cgroup"]

json.dump(spec, sys.stdout)
