"""Networks of 16-bit integers beside 8-bit weights: one op each, all zero points 0."""

import itertools

import numpy as np

from cases import NONE, PICTURE, RELU, RELU6, SAME, VALID, add_integers, ints, small


def wide_bias(count, scale):
    return np.random.default_rng(4).integers(-2_000_000, 2_000_000, count).astype(np.int64), scale


def add16(name, op, inputs, scale, options=None, version=1, dtype="int16", **fields):
    """`inputs`: (shape, scale) of an input, or constants as add_integers takes them."""
    add_integers(f"int16.{name}", op, [(each[0], "int16", each[1], 0) if isinstance(each[0], tuple) else each
                                       for each in inputs], scale, 0, dtype, options, version=version, **fields)


MANY = np.array([.01, .02, .015, .03, .005], np.float32)
FINE = 2. ** -12
for padding, stride, act in itertools.product((SAME, VALID), (1, 2), (NONE, RELU, RELU6)):
    window = {"padding": padding, "strideW": stride, "strideH": stride, "fusedActivationFunction": act}
    label = f"{padding}.{stride}.{act}"
    for name, scales in (("channels", MANY), ("one", np.array([.02], np.float32))):
        add16(f"{label}.{name}", "CONV_2D",
              [((2, 9, 8, 3), FINE), (small(5, 3, 2, 3), scales), wide_bias(5, scales * np.float32(FINE))], .003,
              "Conv2DOptions", 4, **window)
        add16(f"{label}.{name}", "DEPTHWISE_CONV_2D",
              [((2, 9, 8, 5), FINE), (small(1, 3, 2, 5), scales), wide_bias(5, scales * np.float32(FINE))], .002,
              "DepthwiseConv2DOptions", 5, depthMultiplier=1, **window)
    add16(f"{label}", "AVERAGE_POOL_2D", [(PICTURE, FINE)], FINE, "Pool2DOptions", 3, filterWidth=3, filterHeight=2, **window)
    add16(f"{label}", "MAX_POOL_2D", [(PICTURE, FINE)], FINE, "Pool2DOptions", 3, filterWidth=3, filterHeight=2, **window)
    if act == NONE:
        size = (4 * stride, 5 * stride) if padding == SAME else (3 * stride + 3, 4 * stride + 2)
        add16(f"{label}", "TRANSPOSE_CONV",
              [(ints(1, *size, 5),), (small(5, 3, 2, 3), MANY), ((1, 4, 5, 3), FINE),
               wide_bias(5, MANY * np.float32(FINE))], .003, "TransposeConvOptions", 3, padding=padding, strideW=stride,
              strideH=stride)
# Biases that no f32 holds, of odd integers beyond 2^24.
far = (np.arange(5, dtype=np.int64) * 2 - 5) * 12_345_678_901 // 16 * 2 + 1
for name, op, options, filters in (("far", "CONV_2D", "Conv2DOptions", small(5, 1, 1, 3)),
                                   ("far", "DEPTHWISE_CONV_2D", "DepthwiseConv2DOptions", small(1, 1, 1, 5))):
    tiny = np.full(5, 2. ** -14, np.float32)
    add16(name, op, [((1, 64, 64, filters.shape[-1]), 2. ** -9), (filters, tiny), (far, tiny * np.float32(2. ** -9))], .04,
          options, 4 if op == "CONV_2D" else 5, padding=VALID, strideW=1, strideH=1)
for act, rows in itertools.product((NONE, RELU), (1, 5)):
    add16(f"{act}.{rows}", "FULLY_CONNECTED", [((rows, 80), FINE), (small(40, 80), .01), wide_bias(40, .01 * FINE)], .01,
          "FullyConnectedOptions", 4, fusedActivationFunction=act)
    for scale in (.01, .0007, .0000311):
        add16(f"{act}.{rows}.{scale}.no_bias", "FULLY_CONNECTED", [((rows, 80), FINE), (small(40, 80), .01)], scale,
              "FullyConnectedOptions", 4, fusedActivationFunction=act)
        add16(f"{act}.{rows}.{scale}.few", "FULLY_CONNECTED", [((rows, 5), FINE), (small(40, 5), .01)], scale,
              "FullyConnectedOptions", 4, fusedActivationFunction=act)
