#!/usr/bin/env python3
"""Whether two builds write the same bytes, over networks, modes and levels of optimization.

usage: compare_builds.py BUILD OTHER --models DIR [--opt 0,1,2] [NETWORK ...]

DIR holds NETWORK.onnx and, for calibration, NETWORK_in.npz with an array for each input. Each build
imports, calibrates and deploys every network for bm1684x by itself. All files are compared: modules,
weights, tables and model files. The line of a table that states its time does not count. Prints each
file that differs, and the number of files. Exit status 1 if any differs, or if there was none.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../bench/cycles"), os.path.join(HERE, "../test/conformance")]
from compare import SHAPES  # noqa: E402
from vendor_compiler import MODES  # noqa: E402

# Of detectors a smaller picture will do.
SMALLER = {"det": "[[1,3,320,320]]"}


def call(folder, *command):
    """The last line of what a program says when it fails; none when it does not."""
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return (done.stdout.strip() or "no message").splitlines()[-1] if done.returncode else None


def digest(path):
    with open(path, "rb") as file:
        data = file.read()
    if path.endswith(".table"):
        data = b"\n".join(line for line in data.split(b"\n") if b"generated time" not in line)
    return hashlib.sha256(data).hexdigest()


def written(build, models, name, opts, folder):
    """File -> digest of what a build writes for a network, failures among them."""
    def tool(program):
        return os.path.join(os.path.abspath(build), "bin", program)

    shapes = {**SHAPES, **SMALLER}.get(name)
    sample = os.path.join(models, name + "_in.npz")
    failures = {"transform": call(
        folder, tool("model_transform"), "--model_def", os.path.join(models, name + ".onnx"), "--mlir", name + ".mlir",
        "--model_name", name, *(["--input_shapes", shapes] if shapes else []))}
    has_table = os.path.exists(sample)
    if has_table:
        with open(os.path.join(folder, "samples.list"), "w", encoding="utf-8") as file:
            file.write(sample + "\n")
        failures["calibration"] = call(folder, tool("run_calibration"), name + ".mlir", "--data_list", "samples.list",
                                       "-o", name + ".table")
    for mode, flags in MODES.items():
        if mode.startswith("INT8"):
            if not has_table:
                continue
            flags = [*flags, "--calibration_table", name + ".table"]
        for opt in opts:
            os.makedirs(os.path.join(folder, f"{mode}_{opt}"))
            failures[f"{mode} {opt}"] = call(
                folder, tool("model_deploy"), "--mlir", name + ".mlir", "--chip", "bm1684x", "--model",
                f"{mode}_{opt}/{name}.model", "--opt", opt, *flags)
    found = {what: message for what, message in failures.items() if message}
    for top, _, files in os.walk(folder):
        for file in files:
            path = os.path.join(top, file)
            found[os.path.relpath(path, folder)] = digest(path)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("builds", nargs=2)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--models", required=True)
    parser.add_argument("--opt", default="0,1,2")
    options = parser.parse_intermixed_args()
    models = os.path.abspath(options.models)
    names = options.names or sorted(file[:-5] for file in os.listdir(models) if file.endswith(".onnx"))
    count = bad = 0
    for name in names:
        results = []
        for build in options.builds:
            with tempfile.TemporaryDirectory() as folder:
                results.append(written(build, models, name, options.opt.split(","), folder))
        for file in sorted({*results[0], *results[1]}):
            count += 1
            first, second = (each.get(file, "nothing") for each in results)
            if first != second:
                print(f"{name}: {file}: {first[:60]}, and {second[:60]}")
                bad += 1
    print(f"{len(names)} networks, {count} files, {bad} differ")
    return 1 if bad or not count else 0


if __name__ == "__main__":
    sys.exit(main())
