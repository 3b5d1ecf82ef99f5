#!/usr/bin/env python3
"""A small network with LeakyReLU that tells clothes apart: its training, its ONNX file, its accuracy on the array.

usage: fashion.py train WEIGHTS.npz [--epochs N]
       fashion.py measure --tools BIN --work FOLDER [--count N] [--weights WEIGHTS.npz]

The pictures are Fashion-MNIST, 28 x 28, of the Debian package dataset-fashion-mnist: 60,000 for training, 10,000
others for the measurement. --data names their folder where the package is not installed. `train` takes some minutes
of one core and needs numpy only. It writes filters and biases in 16 bits. `measure` needs onnx and onnxruntime. It
deploys the network in INT8 and INT16, with and without zero points, and runs the files on the simulated array.
"""

import argparse
import gzip
import pathlib
import subprocess
import sys

import numpy as np

DATA = "/usr/share/datasets/fashion-mnist"
HERE = pathlib.Path(__file__).resolve().parent
CHANNELS = (1, 16, 32, 64)
SLOPE = 0.1
CLASSES = 10
KINDS = (("INT16", False), ("INT16", True), ("INT8", True), ("INT8", False))


def read(folder, name):
    """Pictures [N, 1, 28, 28] from 0 to 1, and their classes."""
    folder = pathlib.Path(folder)
    if not folder.is_dir():
        sys.exit(f"{folder}: no folder; expected the pictures of the Debian package dataset-fashion-mnist, or --data")
    pixels = np.frombuffer(gzip.open(folder / f"{name}-images-idx3-ubyte.gz").read(), np.uint8, offset=16)
    labels = np.frombuffer(gzip.open(folder / f"{name}-labels-idx1-ubyte.gz").read(), np.uint8, offset=8)
    return pixels.reshape(-1, 1, 28, 28).astype(np.float32) / 255, labels.astype(np.int64)


# --- Training --------------------------------------------------------------------------------------------------


def columns_of(x):
    """The 3 x 3 windows of an image with pads of 1: [N, rows, columns, channels * 9]."""
    x = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))
    return windows.transpose(0, 2, 3, 1, 4, 5).reshape(*windows.shape[:1], *windows.shape[2:4], -1)


class Convolution:
    """3 x 3, LeakyReLU, and a max pool of 2 x 2, whose windows leave an odd last row and column out."""

    def __init__(self, rng, channels, kernels):
        scale = np.sqrt(2 / (9 * channels))
        self.values = [(scale * rng.standard_normal((kernels, channels * 9))).astype(np.float32),
                       np.zeros(kernels, np.float32)]

    def forward(self, x):
        self.columns = columns_of(x)
        y = self.columns @ self.values[0].T + self.values[1]
        self.slope = np.where(y > 0, np.float32(1), np.float32(SLOPE))
        y *= self.slope
        n, h, w, c = y.shape
        self.shape, self.even = y.shape, (h // 2 * 2, w // 2 * 2)
        blocks = y[:, :self.even[0], :self.even[1]].reshape(n, h // 2, 2, w // 2, 2, c)
        y = blocks.max((2, 4))
        self.most = blocks == y[:, :, None, :, None]
        return np.ascontiguousarray(y.transpose(0, 3, 1, 2))

    def backward(self, gradient):
        n, h, w, c = self.shape
        inner = (self.most * gradient.transpose(0, 2, 3, 1)[:, :, None, :, None]).reshape(n, *self.even, c)
        outer = np.zeros(self.shape, np.float32)
        outer[:, :self.even[0], :self.even[1]] = inner
        outer *= self.slope
        flat = outer.reshape(-1, c)
        self.gradients = [flat.T @ self.columns.reshape(flat.shape[0], -1), flat.sum(0)]
        parts = (outer @ self.values[0]).reshape(n, h, w, -1, 3, 3)
        result = np.zeros((n, parts.shape[3], h + 2, w + 2), np.float32)
        for r in range(3):
            for s in range(3):
                result[:, :, r:r + h, s:s + w] += parts[..., r, s].transpose(0, 3, 1, 2)
        return result[:, :, 1:-1, 1:-1]


class Product:
    def __init__(self, rng, size):
        self.values = [(np.sqrt(1 / size) * rng.standard_normal((CLASSES, size))).astype(np.float32),
                       np.zeros(CLASSES, np.float32)]

    def forward(self, x):
        self.shape, self.x = x.shape, x.reshape(len(x), -1)
        return self.x @ self.values[0].T + self.values[1]

    def backward(self, gradient):
        self.gradients = [gradient.T @ self.x, gradient.sum(0)]
        return (gradient @ self.values[0]).reshape(self.shape)


def make_layers(rng):
    layers = [Convolution(rng, a, b) for a, b in zip(CHANNELS, CHANNELS[1:])]
    return [*layers, Product(rng, CHANNELS[-1] * 9)]


def scores_of(layers, x):
    for layer in layers:
        x = layer.forward(x)
    return x


def train(path, data, epochs):
    pictures, labels = read(data, "train")
    rng = np.random.default_rng(1)
    layers = make_layers(rng)
    moments = [[(np.zeros_like(v), np.zeros_like(v)) for v in layer.values] for layer in layers]
    batch, step = 100, 0
    total = epochs * (len(pictures) // batch)
    for epoch in range(epochs):
        order, right = rng.permutation(len(pictures)), 0
        for begin in range(0, len(pictures) - batch + 1, batch):
            some = order[begin:begin + batch]
            x = np.where(rng.random((batch, 1, 1, 1)) < 0.5, pictures[some], pictures[some, :, :, ::-1])
            scores = scores_of(layers, x)
            right += (scores.argmax(1) == labels[some]).sum()
            chance = np.exp(scores - scores.max(1, keepdims=True))
            chance /= chance.sum(1, keepdims=True)
            chance[np.arange(batch), labels[some]] -= 1
            gradient = chance / batch
            for layer in reversed(layers):
                gradient = layer.backward(gradient)
            step += 1
            rate = 2e-3 * min(1, step / 200) * 0.5 * (1 + np.cos(np.pi * step / total))
            for layer, both in zip(layers, moments):
                for value, (first, second), slope in zip(layer.values, both, layer.gradients):
                    first += 0.1 * (slope - first)
                    second += 0.001 * (slope * slope - second)
                    value -= rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
        print(f"epoch {epoch + 1}: {100 * right / len(pictures):.2f} % of the pictures for training", flush=True)
        np.savez_compressed(path, **{f"{part}{i}": value.astype(np.float16) for i, layer in enumerate(layers)
                                     for part, value in zip("wb", layer.values)})


# --- ONNX ------------------------------------------------------------------------------------------------------


def export(path, weights):
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    nodes, constants, x = [], [], "x"

    def constant(name, shape=None):
        array = weights[name].astype(np.float32)
        constants.append(numpy_helper.from_array(array if shape is None else array.reshape(shape), name))
        return name

    for i, (a, b) in enumerate(zip(CHANNELS, CHANNELS[1:])):
        inputs = [x, constant(f"w{i}", (b, a, 3, 3)), constant(f"b{i}")]
        nodes.append(helper.make_node("Conv", inputs, [f"conv{i}"], f"conv{i}", kernel_shape=[3, 3], pads=[1] * 4))
        nodes.append(helper.make_node("LeakyRelu", [f"conv{i}"], [f"leaky{i}"], f"leaky{i}", alpha=SLOPE))
        x = f"pool{i}"
        nodes.append(helper.make_node("MaxPool", [f"leaky{i}"], [x], x, kernel_shape=[2, 2], strides=[2, 2]))
    last = len(CHANNELS) - 1
    nodes.append(helper.make_node("Flatten", [x], ["flat"], "flat"))
    nodes.append(helper.make_node("Gemm", ["flat", constant(f"w{last}"), constant(f"b{last}")], ["scores"], "scores",
                                  transB=1))
    graph = helper.make_graph(nodes, "fashion", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 28, 28])],
                              [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, CLASSES])], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


