#!/usr/bin/env python3
"""Writes networks that the array computes as ONNX files with random weights.

usage: networks.py FOLDER [--seed N]

YOLOv2-tiny and YOLOv3-tiny (416 x 416), YOLOv4-tiny (480 x 352), a dense block, residual blocks and parts of images,
each convolution with its batch norm and LeakyReLU. Needs the Python package onnx.
"""

import argparse
import pathlib

import numpy as np
from onnx import TensorProto, helper, numpy_helper


class Builder:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.weights, self.channels = [], [], {}

    def constant(self, name, array):
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def add(self, op, inputs, channels, **attributes):
        name = f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name, **attributes))
        self.channels[name] = channels
        return name

    def conv(self, x, kernels, side=3, stride=1, activation=True):
        """A convolution with `same` pads; with a batch norm and a LeakyReLU, or with a bias."""
        name = f"w{len(self.nodes)}"
        channels = self.channels[x]
        size = np.sqrt(2 / (channels * side * side))
        shape = (kernels, channels, side, side)
        inputs = [x, self.constant(name, (size * self.random.standard_normal(shape)).astype(np.float32))]
        if not activation:
            inputs.append(self.constant(name + "b", self.random.normal(0, 0.1, kernels).astype(np.float32)))
        pad = side // 2
        x = self.add("Conv", inputs, kernels, kernel_shape=[side, side], strides=[stride, stride],
                     pads=[pad] * 4)
        if not activation:
            return x
        norm = [self.constant(name + part, self.random.uniform(low, high, kernels).astype(np.float32))
                for part, low, high in (("g", 0.8, 1.2), ("h", -0.2, 0.2), ("m", -0.2, 0.2), ("v", 0.7, 1.3))]
        x = self.add("BatchNormalization", [x] + norm, kernels)
        return self.add("LeakyRelu", [x], kernels, alpha=0.1)

    def pool(self, x, stride=2):
        ends = [0, 0, 1, 1] if stride == 1 else [0] * 4
        return self.add("MaxPool", [x], self.channels[x], kernel_shape=[2, 2], strides=[stride] * 2, pads=ends)

    def concat(self, *parts):
        return self.add("Concat", list(parts), sum(self.channels[p] for p in parts), axis=1)

    def upper_half(self, x):
        half = self.channels[x] // 2
        ints = [self.constant(f"s{len(self.nodes)}_{i}", np.array([v], np.int64))
                for i, v in enumerate((half, 2 * half, 1))]
        return self.add("Slice", [x] + ints, half)

    def crop(self, x, rows, columns):
        """Some rows and columns; both are pairs of first and end."""
        ints = [self.constant(f"s{len(self.nodes)}_{i}", np.array(v, np.int64))
                for i, v in enumerate(zip(rows, columns))]
        axes = self.constant(f"s{len(self.nodes)}_2", np.array([2, 3], np.int64))
        return self.add("Slice", [x, *ints, axes], self.channels[x])

    def upsample(self, x):
        scales = self.constant(f"u{len(self.nodes)}", np.array([1, 1, 2, 2], np.float32))
        return self.add("Resize", [x, "", scales], self.channels[x], mode="nearest",
                        coordinate_transformation_mode="asymmetric", nearest_mode="floor")

    def save(self, path, shape, outputs):
        inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]
        results = [helper.make_tensor_value_info(o, TensorProto.FLOAT, None) for o in outputs]
        graph = helper.make_graph(self.nodes, path.stem, inputs, results, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        path.write_bytes(model.SerializeToString())

    def input(self, channels):
        self.channels["x"] = channels
        return "x"


def yolov2_tiny(b, path):
    x = b.input(3)
    for kernels in (16, 32, 64, 128, 256):
        x = b.pool(b.conv(x, kernels))
    x = b.pool(b.conv(x, 512), stride=1)
    x = b.conv(b.conv(x, 1024), 1024)
    b.save(path, [1, 3, 416, 416], [b.conv(x, 125, 1, activation=False)])


def yolov3_tiny(b, path):
    x = b.input(3)
    for kernels in (16, 32, 64, 128):
        x = b.pool(b.conv(x, kernels))
    route = b.conv(x, 256)
    x = b.pool(b.conv(b.pool(route), 512), stride=1)
    x = b.conv(b.conv(x, 1024), 256, 1)
    coarse = b.conv(b.conv(x, 512), 75, 1, activation=False)
    x = b.concat(b.upsample(b.conv(x, 128, 1)), route)
    b.save(path, [1, 3, 416, 416], [coarse, b.conv(b.conv(x, 256), 75, 1, activation=False)])


def yolov4_tiny(b, path, height=352, width=480):
    x = b.conv(b.conv(b.input(3), 32, stride=2), 64, stride=2)
    for kernels in (64, 128, 256):
        route = b.conv(x, kernels)
        first = b.conv(b.upper_half(route), kernels // 2)
        mixed = b.conv(b.concat(b.conv(first, kernels // 2), first), kernels, 1)
        x = b.pool(b.concat(route, mixed))
    x = b.conv(b.conv(x, 512), 256, 1)
    coarse = b.conv(b.conv(x, 512), 75, 1, activation=False)
    x = b.concat(b.upsample(b.conv(x, 128, 1)), mixed)
    b.save(path, [1, 3, height, width], [coarse, b.conv(b.conv(x, 256), 75, 1, activation=False)])


def dense_block(b, path):
    x = b.conv(b.input(3), 64, stride=2)
    for _ in range(4):
        x = b.concat(x, b.conv(b.conv(x, 128, 1), 32))
    b.save(path, [1, 3, 65, 97], [b.conv(b.pool(b.conv(x, 96, 1)), 20, 1, activation=False)])


def residual(b, path):
    """Sums, a depthwise convolution, a gate and average pools, which the array does not compute."""
    x = b.conv(b.input(3), 24, stride=2)
    x = b.add("Add", [x, b.conv(b.conv(x, 24), 24)], 24)
    weights = b.constant("deep", (0.4 * b.random.standard_normal((24, 1, 3, 3))).astype(np.float32))
    x = b.conv(b.add("Conv", [x, weights], 24, group=24, kernel_shape=[3, 3], pads=[1] * 4), 40, 1)
    gate = b.add("Sigmoid", [b.conv(b.add("GlobalAveragePool", [x], 40), 40, 1, activation=False)], 40)
    x = b.add("Mul", [x, gate], 40)
    x = b.add("AveragePool", [b.concat(x, b.conv(x, 16))], 56, kernel_shape=[2, 2], strides=[2, 2])
    b.save(path, [1, 3, 40, 56], [b.conv(x, 20, 1, activation=False), gate])


def mosaic(b, path):
    """Parts of rows and columns, and maps beside and above each other."""
    x = b.conv(b.input(3), 32, stride=2)
    parts = [b.crop(x, rows, (0, 24)) for rows in ((0, 9), (9, 20))]
    x = b.add("Concat", [b.conv(parts[0], 40), b.conv(parts[1], 40, 1)], 40, axis=2)
    x = b.add("Concat", [b.crop(x, (0, 20), (8, 24)), b.conv(b.crop(x, (0, 20), (0, 8)), 40)], 40, axis=3)
    b.save(path, [1, 3, 40, 48], [b.conv(b.pool(b.conv(x, 48)), 20, 1, activation=False)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for make in (yolov2_tiny, yolov3_tiny, yolov4_tiny, dense_block, residual, mosaic):
        make(Builder(arguments.seed), arguments.folder / f"{make.__name__}.onnx")
    yolov4_tiny(Builder(arguments.seed), arguments.folder / "yolov4_tiny_416.onnx", 416, 416)


if __name__ == "__main__":
    main()
