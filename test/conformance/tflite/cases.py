"""The cases: models of one op over attributes, shapes and types.

A case is (name, Network). Where the first input has four dimensions and floats, there is a second
one with a pool of one element before the op: tpuc then has the tensor with its channels in front.
"""

import dataclasses
import itertools

import numpy as np

from network import Network

NONE, RELU, RELU_N1_TO_1, RELU6 = 0, 1, 2, 3
SAME, VALID = 0, 1


@dataclasses.dataclass
class Given:
    """An input of the network, with elements from `low` to `high`."""
    shape: tuple
    dtype: str = "float32"
    low: float = -4
    high: float = 4

    def values(self, random):
        if self.dtype == "bool":
            return random.integers(0, 2, self.shape).astype(bool)
        if np.issubdtype(np.dtype(self.dtype), np.integer):
            return random.integers(int(self.low), int(self.high) + 1, self.shape).astype(self.dtype)
        return random.uniform(self.low, self.high, self.shape).astype(self.dtype)


@dataclasses.dataclass
class State:
    """A variable, which begins with zeros."""
    shape: tuple


def ints(*values):
    return np.array(values, np.int32)


def weights(*shape, seed=1):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


CASES = []


def add(name, op, inputs, outputs=("float32",), options=None, front=True, hybrid=False, **fields):
    """`inputs`: Given, State, an array for a constant, what has an `array` of integers with a `scale` along an `axis`,
    or None. `outputs`: element types. `hybrid`: other operands are rounded as LiteRT does beside such integers."""
    for behind_pool in (False, True):
        given = [each for each in inputs if isinstance(each, Given)]
        first = next((each for each in given if len(each.shape) == 4 and each.dtype == "float32"), None)
        if behind_pool and not (front and first):
            continue
        net = Network(hybrid)
        ranges, numbers = {}, []
        for each in inputs:
            if each is None:
                numbers.append(-1)
            elif isinstance(each, Given):
                number = net.tensor(each.shape, each.dtype, name=f"in{len(ranges)}")
                ranges[f"in{len(ranges)}"] = each
                net.graph.inputs.append(number)
                if behind_pool and len(each.shape) == 4 and each.dtype == "float32":
                    pooled = net.tensor(each.shape, name=f"pooled{number}")
                    net.op("AVERAGE_POOL_2D", [number], [pooled], "Pool2DOptions", padding=VALID, strideW=1,
                           strideH=1, filterWidth=1, filterHeight=1)
                    number = pooled
                numbers.append(number)
            elif isinstance(each, State):
                numbers.append(net.tensor(each.shape))
                net.graph.tensors[numbers[-1]].isVariable = True
            elif hasattr(each, "array"):
                numbers.append(net.constant(each.array, scale=each.scale, axis=each.axis))
            else:
                numbers.append(net.constant(each))
        made = [net.tensor((), dtype, name=f"out{index}") for index, dtype in enumerate(outputs)]
        net.op(op, numbers, made, options, **fields)
        net.graph.outputs = made
        CASES.append((f"{op.lower()}.{name}{'.front' if behind_pool else ''}", net, ranges))


# ---- one operand
PICTURE = (1, 5, 6, 3)
for shape in ((7,), (2, 3), PICTURE, (2, 3, 4, 5, 2)):
    rank = f"rank{len(shape)}"
    for op in ("ABS", "CEIL", "COS", "EXP", "FLOOR", "HARD_SWISH", "NEG", "RELU", "RELU6", "RELU_N1_TO_1",
               "RELU_0_TO_1", "ROUND", "SIN", "SQUARE", "TANH", "LOGISTIC", "ELU", "ZEROS_LIKE", "SIGN"):
        add(rank, op, [Given(shape)])
    for op in ("LOG", "RSQRT", "SQRT"):
        add(rank, op, [Given(shape, low=.1)])
    add(rank, "LEAKY_RELU", [Given(shape)], options="LeakyReluOptions", alpha=.3)
    for approximate in (False, True):
        add(f"{rank}.{approximate}", "GELU", [Given(shape)], options="GeluOptions", approximate=approximate)
    add(rank, "LOGICAL_NOT", [Given(shape, "bool")], ["bool"])
for bits, narrow in itertools.product((4, 8), (False, True)):
    add(f"{bits}.{narrow}", "FAKE_QUANT", [Given(PICTURE)], options="FakeQuantOptions", min=-2., max=3., numBits=bits,
        narrowRange=narrow)