# --- Measurement -----------------------------------------------------------------------------------------------


def call(command, work):
    done = subprocess.run([str(part) for part in command], cwd=work, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}{done.stdout}")


def measure(options):
    import onnxruntime
    tools, work = options.tools.resolve(), options.work.resolve()
    samples = work / "samples"
    samples.mkdir(parents=True, exist_ok=True)
    export(work / "fashion.onnx", np.load(options.weights))
    pictures, labels = read(options.data, "t10k")
    pictures, labels = pictures[:options.count], labels[:options.count]
    training, _ = read(options.data, "train")
    for i in range(100):
        np.save(samples / f"{i}.npy", training[i:i + 1])
    call([tools / "model_transform", "--model_name", "fashion", "--model_def", "fashion.onnx", "--mlir",
          "fashion.mlir"], work)
    call([tools / "run_calibration", "fashion.mlir", "--dataset", samples, "-o", "fashion.table"], work)
    session = onnxruntime.InferenceSession(work / "fashion.onnx")
    floats = np.concatenate([session.run(None, {"x": picture[None]})[0] for picture in pictures])
    exact = 100 * (floats.argmax(1) == labels).mean()
    print(f"{'float (ONNX Runtime)':<24}{exact:>8.2f} % of {len(labels)} pictures")
    found = {}
    test = work / "test"
    test.mkdir(exist_ok=True)
    for i, picture in enumerate(pictures):
        np.save(test / f"{i:05}.npy", picture[None])
    for kind, zero_points in KINDS:
        call([tools / "model_deploy", "--mlir", "fashion.mlir", "--chip", "dnnweaver", "--quantize", kind,
              "--calibration_table", "fashion.table", "--model", "fashion.tpum",
              *["--asymmetric"] * zero_points], work)
        call([tools / "model_runner", "--model", "fashion.tpum", "--input", test, "--output", work / "results"], work)
        scores = np.concatenate([np.load(work / "results" / f"{i:05}.npz")["scores"] for i in range(len(labels))])
        found[kind, zero_points] = right = 100 * (scores.argmax(1) == labels).mean()
        name = f"{kind}{' with zero points' if zero_points else ''}"
        print(f"{name:<24}{right:>8.2f} %, {right - exact:+.2f} points; {(scores.argmax(1) == floats.argmax(1)).mean():.2%} "
              "as float", flush=True)
    demands = (
        ("INT16 within 0.1 point of float", max(abs(found["INT16", z] - exact) for z in (False, True)) <= 0.1),
        ("INT8 with zero points within 1 point of float", exact - found["INT8", True] <= 1),
        ("INT8 with zero points at least as good as without", found["INT8", True] >= found["INT8", False]))
    for text, holds in demands:
        print(f"{'yes' if holds else 'NO ':<4}{text}")
    return 0 if all(holds for _, holds in demands) else 1


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("train")
    command.add_argument("weights")
    command.add_argument("--epochs", type=int, default=12)
    command.add_argument("--data", default=DATA)
    command = commands.add_parser("measure")
    command.add_argument("--tools", type=pathlib.Path, required=True)
    command.add_argument("--work", type=pathlib.Path, required=True)
    command.add_argument("--count", type=int, default=10000)
    command.add_argument("--weights", default=HERE / "fashion.npz")
    command.add_argument("--data", default=DATA)
    options = parser.parse_args()
    if options.command == "measure":
        return measure(options)
    train(options.weights, options.data, options.epochs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
