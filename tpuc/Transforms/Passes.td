//===- Passes.td - Passes from Top to Top -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TRANSFORMS_PASSES
#define TPUC_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def ShapeInfer : Pass<"shape-infer", "::mlir::ModuleOp"> {
  let summary = "Make types exact and compute what is constant";
  let description = [{
    Sets the result types of all ops, in their order and those of bodies before the op around them,
    from the types of their operands and the values of constant ones. An op whose operands are all
    weights is computed at once, and its results become weights, if none of these tensors has more
    than `max-folded` elements or the results have no more than the operands together (QuantizeLinear
    and DequantizeLinear only if small). Rows of a table, what is computed element by element,
    products, and integers of 64 bits, which are places mostly, may have 64 times `max-folded`. So are up to as many elements where all that is made of them is
    constant, and no larger in the end than what they are made of. So is the shape of a tensor whose shape is known. Ops stand behind
    what they read, so one pass over them is enough. Last, the functions' types follow what they
    return, and constants that nobody reads go.

    The weights that come to be are in the module's weight store, not in a file.
  }];
  let options = [Option<"maxFolded", "max-folded", "int64_t", /*default=*/"4096",
      "Compute at once up to this many elements per tensor, even if more come out than go in; "
      "0: compute nothing">];
  let dependentDialects = ["::tpuc::top::TopDialect"];
}

