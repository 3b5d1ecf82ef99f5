#!/usr/bin/env python3
"""Our files for the CV18xx chips beside those of the vendor's compiler (PyPI package tpu-mlir 1.30.2),
both by our timing model.

usage: compare.py BUILD [--models DIR] [--vendor DIR] [--work DIR] [--chips A,B] [--opt N] [--options TEXT]
                  [--json FILE] [NETWORK ...] [MODE ...]

DIR of --models (default: TPUC_MODELS) holds NETWORK.onnx. DIR of --vendor (default: TPUC_VENDOR_DIR)
has the vendor's compiler below `venv`. Its files are kept in --work (default: a folder that goes away),
where they are not made again. NETWORK is a name of SHAPES or of a file; MODEs are INT8 and BF16
(default: both). Integers have the same range everywhere, which changes no time of theirs; ours are calibrated by
NETWORK_in.npz where that is beside the network, and layers may stay in BF16 then. Both take inputs and
give outputs as they are stored. --options are more ones for our model_deploy.

Per network, chip and mode: milliseconds of a run and our time divided by theirs, by each of the three
sets of parameters; bytes that move between global memory and lanes; global memory beside the weights
("ion": activations, inputs and outputs); bytes of the file. At the end the geometric means, and how many
ratios are above 1. What the host computes is in no time: such a file is said so, and in no mean. With --json, the table
as bench/results wants it.
"""

import argparse
import datetime
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "test/conformance"))
from vendor_compiler import Compiler, Failure, calibration_table  # noqa: E402

# The networks of the table, and the inputs of those that leave some of their extents open.
SHAPES = {"cls": "[[1,3,48,192]]", "det": "[[1,3,320,480]]", "rec": "[[1,3,48,320]]",
          "effl0": None, "mobilenet_v2": None, "resnet50": None, "yolov5s_320": None, "unet": None,
          "gru": None}
SETS = ("silicon", "vendor", "pessimistic")
MODES = ("INT8", "BF16")
BYTES = {"bf16": 2, "i16": 2, "u16": 2, "i8": 1, "u8": 1}


def call(folder, *command):
    done = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure((done.stderr.strip() or f"{command[0]} fails").splitlines()[-1])
    return done.stdout


class File:
    """What is compared of a model file."""

    def __init__(self, tool, file):
        stages = json.loads(call(file.parent, tool, "--profile", "--json", file))
        shown = json.loads(call(file.parent, tool, "--print", file))
        self.times = [stages[0][name]["seconds"] * 1000 for name in SETS]
        self.moved = stages[0][SETS[0]]["ddr_bytes"]
        program = shown["programs"][0]
        self.ion = program["shared_bytes"] + program["private_bytes"] + sum(
            math.prod(each["shape"]) * BYTES.get(each["type"], 4)
            for each in program["tensors"] if each["region"] > 2)
        self.size = file.stat().st_size
        self.host = [each["name"] for each in program["routines"] if each["host"]]

    def figures(self):
        return [*self.times, self.moved, self.ion, self.size]


class Row:
    """A network in one mode on one chip."""

    def __init__(self, name, chip, mode, ours, theirs):
        self.name, self.chip, self.mode, self.ours = name, chip, mode, ours
        self.ratios = theirs and [mine / other for mine, other in zip(ours.figures(), theirs.figures())]

    def cells(self):
        shown = [f"{value:.2f} ms" for value in self.ours.times]
        shown += [f"{value / 1024:.0f} KiB" for value in self.ours.figures()[3:]]
        ratios = [f"{ratio:.2f}" for ratio in self.ratios] if self.ratios else ["-"] * len(shown)
        return [f"{value} {ratio}" for value, ratio in zip(shown, ratios)]

    def note(self):
        return f"  without {len(self.ours.host)} parts of the host" if self.ours.host else ""

    def line(self):
        return f"{self.name:14} {self.chip:7} {self.mode:5}" + "".join(
            f"{cell:>18}" for cell in self.cells()) + self.note()


