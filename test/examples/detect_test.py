#!/usr/bin/env python3
"""detect_test.py BIN DETECT DETECT_C: examples/detect on a detector of random weights.

Both programs run one file of the chip on one picture. Their boxes are those of formulas on the maps that ONNX
Runtime makes of the same bytes, and the frames stand in the pictures that they write.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import cv2
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "conformance" / "detection"))
import detection
import formulas
import networks

LINE = re.compile(r"class (\d+), score ([\d.]+), x (\S+), y (\S+), width (\S+), height (\S+)")


def run(*command):
    done = subprocess.run([str(each) for each in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode:
        sys.exit(f"{command[0]}: {done.stdout}")
    return done.stdout


def boxes_of(text):
    return np.array([[float(each) for each in line.groups()] for line in LINE.finditer(text)]).reshape(-1, 6)


def check(found, expected, what):
    if len(found) != len(expected) or len(found) < 3:
        sys.exit(f"{what}: {len(found)} boxes, expected {len(expected)}, 3 at least")
    for row, other in zip(found, expected):
        box = np.clip(other[2:6], 0, [192, 128] * 2) if what == "detect" else other[2:6]
        box = [box[0], box[1], box[2] - box[0], box[3] - box[1]]
        if row[0] != other[0] or abs(row[1] - other[1]) > 2e-4 or np.abs(row[2:] - box).max() > 0.2:
            sys.exit(f"{what}: {row}, expected {other}")


def refused(command, expected):
    done = subprocess.run([str(each) for each in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode != 1 or len(done.stdout.splitlines()) != 1 or expected not in done.stdout:
        sys.exit(f"{command}: {done.returncode}, {done.stdout}; expected {expected}")


def main(tools, detect, detect_c):
    tools = pathlib.Path(tools)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        net, _ = networks.build("yolov5", "permuted", folder / "net.onnx", bias=-1.0)
        noise = detection.picture(net, 7)[0]
        picture = np.clip(noise * 40 + 128, 0, 255).astype(np.uint8).transpose(1, 2, 0)
        cv2.imwrite(str(folder / "in.png"), picture)
        (folder / "in.ppm").write_bytes(b"P6\n# a comment\n192 128\n255\n" + picture[..., ::-1].tobytes())
        run(tools / "model_transform", "--model_def", folder / "net.onnx", "--mlir", folder / "net.mlir",
            "--pixel_format", "bgr", "--mean", "128,128,128", "--scale", "0.025,0.025,0.025", "--add_postprocess",
            "yolov5", "--postprocess_options", "keep=20")
        for order in ("BGR", "RGB"):
            run(tools / "model_deploy", "--mlir", folder / "net.mlir", "--quantize", "F32", "--chip", "bm1684x",
                "--model", folder / f"{order}.bmodel", "--fuse_preprocess", "--customization_format",
                f"{order}_PACKED")
        blob = ((picture.astype(np.float32) - 128) * np.float32(0.025)).transpose(2, 0, 1)[None]
        maps, _ = detection.Bench.raw_maps(net, folder, blob)
        expected, _ = formulas.detect(net, maps, 0, {"keep": 20})
        check(boxes_of(run(detect, folder / "BGR.bmodel", folder / "in.png", folder / "out.png")), expected, "detect")
        check(boxes_of(run(detect_c, folder / "RGB.bmodel", folder / "in.ppm", folder / "out.ppm")), expected,
              "detect_c")
        for out in ("out.png", "out.ppm"):
            drawn = cv2.imread(str(folder / out))
            changed = (drawn != picture).any(-1)
            if drawn.shape != picture.shape or not 50 < changed.sum() < changed.size:
                sys.exit(f"{out}: {changed.sum()} pixels are drawn")
        # A larger picture of another shape: what was found lies where it lay.
        tall = np.full((400, 400, 3), 114, np.uint8)
        tall[66:333] = cv2.resize(picture, (400, 267))
        cv2.imwrite(str(folder / "tall.png"), tall)
        run(detect, folder / "BGR.bmodel", folder / "tall.png", folder / "out.png")
        if cv2.imread(str(folder / "out.png")).shape != tall.shape:
            sys.exit("out.png: is no picture of the same extents")
        # With integers some scores change places, which is no reason to refuse the file.
        (folder / "samples").mkdir()
        for seed in range(3):
            np.savez(folder / "samples" / f"{seed}.npz", x=detection.picture(net, seed))
        run(tools / "run_calibration", folder / "net.mlir", "--dataset", folder / "samples", "--input_num", 3, "-o",
            folder / "table")
        run(tools / "model_deploy", "--mlir", folder / "net.mlir", "--quantize", "INT8", "--chip", "bm1684x", "--model",
            folder / "int8.bmodel", "--calibration_table", folder / "table", "--test_input",
            folder / "samples" / "1.npz")
        refused((detect, folder / "BGR.bmodel", folder / "net.onnx", folder / "no.png"), "cannot be read as a picture")
        refused((detect, folder / "BGR.bmodel", folder / "none.png", folder / "no.png"), "cannot be read as a picture")
        refused((detect, folder / "net.onnx", folder / "in.png", folder / "no.png"), "error: ")
        refused((detect_c, folder / "RGB.bmodel", folder / "in.png", folder / "no.ppm"), "is no PPM picture")
        refused((detect, folder / "RGB.bmodel", folder / "in.png", folder / "no.png"), "of another format")
        refused((detect_c, folder / "BGR.bmodel", folder / "in.ppm", folder / "no.ppm"),
                f"error: {folder}/BGR.bmodel: net 'net', stage 0: x_raw: RGB_PACKED pictures, 128 rows of 192 pixels; "
                "expected BGR_PACKED pictures, 128 rows of 192")
        refused((detect_c, folder / "none.bmodel", folder / "in.ppm", folder / "no.ppm"),
                f"error: {folder}/none.bmodel: ")
        if (folder / "no.png").exists():
            sys.exit("no.png: was written")
    print("the same boxes")


if __name__ == "__main__":
    main(*sys.argv[1:])
