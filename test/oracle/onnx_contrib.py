#===- onnx_contrib.py - Operators of com.microsoft against ONNX Runtime --------===#
#
# Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===-----------------------------------------------------------------------===#
"""Imports one network for each operator that ONNX Runtime adds, and compares what it computes.

usage: onnx_contrib.py SOURCE_FOLDER MODEL_TRANSFORM MODEL_RUNNER [--only OP]

What is expected comes from ONNX Runtime; from numpy, by the operator's formula, where its CPU has no
kernel. Floats must agree within 1e-4, integers within 1. A second list holds bad nodes, each of which
must end in one line that names the node and what is wrong with it. Exit status 0 if all agree, 1 if
not, 77 (skipped) if a package is missing.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnxruntime as ort
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

KINDS = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9,
         "float16": 10}


class Net:
    """A network of few nodes as protobuf's text."""

    def __init__(self, opset=17, seed=1):
        self.opset = opset
        self.rng = np.random.default_rng(seed)
        self.feeds, self.parts, self.outputs = {}, [], []

    def floats(self, *shape, scale=1.0):
        return (self.rng.standard_normal(shape) * scale).astype(np.float32)

    def ints(self, kind, *shape):
        limits = np.iinfo(kind)
        return self.rng.integers(limits.min, limits.max, shape, dtype=kind, endpoint=True)

    def weights(self, *shape):
        """Of 7 bits: where processors add pairs of products in 16 bits, ONNX Runtime cuts more off."""
        return self.rng.integers(-64, 64, shape, dtype=np.int8)

    @staticmethod
    def quoted(data):
        return '"' + "".join(f"\\{byte:03o}" for byte in data) + '"'

    def input(self, name, value):
        value = np.asarray(value)
        self.feeds[name] = value
        dims = " ".join(f"dim {{ dim_value: {extent} }}" for extent in value.shape)
        self.parts.append(f'input {{ name: "{name}" type {{ tensor_type {{ elem_type: '
                          f'{KINDS[value.dtype.name]} shape {{ {dims} }} }} }} }}')
        return name

    def const(self, name, value):
        value = np.asarray(value)
        dims = " ".join(f"dims: {extent}" for extent in value.shape)
        self.parts.append(f'initializer {{ name: "{name}" data_type: {KINDS[value.dtype.name]} {dims} '
                          f'raw_data: {self.quoted(value.tobytes())} }}')
        return name

    def node(self, op, inputs, outputs=("y",), domain="com.microsoft", **attributes):
        text = f'node {{ op_type: "{op}" name: "n_{op}" domain: "{domain}" '
        text += " ".join(f'input: "{name}"' for name in inputs) + " "
        text += " ".join(f'output: "{name}"' for name in outputs)
        for name, value in attributes.items():
            if isinstance(value, str):
                body = f'type: 3 s: "{value}"'
            elif isinstance(value, float):
                body = f"type: 1 f: {value!r}"
            elif isinstance(value, int):
                body = f"type: 2 i: {value}"
            elif value and isinstance(value[0], float):
                body = "type: 6 " + " ".join(f"floats: {each!r}" for each in value)
            else:
                body = "type: 7 " + " ".join(f"ints: {each}" for each in value)
            text += f' attribute {{ name: "{name}" {body} }}'
        self.parts.append(text + " }")
        self.outputs = [name for name in outputs if name]

    def text(self):
        outputs = " ".join(f'output {{ name: "{name}" }}' for name in self.outputs)
        return (f'ir_version: 8 opset_import {{ version: {self.opset} }} '
                f'opset_import {{ domain: "com.microsoft" version: 1 }} '
                f'graph {{ name: "g" {" ".join(self.parts)} {outputs} }}')


CASES = []


def case(function):
    CASES.append(function)
    return function


def f32(value):
    return np.float32(value)


# ---- functions


for simple, options in (("Gelu", {}), ("FastGelu", {}), ("QuickGelu", {"alpha": 1.5})):
    def add_simple(net, simple=simple, options=options):
        net.node(simple, [net.input("x", net.floats(3, 8, scale=2))], **options)
    add_simple.__name__ = simple
    case(add_simple)