for source, target in (("float32", "int32"), ("int32", "float32"), ("uint8", "float32"), ("float32", "int64"),
                       ("bool", "float32"), ("int32", "int64"), ("float32", "bool"), ("int64", "int32")):
    low = 0 if source == "uint8" else -4
    add(f"{source}.{target}", "CAST", [Given((3, 4), source, low=low)], [target], "CastOptions")

# ---- recurrent
TANH = 4
for samples, steps, size, units in ((1, 1, 3, 4), (2, 5, 3, 4), (3, 4, 7, 5)):
    cell = [weights(units, size), weights(units, units, seed=2), weights(units, seed=3), State((samples, units))]
    for activation in (TANH, RELU):
        add(f"{samples}.{steps}.{activation}", "RNN", [Given((samples, size)), *cell], options="RNNOptions",
            fusedActivationFunction=activation)
        for major in (False, True):
            shape = (steps, samples, size) if major else (samples, steps, size)
            add(f"{samples}.{steps}.{activation}.{major}", "UNIDIRECTIONAL_SEQUENCE_RNN", [Given(shape), *cell],
                options="SequenceRNNOptions", fusedActivationFunction=activation, timeMajor=major)
    for major, peepholes, norms in itertools.product((False, True), (False, True), (False, True)):
        shape = (steps, samples, size) if major else (samples, steps, size)
        gates = [weights(units, size, seed=4 + gate) for gate in range(4)]
        recurrences = [weights(units, units, seed=8 + gate) for gate in range(4)]
        cells = [weights(units, seed=12 + gate) if peepholes else None for gate in range(3)]
        biases = [weights(units, seed=15 + gate) for gate in range(4)]
        states = [State((samples, units)), State((samples, units))]
        add(f"{samples}.{steps}.{major}.{peepholes}.{norms}", "UNIDIRECTIONAL_SEQUENCE_LSTM",
            [Given(shape), *gates, *recurrences, *cells, *biases, None, None, *states, *([None] * 4 if norms else [])],
            options="UnidirectionalSequenceLSTMOptions", fusedActivationFunction=TANH, timeMajor=major)

# ---- two operands
PAIRS = [((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 3), ()), (PICTURE, PICTURE), (PICTURE, (1, 1, 1, 3)),
         (PICTURE, (3,)), (PICTURE, (1, 5, 6, 1)), (PICTURE, ()), ((6, 3), PICTURE), (PICTURE, (5, 1, 1))]
for index, (first, second) in enumerate(PAIRS):
    for op, table in (("ADD", "AddOptions"), ("SUB", "SubOptions"), ("MUL", "MulOptions"), ("DIV", "DivOptions")):
        act = (NONE, RELU, RELU6, RELU_N1_TO_1)[index % 4]
        low = .5 if op == "DIV" else -4
        add(f"{index}", op, [Given(first), Given(second, low=low)], options=table, fusedActivationFunction=act)
        add(f"{index}.constant", op, [Given(first), weights(*second) + (2 if op == "DIV" else 0)], options=table,
            fusedActivationFunction=act)
    for op in ("MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE"):
        add(f"{index}", op, [Given(first), Given(second)])
    add(f"{index}", "FLOOR_DIV", [Given(first), Given(second, low=.5)])
    add(f"{index}", "FLOOR_MOD", [Given(first), Given(second, low=.5)])
    add(f"{index}", "POW", [Given(first, low=.5, high=2), Given(second, low=-2, high=2)])
    for op in ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"):
        add(f"{index}", op, [Given(first, "int32"), Given(second, "int32")], ["bool"])
        add(f"{index}.float", op, [Given(first), Given(second)], ["bool"])
    for op in ("LOGICAL_AND", "LOGICAL_OR"):
        add(f"{index}", op, [Given(first, "bool"), Given(second, "bool")], ["bool"])
    add(f"{index}", "SELECT_V2", [Given(first, "bool"), Given(first), Given(second)])
for op, table in (("ADD", "AddOptions"), ("SUB", "SubOptions"), ("MUL", "MulOptions"), ("FLOOR_DIV", None),
                  ("FLOOR_MOD", None), ("MAXIMUM", None), ("MINIMUM", None)):
    add("int32", op, [Given((3, 4), "int32", -9, 9), Given((3, 4), "int32", 1, 5)], ["int32"], table)
    add("int32.negative", op, [Given((3, 4), "int32", -9, 9), Given((3, 4), "int32", -5, -1)], ["int32"], table)
