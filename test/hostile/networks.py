#===- networks.py - Networks that mean harm -------------------------------===#
#
# Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===-----------------------------------------------------------------------===#
"""ONNX networks whose attributes, constants or shapes make no sense, in protobuf's text form.

NETWORKS maps a name to a Network: its text, and what must be said of it. Each of them once ended a program by a signal,
ran without end, asked for more memory than there is, or was accepted in silence.
"""

import dataclasses
import itertools
import math

FLOAT, UINT8, INT32, INT64, BOOL = 1, 2, 6, 7, 9
IMAGE = (1, 3, 16, 16)
HUGE = 1 << 62


@dataclasses.dataclass
class Network:
    """`transform` is a regular expression for the error of model_transform; None: it must succeed. Then `deploy` is
    one for model_deploy in all modes; None: it may end in any way but badly."""

    text: str
    transform: str | None = None
    deploy: str | None = None


def quoted(text):
    return '"' + text + '"'


def value_info(field, name, kind, dims):
    shape = "" if dims is None else " shape { " + " ".join(f"dim {{ dim_value: {d} }}" for d in dims) + " }"
    return f"{field} {{ name: {quoted(name)} type {{ tensor_type {{ elem_type: {kind}{shape} }} }} }}"


def tensor(name, kind, dims, values):
    """An initializer; `values` are repeated until there are enough."""
    count = math.prod(dims)
    field = {FLOAT: "float_data", INT64: "int64_data"}.get(kind, "int32_data")
    cycle = itertools.islice(itertools.cycle(values), count)
    numbers = " ".join(f"{field}: {value}" for value in cycle)
    extents = " ".join(f"dims: {d}" for d in dims)
    return f"initializer {{ name: {quoted(name)} data_type: {kind} {extents} {numbers} }}"


def attribute(name, value):
    if isinstance(value, str):
        text = f"type: 3 s: {quoted(value)}"
    elif isinstance(value, float):
        text = f"type: 1 f: {value}"
    elif isinstance(value, (list, tuple)):
        text = "type: 7 " + " ".join(f"ints: {v}" for v in value)
    else:
        text = f"type: 2 i: {value}"
    return f"attribute {{ name: {quoted(name)} {text} }}"


def node(op, inputs="x", outputs="y", **attributes):
    names = "".join(f" input: {quoted('' if name == '-' else name)}" for name in inputs.split())
    made = "".join(f" output: {quoted(name)}" for name in outputs.split())
    return (f"node {{ op_type: {quoted(op)} name: \"n_{outputs.split()[0]}\"{names}{made} " +
            " ".join(attribute(name, value) for name, value in attributes.items()) + " }")


def network(nodes, opset=13, inputs=None, weights=(), outputs="y"):
    lines = [f"ir_version: 8 opset_import {{ version: {opset} }} graph {{ name: \"g\""]
    lines += [value_info("input", name, kind, dims) for name, (kind, dims) in (inputs or {"x": (FLOAT, IMAGE)}).items()]
    lines += [value_info("output", name, FLOAT, None) for name in outputs.split()]
    lines += [tensor(*weight) for weight in weights]
    lines += nodes if isinstance(nodes, list) else [nodes]
    return "\n".join(lines + ["}"])


FILTER = ("w", FLOAT, (8, 3, 3, 3), [0.25, -0.5, 0.125])
NETWORKS = {}


def add(name, transform, *args, deploy=None, **kwargs):
    assert name not in NETWORKS, name
    NETWORKS[name] = Network(network(*args, **kwargs), transform, deploy)


