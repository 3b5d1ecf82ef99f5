"""The cases: networks of one layer over grids of parameters, and small networks.

`all_cases` gives pairs of a name and a network. `why_opencv_differs` says why OpenCV's result is another
one than Caffe's documentation demands; such cases are compared with the formula alone.
"""

import itertools
import re

import numpy as np

from network import Layer, Network, Word, one

PICTURE = (2, 6, 9, 11)
# Types of layers that OpenCV's dnn does not have.
LACKS = {"ArgMax", "BN", "BatchReindex", "Bias", "Cast", "Clip", "DepthwiseConvolution", "DummyData", "Embed",
         "Filter", "FrcnDetection", "Im2col", "MatMul", "Parameter", "Reduction", "RetinaFaceDetection", "SPP",
         "Threshold", "Upsample", "YoloDetection", "YoloDetectionOutput"}
# Where OpenCV's dnn does something else than Caffe: cases, and what.
DIFFERS = (
    (r"Axpy", "OpenCV takes factors of rank 2 only"),
    (r"BatchNorm_items", "OpenCV knows no statistics of the items at hand"),
    (r"BatchNorm_rank2", "OpenCV's layer wants more dimensions"),
    (r"Concat_dim", "OpenCV knows no concat_dim"),
    (r"Convolution_1d", "OpenCV wants a kernel of one extent, and reads two"),
    (r"Convolution_axis2", "OpenCV knows no axis"),
    (r"Deconvolution_k11_s1_p1_d1", "OpenCV ends by a signal where pads cut the whole border off"),
    (r"Deconvolution_.*_d2", "OpenCV does not read the dilation"),
    (r"DetectionOutput_all", "OpenCV wants a keep_top_k"),
    (r"DetectionOutput_corner_size", "OpenCV does not read CORNER_SIZE"),
    (r"DetectionOutput_no_background", "OpenCV wants a background"),
    (r"DetectionOutput_target", "OpenCV wants priors without variances"),
    (r"Eltwise_MIN", "OpenCV's operations end with MAX"),
    (r"Flatten_0_-1", "OpenCV has no tensors of rank 1"),
    (r"InnerProduct_rank3", "OpenCV normalizes the axis by the rank of the result"),
    (r"InnerProduct_.*_True_", "OpenCV does not read transpose"),
    (r"Interp_(shrink|zoom.*shrink)", "OpenCV does not read shrink_factor"),
    (r"Interp_.*pad_beg", "OpenCV does not read pads"),
    (r"LRN_.*_2.0", "OpenCV does not read k"),
    (r"(LSTM|RNN)_", "OpenCV's layer reads other bottoms and blobs"),
    (r"Log_", "OpenCV does not read shift and scale"),
    (r"MVN_eps", "OpenCV adds epsilon under the root"),
    (r"Normalize_True_False", "OpenCV cannot scale channels where the norm is over all"),
    (r"Permute_02", "OpenCV wants the whole order"),
    (r"Pooling_.*_round", "OpenCV knows no round_mode"),
    (r"Pooling_STOCHASTIC", "OpenCV draws elements at random"),
    (r"Padding_", "OpenCV's layer reads other fields"),
    (r"PriorBox_8", "OpenCV does not read img_h and img_w"),
    (r"PriorBox_default_clip", "OpenCV clips where nothing is said"),
    (r"PriorBox_default_variance", "OpenCV wants a variance"),
    (r"Proposal_stated", "OpenCV's layer reads other fields"),
    (r"Proposal_", "OpenCV takes one item only"),
    (r"Reshape_1_-1_0", "OpenCV's axis ends before the last dimension"),
    (r"Scale_.*axis-1", "OpenCV counts no axis from behind"),
    (r"Slice_even", "OpenCV divides by the wrong number of tops"),
    (r"Swish_1.75", "OpenCV does not read beta"),
    (r"Tile_", "OpenCV wants 'repeats', which Caffe does not write"),
    (r"shared_weights", "OpenCV shares no weights"),
)


def why_opencv_differs(name, net):
    """Why OpenCV has another result than Caffe for a case, or none; nothing where it should agree."""
    lacking = {layer.type for layer in net.layers} & LACKS
    if lacking:
        return f"OpenCV has no layer {', '.join(sorted(lacking))}"
    return next((why for pattern, why in DIFFERS if re.match(pattern, name)), "")


def random(*shape):
    return np.random.default_rng(sum(shape) + len(shape)).uniform(-1, 1, shape).astype(np.float32)


