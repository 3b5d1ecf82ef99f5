#===- rounding_cases.py - Float ops and their formulas in 64 bits --------------===#
#
# Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===-----------------------------------------------------------------------===#
"""The cases of rounding.py: an op with its attributes, what it reads, and its formula in numpy."""

import math
from dataclasses import dataclass, field

import numpy as np

# Means and standard deviations of the parts of an input, which are measured one by one.
PARTS = ((0, 1), (0, 8), (3, 1), (-1.5, 0.5), (0, 1 / 16))
POSITIVE = ((1, 0.2), (8, 2), (0.25, 0.05), (40, 8))
SMALL = ((0, 1), (3, 1), (-1.5, 0.5), (0, 1 / 16))
MAP = (48, 16, 16)


def normal(rng, shape, parts, axis=0):
    """Parts of a shape each, one after the other along an axis of their own or that they share."""
    arrays = [rng.normal(mean, spread, shape) for mean, spread in parts]
    return np.stack(arrays) if axis == 0 else np.concatenate(arrays, axis)


@dataclass
class Case:
    """`inputs` and `weights` give arrays from a generator of random numbers; `formula` takes both by
    position. `stored` names the weights that the format stores as they are."""
    name: str
    op: str
    formula: object
    inputs: dict
    weights: dict = field(default_factory=dict)
    attributes: str = ""
    operands: tuple = ()
    stored: tuple = ()
    unused: int = 0
    segments: int = 0
    # What `x` goes through first, (op, number) each, and is named behind.
    numbers: tuple = ()

    def draw(self, rng, rounded):
        inputs = {name: rounded(make(rng)) for name, make in self.inputs.items()}
        weights = {name: np.float32(make(rng)).astype(np.float64) for name, make in self.weights.items()}
        for name in self.stored:
            weights[name] = rounded(weights[name])
        with np.errstate(all="ignore"):
            wanted = np.asarray(self.formula(*inputs.values(), *weights.values()), np.float64)
        return inputs, weights, wanted

    def statement(self, types, result):
        """The op in the top dialect, with its result %r."""
        names = self.operands or (*self.inputs, *self.weights)
        results = ["%r"] + [f"%r{number}" for number in range(self.unused)]
        kinds = ", ".join([result] + ["none"] * self.unused)
        first, kind = "", types.get("x")
        for index, (op, number) in enumerate(self.numbers):
            made = f"number{index}"
            first += (f'%{made} = "top.{op}"(%{names[0]}) {{const_val = {number!r} : f64}} : ({kind}) -> {kind} '
                      f'loc("{made}")\n')
            names, types = (made, *names[1:]), {**types, made: kind}
        return (f'{first}{", ".join(results)} = "top.{self.op}"({", ".join("%" + name for name in names)}) '
                f'{{{self.attributes}}} : ({", ".join(types[name] for name in names)}) -> ({kinds}) '
                f'loc("r")')


def unary(name, formula, attributes="", op=None, parts=PARTS):
    return Case(name, op or name, formula, {"x": lambda rng: normal(rng, MAP, parts)},
                attributes=attributes)


def binary(name, formula, parts=PARTS, attributes="", op=None, shape=MAP):
    return Case(name, op or name, formula, {"x": lambda rng: normal(rng, MAP, parts),
                                            "y": lambda rng: normal(rng, shape, parts)},
                attributes=attributes)


def with_channels(name, op, formula, count, parts=PARTS):
    """Of one number for each channel, or several."""
    def numbers(rng):
        return rng.uniform(0.3, 1.7, (48, 1, 1))
    return Case(name, op, formula, {"x": lambda rng: normal(rng, MAP, parts)},
                {f"w{number}": numbers for number in range(count)})


def with_number(name, formula, number, reverse=False):
    text = ", is_reverse = true" if reverse else ""
    return Case(f"{name} {number:.3g}{' - x' if reverse and name.startswith('Sub') else ''}"
                f"{' / x' if reverse and name.startswith('Div') else ''}", name,
                lambda x: formula(x, number),
                {"x": lambda rng: normal(rng, MAP, POSITIVE if name.startswith("Div") and reverse else PARTS)},
                attributes=f"const_val = {number!r} : f64{text}")