def windows():
    """What divides by strides or multiplies kernels."""
    for what, values in {"strides": (0, -1, HUGE), "dilations": (0, -3, HUGE)}.items():
        for value in values:
            error = f"{what} has an entry {value}; expected at (least 1|most 2147483647)"
            both = {what: [value, value]}
            suffix = f"{what}_{value}"
            add(f"conv_{suffix}", error, node("Conv", "x w", **both), weights=[FILTER])
            add(f"deconv_{suffix}", error, node("ConvTranspose", "x w", **both),
                weights=[("w", FLOAT, (3, 2, 3, 3), [1.0])])
            add(f"maxpool_{suffix}", error, node("MaxPool", kernel_shape=[3, 3], **both))
            add(f"averagepool_{suffix}", error, node("AveragePool", kernel_shape=[3, 3], **both), opset=19)
            add(f"lppool_{suffix}", error, node("LpPool", kernel_shape=[3, 3], **both), opset=18)
            add(f"convinteger_{suffix}", error, node("ConvInteger", "x w", **both), inputs={"x": (UINT8, IMAGE)},
                weights=[("w", UINT8, (8, 3, 3, 3), [1])])
            add(f"deformconv_{suffix}", error, node("DeformConv", "x w o", **both), opset=19,
                weights=[FILTER, ("o", FLOAT, (1, 18, 14, 14), [0.5])])
            add(f"col2im_{suffix}", error, node("Col2Im", "x i b", **both), opset=18,
                inputs={"x": (FLOAT, (1, 5, 5))},
                weights=[("i", INT64, (2,), [5]), ("b", INT64, (2,), [1, 5])])
    add("unpool_strides", "strides has an entry 0", node("MaxUnpool", "x i", kernel_shape=[2, 2], strides=[0, 0]),
        inputs={"x": (FLOAT, (1, 1, 2, 2)), "i": (INT64, (1, 1, 2, 2))})
    add("conv_short_strides", "strides has 1 entries; expected 2", node("Conv", "x w", strides=[1]), weights=[FILTER])
    add("conv_kernel", "kernel_shape", node("Conv", "x w", kernel_shape=[0, 0]), weights=[FILTER])
    add("pool_kernel", "kernel_shape has an entry 0", node("MaxPool", kernel_shape=[0, 0]))
    add("conv_group", "group is 0; expected at least 1", node("Conv", "x w", group=0), weights=[FILTER])
    add("conv_pads", "pads has an entry 1099511627776",
        node("Conv", "x w", kernel_shape=[3, 3], pads=[0, 0, 0, 1 << 40]), weights=[FILTER])
    add("conv_long_pads", "result #0 takes .*; expected at most 1 TiB",
        node("Conv", "x w", kernel_shape=[3, 3], pads=[0, (1 << 31) - 1, 0, (1 << 31) - 1]), weights=[FILTER])
    add("deconv_output_shape", None,
        node("ConvTranspose", "x w", kernel_shape=[3, 3], output_shape=[10, 1 << 31], strides=[3, 2]),
        inputs={"x": (FLOAT, (1, 1, 3, 3))}, weights=[("w", FLOAT, (1, 2, 3, 3), [1.0])],
        deploy="tensors of .* expected at most 16 GiB")
    add("lppool_p", "p is 0; expected at least 1", node("LpPool", kernel_shape=[3, 3], p=0), opset=18)


