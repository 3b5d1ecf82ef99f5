#!/usr/bin/env python3
"""What the import of a large Caffe network costs, beside reading its file.

usage: compare.py BUILD [--rounds N] [--divide N]
Writes VGG-16 with random weights (553 MB; --divide: channels and classes by N), by the writer of the
conformance tests, reads it once and then measures N rounds (5) of, in turn: a program that reads the whole
file into memory; `tpuc-caffe`, which imports and prints; `model_transform`, which also optimizes and
writes both sets of weights. Seconds are medians of the
processor's time. Memory is the peak of the process, pages of
the mapped file with it. Asked: import in 1.5 times the reading, memory of 1.2 times the file and 120 MB.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "test", "conformance", "caffe"))
from network import Layer, Network, text_of, weights_of  # noqa: E402

READ = "import sys\nwith open(sys.argv[1], 'rb', buffering=0) as f: data = f.readall()"
# A process counts the memory of the one that it was forked from, so a small one does that.
MEASURE = """
import os, sys
child = os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(child, 0)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, status, file=sys.stderr)
"""


def vgg16(divide):
    rng = np.random.default_rng(0)
    layers, bottom, channels, size = [], "data", 3, 224

    def add(kind, name, group_name="", blobs=(), in_place=False, **group):
        nonlocal bottom
        top = bottom if in_place else name
        layers.append(Layer(kind, name, [bottom], [top], group_name, group, list(blobs)))
        bottom = top

    def weights(*shape):
        return rng.standard_normal(shape, np.float32) * np.float32(np.sqrt(2 / np.prod(shape[1:])))

    for stage, (width, count) in enumerate(((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)), 1):
        width //= divide
        for index in range(1, count + 1):
            add("Convolution", f"conv{stage}_{index}", "convolution_param",
                [weights(width, channels, 3, 3), np.zeros(width, np.float32)], num_output=width, pad=1, kernel_size=3)
            add("ReLU", f"relu{stage}_{index}", in_place=True)
            channels = width
        add("Pooling", f"pool{stage}", "pooling_param", kernel_size=2, stride=2)
        size //= 2
    features = channels * size * size
    for index, width in ((6, 4096), (7, 4096), (8, 1000)):
        width //= divide
        add("InnerProduct", f"fc{index}", "inner_product_param",
            [weights(width, features), np.zeros(width, np.float32)], num_output=width)
        if index < 8:
            add("ReLU", f"relu{index}", in_place=True)
        features = width
    add("Softmax", "prob")
    return Network({"data": (1, 3, 224, 224)}, layers, "vgg16")


def measure(command, folder):
    """(CPU seconds, peak MB) of a command."""
    done = subprocess.run([sys.executable, "-I", "-S", "-c", MEASURE, *command], cwd=folder, text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
    seconds, memory, status = map(float, done.stderr.strip().splitlines()[-1].split())
    if status:
        sys.exit(f"bench caffe_import: {' '.join(command)} fails: {done.stderr}")
    return seconds, memory


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--divide", type=int, default=1)
    options = parser.parse_args()
    programs = os.path.join(os.path.abspath(options.build), "bin")
    with tempfile.TemporaryDirectory() as folder:
        network = vgg16(options.divide)
        with open(os.path.join(folder, "vgg16.prototxt"), "w", encoding="utf-8") as f:
            f.write(text_of(network, 2))
        with open(os.path.join(folder, "vgg16.caffemodel"), "wb") as f:
            f.write(weights_of(network, 2))
        del network
        os.sync()
        megabytes = os.path.getsize(os.path.join(folder, "vgg16.caffemodel")) / 2**20
        print(f"vgg16.caffemodel: {megabytes:.1f} MB, {options.rounds} rounds, {time.strftime('%Y-%m-%d')}")
        files = ["vgg16.prototxt", "vgg16.caffemodel"]
        commands = {
            "reading the file": [sys.executable, "-I", "-S", "-c", READ, files[1]],
            "tpuc-caffe": [f"{programs}/tpuc-caffe", *files],
            "model_transform": [f"{programs}/model_transform", "--model_def", files[0], "--model_data", files[1],
                                "--mlir", "out.mlir"]}
        measure(commands["reading the file"], folder)
        found = {name: [] for name in commands}
        for _ in range(options.rounds):
            for name, command in commands.items():
                found[name].append(measure(command, folder))
        reading = statistics.median(seconds for seconds, _ in found["reading the file"])
        most = 1.2 * megabytes + 120
        print(f"{'program':24} {'cpu s':>7} {'times':>6} {'MB':>6} {'most':>6}")
        for name, rows in found.items():
            seconds = statistics.median(row[0] for row in rows)
            memory = max(row[1] for row in rows)
            line = f"{name:24} {seconds:7.3f}"
            if name != "reading the file":
                line += f" {seconds / reading:6.2f} {memory:6.0f} {most:6.0f}"
            print(line)
        times = statistics.median(row[0] for row in found["tpuc-caffe"]) / reading
        memory = max(row[1] for name in ("tpuc-caffe", "model_transform") for row in found[name])
        print(f"import: time {times:.2f} of reading, asked: 1.5, {'met' if times <= 1.5 else 'NOT MET'}; "
              f"memory {memory:.0f} MB, asked: {most:.0f}, {'met' if memory <= most else 'NOT MET'}")


if __name__ == "__main__":
    main()
