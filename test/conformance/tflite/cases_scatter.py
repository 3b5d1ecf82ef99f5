"""Segments, sparse rows, diagonals, blocks, angles and bits."""

import itertools

import numpy as np

from cases import PICTURE, SAME, VALID, RELU, Given, add, ints, weights

for shape in ((3,), (2, 4), (2, 3, 2)):
    for dtype in ("float32", "int32"):
        add(f"{len(shape)}.{dtype}", "MATRIX_DIAG", [Given(shape, dtype)], [dtype], "MatrixDiagOptions")
for rows, columns in ((3, 3), (2, 4), (4, 2)):
    for batch, dtype in itertools.product(((), (2,)), ("float32", "int32")):
        add(f"{rows}x{columns}.{len(batch)}.{dtype}", "MATRIX_SET_DIAG",
            [Given((*batch, rows, columns), dtype), Given((*batch, min(rows, columns)), dtype)], [dtype],
            "MatrixSetDiagOptions")
for dtype in ("float32", "int32"):
    add(f"{dtype}", "SEGMENT_SUM", [Given((5, 3), dtype), ints(0, 0, 1, 3, 3)], [dtype], "SegmentSumOptions")
    add(f"{dtype}.vector", "SEGMENT_SUM", [Given((4,), dtype), ints(0, 1, 1, 2)], [dtype], "SegmentSumOptions")
    for kind in ("SUM", "PROD", "MAX", "MIN"):
        table = f"UnsortedSegment{kind.capitalize()}Options"
        for name, data, places in (("rows", (5, 3), (5,)), ("vector", (6,), (6,)), ("matrix", (2, 3, 2), (2, 3))):
            add(f"{name}.{dtype}", f"UNSORTED_SEGMENT_{kind}",
                [Given(data, dtype), Given(places, "int32", 0, 3), np.array(4, np.int32)], [dtype], table)
            add(f"{name}.{dtype}.negative", f"UNSORTED_SEGMENT_{kind}",
                [Given(data, dtype), Given(places, "int32", -1, 2), np.array(4, np.int32)], [dtype], table)
    add(f"matrix.{dtype}", "SPARSE_TO_DENSE",
        [np.array([[0, 1], [1, 2], [2, 0]], np.int32), ints(3, 4), Given((3,), dtype), np.array(7, dtype)], [dtype],
        "SparseToDenseOptions")
    add(f"vector.{dtype}", "SPARSE_TO_DENSE", [ints(1, 3), ints(5), Given((2,), dtype), np.array(2, dtype)], [dtype],
        "SparseToDenseOptions")
    add(f"one.{dtype}", "SPARSE_TO_DENSE",
        [np.array(2, np.int32), ints(5), Given((), dtype), np.array(-1, dtype)], [dtype], "SparseToDenseOptions")
    add(f"same.{dtype}", "SPARSE_TO_DENSE",
        [np.array([[0, 1], [1, 2]], np.int32), ints(3, 4), Given((), dtype), np.array(0, dtype)], [dtype],
        "SparseToDenseOptions")
for combiner in (0, 1, 2):
    add(f"{combiner}", "EMBEDDING_LOOKUP_SPARSE",
        [ints(1, 3, 0, 2), np.array([[0, 0], [0, 1], [2, 0], [2, 1]], np.int32), ints(3, 2),
         np.array([1, 2, .5, 4], np.float32), weights(4, 3, 2)], options="EmbeddingLookupSparseOptions", combiner=combiner)
for dtype, out in itertools.product(("float32", "int32", "int64"), ("int32", "int64")):
    add(f"{dtype}.{out}", "UNIQUE", [Given((12,), dtype, -3, 3)], [dtype, out], "UniqueOptions",
        idxOutType={"int32": 2, "int64": 4}[out])
for start in ((0, 0, 0), (1, 2, 1), (-3, 9, 0)):
    name = "_".join(map(str, start))
    add(name, "DYNAMIC_UPDATE_SLICE", [Given((3, 5, 4)), Given((2, 2, 3)), ints(*start)])
    add(f"{name}.int32", "DYNAMIC_UPDATE_SLICE", [Given((3, 5, 4), "int32"), Given((2, 2, 3), "int32"), ints(*start)],
        ["int32"])
