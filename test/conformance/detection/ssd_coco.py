#!/usr/bin/env python3
"""Boxes of SSD MobileNet v2 (COCO) with --add_postprocess, beside those of OpenCV's reader of the same graph.

usage: ssd_coco.py --tools BIN --work FOLDER GRAPH.pb GRAPH.pbtxt NET.onnx SCENES.npz [--chip NAME]

NET.onnx is GRAPH.pb without its ends: pictures [1, 3, 300, 300] of -1 to 1, four differences for each of 1917
priors, and 91 sigmoids. SCENES.npz has such pictures as `images`. Both sides take what is above a score of 0.3, and
suppress as the description says: 0.6 of the union, 100 boxes of a class and of all. A box is found where one of the
same class overlaps it by half of their union. Needs OpenCV of version 4, which reads such graphs, and numpy.
The status is 1 where more than one box in 100 of either side is none of the other's.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys

import cv2
import formulas
import numpy as np

SIDE = 300
SCORE = 0.3
OPTIONS = "swap_xy=true,nms_threshold=0.6,top_k=100,keep=100,score_threshold=0.3"


def run(*command):
    done = subprocess.run([str(each) for each in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode:
        sys.exit(done.stdout)
    return done.stdout


def of_opencv(reader, image):
    """Rows (class, score, x1, y1, x2, y2) in pixels."""
    reader.setInput(np.ascontiguousarray((image[None] + 1) * np.float32(127.5)))
    rows = reader.forward()[0, 0]
    rows = rows[rows[:, 2] > SCORE]
    return np.concatenate([rows[:, 1:3], rows[:, 3:] * SIDE], axis=1)


def of_ours(rows):
    rows = rows.reshape(-1, 7)
    rows = rows[rows[:, 2] > 0].astype(float)
    return np.concatenate([rows[:, 1:3], formulas.corners(*rows[:, 3:].T)], axis=1)


def answers(arguments, model, images):
    """Our boxes of each image, by one run of the program."""
    given, made = arguments.work / "in", arguments.work / "out"
    for folder in given, made:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    for number, image in enumerate(images):
        np.savez(given / f"{number:04}.npz", images=image[None])
    run(arguments.tools / "model_runner", "--model", model, "--input", given, "--output", made)
    found = []
    for name in sorted(made.iterdir()):
        with np.load(name) as arrays:
            found.append(of_ours(arrays["detections"]))
    if len(found) != len(images):
        sys.exit(f"{made}: {len(found)} answers; expected {len(images)}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--chip", help="also run files for this chip, in F16")
    parser.add_argument("files", nargs=4, metavar="FILE")
    parser.add_argument("--scenes", type=int, default=100)
    arguments = parser.parse_args()
    graph, text, network, scenes = arguments.files
    arguments.work.mkdir(parents=True, exist_ok=True)
    module = arguments.work / "ssd.mlir"
    print(run(arguments.tools / "model_transform", "--model_def", network, "--mlir", module, "--add_postprocess", "ssd",
              "--postprocess_options", OPTIONS).splitlines()[0])
    models = {"F32, interpreter": module}
    if arguments.chip:
        models["F16, file"] = arguments.work / "ssd.bmodel"
        run(arguments.tools / "model_deploy", "--mlir", module, "--quantize", "F16", "--chip", arguments.chip,
            "--model", models["F16, file"])
    reader = cv2.dnn.readNetFromTensorflow(graph, text)
    images = np.load(scenes)["images"][:arguments.scenes]
    theirs = [of_opencv(reader, image) for image in images]
    failed = False
    for name, model in models.items():
        total, counts = np.zeros(2, int), np.zeros((2, 3), int)
        for reference, ours in zip(theirs, answers(arguments, model, images)):
            total += len(reference), len(ours)
            for column, least in enumerate((0.5, 0.9, 0.999)):
                counts[0, column] += formulas.matched(reference, ours, least)
                counts[1, column] += formulas.matched(ours, reference, least)
        print(f"{name}: {len(images)} scenes; of {total[0]} boxes of OpenCV we find {counts[0, 0]} (IoU 0.5), "
              f"{counts[0, 1]} (0.9), {counts[0, 2]} (0.999); of our {total[1]} it finds {counts[1, 0]}, "
              f"{counts[1, 1]}, {counts[1, 2]}")
        failed |= (counts[:, 0] * 100 < total * 99).any() or total[0] == 0
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