def counts():
    """Groups, heads, blocks and the like."""
    for value in (0, -2):
        block = f"block_h is {value}; expected at least 1"
        add(f"depth2space_{value}", block, node("DepthToSpace", blocksize=value))
        add(f"space2depth_{value}", block, node("SpaceToDepth", blocksize=value))
    add("space2depth_huge", "expected", node("SpaceToDepth", blocksize=(1 << 31) - 1), inputs={"x": (FLOAT, (2, 6, 6))})
    add("space2depth_large", "multiple", node("SpaceToDepth", blocksize=(1 << 31) - 1))
    add("groupnorm", "num_groups is 0; expected at least 1", node("GroupNormalization", "x s s", num_groups=0), opset=21,
        weights=[("s", FLOAT, (3,), [0.5])])
    add("attention", "q_num_heads is 0; expected at least 1",
        node("Attention", "x x x", q_num_heads=0, kv_num_heads=0), opset=23, inputs={"x": (FLOAT, (1, 4, 8))})
    add("attention_huge", "expected", node("Attention", "x x x", q_num_heads=HUGE, kv_num_heads=1), opset=23,
        inputs={"x": (FLOAT, (1, 4, 8))})
    add("rope", "num_heads is 0; expected at least 1", node("RotaryEmbedding", "x c c", num_heads=0), opset=23,
        inputs={"x": (FLOAT, (1, 4, 8))}, weights=[("c", FLOAT, (1, 4, 4), [0.5])])
    add("lrn", "size is 0; expected at least 1", node("LRN", size=0))
    add("roialign", "sampling_ratio is .*; expected at most 1024",
        node("RoiAlign", "x r b", output_height=5, output_width=5, sampling_ratio=HUGE), opset=16,
        inputs={"x": (FLOAT, (1, 1, 10, 10))}, weights=[("r", FLOAT, (3, 4), [0.0, 0.0, 9.0, 9.0]), ("b", INT64, (3,), [0])])
    add("stft", "step is 0; expected at least 1", node("STFT", "x f"), opset=17, inputs={"x": (FLOAT, (1, 16, 1))},
        weights=[("f", INT64, (), [0])])
    add("dft", "transform of -5 elements", node("DFT", "x l", axis=1), opset=17, inputs={"x": (FLOAT, (1, 16, 1))},
        weights=[("l", INT64, (), [-5])])


def axes():
    """Dimensions that a tensor has not."""
    for order in ([100, 1, 2, 3], [0, 1, 2, 9], [0, 1, 2, -3], [HUGE, 1, 2, 0], [0, 0, 1, 2]):
        add(f"transpose_{'_'.join(map(str, order))}", "order", node("Transpose", perm=order))
    add("transpose_short", "input has rank 4; expected 2", node("Transpose", perm=[0, 1]))
    missing = "(axis|does not exist)"
    for axis in (70, -100, HUGE, -HUGE):
        for op in ("ArgMax", "Softmax", "Flatten", "Hardmax", "LpNormalization"):
            add(f"{op.lower()}_{axis}", missing, node(op, axis=axis))
        add(f"concat_{axis}", missing, node("Concat", "x x", axis=axis))
        add(f"gather_{axis}", missing, node("Gather", "x i", axis=axis), weights=[("i", INT64, (1,), [0])])
        add(f"layernorm_{axis}", missing, node("LayerNormalization", "x s", axis=axis), opset=17,
            weights=[("s", FLOAT, (16,), [0.5])])
        add(f"cumsum_{axis}", missing, node("CumSum", "x a"), weights=[("a", INT64, (), [axis])])
        add(f"squeeze_{axis}", missing, node("Squeeze", "x a"), weights=[("a", INT64, (1,), [axis])])
        add(f"slice_{axis}", missing, node("Slice", "x a a d"),
            weights=[("a", INT64, (1,), [-HUGE]), ("d", INT64, (1,), [axis])])
        add(f"reduce_{axis}", missing, node("ReduceMean", axes=[axis]))
        add(f"onehot_{axis}", missing, node("OneHot", "i d v", axis=axis), inputs={"i": (INT64, (4,))},
            weights=[("d", INT64, (1,), [3]), ("v", FLOAT, (2,), [0.0, 1.0])])
    add("gathernd", "batch_dims", node("GatherND", "x i", batch_dims=70), opset=13, weights=[("i", INT64, (1, 1), [0])])


def indices():
    """Constants that count elements which are not there."""
    for index in (99, 3, -4, HUGE):
        said = f"has the index {index}; expected one of 3 elements"
        add(f"gather_index_{index}", said, node("Gather", "x i", axis=1), weights=[("i", INT64, (1,), [index])])
        add(f"gatherelements_index_{index}", said, node("GatherElements", "x i", axis=1),
            weights=[("i", INT64, (1, 1, 16, 16), [index])])
        add(f"gathernd_index_{index}", said, node("GatherND", "x i"), weights=[("i", INT64, (1, 2), [0, index])])
        add(f"scatternd_index_{index}", said, node("ScatterND", "x i u"),
            weights=[("i", INT64, (1, 2), [0, index]), ("u", FLOAT, (1, 16, 16), [1.0])])
        add(f"scatterelements_index_{index}", said, node("ScatterElements", "x i u", axis=1),
            weights=[("i", INT64, (1, 1, 1, 1), [index]), ("u", FLOAT, (1, 1, 1, 1), [1.0])])
    # The last ones from either end.
    for index in (2, -3):
        add(f"gather_last_{index}", None, node("Gather", "x i", axis=1), weights=[("i", INT64, (1,), [index])])


