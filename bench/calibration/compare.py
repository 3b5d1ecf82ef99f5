#!/usr/bin/env python3
"""What run_calibration costs beside TPU-MLIR's, and whether its table is the same every time.

usage: compare.py BUILD [--smoke | MODEL ...]
MODELs are names of MODELS, by default all of which the folder TPUC_MODELS has the .onnx file. The
samples are 100 random crops of the photographs of ../accuracy/prepare.py, which fetches them into
TPUC_ACCURACY_DATA, by default BUILD/accuracy. With TPUC_VENDOR_DIR (a Python environment in which
TPU-MLIR is installed, below `venv`) its run_calibration works on the same module options and the
same crops, with its method kl; without it, RECORDED stands in.
--smoke is the network of test/models on four random samples, without TPU-MLIR.
Needs numpy, onnx, opencv and pillow; --smoke needs numpy and onnxruntime.
"""

import os
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "model_transform"), os.path.join(HERE, "..", "accuracy")]
import compare as transform_bench

SAMPLES = 100
PREPROCESS = ["--mean", "127.5,127.5,127.5", "--scale", "0.0078431,0.0078431,0.0078431", "--pixel_format", "rgb"]
# model: height and width of its input.
MODELS = {"cls": (48, 192), "efficientnet_lite0": (224, 224), "rec": (48, 320), "det": (640, 640)}
# CPU seconds and MB of TPU-MLIR 1.30.2, kl, 100 samples, where it is not run beside.
RECORDED = {"cls": (11.5, 495), "efficientnet_lite0": (22, 750), "rec": (86, 976)}
# Where TPU-MLIR takes minutes and gigabytes only our memory is measured.
MOST_MEMORY = {"det": 1000}
# The table is the same with each of these.
THREADS = (1, 2, 5)
# method: the largest part of TPU-MLIR's CPU seconds and of its memory that it may take.
DEMANDED = {"kl": (0.2, 0.5), "auto": (0.5, 0.5), "max": (0.5, 0.5), "mse": (0.5, 0.5)}


def write_crops(folder, tree, height, width):
    import cv2
    import prepare

    part = prepare.Part(tree, 0)
    os.mkdir(folder)
    for i in range(SAMPLES):
        cv2.imwrite(f"{folder}/{i:03}.png", part.crop(height, width))


def table(path):
    """The lines behind the one with the time."""
    with open(path, encoding="utf-8") as file:
        return file.read().split("\n", 1)[1]


def calibrate(build, work, method, threads, out):
    """(CPU seconds, peak MB) of a run."""
    seconds, memory, failed = transform_bench.measure(
        [f"{build}/bin/run_calibration", "m.mlir", "--dataset", "crops", "--cali_method", method, "-o", out,
         "--num_threads", str(threads)], work, os.environ["PATH"])
    if failed:
        sys.exit(failed)
    return seconds, memory


def calibrate_often(build, work, method):
    """(CPU seconds, peak MB) of a run; ends where a run with more threads has another table."""
    cost = calibrate(build, work, method, 1, f"{method}.cali")
    for threads in THREADS:
        calibrate(build, work, method, threads, "again.cali")
        if table(f"{work}/again.cali") != table(f"{work}/{method}.cali"):
            sys.exit(f"  {method}: another table with {threads} threads")
    return cost


def calibrate_peer(vendor, work, arguments):
    """(CPU seconds, peak MB) of TPU-MLIR."""
    os.mkdir(f"{work}/peer")
    tools = os.path.join(vendor, "venv", "bin")
    path = tools + os.pathsep + os.environ["PATH"]
    made = transform_bench.measure([f"{tools}/model_transform", *arguments], f"{work}/peer", path)
    done = made if made[2] else transform_bench.measure(
        [f"{tools}/run_calibration", "m.mlir", "--dataset", "../crops", "--input_num", str(SAMPLES),
         "-o", "peer.cali"], f"{work}/peer", path)
    if done[2]:
        sys.exit(f"the peer fails: {done[2]}")
    return done[:2]


