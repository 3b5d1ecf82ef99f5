#===- run.py - Hostile networks end in an error or in a file --------------===#
#
# Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===-----------------------------------------------------------------------===#
"""Runs networks that mean harm through model_transform and model_deploy, and counts how that ends.

usage: run.py BUILD [--all] [FILE|NAME...]

FILEs end in .onnx or .mlir; NAMEs are those of networks.py. Without either, all of networks.py run, and what each must
say is compared. A program may end with status 0 or with an error of one line, within SECONDS and MEMORY. Exit status 0
if all do, 1 if not. --all prints each end.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import networks

# Of processor time; a program that waits may take longer on a machine that others use, too.
SECONDS = 20
WAIT = 6 * SECONDS
MEMORY = 6 << 30
MODES = ["F32", "F16", "INT8"]
PROTO = pathlib.Path(__file__).parents[2] / "tpuc" / "Frontend" / "Onnx"
# What no message may hold: a number that ran over its end.
OVERFLOW = re.compile(r"-\d+(\.\d+)? (GFLOPs|MB|bytes|cycles)|9223372036\.\d+ GFLOPs|1844674407370955161\d")
# What sanitizers report, where the programs are built with them.
REPORT = re.compile(r"(Address|Leak|UndefinedBehavior)Sanitizer|: runtime error: ")
BAD = ("sanitizer", "signal", "assertion", "time-out", "memory", "overflow", "silent", "other words")


def is_sanitized():
    """Whether the programs are built with sanitizers."""
    return "--sanitized" in sys.argv


def limit():
    # Address sanitizer takes terabytes of address space.
    if not is_sanitized():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(command, folder):
    """The kind of end, and what was printed."""
    try:
        ended = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=WAIT,
                               preexec_fn=limit)
    except subprocess.TimeoutExpired:
        return "time-out", ""
    text = ended.stdout.decode(errors="replace")
    if REPORT.search(text):
        return "sanitizer", text
    if ended.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return "time-out", text
    if "Assertion `" in text or "LLVM ERROR" in text and "out of memory" not in text:
        return "assertion", text
    if "bad_alloc" in text or "out of memory" in text:
        return "memory", text
    if ended.returncode < 0:
        return "signal", text
    if OVERFLOW.search(text):
        return "overflow", text
    if ended.returncode == 0:
        return "ok", text
    return "error" if ": error: " in text else "silent", text


def expect(kind, text, pattern):
    """The same, or "other words" where an error was to be found that was not."""
    if pattern is not None and kind in ("ok", "error"):
        if kind == "ok" or not re.search(pattern, text):
            return "other words"
    return kind


def calibration(module, table):
    """A table that gives each tensor of a module the same range."""
    names = sorted(set(re.findall(r'loc\("([^" ]+)"\)', module.read_text())))
    table.write_text("# op_name threshold min max\n" + "".join(f"{name} 4.0 -4.0 4.0\n" for name in names))


def deploy(tools, module, folder, pattern):
    for mode in MODES:
        command = [tools / "model_deploy", "--mlir", module, "--quantize", mode, "--chip", "bm1684x", "--model", "m.bmodel"]
        if mode == "INT8":
            calibration(module, folder / "table")
            command += ["--calibration_table", "table"]
        kind, text = run(command, folder)
        if mode == "INT8" and "the network has no tensor" in text:
            continue
        yield f"deploy {mode}", expect(kind, text, pattern), text


def transform(tools, path, folder, network=None):
    kind, text = run([tools / "model_transform", "--model_name", "m", "--model_def", path, "--mlir", "m.mlir"], folder)
    if network and network.transform is None and kind == "error":
        kind = "other words"
    yield "transform", expect(kind, text, network and network.transform), text
    if kind == "ok":
        yield from deploy(tools, folder / "m.mlir", folder, network and network.deploy)


def ends(tools, what):
    """All ends of a file, or of a network by its name."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        path = pathlib.Path(what).resolve()
        if path.suffix == ".mlir":
            return list(deploy(tools, path, folder, None))
        if path.suffix == ".onnx":
            return list(transform(tools, path, folder))
        network = networks.NETWORKS[what]
        path = folder / f"{what}.onnx"
        with path.open("wb") as file:
            subprocess.run(["protoc", "--encode=tpuc.onnx.proto.Model", f"--proto_path={PROTO}", "Onnx.proto"],
                           input=network.text.encode(), stdout=file, check=True)
        return list(transform(tools, path, folder, network))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("what", nargs="*")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--sanitized", action="store_true", help="the programs are built with sanitizers")
    arguments = parser.parse_intermixed_args()
    tools = (arguments.build / "bin").resolve()
    what = arguments.what or list(networks.NETWORKS)
    counts = collections.Counter()
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, made in zip(what, pool.map(lambda each: ends(tools, each), what)):
            for stage, kind, text in made:
                counts[stage, kind] += 1
                bad += kind in BAD
                if kind in BAD or arguments.all:
                    lines = [line for line in text.splitlines() if "rror" in line or "ssert" in line] or text.splitlines()
                    print(f"{name}: {stage}: {kind}: {lines[0] if lines and kind != 'ok' else ''}", flush=True)
    for (stage, kind), count in sorted(counts.items()):
        print(f"{stage}: {count} {kind}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