def power(name, number):
    return Case(f"{name} {number:g}", "PowConst", lambda x: x ** number,
                {"x": lambda rng: normal(rng, MAP, POSITIVE[:3])}, attributes=f"const_val = {number!r} : f64")


def lrn(name, size, alpha, beta, bias=1.0, within=False):
    """Squares of neighbours, before and behind along each of some axes."""
    def formula(x):
        sums = x * x
        for axis in ((2, 3) if within else (1,)):
            pads = [(0, 0)] * 4
            pads[axis] = ((size - 1) // 2, size // 2)
            padded = np.pad(sums, pads)
            sums = sum(np.take(padded, range(first, first + x.shape[axis]), axis) for first in range(size))
        return x / (bias + alpha / (size * size if within else size) * sums) ** beta
    attributes = f"size = {size} : i64, alpha = {alpha!r} : f64, beta = {beta!r} : f64, bias = {bias!r} : f64"
    return Case(name, "LRN", formula, {"x": lambda rng: normal(rng, MAP, PARTS)},
                attributes=attributes + ", within_channel = true" * within)


#===--- Formulas ---------------------------------------------------------------===#


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


erf = np.vectorize(math.erf)


def elu(x, alpha=1.0):
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def softplus(x):
    return np.logaddexp(x, 0)


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def windows(x, kernel, stride, pad, value=0.0):
    """x [n,c,h,w] as [n,c,oh,ow,kh,kw]."""
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)), constant_values=value)
    return np.lib.stride_tricks.sliding_window_view(x, kernel, (2, 3))[:, :, ::stride, ::stride]


