#!/usr/bin/env python3
"""The rules of the house that a compiler does not check: who may know what, headers, leftovers.

Prints one line per offence and ends with status 1 if there is any. The rules are those of
docs/layout.md; a rule that is changed there is changed here.
"""

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Rooms that serve every chip: they ask the target, they never name one.
CHIP_FREE = re.compile(r"tpuc/(Preprocess|Frontend|Dialect|Transforms|Interpreter|Calibration|Conversion|"
                       r"Codegen|Driver)/|tpuc/Target/[^/]+$")
CHIP_NAME = re.compile(r"bm ?16[0-9]{2}x?|cv18[0-9x]|cv18xx|sophgo|dnnweaver", re.I)

# Rooms that build, test and run without MLIR.
MLIR_FREE = re.compile(r"(tpuc/(Support|Preprocess|Model|Interpreter/(Kernels|Ops))|tpuc/Target/[^/]+/Machine|runtime|"
                       r"tools/(npz_tool|model_tool|model_runner))/|tpuc/Target/([^/]+|[^/]+/TargetInfo\.\w+)$")
MLIR_INCLUDE = re.compile(r'#include\s+[<"](mlir|llvm|llvm-c|mlir-c)/')

LICENCE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
SOURCE = re.compile(r"\.(h|cpp|c|td)$")
MACHINE_PATH = re.compile(r"(?<![\w.])/(work|root|home)/\w")
TEXT = re.compile(r"(\.(h|cpp|c|td|py|md|txt|cmake|mlir|test|json|sh|in|proto|fbs)|/run|/dev|/demo|/pre-commit)$")
# Lists of other headers, each compiled once.
PRECOMPILED = ("cmake/Pch.h", "cmake/StdPch.h")


def offences(path, text):
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if MACHINE_PATH.search(line) and not path.endswith("check_house.py"):
            yield number, "names a path of one machine"
        if SOURCE.search(path):
            if CHIP_FREE.search(path) and CHIP_NAME.search(line):
                yield number, "names a chip; expected a question to the target"
            if MLIR_FREE.search(path) and MLIR_INCLUDE.search(line):
                yield number, "includes MLIR or LLVM in a room that is free of them"
            if path.endswith(".h") and line.startswith("using namespace"):
                yield number, "using namespace in a header"
    if SOURCE.search(path) and LICENCE not in text:
        yield 1, "no licence header"
    if path.endswith(".h"):
        guard = re.sub(r"[^A-Z0-9]", "_", path.upper())
        if f"#ifndef {guard}\n" not in text:
            yield 1, f"include guard; expected {guard}"


def main():
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True,
                           stdout=subprocess.PIPE, text=True).stdout.split("\n")
    count = bad = 0
    for path in filter(None, names):
        full = os.path.join(ROOT, path)
        if not TEXT.search("/" + path) or not os.path.isfile(full) or path in PRECOMPILED:
            continue
        with open(full, encoding="utf-8") as f:
            text = f.read()
        count += 1
        for number, what in offences(path, text):
            print(f"{path}:{number}: {what}")
            bad += 1
    print(f"{count} files, {bad} offences")
    return 1 if bad or not count else 0


if __name__ == "__main__":
    sys.exit(main())