def sizes():
    """Tensors of more than there is."""
    for op in ("Log", "Relu", "Exp", "Dropout", "LogSoftmax", "Softmax"):
        name = op.lower()
        add(f"{name}_too_long", "input 'x'.*; expected at most 1", node(op), inputs={"x": (FLOAT, (2, 1 << 45))})
        add(f"{name}_long", None, node(op), inputs={"x": (FLOAT, (3, 4, 1 << 31))},
            deploy="tensors of .*; expected at most 16 GiB, which bm1684x may have")
    add("xor", None, node("Xor", "x z"), inputs={"x": (BOOL, (1, 4, 1, 6)), "z": (BOOL, (1 << 31, 1, 5, 6))},
        deploy="tensors of .*; expected at most 16 GiB")
    add("add_product", "takes at least 8 EiB|takes 4 EiB|takes 1 TiB|takes", node("Add", "x z"),
        inputs={"x": (FLOAT, (1 << 30, 1)), "z": (FLOAT, (1, 1 << 32))})
    add("split_long", "input 'x'", node("Split", "x", "y z u"), inputs={"x": (FLOAT, ((1 << 45) + 1,))}, outputs="y z u")
    add("loss_long", "input 'z'", node("SoftmaxCrossEntropyLoss", "x z"),
        inputs={"x": (FLOAT, (3, 5, 2)), "z": (INT64, (1 << 45, 2))})
    add("batch_of_a_million", None, node("SoftmaxCrossEntropyLoss", "x z"),
        inputs={"x": (FLOAT, (1 << 20, 5, 2)), "z": (INT64, (1 << 20, 2))})
    add("upsample", None, node("Upsample", "x s", mode="nearest"), opset=9,
        inputs={"x": (FLOAT, (1, 1, 2, 2)), "s": (FLOAT, (4,))})
    add("upsample_huge", "expected", node("Upsample", "x s", mode="nearest"), opset=9,
        inputs={"x": (FLOAT, (1, 1, 2, 2))}, weights=[("s", FLOAT, (4,), [1.0, 1.0, 1e12, 1e12])])
    add("upsample_long_scales", "input 's'", node("Upsample", "x s", mode="nearest"), opset=9,
        inputs={"x": (FLOAT, (1, 1, 2, 2)), "s": (FLOAT, (1 << 45,))})
    add("resize_sizes", "sizes has an entry .*; expected at most", node("Resize", "x - - s", mode="nearest"), weights=[("s", INT64, (4,), [1, 3, HUGE, HUGE])])
    add("resize_scales", "extent|scale", node("Resize", "x - s", mode="nearest"),
        weights=[("s", FLOAT, (4,), [1.0, 1.0, 1e9, 1e9])])
    add("tile", "tile has an entry .*; expected at most", node("Tile", "x r"), weights=[("r", INT64, (4,), [HUGE])])
    add("tile_negative", "tile has an entry -1; expected at least 0", node("Tile", "x r"), weights=[("r", INT64, (4,), [-1])])
    add("expand", "extent|at most", node("Expand", "x r"), inputs={"x": (FLOAT, (1, 1))},
        weights=[("r", INT64, (2,), [HUGE])])
    add("pad", "paddings has an entry .*; expected at most", node("Pad", "x p"), weights=[("p", INT64, (8,), [HUGE])])
    add("pad_end", "expected", node("Pad", "x p"), weights=[("p", INT64, (8,), [(1 << 63) - 1])])
    add("reshape", "2\\^63 elements|extent|expected", node("Reshape", "x r"), weights=[("r", INT64, (4,), [HUGE])])
    add("fill", "shape has an entry .*; expected at most", node("ConstantOfShape", "x"), inputs={"u": (FLOAT, (1,))},
        weights=[("x", INT64, (2,), [HUGE])])
    add("range", "extent|no end", node("Range", "a b c"), inputs={"u": (FLOAT, (1,))},
        weights=[("a", INT64, (), [0]), ("b", INT64, (), [1 << 52]), ("c", INT64, (), [1])])
    add("onehot_depth", "extent|expected", node("OneHot", "i d v"), inputs={"i": (INT64, (4,))},
        weights=[("d", INT64, (1,), [HUGE]), ("v", FLOAT, (2,), [0.0, 1.0])])
    add("window", "extent|expected", node("HannWindow", "n"), opset=17, inputs={"u": (FLOAT, (1,))},
        weights=[("n", INT64, (), [HUGE])])
    add("dft_length", "extent|expected", node("DFT", "x l", axis=1), opset=17, inputs={"x": (FLOAT, (1, 16, 1))},
        weights=[("l", INT64, (), [HUGE])])
    add("ranks", "has 9 dimensions; expected at most 8", node("Unsqueeze", "x a"), inputs={"x": (FLOAT, (1,) * 8)},
        weights=[("a", INT64, (1,), [0])])
    # Each by itself would have room.
    add("selu_two", None, node("Selu"), inputs={"x": (FLOAT, (1 << 31, 1))})
    add("mul_prime", None, node("Mul", "x x"), inputs={"x": (FLOAT, ((1 << 31) - 1,))})
    add("empty", "shape \\[0, 3\\] holds no element", node("Relu"), inputs={"x": (FLOAT, (0, 3))})