def TopFuse : Pass<"top-fuse", "::mlir::ModuleOp"> {
  let summary = "Make one op of several";
  let description = [{
    Until nothing changes, with patterns of these names; `c` is a constant. The op that is left has
    the name of the last one. No pattern takes away a value that the network gives or that another
    op reads.

    | pattern | from | to |
    | --- | --- | --- |
    | `batchnorm-to-scale` | `BatchNorm(x, c...)` | `Scale(x, c, c)` |
    | `scale-into-conv`, `-deconv`, `-matmul`, `-scale` | `Scale(op(x, c, c), c, c)` | `op(x, c, c)` |
    | `scale-before-concat` | `Scale(Concat(Conv(x, c, c)...), c, c)` of channels | `Concat(Scale(Conv(x, c, c), c, c)...)` |
    | `mul-into-conv`, `-deconv`, `-matmul`, `-scale` | a product or quotient of that op's result and `c`, one per channel (column) or one for all | `op(x, c, c)` |
    | `add-into-conv`, `-deconv`, `-matmul`, `-scale` | the same of a sum or difference | `op(x, c, c)` |
    | `scale-`, `mul-`, `add-into-next-conv` | `Conv(op(x, c...), c, c)` of these ops | `Conv(x, c, c)` |
    | `scale-to-depthwise` | any other `Scale(x, c, c)` with spatial dimensions | `Conv(x, c, c)` of one group per channel |
    | `permute-into-matmul` | `MatMul(Permute(x), y)` that swaps the last two dimensions | `MatMul(x, y)` with `left_transpose`; so on the right |
    | `permute-into-matmul` | `Permute(MatMul(x, y))` that swaps the last two dimensions, `x` read transposed, `y` no constant | `MatMul(y, x)` |
    | `einsum-to-products` | `Einsum(x, y...)` | diagonals and sums of single operands, then `MatMul(x, y)`, or `Mul` where nothing is summed, of two of them after the other, with the permutes that move the least |
    | `scatter-to-concat` | `ScatterND(x, places, y)` where the places are a box of `x` in order | `y` between the slices of `x` around it |
    | `elements-to-rows` | `GatherElements(x, Expand(i))` where `i` has one place for each row | `Gather(x, i)` |
    | `scalar-to-const` | `Add(x, c)`, Sub, Mul, Div, Min, Max, Pow, `c` one element | `AddConst(x)` and so on |
    | `pad-into-conv` | `Conv(Pad(x))` with 0 | `Conv(x)` |
    | `sum-of-parts` | `Reduce(Concat(x, y) * z)` along the joined dimension, of as many elements | `x * z0 + y * z1` |
    | `drop-padded-taps` | `Conv(x)` whose outer taps see nothing but padding | `Conv(x)` without them |
    | `pad-into-pool` | `AvgPool(Pad(x))` with 0, `MaxPool(Pad(x))` with -inf, or with 0 behind a ReLU | the pool with `pads` |
    | `clip-to-relu` | `Clip(x)` from 0 | `Relu(x)` with `relu_limit` |
    | `relu-into-producer` | `Relu(op(x))` | `op(x)` with `do_relu` |
    | `clip-to-hardsigmoid` | `Clip(x + 3, 0, 6) / 6` | `HardSigmoid(x)` |
    | `clip-to-hardswish` | `x * Clip(x + 3, 0, 6) / 6` | `HardSwish(x)` |
    | `mul-to-hardswish` | `Mul(x, HardSigmoid(x))` of 1/6 and 1/2 | `HardSwish(x)` |
    | `mul-to-silu` | `Mul(x, Sigmoid(x))` | `SiLU(x)` |
    | `erf-to-gelu` | `x / 2 * (1 + Erf(x / sqrt(2)))` | `GELU(x)` |
    | `tanh-to-gelu` | `x / 2 * (1 + Tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))` | `GELU(x)` with `approx_mode` |
    | `log-to-softplus` | `Log(1 + Exp(x))` | `Softplus(x)` |
    | `mul-to-mish` | `Mul(x, Tanh(Softplus(x)))` | `Mish(x)` |
    | `mul-to-swish` | `Mul(x, Sigmoid(c * x))` | `Swish(x)` with `beta` |
    | `mul-into-softmax` | `Softmax(c * x)`, `c` above 0 | `Softmax(x)` with `beta` |
    | `div-to-softmax` | `Exp(x) / sum(Exp(x))`, also of `x - max(x)`, reshapes in between or not | `Softmax(x)` |
    | `to-attention` | `MatMul(Softmax(c * MatMul(q, Permute(k)) + m), v)`, the factor anywhere before the softmax, the mask `m` also a constant condition, keys and values also repeated for several heads | `ScaleDotProductAttention(q, k, v, m)` |
    | | the same of heads `[B, H, T, S, D]` that are columns of rows of T blocks | attention of `B * T` samples |
    | `sums-of-keys` | `MatMul(q, MatMul(k^T, Pad(v, 1)))` with a column of ones, and slices of the result | `MatMul(q, MatMul(k^T, v))`, `MatMul(q, ReduceSum(k)^T)` |
    | `mixed-heads` | `MatMul(Mix(Softmax(Mix(c * MatMul(q, Permute(k))))), v)` of up to 8 heads, each mix a product with a constant between permutes of the heads | the sum of as many attentions of all columns, `m * ScaleDotProductAttention(l * q, k, v)` |
    | `constant-weights` | `MatMul(a * Softmax(s) + c, v)`, divided by the sums of the weights or not | `MatMul(Softmax(s), a * v) + MatMul(c, v)` |
    | `heads-in-order` | `MatMul(Reshape(Permute(x)), c)` with heads behind their elements | the same with heads in front of them, and the rows of `c` in their order |
    | `heads-of-rows` | attention whose heads are dimensions of `[S, B * H, D]` | the same of `[B, S, H * D]`, whose rows are exchanged instead of heads |
    | `parts-before-heads` | parts of the heads that `Reshape(MatMul(x, c))` gives, side by side in each head, which go in front of the rows somewhere | `Reshape(Slice(MatMul(x, c')))` with each part of all heads side by side |
    | | `Slice(Permute(x))` of the last dimension of heads of pictures, which nothing else reads | `Permute(Slice(x))` of their channels |
    | `exchange-no-rows` | `Permute(MatMul(Permute(x), c))` that exchanges the first two of three dimensions, reshapes of rows in between or not | `MatMul(x, c)` |
    | `to-lstm`, `to-gru` | the gates of each step of a sequence, with the same constants in all of them | `LSTM(x)`, `GRU(x)` |
    | `to-rope` | `x * cos + join(-x2, x1) * sin`, or `join(x1 * cos - x2 * sin, x1 * sin + x2 * cos)`, of the halves or the even and odd elements of the last dimension or its first elements | `Rope(x, cos, sin)` |
    | `to-layernorm` | `(x - mean) / sqrt(variance + eps)` over the last dimensions, the variance also as `mean(x^2) - mean^2` | `LayerNorm(x)` |
    | `to-pixelnorm` | the same over the channels | `PixelNorm(x)` |
    | `to-rmsnorm` | `x / sqrt(mean(x^2) + eps)` over the last dimensions | `RMSNorm(x)` |
    | | `x / max(length(x), e)` over the last dimensions, `e` at most 1e-6 | `RMSNorm(x, 1 / sqrt(elements))` with `eps = e^2 / elements` |
    | `to-instancenorm` | `Mul(LayerNorm(x), c)`, from axis 2 on and one per channel | `InstanceNorm(x, c)` |
    | `to-groupnorm` | `Reshape(InstanceNorm(Reshape(x)))` | `GroupNorm(x)` |
    | `mul-into-norm`, `add-into-norm` | a product or sum of one of these and `c` | the norm with its weight, bias |
    | `remove-no-op` | Copy, Cast to the same type, Reshape to the same shape, Permute in order, Slice of everything, Pad of nothing, Concat of one, `x * 1`, `x + 0`, `max(x, -inf)`, Where of a constant condition | `x` |
    | `merge-permutes` | `Permute(Permute(x))` | `Permute(x)` |
    | `merge-reshapes` | `Reshape(Reshape(x))`, also Flatten, Squeeze, Unsqueeze | `Reshape(x)` |
    | `permute-to-reshape` | `Permute(x)` that moves dimensions of one element only | `Reshape(x)` |
    | `join-slices` | `Concat(Slice(x)...)` of all of `x` in order, reshaped or not | `Reshape(x)` |
    | `to-depth2space` | `Reshape(Permute(Reshape(x)))` between channels and blocks of pixels; `Permute(Gather(Gather(x)))` of every n-th pixel | `Depth2Space(x)` |
    | `to-shufflechannel` | `Reshape(Permute(Reshape(x)))` that interleaves channels | `ShuffleChannel(x)` |
    | `slices-to-depth` | `Concat(Slice(x)...)` of every n-th pixel; in any order before a convolution with a constant filter | `Depth2Space(x)` with `is_inversed` |
    | `unfolded-taps` | `MatMul(x, w)` of matrices whose columns are the steps of a sequence under taps, and a column of weights for each step and head | the sum of `Conv(x) * Conv(w)` for each tap, filters of ones that shift steps and repeat weights |
    | `bins-to-conv` | `ReduceSum(Softmax(x) * c)` over channels, of which `c` has one number each | `Reshape(Conv(Softmax(x)))` |
    | `sides-into-batch` | `Conv(Softmax(Permute(x)))` to one channel, of `x` [1, a, b, n] with `b` as channels: means of bins | `Reshape(Conv(Softmax(Reshape(x))))` with `a` as the batch |
    | `modulation-out-of-filter` | `Conv(x, w * s * d)`, a constant filter times numbers for input and output channels | `d * Conv(s * x, w)` |
    | `merge-convs` | `Conv(x)`, `Conv(x)` of one window, not grouped, with one activation function, whose results are fewer than the elements of `x` that are read again, or concatenated | `Slice(Conv(x))`, `Slice(...)`, or `Conv(x)` in the concatenation |
    | `share-equal` | two equal ops | one of them |

    `relu-into-producer`, `scale-to-depthwise`, `scalar-to-const`, `parts-before-heads` and `merge-convs` come when no
    other applies any more. Convolutions whose results are to be cut out are merged only if their
    weights give ranges within a factor of 2, so that one quantization suits all of them. New constants are computed in f64 and rounded once.
  }];
  let options = [ListOption<"disabled", "disable", "std::string", "Patterns to leave out">];
  let dependentDialects = ["::tpuc::top::TopDialect"];
}

