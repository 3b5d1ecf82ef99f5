"""twin.py WEIGHTS.npz OUT.onnx: a Caffe network of the age and gender kind as ONNX, for compilers that
read no Caffe. WEIGHTS.npz has NAME.0 and NAME.1 for each layer with weights. Needs numpy and onnx."""

import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper

# Layers as in the networks' prototxt: the kind, the name and its settings.
LAYERS = [
    ("Conv", "conv1", {"strides": [4, 4]}), ("Relu", "relu1", {}), ("MaxPool", "pool1", {}), ("LRN", "norm1", {}),
    ("Conv", "conv2", {"pads": [2, 2, 2, 2]}), ("Relu", "relu2", {}), ("MaxPool", "pool2", {}), ("LRN", "norm2", {}),
    ("Conv", "conv3", {"pads": [1, 1, 1, 1]}), ("Relu", "relu3", {}), ("MaxPool", "pool5", {}),
    ("Flatten", "flat", {"axis": 1}), ("Gemm", "fc6", {"transB": 1}), ("Relu", "relu6", {}),
    ("Gemm", "fc7", {"transB": 1}), ("Relu", "relu7", {}), ("Gemm", "fc8", {"transB": 1}),
    ("Softmax", "prob", {"axis": 1}),
]
OF_KIND = {
    "MaxPool": {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1},
    "LRN": {"size": 5, "alpha": 0.0001, "beta": 0.75, "bias": 1.0},
}


def main(weights, path):
    weights = np.load(weights)
    nodes, constants, value = [], [], "data"
    for kind, name, settings in LAYERS:
        operands = [value]
        if kind in ("Conv", "Gemm"):
            for index in range(2):
                array = weights[f"{name}.{index}"]
                if index == 1:
                    array = array.reshape(-1)
                elif kind == "Gemm":
                    array = array.reshape(array.shape[-2], -1)
                constants.append(numpy_helper.from_array(np.ascontiguousarray(array), f"{name}.{index}"))
                operands.append(f"{name}.{index}")
        nodes.append(helper.make_node(kind, operands, [name], name, **OF_KIND.get(kind, {}), **settings))
        value = name
    classes = weights["fc8.1"].size
    graph = helper.make_graph(
        nodes, "twin", [helper.make_tensor_value_info("data", onnx.TensorProto.FLOAT, [1, 3, 227, 227])],
        [helper.make_tensor_value_info(value, onnx.TensorProto.FLOAT, [1, classes])], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, path)


if __name__ == "__main__":
    main(*sys.argv[1:])