@case
def bias_gelu(net):
    net.node("BiasGelu", [net.input("x", net.floats(2, 3, 8)), net.const("b", net.floats(8))])


@case
def fast_gelu_bias(net):
    net.node("FastGelu", [net.input("x", net.floats(2, 3, 8)), net.const("b", net.floats(8))])


# ---- convolutions and products


for kind, parameters in (("Relu", None), ("Tanh", None), ("Sigmoid", None), ("LeakyRelu", [0.2]),
                         ("Clip", [-0.5, 0.75]), ("HardSigmoid", [0.3, 0.4])):
    def add_conv(net, kind=kind, parameters=parameters):
        options = {"activation_params": parameters} if parameters else {}
        net.node("FusedConv", [net.input("x", net.floats(1, 3, 6, 5)), net.const("w", net.floats(4, 3, 3, 3)),
                               net.const("b", net.floats(4))],
                 kernel_shape=[3, 3], pads=[1, 1, 1, 1], activation=kind, **options)
    add_conv.__name__ = "FusedConv_" + kind
    case(add_conv)


@case
def fused_conv_sum(net):
    net.node("FusedConv", [net.input("x", net.floats(1, 3, 6, 5)), net.const("w", net.floats(4, 3, 1, 1)),
                           net.const("b", net.floats(4)), net.input("z", net.floats(1, 4, 6, 5))],
             kernel_shape=[1, 1], activation="Relu")


for kind, options in (("Relu", {}), ("LeakyRelu", {"activation_alpha": 0.3}), ("Elu", {"activation_alpha": 0.5}),
                      ("HardSigmoid", {"activation_alpha": 0.3, "activation_beta": 0.4})):
    def add_gemm(net, kind=kind, options=options):
        net.node("FusedGemm", [net.input("a", net.floats(5, 3)), net.const("b", net.floats(4, 5)),
                               net.const("c", net.floats(4))],
                 transA=1, transB=1, alpha=0.5, beta=1.5, activation=kind, **options)
    add_gemm.__name__ = "FusedGemm_" + kind
    case(add_gemm)


@case
def fused_matmul(net):
    net.node("FusedMatMul", [net.input("a", net.floats(2, 4, 3)), net.input("b", net.floats(2, 5, 4))],
             transA=1, transB=1, alpha=0.25)


@case
def fused_matmul_batches(net):
    net.node("FusedMatMul", [net.input("a", net.floats(6, 2, 3, 4)), net.input("b", net.floats(5, 2, 3, 4))],
             transBatchA=1, transBatchB=1, transB=1)