def ExtraOptimize : Pass<"extra-optimize", "::mlir::ModuleOp"> {
  let summary = "Remove what nobody reads, count the operations";
  let description = [{
    Erases ops without effects whose results nobody reads, and sets `module.FLOPs`: the operations
    of one run of `main` (see `FlopsInterface`), bodies counted once.
  }];
}

def FusePreprocess : Pass<"fuse-preprocess", "::mlir::ModuleOp"> {
  let summary = "Have the network take pictures of bytes";
  let description = [{
    Each f32 input that says how pictures become it (`do_preprocess`) becomes one of bytes, of the
    type `!quant.uniform<u8:f32, 1.0>` and the extents of `resize_dims`, named NAME_raw. A
    `top.Preprocess` behind it computes the former input and has its name: it crops, orders the
    channels and normalizes. The bytes are ordered as `customization_format` says.

    With `fuse_resize`, the picture has these extents instead. Its planes of bytes are scaled to
    those of `resize_dims`: linearly, rounded to bytes, with `keep_aspect_ratio` between rows or
    columns of `pad_value`. A second `top.Preprocess` computes the former input of them.

    With `row_alignment` or `plane_alignment`, the picture is a frame buffer with gaps
    (`top.Preprocess` has the layout), whose dimensions count bytes.
  }];
  let options = [Option<"customizationFormat", "customization_format", "std::string", /*default=*/"",
      "RGB_PLANAR, YUV_NV12 or their like; without it, the closest to what the input says">,
                 Option<"videoRange", "video_range", "bool", /*default=*/"true",
      "Y of YUV is from 16 to 235, else from 0 to 255">,
                 ListOption<"fuseResize", "fuse_resize", "int64_t",
      "Height and width of the picture, which the network scales">,
                 Option<"rowAlignment", "row_alignment", "int64_t", /*default=*/"1",
      "What rows of the picture begin at multiples of, in bytes">,
                 Option<"planeAlignment", "plane_alignment", "int64_t", /*default=*/"1",
      "What planes of the picture begin at multiples of, in bytes">];
  let dependentDialects = ["::tpuc::top::TopDialect", "::tpuc::quant::QuantDialect"];
}

def AddPostprocess : Pass<"add-postprocess", "::mlir::ModuleOp"> {
  let summary = "Have a detector give boxes";
  let description = [{
    Finds the heads of a detector at the outputs of `main`, by their shapes and by how they were
    reshaped, permuted and joined. Its maps or decoded boxes become the operands of a
    `top.ObjectDetection`, whose rows are what the network then gives, as `detections`. Key points,
    angles or masks follow as a second output. Sigmoids of scores and means of distributions are ops
    of their own before it, unless `options` say `decode=host`. A remark says what was found.
  }];
  let options = [Option<"version", "type", "std::string", /*default=*/"",
      "yolov5, ssd or their like: which detector it is">,
                 Option<"settings", "options", "std::string", /*default=*/"",
      "What --postprocess_options of model_transform takes">];
  let dependentDialects = ["::tpuc::top::TopDialect"];
}

#endif // TPUC_TRANSFORMS_PASSES
