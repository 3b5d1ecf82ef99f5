#!/usr/bin/env python3
"""How many objects detectors find as in float, in INT8 with default options and with --strict_int8.

usage: detections.py BUILD FOLDER WEIGHTS.npz [--limit N]
WEIGHTS.npz is what `shapes_detector.py train` wrote; FOLDER holds what is made on the way. Both forms
of the network are measured on N pictures (20): one output, and boxes and scores by themselves. Prints
for each kind of integers how many of float's objects are found with their class at IoU 0.5 and 0.9,
how many are found that float has not, and the cycles over those of --strict_int8.
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

HERE = os.path.dirname(os.path.abspath(__file__))
LEAST_SCORE, MOST_OVERLAP = 0.25, 0.5


def call(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        sys.exit(f"detections.py: {' '.join(command)}:\n{done.stdout}")


def overlaps(box, boxes):
    """IoU of a box with each of others, as centre and size."""
    low = np.maximum(box[:2] - box[2:4] / 2, boxes[:, :2] - boxes[:, 2:4] / 2)
    high = np.minimum(box[:2] + box[2:4] / 2, boxes[:, :2] + boxes[:, 2:4] / 2)
    shared = np.prod(np.maximum(high - low, 0), axis=1)
    return shared / np.maximum(box[2] * box[3] + boxes[:, 2] * boxes[:, 3] - shared, 1e-9)


def objects(outputs):
    """Rows of centre, size, class, of what is left when each object is taken once."""
    rows = np.concatenate([array[0] for array in outputs]).T
    score, kind = rows[:, 4:].max(axis=1), rows[:, 4:].argmax(axis=1)
    found = []
    for i in np.argsort(-score, kind="stable"):
        if score[i] < LEAST_SCORE:
            break
        box = np.array([*rows[i, :4], kind[i]])
        if not any(kind[i] == other[4] and overlaps(box, other[None])[0] > MOST_OVERLAP for other in found):
            found.append(box)
    return np.array(found).reshape(-1, 5)


def matched(wanted, found, least):
    """How many of the wanted objects are found, each by one of equal class."""
    left, count = list(range(len(found))), 0
    for box in wanted:
        same = [i for i in left if found[i][4] == box[4]]
        if same:
            iou = overlaps(box, found[same])
            if iou.max() >= least:
                left.remove(same[int(iou.argmax())])
                count += 1
    return count


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build")
    parser.add_argument("folder")
    parser.add_argument("weights")
    parser.add_argument("--limit", type=int, default=20)
    options = parser.parse_args()
    tools, folder = f"{options.build}/bin", options.folder
    shapes = f"{HERE}/shapes_detector.py"
    for name, count, seed in (("calibration", 60, 7), ("test", options.limit, 8)):
        call(sys.executable, shapes, "pictures", f"{folder}/{name}", str(count), str(seed))
    for form in ("one", "separate"):
        stem = f"{folder}/{form}"
        call(sys.executable, shapes, "export", options.weights, f"{stem}.onnx",
             *(["--separate"] if form == "separate" else []))
        call(f"{tools}/model_transform", "--model_name", form, "--model_def", f"{stem}.onnx", "--mlir",
             f"{stem}.mlir")
        call(f"{tools}/run_calibration", f"{stem}.mlir", "--dataset", f"{folder}/calibration", "--input_num",
             "60", "-o", f"{stem}.table")
        session = onnxruntime.InferenceSession(f"{stem}.onnx")
        names = [output.name for output in session.get_outputs()]
        pictures = sorted(glob.glob(f"{folder}/test/*.npz"))[:options.limit]
        floats = [objects(session.run(None, {"images": np.load(p)["images"]})) for p in pictures]
        for kind in ("sym", "asym"):
            strict = 0
            for policy in ("strict", "default"):
                out = f"{folder}/{form}_{kind}_{policy}"
                os.makedirs(out, exist_ok=True)
                call(f"{tools}/model_deploy", "--mlir", f"{stem}.mlir", "--quantize", "INT8", "--chip", "bm1684x",
                     "--calibration_table", f"{stem}.table", "--model", f"{out}/m.bmodel", "--json",
                     f"{out}/summary.json", *(["--asymmetric"] if kind == "asym" else []),
                     *(["--strict_int8"] if policy == "strict" else []))
                with open(f"{out}/summary.json", encoding="utf-8") as file:
                    cycles = json.load(file)["model_file"]["cycles"]
                strict = strict or cycles
                total = found = close = near = 0
                for picture, wanted in zip(pictures, floats):
                    call(f"{tools}/model_runner", "--model", f"{out}/{form}_bm1684x_int8_{kind}_tpu.mlir", "--input",
                         picture, "--output", f"{out}/out.npz")
                    arrays = np.load(f"{out}/out.npz")
                    made = objects([arrays[name] for name in names])
                    total, found = total + len(wanted), found + len(made)
                    near += matched(wanted, made, 0.5)
                    close += matched(wanted, made, 0.9)
                print(f"{form:9} {kind:5} {policy:8} objects {total}, IoU 0.5 {100 * near / total:.1f} %, "
                      f"IoU 0.9 {100 * close / total:.1f} %, others {found - near}, cycles {cycles / strict:.3f}",
                      flush=True)


if __name__ == "__main__":
    main()
