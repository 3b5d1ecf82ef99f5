"""Model files on our machine and on the vendor's runtime (PyPI package tpu-mlir 1.30.2, Python 3.10):
files that the vendor's compiler makes of networks, for each chip in INT8 and BF16, and a small one
that we write. The outputs must have the same bytes.

usage: files.py --vendor DIR --work DIR --tools BUILD/bin NAME=FILE.onnx[:SHAPES] ...
"""

import argparse
import pathlib
import re
import subprocess
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import vendor_compiler

CHIPS = ["cv183x", "cv182x", "cv181x", "cv180x"]
MODES = ["INT8", "BF16"]


def deploy(compiler, base, name, chip, mode):
    """The file of a network for a chip; what is there is not made again."""
    file = base / f"{name}_{chip}_{mode}.cvimodel"
    if not file.exists():
        table = base / "calibration.txt"
        table.write_text(vendor_compiler.calibration_table((base / f"{name}.mlir").read_text()))
        options = ["--calibration_table", table] if mode == "INT8" else []
        # The weights are looked for where the program runs.
        compiler.run(["model_deploy", "--mlir", f"{name}.mlir", "--quantize", mode, "--chip", chip,
                      "--model", file, *options], base, f"deploy_{chip}_{mode}.log")
    return file


def inputs_of(base, name):
    """Random values for the inputs of a network, the same in each run."""
    text = (base / f"{name}.mlir").read_text()
    random = numpy.random.default_rng(3)
    values = {}
    for shape, place in re.findall(
            r'"top\.Input"\([^\n]*-> tensor<([0-9x]+)xf32> loc\((#\w+|"[^"]+")\)', text):
        if place.startswith("#"):
            place = re.search(re.escape(place) + r' = loc\(("[^"]+")\)', text).group(1)
        values[place.strip('"')] = random.normal(
            size=[int(extent) for extent in shape.split("x")]).astype(numpy.float32)
    if not values:
        raise vendor_compiler.Failure(f"{name}: no input in the module")
    file = base / "inputs.npz"
    numpy.savez(file, **values)
    return file


def compare(compiler, tools, file, inputs):
    """What differs between the outputs of both, or nothing."""
    vendor, ours = file.with_suffix(".vendor.npz"), file.with_suffix(".ours.npz")
    compiler.run(["model_runner", "--model", file, "--input", inputs, "--output", vendor],
                 file.parent, file.stem + ".run.log")
    run = subprocess.run([tools / "model_runner", "--model", file, "--input", inputs, "--output",
                          ours], capture_output=True, text=True)
    if run.returncode:
        return run.stderr.strip()
    # It decodes each command and encodes it again.
    listing = subprocess.run([tools / "model_tool", "--dump_commands", file], capture_output=True,
                             text=True)
    if listing.returncode:
        return listing.stderr.strip()
    theirs, got = numpy.load(vendor), numpy.load(ours)
    if not set(got.files) <= set(theirs.files) or not got.files:
        return f"outputs {got.files}, not of {theirs.files}"
    for name in got.files:
        if theirs[name].tobytes() != got[name].astype(theirs[name].dtype).tobytes():
            return f"{name} differs"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--vendor", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--tools", required=True, type=pathlib.Path)
    parser.add_argument("networks", nargs="+")
    arguments = parser.parse_args()
    compiler = vendor_compiler.Compiler(arguments.vendor, arguments.work)
    if not compiler.is_there():
        print(f"no vendor's compiler in {arguments.vendor}", file=sys.stderr)
        return 1
    compiler.work.mkdir(parents=True, exist_ok=True)
    same = count = 0

    def report(file, difference):
        nonlocal same, count
        count += 1
        same += difference is None
        print(f"{file.stem}: {difference or 'the same bytes'}", flush=True)

    for chip in CHIPS:
        file = compiler.work / f"own_{chip}.cvimodel"
        subprocess.run([arguments.tools / "cv18xx-example", chip, file], check=True)
        inputs = compiler.work / "own.npz"
        values = numpy.random.default_rng(4).integers(-128, 128, (1, 5, 3, 4)).astype(numpy.int8)
        numpy.savez(inputs, x=values)
        report(file, compare(compiler, arguments.tools, file, inputs))
    for text in arguments.networks:
        name, onnx, shapes = vendor_compiler.parse_model(text)
        base = compiler.transform(name, onnx, shapes)
        inputs = inputs_of(base, name)
        for chip in CHIPS:
            for mode in MODES:
                file = deploy(compiler, base, name, chip, mode)
                report(file, compare(compiler, arguments.tools, file, inputs))
    print(f"files: {same} of {count} give the same bytes")
    return 0 if same == count else 1


if __name__ == "__main__":
    sys.exit(main())
