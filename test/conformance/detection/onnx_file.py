"""ONNX files from nodes and arrays, with numpy alone: a writer of the few protobuf messages they need."""

import struct

import numpy as np

FLOAT, INT64 = 1, 7


def varint(number):
    number &= (1 << 64) - 1
    text = b""
    while number >= 0x80:
        text += bytes([number & 0x7F | 0x80])
        number >>= 7
    return text + bytes([number])


def integer(field, number):
    return varint(field << 3) + varint(number)


def message(field, payload):
    payload = payload.encode() if isinstance(payload, str) else payload
    return varint(field << 3 | 2) + varint(len(payload)) + payload


def attribute(name, value):
    text = message(1, name)
    if isinstance(value, float):
        return text + varint(2 << 3 | 5) + struct.pack("<f", value) + integer(20, 1)
    if isinstance(value, int):
        return text + integer(3, value) + integer(20, 2)
    return text + b"".join(integer(8, each) for each in value) + integer(20, 7)


def tensor(name, array):
    kind = FLOAT if array.dtype == np.float32 else INT64
    return (b"".join(integer(1, extent) for extent in array.shape) + integer(2, kind) + message(8, name)
            + message(9, np.ascontiguousarray(array).tobytes()))


def value_info(name, shape):
    dims = b"".join(message(1, integer(1, extent)) for extent in shape or ())
    kind = integer(1, FLOAT) + (message(2, dims) if shape else b"")
    return message(1, name) + message(2, message(1, kind))


class Graph:
    """Nodes in their order. Each function gives the name of a tensor, or the names of several."""

    def __init__(self):
        self.text, self.constants, self.count = b"", b"", 0

    def constant(self, array):
        array = np.asarray(array)
        if array.dtype != np.float32:
            array = array.astype(np.int64)
        self.count += 1
        name = f"c{self.count}"
        self.constants += message(5, tensor(name, array))
        return name

    def node(self, kind, *inputs, outputs=1, **attributes):
        inputs = [each if isinstance(each, str) else self.constant(each) for each in inputs]
        self.count += 1
        names = [f"{kind.lower()}{self.count}" + (f"_{index}" if outputs > 1 else "") for index in range(outputs)]
        body = b"".join(message(1, each) for each in inputs) + b"".join(message(2, each) for each in names)
        body += message(3, names[0]) + message(4, kind)
        body += b"".join(message(5, attribute(key, value)) for key, value in attributes.items())
        self.text += message(1, body)
        return names if outputs > 1 else names[0]

    def write(self, path, inputs, outputs):
        """`inputs`: shapes by name; `outputs`: names."""
        graph = self.text + message(2, "detector") + self.constants
        graph += b"".join(message(11, value_info(name, shape)) for name, shape in inputs.items())
        graph += b"".join(message(12, value_info(name, None)) for name in outputs)
        model = integer(1, 8) + message(7, graph) + message(8, message(1, "") + integer(2, 13))
        with open(path, "wb") as file:
            file.write(model)