add("three", "ADD_N", [Given((2, 3))] * 3)
add("picture", "ADD_N", [Given(PICTURE)] * 3)
add("int32", "BITWISE_XOR", [Given((3, 4), "int32", -99, 99), Given((3, 4), "int32", -99, 99)], ["int32"])
add("int32", "RIGHT_SHIFT", [Given((3, 4), "int32", -99, 99), Given((3, 4), "int32", 0, 8)], ["int32"])
add("rows", "SELECT", [Given((3,), "bool"), Given((3, 4)), Given((3, 4))])
add("each", "SELECT", [Given((3, 4), "bool"), Given((3, 4)), Given((3, 4))])
for slope in ((1, 1, 3), (5, 6, 3), (3,), (1, 1, 1)):
    add("x".join(map(str, slope)), "PRELU", [Given(PICTURE), weights(*slope)])

# ---- windows
for padding, stride, dilation, act, bias in itertools.product((SAME, VALID), (1, 2), (1, 2), (NONE, RELU6), (True, False)):
    if stride > 1 and dilation > 1:
        continue
    window = {"padding": padding, "strideW": stride, "strideH": stride, "fusedActivationFunction": act}
    dilated = {"dilationWFactor": dilation, "dilationHFactor": dilation}
    name = f"{padding}.{stride}.{dilation}.{act}.{bias}"
    add(name, "CONV_2D", [Given((2, 9, 8, 3)), weights(5, 3, 2, 3), *([weights(5)] if bias else [])],
        options="Conv2DOptions", **window, **dilated)
    for multiplier in (1, 2):
        add(f"{name}.{multiplier}", "DEPTHWISE_CONV_2D",
            [Given((2, 9, 8, 3)), weights(1, 3, 2, 3 * multiplier), *([weights(3 * multiplier)] if bias else [])],
            options="DepthwiseConv2DOptions", depthMultiplier=multiplier, **window, **dilated)
for act in (RELU, RELU_N1_TO_1):
    add(f"activation{act}", "CONV_2D", [Given((1, 4, 4, 3)), weights(5, 1, 1, 3), weights(5)], options="Conv2DOptions",
        padding=SAME, strideW=1, strideH=1, fusedActivationFunction=act)
add("groups", "CONV_2D", [Given((1, 6, 6, 4)), weights(6, 3, 3, 2), weights(6)], options="Conv2DOptions", padding=SAME,
    strideW=1, strideH=1)
add("uneven", "CONV_2D", [Given((1, 7, 9, 2)), weights(3, 2, 5, 2), weights(3)], options="Conv2DOptions", padding=SAME,
    strideW=3, strideH=2)
for padding, stride in itertools.product((SAME, VALID), (1, 2)):
    add(f"{padding}.{stride}", "CONV_3D", [Given((1, 5, 6, 7, 2)), weights(2, 3, 2, 2, 4), weights(4)],
        options="Conv3DOptions", padding=padding, strideW=stride, strideH=stride, strideD=stride)
for op, padding, kernel, stride, act in itertools.product(
        ("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"), (SAME, VALID), ((2, 2), (3, 2)), (1, 2), (NONE, RELU)):
    add(f"{padding}.{kernel[0]}x{kernel[1]}.{stride}.{act}", op, [Given((2, 7, 8, 3))], options="Pool2DOptions",
        padding=padding, strideW=stride, strideH=stride, filterHeight=kernel[0], filterWidth=kernel[1],
        fusedActivationFunction=act)
for padding, stride, bias in itertools.product((SAME, VALID), (1, 2, 3), (True, False)):
    size = [stride * 4, stride * 5] if padding == SAME else [(4 - 1) * stride + 3, (5 - 1) * stride + 2]
    add(f"{padding}.{stride}.{bias}", "TRANSPOSE_CONV",
        [ints(1, *size, 6), weights(6, 3, 2, 3), Given((1, 4, 5, 3)), *([weights(6)] if bias else [])],
        options="TransposeConvOptions", padding=padding, strideW=stride, strideH=stride, version=3 if bias else 1)
for act, keep, bias in itertools.product((NONE, RELU), (False, True), (True, False)):
    for shape in ((3, 8), (2, 3, 8)):
        add(f"{len(shape)}.{act}.{keep}.{bias}", "FULLY_CONNECTED",
            [Given(shape), weights(5, 8), weights(5) if bias else None], options="FullyConnectedOptions",
            fusedActivationFunction=act, keepNumDims=keep)
