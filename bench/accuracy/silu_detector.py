#!/usr/bin/env python3
"""Writes a detector of YOLOv8n's topology whose activations have ranges as a trained one has them.

usage: silu_detector.py SAMPLES OUT.onnx
Nobody distributes trained weights that may be used freely, so these are random: heavy-tailed, with
channels of different gain. As in training, batch normalization with the statistics of photographs
(the npz files of the folder SAMPLES, images in 0 to 1) brings each channel to a scale and shift of
its own, and is folded into the convolution. The last layers give few high scores, as detectors do.
Input images 1x3x320x320; output 1x84x2100: centre, size, 80 scores.
Needs numpy, onnx and onnxruntime.
"""

import glob
import os
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

OPSET = helper.make_opsetid("", 13)
SIDE = 320
STRIDES = (8, 16, 32)
BINS = 16
CLASSES = 80
PICTURES = 16


class Builder:
    """Adds nodes to a graph and computes each at once on the pictures."""

    def __init__(self, pictures):
        self.rng = np.random.default_rng(8)
        self.nodes, self.constants = [], []
        self.values = {"images": pictures}

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(array, name))
        self.values[name] = array
        return name

    def evaluate(self, node):
        def info(name):
            array = self.values[name]
            return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        graph = helper.make_graph([node], "one", [info(name) for name in dict.fromkeys(node.input)],
                                  [helper.make_empty_tensor_value_info(name) for name in node.output])
        model = helper.make_model(graph, opset_imports=[OPSET], ir_version=8)
        session = onnxruntime.InferenceSession(model.SerializeToString(), OPTIONS)
        for name, array in zip(node.output, session.run(None, {name: self.values[name] for name in node.input})):
            self.values[name] = array

    def op(self, kind, *inputs, results=1, **attributes):
        names = [f"{kind.lower()}{len(self.nodes)}_{i}" for i in range(results)]
        node = helper.make_node(kind, inputs, names, name=names[0], **attributes)
        self.nodes.append(node)
        self.evaluate(node)
        return names[0] if results == 1 else names

    def reshape(self, x, *dims):
        return self.op("Reshape", x, self.constant(np.array(dims, np.int64)))

    def conv(self, x, channels, kernel, stride=1, scale=None, shift=None):
        """A convolution whose results have that standard deviation and mean over the pictures."""
        inputs = self.values[x].shape[1]
        weight = self.rng.standard_t(4, (channels, inputs, kernel, kernel)).astype(np.float32)
        weight *= self.rng.lognormal(0, 0.3, (1, inputs, 1, 1)).astype(np.float32)
        if scale is None:
            scale = self.rng.lognormal(0, 0.4, channels)
            shift = self.rng.normal(-0.3, 0.6, channels)
        attributes = {"strides": [stride] * 2, "pads": [kernel // 2] * 4, "kernel_shape": [kernel] * 2}
        raw = helper.make_node("Conv", [x, "raw_weight"], ["raw"], **attributes)
        self.values["raw_weight"] = weight
        self.evaluate(raw)
        result = self.values["raw"]
        factor = scale / np.sqrt(result.var(axis=(0, 2, 3)) + 1e-5)
        bias = shift - result.mean(axis=(0, 2, 3)) * factor
        return self.op("Conv", x, self.constant((weight * factor[:, None, None, None]).astype(np.float32)),
                       self.constant(bias.astype(np.float32)), **attributes)

    def block(self, x, channels, kernel=1, stride=1):
        y = self.conv(x, channels, kernel, stride)
        return self.op("Mul", y, self.op("Sigmoid", y))

    def c2f(self, x, channels, depth, shortcut):
        half = channels // 2
        parts = self.op("Split", self.block(x, channels), self.constant(np.array([half, half], np.int64)),
                        results=2, axis=1)
        for _ in range(depth):
            y = self.block(self.block(parts[-1], half, 3), half, 3)
            parts.append(self.op("Add", parts[-1], y) if shortcut else y)
        return self.block(self.op("Concat", *parts, axis=1), channels)

    def pyramid_pool(self, x, channels):
        pools = [self.block(x, channels // 2)]
        for _ in range(3):
            pools.append(self.op("MaxPool", pools[-1], kernel_shape=[5, 5], pads=[2] * 4, strides=[1, 1]))
        return self.block(self.op("Concat", *pools, axis=1), channels)

    def up_and_concat(self, x, with_):
        scales = self.constant(np.array([1, 1, 2, 2], np.float32))
        up = self.op("Resize", x, self.constant(np.zeros(0, np.float32)), scales, mode="nearest",
                     coordinate_transformation_mode="asymmetric", nearest_mode="floor")
        return self.op("Concat", up, with_, axis=1)

    def head(self, x):
        """Distances as BINS logits per side, and the logits of the classes, of one level."""
        box = self.conv(self.block(self.block(x, 64, 3), 64, 3), 4 * BINS, 1, scale=2.0, shift=1.0)
        score = self.conv(self.block(self.block(x, CLASSES, 3), CLASSES, 3), CLASSES, 1, scale=1.6, shift=-6.0)
        return self.reshape(self.op("Concat", box, score, axis=1), 0, 4 * BINS + CLASSES, -1)

    def decode(self, levels):
        centres = np.concatenate([np.stack(np.meshgrid(*[np.arange(SIDE // s, dtype=np.float32) + 0.5] * 2))
                                  .reshape(2, -1) for s in STRIDES], axis=1)[None]
        strides = np.concatenate([np.full((SIDE // s) ** 2, s, np.float32) for s in STRIDES])[None, None]
        sizes = self.constant(np.array([4 * BINS, CLASSES], np.int64))
        box, score = self.op("Split", self.op("Concat", *levels, axis=2), sizes, results=2, axis=1)
        sides = self.op("Transpose", self.reshape(box, 0, 4, BINS, -1), perm=[0, 2, 1, 3])
        expected = self.op("Conv", self.op("Softmax", sides, axis=1),
                           self.constant(np.arange(BINS, dtype=np.float32).reshape(1, BINS, 1, 1)))
        low, high = self.op("Split", self.reshape(expected, 0, 4, -1), self.constant(np.array([2, 2], np.int64)),
                            results=2, axis=1)
        low = self.op("Sub", self.constant(centres), low)
        high = self.op("Add", self.constant(centres), high)
        middle = self.op("Mul", self.op("Add", low, high), self.constant(np.array(0.5, np.float32)))
        box = self.op("Concat", middle, self.op("Sub", high, low), axis=1)
        box = self.op("Mul", box, self.constant(strides))
        return self.op("Concat", box, self.op("Sigmoid", score), axis=1)

    def network(self):
        x = self.block(self.block("images", 16, 3, 2), 32, 3, 2)
        x = self.block(self.c2f(x, 32, 1, True), 64, 3, 2)
        fine = self.c2f(x, 64, 2, True)
        middle = self.c2f(self.block(fine, 128, 3, 2), 128, 2, True)
        coarse = self.pyramid_pool(self.c2f(self.block(middle, 256, 3, 2), 256, 1, True), 256)
        middle = self.c2f(self.up_and_concat(coarse, middle), 128, 1, False)
        fine = self.c2f(self.up_and_concat(middle, fine), 64, 1, False)
        middle = self.c2f(self.op("Concat", self.block(fine, 64, 3, 2), middle, axis=1), 128, 1, False)
        coarse = self.c2f(self.op("Concat", self.block(middle, 128, 3, 2), coarse, axis=1), 256, 1, False)
        return self.decode([self.head(level) for level in (fine, middle, coarse)])

    def model(self):
        out = self.network()
        dims = [1, *self.values[out].shape[1:]]
        graph = helper.make_graph(
            self.nodes, "silu_detector",
            [helper.make_tensor_value_info("images", TensorProto.FLOAT, [1, 3, SIDE, SIDE])],
            [helper.make_tensor_value_info(out, TensorProto.FLOAT, dims)], self.constants)
        return helper.make_model(graph, opset_imports=[OPSET], ir_version=8)


OPTIONS = onnxruntime.SessionOptions()
OPTIONS.intra_op_num_threads = 1
OPTIONS.log_severity_level = 3


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    files = sorted(glob.glob(os.path.join(sys.argv[1], "*.npz")))
    if len(files) < PICTURES:
        sys.exit(f"silu_detector.py: {sys.argv[1]}: {len(files)} npz files, expected at least {PICTURES}")
    pictures = np.concatenate([np.load(file)["images"] for file in files[::len(files) // PICTURES][:PICTURES]])
    model = Builder(pictures).model()
    onnx.checker.check_model(model)
    onnx.save(model, sys.argv[2])


if __name__ == "__main__":
    main()
