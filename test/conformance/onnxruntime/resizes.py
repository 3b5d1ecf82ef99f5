#!/usr/bin/env python3
"""Resizes that are products with constants, compiled and compared with ONNX Runtime.

usage: resizes.py --tools DIR [--cases N] [--seed N]

Random resizes, cubic ones, and linear ones with `antialias` or `exclude_outside`: all coordinate modes, coefficients of
the kernel, more and fewer elements, scales and sizes. Files for the bm1684x in F32, F16 and INT8 have no layer on the
host, and their outputs a relative distance from ONNX Runtime's of 1e-4, 2e-3 and 2e-2 at most.
"""

import argparse
import pathlib
import random
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

from einsums import Tools

MODES = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric")
FARTHEST = {"F32": 1e-4, "F16": 2e-3, "INT8": 2e-2}


def random_case(drawn):
    """The shape of the input, that of the result or the scales, and attributes."""
    shape = (1, drawn.choice([1, 2, 3, 8]), drawn.randint(3, 40), drawn.randint(3, 40))
    mode = drawn.choice(["cubic", "cubic", "linear"])
    attributes = {"mode": mode, "coordinate_transformation_mode": drawn.choice(MODES)}
    if mode == "cubic" and drawn.random() < 0.7:
        attributes["cubic_coeff_a"] = drawn.choice([-0.5, -0.75, -0.6])
    # ONNX Runtime computes antialiased corners otherwise, and knows no edges beside them.
    plain = drawn.random() < 0.5 and mode == "cubic"
    if not plain:
        if drawn.random() < 0.5 and attributes["coordinate_transformation_mode"] in ("half_pixel", "asymmetric"):
            attributes["antialias"] = 1
        else:
            attributes["mode"] = "cubic"
            attributes["exclude_outside"] = 1
    to = [drawn.choice([extent, max(2, extent // 2), extent * 2, extent * 4, drawn.randint(2, 90)]) for extent in shape[2:]]
    # Where an extent is rounded, ONNX Runtime takes the corners of another one than ONNX.
    if drawn.random() < 0.5 or attributes["coordinate_transformation_mode"] == "align_corners":
        return shape, {"sizes": [*shape[:2], *to]}, attributes
    # Of these, F32 and F64 give the same extents.
    return shape, {"scales": [1.0, 1.0, *(drawn.choice([0.5, 0.625, 0.75, 1, 1.25, 1.5, 2, 3.5, 4]) for _ in to)]}, attributes


def node(index, extents, attributes, weights):
    name = f"e{index}"
    array = (np.asarray(extents["sizes"], np.int64) if "sizes" in extents else np.asarray(extents["scales"], np.float32))
    weights.append(numpy_helper.from_array(array, name))
    inputs = [f"x{index}", "", "", name] if "sizes" in extents else [f"x{index}", "", name]
    return helper.make_node("Resize", inputs, [f"y{index}"], **attributes)


def model(cases):
    weights = []
    nodes = [node(index, extents, attributes, weights) for index, (_, extents, attributes) in enumerate(cases)]
    inputs = [helper.make_tensor_value_info(f"x{index}", TensorProto.FLOAT, shape) for index, (shape, *_) in enumerate(cases)]
    outputs = [helper.make_tensor_value_info(f"y{index}", TensorProto.FLOAT, None) for index in range(len(cases))]
    graph = helper.make_graph(nodes, "g", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True)
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    drawn, numbers = random.Random(options.seed), np.random.default_rng(options.seed)
    cases = [random_case(drawn) for _ in range(options.cases)]
    values = {f"x{index}": numbers.uniform(-1, 1, shape).astype(np.float32) for index, (shape, *_) in enumerate(cases)}
    network = model(cases)
    session = ort.InferenceSession(network.SerializeToString(), providers=["CPUExecutionProvider"])
    expected = dict(zip([each.name for each in session.get_outputs()], session.run(None, values)))
    with tempfile.TemporaryDirectory() as folder:
        tools = Tools(options.tools, folder)
        tools.transform(network, values)
        for mode, farthest in FARTHEST.items():
            found = tools.compiled(mode)
            for index, case in enumerate(cases):
                own = expected[f"y{index}"].astype(np.float64)
                away = np.linalg.norm(found[f"y{index}"] - own) / np.linalg.norm(own)
                if away > farthest:
                    tools.say(f"{case} in {mode}: {away:.2g} away")
        print(f"{len(cases)} resizes, {tools.wrong} differ")
        sys.exit(1 if tools.wrong else 0)


if __name__ == "__main__":
    main()
