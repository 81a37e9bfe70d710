# SPDX-License-Identifier: MIT
"""What cpuquota-exec --explain --json has said, for shell tests.

    explained.py SCHEMA FILE valid                  nothing, if it is of that schema
    explained.py SCHEMA FILE get NAME...            members: cpus.shown_count, program.modes.0.reached
    explained.py SCHEMA FILE verdict REAL ASK...
        a line for each mode: its name, the verdict, the codes of the reasons (sorted, with commas; - without any), and
        what a program must print that asks in these ways, if the verdict is right: counts, affinity, files, or
        gomaxprocs; ? for a number that the verdict leaves open
"""
import json
import os
import sys

import jsonschema


def member(value, name):
    for part in name.split("."):
        value = value[int(part) if part.isdigit() else part]
    return value


def number(explained, mode, real, ask):
    shown = str(explained["cpus"]["shown_count"])
    if ask == "gomaxprocs":
        own = os.environ.get("GOMAXPROCS")
        return own or (shown if {"trap", "gomaxprocs"} & set(mode["by"]) else real)
    return {True: shown, False: real, None: "?"}[mode["answered"][ask]]


def main():
    schema_file, file, what, *arguments = sys.argv[1:]
    with open(schema_file, encoding="utf-8") as stream:
        schema = json.load(stream)
    with open(file, encoding="utf-8") as stream:
        explained = json.load(stream)
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.validate(explained, schema, jsonschema.Draft7Validator)
    if what == "get":
        print(*(json.dumps(value) if not isinstance(value, str) else value
                for value in (member(explained, name) for name in arguments)))
    elif what == "verdict":
        real, *asks = arguments
        for mode in explained["program"]["modes"]:
            codes = ",".join(sorted(reason["code"] for reason in mode["reasons"]))
            print(mode["mode"], mode["reached"], codes or "-", *(number(explained, mode, real, ask) for ask in asks))


main()