def convolution(kernel, stride, pad, group):
    def formula(x, w, b):
        seen = windows(x, (kernel, kernel), stride, pad)
        n, c, h, wide = seen.shape[:4]
        seen = seen.reshape(n, group, c // group, h, wide, kernel, kernel)
        filters = w.reshape(group, w.shape[0] // group, *w.shape[1:])
        sums = np.einsum("ngchwyx,gocyx->ngohw", seen, filters, optimize=True)
        return sums.reshape(n, -1, h, wide) + b[:, None, None]
    return formula


def conv(name, inputs, outputs, kernel, stride=1, group=1, attributes="", after=lambda x: x, size=16):
    formula = convolution(kernel, stride, kernel // 2, group)
    fan_in = inputs // group * kernel * kernel
    return Case(name, "Conv", lambda x, w, b: after(formula(x, w, b)),
                {"x": lambda rng: normal(rng, (inputs, size, size), PARTS)},
                {"w": lambda rng: rng.normal(0.3, 1, (outputs, inputs // group, kernel, kernel)) / fan_in ** 0.5,
                 "b": lambda rng: rng.normal(0, 1, outputs)},
                f"kernel_shape = [{kernel}, {kernel}], strides = [{stride}, {stride}], "
                f"pads = [{', '.join([str(kernel // 2)] * 4)}], group = {group} : i64{attributes}",
                stored=("w",))


def behind_numbers(case):
    """Of 0.25 x - 0.2, which the convolution takes over; around it stands 0."""
    formula = case.formula
    case.formula = lambda x, w, b: formula(0.25 * x - 0.2, w, b)
    case.numbers = (("MulConst", 0.25), ("AddConst", -0.2))
    return case


def deconvolution(x, w, b):
    """Of stride 2 and a kernel of 2: each element becomes four."""
    n, _, h, wide = x.shape
    sums = np.einsum("nchw,coyx->nohywx", x, w).reshape(n, w.shape[1], 2 * h, 2 * wide)
    return sums + b[:, None, None]


def average(kernel, stride, pad, counts_padding):
    def formula(x):
        sums = windows(x, (kernel, kernel), stride, pad).sum((4, 5))
        if counts_padding:
            return sums / kernel ** 2
        return sums / windows(np.ones_like(x), (kernel, kernel), stride, pad).sum((4, 5))
    return formula


def pool(kernel, stride, pad=0, counts_padding=True):
    text = " of borders" if not counts_padding else ""
    return Case(f"AvgPool {kernel}x{kernel}{text}", "AvgPool", average(kernel, stride, pad, counts_padding),
                {"x": lambda rng: normal(rng, (48, 28, 28), PARTS)},
                attributes=f"kernel_shape = [{kernel}, {kernel}], strides = [{stride}, {stride}], "
                           f"pads = [{pad}, {pad}, {pad}, {pad}], "
                           f"count_include_pad = {'true' if counts_padding else 'false'}")


def linear_taps(count, places):
    places = np.clip(places, 0, count - 1)
    first = np.minimum(np.floor(places).astype(int), count - 1)
    second = np.minimum(first + 1, count - 1)
    weights = np.zeros((len(places), count))
    for row, (at, low, high) in enumerate(zip(places, first, second)):
        weights[row, low] += 1 - (at - low)
        weights[row, high] += at - low
    return weights


def resize(name, scale, mode, size=16):
    out = int(size * scale)
    steps = np.arange(out)
    places = (steps + 0.5) * size / out - 0.5 if mode == "half_pixel" else steps * (size - 1) / (out - 1)
    taps = linear_taps(size, places)
    return Case(name, "Interp", lambda x: taps @ x @ taps.T,
                {"x": lambda rng: normal(rng, (24, size, size), PARTS)},
                attributes=f'mode = "linear", coord_mode = "{mode}", scales = [1.0, 1.0, {scale}, {scale}]',
                operands=("x", "none", "none", "none"))


def standardized(x, axes, epsilon=1e-5, centers=True):
    if centers:
        x = x - x.mean(axes, keepdims=True)
    return x / np.sqrt((x * x).mean(axes, keepdims=True) + epsilon)


def norm(name, op, shape, size, formula, attributes="", unused=0, parameters=2):
    weights = {"g": lambda rng: rng.uniform(0.3, 1.7, size), "h": lambda rng: rng.normal(0, 1, size)}
    return Case(name, op, formula, {"x": lambda rng: normal(rng, shape, SMALL)},
                dict(list(weights.items())[:parameters]), attributes, unused=unused)


def group_norm(x, g, h):
    parts = standardized(x.reshape(x.shape[0], 4, -1), 2).reshape(x.shape)
    return parts * g[:, None, None] + h[:, None, None]


def reduce(name, mode, axes, formula, shape=MAP, parts=PARTS):
    return Case(name, "Reduce", formula, {"x": lambda rng: normal(rng, shape, parts)},
                attributes=f'axes = {list(axes)}, mode = "{mode}", keepdims = true', operands=("x", "none"))


def attention(q, k, v):
    return softmax(q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5) @ v


UNITS = 64


def lstm(x, w, u, b):
    """Gates in ONNX's order: input, output, forget, cell."""
    steps, batch, _ = x.shape
    hidden, cell = np.zeros((batch, UNITS)), np.zeros((batch, UNITS))
    results = []
    for step in range(steps):
        gates = x[step] @ w[0].T + hidden @ u[0].T + b[0, :4 * UNITS] + b[0, 4 * UNITS:]
        i, o, f, c = np.split(gates, 4, -1)
        cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(c)
        hidden = sigmoid(o) * np.tanh(cell)
        results.append(hidden)
    return np.stack(results)[:, None]


def gru(x, w, u, b):
    """Gates in ONNX's order: update, reset, hidden; the reset follows the product."""
    steps, batch, _ = x.shape
    hidden = np.zeros((batch, UNITS))
    results = []
    for step in range(steps):
        wx = np.split(x[step] @ w[0].T + b[0, :3 * UNITS], 3, -1)
        uh = np.split(hidden @ u[0].T + b[0, 3 * UNITS:], 3, -1)
        z, r = sigmoid(wx[0] + uh[0]), sigmoid(wx[1] + uh[1])
        hidden = (1 - z) * np.tanh(wx[2] + r * uh[2]) + z * hidden
        results.append(hidden)
    return np.stack(results)[:, None]


def rnn(x, w, u, b):
    steps, batch, _ = x.shape
    hidden = np.zeros((batch, UNITS))
    results = []
    for step in range(steps):
        hidden = np.tanh(x[step] @ w[0].T + hidden @ u[0].T + b[0, :UNITS] + b[0, UNITS:])
        results.append(hidden)
    return np.stack(results)[:, None]


def cell(op, formula, gates, more, unused, attributes=""):
    weights = {"w": lambda rng: rng.normal(0, 0.2, (1, gates * UNITS, 32)),
               "u": lambda rng: rng.normal(0, 0.1, (1, gates * UNITS, UNITS)),
               "b": lambda rng: rng.normal(0, 0.5, (1, 2 * gates * UNITS))}
    return Case(op, op, formula, {"x": lambda rng: rng.normal(0, 1, (8, 32, 32))}, weights,
                f"hidden_size = {UNITS} : i64{attributes}", ("x", "w", "u", "b") + ("none",) * more,
                ("w", "u"), unused, segments=0)


def product(name, attributes="", right=(64, 40), turned=False, after=lambda x: x):
    return Case(name, "MatMul", lambda x, w, b: after(x @ (w.T if turned else w) + b),
                {"x": lambda rng: normal(rng, (200, 64), PARTS)},
                {"w": lambda rng: rng.normal(0.05, 0.125, right[::-1] if turned else right),
                 "b": lambda rng: rng.normal(0, 1, right[1])}, attributes, stored=("w",))


CASES = [
    unary("Relu", lambda x: np.maximum(x, 0)),
    unary("Clip", lambda x: np.clip(x, -0.7, 2.3), "min = -0.7 : f64, max = 2.3 : f64"),
    unary("LeakyRelu", lambda x: np.where(x > 0, x, 0.1 * x), "alpha = 0.1 : f64"),
    unary("Abs", np.abs),
    unary("Neg", np.negative),
    unary("Sqrt", np.sqrt, parts=POSITIVE),
    unary("Rsqrt", lambda x: 1 / np.sqrt(x), parts=POSITIVE),
    unary("Reciprocal", lambda x: 1 / x, parts=POSITIVE),
    unary("Exp", np.exp, parts=SMALL),
    unary("Log", np.log, parts=POSITIVE),
    unary("Sigmoid", sigmoid),
    unary("Tanh", np.tanh),
    unary("SiLU", lambda x: x * sigmoid(x)),
    unary("Swish", lambda x: x * sigmoid(1.7 * x), "beta = 1.7 : f64"),
    unary("GELU", lambda x: x * (0.5 + 0.5 * erf(x / 2 ** 0.5))),
    unary("GELU by tanh", lambda x: x * sigmoid(2 * (2 / np.pi) ** 0.5 * (x + 0.044715 * x ** 3)),
          'approx_mode = "tanh"', "GELU"),
    unary("Erf", erf),
    unary("HardSigmoid", lambda x: np.clip(x / 6 + 0.5, 0, 1), "alpha = 0.16666666666666666 : f64, beta = 0.5 : f64"),
    unary("HardSigmoid 0.2", lambda x: np.clip(0.2 * x + 0.5, 0, 1), "alpha = 0.2 : f64, beta = 0.5 : f64", "HardSigmoid"),
    unary("HardSwish", lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),
    unary("Elu", elu, "alpha = 1.0 : f64"),
    unary("Selu", lambda x: 1.0507 * elu(x, 1.67326), "alpha = 1.67326 : f64, gamma = 1.0507 : f64"),
    unary("Celu", lambda x: np.where(x > 0, x, 1.5 * np.expm1(np.minimum(x, 0) / 1.5)), "alpha = 1.5 : f64"),
    unary("Softplus", softplus),
    unary("Mish", lambda x: x * np.tanh(softplus(x))),
    unary("Softsign", lambda x: x / (1 + np.abs(x))),
    unary("Shrink", lambda x: np.where(x > 0.5, x - 0.3, np.where(x < -0.5, x + 0.3, 0)),
          "lambd = 0.5 : f64, bias = 0.3 : f64"),
    unary("ThresholdedRelu", lambda x: np.where(x > 0.7, x, 0), "alpha = 0.7 : f64"),
    unary("Sin", np.sin),
    unary("Cos", np.cos),
    unary("Sinh", np.sinh, parts=SMALL),
    unary("Cosh", np.cosh, parts=SMALL),
    unary("Floor", np.floor),
    unary("Ceil", np.ceil),
    unary("Round", np.round),
    unary("Sign", np.sign),
    binary("Add", np.add),
    binary("Sub", np.subtract),
    binary("Mul", np.multiply),
    binary("Mul of channels", np.multiply, op="Mul", shape=(48, 1, 1)),
    binary("Div", np.divide, parts=POSITIVE),
    binary("Max", np.maximum),
    binary("Add and ReLU", lambda x, y: np.maximum(x + y, 0), attributes="do_relu = true", op="Add"),
    with_number("AddConst", np.add, 0.3),
    with_number("SubConst", lambda x, c: c - x, 0.3, True),
    with_number("MulConst", np.multiply, 0.3),
    with_number("MulConst", np.multiply, 1 / 6),
    with_number("DivConst", np.divide, 3.0),
    with_number("DivConst", lambda x, c: c / x, 0.3, True),
    with_channels("Add a constant of channels", "Add", lambda x, w: x + w, 1),
    with_channels("Mul by a constant of channels", "Mul", lambda x, w: x * w, 1),
    with_channels("PRelu", "PRelu", lambda x, w: np.where(x > 0, x, (w - 0) * x), 1),
    power("PowConst", 2.0),
    power("PowConst", 3.0),
    power("PowConst", 0.5),
    power("PowConst", 1.7),
    power("PowConst", 0.75),
    power("PowConst", -1.25),
    conv("Conv 1x1", 64, 48, 1),
    conv("Conv 3x3", 24, 48, 3),
    conv("Conv 3x3 and ReLU6", 24, 48, 3, attributes=", do_relu = true, relu_limit = 6.0 : f64",
         after=lambda x: np.clip(x, 0, 6)),
    conv("Conv in groups", 48, 48, 3, group=4),
    conv("Conv depthwise 3x3", 48, 48, 3, group=48),
    conv("Conv depthwise 3x3 by 2", 48, 48, 3, 2, 48, size=32),
    conv("Conv depthwise 5x5", 48, 48, 5, group=48),
    conv("Conv depthwise and ReLU6", 48, 48, 3, group=48,
         attributes=", do_relu = true, relu_limit = 6.0 : f64", after=lambda x: np.clip(x, 0, 6)),
    behind_numbers(conv("Conv 1x1 of 0.25 x - 0.2", 64, 48, 1)),
    behind_numbers(conv("Conv depthwise of 0.25 x - 0.2", 48, 48, 3, group=48)),
    Case("Deconv", "Deconv", deconvolution, {"x": lambda rng: normal(rng, (32, 9, 9), PARTS)},
         {"w": lambda rng: rng.normal(0, 0.2, (32, 24, 2, 2)), "b": lambda rng: rng.normal(0, 1, 24)},
         "kernel_shape = [2, 2], strides = [2, 2]", stored=("w",)),
    product("MatMul"),
    product("MatMul and ReLU", "do_relu = true", after=lambda x: np.maximum(x, 0)),
    Case("MatMul of tensors", "MatMul", np.matmul,
         {"x": lambda rng: normal(rng, (70, 64), PARTS), "y": lambda rng: normal(rng, (64, 90), PARTS)},
         operands=("x", "y", "none")),
    pool(2, 2),
    pool(3, 1, 1),
    pool(3, 2, 1, False),
    pool(5, 2),
    pool(7, 7),
    pool(28, 1),
    Case("MaxPool", "MaxPool", lambda x: windows(x, (3, 3), 2, 1, -np.inf).max((4, 5)),
         {"x": lambda rng: normal(rng, (48, 28, 28), PARTS)},
         attributes="kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]"),
    resize("Interp by 2", 2.0, "half_pixel"),
    resize("Interp by 1.5", 1.5, "half_pixel"),
    resize("Interp by 2, aligned corners", 2.0, "align_corners"),
    reduce("Mean of pixels", "ReduceMean", (2, 3), lambda x: x.mean((2, 3), keepdims=True), (512, 9, 7)),
    reduce("Mean of columns", "ReduceMean", (3,), lambda x: x.mean(3, keepdims=True), (48, 32, 40)),
    reduce("Mean of channels", "ReduceMean", (1,), lambda x: x.mean(1, keepdims=True), (48, 32, 40)),
    reduce("Sum of columns", "ReduceSum", (3,), lambda x: x.sum(3, keepdims=True), (48, 32, 40)),
    reduce("L2 norm of columns", "ReduceL2", (3,), lambda x: np.sqrt((x * x).sum(3, keepdims=True)), (48, 32, 40)),
    reduce("Log of a sum of exp", "ReduceLogSumExp", (3,),
           lambda x: np.log(np.exp(x).sum(3, keepdims=True)), (48, 32, 40), SMALL),
    Case("CumSum", "CumSum", lambda x: x.cumsum(3), {"x": lambda rng: normal(rng, (48, 16, 24), PARTS)},
         attributes="axis = 3 : i64", operands=("x", "none")),
    norm("LayerNorm", "LayerNorm", (96, 128), 128, lambda x, g, h: standardized(x, -1) * g + h,
         "axis = -1 : i64", 2),
    norm("RMSNorm", "RMSNorm", (96, 128), 128, lambda x, g: standardized(x, -1, centers=False) * g,
         "axis = -1 : i64", parameters=1),
    norm("InstanceNorm", "InstanceNorm", MAP, 48,
         lambda x, g, h: standardized(x, (2, 3)) * g[:, None, None] + h[:, None, None]),
    norm("GroupNorm", "GroupNorm", MAP, 48, group_norm, "num_groups = 4 : i64"),
    norm("PixelNorm", "PixelNorm", MAP, 48,
         lambda x, g, h: standardized(x, 1) * g[:, None, None] + h[:, None, None]),
    Case("Normalize", "Normalize", lambda x: x / np.sqrt((x * x).sum(1, keepdims=True)),
         {"x": lambda rng: normal(rng, MAP, PARTS)}, attributes="axis = 1 : i64, p = 2 : i64"),
    lrn("LRN", 5, 1.0, 0.75),
    lrn("LRN, gentle", 5, 1e-4, 0.75),
    lrn("LRN of 4, beta 0.6", 4, 2.0, 0.6, bias=2.0),
    lrn("LRN of 1, beta 1", 1, 1.0, 1.0),
    lrn("LRN within channels", 3, 1.0, 0.75, within=True),
    Case("Softmax", "Softmax", softmax, {"x": lambda rng: normal(rng, (200, 40), SMALL)},
         attributes="axis = -1 : i64"),
    Case("LogSoftmax", "Softmax", lambda x: np.log(softmax(x)), {"x": lambda rng: normal(rng, (200, 40), SMALL)},
         attributes="axis = -1 : i64, log = true"),
    Case("Attention", "ScaleDotProductAttention", attention,
         {name: (lambda rng: normal(rng, (2, 70, 32), ((0, 1), (0.5, 1)))) for name in "qkv"},
         operands=("q", "k", "v", "none", "none", "none", "none"), unused=3),
    cell("LSTM", lstm, 4, 4, 2),
    cell("GRU", gru, 3, 2, 1, ", linear_before_reset = true"),
    cell("RNN", rnn, 1, 2, 1),
]
