# SPDX-License-Identifier: MIT
# Starts each program that is named, with each policy of $POLICIES, and prints the policy and what the program says.
import os
import subprocess
import sys

for program in sys.argv[1:]:
    for policy in os.environ["POLICIES"].split():
        said = subprocess.run([program], env={**os.environ, "CPUQUOTA": policy}, stdout=subprocess.PIPE, check=True)
        print(policy, said.stdout.decode().strip(), sep=": ")
