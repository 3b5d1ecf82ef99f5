"""More ops on 8-bit integers: functions, comparisons, products of tensors, and what moves elements."""

import itertools

import numpy as np

from cases import PICTURE, CASES, add_integers, ints, small

KINDS = (("int8", -5), ("uint8", 120))
for kind, zero in KINDS:
    version = 2 if kind == "int8" else 1
    same = (PICTURE, kind, .05, zero)
    for op, scale, options in (("ABS", .05, None), ("ELU", .04, None), ("EXP", .3, None), ("GELU", .04, "GeluOptions"),
                               ("RELU_N1_TO_1", .05, None), ("RELU_0_TO_1", .05, None), ("NEG", .05, None),
                               ("SQUARE", .3, None), ("ROUND", .05, None), ("CEIL", .05, None), ("FLOOR", .05, None)):
        add_integers(kind, op, [same], scale, zero, kind, options, version=version)
    low = np.iinfo(kind).min
    for op, scale in (("RSQRT", .02), ("LOG", .03), ("SQRT", .02)):
        add_integers(kind, op, [(PICTURE, kind, .03, low)], scale, zero, kind, version=version)
    for op, table in (("EQUAL", "EqualOptions"), ("NOT_EQUAL", "NotEqualOptions"), ("LESS", "LessOptions"),
                      ("LESS_EQUAL", "LessEqualOptions"), ("GREATER", "GreaterOptions"),
                      ("GREATER_EQUAL", "GreaterEqualOptions")):
        for name, other in (("same", (PICTURE, kind, .05, zero)), ("other", (PICTURE, kind, .04, zero + 3))):
            add_integers(f"{kind}.{name}", op, [same, other], None, 0, "bool", table, version=version)
    for left, right in itertools.product((False, True), (False, True)):
        add_integers(f"{kind}.{left}.{right}", "BATCH_MATMUL",
                     [((2, *((5, 4) if left else (4, 5))), kind, .05, zero),
                      ((2, *((3, 5) if right else (5, 3))), kind, .04, zero + 2)], .09, zero, kind, "BatchMatMulOptions",
                     adjX=left, adjY=right, version=2)
    add_integers(kind, "SQUARED_DIFFERENCE", [same, (PICTURE, kind, .05, zero)], .5, zero, kind, version=2)
    add_integers(f"{kind}.row", "SQUARED_DIFFERENCE", [same, ((3,), kind, .03, zero)], .5, zero, kind, version=2)
    add_integers(kind, "PRELU", [same, ((1, 1, 3), kind, .01, zero)], .05, zero, kind)
    slopes = np.random.default_rng(7).integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, (1, 1, 3)).astype(kind)
    for scale in (.05, .02):
        add_integers(f"{kind}.constant.{scale}", "PRELU", [same, (slopes, .01)], scale, zero, kind)
    add_integers(kind, "DEPTH_TO_SPACE", [((1, 2, 3, 8), kind, .05, zero)], .05, zero, kind, "DepthToSpaceOptions",
                 blockSize=2)
    add_integers(kind, "SPACE_TO_DEPTH", [((1, 4, 6, 3), kind, .05, zero)], .05, zero, kind, "SpaceToDepthOptions",
                 blockSize=2)
    add_integers(kind, "BATCH_TO_SPACE_ND", [((4, 2, 3, 2), kind, .05, zero), (ints(2, 2),),
                                             (np.zeros((2, 2), np.int32),)], .05, zero, kind, version=version)
    add_integers(kind, "SPACE_TO_BATCH_ND", [((1, 4, 6, 2), kind, .05, zero), (ints(2, 2),),
                                             (np.array([[0, 0], [1, 1]], np.int32),)], .05, zero, kind, version=version)
    add_integers(kind, "STRIDED_SLICE", [same, (ints(0, 4, 0, 0),), (ints(1, 0, 6, 3),), (ints(1, -2, 2, 1),)], .05, zero,
                 kind, "StridedSliceOptions", version=version)
    add_integers(kind, "MIRROR_PAD", [same, (np.array([[0, 0], [1, 2], [2, 1], [0, 0]], np.int32),)], .05, zero, kind,
                 "MirrorPadOptions", mode=1, version=version)
    add_integers(kind, "GATHER", [((4, 5), kind, .05, zero), (ints(3, 0, 1),)], .05, zero, kind, "GatherOptions",
                 version=version)
    add_integers(kind, "GATHER_ND", [((4, 5), kind, .05, zero), (np.array([[3], [1]], np.int32),)], .05, zero, kind)
    add_integers(kind, "PACK", [((2, 3), kind, .05, zero), ((2, 3), kind, .05, zero)], .05, zero, kind, "PackOptions",
                 axis=1, valuesCount=2, version=version)
    add_integers(kind, "TILE", [same, (ints(1, 2, 1, 2),)], .05, zero, kind, version=version)
    add_integers(kind, "SQUEEZE", [((1, 3, 1, 4), kind, .05, zero)], .05, zero, kind, "SqueezeOptions", squeezeDims=[0],
                 version=version)
    add_integers(kind, "REVERSE_V2", [((3, 4), kind, .05, zero), (ints(1),)], .05, zero, kind)
    add_integers(kind, "BROADCAST_TO", [((1, 3), kind, .05, zero), (ints(4, 3),)], .05, zero, kind, version=2)
    for op, table in (("ARG_MAX", "ArgMaxOptions"), ("ARG_MIN", "ArgMinOptions")):
        add_integers(kind, op, [same, (np.array(3, np.int32),)], None, 0, "int32", table, outputType=2, version=version)
    add_integers(f"{kind}.other", "CONCATENATION", [same, (PICTURE, kind, .03, zero + 4)], .05, zero, kind,
                 "ConcatenationOptions", axis=3, version=version)
    add_integers(f"{kind}.other", "PADV2", [same, (np.array([[0, 0], [1, 1], [2, 0], [0, 0]], np.int32),),
                                            (np.array(7, kind), .05)], .05, zero, kind, version=version)
    add_integers(f"{kind}.fine", "DIV", [same, (PICTURE, kind, .03, zero + 2)], 1 / 128, zero, kind, "DivOptions",
                 version=version)
    # Quotients in units of 1/64: in larger ones, LiteRT shifts those near 0 by more than 31 bits, which C++ leaves open.
    for op, scale in (("DIV", 1 / 64), ("MAXIMUM", .05)):
        add_integers(f"{kind}.channels", op, [same, ((1, 1, 1, 3), kind, .05, zero)], scale, zero, kind,
                     "DivOptions" if op == "DIV" else None, version=version)
    add_integers(f"{kind}.prod", "REDUCE_PROD", [same, (ints(3),)], .9, zero, kind, "ReducerOptions", keepDims=False,
                 version=2)
    add_integers(f"{kind}.grouped", "CONV_2D",
                 [((1, 6, 6, 4), "int8", .05, 3), (small(6, 3, 3, 2), .01), (np.arange(6, dtype=np.int32) * 100, .0005)],
                 .2, -10, options="Conv2DOptions", padding=0, strideW=1, strideH=1, version=3)
for half, bits in itertools.product((False, True), (8,)):
    add_integers(f"int8.{half}", "GELU", [(PICTURE, "int8", .05, 3)], .04, -20, "int8", "GeluOptions", approximate=half,
                 version=2)
