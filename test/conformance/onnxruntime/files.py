#!/usr/bin/env python3
"""Files of ONNX Runtime's optimizer and quantizers, imported and compared with ONNX Runtime.

Six float networks of random weights go through the optimizer (levels extended and all, of which the
layouts of one processor are left out), the static quantizer (QDQ and QOperator, weights per tensor and
per channel), the dynamic quantizer, and through the optimizer behind each quantizer: sixty files. A file
agrees if all outputs are within 1e-4 of ONNX Runtime's. Outputs that are made of stored integers agree
if no integer is off by more than 1: a value that lies between two may go to either. The exit
status is 0 if all agree and, with --deploy, all are compiled in F16 and in INT8: quantized ones in their own
integers, the others by thresholds of eight samples.
"""

import argparse
import logging
import collections
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import (CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic,
                                      quantize_static)


class Net:
    """A float network under construction; each call adds a node and gives its output's name."""

    def __init__(self, *shape):
        self.rng = np.random.default_rng(7)
        self.nodes, self.weights, self.shape = [], [], list(shape)

    def const(self, value):
        name = f"c{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def random(self, *shape):
        fan = max(1, int(np.prod(shape[1:])) if len(shape) > 1 else 4)
        return self.const((self.rng.standard_normal(shape) / np.sqrt(fan)).astype(np.float32))

    def __call__(self, op, *inputs, outputs=1, **attributes):
        names = [f"t{len(self.nodes)}_{index}" if index else f"t{len(self.nodes)}" for index in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, name=f"n{len(self.nodes)}", **attributes))
        return names[0]

    def conv(self, x, inputs, outputs, size=3, stride=1, group=1):
        return self("Conv", x, self.random(outputs, inputs // group, size, size), self.random(outputs), kernel_shape=[size, size],
                    strides=[stride, stride], pads=[size // 2] * 4, group=group)

    def norm(self, x, channels):
        ones = self.const(np.abs(self.rng.standard_normal(channels)).astype(np.float32) + np.float32(0.5))
        return self("BatchNormalization", x, ones, self.random(channels), self.random(channels), ones)

    def dense(self, x, inputs, outputs):
        return self("Add", self("MatMul", x, self.const((self.rng.standard_normal((inputs, outputs)) / np.sqrt(inputs)).astype(np.float32))),
                    self.random(outputs))

    def model(self, output):
        graph = helper.make_graph(self.nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)],
                                  [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        return onnx.shape_inference.infer_shapes(model)


def residual():
    net = Net(1, 3, 24, 24)
    x = net("Relu", net.norm(net.conv("x", 3, 16), 16))
    x = net("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    y = net.conv(net("Relu", net.norm(net.conv(x, 16, 16), 16)), 16, 16)
    x = net("Relu", net("Add", x, y))
    x = net("Flatten", net("GlobalAveragePool", x))
    return net.model(net("Gemm", x, net.random(10, 16), net.random(10), transB=1))


def mobile():
    net = Net(1, 3, 24, 24)
    x = net("HardSwish", net.conv("x", 3, 16, stride=2))
    x = net("HardSwish", net.conv(x, 16, 16, group=16))
    gate = net("HardSigmoid", net.conv(net("Relu", net.conv(net("GlobalAveragePool", x), 16, 8, 1)), 8, 16, 1))
    x = net("Mul", x, gate)
    x = net("AveragePool", net.conv(x, 16, 24, 1), kernel_shape=[2, 2], strides=[2, 2])
    return net.model(net("Softmax", net.dense(net("Flatten", x), 24 * 36, 10), axis=-1))


def detector():
    net = Net(1, 3, 32, 32)
    a = net("LeakyRelu", net.conv("x", 3, 16, stride=2), alpha=0.1)
    b = net("LeakyRelu", net.conv(a, 16, 32, stride=2), alpha=0.1)
    up = net("Resize", b, "", net.const(np.array([1, 1, 2, 2], np.float32)), mode="nearest",
             coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    x = net("Concat", a, up, axis=1)
    x = net("Clip", net.conv(x, 48, 16), net.const(np.float32(0)), net.const(np.float32(6)))
    return net.model(net("Sigmoid", net.conv(x, 16, 6, 1)))


def dense():
    net = Net(4, 32)
    x = net("Relu", net("Gemm", "x", net.random(48, 32), net.random(48), transB=1))
    x = net("LeakyRelu", net("Gemm", x, net.random(48, 48), net.random(48), transB=1), alpha=0.2)
    x = net("Mul", net("Tanh", net.dense(x, 48, 24)), net("Sigmoid", net.dense(x, 48, 24)))
    return net.model(net("Softmax", net.dense(x, 24, 8), axis=-1))


def transformer():
    length, size, heads = 12, 32, 4
    net = Net(2, length, size)
    shape = net.const(np.array([0, 0, heads, size // heads], np.int64))
    x = "x"
    for _ in range(2):
        q, k, v = (net("Transpose", net("Reshape", net.dense(x, size, size), shape), perm=order)
                   for order in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
        scores = net("Softmax", net("Div", net("MatMul", q, k), net.const(np.float32(np.sqrt(size // heads)))), axis=-1)
        y = net("Reshape", net("Transpose", net("MatMul", scores, v), perm=[0, 2, 1, 3]), net.const(np.array([0, 0, size], np.int64)))
        x = net("LayerNormalization", net("Add", x, net.dense(y, size, size)), net.random(size), net.random(size), axis=-1)
        y = net.dense(x, size, 64)
        erf = net("Add", net("Erf", net("Div", y, net.const(np.float32(np.sqrt(2))))), net.const(np.float32(1)))
        y = net("Mul", net("Mul", y, erf), net.const(np.float32(0.5)))
        x = net("LayerNormalization", net("Add", x, net.dense(y, 64, size)), net.random(size), net.random(size), axis=-1)
    return net.model(net.dense(x, size, 8))


def recurrent():
    net = Net(1, 3, 16, 20)
    x = net("Relu", net.conv("x", 3, 16, stride=2))
    x = net("Relu", net.conv(x, 16, 16, stride=2))
    x = net("Reshape", x, net.const(np.array([1, 64, 5], np.int64)))
    x = net("Transpose", x, perm=[2, 0, 1])
    x = net("LSTM", x, net.random(2, 96, 64), net.random(2, 96, 24), net.random(2, 192), outputs=3, hidden_size=24, direction="bidirectional")
    x = net("Reshape", net("Transpose", x, perm=[0, 2, 1, 3]), net.const(np.array([5, 1, 48], np.int64)))
    return net.model(net.dense(x, 48, 11))


NETWORKS = [residual, mobile, detector, dense, transformer, recurrent]


class Reader(CalibrationDataReader):
    def __init__(self, arrays):
        self.arrays = iter(arrays)

    def get_next(self):
        value = next(self.arrays, None)
        return None if value is None else {"x": value}


def optimized(source, target, level):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = level
    options.optimized_model_filepath = str(target)
    # Its blocks of channels are as long as the registers of the processor at hand.
    ort.InferenceSession(str(source), options, ["CPUExecutionProvider"], disabled_optimizers=["NchwcTransformer"])
    return target


def variants(folder, arrays):
    """(kind, file) of all files made of float.onnx."""
    source = folder / "float.onnx"
    extended, every = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED, ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    yield "extended", optimized(source, folder / "extended.onnx", extended)
    yield "all", optimized(source, folder / "all.onnx", every)
    for form, name in ((QuantFormat.QDQ, "qdq"), (QuantFormat.QOperator, "qoperator")):
        for per_channel in (False, True):
            kind = name + ("-channels" if per_channel else "")
            file = folder / f"{kind}.onnx"
            # Weights of 7 bits: without wider sums in the processor ONNX Runtime would cut sums off.
            quantize_static(str(source), str(file), Reader(arrays), quant_format=form, per_channel=per_channel, reduce_range=True,
                            activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)
            yield kind, file
        yield name + "-all", optimized(folder / f"{name}.onnx", folder / f"{name}-all.onnx", every)
    file = folder / "dynamic.onnx"
    quantize_dynamic(str(source), str(file), reduce_range=True, weight_type=QuantType.QInt8)
    yield "dynamic", file
    yield "dynamic-all", optimized(file, folder / "dynamic-all.onnx", every)


MOVED = ("Reshape", "Transpose", "Flatten", "Identity")


def limit_of(model, name):
    """How far an output may be off: a step of the integers that it is made of, or 1e-4 of floats."""
    made = {output: node for node in model.graph.node for output in node.output}
    while made[name].op_type in MOVED:
        name = made[name].input[0]
    if made[name].op_type != "DequantizeLinear":
        return 1e-4
    scale = next(each for each in model.graph.initializer if each.name == made[name].input[1])
    # The product of an integer and the scale is rounded.
    return float(numpy_helper.to_array(scale).max()) * (1 + 1e-5)


def tool(tools, name, *arguments, folder):
    done = subprocess.run([tools / name, *arguments], cwd=folder, capture_output=True, text=True, timeout=300)
    return "" if done.returncode == 0 else (done.stderr or done.stdout).strip().splitlines()[-1]


def check(file, kind, tools, value, deploy):
    """(agrees, compiles, what is wrong)"""
    folder, model = file.parent, onnx.load(file)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(str(file), options, ["CPUExecutionProvider"])
    names = [each.name for each in session.get_outputs()]
    wanted = session.run(names, {"x": value})
    np.savez(folder / "in.npz", x=value)
    for step in (("model_transform", "--model_def", file.name, "--mlir", "m.mlir"),
                 ("model_runner", "--model", "m.mlir", "--input", "in.npz", "--output", "out.npz")):
        if said := tool(tools, *step, folder=folder):
            return False, False, said
    said = ""
    with np.load(folder / "out.npz") as found:
        for name, expected in zip(names, wanted):
            worst = np.abs(found[name] - expected).max()
            limit = limit_of(model, name)
            if found[name].shape != expected.shape or not worst <= limit:
                said = f"{name} differs by {worst:.3g} of {np.abs(expected).max():.3g}"
    if deploy:
        deployed = ("model_deploy", "--mlir", "m.mlir", "--processor", "bm1684x", "--model", "m.bmodel", "--quantize")
        table = () if kind.startswith("q") else ("--calibration_table", "t.txt")
        steps = [(*deployed, "F16"), (*deployed, "INT8", *table)]
        if table:
            steps.insert(1, ("run_calibration", "m.mlir", "--dataset", "data", "--cali_method", "max", "-o", "t.txt"))
        for step in steps:
            if refused := tool(tools, *step, folder=folder):
                return not said, False, said or refused
    return not said, True, said


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--deploy", action="store_true", help="compile each file in F16 and INT8, too")
    options = parser.parse_args()
    logging.getLogger().setLevel(logging.ERROR)
    tools = options.tools.resolve()
    counts, agree, compiled, contrib = 0, 0, 0, collections.Counter()
    for network in NETWORKS:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            model = network()
            onnx.save(model, folder / "float.onnx")
            rng = np.random.default_rng(3)
            shape = [each.dim_value for each in model.graph.input[0].type.tensor_type.shape.dim]
            arrays = [rng.standard_normal(shape).astype(np.float32) for _ in range(8)]
            (folder / "data").mkdir()
            for index, array in enumerate(arrays):
                np.save(folder / "data" / f"{index}.npy", array)
            for kind, file in variants(folder, arrays):
                if options.only not in f"{network.__name__} {kind}":
                    continue
                for node in onnx.load(file).graph.node:
                    if node.domain not in ("", "ai.onnx"):
                        contrib[f"{node.domain}.{node.op_type}"] += 1
                agrees, compiles, said = check(file, kind, tools, arrays[0], options.deploy)
                counts, agree, compiled = counts + 1, agree + agrees, compiled + compiles
                if said:
                    print(f"{network.__name__} {kind}: {said}", flush=True)
    print("operators of other domains:", ", ".join(f"{name} {count}" for name, count in sorted(contrib.items())))
    print(f"{counts} files: {agree} agree with ONNX Runtime" + (f", {compiled} compile in F16 and INT8" if options.deploy else ""))
    return 0 if agree == counts and compiled == counts else 1


if __name__ == "__main__":
    sys.exit(main())