add("picture", "FULLY_CONNECTED", [Given((2, 2, 2, 3)), weights(5, 12), weights(5)], options="FullyConnectedOptions")
for left, right in itertools.product((False, True), (False, True)):
    for batch in ((), (2,), (2, 3)):
        add(f"{len(batch)}.{left}.{right}", "BATCH_MATMUL",
            [Given((*batch, *((5, 4) if left else (4, 5)))), Given((*batch, *((3, 5) if right else (5, 3))))],
            options="BatchMatMulOptions", adjX=left, adjY=right)
for size, (corners, half) in itertools.product(((10, 12), (7, 3), (1, 1), (5, 6)), ((False, False), (True, False), (False, True))):
    name = f"{size[0]}x{size[1]}.{corners}.{half}"
    add(name, "RESIZE_BILINEAR", [Given((2, 5, 6, 3)), ints(*size)], options="ResizeBilinearOptions",
        alignCorners=corners, halfPixelCenters=half)
    add(name, "RESIZE_NEAREST_NEIGHBOR", [Given((2, 5, 6, 3)), ints(*size)], options="ResizeNearestNeighborOptions",
        alignCorners=corners, halfPixelCenters=half)
for shape in ((5,), (2, 5), (2, 3, 5), PICTURE):
    for beta in (1., .5):
        add(f"{len(shape)}.{beta}", "SOFTMAX", [Given(shape)], options="SoftmaxOptions", beta=beta)
    add(f"{len(shape)}", "LOG_SOFTMAX", [Given(shape)])
    add(f"{len(shape)}", "L2_NORMALIZATION", [Given(shape)], options="L2NormOptions")
for radius in (1, 2):
    add(f"{radius}", "LOCAL_RESPONSE_NORMALIZATION", [Given((1, 4, 4, 7))], options="LocalResponseNormalizationOptions",
        radius=radius, bias=1., alpha=.3, beta=.5)

# ---- reductions
for op, keep in itertools.product(("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"), (False, True)):
    for axes in ((0,), (1, 2), (3,), (-1,), (0, 1, 2, 3), (1, 3), (2,)):
        add(f"{'_'.join(map(str, axes))}.{keep}", op, [Given((2, 3, 4, 5), low=-1.5, high=1.5), ints(*axes)],
            options="ReducerOptions", keepDims=keep)
for op, keep, axes in itertools.product(("REDUCE_ANY", "REDUCE_ALL"), (False, True), ((0,), (1, 2), (-1,))):
    add(f"{'_'.join(map(str, axes))}.{keep}", op, [Given((2, 3, 4), "bool"), ints(*axes)], ["bool"], "ReducerOptions",
        keepDims=keep)
for op, axis, out in itertools.product(("ARG_MAX", "ARG_MIN"), (0, 1, -1), ("int32", "int64")):
    add(f"{axis}.{out}", op, [Given(PICTURE), ints(axis)], [out], f"Arg{op[4:].capitalize()}Options",
        outputType={"int32": 2, "int64": 4}[out])
for shape, k in (((9,), 3), ((2, 7), 7), (PICTURE, 2)):
    add(f"{len(shape)}.{k}", "TOPK_V2", [Given(shape), ints(k)], ["float32", "int32"])
for axis, exclusive, reverse in itertools.product((0, -1), (False, True), (False, True)):
    add(f"{axis}.{exclusive}.{reverse}", "CUMSUM", [Given((3, 4)), ints(axis)], options="CumsumOptions",
        exclusive=exclusive, reverse=reverse)

# ---- movement
for source, target in (((2, 6), (3, 4)), ((2, 6), (-1, 3)), ((1, 4, 4, 3), (1, 48)), ((1, 1, 1, 8), (1, 8)),
                       ((2, 6), (2, 2, 3)), ((6,), (1, 1, 2, 3))):
    add("x".join(map(str, source + target)), "RESHAPE", [Given(source), ints(*target)], options="ReshapeOptions",
        newShape=list(target))
add("options", "RESHAPE", [Given((2, 6))], options="ReshapeOptions", newShape=[4, 3])
for axes in ([], [0], [0, 2], [-1]):
    add("_".join(map(str, axes)), "SQUEEZE", [Given((1, 3, 1, 1))], options="SqueezeOptions", squeezeDims=axes)
for axis in (0, 1, -1, 2):
    add(f"{axis}", "EXPAND_DIMS", [Given((2, 3)), ints(axis)])
for order in ((0, 3, 1, 2), (0, 2, 3, 1), (3, 2, 1, 0), (0, 2, 1, 3)):
    add("".join(map(str, order)), "TRANSPOSE", [Given((2, 3, 4, 5)), ints(*order)])
