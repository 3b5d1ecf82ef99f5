#!/usr/bin/env python3
"""Writes test/fuzz/tflite_seeds: small models that cover the tables which the reader takes apart.

Needs the package ai-edge-litert, whose tables the models are written with: the Python of
`./dev conformance tflite` has it.
"""

import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "conformance" / "tflite"))

from network import Network, schema  # noqa: E402


def convolution():
    net = Network()
    image = net.tensor((1, 4, 4, 2), name="image")
    half = net.constant(np.ones((3, 1, 1, 2), np.float16))
    wide = net.tensor((3, 1, 1, 2))
    made = net.tensor((1, 4, 4, 3), name="made")
    net.op("DEQUANTIZE", [half], [wide])
    net.op("CONV_2D", [image, wide, -1], [made], "Conv2DOptions", padding=0, strideW=1, strideH=1)
    net.graph.inputs, net.graph.outputs = [image], [made]
    net.graph.tensors[image].shapeSignature = [-1, 4, 4, 2]
    return net


def quantized():
    net = Network()
    rows = net.tensor((1, 4), "int8", name="rows", scale=.5, zero=3)
    table = net.constant(np.arange(8, dtype=np.int8).reshape(2, 4), scale=[.1, .2], axis=0)
    made = net.tensor((1, 2), "int8", name="made", scale=.25)
    net.op("FULLY_CONNECTED", [rows, table, -1], [made], "FullyConnectedOptions", fusedActivationFunction=1)
    net.graph.inputs, net.graph.outputs = [rows], [made]
    return net


def sparse():
    """[[0, 1, 0], [0, 0, 2]]: a dense and a sparse level."""
    net = Network()
    table = net.constant(np.array([1, 2], np.float32))
    net.graph.tensors[table].shape = [2, 3]
    sparsity = schema.SparsityParametersT()
    sparsity.traversalOrder, sparsity.blockMap = [0, 1], []
    dense, rows = schema.DimensionMetadataT(), schema.DimensionMetadataT()
    dense.denseSize = 2
    rows.format = schema.DimensionType.SPARSE_CSR
    for field, values in (("arraySegments", [0, 1, 2]), ("arrayIndices", [1, 2])):
        vector = schema.Uint8VectorT()
        vector.values = values
        setattr(rows, field, vector)
        setattr(rows, field + "Type", schema.SparseIndexVector.Uint8Vector)
    sparsity.dimMetadata = [dense, rows]
    net.graph.tensors[table].sparsity = sparsity
    made = net.tensor((2, 3), name="made")
    net.op("DENSIFY", [table], [made])
    net.graph.outputs = [made]
    return net


def main():
    folder = HERE / "tflite_seeds"
    folder.mkdir(exist_ok=True)
    for make in (convolution, quantized, sparse):
        (folder / f"{make.__name__}.tflite").write_bytes(make().bytes())


if __name__ == "__main__":
    main()
