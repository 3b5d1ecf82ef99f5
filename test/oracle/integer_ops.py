#===- integer_ops.py - Integer ops of the tpu dialect and exact arithmetic ---===#
#
# Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===-----------------------------------------------------------------------===#
"""Compares every op on stored integers with an evaluation in exact integers, bit by bit.

usage: integer_ops.py MODEL_RUNNER [--scale N] [--seed N] [--only OP]

Shapes and parameters are random: types and zero points, factors, all rounding and quantization
modes, ReLUs with limits. What is expected follows from docs/dialects/tpu.md. Exit status 0 if all
agree, 1 if not, 77 (skipped) if numpy is missing.
"""

import argparse
import itertools
import math
import sys
import tempfile
from fractions import Fraction

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from device_module import Module
from exact import QUANT_MODES, ROUND_MODES, Dequantization, Quantized, Requantization, rounded

CASES = {}


def case(count):
    """Registers a function (module, random numbers) that adds one case, to be called `count` times."""
    def register(function):
        CASES[function.__name__.removeprefix("add_")] = (function, count)
        return function
    return register


class Random:
    """Random parameters of ops."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def int(self, low, high):
        """From `low` to `high`, both included."""
        return int(self.rng.integers(low, high + 1))

    def chance(self, probability):
        return self.rng.random() < probability

    def pick(self, choices):
        return choices[self.int(0, len(choices) - 1)]

    def type(self):
        is_signed = self.chance(0.6)
        low, high = (-128, 127) if is_signed else (0, 255)
        zero = 0 if self.chance(0.3) else self.int(low, high)
        scale = float(np.exp(self.rng.uniform(-5, 2)))
        if self.chance(0.1):
            zero = max(zero, low + 1)
            return Quantized(scale, zero, is_signed, low + 1, high)
        return Quantized(scale, zero, is_signed)

    def array(self, shape, type_):
        """Stored integers, the extreme ones among them."""
        low, high = type_.range
        values = self.rng.integers(low, high + 1, shape)
        extremes = self.rng.integers(0, 20, shape)
        values = np.where(extremes == 0, low, np.where(extremes == 1, high, values))
        return values.astype(type_.dtype)

    def bytes(self, shape, is_signed=True):
        return self.array(shape, Quantized(1.0, 0, is_signed))

    def ints(self, shape, low, high, dtype=np.int32):
        return self.rng.integers(low, high + 1, shape).astype(dtype)

    def shape(self, rank, most=6):
        return tuple(self.int(1, most) for _ in range(rank))

    def relu(self, to):
        if not self.chance(0.4):
            return None
        return -1.0 if self.chance(0.4) else float(self.rng.uniform(0, 200) * to.scale)

    def factor(self, largest, quant_mode):
        """A factor that takes sums of up to `largest` to about the range of 8 bits, or beyond."""
        exponent = math.log2(max(largest, 1) / 128) + self.rng.uniform(-1.5, 1.5)
        sign = -1 if self.chance(0.1) else 1
        if quant_mode in ("TFLite", "TFLite_LShift", "QDM"):
            shift = round(exponent)
            if quant_mode == "QDM":
                shift = max(shift, 0)
            return sign * self.int(2**30, 2**31 - 1), int(np.clip(shift, -20, 40))
        # Few bits make ties, many test the width of products.
        bits = 0 if quant_mode == "OnlyShift" else self.pick([0, 0, 1, 3, 7, 15, 30])
        multiplier = 1 if bits == 0 else self.int(2**bits, 2 ** (bits + 1) - 1)
        return sign * multiplier, int(np.clip(round(exponent) + bits, -20, 62))

    def requantization(self, largest, to, count=1, has_relu=True):
        """For sums of up to `largest`; `count` factors, at times one."""
        is_default = self.chance(0.4)
        quant_mode = None if is_default else self.pick(QUANT_MODES)
        round_mode = None if self.chance(0.2) or is_default else self.pick(ROUND_MODES)
        factors = [self.factor(largest, quant_mode or "MultiplierShift") for _ in range(count)]
        return Requantization(tuple(m for m, _ in factors), tuple(s for _, s in factors),
                              round_mode, quant_mode, self.relu(to) if has_relu else None)

    def dequantization(self, largest, count):
        """For sums of up to `largest`; `count` scales, at times one."""
        scales = tuple(float(self.rng.uniform(-1, 4)) / largest
                       for _ in range(1 if self.chance(0.3) else count))
        limit = self.pick([None, None, -1.0, float(self.rng.uniform(0, 2))])
        return Dequantization(scales, self.pick(["f32", "f16", "bf16"]), limit)


def integers(array, zero=0):
    return array.astype(np.int64) - zero


def operand(module, random, array, type_):
    """An argument, or a constant as weights are."""
    return module.weight(array, type_) if random.chance(0.5) else module.argument(array, type_)


def list_attribute(name, values):
    return f"{name} = {list(values)}"


def describe(name, *parts):
    return name + " " + " ".join(str(part) for part in parts)


#===--- Convolutions --------------------------------------------------------===#


class Window:
    """Random kernel, strides, dilations and pads of a convolution or pool."""

    def __init__(self, random, rank, most_kernel=3, has_dilations=True):
        self.kernel = [random.int(1, most_kernel) for _ in range(rank)]
        self.strides = [random.int(1, 3) for _ in range(rank)]
        self.dilations = [random.int(1, 2) if has_dilations else 1 for _ in range(rank)]
        self.reach = [(k - 1) * d for k, d in zip(self.kernel, self.dilations)]
        self.begins, self.ends = ([random.int(0, min(2, r)) for r in self.reach] for _ in "be")
        if random.chance(0.4):
            self.begins = self.ends = [0] * rank

    def attributes(self):
        return [list_attribute("kernel_shape", self.kernel), list_attribute("strides", self.strides),
                list_attribute("dilations", self.dilations),
                list_attribute("pads", self.begins + self.ends)]

    def taps(self):
        return itertools.product(*map(range, self.kernel))

    def outputs(self, spatial):
        return [(i + b + e - r - 1) // s + 1 for i, b, e, r, s in
                zip(spatial, self.begins, self.ends, self.reach, self.strides)]

    def reading(self, tap, outputs):
        """The slices of a padded input that `tap` reads for all outputs."""
        return tuple(slice(t * d, t * d + (o - 1) * s + 1, s) for t, d, s, o in
                     zip(tap, self.dilations, self.strides, outputs))


def product_layer(random, channels_in, group):
    out = group * random.int(1, 4) if random.chance(0.8) else group * 16
    return out, channels_in * group


def bias_of(module, random, count, largest):
    """A bias (i32) and its value, or none."""
    if random.chance(0.3):
        return module.none, np.zeros(count, np.int64)
    bias = random.ints((count,), -largest, largest)
    value = module.weight(bias) if random.chance(0.7) else module.argument(bias)
    return value, bias.astype(np.int64)


def add_product(name, module, random, operands, attributes, sums, largest, axis):
    """The op whose sums are `sums`, up to about `largest`: as integers or as floats, with a scale
    for each index along `axis`."""
    count = 1 if axis is None else sums.shape[axis]
    if random.chance(0.25):
        floats = random.dequantization(largest, count)
        attributes = attributes + floats.attributes()
        value = module.op(name, operands, attributes, sums.shape, floats.to)
        return module.expect(value, floats.array(sums, axis), describe(name, floats.to, attributes))
    to = random.type()
    requant = random.requantization(largest, to, count)
    attributes = attributes + requant.attributes()
    value = module.op(name, operands, attributes, sums.shape, to)
    return module.expect(value, requant.array(sums, to, axis), describe(name, to, attributes))


@case(130)
def add_Conv(module, random):
    rank = random.pick([1, 2, 2, 2, 3])
    window = Window(random, rank)
    group = random.pick([1, 1, 2, 3, 8])
    out, channels = product_layer(random, 1 if random.chance(0.4) else random.int(1, 6), group)
    spatial = [r + random.int(1, 9 if rank < 3 else 4) for r in window.reach]
    if random.chance(0.15):
        spatial[-1] += 40
    from_ = random.type()
    input_ = random.array((random.int(1, 2), channels, *spatial), from_)
    filter_ = random.bytes((out, channels // group, *window.kernel))
    terms = filter_[0].size
    bias, bias_value = bias_of(module, random, out, terms * 128 * 64)
    padded = np.pad(integers(input_), [(0, 0), (0, 0), *zip(window.begins, window.ends)],
                    constant_values=from_.zero)
    outputs = window.outputs(spatial)
    sums = np.zeros((input_.shape[0], out, *outputs), np.int64) + \
        bias_value.reshape(1, -1, *[1] * rank)
    for tap in window.taps():
        read = padded[(slice(None), slice(None), *window.reading(tap, outputs))]
        for m, c in itertools.product(range(out), range(channels // group)):
            first = m // (out // group) * (channels // group)
            sums[:, m] += read[:, first + c] * int(filter_[(m, c, *tap)])
    filter_value = module.weight(filter_) if random.chance(0.7) else module.argument(filter_)
    add_product("Conv", module, random, [module.argument(input_, from_), filter_value, bias],
                window.attributes() + [f"group = {group} : i64"], sums, terms**0.5 * 128 * 100, 1)


@case(50)
def add_Deconv(module, random):
    rank = random.pick([1, 2, 2, 3])
    window = Window(random, rank)
    group = random.pick([1, 1, 2, 4])
    out, channels = product_layer(random, random.int(1, 3), group)
    spatial = [random.int(1, 6 if rank < 3 else 3) for _ in range(rank)]
    extra = [random.int(0, s - 1) for s in window.strides]
    # An output needs an element at least.
    window.begins = [0 if (i - 1) * s + r < 4 else b for i, s, r, b in
                     zip(spatial, window.strides, window.reach, window.begins)]
    window.ends = [0 if (i - 1) * s + r < 4 else e for i, s, r, e in
                   zip(spatial, window.strides, window.reach, window.ends)]
    from_ = random.type()
    input_ = random.array((random.int(1, 2), channels, *spatial), from_)
    filter_ = random.bytes((channels, out // group, *window.kernel))
    largest = channels // group * np.prod(window.kernel) ** 0.5 * 128 * 100
    bias, bias_value = bias_of(module, random, out, int(largest))
    whole = [s * (i - 1) + p + r + 1 for s, i, p, r in
             zip(window.strides, spatial, extra, window.reach)]
    sums = np.zeros((input_.shape[0], out, *whole), np.int64)
    for tap in window.taps():
        where = tuple(slice(t * d, t * d + (i - 1) * s + 1, s) for t, d, s, i in
                      zip(tap, window.dilations, window.strides, spatial))
        for c, m in itertools.product(range(channels), range(out // group)):
            to_channel = c // (channels // group) * (out // group) + m
            sums[(slice(None), to_channel, *where)] += \
                integers(input_[:, c], from_.zero) * int(filter_[(c, m, *tap)])
    sums = sums[(slice(None), slice(None), *[slice(b, w - e) for b, w, e in
                                             zip(window.begins, whole, window.ends)])]
    sums = sums + bias_value.reshape(1, -1, *[1] * rank)
    attributes = window.attributes() + [f"group = {group} : i64",
                                        list_attribute("output_padding", extra)]
    add_product("Deconv", module, random,
                [module.argument(input_, from_), module.weight(filter_), bias], attributes, sums,
                largest, 1)


@case(80)
def add_MatMul(module, random):
    rows, terms, columns = random.int(1, 6), random.pick([1, 3, 8, 33, 70]), random.pick([1, 5, 16, 33])
    batch = random.pick([((), ()), ((), ()), ((3,), ()), ((2, 3), (2, 3)), ((2, 1), (3,))])
    shapes = [(*batch[0], rows, terms), (*batch[1], terms, columns)]
    if not batch[0] and not batch[1] and random.chance(0.2):
        side = random.int(0, 1)
        shapes[side] = (terms,)
    types = [random.type(), random.type()]
    is_constant = random.chance(0.6)
    if is_constant:
        types[1] = Quantized(1.0)  # As a plain i8.
    arrays = [random.array(shape, type_) for shape, type_ in zip(shapes, types)]
    numbers = [integers(array, type_.zero) for array, type_ in zip(arrays, types)]
    sums = np.asarray(np.matmul(*numbers))
    columns = shapes[1][-1] if len(shapes[1]) > 1 else 1
    bias, bias_value = module.none, 0
    if random.chance(0.7):
        bias_value = random.ints((random.pick([1, columns]),), -10000, 10000)
        bias = module.weight(bias_value)
        bias_value = integers(bias_value)
    is_row_only = len(shapes[1]) == 1
    sums = sums + (bias_value[0] if is_row_only and len(np.shape(bias_value)) else bias_value)
    attributes = []
    stored = list(arrays)
    for side, name in enumerate(("left_transpose", "right_transpose")):
        if len(shapes[side]) > 1 and random.chance(0.4):
            attributes.append(f"{name} = true")
            stored[side] = np.ascontiguousarray(np.swapaxes(arrays[side], -1, -2))
    left = module.argument(stored[0], types[0])
    right = module.weight(stored[1]) if is_constant else module.argument(stored[1], types[1])
    add_product("MatMul", module, random, [left, right, bias], attributes, sums,
                terms**0.5 * 128 * 128, None if is_row_only else sums.ndim - 1)


#===--- Element-wise ops ----------------------------------------------------===#


def broadcast_shapes(random, count):
    rank = random.int(1, 4)
    whole = random.shape(rank)
    if random.chance(0.2):
        whole = (*whole[:-1], whole[-1] + 70)
    shapes = []
    for _ in range(count):
        shape = tuple(1 if random.chance(0.15) else extent for extent in whole)
        shapes.append(shape[random.int(0, rank - 1):] if random.chance(0.2) else shape)
    shapes[random.int(0, count - 1)] = whole
    return shapes


def add_sum(name, module, random):
    count = random.pick([2, 2, 2, 3, 4])
    types = [random.type() for _ in range(count)]
    arrays = [random.array(shape, type_) for shape, type_ in zip(broadcast_shapes(random, count), types)]
    multipliers = [random.int(-2**15, 2**15) if random.chance(0.5) else random.int(-8, 8)
                   for _ in range(count)]
    offset = random.int(-2**20, 2**20) if random.chance(0.5) else random.int(-100, 100)
    sums = offset + sum(integers(a) * m for a, m in zip(arrays, multipliers))
    to = random.type()
    largest = sum(abs(m) for m in multipliers) * 128
    shift = int(np.clip(round(math.log2(max(largest, 1) / 128)) + random.int(-1, 1), 0, 30))
    requant = Requantization((1,), (shift,), random.pick([None, *ROUND_MODES]), None, random.relu(to))
    attributes = [list_attribute("multiplier", multipliers), f"offset = {offset} : i64",
                  f"rshift = {shift} : i64"] + requant.modes()
    operands = [operand(module, random, a, t) for a, t in zip(arrays, types)]
    value = module.op(name, operands, attributes, sums.shape, to)
    module.expect(value, requant.array(sums, to), describe(name, *types, to, attributes))


@case(50)
def add_Add(module, random):
    add_sum("Add", module, random)


@case(25)
def add_Sub(module, random):
    add_sum("Sub", module, random)


@case(50)
def add_Mul(module, random):
    types = [random.type(), random.type()]
    arrays = [random.array(shape, type_) for shape, type_ in zip(broadcast_shapes(random, 2), types)]
    sums = integers(arrays[0], types[0].zero) * integers(arrays[1], types[1].zero)
    to = random.type()
    multiplier, shift = random.factor(128 * 128, "MultiplierShift")
    requant = Requantization((multiplier,), (shift,), random.pick([None, *ROUND_MODES]), None,
                             random.relu(to))
    attributes = [f"multiplier = {multiplier} : i64", f"rshift = {shift} : i64"] + requant.modes()
    operands = [operand(module, random, a, t) for a, t in zip(arrays, types)]
    value = module.op("Mul", operands, attributes, sums.shape, to)
    module.expect(value, requant.array(sums, to), describe("Mul", *types, to, attributes))


@case(20)
def add_Extreme(module, random):
    name, function = random.pick([("Max", np.maximum), ("Min", np.minimum)])
    type_ = random.type()
    arrays = [random.array(shape, type_) for shape in broadcast_shapes(random, random.pick([2, 3]))]
    wanted = arrays[0]
    for array in arrays[1:]:
        wanted = function(wanted, array)
    operands = [operand(module, random, array, type_) for array in arrays]
    value = module.op(name, operands, [], wanted.shape, type_)
    module.expect(value, wanted, describe(name, type_))


def add_leaky(name, module, random, count):
    from_, to = random.type(), random.type()
    shape = (random.int(1, 2), count, *random.shape(random.int(0, 2), 9))
    input_ = random.array(shape, from_)
    factors = 1 + (count if name == "PRelu" and random.chance(0.7) else 1)
    requant = random.requantization(200, to, factors, has_relu=False)
    numbers = integers(input_, from_.zero)
    wanted = np.empty(shape, to.dtype)
    for at in np.ndindex(shape):
        index = 0 if numbers[at] >= 0 else 1 if factors == 2 else 1 + at[1]
        wanted[at] = requant(numbers[at], index, to)
    operands = [module.argument(input_, from_)]
    attributes = requant.attributes()
    if name == "PRelu":
        # Not read: its integers are in the factors.
        slope = np.full((factors - 1, *[1] * (len(shape) - 2)), np.nan, np.float32)
        operands.append(module.weight(slope))
    else:
        attributes.append("alpha = 0.1 : f64")
    value = module.op(name, operands, attributes, shape, to)
    module.expect(value, wanted, describe(name, from_, to, attributes))


@case(30)
def add_LeakyRelu(module, random):
    add_leaky("LeakyRelu", module, random, random.int(1, 5))


@case(30)
def add_PRelu(module, random):
    add_leaky("PRelu", module, random, random.pick([1, 2, 5]))


@case(60)
def add_RequantInt(module, random):
    to = random.type()
    shape = (random.int(1, 2), random.int(1, 5), *random.shape(random.int(0, 2), 9))
    if random.chance(0.6):
        from_ = random.type()
        input_ = random.array(shape, from_)
        value = module.argument(input_, from_)
        zero, largest = from_.zero, 200
    else:
        dtype = random.pick([np.int8, np.uint8, np.int16, np.uint16, np.int32])
        limits = np.iinfo(dtype)
        input_ = random.ints(shape, limits.min, limits.max, dtype)
        value = module.argument(input_)
        zero, largest = 0, limits.max
    requant = random.requantization(largest, to, random.pick([1, shape[1]]), has_relu=False)
    axis = 1 if len(requant.shifts) > 1 else None
    attributes = requant.attributes()
    text = describe("RequantInt", value.type, to, attributes)
    result = module.op("RequantInt", [value], attributes, shape, to)
    module.expect(result, requant.array(integers(input_, zero), to, axis), text)


@case(15)
def add_Lut(module, random):
    from_, to = random.type(), random.type()
    input_ = random.array(random.shape(random.int(1, 4)), from_)
    table = random.bytes((256,))
    value = module.op("Lut", [module.argument(input_, from_), module.weight(table)], [],
                      input_.shape, to)
    wanted = table.view(to.dtype)[integers(input_) % 256]
    module.expect(value, wanted, describe("Lut", from_, to))


@case(15)
def add_Compare(module, random):
    name, function = random.pick([("Greater", np.greater), ("Less", np.less), ("Equal", np.equal),
                                  ("GreaterOrEqual", np.greater_equal)])
    type_ = random.type()
    input_ = random.array(random.shape(3), type_)
    if random.chance(0.5):
        constant = random.int(-10, 10) + random.pick([0.0, 0.5, 0.25])
        attributes = [f'mode = "{name}"', f"const_val = {constant:e} : f64"]
        value = module.op("CompareConst", [module.argument(input_, type_)], attributes,
                          input_.shape, "i1")
        return module.expect(value, function(input_.astype(float), constant),
                             describe("CompareConst", type_, attributes))
    other = random.array(input_.shape, type_)
    value = module.op("Compare", [module.argument(input_, type_), module.argument(other, type_)],
                      [f'mode = "{name}"'], input_.shape, "i1")
    return module.expect(value, function(input_, other), describe("Compare", name, type_))


#===--- Pools, reductions, resizes ------------------------------------------===#


@case(60)
def add_AvgPool(module, random):
    rank = random.pick([1, 2, 2, 3])
    window = Window(random, rank, most_kernel=4, has_dilations=random.chance(0.2))
    if random.chance(0.1):
        window.kernel, window.dilations = [7] * rank, [1] * rank
        window.reach = [6] * rank
    spatial = [r + random.int(1, 8 if rank < 3 else 3) for r in window.reach]
    from_, to = random.type(), random.type()
    input_ = random.array((random.int(1, 2), random.int(1, 4), *spatial), from_)
    counts_pads = random.chance(0.4)
    area = math.prod(window.kernel)
    outputs = window.outputs(spatial)
    pads = [(0, 0), (0, 0), *zip(window.begins, window.ends)]
    numbers = np.pad(integers(input_, from_.zero), pads)
    ones = np.pad(np.ones_like(input_, np.int64), pads, constant_values=int(counts_pads))
    sums = np.zeros((*input_.shape[:2], *outputs), np.int64)
    counts = np.zeros_like(sums)
    for tap in window.taps():
        read = (slice(None), slice(None), *window.reading(tap, outputs))
        sums += numbers[read]
        counts += ones[read]
    # One factor serves all where all windows count the same.
    is_single = (counts == counts.flat[0]).all() and random.chance(0.7)
    requant = random.requantization(area * 100, to, 1 if is_single else area)
    wanted = np.empty(sums.shape, to.dtype)
    for at in np.ndindex(sums.shape):
        wanted[at] = requant(sums[at], counts[at] - 1, to)
    attributes = window.attributes() + requant.attributes()
    attributes.append(f"count_include_pad = {str(counts_pads).lower()}")
    value = module.op("AvgPool", [module.argument(input_, from_)], attributes, sums.shape, to)
    module.expect(value, wanted, describe("AvgPool", from_, to, attributes))


@case(30)
def add_MaxPool(module, random):
    rank = random.pick([1, 2, 2, 3])
    window = Window(random, rank)
    spatial = [r + random.int(1, 6) for r in window.reach]
    type_ = random.type()
    input_ = random.array((random.int(1, 2), random.int(1, 3), *spatial), type_)
    padded = np.pad(integers(input_), [(0, 0), (0, 0), *zip(window.begins, window.ends)],
                    constant_values=-1000)
    outputs = window.outputs(spatial)
    reads = [padded[(slice(None), slice(None), *window.reading(tap, outputs))] for tap in window.taps()]
    wanted = np.max(reads, axis=0)
    attributes = window.attributes()
    if (limit := random.relu(type_)) is not None:
        requant = Requantization((1,), (0,), relu_limit=limit)
        low, high = requant.bounds(type_)
        wanted = np.clip(wanted, low, high)
        attributes += requant.modes()
    value = module.op("MaxPool", [module.argument(input_, type_)], attributes, wanted.shape, type_)
    module.expect(value, wanted.astype(type_.dtype), describe("MaxPool", type_, attributes))


@case(50)
def add_Reduce(module, random):
    rank = random.int(1, 4)
    shape = random.shape(rank, 7)
    from_ = random.type()
    input_ = random.array(shape, from_)
    axes = [axis for axis in range(rank) if random.chance(0.5)] or [rank - 1]
    keeps = random.chance(0.5)
    mode = random.pick(["ReduceSum", "ReduceMean", "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin"])
    stated = [axis - rank if random.chance(0.3) else axis for axis in axes]
    attributes = [list_attribute("axes", stated), f"keepdims = {str(keeps).lower()}",
                  f'mode = "{mode}"']
    if mode in ("ReduceMax", "ReduceMin"):
        to = from_
        wanted = (np.max if mode == "ReduceMax" else np.min)(input_, tuple(axes), keepdims=keeps)
    else:
        to = random.type()
        sums = np.sum(integers(input_, from_.zero), tuple(axes), keepdims=keeps)
        requant = random.requantization(100 * math.prod(shape[axis] for axis in axes), to,
                                        has_relu=False)
        attributes += requant.attributes()
        wanted = requant.array(np.asarray(sums), to)
    value = module.op("Reduce", [module.argument(input_, from_), module.none], attributes,
                      wanted.shape, to)
    module.expect(value, np.asarray(wanted), describe("Reduce", from_, to, shape, attributes))


def point(mode, x, scale, extent, out):
    """The input point that output x stands for; `out` is what the extent was before rounding."""
    if mode == "align_corners":
        return x * (extent - 1) / (out - 1) if out > 1 else Fraction(0)
    if mode == "asymmetric":
        return x / scale
    if mode == "pytorch_half_pixel" and out == 1:
        return Fraction(-1, 2)
    return (x + Fraction(1, 2)) / scale - Fraction(1, 2)


def integer_weights(mode, scale, extent, out):
    """For each output: (position, weight) twice, the weights with the sum 2048."""
    taps = []
    for x in range(out):
        at = point(mode, x, scale, extent, extent * scale)
        base = math.ceil(at) - 1
        exact = [1 - (at - base), at - base]
        weights = [rounded(weight * 2048, "HalfAwayFromZero") for weight in exact]
        weights[0 if exact[0] >= exact[1] else 1] += 2048 - sum(weights)
        taps.append([(min(max(base + i, 0), extent - 1), weights[i]) for i in range(2)])
    return taps


def blend(numbers, taps, axis):
    parts = [sum(np.take(numbers, position, axis) * weight for position, weight in two)
             for two in taps]
    return np.stack(parts, axis)


@case(40)
def add_Interp(module, random):
    from_, to = random.type(), random.type()
    shape = (random.int(1, 2), random.int(1, 3), random.int(1, 7), random.int(1, 9))
    input_ = random.array(shape, from_)
    mode = random.pick(["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"])
    attributes = ['mode = "linear"', f'coord_mode = "{mode}"']
    if random.chance(0.5):
        scales = [random.pick([1.0, 2.0, 4.0, 1.5, 0.5]) if math.floor(extent * 0.5) else 2.0
                  for extent in shape[2:]]
        out = [math.floor(extent * scale) for extent, scale in zip(shape[2:], scales)]
        attributes.append(list_attribute("scales", [1.0, 1.0, *scales]))
        scales = [Fraction(scale) for scale in scales]
    else:
        out = [random.int(1, 15) for _ in range(2)]
        scales = [Fraction(o, i) for o, i in zip(out, shape[2:])]
        attributes.append(list_attribute("sizes", [*shape[:2], *out]))
    numbers = integers(input_, from_.zero)
    for axis in range(2):
        taps = integer_weights(mode, scales[axis], shape[2 + axis], out[axis])
        numbers = blend(numbers, taps, 2 + axis)
    requant = random.requantization(100 * 2**22, to, has_relu=False)
    attributes += requant.attributes()
    value = module.op("Interp", [module.argument(input_, from_), *[module.none] * 3], attributes,
                      numbers.shape, to)
    return module.expect(value, requant.array(numbers, to), describe("Interp", shape, from_, to, attributes))


#===--- Movement ------------------------------------------------------------===#


@case(40)
def add_Movement(module, random):
    type_ = random.type()
    shape = random.shape(4)
    input_ = random.array(shape, type_)
    value = module.argument(input_, type_)
    kind = random.pick(["Concat", "Pad", "Slice", "Permute", "Reshape", "Tile", "Upsample", "Interp"])
    operands, attributes = [value], []
    if kind == "Concat":
        axis = random.int(0, 3)
        other = random.array(shape[:axis] + (random.int(1, 4),) + shape[axis + 1:], type_)
        operands.append(module.argument(other, type_))
        attributes = [f"axis = {axis} : i64"]
        wanted = np.concatenate([input_, other], axis)
    elif kind == "Pad":
        stored = random.int(*type_.range)
        pads = [(random.int(0, 2), random.int(0, 2)) for _ in range(4)]
        mode = random.pick(["constant", "constant", "edge"])
        attributes = [list_attribute("paddings", [b for b, _ in pads] + [e for _, e in pads]),
                      f"val = {stored:e} : f64", f'mode = "{mode}"']
        operands += [module.none] * 3
        wanted = np.pad(input_, pads, constant_values=type_.dtype(stored)) if mode == "constant" \
            else np.pad(input_, pads, "edge")
    elif kind == "Slice":
        begins = [random.int(0, extent - 1) for extent in shape]
        steps = [random.int(1, 2) for _ in shape]
        attributes = [list_attribute("offset", begins), list_attribute("ends", shape),
                      list_attribute("steps", steps)]
        operands += [module.none] * 4
        wanted = input_[tuple(slice(b, None, s) for b, s in zip(begins, steps))]
    elif kind == "Permute":
        order = [int(i) for i in random.rng.permutation(4)]
        attributes = [list_attribute("order", order)]
        wanted = input_.transpose(order)
    elif kind == "Reshape":
        attributes = [list_attribute("shape", [shape[0] * shape[1], -1])]
        operands.append(module.none)
        wanted = input_.reshape(shape[0] * shape[1], -1)
    elif kind == "Tile":
        times = [random.int(1, 3) for _ in shape]
        attributes = [list_attribute("tile", times)]
        operands.append(module.none)
        wanted = np.tile(input_, times)
    elif kind == "Upsample":
        attributes = ["scale_h = 2 : i64", "scale_w = 3 : i64"]
        wanted = input_.repeat(2, 2).repeat(3, 3)
        if (limit := random.relu(type_)) is not None:
            requant = Requantization((1,), (0,), relu_limit=limit)
            wanted = np.clip(wanted.astype(int), *requant.bounds(type_)).astype(type_.dtype)
            attributes += requant.modes()
    else:
        attributes = ['mode = "nearest"', 'coord_mode = "asymmetric"', 'nearest_mode = "floor"',
                      "scales = [1.0, 1.0, 2.0, 2.0]"]
        operands += [module.none] * 3
        wanted = input_.repeat(2, 2).repeat(2, 3)
    result = module.op(kind, operands, attributes, wanted.shape, type_)
    module.expect(result, np.ascontiguousarray(wanted), describe(kind, type_, attributes))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--scale", type=float, default=1, help="times the usual number of cases")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only")
    options = parser.parse_args()
    failures = total = 0
    for number, (name, (function, count)) in enumerate(CASES.items()):
        if options.only and name != options.only:
            continue
        module = Module()
        random = Random([options.seed, number])
        for _ in range(int(count * options.scale)):
            function(module, random)
        with tempfile.TemporaryDirectory() as folder:
            wrong = module.check(options.program, folder)
        print(f"{name}: {len(module.cases)} cases, {wrong} differ")
        failures += wrong
        total += len(module.cases)
    print(f"{total} cases, {failures} differ")
    return 1 if failures or not total else 0


if __name__ == "__main__":
    sys.exit(main())