for op, table in (("ADD", "AddOptions"), ("SUB", "SubOptions"), ("MUL", "MulOptions")):
    for act, other in itertools.product((NONE, RELU6), (PICTURE, (1, 1, 1, 3), (3,))):
        more = {"potScaleInt16": False} if op != "MUL" else {}
        add16(f"{act}.{len(other)}.{other[-2:-1]}", op, [(PICTURE, .001), (other, .0007)], .0015, table,
              2 if op == "MUL" else 3, fusedActivationFunction=act, **more)
    for name, shape in (("all", PICTURE), ("row", (3,))):
        constant = np.random.default_rng(6).integers(-32768, 32768, shape).astype(np.int16)
        add16(f"constant.{name}", op, [(PICTURE, .001), (constant, .0007)], .0015, table, 2 if op == "MUL" else 3)
for op in ("ADD", "SUB"):
    add16("powers", op, [(PICTURE, 2. ** -10), (PICTURE, 2. ** -11)], 2. ** -9, f"{op.capitalize()}Options", 3,
          potScaleInt16=True)
for op in ("LOGISTIC", "TANH"):
    for scale in (2. ** -12, .0004, .0011):
        add16(f"{scale:.5f}", op, [(PICTURE, scale)], 2. ** -15, version=3)
for beta, shape in itertools.product((1., .5), ((2, 9), PICTURE)):
    add16(f"{beta}.{len(shape)}", "SOFTMAX", [(shape, .0007)], 2. ** -15, "SoftmaxOptions", 3, beta=beta)
add16("other", "LEAKY_RELU", [(PICTURE, .001)], .0007, "LeakyReluOptions", 2, alpha=.3)
add16("same", "RELU", [(PICTURE, .001)], .001, version=3)
add16("same", "RELU6", [(PICTURE, .001)], .001, version=3)
add16("other", "RELU", [(PICTURE, .001)], .0006, version=3)
for op, keep, axes in itertools.product(("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN"), (False, True), ((1, 2), (3,))):
    scale = .001 if op.startswith("REDUCE") else .0006 if op == "MEAN" else .005
    add16(f"{'_'.join(map(str, axes))}.{keep}", op, [(PICTURE, .001), (ints(*axes),)], scale, "ReducerOptions", 3,
          keepDims=keep)
for corners, half in ((False, False), (True, False), (False, True)):
    add16(f"{corners}.{half}", "RESIZE_BILINEAR", [(PICTURE, .001), (ints(9, 11),)], .001, "ResizeBilinearOptions", 4,
          alignCorners=corners, halfPixelCenters=half)
    add16(f"{corners}.{half}", "RESIZE_NEAREST_NEIGHBOR", [(PICTURE, .001), (ints(9, 11),)], .001,
          "ResizeNearestNeighborOptions", 4, alignCorners=corners, halfPixelCenters=half)
for op in ("MAXIMUM", "MINIMUM"):
    add16("same", op, [(PICTURE, .001), (PICTURE, .001)], .001, version=4)
add16("moved", "RESHAPE", [(PICTURE, .001), (ints(1, 90),)], .001)
add16("moved", "TRANSPOSE", [(PICTURE, .001), (ints(0, 3, 1, 2),)], .001, version=3)
add16("moved", "SLICE", [(PICTURE, .001), (ints(0, 1, 2, 0),), (ints(1, 3, 2, 2),)], .001, version=4)
add16("moved", "PAD", [(PICTURE, .001), (np.array([[0, 0], [1, 1], [2, 0], [0, 0]], np.int32),)], .001, version=3)
add16("same", "CONCATENATION", [(PICTURE, .001), (PICTURE, .001)], .001, "ConcatenationOptions", 3, axis=3)
for left, right in itertools.product((False, True), (False, True)):
    add16(f"{left}.{right}", "BATCH_MATMUL", [((2, *((5, 4) if left else (4, 5))), .0004),
                                              ((2, *((3, 5) if right else (5, 3))), .0004)], .002, "BatchMatMulOptions", 3,
          adjX=left, adjY=right)
add16("int16", "QUANTIZE", [(PICTURE, .001)], .0017, version=2)
add16("int8", "QUANTIZE", [(PICTURE, .001)], .07, version=2, dtype="int8")
add_integers("int16.from_int8", "QUANTIZE", [(PICTURE, "int8", .05, 3)], .001, 0, "int16", version=2)
