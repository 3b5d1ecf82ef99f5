#!/usr/bin/env python3
"""compiled_sources.py BUILD FILE...: those of the files that BUILD/compile_commands.json compiles."""

import json
import os
import sys

build, *files = sys.argv[1:]
with open(os.path.join(build, "compile_commands.json")) as f:
    compiled = {os.path.realpath(os.path.join(c["directory"], c["file"])) for c in json.load(f)}
for name in files:
    # What TableGen wrote is not ours to lint.
    if os.path.realpath(name) in compiled and not name.endswith("Gen.cpp"):
        print(name)
