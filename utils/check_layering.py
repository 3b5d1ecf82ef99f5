#!/usr/bin/env python3
"""The rules of the project that a compiler does not check: who may know what, headers, leftovers,
names that two files of a folder give to different things.

Prints one line per offence and ends with status 1 if there is any. The rules are those of
docs/layout.md; a rule that is changed there is changed here.
"""

import collections
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Components that serve every chip: they ask the target, they never name one.
CHIP_FREE = re.compile(r"tpuc/(Preprocess|Frontend|Dialect|Transforms|Interpreter|Calibration|Conversion|"
                       r"Codegen|Driver)/|tpuc/(Target|Model)/[^/]+$|tpuc/Target/(Common|BM168x)/|runtime/|tools/")
CHIP_NAME = re.compile(r"bm ?16[0-9]{2}x?|cv18[0-9x]|cv18xx|sophgo|dnnweaver", re.I)
# A family of chips is no matter to others; its folder holds what they share, and includes no folder of one of them.
FAMILY_NAME = re.compile(r"bm ?168x", re.I)
FAMILY = re.compile(r"tpuc/Target/(BM168x)/")
CHIP_INCLUDE = re.compile(r'#include "tpuc/Target/(\w+)/')
# Kinds of model files are named in folders of their own, and where a chip states its kind.
CONTAINER_FREE = re.compile(r"(tpuc|runtime|tools)/(?!Model/[^/]+/|Target/[^/]+/TargetInfo\.cpp$)")
CONTAINER_NAME = re.compile(r"bmodel|cvimodel", re.I)

# Components that build, test and run without MLIR.
MLIR_FREE = re.compile(r"(tpuc/(Support|Preprocess|Model|Interpreter/(Kernels|Ops))|tpuc/Target/([^/]+/(Machine|Runtime)|Common|BM168x(?!/Codegen/))|runtime|"
                       r"tools/(common|npz_tool|model_tool|model_runner))/|tpuc/Target/([^/]+|[^/]+/TargetInfo\.\w+)$")
MLIR_INCLUDE = re.compile(r'#include\s+[<"](mlir|llvm|llvm-c|mlir-c)/')

# Components behind the front ends: what a network came from is no matter to them.
FORMAT_FREE = re.compile(r"tpuc/(Calibration|Codegen|Conversion|Driver|Model|Target)/|runtime/")
FORMAT_NAME = re.compile(r"onnx|tflite|caffe|\bpytorch\b", re.I)

# What is known of an op stands on its class: a name as text is compared with nothing.
OP_TEXT_FREE = re.compile(r"(tpuc|runtime|tools)/.*\.(h|cpp)$")
OP_TEXT = re.compile(r'"(top|tpu)\.[A-Z]\w*"')

# What a source format's folder holds is its own; tests and benchmarks may look into it.
FORMAT_INCLUDE = re.compile(r'#include "tpuc/Frontend/(?!Common/)(\w+)/')
FORMAT_READER = re.compile(r"(unittests|test|bench)/")

LICENCE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
SOURCE = re.compile(r"\.(h|cpp|c|td)$")
MACHINE_PATH = re.compile(r"(?<![\w.])/(work|root|home)/\w")
TEXT = re.compile(r"(\.(h|cpp|c|td|py|md|txt|cmake|mlir|test|json|sh|in|proto|fbs)|/run|/dev|/demo|/pre-commit)$")
# Lists of other headers, each compiled once.
PRECOMPILED = ("cmake/Pch.h", "cmake/StdPch.h")

# Names of a file's own, which clang-format puts at the beginning of a line.
NAMESPACE = re.compile(r"namespace(?: ([\w:]+))? \{$")
NAMESPACE_END = re.compile(r"\} // namespace")
TYPE = re.compile(r"(?:template <[^;]*> )?(?:struct|class|union|enum(?: class)?) (\w+)(?: final)?(?: :.*)? \{|using (\w+) =")
VARIABLE = re.compile(r"(?:static |constexpr |const |inline |thread_local )*(?:[\w:]+(?:<.*>)?(?: const)?[ *&]+)+(\w+)"
                      r"(?:\[[^\]]*\])*(?: =|\{|;)")