for axis in (0, 1, 2, 3, -1):
    add(f"{axis}", "CONCATENATION", [Given((2, 3, 4, 5)), Given((2, 3, 4, 5)), weights(2, 3, 4, 5)],
        options="ConcatenationOptions", axis=axis)
for axis in (0, 1, -1):
    add(f"{axis}", "PACK", [Given((2, 3)), Given((2, 3)), Given((2, 3))], options="PackOptions", axis=axis, valuesCount=3)
    add(f"{axis}", "UNPACK", [Given((3, 4, 3))], ["float32"] * (4 if axis == 1 else 3), "UnpackOptions", axis=axis,
        num=4 if axis == 1 else 3)
for axis in (0, 1, 2, 3, -1):
    add(f"{axis}", "SPLIT", [ints(axis), Given((4, 4, 4, 4))], ["float32"] * 2, "SplitOptions", numSplits=2)
    add(f"{axis}", "SPLIT_V", [Given((4, 4, 4, 4)), ints(1, -1), np.array(axis, np.int32)], ["float32"] * 2,
        "SplitVOptions", numSplits=2)
for begin, size in (((0, 1, 2, 0), (1, 2, 3, 3)), ((0, 0, 0, 1), (-1, -1, -1, 1)), ((1, 0, 1, 0), (1, 3, -1, 2))):
    add("_".join(map(str, begin)), "SLICE", [Given((2, 4, 5, 3)), ints(*begin), ints(*size)])
SLICES = [((0, 1, 2, 0), (2, 4, 5, 3), (1, 1, 2, 1), {}), ((0, 0, 0, 0), (2, 4, 5, 3), (1, 2, 1, 1), {}),
          ((0, 3, 4, 0), (2, 0, 0, 3), (1, -1, -2, 1), {}), ((1, 1, 1, 1), (2, 3, 3, 2), (1, 1, 1, 1), {"beginMask": 5}),
          ((0, 1, 1, 1), (1, 2, 3, 2), (1, 1, 1, 1), {"endMask": 10}),
          ((0, -1, 0, 0), (1, 0, 5, 3), (1, 1, 1, 1), {"shrinkAxisMask": 3}),
          ((0, -2, 0, 0), (2, -1, 5, 3), (1, 1, 1, 1), {}),
          ((0, 3, 4, 2), (2, 0, 0, 0), (1, -1, -1, -1), {"beginMask": 14, "endMask": 14}),
          ((0, 0, 1), (0, 0, 2), (1, 1, 1), {"ellipsisMask": 2}), ((1,), (2,), (1,), {}),
          ((0, 0, 0), (2, 0, 3), (1, 1, 1), {"newAxisMask": 2}),
          ((1, 0, 0, 1), (2, 0, 0, 2), (1, 1, 1, 1), {"shrinkAxisMask": 9, "ellipsisMask": 2, "newAxisMask": 4})]
for index, (begin, end, stride, masks) in enumerate(SLICES):
    add(f"{index}", "STRIDED_SLICE", [Given((2, 4, 5, 3)), ints(*begin), ints(*end), ints(*stride)],
        options="StridedSliceOptions", **masks)
for pads in (((0, 0), (1, 2), (0, 1), (0, 0)), ((0, 0), (0, 0), (0, 0), (0, 5)), ((1, 0), (1, 1), (1, 1), (1, 1))):
    name = "_".join(str(each) for pair in pads for each in pair)
    add(name, "PAD", [Given(PICTURE), np.array(pads, np.int32)])
    add(name, "PADV2", [Given(PICTURE), np.array(pads, np.int32), np.array(1.5, np.float32)])
for mode, pads in itertools.product((0, 1), (((0, 0), (1, 2), (2, 1), (0, 0)), ((0, 0), (2, 2), (0, 0), (1, 1)))):
    add(f"{mode}.{pads[2][0]}", "MIRROR_PAD", [Given(PICTURE), np.array(pads, np.int32)], options="MirrorPadOptions",
        mode=mode)
for times in ((1, 2, 1, 1), (2, 1, 3, 2)):
    add("_".join(map(str, times)), "TILE", [Given(PICTURE), ints(*times)])
add("rank2", "TILE", [Given((2, 3)), ints(2, 2)])
for shape, target in (((1, 3), (4, 3)), ((3,), (2, 4, 3)), ((2, 1, 3), (2, 5, 3))):
    add("x".join(map(str, target)), "BROADCAST_TO", [Given(shape), ints(*target)], version=2)
for axis in (0, 1, 2, 3):
    add(f"{axis}", "REVERSE_V2", [Given((2, 3, 4, 5)), ints(axis)])