def positive(*shape):
    return np.abs(random(*shape)) + np.float32(0.25)


def activations():
    for shape in (PICTURE, (3, 5), (2, 3, 4, 5, 6)):
        label = f"rank{len(shape)}"
        for name in ("AbsVal", "BNLL", "Sigmoid", "TanH", "Dropout", "Mish", "Split"):
            yield f"{name}_{label}", one(name, [shape])
        yield f"ReLU_{label}", one("ReLU", [shape])
        yield f"ReLU_slope_{label}", one("ReLU", [shape], "relu_param", negative_slope=0.125)
        yield f"PReLU_{label}", one("PReLU", [shape], "prelu_param", [random(shape[1])])
        yield f"PReLU_shared_{label}", one("PReLU", [shape], "prelu_param", [random(1)], channel_shared=True)
    yield "ReLU6", one("ReLU6", [PICTURE])
    yield "HardSwish", one("HardSwish", [PICTURE])
    for alpha in (1.0, 0.3):
        yield f"ELU_{alpha}", one("ELU", [PICTURE], "elu_param", alpha=alpha)
    for beta in (1.0, 1.75):
        yield f"Swish_{beta}", one("Swish", [PICTURE], "swish_param", beta=beta)
    yield "Clip", one("Clip", [PICTURE], "clip_param", min=-0.5, max=0.25)
    yield "Threshold", one("Threshold", [PICTURE], "threshold_param", threshold=0.25)
    for power, scale, shift in itertools.product((1.0, 2.0, 0.5), (1.0, 0.5), (0.0, 2.0)):
        if power != 0.5 or shift:
            yield (f"Power_{power}_{scale}_{shift}",
                   one("Power", [PICTURE], "power_param", power=power, scale=scale, shift=shift))
    for base, scale, shift in itertools.product((-1.0, 2.0, 10.0), (1.0, -0.5), (0.0, 0.75)):
        yield f"Exp_{base}_{scale}_{shift}", one("Exp", [PICTURE], "exp_param", base=base, scale=scale, shift=shift)
    for base, scale in itertools.product((-1.0, 2.0), (1.0, -0.5)):
        yield f"Log_{base}_{scale}", one("Log", [PICTURE], "log_param", base=base, scale=scale, shift=1.5)