def free():
    """What looks strange and means something."""
    add("eye", None, node("EyeLike", k=HUGE), inputs={"x": (FLOAT, (3, 3))})
    add("trilu", None, node("Trilu", "x k"), opset=14, weights=[("k", INT64, (), [HUGE])])
    add("shape", None, node("Shape", start=100, end=-100), opset=15)
    add("slice", None, node("Slice", "x a b c d"),
        weights=[("a", INT64, (1,), [-(1 << 63)]), ("b", INT64, (1,), [(1 << 63) - 1]), ("c", INT64, (1,), [2]),
                 ("d", INT64, (1,), [HUGE])])
    add("slice_back", None, node("Slice", "x a b c d"),
        weights=[("a", INT64, (1,), [(1 << 63) - 1]), ("b", INT64, (1,), [-(1 << 63)]), ("c", INT64, (1,), [2]),
                 ("d", INT64, (1,), [-(1 << 63)])])
    add("grid", None, node("GridSample", "x g", mode="bilinear"), opset=16, weights=[("g", FLOAT, (1, 2, 2, 2), ["nan"])])
    add("nms", None, node("NonMaxSuppression", "b s m i t"), inputs={"b": (FLOAT, (1, 5, 4))},
        weights=[("s", FLOAT, (1, 1, 5), [0.5]), ("m", INT64, (1,), [-9]), ("i", FLOAT, (1,), [2.0]),
                 ("t", FLOAT, (1,), ["nan"])])
    add("resize_to_nothing", None, node("Resize", "x - - s", mode="nearest"),
        weights=[("s", INT64, (4,), [1, 3, 0, 0])])
    add("range_without_end", "no end", [node("Range", "a b c", "r"), node("Add", "x r")], inputs={"x": (FLOAT, (5,))},
        weights=[("a", FLOAT, (), [0.0]), ("b", FLOAT, (), [5.0]), ("c", FLOAT, (), [0.0])])
    add("pad_axis", "does not exist", node("Pad", "x p - a"), opset=18,
        weights=[("p", INT64, (2,), [1]), ("a", INT64, (1,), [99])])


for fill in (windows, counts, axes, indices, sizes, free):
    fill()
