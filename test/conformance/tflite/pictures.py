#!/usr/bin/env python3
"""Compares a quantized classifier on pictures: LiteRT's reference kernels, the interpreter, and a chip.

usage: pictures.py --tools build/bin --pictures samples.npz [--count N] [--chip NAME] [--file_runs N] MODEL.tflite

The pictures are the array of floats [count, 3, height, width] from -1 to 1 that bench/accuracy/prepare.py
writes for efficientnet_lite0. They are scaled to the size of the input, to the nearest element, and stored
as it says. Printed are: in how many pictures the class is LiteRT's, how many integers of the output are
equal and how many within one, and the cosine of the numbers. `lowered` is the network that model_deploy
writes for the chip, in the interpreter; `file` is the model file, of which --file_runs pictures are run.
Needs ai-edge-litert and numpy. The exit status is 0 if all classes are equal in the interpreter, with
99.9 % of the integers, and 99 % of the classes on the chip, with a cosine of 0.999.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np


def scaled(picture, height, width):
    rows = (np.arange(height) + .5) * picture.shape[1] // height
    columns = (np.arange(width) + .5) * picture.shape[2] // width
    return picture[:, rows.astype(int)][:, :, columns.astype(int)].transpose(1, 2, 0)[None]


def run(*command):
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout


class Agreement:
    """Of the outputs of one way to run a network with those of another."""

    def __init__(self):
        self.pictures = self.classes = self.equal = self.near = self.elements = 0
        self.least = 1.

    def add(self, found, wanted):
        far = np.abs(found.astype(float) - wanted.astype(float)).ravel()
        self.pictures += 1
        # Of equal largest elements, any is the class.
        self.classes += bool(wanted.ravel()[found.argmax()] == wanted.max())
        self.equal += int((far < .5).sum())
        self.near += int((far < 1.5).sum())
        self.elements += far.size
        a, b = found.ravel().astype(float), wanted.ravel().astype(float)
        self.least = min(self.least, float(a @ b / np.sqrt((a @ a) * (b @ b))))

    def row(self, name):
        return (f"| {name} | {self.pictures} | {self.classes} | {100 * self.equal / self.elements:.3f} % | "
                f"{100 * self.near / self.elements:.3f} % | {self.least:.6f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--tools", type=pathlib.Path, required=True)
    parser.add_argument("--pictures", type=pathlib.Path, required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--chip", default="BM1684X")
    parser.add_argument("--file_runs", type=int, default=3)
    arguments = parser.parse_args()
    from ai_edge_litert import interpreter as litert
    model = litert.Interpreter(str(arguments.model), num_threads=1,
                               experimental_op_resolver_type=litert.OpResolverType.BUILTIN_REF)
    model.allocate_tensors()
    given, made = model.get_input_details()[0], model.get_output_details()[0]
    scale, zero = given["quantization"]
    unit, offset = made["quantization"]
    with np.load(arguments.pictures) as arrays:
        pictures = arrays[arrays.files[0]]
    pictures = pictures[:: max(1, len(pictures) // arguments.count)][:arguments.count]
    top, lowered, file = Agreement(), Agreement(), Agreement()
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        run(arguments.tools / "model_transform", "--model_name", "net", "--model_def", arguments.model, "--mlir",
            place / "net.mlir")
        report = run(arguments.tools / "model_deploy", "--mlir", place / "net.mlir", "--quantize", "INT8", "--asymmetric",
                     "--chip", arguments.chip, "--model", place / "net.bmodel", "--opt", "2")
        print(*[line.strip() for line in report.splitlines() if " cycles, " in line], sep="\n")
        on_chip = place / f"net_{arguments.chip.lower()}_int8_asym_tpu.mlir"

        def outputs(what, *options):
            run(arguments.tools / "model_runner", "--model", what, "--input", place / "in.npz", "--output",
                place / "out.npz", *options)
            with np.load(place / "out.npz") as arrays:
                return arrays[arrays.files[0]]

        for number, picture in enumerate(pictures):
            stored = np.round(scaled(picture, *given["shape"][1:3]) / scale + zero)
            limits = np.iinfo(given["dtype"])
            stored = stored.clip(limits.min, limits.max).astype(given["dtype"])
            model.set_tensor(given["index"], stored)
            model.invoke()
            wanted = model.get_tensor(made["index"])
            np.savez(place / "in.npz", **{given["name"]: stored})
            top.add(outputs(place / "net.mlir", "--out_fixed"), wanted)
            numbers = ((stored.astype(np.float32) - zero) * np.float32(scale)).astype(np.float32)
            np.savez(place / "in.npz", **{given["name"]: numbers})
            lowered.add(outputs(on_chip) / unit + offset, wanted)
            if number < arguments.file_runs:
                file.add(outputs(place / "net.bmodel") / unit + offset, wanted)
    print("| beside LiteRT | pictures | class equal | integers equal | within one | least cosine |")
    print("| --- | --- | --- | --- | --- | --- |")
    print(top.row("interpreter"))
    print(lowered.row(f"lowered for {arguments.chip}"))
    if file.pictures:
        print(file.row(f"file for {arguments.chip}"))
    good = top.classes == top.pictures and top.equal >= .999 * top.elements and lowered.least >= .999
    return 0 if good and lowered.classes >= .99 * lowered.pictures else 1


if __name__ == "__main__":
    sys.exit(main())
