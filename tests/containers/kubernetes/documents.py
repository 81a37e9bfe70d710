# SPDX-License-Identifier: MIT
"""Usage: documents.py FILE...

Prints the YAML documents of these files as one JSON list.
"""
import json
import sys

import yaml

json.dump([document for name in sys.argv[1:] for document in yaml.safe_load_all(open(name))], sys.stdout)