@case
def matmul_nbits(net):
    bits, k, n, block = 4, 40, 6, 16
    blocks = -(-k // block)
    net.node("MatMulNBits",
             [net.input("a", net.floats(3, k)), net.const("b", net.ints(np.uint8, n, blocks, block * bits // 8)),
              net.const("s", np.abs(net.floats(n * blocks))), net.const("z", net.ints(np.uint8, n * ((blocks * bits + 7) // 8)))],
             K=k, N=n, bits=bits, block_size=block)


@case
def matmul_8_bits_bias(net):
    k, n, block = 32, 5, 32
    net.node("MatMulNBits",
             [net.input("a", net.floats(3, k, scale=0.1)), net.const("b", net.ints(np.uint8, n, 1, block)),
              net.const("s", np.abs(net.floats(n, scale=0.1))), "", "", net.const("bias", net.floats(n))],
             K=k, N=n, bits=8, block_size=block)


# ---- norms and embeddings


@case
def skip_layer_norm(net):
    net.node("SkipLayerNormalization",
             [net.input("x", net.floats(2, 3, 8)), net.input("skip", net.floats(2, 3, 8)),
              net.const("g", net.floats(8)), net.const("b", net.floats(8)), net.const("bias", net.floats(8))],
             ("y", "", "", "sum"), epsilon=1e-5)


@case
def skip_simplified_layer_norm(net):
    net.node("SkipSimplifiedLayerNormalization",
             [net.input("x", net.floats(2, 3, 8)), net.input("skip", net.floats(2, 3, 8)), net.const("g", net.floats(8))],
             ("y", "", "", "sum"), epsilon=1e-5)


@case
def simplified_layer_norm(net):
    net.opset = 13
    net.node("SimplifiedLayerNormalization", [net.input("x", net.floats(2, 3, 8)), net.const("g", net.floats(8))],
             domain="", epsilon=1e-5, axis=-1)


@case
def layer_norm_of_opset_13(net):
    net.opset = 13
    net.node("LayerNormalization",
             [net.input("x", net.floats(2, 3, 8)), net.const("g", net.floats(8)), net.const("b", net.floats(8))],
             domain="", epsilon=1e-5, axis=-1)


def embeddings(net):
    return (net.const("words", net.floats(9, 8)), net.const("places", net.floats(6, 8)), net.const("segs", net.floats(2, 8)),
            net.const("g", net.floats(8)), net.const("b", net.floats(8)))


@case
def embed_layer_norm(net):
    ids = net.input("ids", np.array([[1, 4, 8], [0, 2, 2]], np.int32))
    segments = net.input("segments", np.array([[0, 0, 1], [0, 1, 1]], np.int32))
    mask = net.input("mask", np.array([[1, 1, 0], [1, 1, 1]], np.int32))
    words, places, segs, gamma, beta = embeddings(net)
    net.node("EmbedLayerNormalization", [ids, segments, words, places, segs, gamma, beta, mask],
             ("y", "index", "sum"), epsilon=1e-5)


@case
def embed_layer_norm_without_segments(net):
    ids = net.input("ids", np.array([[1, 4, 8], [0, 2, 2]], np.int32))
    words, places, _, gamma, beta = embeddings(net)
    net.node("EmbedLayerNormalization", [ids, "", words, places, "", gamma, beta], ("y", "index"), epsilon=1e-5)


def group_norm_expected(net, feeds, constants, skip=None):
    x = feeds["x"].astype(np.float64) + (0 if skip is None else feeds[skip])
    n, h, w, c = x.shape
    groups = x.reshape(n, h * w, 2, c // 2)
    normed = (groups - groups.mean((1, 3), keepdims=True)) / np.sqrt(groups.var((1, 3), keepdims=True) + 1e-5)
    y = normed.reshape(x.shape) * constants[0] + constants[1]
    return y / (1 + np.exp(-y)), x


@case
def group_norm(net):
    constants = net.floats(4), net.floats(4)
    net.node("GroupNorm", [net.input("x", net.floats(2, 3, 5, 4)), net.const("g", constants[0]), net.const("b", constants[1])],
             activation=1, groups=2)
    net.expected = [group_norm_expected(net, net.feeds, constants)[0]]


@case
def skip_group_norm(net):
    constants = net.floats(4), net.floats(4)
    net.node("SkipGroupNorm", [net.input("x", net.floats(2, 3, 5, 4)), net.const("g", constants[0]),
                               net.const("b", constants[1]), net.input("skip", net.floats(2, 3, 5, 4))],
             ("y", "s"), activation=1, groups=2)
    net.expected = group_norm_expected(net, net.feeds, constants, "skip")


# ---- attention


def attention_inputs(net, samples=2, length=3, hidden=8):
    return [net.input("x", net.floats(samples, length, hidden)), net.const("w", net.floats(hidden, 3 * hidden, scale=0.5)),
            net.const("b", net.floats(3 * hidden))]


@case
def attention(net):
    net.node("Attention", attention_inputs(net), num_heads=2)


@case
def attention_masked(net):
    mask = net.input("mask", np.array([[1, 1, 0], [1, 1, 1]], np.int32))
    net.node("Attention", [*attention_inputs(net), mask], num_heads=2, scale=0.3)


@case
def attention_ends(net):
    net.node("Attention", [*attention_inputs(net), net.input("mask", np.array([2, 3], np.int32))], num_heads=2)


@case
def attention_ends_and_starts(net):
    net.node("Attention", [*attention_inputs(net), net.input("mask", np.array([3, 2, 1, 0], np.int32))], num_heads=2)


@case
def attention_past(net):
    past = net.input("past", net.floats(2, 2, 2, 4, 4))
    net.node("Attention", [*attention_inputs(net), "", past], ("y", "present"), num_heads=2, unidirectional=1)


@case
def attention_bias(net):
    net.node("Attention", [*attention_inputs(net), "", "", net.input("bias", net.floats(2, 2, 3, 3))], num_heads=2)


@case
def attention_sizes(net):
    net.node("Attention", [net.input("x", net.floats(2, 3, 8)), net.const("w", net.floats(8, 20, scale=0.5)),
                           net.const("b", net.floats(20))], num_heads=2, qkv_hidden_sizes=[8, 8, 4])


@case
def q_attention(net):
    inputs = [net.input("x", net.ints(np.uint8, 2, 3, 8)), net.const("w", net.weights(8, 24)),
              net.const("b", net.floats(24)), net.const("xs", f32(0.01)), net.const("ws", f32(0.02)), "",
              net.const("xz", np.uint8(120)), net.const("wz", np.int8(3))]
    net.node("QAttention", inputs, num_heads=2)


@case
def multi_head_attention(net):
    net.node("MultiHeadAttention",
             [net.input("q", net.floats(2, 3, 8)), net.input("k", net.floats(2, 5, 8)), net.input("v", net.floats(2, 5, 8)),
              net.const("b", net.floats(24)), net.input("mask", np.array([[1, 1, 0, 1, 1], [1] * 5], np.int32)),
              net.input("bias", net.floats(2, 2, 3, 5))],
             ("y", "pk", "pv"), num_heads=2)


@case
def multi_head_attention_past(net):
    net.node("MultiHeadAttention",
             [net.input("q", net.floats(2, 3, 8)), net.input("k", net.floats(2, 3, 8)), net.input("v", net.floats(2, 3, 8)),
              "", "", "", net.input("pk", net.floats(2, 2, 4, 4)), net.input("pv", net.floats(2, 2, 4, 4))],
             ("y", "ok", "ov"), num_heads=2, unidirectional=1)


@case
def multi_head_attention_cross(net):
    net.node("MultiHeadAttention", [net.input("q", net.floats(2, 3, 8)), net.input("k", net.floats(2, 2, 5, 4)),
                                    net.input("v", net.floats(2, 2, 5, 4))], num_heads=2)


def group_query(net, past=0, length=3, **options):
    heads, shared, size = 4, 2, 16
    angles = net.floats(9, size // 2)
    inputs = [net.input("q", net.floats(1, length, heads * size)), net.input("k", net.floats(1, length, shared * size)),
              net.input("v", net.floats(1, length, shared * size)),
              *((net.input("pk", net.floats(1, shared, past, size)), net.input("pv", net.floats(1, shared, past, size)))
                if past else ("", "")),
              net.const("lengths", np.array([past + length - 1], np.int32)), net.const("total", np.int32(past + length))]
    if options.get("do_rotary"):
        inputs += [net.const("cos", np.cos(angles)), net.const("sin", np.sin(angles))]
    net.node("GroupQueryAttention", inputs, ("y", "ok", "ov"), num_heads=heads, kv_num_heads=shared, **options)


@case
def group_query_attention(net):
    group_query(net)


@case
def group_query_attention_rotary(net):
    group_query(net, do_rotary=1)


@case
def group_query_attention_past(net):
    group_query(net, past=4, length=1, do_rotary=1)


@case
def group_query_attention_window(net):
    group_query(net, length=6, local_window_size=2, softcap=2.0)


for places, rank, more in (([0], 3, {}), ([2], 4, {}), ([[0, 3, 1], [5, 4, 2]], 3, {"interleaved": 1})):
    def add_rotary(net, places=places, rank=rank, more=more):
        angles = net.floats(7, 4)
        net.node("RotaryEmbedding",
                 [net.input("x", net.floats(2, 3, 16) if rank == 3 else net.floats(2, 2, 3, 8)),
                  net.input("p", np.array(places, np.int64)), net.const("c", np.cos(angles)), net.const("s", np.sin(angles))], **more)
    add_rotary.__name__ = f"rotary_embedding_{rank}_{len(places)}"
    case(add_rotary)


# ---- stored integers


def stored(net, name, kind, *shape, scale=0.02, zero=None, constant=False):
    zero = zero if zero is not None else (0 if kind == np.int8 else 128)
    value = net.weights(*shape) if constant else net.ints(kind, *shape)
    tensor = net.const(name, value) if constant else net.input(name, value)
    return [tensor, net.const(name + "_s", f32(scale)), net.const(name + "_z", kind(zero))]


def result(net, kind, scale, zero):
    return [net.const("y_s", f32(scale)), net.const("y_z", kind(zero))]


for kind in (np.uint8, np.int8):
    suffix = np.dtype(kind).name

    def add_sum(net, kind=kind, op="QLinearAdd"):
        net.node(op, [*stored(net, "a", kind, 2, 3, 4), *stored(net, "b", kind, 3, 1, scale=0.03, zero=5),
                      *result(net, kind, 0.04, 7)])
    add_sum.__name__ = "QLinearAdd_" + suffix
    case(add_sum)

    def add_product(net, kind=kind):
        add_sum(net, kind, "QLinearMul")
    add_product.__name__ = "QLinearMul_" + suffix
    case(add_product)

    def add_leaky(net, kind=kind):
        net.node("QLinearLeakyRelu", [*stored(net, "x", kind, 2, 9), *result(net, kind, 0.015, 4)], alpha=0.1)
    add_leaky.__name__ = "QLinearLeakyRelu_" + suffix
    case(add_leaky)

    def add_sigmoid(net, kind=kind):
        net.node("QLinearSigmoid", [*stored(net, "x", kind, 2, 9), *result(net, kind, 1 / 256, -128 if kind == np.int8 else 0)])
    add_sigmoid.__name__ = "QLinearSigmoid_" + suffix
    case(add_sigmoid)

    def add_softmax(net, kind=kind):
        net.node("QLinearSoftmax", [*stored(net, "x", kind, 2, 9), *result(net, kind, 1 / 256, -128 if kind == np.int8 else 0)],
                 axis=-1, opset=13)
    add_softmax.__name__ = "QLinearSoftmax_" + suffix
    case(add_softmax)

    def add_concat(net, kind=kind):
        net.node("QLinearConcat", [*result(net, kind, 0.03, 9), *stored(net, "a", kind, 2, 3), *stored(net, "b", kind, 2, 2, scale=0.04)],
                 axis=1)
    add_concat.__name__ = "QLinearConcat_" + suffix
    case(add_concat)

    def add_pool(net, kind=kind):
        net.node("QLinearAveragePool", [*stored(net, "x", kind, 1, 3, 6, 6), *result(net, kind, 0.02, 3)],
                 kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    add_pool.__name__ = "QLinearAveragePool_" + suffix
    case(add_pool)

    def add_global(net, kind=kind):
        net.node("QLinearGlobalAveragePool", [*stored(net, "x", kind, 1, 3, 5, 5), *result(net, kind, 0.005, 3)], channels_last=0)
    add_global.__name__ = "QLinearGlobalAveragePool_" + suffix
    case(add_global)


@case
def q_linear_pools_channels_last(net):
    net.node("QLinearAveragePool", [*stored(net, "x", np.uint8, 1, 6, 6, 3), *result(net, np.uint8, 0.02, 3)],
             kernel_shape=[2, 2], strides=[2, 2], channels_last=1)


@case
def q_linear_global_channels_last(net):
    net.node("QLinearGlobalAveragePool", [*stored(net, "x", np.uint8, 1, 6, 6, 3), *result(net, np.uint8, 0.005, 3)], channels_last=1)


@case
def q_linear_softmax_flat(net):
    net.node("QLinearSoftmax", [*stored(net, "x", np.uint8, 2, 3, 4), *result(net, np.uint8, 1 / 256, 0)], axis=1, opset=11)


@case
def q_linear_where(net):
    net.node("QLinearWhere", [net.input("c", net.rng.integers(0, 2, (2, 5)).astype(bool)), *stored(net, "a", np.uint8, 2, 5),
                              *stored(net, "b", np.uint8, 2, 5, scale=0.03), *result(net, np.uint8, 0.04, 100)])


@case
def q_linear_conv_channels_last(net):
    net.node("QLinearConv", [*stored(net, "x", np.uint8, 1, 6, 5, 3), *stored(net, "w", np.int8, 4, 3, 3, 3, constant=True),
                             *result(net, np.uint8, 0.15, 100)], channels_last=1, kernel_shape=[3, 3], pads=[1, 1, 1, 1])


@case
def q_gemm(net):
    net.node("QGemm", [*stored(net, "a", np.uint8, 3, 5), *stored(net, "b", np.int8, 4, 5, constant=True),
                       net.const("c", net.rng.integers(-3000, 3000, 4).astype(np.int32)), *result(net, np.uint8, 0.1, 100)], transB=1)


@case
def q_gemm_to_floats(net):
    columns = [net.const("b", net.weights(5, 4)), net.const("b_s", np.abs(net.floats(4))), net.const("b_z", np.zeros(4, np.int8))]
    net.node("QGemm", [*stored(net, "a", np.uint8, 3, 5), *columns, net.const("c", net.rng.integers(-3000, 3000, 4).astype(np.int32))],
             alpha=0.5)


@case
def matmul_integer_to_float(net):
    net.node("MatMulIntegerToFloat",
             [net.input("a", net.ints(np.uint8, 2, 3, 5)), net.const("b", net.weights(5, 4)), net.input("as", f32(0.02)),
              net.const("bs", np.abs(net.floats(4))), net.input("az", np.uint8(100)), net.const("bz", net.rng.integers(-9, 9, 4, dtype=np.int8)),
              net.const("bias", net.floats(4))])


@case
def dynamic_quantize_matmul(net):
    net.node("DynamicQuantizeMatMul", [net.input("a", net.floats(2, 3, 5)), net.const("b", net.weights(5, 4)),
                                       net.const("bs", f32(0.02)), net.const("bz", np.int8(0)), net.const("bias", net.floats(4))])


@case
def dynamic_quantize_lstm(net):
    # The states that are rounded by their range in ONNX Runtime are not here.
    net.tolerance = 0.02
    steps, size, hidden = 5, 6, 4
    net.node("DynamicQuantizeLSTM",
             [net.input("x", net.floats(steps, 2, size)), net.const("w", net.weights(2, size, 4 * hidden)),
              net.const("r", net.weights(2, hidden, 4 * hidden)), net.const("b", net.floats(2, 8 * hidden)), "", "", "", "",
              net.const("ws", np.full(2, 0.004, np.float32)), net.const("wz", np.zeros(2, np.int8)),
              net.const("rs", np.full(2, 0.005, np.float32)), net.const("rz", np.zeros(2, np.int8))],
             ("y", "h", "c"), hidden_size=hidden, direction="bidirectional")


@case
def quantize_16_bits(net):
    net.node("QuantizeLinear", [net.input("x", net.floats(3, 4)), net.const("s", f32(0.001)), net.const("z", np.uint16(30000))])


@case
def trilu(net):
    net.node("Trilu", [net.input("x", net.floats(2, 4, 5)), net.const("k", np.int64(1))], upper=0)


@case
def gather_nd(net):
    net.node("GatherND", [net.input("x", net.floats(3, 4)), net.const("i", np.array([[0, 1], [2, 3]], np.int64))])


@case
def pad(net):
    net.node("Pad", [net.input("x", net.floats(2, 3)), net.const("p", np.array([0, 1, 1, 2], np.int64)), net.const("v", f32(1.5))])


# ---- bad nodes: what must be said of them

def bad_activation(net):
    net.node("FusedConv", [net.input("x", net.floats(1, 3, 6, 5)), net.const("w", net.floats(4, 3, 3, 3))], activation="Swoosh")
    return "attribute 'activation' is 'Swoosh'"


def bad_heads(net):
    net.node("Attention", attention_inputs(net), num_heads=3)
    return "8 columns do not make 3 heads"


def bad_blocks(net):
    net.node("MatMulNBits", [net.input("a", net.floats(3, 40)), net.const("b", net.ints(np.uint8, 6, 2, 8)),
                             net.const("s", net.floats(18))], K=40, N=6, bits=4, block_size=16)
    return "the weights are 96 bytes; expected 144"


def bad_left_out(net):
    net.node("QLinearAdd", [*stored(net, "a", np.uint8, 2, 3), net.input("b", net.ints(np.uint8, 2, 3))])
    return "input 4 is left out"


def bad_parts(net):
    net.node("QLinearConcat", [*result(net, np.uint8, 0.03, 9), *stored(net, "a", np.uint8, 2, 3), "a"], axis=1)
    return "has 6 inputs"


def bad_lengths(net):
    inputs = [net.input("q", net.floats(1, 3, 32)), net.input("k", net.floats(1, 3, 32)), net.input("v", net.floats(1, 3, 32)), "", "",
              net.const("lengths", np.array([1], np.int32)), net.const("total", np.int32(3))]
    net.node("GroupQueryAttention", inputs, num_heads=2, kv_num_heads=2)
    return "seqlens_k holds 1; expected 2"


def bad_attribute(net):
    net.node("Gelu", [net.input("x", net.floats(2, 3))], approximate="tanh")
    return "attribute 'approximate' is not known"


BAD = [bad_activation, bad_heads, bad_blocks, bad_left_out, bad_parts, bad_lengths, bad_attribute]


class Tools:
    def __init__(self, source, transform, runner):
        self.source, self.transform, self.runner = source, transform, runner

    def write(self, net, folder):
        done = subprocess.run(["protoc", "--encode=tpuc.onnx.proto.Model", f"--proto_path={self.source}/tpuc/Frontend/Onnx", "Onnx.proto"],
                              input=net.text().encode(), capture_output=True, check=True)
        (folder / "m.onnx").write_bytes(done.stdout)

    def import_(self, folder):
        return subprocess.run([self.transform, "--model_def", "m.onnx", "--mlir", "m.mlir"],
                              cwd=folder, capture_output=True, text=True)

    def run(self, folder):
        return subprocess.run([self.runner, "--model", "m.mlir", "--input", "in.npz", "--output", "out.npz"],
                              cwd=folder, capture_output=True, text=True)


def expected(net, folder):
    if hasattr(net, "expected"):
        return dict(zip(net.outputs, net.expected))
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(str(folder / "m.onnx"), options, ["CPUExecutionProvider"])
    return dict(zip(net.outputs, session.run(net.outputs, net.feeds)))


def difference(found, wanted, tolerance):
    wanted = np.asarray(wanted)
    if found.shape != wanted.shape or found.dtype.kind != wanted.dtype.kind:
        return f"is {found.dtype}{found.shape}, expected {wanted.dtype}{wanted.shape}"
    if wanted.dtype.kind in "iu":
        worst = np.abs(found.astype(np.int64) - wanted.astype(np.int64)).max(initial=0)
        return f"differs by {worst}" if worst > 1 else ""
    wrong = ~np.isclose(found, wanted, rtol=tolerance, atol=tolerance)
    return f"differs by {np.abs(found - wanted).max():.3g}" if wrong.any() else ""


def check(function, tools):
    net = Net()
    function(net)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tools.write(net, folder)
        try:
            wanted = expected(net, folder)
        except Exception as error:
            return f"ONNX Runtime: {error}"
        np.savez(folder / "in.npz", **net.feeds)
        for tool in (tools.import_, tools.run):
            if (done := tool(folder)).returncode:
                return done.stderr.strip() or done.stdout.strip()
        with np.load(folder / "out.npz") as found:
            for output in net.outputs:
                if output not in found.files:
                    return f"no output {output}"
                if said := difference(found[output], wanted[output], getattr(net, "tolerance", 1e-4)):
                    return f"{output} {said}"
    return ""


def check_bad(function, tools):
    net = Net()
    message = function(net)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tools.write(net, folder)
        done = tools.import_(folder)
    lines = done.stderr.strip().splitlines()
    if done.returncode == 1 and len(lines) == 1 and message in lines[0] and "'n_" in lines[0]:
        return ""
    return f"status {done.returncode}: {done.stderr.strip()}; expected: {message}"


def main():
    parser = argparse.ArgumentParser()
    for name in ("source", "transform", "runner"):
        parser.add_argument(name)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if not shutil.which("protoc"):
        print("skipped: no protoc")
        return 77
    tools = Tools(options.source, *map(os.path.realpath, (options.transform, options.runner)))
    failures = 0
    for function, checked in [*((each, check) for each in CASES), *((each, check_bad) for each in BAD)]:
        if options.only not in function.__name__:
            continue
        if said := checked(function, tools):
            failures += 1
            print(f"{function.__name__}: {said}")
    print(f"{len(CASES)} operators and {len(BAD)} bad nodes, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