add("computed", "DYNAMIC_UPDATE_SLICE", [Given((3, 5, 4)), Given((2, 2, 3)), Given((3,), "int32", -1, 4)])
for factors in ((1, 1), (2, 1), (2, 3)):
    add("_".join(map(str, factors)), "DILATE", [Given((3, 4)), ints(*factors), np.array(-1.5, np.float32)])
for first, second in (((2, 3), (3,)), ((4,), (4,)), (PICTURE, PICTURE)):
    add(f"{len(first)}.{len(second)}", "ATAN2", [Given(first), Given(second)], options="ATan2Options")
SPECIAL = np.array([0., -0., 1., -1., np.inf, -np.inf, np.nan, 3e-39, 3e38], np.float32)
add("special", "ATAN2", [np.repeat(SPECIAL, SPECIAL.size), np.tile(SPECIAL, SPECIAL.size)], options="ATan2Options")
add("axes", "ATAN2", [np.array([0, 0, 1, -1, 0, 2, -2], np.float32), np.array([1, -1, 0, 0, 0, -3, -3], np.float32)],
    options="ATan2Options")
for source, target in (("float32", "int32"), ("int32", "float32"), ("int32", "uint32"), ("int16", "uint16"),
                       ("int8", "uint8")):
    add(f"{source}.{target}", "BITCAST", [Given((2, 3), source)], [target], "BitcastOptions")
for dtype, bounds in itertools.product(("float32", "int32", "int64"), ([-2., 0., 1., 3.], [0.], [])):
    add(f"{dtype}.{len(bounds)}", "BUCKETIZE", [Given((3, 5), dtype)], ["int32"], "BucketizeOptions", boundaries=bounds)
for first, second in (((2, 3, 1), (4,)), ((5, 1), (5, 6)), ((3,), (3,)), ((), (2, 2))):
    if first:
        add("x".join(map(str, first + second)), "BROADCAST_ARGS", [ints(*first), ints(*second)], ["int32"])
for op, dtype in itertools.product(("ADD", "MULTIPLY", "MAXIMUM", "MINIMUM"), ("float32", "int32")):
    add(dtype, f"STABLEHLO_{op}", [Given((2, 3), dtype), Given((2, 3), dtype)], [dtype])
add("float32", "STABLEHLO_CBRT", [Given((2, 9))])
add("int32", "STABLEHLO_SHIFT_LEFT", [Given((2, 3), "int32", 0, 99), Given((2, 3), "int32", 0, 8)], ["int32"])
for padding, stride, bias in itertools.product((SAME, VALID), (1, 2), (False, True)):
    size = [stride * each if padding == SAME else (each - 1) * stride + kernel for each, kernel in zip((2, 3, 4), (3, 2, 2))]
    add(f"{padding}.{stride}.{bias}", "CONV_3D_TRANSPOSE",
        [ints(1, *size, 4), weights(3, 2, 2, 4, 3), Given((1, 2, 3, 4, 3)), *([weights(4)] if bias else [])],
        options="Conv3DOptions", padding=padding, strideD=stride, strideH=stride, strideW=stride,
        fusedActivationFunction=RELU if bias else 0)

for count, overlap, least, most in itertools.product((1, 12, 30), (.1, .5), (.0, .6), (0, 3, 20)):
    name = f"{count}.{overlap}.{least}.{most}"
    boxes = [Given((count, 4), low=0, high=1), Given((count,), low=0, high=1), np.array(most, np.int32),
             np.array(overlap, np.float32), np.array(least, np.float32)]
    add(name, "NON_MAX_SUPPRESSION_V4", boxes, ["int32", "int32"])
    add(name, "NON_MAX_SUPPRESSION_V5", [*boxes, np.array(0, np.float32)], ["int32", "float32", "int32"])
