#!/usr/bin/env python3
"""How the processor time of the compiler grows with the layers of a network.

usage: compile_time.py BUILD [--lengths N[,N ...]] [--opt N] [--time-limit SECONDS] [CHAIN ...]

CHAINs, by default all, are networks of N layers (default: 250, 500, 1000) that follow each other:

  elementwise  sums with a constant and absolute values in turn
  mixed        seven element-wise ops in random order, which hardly repeats
  conv         equal convolutions of 32 channels with their activations

Each is made in this run, transformed, and deployed for bm1684x in F16 with --opt (default: 1), without
validation. Per chain and length: the processor seconds of model_transform and of model_deploy, the peak
memory of the latter, the cycles of the model file, and how many times longer model_deploy takes for each
doubling of the layers since the length before. 2 is linear, 4 a square. A length that takes longer than
--time-limit (default: 600 s of elapsed time) ends its chain with "-". The status is 1 if one does.
"""

import argparse
import array
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from measured import measure  # noqa: E402

OPSET, IR_VERSION = 13, 8
FLOAT = 1
MIXED = ("Add", "Mul", "Sub", "Abs", "Sigmoid", "Tanh", "Neg")
WITH_CONSTANT = ("Add", "Mul", "Sub")


def varint(number):
    coded = bytearray()
    while number > 0x7F:
        coded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(coded + bytes([number]))


def field(number, value):
    """A field of a protocol buffer: a number, or text or a message with its length in front."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def repeated(number, values):
    return b"".join(field(number, value) for value in values)


class Chain:
    """Layers that follow each other on a tensor of [1, channels, extent, extent], as ONNX."""

    def __init__(self, channels, extent):
        self.dims = [1, channels, extent, extent]
        self.random = random.Random(1)
        self.nodes, self.constants = [], []
        self.last = "input"
        self.values = {}

    def constant(self, dims):
        """A constant of random values, the same for all of these extents."""
        name = f"constant{len(self.constants)}"
        count = math.prod(dims)
        if count not in self.values:
            scale = 1 / math.sqrt(math.prod(dims[1:]))
            drawn = array.array("f", (self.random.gauss(0, scale) for _ in range(count)))
            if sys.byteorder == "big":
                drawn.byteswap()
            self.values[count] = drawn.tobytes()
        self.constants.append(repeated(1, dims) + field(2, FLOAT) + field(8, name)
                              + field(9, self.values[count]))
        return name

    def add(self, kind, *operands, **attributes):
        """A node; attributes are lists of integers."""
        name = f"{kind}{len(self.nodes)}"
        ints = 7
        self.nodes.append(repeated(1, [self.last, *operands]) + field(2, name) + field(3, name)
                          + field(4, kind)
                          + repeated(5, [field(1, key) + repeated(8, values) + field(20, ints)
                                         for key, values in attributes.items()]))
        self.last = name

    def add_elementwise(self, kind):
        self.add(kind, *([self.constant([1, self.dims[1], 1, 1])] if kind in WITH_CONSTANT else []))

    def save(self, path):
        shape = repeated(1, [field(1, extent) for extent in self.dims])
        inputs, outputs = (field(1, name) + field(2, field(1, field(1, FLOAT) + field(2, shape)))
                           for name in ("input", self.last))
        graph = (repeated(1, self.nodes) + field(2, "chain") + repeated(5, self.constants)
                 + field(11, inputs) + field(12, outputs))
        with open(path, "wb") as file:
            file.write(field(1, IR_VERSION) + field(7, graph) + field(8, field(2, OPSET)))


def elementwise(length):
    chain = Chain(channels=16, extent=32)
    for number in range(length):
        chain.add_elementwise(("Add", "Abs")[number % 2])
    return chain


def mixed(length):
    chain = Chain(channels=16, extent=32)
    for _ in range(length):
        chain.add_elementwise(chain.random.choice(MIXED))
    return chain


def conv(length):
    channels = 32
    chain = Chain(channels, extent=32)
    for _ in range(length):
        chain.add("Conv", chain.constant([channels, channels, 3, 3]), kernel_shape=[3, 3], pads=[1, 1, 1, 1])
        chain.add("Relu")
    return chain


CHAINS = {"elementwise": elementwise, "mixed": mixed, "conv": conv}


class Failed(Exception):
    """A tool's last line where it failed."""