def convolutions():
    for kernel, stride, pad, dilation, group in itertools.product((1, 3, [3, 2]), (1, 2), (0, 1), (1, 2), (1, 2)):
        k = kernel if isinstance(kernel, list) else [kernel, kernel]
        for layer, bias in (("Convolution", True), ("Deconvolution", kernel != 3)):
            filters = random(8, 6 // group, *k) if layer == "Convolution" else random(6, 8 // group, *k)
            fields = {"num_output": 8, "stride": stride, "pad": pad, "dilation": dilation, "group": group}
            if isinstance(kernel, list):
                fields.update(kernel_h=k[0], kernel_w=k[1])
            else:
                fields["kernel_size"] = kernel
            if not bias:
                fields["bias_term"] = False
            yield (f"{layer}_k{k[0]}{k[1]}_s{stride}_p{pad}_d{dilation}_g{group}",
                   one(layer, [PICTURE], "convolution_param",
                       [filters] + ([random(8)] if bias else []), **fields))
    depthwise = {"num_output": 6, "kernel_size": 3, "pad": 1, "stride": 2}
    for name in ("DepthwiseConvolution", "ConvolutionDepthwise"):
        yield name, one(name, [PICTURE], "convolution_param", [random(6, 1, 3, 3), random(6)], **depthwise)
    yield "Convolution_1d", one("Convolution", [(2, 4, 12)], "convolution_param", [random(5, 4, 3), random(5)],
                                num_output=5, kernel_size=3, pad=1)
    yield "Convolution_3d", one("Convolution", [(2, 3, 5, 6, 7)], "convolution_param",
                                [random(4, 3, 3, 2, 3), random(4)], num_output=4, kernel_size=[3, 2, 3],
                                stride=[1, 2, 1], pad=[1, 0, 1])
    yield "Convolution_axis2", one("Convolution", [(2, 3, 4, 8, 9)], "convolution_param",
                                   [random(5, 4, 3, 3), random(5)], num_output=5, kernel_size=3, axis=2)
    for kernel, stride, pad, dilation in ((3, 1, 0, 1), (3, 2, 1, 1), (2, 2, 0, 2)):
        yield (f"Im2col_{kernel}{stride}{pad}{dilation}",
               one("Im2col", [PICTURE], "convolution_param", kernel_size=kernel, stride=stride, pad=pad,
                   dilation=dilation))


def pools():
    for method, kernel, stride, pad in itertools.product(("MAX", "AVE"), (2, 3, 5), (1, 2, 3), (0, 1, 2)):
        if pad < kernel and stride <= kernel:
            yield (f"Pooling_{method}_k{kernel}_s{stride}_p{pad}",
                   one("Pooling", [PICTURE], "pooling_param", pool=Word(method), kernel_size=kernel, stride=stride,
                       pad=pad))
    for method in ("MAX", "AVE"):
        yield f"Pooling_{method}_global", one("Pooling", [PICTURE], "pooling_param", pool=Word(method),
                                              global_pooling=True)
        yield f"Pooling_{method}_hw", one("Pooling", [PICTURE], "pooling_param", pool=Word(method), kernel_h=3,
                                          kernel_w=2, stride_h=2, stride_w=1, pad_h=1, pad_w=0)
        yield f"Pooling_{method}_floor", one("Pooling", [PICTURE], "pooling_param", pool=Word(method), kernel_size=2,
                                             stride=2, ceil_mode=False)
        yield f"Pooling_{method}_round", one("Pooling", [PICTURE], "pooling_param", pool=Word(method), kernel_size=2,
                                             stride=2, round_mode=Word("FLOOR"))
    yield "Pooling_STOCHASTIC", Network({"a": PICTURE}, [
        Layer("AbsVal", "sizes", ["a"], ["b"]),
        Layer("Pooling", "pool", ["b"], ["x"], "pooling_param", {"pool": Word("STOCHASTIC"), "kernel_size": 3,
                                                               "stride": 2})])
    for kernel, stride, pad in ((2, 2, 0), (3, 2, 1), (3, 2, 0)):
        yield (f"Pooling_mask_{kernel}{stride}{pad}",
               one("Pooling", [PICTURE], "pooling_param", tops=2, pool=Word("MAX"), kernel_size=kernel, stride=stride,
                   pad=pad))
    for method, height in itertools.product(("MAX", "AVE"), (1, 2, 3)):
        yield (f"SPP_{method}_{height}", one("SPP", [(2, 6, 16, 16)], "spp_param", pool=Word(method),
                                             pyramid_height=height))


def products():
    for shape, axis in ((PICTURE, 1), ((3, 7), 1), ((2, 3, 8), 2), ((2, 3, 8), -1)):
        inner = int(np.prod(shape[axis:]))
        for transpose, bias in itertools.product((False, True), (True, False)):
            matrix = random(inner, 5) if transpose else random(5, inner)
            yield (f"InnerProduct_rank{len(shape)}_axis{axis}_{transpose}_{bias}",
                   one("InnerProduct", [shape], "inner_product_param", [matrix] + ([random(5)] if bias else []),
                       num_output=5, axis=axis, transpose=transpose, bias_term=bias))
    yield "MatMul", one("MatMul", [(2, 3, 4), (2, 4, 5)])
    embed = Network({"a": (3, 4)}, [
        Layer("Power", "whole", ["a"], ["b"], "power_param", {"scale": 0.0, "shift": 5.0}),
        Layer("Embed", "embed", ["b"], ["x"], "embed_param", {"input_dim": 9, "num_output": 4},
              [random(9, 4), random(4)])])
    yield "Embed", embed


def eltwises():
    for operation, count in itertools.product(("SUM", "PROD", "MAX", "MIN"), (2, 3)):
        yield (f"Eltwise_{operation}_{count}",
               one("Eltwise", [PICTURE] * count, "eltwise_param", operation=Word(operation)))
    yield "Eltwise_coeff", one("Eltwise", [PICTURE] * 3, "eltwise_param", coeff=[1.0, -0.5, 2.0])
    for layer, group in (("Scale", "scale_param"), ("Bias", "bias_param")):
        for axis, axes, covered in ((1, 1, (6,)), (0, 2, (2, 6)), (2, -1, (9, 11)), (-1, 1, (11,)), (3, 1, (11,))):
            yield (f"{layer}_axis{axis}_{axes}",
                   one(layer, [PICTURE], group, [random(*covered)], axis=axis, num_axes=axes))
            if layer == "Scale":
                yield (f"Scale_bias_axis{axis}_{axes}",
                       one(layer, [PICTURE], group, [random(*covered), random(*covered)], axis=axis, num_axes=axes,
                           bias_term=True))
        for axis, covered in ((1, (6,)), (0, (2, 6)), (2, (9, 11))):
            yield f"{layer}_bottoms_axis{axis}", one(layer, [PICTURE, covered], group, axis=axis)
    yield "Axpy", one("Axpy", [(2, 6, 1, 1), PICTURE, PICTURE])


def norms():
    wide = [random(6), positive(6), np.array([2.0], np.float32)]
    yield "BatchNorm", one("BatchNorm", [PICTURE], "batch_norm_param", wide)
    yield "BatchNorm_eps", one("BatchNorm", [PICTURE], "batch_norm_param", wide, eps=0.01)
    yield "BatchNorm_rank2", one("BatchNorm", [(3, 6)], "batch_norm_param", wide)
    yield "BatchNorm_items", one("BatchNorm", [PICTURE], "batch_norm_param", wide, use_global_stats=False)
    yield "BN_2", one("BN", [PICTURE], "bn_param", [random(6), random(6)])
    yield "BN_4", one("BN", [PICTURE], "bn_param", [random(6), random(6), random(6), positive(6)])
    for size, alpha, beta, k in itertools.product((3, 5), (1.0, 0.01), (0.75, 0.5), (1.0, 2.0)):
        yield (f"LRN_{size}_{alpha}_{beta}_{k}",
               one("LRN", [PICTURE], "lrn_param", local_size=size, alpha=alpha, beta=beta, k=k))
    for size, alpha in itertools.product((3, 5), (1.0, 0.01)):
        yield (f"LRN_within_{size}_{alpha}",
               one("LRN", [PICTURE], "lrn_param", local_size=size, alpha=alpha,
                   norm_region=Word("WITHIN_CHANNEL")))
    for across, variance in itertools.product((True, False), (True, False)):
        yield (f"MVN_{across}_{variance}",
               one("MVN", [PICTURE], "mvn_param", across_channels=across, normalize_variance=variance))
    yield "MVN_eps", one("MVN", [PICTURE], "mvn_param", eps=0.1)
    for spatial, shared in itertools.product((True, False), (True, False)):
        yield (f"Normalize_{spatial}_{shared}",
               one("Normalize", [PICTURE], "norm_param", [positive(1 if shared else 6)], across_spatial=spatial,
                   channel_shared=shared))
    for operation, axis, coeff in itertools.product(("SUM", "ASUM", "SUMSQ", "MEAN"), (0, 1, 2, -1), (1.0, 0.5)):
        yield (f"Reduction_{operation}_{axis}_{coeff}",
               one("Reduction", [PICTURE], "reduction_param", operation=Word(operation), axis=axis, coeff=coeff))
    for axis in (1, 2, 3, -1):
        yield f"Softmax_{axis}", one("Softmax", [PICTURE], "softmax_param", axis=axis)
    yield "Softmax_rank2", one("Softmax", [(4, 10)])
    for fields in ({}, {"top_k": 3}, {"out_max_val": True}, {"out_max_val": True, "top_k": 4}, {"axis": 1},
                   {"axis": -1, "top_k": 2}, {"axis": 1, "out_max_val": True}):
        label = "_".join(f"{key}{value}" for key, value in fields.items()) or "plain"
        yield f"ArgMax_{label}", one("ArgMax", [PICTURE], "argmax_param", **fields)


def movements():
    for axis in (0, 1, 2, 3, -1):
        shapes = []
        for extent in (2, 3, 4):
            shape = list(PICTURE)
            shape[axis] = extent
            shapes.append(tuple(shape))
        yield f"Concat_{axis}", one("Concat", shapes, "concat_param", axis=axis)
    yield "Concat_dim", one("Concat", [PICTURE, PICTURE], "concat_param", concat_dim=1)
    yield "Concat_one", one("Concat", [PICTURE])
    for axis, points in ((1, [2]), (1, []), (2, [4]), (3, [1]), (-1, [5])):
        if axis != 1 or points:
            yield f"Slice_{axis}_{points}", one("Slice", [PICTURE], "slice_param", tops=2, axis=axis,
                                                slice_point=points)
    yield "Slice_even", one("Slice", [PICTURE], "slice_param", tops=3, axis=1)
    yield "Slice_points", one("Slice", [PICTURE], "slice_param", tops=3, axis=1, slice_point=[1, 4])
    for axis, end in ((1, -1), (0, 1), (2, 3), (1, 2), (0, -1)):
        yield f"Flatten_{axis}_{end}", one("Flatten", [PICTURE], "flatten_param", axis=axis, end_axis=end)
    for dims, axis, axes in (([0, -1], 0, -1), ([0, 0, 99], 0, -1), ([2, -1, 33], 0, -1), ([3, 2], 1, 1),
                             ([-1], 1, -1), ([1], -1, 0), ([99], 2, 2)):
        yield (f"Reshape_{'x'.join(map(str, dims))}_{axis}_{axes}",
               one("Reshape", [PICTURE], "reshape_param", shape={"dim": dims}, axis=axis, num_axes=axes))
    for order in ([0, 2, 3, 1], [0, 3, 1, 2], [1, 0, 2, 3], [3, 2, 1, 0], [0, 2]):
        yield f"Permute_{''.join(map(str, order))}", one("Permute", [PICTURE], "permute_param", order=order)
    for axis, offset, like in ((2, [1], (2, 6, 5, 6)), (2, [2, 3], (2, 6, 5, 6)), (1, [1, 2, 3], (2, 3, 5, 6)),
                               (3, [4], (2, 6, 9, 6)), (2, [], (2, 6, 9, 7))):
        group = {"axis": axis, "offset": offset} if offset else {"axis": axis}
        yield f"Crop_{axis}_{len(offset)}", one("Crop", [PICTURE, like], "crop_param", **group)
    for axis, tiles in ((1, 3), (0, 2), (3, 2), (2, 1)):
        yield f"Tile_{axis}_{tiles}", one("Tile", [PICTURE], "tile_param", axis=axis, tiles=tiles)
    whole = Layer("Power", "whole", ["b"], ["index"], "power_param", {"scale": 0.0, "shift": 1.0})
    yield "BatchReindex", Network({"a": PICTURE, "b": (3,)}, [
        whole, Layer("BatchReindex", "reindex", ["a", "index"], ["x"])])
    yield "Filter", Network({"a": (3, 4), "b": (3, 2, 2)}, [
        Layer("Parameter", "chosen", [], ["c"], "parameter_param", {"shape": {"dim": [3]}},
              [np.array([1, 0, 2], np.float32)]),
        Layer("Filter", "filter", ["a", "b", "c"], ["x", "y"])])
    yield "Parameter", Network({"a": (2, 3)}, [
        Layer("Parameter", "table", [], ["p"], "parameter_param", {"shape": {"dim": [2, 3]}}, [random(2, 3)]),
        Layer("Eltwise", "sum", ["a", "p"], ["x"])])
    yield "DummyData", Network({"a": (2, 3, 4, 5)}, [
        Layer("DummyData", "ones", [], ["p"], "dummy_data_param",
              {"shape": {"dim": [2, 3, 4, 5]}, "data_filler": {"type": "constant", "value": 1.5}}),
        Layer("Eltwise", "sum", ["a", "p"], ["x"])])


def forks():
    for fields in ({"height": 13, "width": 17}, {"zoom_factor": 2}, {"shrink_factor": 2}, {"zoom_factor": 3,
                   "shrink_factor": 2}, {"height": 5, "width": 4}, {"height": 8, "width": 8, "pad_beg": -1,
                   "pad_end": -2}):
        label = "_".join(f"{key}{value}" for key, value in fields.items())
        yield f"Interp_{label}", one("Interp", [PICTURE], "interp_param", **fields)
    for fields in ({"scale": 2}, {"scale_h": 3, "scale_w": 2}):
        yield f"Upsample_{len(fields)}", one("Upsample", [PICTURE], "upsample_param", **fields)
    pooled = Layer("Pooling", "pool", ["a"], ["p", "mask"], "pooling_param", {"pool": Word("MAX"), "kernel_size": 2,
                                                                            "stride": 2})
    yield "Upsample_mask", Network({"a": (2, 3, 8, 10)}, [
        pooled, Layer("Upsample", "up", ["p", "mask"], ["x"], "upsample_param", {"scale": 2})])
    for group in (1, 2, 3):
        yield f"ShuffleChannel_{group}", one("ShuffleChannel", [PICTURE], "shuffle_channel_param", group=group)
    yield "Reorg", one("Reorg", [(2, 8, 6, 10)], "reorg_param", stride=2)


def recurrences():
    for name, states in (("LSTM", 2), ("RNN", 1)):
        gates = 4 if name == "LSTM" else 1
        for static, expose in itertools.product((False, True), (False, True)):
            t, n, d, h = 4, 2, 5, 3
            blobs = [random(gates * h, d), random(gates * h)]
            inputs = {"frames": (t, n, d), "starts": (t, n)}
            if static:
                inputs["fixed"] = (n, 4)
                blobs.append(random(gates * h, 4))
            blobs.append(random(gates * h, h))
            if name == "RNN":
                blobs += [random(h, h), random(h)]
            bottoms = ["frames", "cont"] + (["fixed"] if static else [])
            tops = ["x"]
            if expose:
                inputs.update({f"state{i}": (1, n, h) for i in range(states)})
                bottoms += [f"state{i}" for i in range(states)]
                tops += [f"last{i}" for i in range(states)]
            cont = Layer("Threshold", "begin", ["starts"], ["cont"], "threshold_param", {"threshold": -0.4})
            yield (f"{name}_{'static' if static else 'plain'}_{'exposed' if expose else 'hidden'}",
                   Network(inputs, [cont, Layer(name, "cell", bottoms, tops, "recurrent_param",
                                                {"num_output": h, "expose_hidden": expose}, blobs)]))


def boxes():
    shapes = [(1, 4, 5, 7), (1, 3, 60, 84)]
    stated = {"clip": False, "variance": [0.1, 0.1, 0.2, 0.2]}
    grids = ({}, {"max_size": [30.0]}, {"max_size": [30.0], "aspect_ratio": [2.0, 3.0]},
             {"aspect_ratio": [2.0], "flip": False}, {"aspect_ratio": [2.0], "clip": True}, {"variance": [0.2]},
             {"step": 12.0, "offset": 0.0}, {"step_h": 11.0, "step_w": 13.0}, {"img_h": 50, "img_w": 70},
             {"min_size": [10.0, 20.0], "max_size": [20.0, 40.0], "aspect_ratio": [2.0]})
    for number, fields in enumerate(grids):
        yield f"PriorBox_{number}", one("PriorBox", shapes, "prior_box_param",
                                        **({"min_size": [20.0]} | stated | fields))
    yield "PriorBox_clustered", one("PriorBox", shapes, "prior_box_param", width=[10.0, 20.0], height=[15.0, 7.0],
                                    **stated)
    yield "PriorBox_default_clip", one("PriorBox", shapes, "prior_box_param", min_size=[20.0], variance=[0.1])
    yield "PriorBox_default_variance", one("PriorBox", shapes, "prior_box_param", min_size=[20.0], clip=True)


def detectors():
    """Boxes and scores of a network, as SSD ends, and regions of pictures."""
    items, count, classes = 2, 35, 4
    prior = {"min_size": [20.0], "variance": [0.1, 0.1, 0.2, 0.2], "clip": False}
    layers = [Layer("PriorBox", "priors", ["map", "picture"], ["p"], "prior_box_param", prior),
              Layer("Reshape", "rows", ["c"], ["r"], "reshape_param", {"shape": {"dim": [items, count, classes]}}),
              Layer("Power", "wide", ["r"], ["w"], "power_param", {"scale": 4.0}),
              Layer("Softmax", "scores", ["w"], ["s"], "softmax_param", {"axis": 2}),
              Layer("Flatten", "flat", ["s"], ["f"])]
    stated = {"code_type": Word("CENTER_SIZE"), "share_location": True, "background_label_id": 0, "keep_top_k": 40,
              "confidence_threshold": 0.01, "nms_param": {"nms_threshold": 0.45, "top_k": 20}}
    grids = {"plain": {}, "few": {"keep_top_k": 10}, "corner": {"code_type": Word("CORNER")},
             "all": {"keep_top_k": -1, "nms_param": {"nms_threshold": 0.45, "top_k": -1}},
             "corner_size": {"code_type": Word("CORNER_SIZE")}, "threshold": {"confidence_threshold": 0.3},
             "nothing": {"confidence_threshold": 0.999}, "background": {"background_label_id": 2},
             "no_background": {"background_label_id": -1}, "target": {"variance_encoded_in_target": True},
             "eta": {"nms_param": {"nms_threshold": 0.8, "top_k": 30, "eta": 0.9}}, "apart": {"share_location": False}}
    for name, fields in grids.items():
        size = count * 4 * (1 if fields.get("share_location", True) else classes)
        inputs = {"l": (items, size), "c": (items, count * classes), "map": (1, 4, 5, 7), "picture": (1, 3, 60, 84)}
        detection = Layer("DetectionOutput", "detection", ["l", "f", "p"], ["x"], "detection_output_param",
                          {"num_classes": classes} | stated | fields)
        yield f"DetectionOutput_{name}", Network(inputs, [*layers, detection])
    rois = np.array([[0, 0, 0, 40, 30], [1, 10, 5, 60, 44], [0, 7, 9, 7, 9], [1, -20, 30, 90, 200],
                     [0, 30, 20, 10, 5]], np.float32)
    # The inputs leave all of a region's numbers but the item as they are given here, more or less.
    near = np.full((5, 5), 0.75, np.float32) * [0, 1, 1, 1, 1]
    regions = Layer("Scale", "regions", ["b"], ["r"], "scale_param", {"axis": 0, "num_axes": 2, "bias_term": True},
                    [near.astype(np.float32), rois])
    for scale, height, width in ((0.25, 3, 3), (0.125, 2, 4), (1.0, 7, 7)):
        yield f"ROIPooling_{scale}", Network({"a": (2, 4, 12, 17), "b": (5, 5)}, [regions, Layer(
            "ROIPooling", "pool", ["a", "r"], ["x"], "roi_pooling_param",
            {"pooled_h": height, "pooled_w": width, "spatial_scale": scale})])
    for scale, group in ((0.25, 3), (0.125, 2)):
        yield f"PSROIPooling_{scale}", Network({"a": (2, 2 * group * group, 12, 17), "b": (5, 5)}, [regions, Layer(
            "PSROIPooling", "pool", ["a", "r"], ["x"], "psroi_pooling_param",
            {"output_dim": 2, "group_size": group, "spatial_scale": scale})])


def anchors():
    """The inputs lie between -1 and 1: scores and deltas as they are, or scaled."""
    info = Layer("Scale", "info", ["b"], ["i"], "scale_param", {"axis": 0, "num_axes": 2, "bias_term": True},
                 [np.zeros((2, 3), np.float32), np.array([[96, 128, 1], [80, 112, 0.5]], np.float32)])
    small = {"scale": [1.0, 2.0], "ratio": [0.5, 1.0, 2.0], "post_nms_topn": 12}
    for name, fields in {"plain": {}, "few": {"pre_nms_topn": 20}, "strict": {"nms_thresh": 0.2},
                         "large": {"min_size": 40}, "other": {"feat_stride": 8, "base_size": 20}}.items():
        yield f"Proposal_{name}", Network({"s": (2, 12, 5, 7), "d": (2, 24, 5, 7), "b": (2, 3)}, [info, Layer(
            "Proposal", "proposal", ["s", "d", "i"], ["x", "y"], "proposal_param", small | fields)])
    yield "Proposal_one_top", Network({"s": (2, 12, 5, 7), "d": (2, 24, 5, 7), "b": (2, 3)}, [info, Layer(
        "Proposal", "proposal", ["s", "d", "i"], ["x"], "proposal_param", small)])
    yield "Proposal_stated", Network({"s": (2, 18, 4, 6), "d": (2, 36, 4, 6)}, [Layer(
        "Proposal", "proposal", ["s", "d"], ["x"], "proposal_param",
        {"net_input_h": 64, "net_input_w": 96, "rpn_nms_post_top_n": 9, "rpn_obj_threshold": 0.25})])
    pairs = "10,13,16,30,33,23,30,61,62,45,59,119"
    yolo = {"net_input_h": 64, "net_input_w": 96, "class_num": 4, "anchors": pairs, "keep_topk": 15,
            "obj_threshold": 0.2}
    for name, fields in {"plain": {}, "few": {"keep_topk": 3}, "strict": {"nms_threshold": 0.05},
                         "nothing": {"obj_threshold": 0.99}}.items():
        yield f"YoloDetection_{name}", Network({"a": (2, 27, 4, 6), "b": (2, 27, 2, 3)}, [Layer(
            "YoloDetection", "detection", ["a", "b"], ["x"], "yolo_detection_param", yolo | fields)])
    for threshold in (0.1, 0.3):
        yield f"YoloDetectionOutput_{threshold}", Network({"a": (2, 16, 4, 5)}, [Layer(
            "YoloDetectionOutput", "detection", ["a"], ["x"], "yolo_detection_output_param",
            {"num_classes": 3, "num_box": 2, "biases": [0.75, 0.875, 2.5, 2.625], "confidence_threshold": threshold})])
    maps, names = {}, []
    for index, size in enumerate(((4, 6), (2, 3), (1, 2))):
        for kind, channels in (("s", 4), ("d", 8), ("l", 20)):
            names.append(f"{kind}{index}")
            maps[names[-1]] = (2, channels, *size)
    for name, fields in {"plain": {}, "few": {"keep_topk": 4}, "strict": {"nms_threshold": 0.1}}.items():
        yield f"RetinaFaceDetection_{name}", Network(maps, [Layer(
            "RetinaFaceDetection", "detection", names, ["x"], "retinaface_detection_param",
            {"keep_topk": 20, "confidence_threshold": 0.25} | fields)])
    near = np.array([[0, 8, 8, 8, 8]] * 6, np.float32)
    places = np.array([[0, 10 * i, 5 * i, 10 * i + 30, 5 * i + 40] for i in range(6)], np.float32)
    regions = Layer("Scale", "regions", ["r"], ["p"], "scale_param", {"axis": 0, "num_axes": 2, "bias_term": True},
                    [near, places])
    for name, fields in {"plain": {}, "few": {"keep_topk": 2}, "strict": {"nms_threshold": 0.05}}.items():
        yield f"FrcnDetection_{name}", Network({"d": (6, 12), "s": (6, 3), "r": (6, 5)}, [regions, Layer(
            "FrcnDetection", "detection", ["d", "s", "p"], ["x"], "frcn_detection_param",
            {"class_num": 3, "keep_topk": 8, "obj_threshold": -0.5} | fields)])
    yield "Padding_constant", one("Padding", [PICTURE], "padding_param", pad_t=1, pad_l=2, pad_b=3, pad_r=4,
                                  pad_value=0.5)
    yield "Padding_rank2", one("Padding", [(3, 4)], "padding_param", pad_l=1)
    for to in ("FLOAT", "FLOAT16", "INT32", "BOOL"):
        yield f"Cast_{to}", Network({"a": PICTURE}, [
            Layer("Power", "wide", ["a"], ["w"], "power_param", {"scale": 4.0}),
            Layer("Cast", "cast", ["w"], ["x"], "cast_param", {"to": Word(to)})])


def networks():
    conv = {"num_output": 6, "kernel_size": 3, "pad": 1}
    weights = [random(6, 6, 3, 3), random(6)]
    yield "chain_in_place", Network({"a": PICTURE}, [
        Layer("Convolution", "conv", ["a"], ["x"], "convolution_param", conv, weights),
        Layer("BatchNorm", "norm", ["x"], ["x"], "batch_norm_param", {},
              [random(6), positive(6), np.array([1.0], np.float32)]),
        Layer("Scale", "scale", ["x"], ["x"], "scale_param", {"bias_term": True}, [random(6), random(6)]),
        Layer("ReLU", "relu", ["x"], ["x"])])
    yield "input_in_place", Network({"a": PICTURE}, [
        Layer("ReLU", "relu", ["a"], ["a"]), Layer("Power", "square", ["a"], ["x"], "power_param", {"power": 2.0})])
    yield "shared_weights", Network({"a": PICTURE}, [
        Layer("Convolution", "one", ["a"], ["b"], "convolution_param", conv, weights, ["w", "c"]),
        Layer("Convolution", "two", ["b"], ["x"], "convolution_param", conv, [], ["w", "c"])])
    yield "train_layers", Network({"a": (2, 6, 4, 4)}, [
        Layer("Dropout", "only_training", ["a"], ["t"], include="TRAIN"),
        Layer("ReLU", "relu", ["a"], ["x"], include="TEST")])
    yield "outputs", Network({"a": PICTURE}, [
        Layer("ReLU", "relu", ["a"], ["b"]), Layer("Sigmoid", "left", ["b"], ["x"]),
        Layer("TanH", "right", ["b"], ["y"])])
    yield "residual", Network({"a": PICTURE}, [
        Layer("Convolution", "conv", ["a"], ["b"], "convolution_param", conv, weights),
        Layer("Eltwise", "sum", ["a", "b"], ["c"]), Layer("ReLU", "relu", ["c"], ["c"]),
        Layer("Pooling", "pool", ["c"], ["d"], "pooling_param", {"pool": Word("AVE"), "global_pooling": True}),
        Layer("InnerProduct", "logits", ["d"], ["e"], "inner_product_param", {"num_output": 5},
              [random(5, 6), random(5)]),
        Layer("Softmax", "x", ["e"], ["x"])])


def all_cases():
    for family in (activations, convolutions, pools, products, eltwises, norms, movements, forks, recurrences,
                   boxes, detectors, anchors, networks):
        yield from family()
