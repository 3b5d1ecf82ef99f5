#!/usr/bin/env python3
"""How many objects detectors find as in float, in INT8 with default options and with --strict_int8.

usage: detections.py BUILD FOLDER WEIGHTS.npz [--limit N] [--seeds S ...]
WEIGHTS.npz is what `shapes_detector.py train` wrote; FOLDER holds what is made on the way. Both forms
of the network are measured on N pictures (40) of each seed (8, 9, 10): one output, and boxes and scores
by themselves. Prints for each kind of integers how many of float's objects the model file finds with
their class at IoU 0.5 and 0.9, and of the seeds the least and the most. Then come how many it finds that
float has not, and its cycles over those of --strict_int8.
Needs numpy, onnx and onnxruntime.
"""

import argparse
import glob
import json
import os
import subprocess
import sys

import numpy as np
import onnxruntime

from boxes import CLOSE, NEAR, matched, objects

HERE = os.path.dirname(os.path.abspath(__file__))
SHAPES = f"{HERE}/shapes_detector.py"


def call(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        sys.exit(f"detections.py: {' '.join(command)}:\n{done.stdout}")


class Figures:
    """Counts of objects: wanted, found as wanted at both overlaps, and all that were found."""

    def __init__(self):
        self.wanted = self.near = self.close = self.found = 0

    def add(self, wanted, found):
        self.wanted += len(wanted)
        self.near += matched(wanted, found, NEAR)
        self.close += matched(wanted, found, CLOSE)
        self.found += len(found)

    def shares(self):
        return 100 * self.near / self.wanted, 100 * self.close / self.wanted


def prepare(options, form, tools):
    """Exports and calibrates a form of the network; the session that computes it in float."""
    stem = f"{options.folder}/{form}"
    call(sys.executable, SHAPES, "export", options.weights, f"{stem}.onnx",
         *(["--separate"] if form == "separate" else []))
    call(f"{tools}/model_transform", "--model_name", form, "--model_def", f"{stem}.onnx", "--mlir", f"{stem}.mlir")
    call(f"{tools}/run_calibration", f"{stem}.mlir", "--dataset", f"{options.folder}/calibration", "--input_num",
         "60", "-o", f"{stem}.table")
    return onnxruntime.InferenceSession(f"{stem}.onnx")


def deploy(options, form, kind, policy, tools):
    """Writes the model file; its folder and the summary."""
    out = f"{options.folder}/{form}_{kind}_{policy}"
    os.makedirs(out, exist_ok=True)
    call(f"{tools}/model_deploy", "--mlir", f"{options.folder}/{form}.mlir", "--quantize", "INT8", "--chip", "bm1684x",
         "--calibration_table", f"{options.folder}/{form}.table", "--model", f"{out}/m.bmodel", "--json",
         f"{out}/summary.json", *(["--asymmetric"] if kind == "asym" else []),
         *(["--strict_int8"] if policy == "strict" else []))
    with open(f"{out}/summary.json", encoding="utf-8") as file:
        return out, json.load(file)


def measure(out, names, folder, floats, tools):
    """The figures of the model file in `out` on the pictures of `folder`, whose objects in float these are."""
    call(f"{tools}/model_runner", "--model", f"{out}/m.bmodel", "--data_list", f"{folder}.list", "--output",
         f"{out}/{os.path.basename(folder)}")
    figures = Figures()
    for name, wanted in floats.items():
        arrays = np.load(f"{out}/{os.path.basename(folder)}/{name}")
        figures.add(wanted, objects([arrays[each] for each in names]))
    return figures


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build")
    parser.add_argument("folder")
    parser.add_argument("weights")
    parser.add_argument("--limit", type=int, default=40)
    parser.add_argument("--seeds", type=int, nargs="+", default=[8, 9, 10])
    options = parser.parse_args()
    tools, folder = f"{options.build}/bin", options.folder
    call(sys.executable, SHAPES, "pictures", f"{folder}/calibration", "60", "7")
    tests = [f"{folder}/test{seed}" for seed in options.seeds]
    for seed, test in zip(options.seeds, tests):
        call(sys.executable, SHAPES, "pictures", test, str(options.limit), str(seed))
        with open(f"{test}.list", "w", encoding="utf-8") as file:
            file.writelines(f"{os.path.abspath(path)}\n" for path in sorted(glob.glob(f"{test}/*.npz"))[:options.limit])
    for form in ("one", "separate"):
        session = prepare(options, form, tools)
        names = [output.name for output in session.get_outputs()]
        floats = {test: {os.path.basename(path): objects(session.run(None, {"images": np.load(path)["images"]}))
                         for path in sorted(glob.glob(f"{test}/*.npz"))[:options.limit]} for test in tests}
        for kind in ("sym", "asym"):
            strict = 0
            for policy in ("strict", "default"):
                out, summary = deploy(options, form, kind, policy, tools)
                cycles = summary["model_file"]["cycles"]
                strict = strict or cycles
                seeds = [measure(out, names, test, floats[test], tools) for test in tests]
                whole = Figures()
                for count in ("wanted", "near", "close", "found"):
                    setattr(whole, count, sum(getattr(seed, count) for seed in seeds))
                shares = " ".join(
                    f"IoU {least} {share:.1f} % ({min(each):.1f} to {max(each):.1f})," for least, share, each in
                    zip((NEAR, CLOSE), whole.shares(), zip(*(seed.shares() for seed in seeds))))
                print(f"{form:9} {kind:5} {policy:8} objects {whole.wanted}, {shares} others "
                      f"{whole.found - whole.near}, cycles {cycles / strict:.3f}", flush=True)


if __name__ == "__main__":
    main()