class Comparison:
    def __init__(self, options, work):
        self.options = options
        self.bin = pathlib.Path(options.build).resolve() / "bin"
        self.models = pathlib.Path(options.models).resolve()
        self.work = work
        self.vendor = Compiler(options.vendor, work / "vendor") if options.vendor else None
        self.rows = []

    def prepare(self, name):
        """The folder with our Top module."""
        folder = self.work / "ours" / name
        folder.mkdir(parents=True, exist_ok=True)
        shapes = ["--input_shapes", SHAPES[name]] if SHAPES.get(name) else []
        call(folder, self.bin / "model_transform", "--model_name", name, "--model_def",
             self.models / f"{name}.onnx", *shapes, "--mlir", f"{name}.mlir")
        return folder

    def quantization(self, folder, name, mode):
        if mode != "INT8":
            return ["--quantize", mode]
        sample = self.models / f"{name}_in.npz"
        if not sample.exists():
            lines = (folder / f"{name}.mlir").read_text().splitlines()
            places = [line.rpartition("loc(")[2] for line in lines if '"top.Weight"' not in line]
            names = [f'loc("{each}")' for place in places for each in re.findall(r'"([^"]+)"', place)]
            (folder / "table").write_text(calibration_table("\n".join(names)))
        elif not (folder / "list").exists():
            (folder / "list").write_text(f"{sample}\n")
            call(folder, self.bin / "run_calibration", f"{name}.mlir", "--data_list", "list", "-o", "table")
        return ["--quantize", mode, "--calibration_table", "table"]

    def ours(self, folder, name, chip, mode):
        file = folder / f"{name}_{chip}_{mode}.cvimodel"
        call(folder, self.bin / "model_deploy", "--mlir", f"{name}.mlir", "--chip", chip, "--opt",
             self.options.opt, *self.quantization(folder, name, mode), *self.options.options.split(),
             "--model", file, "--skip_validation")
        return File(self.bin / "model_tool", file)

    def theirs(self, name, chip, mode):
        base = self.vendor.transform(name, self.models / f"{name}.onnx", SHAPES.get(name))
        file = base / f"{name}_{chip}_{mode}.cvimodel"
        if not file.exists():
            table = base / "calibration"
            table.write_text(calibration_table((base / f"{name}.mlir").read_text()))
            # The weights are looked for where the program runs.
            self.vendor.run(["model_deploy", "--mlir", f"{name}.mlir", "--quantize", mode, "--chip", chip,
                             "--quant_input", "--quant_output", "--model", "unfinished.cvimodel",
                             *(["--calibration_table", table] if mode == "INT8" else [])],
                            base, f"deploy_{chip}_{mode}.log")
            (base / "unfinished.cvimodel").rename(file)
        return File(self.bin / "model_tool", file)

    def network(self, name, modes):
        try:
            folder = self.prepare(name)
        except Failure as failure:
            print(f"{name:14} {failure}", flush=True)
            return
        for chip in self.options.chips.split(","):
            for mode in modes:
                try:
                    theirs = self.theirs(name, chip, mode) if self.vendor else None
                    self.rows.append(Row(name, chip, mode, self.ours(folder, name, chip, mode), theirs))
                    print(self.rows[-1].line(), flush=True)
                except Failure as failure:
                    print(f"{name:14} {chip:7} {mode:5} {failure}", flush=True)

    def means(self):
        """Of each column the geometric mean, the largest ratio, and how many are above 1."""
        columns = zip(*(row.ratios for row in self.rows if row.ratios and not row.ours.host))
        return [(math.exp(sum(map(math.log, column)) / len(column)), max(column),
                 sum(ratio > 1 for ratio in column)) for column in map(list, columns)]


COLUMNS = [*SETS, "DDR", "ion", "file"]


def results(comparison, command, commit):
    rows = [[row.name, row.chip, row.mode, *row.cells()] for row in comparison.rows
            if not row.ours.host]
    means = [f"{name}: the geometric mean is {mean:.2f}, the largest ratio {largest:.2f}; {count} are above 1."
             for name, (mean, largest, count) in zip(COLUMNS, comparison.means())]
    return {"title": "CV18xx files beside the vendor's", "order": 12, "command": command,
            "commit": commit, "date": datetime.date.today().isoformat(),
            "text": ["A run by three sets of parameters, the bytes that it moves, global memory beside "
                     "the weights, and the bytes of the file.",
                     "Behind each figure it is divided by that of the file of TPU-MLIR 1.30.2."],
            "columns": ["network", "chip", "mode", *COLUMNS], "rows": rows,
            "notes": means}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--models", default=os.environ.get("TPUC_MODELS"))
    parser.add_argument("--vendor", default=os.environ.get("TPUC_VENDOR_DIR"))
    parser.add_argument("--work")
    parser.add_argument("--chips", default="cv181x,cv180x")
    parser.add_argument("--opt", default="1")
    parser.add_argument("--options", default="")
    parser.add_argument("--json")
    options = parser.parse_intermixed_args()
    if not options.models or not os.path.isdir(options.models):
        print("bench/cv18xx: no networks; expected --models or TPUC_MODELS to name a folder")
        return 0
    there = sorted(path.stem for path in pathlib.Path(options.models).glob("*.onnx"))
    names = [name for name in options.names if name not in MODES] or [
        name for name in SHAPES if name in there] or there
    modes = [name for name in options.names if name in MODES] or MODES
    print(f"{'network':14} {'chip':7} {'mode':5}" + "".join(f"{name:>18}" for name in COLUMNS))
    with tempfile.TemporaryDirectory() as folder:
        comparison = Comparison(options, pathlib.Path(options.work or folder).resolve())
        for name in names:
            comparison.network(name, modes)
    for name, (mean, largest, count) in zip(COLUMNS, comparison.means()):
        print(f"{name}: geometric mean {mean:.3f}, largest {largest:.3f}, {count} above 1")
    if options.json:
        command = " ".join(["bench/cv18xx/run build --chips", options.chips, *options.names])
        commit = call(HERE, "git", "rev-parse", "--short", "HEAD").strip()
        pathlib.Path(options.json).write_text(
            json.dumps(results(comparison, command, commit), indent=2) + "\n")
    return 0 if comparison.rows else 1


if __name__ == "__main__":
    sys.exit(main())