def costs_of(limit, *command):
    """(processor seconds, peak MB) of a program; none where it takes too long."""
    seconds, memory, error = measure(command, None, os.environ["PATH"], limit)
    if error.endswith(f"takes longer than {limit} s"):
        return None
    if error:
        raise Failed(error)
    return seconds, memory


class Bench:
    def __init__(self, options):
        self.options = options
        self.bin = os.path.join(options.build, "bin")

    def compile(self, name, length, folder):
        """Seconds of both tools, peak MB of the second one and the cycles; none where one takes too long."""
        onnx, top, model = (os.path.join(folder, name + suffix) for suffix in (".onnx", ".mlir", ".bmodel"))
        CHAINS[name](length).save(onnx)
        limit = self.options.time_limit
        transform = costs_of(limit, os.path.join(self.bin, "model_transform"), "--model_def", onnx,
                             "--mlir", top, "--model_name", name)
        if transform is None:
            return None
        deploy = costs_of(limit, os.path.join(self.bin, "model_deploy"), "--mlir", top, "--chip", "bm1684x",
                          "--quantize", "F16", "--model", model, "--opt", str(self.options.opt))
        if deploy is None:
            return None
        profile = subprocess.run([os.path.join(self.bin, "model_tool"), "--profile", "--json", model],
                                 stdout=subprocess.PIPE, text=True, check=True).stdout
        return transform[0], *deploy, json.loads(profile)[0]["vendor"]["cycles"]

    def run(self, name):
        """Prints the lines of a chain. False where a length takes too long."""
        before = None
        for length in self.options.lengths:
            with tempfile.TemporaryDirectory() as folder:
                done = self.compile(name, length, folder)
            if not done:
                print(f"{name:<12}{length:>8}{'-':>12}{'-':>12}{'-':>9}{'-':>14}{'-':>12}", flush=True)
                return False
            transform, deploy, memory, cycles = done
            growth = "-"
            if before:
                doublings = math.log2(length / before[0])
                growth = f"{(deploy / before[1]) ** (1 / doublings):.2f}"
            before = length, deploy
            print(f"{name:<12}{length:>8}{transform:>12.2f}{deploy:>12.2f}{memory:>9.0f}{cycles:>14}{growth:>12}",
                  flush=True)
        return True


def lengths_of(text):
    lengths = [int(each) for each in text.split(",")]
    if any(length < 1 for length in lengths) or sorted(set(lengths)) != lengths:
        raise argparse.ArgumentTypeError(f"'{text}'; expected numbers of layers, each more than the one before")
    return lengths


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("chains", nargs="*", metavar="CHAIN")
    parser.add_argument("--lengths", type=lengths_of, default=[250, 500, 1000])
    parser.add_argument("--opt", type=int, default=1)
    parser.add_argument("--time-limit", type=float, default=600)
    options = parser.parse_intermixed_args()
    for name in options.chains:
        if name not in CHAINS:
            parser.error(f"chain '{name}'; expected some of {', '.join(CHAINS)}")
    bench = Bench(options)
    print(f"{'chain':<12}{'layers':>8}{'transform s':>12}{'deploy s':>12}{'peak MB':>9}{'cycles':>14}{'per double':>12}")
    try:
        is_done = [bench.run(name) for name in options.chains or CHAINS]
    except Failed as failure:
        sys.exit(f"compile_time.py: {failure}")
    return 0 if all(is_done) else 1


if __name__ == "__main__":
    sys.exit(main())
