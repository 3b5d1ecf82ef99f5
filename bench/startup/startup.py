#!/usr/bin/env python3
"""How long every program takes to start, beside an empty program and an empty one with MLIR.

usage: startup.py BUILD [--rounds N]

Each program of BUILD/bin runs twice: with `--version`, and with a first file that is not there. The
second run ends after the command line is read and, with MLIR, the dialects are known. model_runner loads
MLIR for modules only; in a line of its own it ends at a module that breaks off. In each round every
program runs once, so that all of them meet the same load.

A line holds, for each of the two: the median and the least processor time of all rounds, and the least
time by the clock, in milliseconds. The last column divides the larger median by that of the empty program
of its kind. The lines below compare the largest median with what is asked. Where a machine does other
things as well, the clock says little.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

# What is asked of a start, in milliseconds, and the empty program of the kind.
KINDS = {"without MLIR": (20, "bench-startup-empty"), "with MLIR": (90, "bench-startup-mlir")}
# How a program is sent to a file that is not there.
MISSING = {
    "model_deploy": "--mlir none.mlir --quantize F32 --chip bm1684x --model out.model",
    "model_runner": "--model none.mlir --input none.npz --output out.npz",
    "model_tool": "--info none.model",
    "model_transform": "--model_def none.onnx --mlir out.mlir",
    "npz_tool": "list none.npz",
    "run_calibration": "none.mlir --dataset none -o out",
    "tpuc-caffe": "none.prototxt",
    "tpuc-onnx": "none.onnx",
    "tpuc-opt": "none.mlir",
    "tpuc-tflite": "none.tflite",
}
# Programs that load MLIR later, by what they are called here: program, arguments.
LATER = {"model_runner, module": ("model_runner", "--model broken.mlir --input none.npz --output out.npz")}


def programs(folder):
    """Those with a name in the manual, too: tests and benchmarks have none."""
    return sorted(path.stem for path in folder.glob("*.py"))


def uses_mlir(path):
    """Whether a program loads MLIR when it starts."""
    loaded = subprocess.run(["ldd", path], check=True, stdout=subprocess.PIPE, text=True).stdout
    return "libMLIR" in loaded


class Run:
    """A command, and what its starts took."""

    def __init__(self, path, arguments, status):
        self.command = [os.fspath(path), *arguments]
        self.status = status
        self.processor = []
        self.clock = []

    def once(self):
        nowhere = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
        begin = time.perf_counter()
        child = os.posix_spawn(self.command[0], self.command, os.environ, file_actions=nowhere)
        _, status, usage = os.wait4(child, 0)
        self.clock.append(1e3 * (time.perf_counter() - begin))
        self.processor.append(1e3 * (usage.ru_utime + usage.ru_stime))
        if os.waitstatus_to_exitcode(status) != self.status:
            sys.exit(f"bench/startup: {' '.join(self.command)}: ends with {status}, expected {self.status}")

    def median(self):
        return statistics.median(self.processor)


class Program:
    """A line of the table. `version` or `missing` is None where the program has no such run."""

    def __init__(self, name, kind, version, missing):
        self.name = name
        self.kind = kind
        self.version = version
        self.missing = missing

    def runs(self):
        return [run for run in (self.version, self.missing) if run]

    def slowest(self):
        return max(run.median() for run in self.runs())

    def line(self, empty):
        cells = []
        for run in (self.version, self.missing):
            cells += [f"{run.median():8.1f} {min(run.processor):6.1f} {min(run.clock):6.1f}" if run else " " * 22]
        ratio = f"{self.slowest() / empty.slowest():6.1f}" if empty is not self else ""
        return f"{self.name:20} {self.kind:12} {cells[0]}  {cells[1]}  {ratio}".rstrip()


def everything(folder):
    """The programs to start, the empty ones first."""
    names = programs(folder)
    unknown = set(names) - set(MISSING)
    if unknown:
        sys.exit(f"bench/startup: {', '.join(sorted(unknown))}: no arguments are known; expected them in MISSING")
    for kind, (_, name) in KINDS.items():
        yield Program(name, kind, Run(folder / name, [], 0), None)
    for name in names:
        kind = "with MLIR" if uses_mlir(folder / name) else "without MLIR"
        yield Program(name, kind, Run(folder / name, ["--version"], 0), Run(folder / name, MISSING[name].split(), 1))
    for name, (program, arguments) in LATER.items():
        yield Program(name, "with MLIR", None, Run(folder / program, arguments.split(), 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    everyone = list(everything(options.build.resolve() / "bin"))
    empty = {kind: program for kind, program in zip(KINDS, everyone)}
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        pathlib.Path("broken.mlir").write_text("module {\n", encoding="utf-8")
        for _ in range(options.rounds):
            for program in everyone:
                for run in program.runs():
                    run.once()
    titles = f"{'median':>8} {'least':>6} {'clock':>6}"
    print(f"{'ms of processor time':33} {'--version':>22}  {'no such file':>22}  median /")
    print(f"{'program':33} {titles}  {titles}  the empty one's")
    for program in everyone:
        print(program.line(empty[program.kind]))
    for kind, (asked, _) in KINDS.items():
        slowest = max(program.slowest() for program in everyone if program.kind == kind)
        verdict = "met" if slowest <= asked else "NOT MET"
        print(f"{kind}: at most {slowest:.1f} ms of processor time (asked: {asked}) {verdict}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
