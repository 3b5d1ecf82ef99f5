#!/usr/bin/env python3
"""Whole networks on the simulated array against numpy's integers.

usage: dnnweaver.py --tools BIN --work FOLDER [NETWORK ...] [--seed N]

YOLOv2-tiny, YOLOv3-tiny (416 x 416), YOLOv4-tiny (480 x 352), a dense block, parts of images, and residual blocks
with layers for the host are written as ONNX by bench/dnnweaver/networks.py, and deployed in INT8 and INT16, each with and without zero points. Every map that
the file names is compared with reference.py, bit for bit. Each rewrite is left out once, and all of them.
Float outputs are compared with those of ONNX Runtime.
"""

import argparse
import pathlib
import subprocess
import sys

import numpy as np
import onnxruntime

import reference

HERE = pathlib.Path(__file__).resolve().parent
NETWORKS = ("mosaic", "residual", "dense_block", "yolov2_tiny", "yolov3_tiny", "yolov4_tiny")
KINDS = (("INT8", False), ("INT8", True), ("INT16", False), ("INT16", True))
REWRITES = ("fuse-pools", "exchange-concats", "share-regions", "join-branches", "pack-input", "fuse-copies",
            "search-loops", "pair-kernels")
# The least agreement of outputs with those of ONNX Runtime, as a cosine. Weights are random, so that rounding adds
# up over 21 layers, and some values of a sample lie outside of the ranges of two others.
COSINES = {"INT8": 0.97, "INT16": 0.9999}


class Tools:
    def __init__(self, folder, work):
        self.folder, self.work = folder, work

    def call(self, tool, *arguments):
        done = subprocess.run([self.folder / tool, *map(str, arguments)], cwd=self.work, capture_output=True,
                              text=True, check=False)
        if done.returncode:
            sys.exit(f"{tool} {' '.join(map(str, arguments))}: {done.stderr}{done.stdout}")
        return done.stdout


def prepare(tools, name, rng):
    """The Top module of a network, its table, and a sample that the table has not seen."""
    shape = onnxruntime.InferenceSession(tools.work / f"{name}.onnx").get_inputs()[0].shape
    samples = tools.work / f"{name}_samples"
    samples.mkdir(exist_ok=True)
    for i in range(2):
        np.save(samples / f"{i}.npy", rng.random(shape, np.float32))
    tools.call("model_transform", "--model_name", name, "--model_def", f"{name}.onnx", "--mlir", f"{name}.mlir")
    tools.call("run_calibration", f"{name}.mlir", "--dataset", samples, "--cali_method", "max", "-o", f"{name}.table")
    return rng.random(shape, np.float32)


def deploy(tools, name, chip, kind, zero_points, without=()):
    arguments = ["--mlir", f"{name}.mlir", "--chip", chip, "--quantize", kind, "--calibration_table", f"{name}.table",
                 "--model", f"{name}.tpum"]
    arguments += ["--asymmetric"] * zero_points + (["--without", ",".join(without)] if without else [])
    tools.call("model_deploy", *arguments)


def run(tools, name, values):
    np.savez(tools.work / "input.npz", **values)
    tools.call("model_runner", "--model", f"{name}.tpum", "--input", "input.npz", "--output", "output.npz",
               "--dump_all_tensors", "--out_fixed")
    return dict(np.load(tools.work / "output.npz"))


def compare(expected, got, outputs, what):
    """Every map of the network that the file names; those that rewrites have made are others."""
    common = [name for name in got if name in expected]
    for name in outputs:
        if name not in common:
            sys.exit(f"{what}: no output {name}")
    for name in common:
        want = expected[name].reshape(got[name].shape)
        if not np.array_equal(want, got[name]):
            differing = np.flatnonzero(want != got[name])
            sys.exit(f"{what}: {differing.size} of {want.size} integers of {name} differ, the first at {differing[0]}")
    return len(common), sum(got[name].size for name in common)


def cosine(a, b):
    a, b = a.ravel().astype(np.float64), b.ravel().astype(np.float64)
    return a @ b / np.sqrt((a @ a) * (b @ b))


def check_kind(tools, name, network, sample, floats, chip, kind, zero_points):
    bits = int(kind[3:])
    numbers = reference.Reference(network, bits, zero_points, "public" if chip.endswith("v2") else "patent")
    (scale, zero), (entry,) = numbers.scales[network.inputs[0]], network.inputs
    stored = np.clip(np.rint(sample / scale) + zero, numbers.least, numbers.most).astype(f"int{bits}")
    expected = None if any(map(reference.on_host, network.nodes)) else numbers.run({entry: stored})
    variants = [()]
    if (kind, zero_points) == ("INT8", True):
        variants += [(rewrite,) for rewrite in REWRITES] + [REWRITES]
    what = f"{name} on {chip} in {kind}{' with zero points' if zero_points else ''}"
    for without in variants:
        deploy(tools, name, chip, kind, zero_points, without)
        got = run(tools, name, {entry: stored})
        if expected is None:
            expected = numbers.run({entry: stored}, got)
        maps, integers = compare(expected, got, network.outputs, f"{what} without {','.join(without) or 'nothing'}")
        if not without:
            worst = min(cosine((got[o].astype(np.float64) - numbers.scales[o][1]) * numbers.scales[o][0], f)
                        for o, f in zip(network.outputs, floats))
            print(f"{what}: {maps} maps, {integers} integers are equal; cosine with ONNX Runtime {worst:.6f}", flush=True)
            if worst < COSINES[kind] and chip == "dnnweaver":
                sys.exit(f"{what}: a cosine of {worst:.6f}, expected {COSINES[kind]}")
    if len(variants) > 1:
        print(f"{what}: equal without each of {', '.join(REWRITES)}, and without all", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="*", default=list(NETWORKS))
    parser.add_argument("--tools", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    tools = Tools(arguments.tools.resolve(), arguments.work.resolve())
    subprocess.run([sys.executable, HERE.parents[2] / "bench/dnnweaver/networks.py", tools.work, "--seed",
                    str(arguments.seed)], check=True)
    rng = np.random.default_rng(arguments.seed)
    for name in arguments.networks:
        if name not in NETWORKS:
            sys.exit(f"no network '{name}'; there are {', '.join(NETWORKS)}")
        sample = prepare(tools, name, rng)
        session = onnxruntime.InferenceSession(tools.work / f"{name}.onnx")
        floats = session.run(None, {session.get_inputs()[0].name: sample})
        network = reference.Network(tools.work / f"{name}.mlir", tools.work / f"{name}.table")
        for kind, zero_points in KINDS:
            check_kind(tools, name, network, sample, floats, "dnnweaver", kind, zero_points)
        if not any(node.op in ("Interp", "Upsample") for node in network.nodes):
            check_kind(tools, name, network, sample, floats, "dnnweaver_v2", "INT16", False)


if __name__ == "__main__":
    main()