for block in (2, 3):
    add(f"{block}", "DEPTH_TO_SPACE", [Given((1, 2, 3, 2 * block * block))], options="DepthToSpaceOptions", blockSize=block)
    add(f"{block}", "SPACE_TO_DEPTH", [Given((1, 2 * block, 3 * block, 3))], options="SpaceToDepthOptions", blockSize=block)
for block, pads in (((2, 2), ((0, 0), (0, 0))), ((2, 3), ((0, 0), (1, 1))), ((1, 2), ((1, 0), (0, 0)))):
    name = "_".join(map(str, block))
    add(name, "SPACE_TO_BATCH_ND", [Given((2, 4, 4, 3)), ints(*block), np.array(pads, np.int32)])
    add(name, "BATCH_TO_SPACE_ND", [Given((2 * block[0] * block[1], 4, 4, 3)), ints(*block), np.array(pads, np.int32)])
add("float", "FILL", [ints(2, 3), Given(())])
add("int", "RANGE", [np.array(1, np.int32), np.array(9, np.int32), np.array(2, np.int32)], ["int32"])
add("rank4", "SHAPE", [Given(PICTURE)], ["int32"], "ShapeOptions", outType=2)
add("rank4", "RANK", [Given(PICTURE)], ["int32"])

# ---- indices
for axis in (0, 1, -1):
    add(f"{axis}", "GATHER", [Given((4, 5, 6)), Given((3,), "int32", 0, 3)], options="GatherOptions", axis=axis)
    add(f"{axis}.rank2", "GATHER", [Given((4, 5, 6)), Given((2, 3), "int32", 0, 3)], options="GatherOptions", axis=axis)
    add(f"{axis}", "GATHER", [Given((2, 3, 4, 5)), ints(1, 0)], options="GatherOptions", axis=axis)
add("batch", "GATHER", [Given((2, 5, 6)), Given((2, 3), "int32", 0, 4)], options="GatherOptions", axis=1, batchDims=1)
for last in (1, 2, 3):
    add(f"{last}", "GATHER_ND", [Given((4, 5, 6)), Given((3, last), "int32", 0, 3)])
add("rows", "SCATTER_ND", [Given((3, 1), "int32", 0, 4), Given((3, 2)), ints(5, 2)])
add("each", "SCATTER_ND", [Given((4, 2), "int32", 0, 2), Given((4,)), ints(3, 3)])
for axis in (-1, 0, 1):
    add(f"{axis}", "ONE_HOT", [Given((3, 2), "int32", 0, 4), np.array(5, np.int32), np.array(2, np.float32),
                               np.array(-1, np.float32)], options="OneHotOptions", axis=axis)
add("bool", "WHERE", [Given((3, 4), "bool")], ["int64"])
add("rows", "EMBEDDING_LOOKUP", [Given((4,), "int32", 0, 6), weights(7, 3)])
add("lengths", "REVERSE_SEQUENCE", [Given((3, 5, 2)), Given((3,), "int32", 1, 5)], options="ReverseSequenceOptions",
    seqDim=1, batchDim=0)


# ---- integers that stand for numbers
def add_integers(name, op, inputs, scale, zero, dtype="int8", options=None, **fields):
    """`inputs`: (shape, dtype, scale, zero point) of an input, or (array, scale) of a constant; its scales may be
    several, along the first dimension or, of four, the last."""
    net = Network()
    ranges, numbers = {}, []
    for each in inputs:
        if isinstance(each[0], np.ndarray):
            axis = each[0].ndim - 1 if op == "DEPTHWISE_CONV_2D" else 0
            numbers.append(net.constant(each[0], scale=each[1], axis=axis) if len(each) > 1 else net.constant(each[0]))
            continue
        shape, kind, own, offset = each
        name_of = f"in{len(ranges)}"
        numbers.append(net.tensor(shape, kind, name=name_of, scale=own, zero=offset))
        limits = np.iinfo(kind)
        ranges[name_of] = Given(shape, kind, limits.min, limits.max)
        net.graph.inputs.append(numbers[-1])
    made = net.tensor((), dtype, name="out0", scale=scale, zero=zero)
    net.op(op, numbers, [made], options, **fields)
    net.graph.outputs = [made]
    CASES.append((f"{op.lower()}.integers.{name}", net, ranges))


def small(*shape):
    return np.random.default_rng(3).integers(-127, 128, shape).astype(np.int8)


def bias(count, scale):
    return np.random.default_rng(4).integers(-2000, 2000, count).astype(np.int32), scale


