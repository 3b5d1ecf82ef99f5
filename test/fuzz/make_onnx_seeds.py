#!/usr/bin/env python3
"""Writes the seeds of fuzz_onnx into onnx_seeds/ beside this file: small models as the onnx package
writes them, one peculiarity each. Made with onnx 1.19.1."""

import pathlib

import numpy as np
from onnx import TensorProto, helper, numpy_helper

SEEDS = pathlib.Path(__file__).parent / "onnx_seeds"


def info(name, shape=(2, 3), kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def save(name, nodes, weights=(), outputs=("y",), functions=(), **graph):
    graph = helper.make_graph(nodes, name, [info("x")], [info(o) for o in outputs], list(weights), **graph)
    imports = [helper.make_opsetid("", 19), helper.make_opsetid("me", 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=9, functions=list(functions))
    (SEEDS / f"{name}.onnx").write_bytes(model.SerializeToString())


def main():
    SEEDS.mkdir(exist_ok=True)
    node = helper.make_node
    raw = numpy_helper.from_array(np.arange(6, dtype=np.float32).reshape(2, 3), "w")
    save("raw", [node("Add", ["x", "w"], ["y"])], [raw])
    typed = [helper.make_tensor("w", TensorProto.FLOAT, [2], [1.0, 2.0]),
             helper.make_tensor("i", TensorProto.INT64, [2], [1, -1]),
             helper.make_tensor("h", TensorProto.FLOAT16, [1], [1.5]),
             helper.make_tensor("d", TensorProto.DOUBLE, [], [0.1]),
             helper.make_tensor("n", TensorProto.INT4, [3], [1, -2, 3])]
    save("typed", [node("Add", ["x", "w"], ["y"])], typed)
    external = numpy_helper.from_array(np.zeros(2, np.float32), "w")
    external.ClearField("raw_data")
    external.data_location = TensorProto.EXTERNAL
    for key, value in (("location", "a.bin"), ("offset", "4"), ("length", "8")):
        external.external_data.add(key=key, value=value)
    save("external", [node("Add", ["x", "w"], ["y"])], [external])
    sparse = helper.make_sparse_tensor(helper.make_tensor("s", TensorProto.FLOAT, [1], [3.0]),
                                       helper.make_tensor("si", TensorProto.INT64, [1], [2]), [2, 3])
    save("sparse", [node("Add", ["x", "s"], ["y"])], sparse_initializer=[sparse])
    then = helper.make_graph([node("Relu", ["x"], ["t"])], "then", [], [info("t")])
    other = helper.make_graph([node("Neg", ["x"], ["e"])], "else", [], [info("e")])
    save("if", [node("If", ["c"], ["y"], then_branch=then, else_branch=other)],
         [helper.make_tensor("c", TensorProto.BOOL, [], [True])])
    function = helper.make_function("me", "F", ["a"], ["b"], [node("Relu", ["a"], ["b"])],
                                    [helper.make_opsetid("", 19)])
    save("function", [node("F", ["x"], ["y"], domain="me")], functions=[function])
    save("cycle", [node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"]), node("Relu", ["b"], ["y"])])
    save("constant", [node("Constant", [], ["k"], value=raw), node("Mul", ["x", "k"], ["y"])])


if __name__ == "__main__":
    main()
