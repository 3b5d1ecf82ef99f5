#!/usr/bin/env python3
"""What the checks of weights cost, as a share of the processor time of a run.

usage: compare.py BUILD [--rounds N] [MODEL.onnx ...]

Without models, those of the folder TPUC_MODELS. Checked are the CRC of every tensor of the weight file
and the SHA-256 of its directory (bench-weight_checks). In each round the checks, a run of model_runner
on the module with a random input, and a run of model_deploy in F16 with --opt 1 follow one another. Per network:
megabytes of weights, processor milliseconds of the checks, of both runs, and the shares: medians of the
rounds.
"""

import argparse
import importlib.util
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ASKED = 5.0


def bench(name):
    """The module of another benchmark."""
    spec = importlib.util.spec_from_file_location(name, HERE.parent / name / "compare.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


transform = bench("model_transform")


def run(command, folder):
    """Processor milliseconds of a command."""
    seconds, _, failure = transform.measure(command, folder, os.environ["PATH"])
    if failure:
        sys.exit(f"bench/weight_checks: {failure}")
    return 1e3 * seconds


def checks(program, weights):
    """(bytes of the file, processor milliseconds of its checks)."""
    done = subprocess.run([program, weights], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    return int(done[0]), float(done[2]) - float(done[4])


def network(tools, path, rounds):
    """The line of a network, and the larger share."""
    stem = path.stem
    infos = transform.input_infos(str(path), stem)
    shapes = "[%s]" % ",".join("[%s]" % ",".join(map(str, dims)) for _, dims, _ in infos)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        np.savez(folder / "in.npz", **transform.sample(infos))
        run([tools / "model_transform", "--model_name", stem, "--model_def", path, "--input_shapes", shapes,
             "--mlir", "m.mlir"], folder)
        weights = next(each for each in folder.glob("*_weight.npz") if "origin" not in each.name)
        times = []
        for _ in range(rounds):
            size, check = checks(tools / "bench-weight_checks", weights)
            ran = run([tools / "model_runner", "--model", "m.mlir", "--input", "in.npz", "--output", "out.npz"], folder)
            deployed = run([tools / "model_deploy", "--mlir", "m.mlir", "--quantize", "F16", "--chip", "bm1684x",
                            "--model", "m.bmodel"], folder)
            times.append((check, ran, 100 * check / ran, deployed, 100 * check / deployed))
    check, ran, share, deployed, deploy_share = (statistics.median(column) for column in zip(*times))
    line = f"{stem:24} {size / 1e6:7.1f} {check:8.2f} {ran:8.0f} {share:6.2f} {deployed:8.0f} {deploy_share:6.2f}"
    return line, max(share, deploy_share)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("models", nargs="*", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_intermixed_args()
    models = [path.resolve() for path in options.models]
    if not models and os.environ.get("TPUC_MODELS"):
        models = sorted(pathlib.Path(os.environ["TPUC_MODELS"]).resolve().glob("*.onnx"))
    if not models:
        sys.exit("bench/weight_checks: no models; name .onnx files, or their folder in TPUC_MODELS")
    tools = (options.build / "bin").resolve()
    print(f"{'network':24} {'MB':>7} {'checks':>8} {'runner':>8} {'%':>6} {'deploy':>8} {'%':>6}")
    shares = []
    for path in models:
        line, share = network(tools, path, options.rounds)
        shares.append(share)
        print(line, flush=True)
    verdict = "met" if max(shares) < ASKED else "NOT MET"
    print(f"largest share {max(shares):.2f} % (asked: less than {ASKED:.0f}) {verdict}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