FUNCTION = re.compile(r"(?:template <.*?> )?[\w:<>,*& \[\]]*?[ *&](\w+)\(([^(){}=]*)\)(?: const)?(?: noexcept)? \{")
# The lines that the head of a function may take.
HEAD = 6


def own_names(text):
    """(line, namespace, what) of what a source defines for itself alone: types and variables by
    their names, functions by these and the types of their parameters."""
    open_namespaces = []
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if opened := NAMESPACE.match(line):
            open_namespaces.append(opened[1])
        elif NAMESPACE_END.match(line):
            del open_namespaces[-1:]
        elif re.match(r"\w", line) and (None in open_namespaces or line.startswith("static ")):
            space = "::".join(filter(None, open_namespaces))
            head = " ".join(part.strip() for part in lines[number - 1:number - 1 + HEAD])
            if found := TYPE.match(line):
                yield number, space, found[1] or found[2]
            elif (found := VARIABLE.match(line)) and "(" not in found[0]:
                yield number, space, found[1]
            elif found := FUNCTION.match(head):
                kinds = [re.sub(r"(?<=[ *&])\w+$", "", parameter.strip()).strip()
                         for parameter in found[2].split(",")]
                yield number, space, f"{found[1]}({', '.join(kinds)})"


def library_of(path):
    """The folder above `path` whose CMakeLists.txt compiles it."""
    folder = os.path.dirname(path)
    while folder and not os.path.isfile(os.path.join(ROOT, folder, "CMakeLists.txt")):
        folder = os.path.dirname(folder)
    return folder or os.path.dirname(path)


def shared_names(sources):
    """(path, line, message) of names that two files of a folder have for themselves: builds that
    compile the files of a library as one do not take them. `sources` are (path, text)."""
    known = collections.defaultdict(dict)
    for path, text in sources:
        folder = known[library_of(path)]
        for number, space, name in own_names(text):
            other, line = folder.setdefault((space, name), (path, number))
            if other != path:
                yield path, number, f"{name} is another thing in {other}:{line}; expected names that differ in a folder"


def offences(path, text):
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if MACHINE_PATH.search(line) and not path.endswith("check_layering.py"):
            yield number, "names a path of one machine"
        if SOURCE.search(path):
            if CHIP_FREE.search(path) and CHIP_NAME.search(line):
                yield number, "names a chip; expected a question to the target"
            family = FAMILY.match(path)
            if CHIP_FREE.search(path) and not family and FAMILY_NAME.search(line):
                yield number, "names a family of chips; expected a question to the target"
            chip = CHIP_INCLUDE.match(line)
            if (chip and re.match(r"tpuc/Target/(Common|BM168x)/", path) and not CHIP_NAME.search(line) and
                    chip[1] not in ("Common", family and family[1])):
                yield number, f"includes the folder {chip[1]}; expected what chips share"
            if CONTAINER_FREE.match(path) and CONTAINER_NAME.search(line):
                yield number, "names a container; expected a question to the list of them"
            if MLIR_FREE.search(path) and MLIR_INCLUDE.search(line):
                yield number, "includes MLIR or LLVM in a component that is free of them"
            if FORMAT_FREE.match(path) and FORMAT_NAME.search(line.split("//")[0]):
                yield number, "names a source format; expected a question to the list of them"
            if OP_TEXT_FREE.match(path) and OP_TEXT.search(line):
                yield number, "names an op as text; expected its class, a trait or a table"
            included = FORMAT_INCLUDE.match(line)
            if (included and not FORMAT_READER.match(path) and
                    not path.startswith(f"tpuc/Frontend/{included[1]}/")):
                yield number, f"includes what {included[1]} has for itself; expected tpuc/Frontend/Frontend.h"
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
    sources = []
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
        if path.endswith(".cpp"):
            sources.append((path, text))
    for path, number, what in shared_names(sources):
        print(f"{path}:{number}: {what}")
        bad += 1
    print(f"{count} files, {bad} offences")
    return 1 if bad or not count else 0


if __name__ == "__main__":
    sys.exit(main())
