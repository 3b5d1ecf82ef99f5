#!/usr/bin/env python3
"""What run_calibration costs beside TPU-MLIR's, and whether its table is the same every time.

usage: compare.py BUILD [MODEL.onnx [PICTURES]]
MODEL is cls.onnx of the folder TPUC_MODELS by default. The samples are 100 random crops of the
pictures in the folder PICTURES, by default those of the package scikit-image. With TPUC_VENDOR_DIR
(a Python environment in which TPU-MLIR is installed, below `venv`) its run_calibration works on the
same module options and the same crops, with its method kl.
Needs numpy, onnx and opencv.
"""

import glob
import os
import subprocess
import sys
import tempfile

import cv2
import numpy as np
import onnx

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "model_transform"))
import compare as transform_bench

SAMPLES = 100
PREPROCESS = ["--mean", "127.5,127.5,127.5", "--scale", "0.0078431,0.0078431,0.0078431", "--pixel_format", "rgb"]
METHODS = ["kl", "auto", "max", "mse"]


def pictures(folder):
    if not folder:
        import skimage
        folder = os.path.join(os.path.dirname(skimage.__file__), "data")
    found = []
    for path in sorted(glob.glob(os.path.join(folder, "**", "*"), recursive=True)):
        if path.lower().endswith((".png", ".jpg", ".jpeg", ".tiff", ".bmp")):
            picture = cv2.imread(path, cv2.IMREAD_COLOR)
            if picture is not None and min(picture.shape[:2]) >= 64:
                found.append(picture)
    if not found:
        sys.exit(f"bench calibration: no pictures in {folder}")
    return found


def write_crops(folder, height, width, originals):
    rng = np.random.default_rng(1)
    for i in range(SAMPLES):
        picture = originals[i % len(originals)]
        size = rng.uniform(0.4, 1.0)
        rows = max(1, int(picture.shape[0] * size))
        columns = max(1, min(picture.shape[1], int(rows * width / height)))
        top = rng.integers(0, picture.shape[0] - rows + 1)
        left = rng.integers(0, picture.shape[1] - columns + 1)
        crop = picture[top:top + rows, left:left + columns]
        cv2.imwrite(f"{folder}/{i:03}.png", cv2.resize(crop, (width, height)))


def table(path):
    """The lines behind the one with the time."""
    with open(path, encoding="utf-8") as file:
        return file.read().split("\n", 1)[1]


def main():
    build = os.path.abspath(sys.argv[1])
    model = sys.argv[2] if len(sys.argv) > 2 else os.path.join(os.environ.get("TPUC_MODELS", ""), "cls.onnx")
    if not os.path.exists(model):
        sys.exit("bench calibration: no model; name an .onnx file, or the folder of cls.onnx in TPUC_MODELS")
    model = os.path.abspath(model)
    stem = os.path.splitext(os.path.basename(model))[0]
    (_, dims, _), *others = transform_bench.input_infos(onnx.load(model, load_external_data=False), stem)
    if others or len(dims) != 4:
        sys.exit(f"bench calibration: {model}: expected one input of rank 4")
    arguments = ["--model_name", stem, "--model_def", model, "--input_shapes",
                 "[[%s]]" % ",".join(map(str, dims)), *PREPROCESS, "--mlir", "m.mlir"]
    originals = pictures(sys.argv[3] if len(sys.argv) > 3 else None)
    vendor = os.environ.get("TPUC_VENDOR_DIR", "")
    with tempfile.TemporaryDirectory() as work:
        os.mkdir(f"{work}/crops")
        write_crops(f"{work}/crops", dims[2], dims[3], originals)
        subprocess.run([f"{build}/bin/model_transform", *arguments], cwd=work, check=True,
                       stdout=subprocess.DEVNULL)
        print(f"{stem}: {SAMPLES} samples of {dims}")
        tool = f"{build}/bin/run_calibration"
        ours = {}
        for method in METHODS:
            command = [tool, "m.mlir", "--dataset", "crops", "--cali_method", method, "-o", f"{method}.cali"]
            ours[method] = transform_bench.measure([*command, "--num_threads", "1"], work, os.environ["PATH"])
            same = []
            for threads in ("1", "2", "5"):
                subprocess.run([*command[:-1], "again.cali", "--num_threads", threads], cwd=work,
                               check=True, stdout=subprocess.DEVNULL)
                same.append(table(f"{work}/again.cali") == table(f"{work}/{method}.cali"))
            print(f"{method:8} {ours[method][0]:7.2f} cpu s {ours[method][1]:6.0f} MB  "
                  f"{'the same table with 1, 2 and 5 threads' if all(same) else 'TABLES DIFFER'}", flush=True)
            if ours[method][2] or not all(same):
                sys.exit(ours[method][2] or 1)
        if vendor:
            os.mkdir(f"{work}/peer")
            tools = os.path.join(vendor, "venv", "bin")
            path = tools + os.pathsep + os.environ["PATH"]
            made = transform_bench.measure([f"{tools}/model_transform", *arguments], f"{work}/peer", path)
            peer = made if made[2] else transform_bench.measure(
                [f"{tools}/run_calibration", "m.mlir", "--dataset", "../crops", "--input_num", str(SAMPLES),
                 "-o", "peer.cali"], f"{work}/peer", path)
            if peer[2]:
                sys.exit(f"the peer fails: {peer[2]}")
            print(f"peer kl  {peer[0]:7.2f} cpu s {peer[1]:6.0f} MB")
            for method in METHODS:
                print(f"{method:8} {ours[method][0] / peer[0]:7.3f} of its cpu s {ours[method][1] / peer[1]:6.3f} of its memory")


if __name__ == "__main__":
    main()
