# SPDX-License-Identifier: MIT
"""For each line read, says the number of CPUs, the CPUs on which this process may run, and its process id."""
import os
import sys

for line in sys.stdin:
    print(os.cpu_count(), ",".join(str(cpu) for cpu in sorted(os.sched_getaffinity(0))), os.getpid(), flush=True)
