#!/usr/bin/env python3
"""What the import of a TFLite network of 8-bit integers costs, beside LiteRT's loading.

usage: compare.py BUILD [--rounds N] [--divide N] [--net FILE]
Without --net, writes a network of 26 inverted residual blocks with random integers (9 MB; --divide: channels by N),
by the writer of the conformance tests. N rounds (5) of, in turn: a program that reads the whole file; LiteRT,
which loads the network and allocates its tensors; `tpuc-tflite`, which imports and prints; `model_transform`
without validation, which also optimizes and writes both sets of weights. Seconds are the least of the processor's
time, memory is the peak of the process. Asked of model_transform: 0.5 s, and at most twice the file and 120 MB.
Exits with 77 where ai-edge-litert is missing.
"""

import argparse
import os
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "..", "test", "conformance", "tflite")]
try:
    import numpy as np
    from network import Network
except ImportError as missing:
    print(f"bench tflite_import: {missing}")
    sys.exit(77)
from measured import measure  # noqa: E402

READ = "import sys\nwith open(sys.argv[1], 'rb', buffering=0) as f: data = f.readall()"
LOAD = """import sys
from ai_edge_litert import interpreter
interpreter.Interpreter(sys.argv[1], num_threads=1).allocate_tensors()"""
SECONDS = .5
SAME, NONE, RELU6 = 0, 0, 3


class Mobile:
    """Inverted residual blocks, as EfficientNet-Lite has them."""

    def __init__(self, divide):
        self.random, self.net, self.divide = np.random.default_rng(0), Network(), divide
        self.last = self.net.tensor((1, 224, 224, 3), "int8", name="image", scale=.02, zero=-1)
        self.net.graph.inputs = [self.last]
        self.side, self.channels = 224, 3
        self.conv(32, 3, 2, RELU6)
        for width, times, stride in ((16, 1, 1), (24, 3, 2), (40, 4, 2), (96, 6, 2), (136, 6, 1), (232, 5, 2), (384, 1, 1)):
            for index in range(times):
                self.block(width, stride if index == 0 else 1)
        self.conv(1280, 1, 1, RELU6)
        self.net.graph.outputs = [self.last]

    def made(self, channels):
        return self.net.tensor((1, self.side, self.side, channels), "int8", scale=.03, zero=-5)

    def weights(self, *shape, axis):
        scales = self.random.uniform(.001, .01, shape[axis]).astype(np.float32)
        return (self.net.constant(self.random.integers(-127, 128, shape).astype(np.int8), scale=scales, axis=axis),
                self.net.constant(self.random.integers(-999, 999, shape[axis]).astype(np.int32), scale=scales * np.float32(.03)))

    def conv(self, width, kernel, stride, act):
        width = max(8, width // self.divide)
        self.side //= stride
        filters, made = self.weights(width, kernel, kernel, self.channels, axis=0), self.made(width)
        self.net.op("CONV_2D", [self.last, *filters], [made], "Conv2DOptions", 3, padding=SAME, strideW=stride,
                    strideH=stride, fusedActivationFunction=act)
        self.last, self.channels = made, width

    def block(self, width, stride):
        first, channels = self.last, self.channels
        self.conv(6 * channels * self.divide, 1, 1, RELU6)
        self.side //= stride
        filters, made = self.weights(1, 5, 5, self.channels, axis=3), self.made(self.channels)
        self.net.op("DEPTHWISE_CONV_2D", [self.last, *filters], [made], "DepthwiseConv2DOptions", 3, padding=SAME,
                    strideW=stride, strideH=stride, depthMultiplier=1, fusedActivationFunction=RELU6)
        self.last = made
        self.conv(width, 1, 1, NONE)
        if stride == 1 and channels == self.channels:
            made = self.made(channels)
            self.net.op("ADD", [self.last, first], [made], "AddOptions", 2)
            self.last = made


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--divide", type=int, default=1)
    parser.add_argument("--net", help="a .tflite file")
    options = parser.parse_args()
    programs = os.path.join(os.path.abspath(options.build), "bin")
    with tempfile.TemporaryDirectory() as folder:
        net = os.path.abspath(options.net) if options.net else os.path.join(folder, "mobile.tflite")
        if not options.net:
            with open(net, "wb") as f:
                f.write(Mobile(options.divide).net.bytes())
        size = os.path.getsize(net)
        print(f"{os.path.basename(net)}: {size / 1e6:.1f} MB, {options.rounds} rounds, {time.strftime('%Y-%m-%d')}")
        commands = {"reading the file": [sys.executable, "-I", "-S", "-c", READ, net],
                    "LiteRT": [sys.executable, "-c", LOAD, net],
                    "tpuc-tflite": [f"{programs}/tpuc-tflite", net],
                    "model_transform": [f"{programs}/model_transform", "--model_name", "net", "--model_def", net, "--mlir",
                                        "net.mlir"]}
        found = {name: [] for name in commands}
        for _ in range(options.rounds):
            for name, command in commands.items():
                seconds, memory, failure = measure(command, folder, os.environ["PATH"])
                if failure:
                    sys.exit(f"bench tflite_import: {failure}")
                found[name].append((seconds, memory * 2**20 / 1e6))
    least = {name: min(each) for name, each in found.items()}
    print(f"{'program':24} {'cpu s':>7} {'of LiteRT':>9} {'MB':>6}")
    for name, (seconds, memory) in least.items():
        print(f"{name:24} {seconds:7.3f} {seconds / least['LiteRT'][0]:9.2f} {memory:6.0f}")
    seconds, memory = least["model_transform"]
    most = 2 * size / 1e6 + 120
    good = seconds <= SECONDS and memory <= most
    print(f"import: {seconds:.3f} s, asked: {SECONDS}; memory {memory:.0f} MB, asked: {most:.0f}; {'met' if good else 'NOT MET'}")


if __name__ == "__main__":
    main()
