# SPDX-License-Identifier: MIT
"""Usage: node-pod.py DIRECTORY

Prints, as YAML documents, the config map and the pod that a node gets from the kustomization in DIRECTORY.
"""
import json
import pathlib
import sys

import yaml

directory = pathlib.Path(sys.argv[1])


def documents(name):
    return list(yaml.safe_load_all((directory / name).read_text()))


(kustomization,) = documents("kustomization.yaml")
print(*(
    json.dumps({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": generated["name"], "namespace": generated["namespace"]},
        "data": {name: (directory / name).read_text() for name in generated["files"]},
    })
    for generated in kustomization["configMapGenerator"]
), *(
    json.dumps({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**resource["spec"]["template"]["metadata"], "name": resource["metadata"]["name"]},
        "spec": resource["spec"]["template"]["spec"],
    })
    for name in kustomization["resources"]
    for resource in documents(name)
), sep="\n---\n")
