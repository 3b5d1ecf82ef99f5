#!/usr/bin/env python3
"""Runs model files that the vendor's compiler makes on the vendor's runtime and on ours.

usage: vendor_models.py --vendor DIR --models DIR [--tools DIR] [--precisions F32,F16,...]
                        [--processor bm1684x] [--replay] [NAME=FILE.onnx[:SHAPES] ...]

--vendor      a folder with venv/bin/model_transform and so on, and wheel/tpu_mlir/lib (the PyPI
              package tpu-mlir 1.30.2, installed there)
--models      where the models go; those that are there already are not made again
--tools       our programs (default: build/bin)
--processor   the chip of the models (default: bm1684x); one at a time with one installation
NAME=...      networks to compile; without any, every *.bmodel below --models is run

For every model the outputs of both runners must have the same bytes, every command must come back
from its text with the same bits (model_tool --dump-commands checks that), and, with --replay, no
command may differ by itself. Prints one line per model. The status is 1 when any differs, when a
precision has no model, and when the vendor's compiler is not there: a check that compares nothing
has shown nothing.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from vendor_compiler import MODES, Compiler, Failure, parse_model  # noqa: E402


# Random integers are below this: as indices they are in range, as conditions of both kinds.
INTEGERS = 8


def run(command, folder, log):
    with open(folder / log, "w") as out:
        return subprocess.run(command, cwd=folder, stdout=out, stderr=out).returncode == 0


def precision_of(stem):
    """The one that the name of a model ends with, NAME_INT8_ASYM or NAME_INT8; None for others."""
    fitting = [mode for mode in MODES if stem.endswith(f"_{mode}")]
    return max(fitting, key=len, default=None)


class Conformance:
    def __init__(self, options):
        self.compiler = Compiler(options.vendor, options.models, options.processor)
        self.processor = options.processor
        self.library = (pathlib.Path(options.vendor) / "wheel/tpu_mlir/lib" /
                        f"libcmodel_{options.processor}.so")
        self.tools = pathlib.Path(options.tools).resolve()
        self.precisions = options.precisions.split(",")
        self.replays = options.replay

    def make_input(self, model, path):
        shown = subprocess.run([str(self.tools / "model_tool"), "--print", str(model)], check=True,
                               capture_output=True, text=True).stdout
        tensors = json.loads(shown)["nets"][0]["stages"][0]["inputs"]
        self.compiler.python(
            "import json, sys, numpy\n"
            "random = numpy.random.default_rng(3)\n"
            "def array(t):\n"
            "    if t['type'].startswith('f'):\n"
            "        return random.uniform(-1, 1, t['shapes'][0]).astype('float32')\n"
            f"    return random.integers(0, {INTEGERS}, t['shapes'][0]).astype('int32')\n"
            "numpy.savez(sys.argv[1], **{t['name']: array(t) for t in json.loads(sys.argv[2])})\n",
            model.parent, path, json.dumps(tensors))

    def compare(self, model):
        """What is wrong with the model, or nothing; and our seconds."""
        folder, stem = model.parent, model.stem
        source, ours, theirs = (folder / f"{stem}_{part}.npz" for part in ("in", "ours", "theirs"))
        listing = folder / f"{stem}.txt"
        if not run([self.tools / "model_tool", "--dump-commands", model, "-o", listing], folder,
                   f"dump_{stem}.log"):
            return (folder / f"dump_{stem}.log").read_text().strip(), 0
        if not source.exists():
            self.make_input(model, source)
        begin = time.perf_counter()
        if not run([self.tools / "model_runner", "--model", model, "--input", source, "--output",
                    ours], folder, f"run_{stem}.log"):
            return (folder / f"run_{stem}.log").read_text().strip(), 0
        seconds = time.perf_counter() - begin
        if not theirs.exists():
            self.compiler.run(["model_runner", "--model", model.name, "--input", source.name,
                               "--output", theirs.name], folder, f"vendor_{stem}.log")
        different = self.compiler.python(
            "import sys, numpy\n"
            "a, b = numpy.load(sys.argv[1]), numpy.load(sys.argv[2])\n"
            "for name in sorted(set(a) | set(b)):\n"
            "    if name not in a or name not in b: print(name, 'is missing')\n"
            "    elif a[name].dtype != b[name].dtype or a[name].shape != b[name].shape:\n"
            "        print(name, 'has another type or shape')\n"
            "    elif a[name].tobytes() != b[name].tobytes():\n"
            "        x, y = a[name].reshape(-1).view('u1'), b[name].reshape(-1).view('u1')\n"
            "        print(name, 'differs in', (x != y).sum(), 'of', x.size, 'bytes')\n",
            folder, ours, theirs).strip()
        replay = self.tools / f"{self.processor}-replay"
        if not different and self.replays and replay.exists():
            if not run([replay, self.library.resolve(), model, source], folder,
                       f"replay_{stem}.log"):
                different = f"single commands differ: replay_{stem}.log"
        return different, seconds

    def run(self, networks):
        failures = 0
        for name, onnx, shapes in map(parse_model, networks):
            for precision in self.precisions:
                try:
                    self.compiler.compile(name, onnx, shapes, precision)
                except Failure as failure:
                    print(f"{name} {precision}: {failure}", flush=True)
                    failures += 1
        # The vendor's compiler keeps a copy of each model in a folder of its own.
        models = sorted(m for m in self.compiler.work.glob("**/*.bmodel")
                        if m.stem != "compilation" and precision_of(m.stem) in self.precisions)
        for precision in set(self.precisions) - {precision_of(m.stem) for m in models}:
            print(f"{precision}: there is no model")
            failures += 1
        same = 0
        for model in models:
            try:
                different, seconds = self.compare(model)
            except Failure as failure:
                different, seconds = str(failure), 0
            same += not different
            print(f"{model.stem}: {different or 'the same bytes'} ({seconds:.2f} s)", flush=True)
        print(f"{same} of {len(models)} models have the vendor's bytes")
        return 1 if failures or same < len(models) or not models else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--vendor", required=True)
    parser.add_argument("--models", required=True)
    parser.add_argument("--tools", default="build/bin")
    parser.add_argument("--precisions", default=",".join(MODES))
    parser.add_argument("--processor", default="bm1684x")
    parser.add_argument("--replay", action="store_true",
                        help="also compare every command by itself, with build/bin/bm1684x-replay")
    parser.add_argument("networks", nargs="*")
    options = parser.parse_args()
    unknown = set(options.precisions.split(",")) - set(MODES)
    if unknown:
        parser.error(f"--precisions: unknown {', '.join(sorted(unknown))}; expected "
                     f"{', '.join(MODES)}")
    conformance = Conformance(options)
    if not conformance.compiler.is_there():
        print(f"vendor_models: error: no vendor's compiler in {options.vendor}; expected "
              "venv/bin/model_deploy there")
        return 1
    return conformance.run(options.networks)


if __name__ == "__main__":
    sys.exit(main())