for act in (NONE, RELU6):
    scales = np.array([.01, .02, .015, .03, .005], np.float32)
    window = {"padding": SAME, "strideW": 1, "strideH": 1, "fusedActivationFunction": act}
    add_integers(f"{act}", "CONV_2D", [((1, 6, 6, 3), "int8", .05, 3), (small(5, 3, 3, 3), scales), bias(5, scales * .05)],
                 .2, -10, options="Conv2DOptions", version=3, **window)
    add_integers(f"{act}", "DEPTHWISE_CONV_2D", [((1, 6, 6, 5), "int8", .05, 3), (small(1, 3, 3, 5), scales),
                                                 bias(5, scales * .05)], .1, -10, options="DepthwiseConv2DOptions",
                 depthMultiplier=1, version=3, **window)
    add_integers(f"{act}", "FULLY_CONNECTED", [((3, 8), "int8", .05, 3), (small(5, 8), .01), bias(5, .0005)], .1, 4,
                 options="FullyConnectedOptions", fusedActivationFunction=act, version=4)
    for op, table in (("ADD", "AddOptions"), ("MUL", "MulOptions"), ("SUB", "SubOptions")):
        for kind, zero in (("int8", -5), ("uint8", 120)):
            add_integers(f"{kind}.{act}", op, [(PICTURE, kind, .05, zero), (PICTURE, kind, .03, zero)], .08, zero, kind,
                         table, fusedActivationFunction=act, version=2)
for kind, zero in (("int8", -5), ("uint8", 120)):
    version = 2 if kind == "int8" else 1
    add_integers(kind, "AVERAGE_POOL_2D", [(PICTURE, kind, .05, zero)], .05, zero, kind, "Pool2DOptions", padding=VALID,
                 strideW=1, strideH=1, filterWidth=2, filterHeight=2, version=version)
    add_integers(kind, "MAX_POOL_2D", [(PICTURE, kind, .05, zero)], .05, zero, kind, "Pool2DOptions", padding=SAME,
                 strideW=2, strideH=2, filterWidth=2, filterHeight=2, version=version)
    add_integers(kind, "LOGISTIC", [(PICTURE, kind, .05, zero)], 1 / 256, -128 if kind == "int8" else 0, kind,
                 version=version)
    add_integers(kind, "SOFTMAX", [((2, 9), kind, .05, zero)], 1 / 256, -128 if kind == "int8" else 0, kind,
                 "SoftmaxOptions", beta=1., version=version)
    add_integers(kind, "RESHAPE", [(PICTURE, kind, .05, zero), (ints(1, 90),)], .05, zero, kind)
    add_integers(kind, "PAD", [(PICTURE, kind, .05, zero), (np.array([[0, 0], [1, 1], [2, 0], [0, 0]], np.int32),)], .05,
                 zero, kind, version=version)
    add_integers(kind, "CONCATENATION", [(PICTURE, kind, .05, zero), (PICTURE, kind, .05, zero)], .05, zero, kind,
                 "ConcatenationOptions", axis=3, version=version)
    add_integers(kind, "MEAN", [(PICTURE, kind, .05, zero), (ints(1, 2),)], .02, zero, kind, "ReducerOptions",
                 keepDims=True, version=version)
    add_integers(kind, "RESIZE_BILINEAR", [(PICTURE, kind, .05, zero), (ints(9, 11),)], .05, zero, kind,
                 "ResizeBilinearOptions", halfPixelCenters=True, version=3 if kind == "int8" else 1)
