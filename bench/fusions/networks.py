#!/usr/bin/env python3
"""Writes small networks of random weights as exporters write them, for what the models at hand lack.

  networks.py FOLDER

One for each of: attention of BERT and of a decoder with rotary embeddings and shared heads,
interleaved rotary embeddings, LSTM and GRU written out step by step, normalizations whose sums lose
their dimension, convolutions beside each other. Prints the files. Needs numpy and onnx.
"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper

FLOAT = onnx.TensorProto.FLOAT


class Network:
    """Nodes in order; every value has a name of its own."""

    def __init__(self, name, inputs, seed=0):
        self.name, self.inputs = name, inputs
        self.nodes, self.constants, self.outputs = [], [], []
        self.random = np.random.default_rng(seed)

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def floats(self, values):
        return self.constant(np.asarray(values, np.float32))

    def ints(self, *values):
        return self.constant(np.asarray(values, np.int64))

    def weight(self, *shape, scale=None):
        """Normal numbers, small enough that products of them stay around 1."""
        return self.floats(self.random.normal(0, scale or shape[0] ** -0.5, shape))

    def add(self, kind, *inputs, outputs=1, **attributes):
        names = [f"{kind.lower()}{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, name=names[0], **attributes))
        return names[0] if outputs == 1 else names

    def output(self, name):
        self.outputs.append(self.add("Identity", name))

    def linear(self, x, inputs, outputs):
        return self.add("Add", self.add("MatMul", x, self.weight(inputs, outputs)),
                        self.weight(outputs, scale=0.1))

    def save(self, folder):
        inputs = [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in self.inputs.items()]
        outputs = [helper.make_empty_tensor_value_info(name) for name in self.outputs]
        graph = helper.make_graph(self.nodes, self.name, inputs, outputs, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        model = onnx.shape_inference.infer_shapes(model)
        onnx.checker.check_model(model)
        path = pathlib.Path(folder) / f"{self.name}.onnx"
        onnx.save(model, path)
        print(path)


def heads(net, x, steps, count, size):
    """[1, S, H * D] as [1, H, S, D]."""
    return net.add("Transpose", net.add("Reshape", x, net.ints(1, steps, count, size)), perm=[0, 2, 1, 3])


def attend(net, scores, v, steps, width):
    y = net.add("MatMul", net.add("Softmax", scores, axis=-1), v)
    return net.add("Reshape", net.add("Transpose", y, perm=[0, 2, 1, 3]), net.ints(1, steps, width))


def bert(steps=64, count=4, size=32):
    """Keys permuted at once, the scores divided, a mask added."""
    width = count * size
    net = Network("bert", {"x": [1, steps, width], "mask": [1, steps]}, 1)
    q = heads(net, net.linear("x", width, width), steps, count, size)
    k = net.add("Reshape", net.linear("x", width, width), net.ints(1, steps, count, size))
    v = heads(net, net.linear("x", width, width), steps, count, size)
    k = net.add("Transpose", k, perm=[0, 2, 3, 1])
    scores = net.add("Div", net.add("MatMul", q, k), net.floats(size ** 0.5))
    mask = net.add("Unsqueeze", "mask", net.ints(1, 2))
    mask = net.add("Mul", net.add("Sub", net.floats(1), mask), net.floats(-10000))
    net.output(attend(net, net.add("Add", scores, mask), v, steps, width))
    return net


def angles(steps, size):
    return np.outer(np.arange(steps), 10000.0 ** (-np.arange(0, size, 2) / size))


def decoder(steps=48, count=4, shared=2, size=32):
    """Halves turned by rotary embeddings, heads that share keys, a causal condition, split scales."""
    net = Network("decoder", {"x": [1, steps, count * size]}, 2)
    width = count * size
    both = np.concatenate([angles(steps, size)] * 2, -1)
    cos, sin = net.floats(np.cos(both)[None, None]), net.floats(np.sin(both)[None, None])

    def turn(x):
        first = net.add("Slice", x, net.ints(0), net.ints(size // 2), net.ints(3), net.ints(1))
        second = net.add("Slice", x, net.ints(size // 2), net.ints(2 ** 63 - 1), net.ints(3), net.ints(1))
        turned = net.add("Concat", net.add("Neg", second), first, axis=-1)
        return net.add("Add", net.add("Mul", x, cos), net.add("Mul", turned, sin))

    def repeat(x):
        x = net.add("Expand", net.add("Unsqueeze", x, net.ints(2)), net.ints(1, shared, count // shared, steps, size))
        return net.add("Reshape", x, net.ints(1, count, steps, size))

    root = net.floats(size ** -0.25)
    q = net.add("Mul", turn(heads(net, net.linear("x", width, width), steps, count, size)), root)
    k = repeat(turn(heads(net, net.linear("x", width, shared * size), steps, shared, size)))
    v = repeat(heads(net, net.linear("x", width, shared * size), steps, shared, size))
    k = net.add("Mul", net.add("Transpose", k, perm=[0, 1, 3, 2]), root)
    visible = net.constant(np.tril(np.ones((1, 1, steps, steps), bool)))
    scores = net.add("Where", visible, net.add("MatMul", q, k), net.floats(np.finfo(np.float32).min))
    net.output(attend(net, scores, v, steps, width))
    return net


def interleaved(steps=20, count=3, size=16, turned=8):
    """Even and odd elements of the first half of each head, [1, S, H, D]; cos and sin per pair."""
    net = Network("interleaved", {"x": [1, steps, count, size]}, 3)
    each = angles(steps, turned)
    cos, sin = (net.floats(f(each)[None, :, None]) for f in (np.cos, np.sin))
    first, rest = net.add("Split", "x", net.ints(turned, size - turned), outputs=2, axis=-1)
    a = net.add("Slice", first, net.ints(0), net.ints(turned), net.ints(3), net.ints(2))
    b = net.add("Slice", first, net.ints(1), net.ints(turned), net.ints(3), net.ints(2))
    real = net.add("Sub", net.add("Mul", a, cos), net.add("Mul", b, sin))
    imaginary = net.add("Add", net.add("Mul", a, sin), net.add("Mul", b, cos))
    pairs = net.add("Concat", *(net.add("Unsqueeze", each, net.ints(4)) for each in (real, imaginary)), axis=-1)
    y = net.add("Reshape", pairs, net.ints(1, steps, count, turned))
    net.output(net.add("Concat", y, rest, axis=-1))
    return net


def lstm(steps=12, size=24, hidden=32):
    """Two layers, the second one backwards: gates i f g o in one sum, zeros as first state."""
    net = Network("lstm", {"x": [2, steps, size]}, 4)
    x, width = "x", size
    for layer in range(2):
        w, r = net.weight(width, 4 * hidden), net.weight(hidden, 4 * hidden)
        b = net.weight(4 * hidden, scale=0.1)
        h = c = net.floats(np.zeros((2, hidden)))
        states = [None] * steps
        for t in reversed(range(steps)) if layer else range(steps):
            now = net.add("Gather", x, net.constant(np.int64(t)), axis=1)
            z = net.add("Add", net.add("Add", net.add("MatMul", now, w), net.add("MatMul", h, r)), b)
            i, f, g, o = net.add("Split", z, outputs=4, axis=1)
            i, f, o = (net.add("Sigmoid", each) for each in (i, f, o))
            c = net.add("Add", net.add("Mul", f, c), net.add("Mul", i, net.add("Tanh", g)))
            h = net.add("Mul", o, net.add("Tanh", c))
            states[t] = net.add("Unsqueeze", h, net.ints(1))
        x, width = net.add("Concat", *states, axis=1), hidden
    for each in (x, h, c):
        net.output(each)
    return net


def gru(name, resets_first, steps=10, size=24, hidden=16):
    """`resets_first`: r * h in front of the product, only the last state read, h + z * (n - h)
    written as such; else gates of their own weights and all states, steps in front."""
    net = Network(name, {"x": [steps, 2, size], "h": [2, hidden]}, 5)
    w = [net.weight(size, hidden) for _ in range(3)]
    r = [net.weight(hidden, hidden) for _ in range(3)]
    b = [net.weight(hidden, scale=0.1) for _ in range(4)]
    h, states = "h", []
    parts = net.add("Split", "x", outputs=steps, axis=0)
    for t in range(steps):
        now = net.add("Squeeze", parts[t], net.ints(0))

        def gate(index, state):
            return net.add("Add", net.add("Add", net.add("MatMul", now, w[index]), b[index]),
                           net.add("MatMul", state, r[index]))

        z, reset = (net.add("Sigmoid", gate(index, h)) for index in (0, 1))
        if resets_first:
            n = net.add("Tanh", gate(2, net.add("Mul", reset, h)))
            h = net.add("Add", n, net.add("Mul", z, net.add("Sub", h, n)))
        else:
            inner = net.add("Mul", reset, net.add("Add", net.add("MatMul", h, r[2]), b[3]))
            n = net.add("Tanh", net.add("Add", net.add("Add", net.add("MatMul", now, w[2]), b[2]), inner))
            new = net.add("Mul", net.add("Sub", net.floats(1), z), n)
            h = net.add("Add", new, net.add("Mul", z, h))
        states.append(net.add("Unsqueeze", h, net.ints(0)))
    net.output(h if resets_first else net.add("Concat", *states, axis=0))
    return net


def norms(rows=40, size=64):
    """Variances as differences of means without their dimension, weights that meet the root first."""
    net = Network("norms", {"x": [rows, size]}, 6)

    def mean(x):
        return net.add("Mul", net.add("ReduceSum", x, net.ints(1), keepdims=0), net.floats(1 / size))

    def column(x):
        return net.add("Reshape", x, net.ints(rows, 1))

    m = mean("x")
    v = net.add("Sub", mean(net.add("Mul", "x", "x")), net.add("Mul", m, m))
    v = net.add("Add", column(net.add("Max", v, net.floats(0))), net.floats(1e-6))
    scale = net.add("Mul", net.add("Reciprocal", net.add("Sqrt", v)), net.weight(1, size))
    y = net.add("Add", net.add("Mul", net.add("Sub", "x", column(m)), scale), net.weight(1, size))
    most = column(net.add("ReduceMax", y, axes=[1], keepdims=0))
    e = net.add("Exp", net.add("Sub", y, most))
    net.output(net.add("Div", e, column(net.add("ReduceSum", e, net.ints(1), keepdims=0))))
    return net


def branches(size=20):
    """Heads of few channels, and convolutions that are concatenated in another order."""
    net = Network("branches", {"x": [1, 3, size, size]}, 7)

    def conv(x, inputs, outputs, kernel):
        w = net.weight(outputs, inputs, kernel, kernel, scale=(inputs * kernel * kernel) ** -0.5)
        return net.add("Conv", x, w, net.weight(outputs, scale=0.1), kernel_shape=[kernel] * 2, pads=[kernel // 2] * 4)

    x = net.add("Relu", conv("x", 3, 32, 3))
    a, b = (net.add("Relu", conv(x, 32, width, 1)) for width in (12, 20))
    y = net.add("Relu", conv(net.add("Concat", b, x, axis=1), 52, 32, 3))
    y = net.add("Concat", *(net.add("LeakyRelu", conv(y, 32, width, 3), alpha=0.1) for width in (8, 40)), axis=1)
    for head in (net.add("Sigmoid", conv(y, 48, width, 1)) for width in (2, 4, 1)):
        net.output(head)
    net.output(a)
    return net


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for net in (bert(), decoder(), interleaved(), lstm(), gru("gru", False), gru("gru_resets_first", True),
                norms(), branches()):
        net.save(folder)


if __name__ == "__main__":
    main()
