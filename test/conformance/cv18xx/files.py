"""Files that the vendor's compiler makes (PyPI package tpu-mlir 1.30.2, Python 3.10) on its runtime
and on our machine, for each chip in INT8 and BF16, and a small one that cv18xx-example writes. All
outputs must have the same bytes. A file is made anew unless it was made of the same network by the
same compiler. Nothing compared is a failure.

usage: files.py --vendor DIR --work DIR --tools BUILD/bin NAME=FILE.onnx[:SHAPES] ...
"""

import argparse
import pathlib
import re
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import vendor_compiler
from runtimes import CHIPS, Runtimes, fresh_folder

MODES = ["INT8", "BF16"]


def deploy(compiler, base, name, chip, mode):
    """The file of a network for a chip. `base` belongs to one network and one compiler."""
    file = base / f"{name}_{chip}_{mode}.cvimodel"
    if not file.exists():
        table = base / "calibration.txt"
        table.write_text(vendor_compiler.calibration_table((base / f"{name}.mlir").read_text()))
        options = ["--calibration_table", table] if mode == "INT8" else []
        # The weights are looked for where the program runs.
        compiler.run(["model_deploy", "--mlir", f"{name}.mlir", "--quantize", mode, "--chip", chip,
                      "--model", "unfinished.cvimodel", *options], base,
                     f"deploy_{chip}_{mode}.log")
        (base / "unfinished.cvimodel").rename(file)
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


def examples(runtimes, work):
    """Name, file and inputs of the small file for each chip."""
    inputs = work / "own.npz"
    values = numpy.random.default_rng(4).integers(-128, 128, (1, 5, 3, 4)).astype(numpy.int8)
    numpy.savez(inputs, x=values)
    for chip in CHIPS:
        file = work / f"own_{chip}.cvimodel"
        runtimes.ours("cv18xx-example", chip, file)
        yield file, inputs


def networks(compiler, runtimes, texts):
    for text in texts:
        name, onnx, shapes = vendor_compiler.parse_model(text)
        fresh_folder(compiler.work / name, pathlib.Path(onnx), shapes, runtimes.version,
                     vendor_compiler.THRESHOLD, vendor_compiler.LEAST)
        base = compiler.transform(name, onnx, shapes)
        inputs = inputs_of(base, name)
        for chip in CHIPS:
            for mode in MODES:
                yield deploy(compiler, base, name, chip, mode), inputs


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--vendor", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--tools", required=True)
    parser.add_argument("networks", nargs="+")
    arguments = parser.parse_args()
    compiler = vendor_compiler.Compiler(arguments.vendor, arguments.work)
    if not compiler.is_there():
        print(f"no vendor's compiler in {arguments.vendor}", file=sys.stderr)
        return 1
    compiler.work.mkdir(parents=True, exist_ok=True)
    runtimes = Runtimes(compiler, arguments.tools)
    same = count = 0
    for source in (examples(runtimes, compiler.work),
                   networks(compiler, runtimes, arguments.networks)):
        for file, inputs in source:
            difference = runtimes.difference(file, inputs)
            count += 1
            same += difference is None
            print(f"{file.stem}: {difference or 'the same bytes'}", flush=True)
    print(f"files: {same} of {count} give the same bytes")
    return 0 if same == count > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
