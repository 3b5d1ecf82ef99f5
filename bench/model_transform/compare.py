#!/usr/bin/env python3
"""What model_transform costs, with validation by itself, beside TPU-MLIR's.

usage: compare.py BUILD [MODEL.onnx ...]
Without models, those of the folder TPUC_MODELS. With TPUC_VENDOR_DIR (a Python environment in which
TPU-MLIR is installed, below `venv`) its model_transform runs the same model on the same input.
Per model: CPU seconds and peak memory of both, their ratios, and the smallest cosine of an output
of the optimized module (model_runner) against ONNX Runtime.
The input is NAME_in.npz beside NAME.onnx where that is, else random. Open dimensions are bound: the
batch to 1, others to SIZES.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from measured import measure  # noqa: E402

# Height and width of networks that leave them open, by their file's name.
SIZES = {"det": (640, 640), "rec": (48, 320), "cls": (48, 192), "pnet": (40, 40)}


# ONNX Runtime's names of element types that numpy calls otherwise.
NUMPY_TYPES = {"float": "float32", "double": "float64"}


def input_infos(path, stem):
    """(name, shape, numpy type) of each input that is no initializer."""
    infos = []
    for each in onnxruntime.InferenceSession(path).get_inputs():
        dims = [extent if isinstance(extent, int) and extent > 0 else 0 for extent in each.shape]
        if dims and dims[0] == 0:
            dims[0] = 1
        sizes = iter(SIZES.get(stem, ()))
        dims = [d or next(sizes, 1) for d in dims]
        kind = each.type.removeprefix("tensor(").removesuffix(")")
        infos.append((each.name, dims, np.dtype(NUMPY_TYPES.get(kind, kind))))
    return infos


def sample(infos):
    rng = np.random.default_rng(0)
    return {name: rng.integers(0, 256, dims).astype(kind) if kind.kind in "iu"
            else rng.random(dims, np.float32).astype(kind) for name, dims, kind in infos}


def smallest_cosine(build, path, inputs, folder, module):
    subprocess.run([f"{build}/bin/model_runner", "--model", module, "--input", "in.npz",
                    "--output", "out.npz"], cwd=folder, check=True)
    session = onnxruntime.InferenceSession(path)
    names = [each.name for each in session.get_outputs()]
    worst = 1.0
    with np.load(f"{folder}/out.npz") as found:
        for name, expected in zip(names, session.run(names, inputs)):
            a, b = found[name].astype(np.float64).ravel(), np.asarray(expected, np.float64).ravel()
            scale = np.linalg.norm(a) * np.linalg.norm(b)
            worst = min(worst, float(a @ b / scale) if scale else float(np.array_equal(a, b)))
    return worst


def main():
    build = os.path.abspath(sys.argv[1])
    models = sys.argv[2:]
    folder = os.environ.get("TPUC_MODELS", "")
    if not models and folder:
        models = sorted(os.path.join(folder, each) for each in os.listdir(folder) if each.endswith(".onnx"))
    if not models:
        sys.exit("bench model_transform: no models; name .onnx files, or their folder in TPUC_MODELS")
    vendor = os.environ.get("TPUC_VENDOR_DIR", "")
    print(f"{'model':20} {'cpu s':>7} {'MB':>6} {'cosine':>9} {'peer s':>7} {'MB':>6} {'cpu':>6} {'memory':>6}")
    for path in map(os.path.abspath, models):
        stem = os.path.splitext(os.path.basename(path))[0]
        infos = input_infos(path, stem)
        given = os.path.splitext(path)[0] + "_in.npz"
        inputs = dict(np.load(given)) if os.path.exists(given) else sample(infos)
        shapes = "[%s]" % ",".join("[%s]" % ",".join(map(str, dims)) for _, dims, _ in infos)
        arguments = ["--model_name", stem, "--model_def", path, "--input_shapes", shapes,
                     "--test_input", "in.npz", "--test_result", "out_top.npz", "--mlir", "m.mlir"]
        with tempfile.TemporaryDirectory() as work:
            np.savez(f"{work}/in.npz", **inputs)
            # Validation by itself, as the peer's: no ONNX Runtime in a process of its own.
            ours = measure([f"{build}/bin/model_transform", "--python", "/nowhere", *arguments], work,
                           os.environ["PATH"])
            if ours[2]:
                print(f"{stem:20} {ours[2]}", flush=True)
                continue
            cosine = smallest_cosine(build, path, inputs, work, "m.mlir")
            line = f"{stem:20} {ours[0]:7.2f} {ours[1]:6.0f} {cosine:9.7f}"
            if vendor:
                os.mkdir(f"{work}/peer")
                np.savez(f"{work}/peer/in.npz", **inputs)
                tools = os.path.join(vendor, "venv", "bin")
                peer = measure([f"{tools}/model_transform", *arguments], f"{work}/peer",
                               tools + os.pathsep + os.environ["PATH"])
                line += f" {peer[0]:7.2f} {peer[1]:6.0f} {ours[0] / peer[0]:6.3f} {ours[1] / peer[1]:6.3f}"
                line += f"  the peer fails: {peer[2]}" if peer[2] else ""
            print(line, flush=True)


if __name__ == "__main__":
    main()
