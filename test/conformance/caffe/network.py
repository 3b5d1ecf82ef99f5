"""Caffe networks as Python objects, and how both generations of files hold them.

A network is written as text (V1: `layers`, types in capitals, `input_dim`; V2: `layer`, `Input`
layers) and its weights as a binary file of either generation. The numbers of the fields are written
here once more, not taken from tpuc's own description of the format.
"""

import dataclasses
import re
import struct

import numpy as np

# Types of the first generation whose capitals do not follow from the name.
V1_NAMES = {"AbsVal": "ABSVAL", "ArgMax": "ARGMAX", "BNLL": "BNLL", "Eltwise": "ELTWISE", "Im2col": "IM2COL",
            "LRN": "LRN", "MVN": "MVN", "ReLU": "RELU", "TanH": "TANH", "InnerProduct": "INNER_PRODUCT",
            "Concat": "CONCAT", "Convolution": "CONVOLUTION", "Dropout": "DROPOUT", "Flatten": "FLATTEN",
            "Pooling": "POOLING", "Sigmoid": "SIGMOID", "Softmax": "SOFTMAX", "Split": "SPLIT",
            "Power": "POWER", "Threshold": "THRESHOLD", "DummyData": "DUMMY_DATA", "Slice": "SLICE",
            "Silence": "SILENCE", "Exp": "EXP", "Deconvolution": "DECONVOLUTION"}
V1_NUMBERS = {"BNLL": 2, "CONCAT": 3, "CONVOLUTION": 4, "DROPOUT": 6, "FLATTEN": 8, "IM2COL": 11,
              "INNER_PRODUCT": 14, "LRN": 15, "POOLING": 17, "RELU": 18, "SIGMOID": 19, "SOFTMAX": 20,
              "SPLIT": 22, "TANH": 23, "ELTWISE": 25, "POWER": 26, "ARGMAX": 30, "THRESHOLD": 31,
              "DUMMY_DATA": 32, "SLICE": 33, "MVN": 34, "ABSVAL": 35, "SILENCE": 36, "EXP": 38,
              "DECONVOLUTION": 39}


# Groups of parameters that layers of the first generation have.
V1_GROUPS = {"", "concat_param", "convolution_param", "dropout_param", "inner_product_param", "lrn_param",
             "pooling_param", "power_param", "argmax_param", "eltwise_param", "threshold_param", "dummy_data_param",
             "relu_param", "slice_param", "mvn_param", "softmax_param", "exp_param"}


class Word(str):
    """A value of an enumeration: written without quotes."""


@dataclasses.dataclass
class Layer:
    """`group`: the fields of its group of parameters, `group_name` the name of that."""
    type: str
    name: str
    bottoms: list
    tops: list
    group_name: str = ""
    group: dict = dataclasses.field(default_factory=dict)
    blobs: list = dataclasses.field(default_factory=list)
    shared: list = dataclasses.field(default_factory=list)
    include: str = ""


@dataclasses.dataclass
class Network:
    inputs: dict
    layers: list
    name: str = "network"

    def fits_first_generation(self):
        return all(layer.type in V1_NAMES and layer.group_name in V1_GROUPS and not layer.shared
                   for layer in self.layers) and \
            all(len(shape) == 4 for shape in self.inputs.values())


def field(name, value, indent):
    pad = "  " * indent
    if isinstance(value, dict):
        inner = "".join(field(key, each, indent + 1) for key, each in value.items())
        return f"{pad}{name} {{\n{inner}{pad}}}\n"
    if isinstance(value, (list, tuple)):
        return "".join(field(name, each, indent) for each in value)
    if isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, Word):
        text = value
    elif isinstance(value, str):
        text = f'"{value}"'
    else:
        text = repr(value)
    return f"{pad}{name}: {text}\n"


def text_of(network, generation):
    """The .prototxt of a network."""
    lines = [field("name", network.name, 0)]
    if generation == 1:
        for name, shape in network.inputs.items():
            lines.append(field("input", name, 0))
            lines.append(field("input_dim", list(shape), 0))
    else:
        for name, shape in network.inputs.items():
            lines.append(field("layer", {"name": name, "type": "Input", "top": name,
                                         "input_param": {"shape": {"dim": list(shape)}}}, 0))
    for layer in network.layers:
        fields = {"name": layer.name,
                  "type": Word(V1_NAMES[layer.type]) if generation == 1 else layer.type,
                  "bottom": layer.bottoms, "top": layer.tops}
        if layer.shared:
            fields["param"] = [{"name": name} for name in layer.shared]
        if layer.include:
            fields["include"] = {"phase": Word(layer.include)}
        if layer.group_name:
            fields[layer.group_name] = layer.group
        lines.append(field("layers" if generation == 1 else "layer", fields, 0))
    return "".join(lines)


def varint(number):
    out = bytearray()
    while number >= 128:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out) + bytes([number])


def delimited(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def blob_of(array, generation):
    """V1: four extents and numbers one by one; V2: a shape, and numbers packed."""
    array = np.ascontiguousarray(array, np.float32)
    if generation == 1:
        shape = [1] * (4 - array.ndim) + list(array.shape)
        header = b"".join(varint(index << 3) + varint(extent) for index, extent in enumerate(shape, 1))
        return header + b"".join(varint(5 << 3 | 5) + struct.pack("<f", each) for each in array.flat)
    shape = delimited(1, b"".join(varint(extent) for extent in array.shape))
    return delimited(7, shape) + delimited(5, array.astype("<f4").tobytes())


def weights_of(network, generation):
    """The .caffemodel of a network: layers with their names, types and blobs."""
    out = delimited(1, network.name.encode())
    for layer in network.layers:
        blobs = b"".join(delimited(6 if generation == 1 else 7, blob_of(blob, generation))
                         for blob in layer.blobs)
        if generation == 1:
            body = delimited(4, layer.name.encode()) + varint(5 << 3) + varint(V1_NUMBERS[V1_NAMES[layer.type]])
            out += delimited(2, body + blobs)
        else:
            body = delimited(1, layer.name.encode()) + delimited(2, layer.type.encode())
            out += delimited(100, body + blobs)
    return out


def one(layer_type, shapes, group_name="", blobs=(), tops=1, **group):
    """A network of one layer, whose inputs are called a, b, ..., and its outputs x, y, ..."""
    inputs = {chr(ord("a") + index): shape for index, shape in enumerate(shapes)}
    outputs = [chr(ord("x") + index) for index in range(tops)]
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", layer_type).lower()
    layer = Layer(layer_type, name, list(inputs), outputs, group_name, group, list(blobs))
    return Network(inputs, [layer])
