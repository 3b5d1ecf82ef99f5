#!/usr/bin/env python3
"""Runs model files that the vendor's compiler makes on the vendor's runtime and on ours.

usage: vendor_models.py --vendor DIR --models DIR [--tools DIR] [--precisions F32,F16,...]
                        [NAME=FILE.onnx:SHAPE ...]

--vendor      a folder with venv/bin/model_transform and so on, and wheel/tpu_mlir/lib (the PyPI
              package tpu-mlir 1.30.2, installed there)
--models      where the models go; those that are there already are not made again
--tools       our programs (default: build/bin)
NAME=...      networks to compile; without any, every *.bmodel below --models is run

For every model the outputs of both runners must have the same bytes, every command must come back
from its text with the same bits (model_tool --dump-commands checks that), and, where
bm1684x-replay is built, no command may differ by itself. Prints one line per model; the status is 1
when any differs. Exits with 0 and says so when the vendor's compiler is not there.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

CALIBRATION_SAMPLES = 4


def run(command, folder, log):
    with open(folder / log, "w") as out:
        return subprocess.run(command, cwd=folder, stdout=out, stderr=out).returncode == 0


class Conformance:
    def __init__(self, options):
        self.vendor = pathlib.Path(options.vendor).resolve()
        self.models = pathlib.Path(options.models).resolve()
        self.tools = pathlib.Path(options.tools).resolve()
        self.precisions = options.precisions.split(",")
        self.environment = dict(os.environ, PATH=f"{self.vendor}/venv/bin:{os.environ['PATH']}")

    def vendor_python(self, code, folder, *arguments):
        command = [str(self.vendor / "venv/bin/python"), "-c", code, *map(str, arguments)]
        return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout

    def vendor_run(self, command, folder, log):
        with open(folder / log, "w") as out:
            done = subprocess.run(command, cwd=folder, stdout=out, stderr=out, env=self.environment)
        return done.returncode == 0

    def compile(self, name, onnx, shape):
        folder = self.models / name
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / f"{name}.mlir").exists():
            self.vendor_run(["model_transform", "--model_name", name, "--model_def", onnx,
                             "--input_shapes", shape, "--mlir", f"{name}.mlir"], folder,
                            "transform.log")
        for precision in self.precisions:
            model = f"{name}_{precision}.bmodel"
            if (folder / model).exists():
                continue
            command = ["model_deploy", "--mlir", f"{name}.mlir", "--quantize", precision,
                       "--processor", "bm1684x", "--skip_validation", "--model", model]
            if precision == "INT8":
                self.calibrate(name, onnx, shape, folder)
                command += ["--calibration_table", "cali"]
            self.vendor_run(command, folder, f"deploy_{precision}.log")

    def calibrate(self, name, onnx, shape, folder):
        if (folder / "cali").exists():
            return
        self.vendor_python(
            "import json, os, sys, numpy, onnx\n"
            "shape = json.loads(sys.argv[2])[0]\n"
            "inputs = [i.name for i in onnx.load(sys.argv[1]).graph.input]\n"
            "random = numpy.random.default_rng(1)\n"
            "os.makedirs('calibration', exist_ok=True)\n"
            "for i in range(int(sys.argv[3])):\n"
            "    x = random.uniform(-1, 1, shape).astype('float32')\n"
            "    numpy.savez(f'calibration/{i}.npz', **{inputs[0]: x})\n",
            folder, onnx, shape, CALIBRATION_SAMPLES)
        self.vendor_run(["run_calibration", f"{name}.mlir", "--dataset", "calibration",
                         "--input_num", str(CALIBRATION_SAMPLES), "-o", "cali"], folder, "cali.log")

    def make_input(self, model, path):
        shown = subprocess.run([str(self.tools / "model_tool"), "--print", str(model)], check=True,
                               capture_output=True, text=True).stdout
        tensors = json.loads(shown)["nets"][0]["stages"][0]["inputs"]
        self.vendor_python(
            "import json, sys, numpy\n"
            "random = numpy.random.default_rng(3)\n"
            "numpy.savez(sys.argv[1], **{t['name']: random.uniform(-1, 1, t['shapes'][0])"
            ".astype('float32') for t in json.loads(sys.argv[2])})\n",
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
        if not theirs.exists() and not self.vendor_run(
                ["model_runner", "--model", model.name, "--input", source.name, "--output",
                 theirs.name], folder, f"vendor_{stem}.log"):
            return "the vendor's model_runner fails", seconds
        different = self.vendor_python(
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
        replay = self.tools / "bm1684x-replay"
        library = self.vendor / "wheel/tpu_mlir/lib/libcmodel_bm1684x.so"
        if not different and replay.exists():
            if not run([replay, library, model, source], folder, f"replay_{stem}.log"):
                different = f"single commands differ: replay_{stem}.log"
        return different, seconds

    def run(self, networks):
        for network in networks:
            name, _, rest = network.partition("=")
            onnx, _, shape = rest.rpartition(":")
            self.compile(name, str(pathlib.Path(onnx).resolve()), shape)
        failures = 0
        # The vendor's compiler keeps a copy of each model in a folder of its own.
        models = sorted(m for m in self.models.glob("**/*.bmodel") if m.stem != "compilation")
        for model in models:
            different, seconds = self.compare(model)
            failures += bool(different)
            print(f"{model.stem}: {different or 'the same bytes'} ({seconds:.2f} s)", flush=True)
        print(f"{len(models) - failures} of {len(models)} models have the vendor's bytes")
        return 1 if failures or not models else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--vendor", required=True)
    parser.add_argument("--models", required=True)
    parser.add_argument("--tools", default="build/bin")
    parser.add_argument("--precisions", default="F32,F16,BF16,INT8")
    parser.add_argument("networks", nargs="*")
    options = parser.parse_args()
    if not (pathlib.Path(options.vendor) / "venv/bin/model_runner").exists():
        print(f"skipped: no vendor's compiler in {options.vendor}")
        return 0
    return Conformance(options).run(options.networks)


if __name__ == "__main__":
    sys.exit(main())
