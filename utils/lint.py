#!/usr/bin/env python3
#===- lint.py - clang-tidy over the sources of a build tree ---------------===#
#
# Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===-----------------------------------------------------------------------===#
"""Runs clang-tidy over what a build tree compiles: the files named, or all.

usage: lint.py BUILD [FILE ...]

Nearly all of clang-tidy's time goes into the headers of MLIR. So all files of one library or program
are checked as one source that includes them, in BUILD/lint. The checks are those of .clang-tidy but
for the order of includes, which clang-format keeps (it takes only the first file's own header for
one) and which a named file, checked by itself, has too. Every finding is printed once. Exit status 1
if there is any.
"""

import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
OWN_SOURCES = "^" + ROOT + r"/(tpuc|runtime|tools|unittests|test|bench)/.*\.(h|inc|cpp)$"
UNITY = re.compile(r"/Unity/unity_\d+_\w+\.\w+$")
FINDING = re.compile(r"^(?=/\S+:\d+:\d+: (?:warning|error): )", re.MULTILINE)
# The static analyzer looks into the files that a source includes if its name says so.
UNIFIED = "UnifiedSource"


def compiled(command):
    """The sources that a compile command compiles: of a unity build those that it joins."""
    source = os.path.realpath(os.path.join(command["directory"], command["file"]))
    if not UNITY.search(source):
        return [source]
    with open(source, encoding="utf-8") as file:
        return [os.path.realpath(path) for path in re.findall(r'^#include "(.*)"$', file.read(), re.MULTILINE)]


def own_commands(build):
    """The compile commands of what is ours to lint, by source."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    result = {}
    for command in commands:
        for source in compiled(command):
            # What TableGen, protoc and flatc wrote is not.
            if (source.startswith(ROOT + os.sep) and not source.endswith("Gen.cpp")
                    and not source.startswith(os.path.realpath(build) + os.sep)):
                result.setdefault(source, {"directory": command["directory"], "file": source,
                                           "arguments": [*without_source(command), "-c", source],
                                           "target": target_of(command)})
    return result


def without_source(command):
    """The arguments of a compile command but for the source and the object."""
    arguments = shlex.split(command["command"])
    at = arguments.index("-o")
    del arguments[at:at + 2]
    at = arguments.index("-c")
    del arguments[at:at + 2]
    return arguments


def target_of(command):
    """The library or program that a compile command is for."""
    return re.search(r"(\S+)\.dir/", command["command"].split(" -o ")[1]).group(1).replace("/CMakeFiles/", "/")


def write_commands(commands, folder):
    """A folder with the compile commands of the files in it."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "compile_commands.json"), "w", encoding="utf-8") as file:
        json.dump([{key: command[key] for key in ("directory", "file", "arguments")} for command in commands],
                  file, indent=1)


def unified_sources(commands, folder):
    """Writes a source for each library and program, and their compile commands, into `folder`."""
    groups = {}
    for source, command in sorted(commands.items()):
        kind = os.path.splitext(source)[1]
        key = (command["target"], kind, tuple(command["arguments"][:-2]), command["directory"])
        groups.setdefault(key, []).append(source)
    os.makedirs(folder, exist_ok=True)
    written = []
    for (target, kind, arguments, directory), sources in groups.items():
        name = f"{UNIFIED}-{len(written)}-{target.replace('/', '-')}{kind}"
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("// NOLINTBEGIN(bugprone-suspicious-include)\n")
            file.writelines(f'#include "{source}"\n' for source in sources)
            file.write("// NOLINTEND(bugprone-suspicious-include)\n")
        written.append((len(sources), {"directory": directory, "file": path,
                                       "arguments": [*arguments, "-c", path]}))
    # The largest first, so that none is left at the end.
    written.sort(key=lambda entry: -entry[0])
    write_commands([command for _, command in written], folder)
    return [command["file"] for _, command in written]


def tidy(database, source, options):
    """The findings in `source`."""
    result = subprocess.run(["clang-tidy-19", "-p", database, "--quiet", *options, source],
                            capture_output=True, text=True, check=False)
    findings = FINDING.split(result.stdout)[1:]
    if result.returncode != 0 and not findings:
        findings = [f"{source}: clang-tidy ends with status {result.returncode}\n{result.stderr}"]
    return findings


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: lint.py BUILD [FILE ...]")
    build, *files = sys.argv[1:]
    commands = own_commands(build)
    if files:
        # Headers have no command line.
        sources = [path for path in map(os.path.realpath, files) if path in commands]
        for path in files:
            if os.path.realpath(path) not in commands and not path.endswith((".h", ".inc")):
                print(f"{path}: not checked, as nothing in {build} compiles it", file=sys.stderr)
        database, options = os.path.join(build, "lint", "files"), []
        write_commands([commands[source] for source in sources], database)
    else:
        database = os.path.join(build, "lint")
        sources = unified_sources(commands, database)
        options = [f"--header-filter={OWN_SOURCES}", "--checks=-llvm-include-order"]
    seen = set()
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for findings in pool.map(lambda source: tidy(database, source, options), sources):
            for finding in findings:
                if finding not in seen:
                    seen.add(finding)
                    print(finding, end="", flush=True)
    what = f"{len(sources)} files" if files else f"{len(commands)} files"
    print(f"{what}, {len(seen)} findings")
    sys.exit(1 if seen else 0)


if __name__ == "__main__":
    main()