add_integers("requantized", "QUANTIZE", [(PICTURE, "uint8", .05, 120)], .07, -9, "int8", version=2)
for kind, zero in (("int8", -5), ("uint8", 120)):
    version = 2 if kind == "int8" else 1
    same = ((PICTURE, kind, .05, zero),)
    for act in (NONE, RELU6):
        add_integers(f"{kind}.same.{act}", "AVERAGE_POOL_2D", [*same], .05, zero, kind, "Pool2DOptions", padding=SAME,
                     strideW=2, strideH=1, filterWidth=3, filterHeight=2, fusedActivationFunction=act, version=version)
    for half, corners in ((False, False), (False, True)):
        add_integers(f"{kind}.{corners}", "RESIZE_BILINEAR", [*same, (ints(8, 9),)], .05, zero, kind,
                     "ResizeBilinearOptions", halfPixelCenters=half, alignCorners=corners, version=3)
    add_integers(kind, "RESIZE_NEAREST_NEIGHBOR", [*same, (ints(8, 9),)], .05, zero, kind,
                 "ResizeNearestNeighborOptions", version=version)
    for op in ("RELU", "RELU6"):
        add_integers(f"{kind}.other", op, [*same], .03, zero + 2, kind, version=version)
    add_integers(kind, "TANH", [*same], 1 / 128, 0 if kind == "int8" else 128, kind, version=version)
    add_integers(kind, "LEAKY_RELU", [*same], .04, zero + 3, kind, "LeakyReluOptions", alpha=.3, version=version)
    add_integers(kind, "HARD_SWISH", [*same], .04, zero + 3, kind, version=1)
    add_integers(kind, "TRANSPOSE", [*same, (ints(0, 3, 1, 2),)], .05, zero, kind, version=version)
    add_integers(kind, "SLICE", [*same, (ints(0, 1, 2, 0),), (ints(1, 3, 2, 2),)], .05, zero, kind, version=version)
    add_integers(kind, "EXPAND_DIMS", [*same, (np.array(1, np.int32),)], .05, zero, kind)
    for op in ("MAXIMUM", "MINIMUM"):
        add_integers(kind, op, [*same, (PICTURE, kind, .05, zero)], .05, zero, kind, version=version)
    for op, keep in itertools.product(("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN"), (False, True)):
        for axes in ((1, 2), (3,)):
            if op == "SUM" and kind == "int8":  # LiteRT keeps its sums in 8 bits, which wrap around
                continue
            name = "_".join(map(str, axes))
            own, other = (.05, zero) if op.startswith("REDUCE") else (.09 if op == "MEAN" else 1.7, zero + 1)
            add_integers(f"{kind}.{name}.{keep}", op, [*same, (ints(*axes),)], own, other, kind, "ReducerOptions",
                         keepDims=keep, version=version)
    for op, table in (("ADD", "AddOptions"), ("MUL", "MulOptions"), ("SUB", "SubOptions")):
        add_integers(f"{kind}.channels", op, [*same, ((1, 1, 1, 3), kind, .02, zero + 4)], .06, zero, kind, table, version=2)
for beta in (1., .7):
    add_integers(f"picture.{beta}", "SOFTMAX", [(PICTURE, "int8", .11, 7)], 1 / 256, -128, "int8", "SoftmaxOptions", beta=beta,
                 version=2)
add_integers("int8", "LOG_SOFTMAX", [((2, 9), "int8", .05, 3)], 16 / 256, 127, "int8", "LogSoftmaxOptions", version=2)
add_integers("int8", "L2_NORMALIZATION", [((2, 9), "int8", .05, 3)], 1 / 128, 0, "int8", "L2NormOptions", version=2)
for padding, stride, act in itertools.product((SAME, VALID), (1, 2), (NONE, RELU)):
    scales = np.array([.01, .02, .015, .03, .005], np.float32)
    window = {"padding": padding, "strideW": stride, "strideH": stride, "fusedActivationFunction": act}
    add_integers(f"{padding}.{stride}.{act}", "CONV_2D",
                 [((2, 9, 8, 3), "int8", .04, -7), (small(5, 3, 2, 3), scales), bias(5, scales * .04)], .3, 11,
                 options="Conv2DOptions", version=3, **window)
    add_integers(f"{padding}.{stride}.{act}", "DEPTHWISE_CONV_2D",
                 [((2, 9, 8, 5), "int8", .04, -7), (small(1, 3, 2, 5), scales), bias(5, scales * .04)], .07, 11,
                 options="DepthwiseConv2DOptions", depthMultiplier=1, version=3, **window)
    add_integers(f"{padding}.{stride}", "TRANSPOSE_CONV",
                 [(ints(1, *((4 * stride, 5 * stride) if padding == SAME else (3 * stride + 3, 4 * stride + 2)), 5),),
                  (small(5, 3, 2, 3), scales), ((1, 4, 5, 3), "int8", .04, -7), bias(5, scales * .04)], .3, 11,
                 options="TransposeConvOptions", padding=padding, strideW=stride, strideH=stride, version=3)
for rows in (1, 5):
    add_integers(f"rows.{rows}", "FULLY_CONNECTED", [((rows, 80), "int8", .05, -128), (small(40, 80), .01), bias(40, .0005)],
                 .25, -20, options="FullyConnectedOptions", version=4)
for source, scale, zero, target, other, offset in (("int8", .05, 3, "uint8", .05, 131), ("int8", .05, 3, "int8", .02, -4),
                                                   ("uint8", .05, 128, "uint8", .11, 9)):
    add_integers(f"{source}.{target}.{other}", "QUANTIZE", [(PICTURE, source, scale, zero)], other, offset, target, version=2)