def verdict(value, most):
    return f"{value:7.3f} (at most {most}) {'met' if value <= most else 'NOT MET'}"


def bench(build, model, onnx, tree, vendor):
    """Prints the table of a model."""
    height, width = MODELS[model]
    arguments = ["--model_name", model, "--model_def", onnx, "--input_shapes", f"[[1,3,{height},{width}]]",
                 *PREPROCESS, "--mlir", "m.mlir"]
    with tempfile.TemporaryDirectory() as work:
        write_crops(f"{work}/crops", tree, height, width)
        subprocess.run([f"{build}/bin/model_transform", *arguments], cwd=work, check=True, stdout=subprocess.DEVNULL)
        print(f"{model}: {SAMPLES} samples of {height} x {width}")
        if model in MOST_MEMORY:
            seconds, memory = calibrate(build, work, "auto", 1, "auto.cali")
            print(f"  auto     {seconds:7.2f} cpu s, {memory:5.0f} MB: {verdict(memory, MOST_MEMORY[model])}", flush=True)
            return
        peer = calibrate_peer(vendor, work, arguments) if vendor else RECORDED[model]
        print(f"  TPU-MLIR {peer[0]:7.2f} cpu s, {peer[1]:5.0f} MB{'' if vendor else ' (recorded)'}", flush=True)
        for method, (part, memory_part) in DEMANDED.items():
            seconds, memory = calibrate_often(build, work, method)
            print(f"  {method:8} {seconds:7.2f} cpu s, {memory:5.0f} MB; of TPU-MLIR's: "
                  f"time {verdict(seconds / peer[0], part)}, memory {verdict(memory / peer[1], memory_part)}", flush=True)
        print(f"  the same tables again with {', '.join(map(str, THREADS))} threads")


def smoke(build):
    """Prints a table in seconds: no vendor, no photographs."""
    with tempfile.TemporaryDirectory() as work:
        os.mkdir(f"{work}/crops")
        rng = np.random.default_rng(0)
        for i in range(4):
            np.savez(f"{work}/crops/{i}.npz", Input3=rng.uniform(0, 255, (1, 1, 28, 28)).astype(np.float32))
        subprocess.run([f"{build}/bin/model_transform", "--model_def", f"{HERE}/../../test/models/mnist-conv.onnx",
                        "--mlir", "m.mlir"], cwd=work, check=True, stdout=subprocess.DEVNULL)
        print("mnist-conv: 4 samples of 28 x 28, without TPU-MLIR")
        for method in DEMANDED:
            seconds, memory = calibrate_often(build, work, method)
            print(f"  {method:8} {seconds:7.2f} cpu s, {memory:5.0f} MB", flush=True)
        print(f"  the same tables again with {', '.join(map(str, THREADS))} threads")


def main():
    if sys.argv[2:] == ["--smoke"]:
        smoke(os.path.abspath(sys.argv[1]))
        return
    if not os.environ.get("TPUC_MODELS"):
        print("skipped: TPUC_MODELS names no folder of .onnx files")
        return
    build = os.path.abspath(sys.argv[1])
    if unknown := set(sys.argv[2:]) - set(MODELS):
        sys.exit(f"bench calibration: no model {', '.join(sorted(unknown))}; there are: {', '.join(MODELS)}")
    import prepare

    tree = prepare.fetch(os.path.join(os.environ.get("TPUC_ACCURACY_DATA", f"{build}/accuracy"), "packages"))
    for model in sys.argv[2:] or MODELS:
        onnx = os.path.abspath(os.path.join(os.environ["TPUC_MODELS"], f"{model}.onnx"))
        if os.path.exists(onnx):
            bench(build, model, onnx, tree, os.environ.get("TPUC_VENDOR_DIR", ""))
        else:
            print(f"{model}: skipped: no {onnx}")


if __name__ == "__main__":
    main()
