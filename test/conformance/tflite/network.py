"""TFLite models as Python objects, written with the tables of LiteRT's own package.

The numbers of fields and ops come from LiteRT, not from tpuc's description of the format.
"""

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

TYPES = {"float32": "FLOAT32", "float16": "FLOAT16", "int8": "INT8", "uint8": "UINT8", "int16": "INT16",
         "int32": "INT32", "int64": "INT64", "bool": "BOOL", "uint32": "UINT32", "uint16": "UINT16"}


def type_number(dtype):
    return getattr(schema.TensorType, TYPES[np.dtype(dtype).name])


class Network:
    """Tensors by their numbers; buffer 0 is the empty one. `hybrid`: imported with --hybrid."""

    def __init__(self, hybrid=False):
        self.hybrid = hybrid
        self.graph = schema.SubGraphT()
        self.graph.tensors, self.graph.operators = [], []
        self.graph.inputs, self.graph.outputs = [], []
        self.codes, self.buffers = [], [schema.BufferT()]

    def tensor(self, shape, dtype="float32", data=None, name=None, scale=None, zero=0, axis=0):
        made = schema.TensorT()
        made.shape = list(shape)
        made.type = type_number(dtype)
        made.name = name or f"t{len(self.graph.tensors)}"
        made.buffer = 0
        if data is not None:
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(np.ascontiguousarray(data, dtype).tobytes(), np.uint8)
            made.buffer = len(self.buffers)
            self.buffers.append(buffer)
        if scale is not None:
            made.quantization = schema.QuantizationParametersT()
            made.quantization.scale = list(np.atleast_1d(scale))
            made.quantization.zeroPoint = [int(each) for each in np.broadcast_to(zero, np.shape(made.quantization.scale))]
            made.quantization.quantizedDimension = axis
        self.graph.tensors.append(made)
        return len(self.graph.tensors) - 1

    def constant(self, array, **more):
        array = np.asarray(array)
        return self.tensor(array.shape, array.dtype, array, **more)

    def op(self, name, inputs, outputs, options=None, version=1, intermediates=(), **fields):
        """`options` is the name of the table; `fields` are its fields as LiteRT's package spells them."""
        code = schema.OperatorCodeT()
        code.builtinCode = getattr(schema.BuiltinOperator, name)
        code.deprecatedBuiltinCode = min(code.builtinCode, 127)
        code.version = version
        made = schema.OperatorT()
        made.opcodeIndex = len(self.codes)
        self.codes.append(code)
        made.inputs, made.outputs = list(inputs), list(outputs)
        made.intermediates = list(intermediates)
        if options:
            made.builtinOptionsType = getattr(schema.BuiltinOptions, options)
            made.builtinOptions = getattr(schema, options + "T")()
            for field, value in fields.items():
                assert hasattr(made.builtinOptions, field), f"{options} has no {field}"
                setattr(made.builtinOptions, field, value)
        self.graph.operators.append(made)

    def bytes(self):
        model = schema.ModelT()
        model.version = 3
        model.operatorCodes, model.subgraphs, model.buffers = self.codes, [self.graph], self.buffers
        builder = flatbuffers.Builder(1024)
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())
