//===- MovementOps.td - Moving elements -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_MOVEMENTOPS
#define TPUC_DIALECT_TOP_MOVEMENTOPS

include "tpuc/Dialect/Top/TopBase.td"

def Top_ConcatOp : Top_ComputeOp<"Concat", [Top_KeepsCommonSign, Top_CombinesIntegers]> {
  let summary = "Joins tensors along an axis";
  let description = [{
    `output = inputs[0] ++ inputs[1] ++ ...` along `axis` (counted from the end where negative);
    all other extents are equal. With `do_relu` the result is `max(x, 0)`, and at most
    `relu_limit` where that is not negative.

    Example:

    ```mlir
    %0 = "top.Concat"(%a, %b) {axis = 1 : i64} : (tensor<1x3x4xf32>, tensor<1x5x4xf32>) -> tensor<1x8x4xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyTensor>:$inputs,
                       Top_AxisOf<I64Attr, 0>:$axis,
                       Top_False:$do_relu,
                       Top_ReluLimit:$relu_limit);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_SplitOp : Top_ComputeOp<"Split", [Top_MovesElements, Top_KeepsSign, Top_MovesIntegers]> {
  let summary = "Cuts a tensor along an axis";
  let description = [{
    `outputs[i]` is the part of `split_size[i]` slices along `axis` behind the parts before it.
    Without sizes the parts are equal, the last one shorter where the extent asks for it.

    Example:

    ```mlir
    %0:2 = "top.Split"(%a, %none) {axis = 1 : i64, split_size = [3, 5]} : (tensor<1x8x4xf32>, none) -> (tensor<1x3x4xf32>, tensor<1x5x4xf32>)
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$split_tensor,
                       Top_AxisOf<I64Attr, 0>:$axis,
                       Top_Extents:$split_size);
  let results = (outs Variadic<AnyTensor>:$outputs);
  let hasVerifier = 1;
}

def Top_SliceOp : Top_ComputeOp<"Slice", [Top_MovesElements, Top_KeepsSign, Top_MovesIntegers]> {
  let summary = "Every steps-th element from an offset to an end, in each dimension";
  let description = [{
    `output[i] = input[offset + i * steps]` in each dimension of `axes` (without it: the first
    ones), from `offset` to before `ends`. Negative offsets and ends count from the end; both are
    clamped to the extent; negative steps go backwards. Steps are 1 where they are not given.

    Example:

    ```mlir
    %0 = "top.Slice"(%a, %none, %none, %none, %none) {offset = [0, 1], ends = [2, 8], steps = [1, 3]} : (tensor<2x9xf32>, none, none, none, none) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$offset_tensor,
                       Top_OptionalTensor:$ends_tensor,
                       Top_OptionalTensor:$axes_tensor,
                       Top_OptionalTensor:$steps_tensor,
                       Top_Positions:$offset,
                       Top_Free<OptionalAttr<I64ArrayAttr>, "but 0; a long step takes one element">:$steps,
                       Top_Positions:$ends,
                       Top_AxisOf<OptionalAttr<I64ArrayAttr>, 0>:$axes);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_PermuteOp : Top_ComputeOp<"Permute",
    [Top_MovesElements, Top_KeepsSign, Top_MovesIntegers]> {
  let summary = "Reorders dimensions";
  let description = [{
    Dimension `i` of the output is dimension `order[i]` of the input.

    Example:

    ```mlir
    %0 = "top.Permute"(%a) {order = [0, 2, 1]} : (tensor<1x3x4xf32>) -> tensor<1x4x3xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_Between<I64ArrayAttr, 0, !sub(Top_MostRank, 1)>:$order);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_ReshapeOp : Top_ComputeOp<"Reshape",
    [Top_ViewLike, Top_MovesElements, Top_KeepsSign, Top_MovesIntegers]> {
  let summary = "The same elements under another shape";
  let description = [{
    The elements in row-major order stay. An extent of 0 in `shape` is that of the input's
    dimension there (with `allowzero`: 0); one extent may be -1, which is what the others leave.

    Example:

    ```mlir
    %0 = "top.Reshape"(%a, %none) {shape = [0, -1]} : (tensor<2x3x4xf32>, none) -> tensor<2x12xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$shape_tensor,
                       Top_OpenExtents:$shape,
                       Top_False:$allowzero);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_FlattenOp : Top_ComputeOp<"Flatten",
    [Top_ViewLike, Top_MovesElements, Top_KeepsSign, Top_MovesIntegers]> {
  let summary = "Joins dimensions from one to another into one";
  let description = [{
    Dimensions `start_dim` to `end_dim` (both included, counted from the end where negative)
    become one, whose extent is their product. A scalar becomes a vector.

    Example:

    ```mlir
    %0 = "top.Flatten"(%a) {start_dim = 1 : i64} : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_SomeAxis<Top_DefaultI64<0>>:$start_dim,
                       Top_SomeAxis<Top_DefaultI64<-1>>:$end_dim);
  let results = (outs AnyTensor:$output);
}

def Top_FlattenTo2DOp : Top_ComputeOp<"FlattenTo2D",
    [Top_ViewLike, Top_MovesElements, Top_MovesIntegers]> {
  let summary = "Joins the dimensions before an axis and those from it on";
  let description = [{
    `output` has the extents `d[0] * ... * d[axis - 1]` and `d[axis] * ... * d[rank - 1]`; the
    product of none is 1. `axis` is -rank to rank.

    Example:

    ```mlir
    %0 = "top.FlattenTo2D"(%a) {axis = 2 : i64} : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_AxisOf<Top_DefaultI64<1>, 0, 0, 1>:$axis);
  let results = (outs AnyTensor:$output);
}

def Top_SqueezeOp : Top_ComputeOp<"Squeeze",
    [Top_ViewLike, Top_MovesElements, Top_KeepsSign, Top_MovesIntegers]> {
  let summary = "Removes dimensions of extent 1";
  let description = [{
    Removes the dimensions `axes`, whose extents are 1; without `axes` all of that extent.

    Example:

    ```mlir
    %0 = "top.Squeeze"(%a, %none) {axes = [0]} : (tensor<1x3x4xf32>, none) -> tensor<3x4xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$axes_tensor,
                       Top_AxisOf<OptionalAttr<I64ArrayAttr>, 0>:$axes);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_UnsqueezeOp : Top_ComputeOp<"Unsqueeze",
    [Top_ViewLike, Top_MovesElements, Top_KeepsSign, Top_MovesIntegers]> {
  let summary = "Inserts dimensions of extent 1";
  let description = [{
    The dimensions `axes` of the output have extent 1; the others are those of the input in order.

    Example:

    ```mlir
    %0 = "top.Unsqueeze"(%a, %none) {axes = [0, -1]} : (tensor<3x4xf32>, none) -> tensor<1x3x4x1xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$axes_tensor,
                       Top_SomeAxis<OptionalAttr<I64ArrayAttr>>:$axes);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_ExpandOp : Top_ComputeOp<"Expand", [Top_MovesElements, Top_KeepsSign, Top_MovesIntegers]> {
  let summary = "Repeats dimensions of extent 1 to a shape";
  let description = [{
    Broadcasts as numpy does: the output's extents are the larger ones of `shape` and the input's,
    aligned at the end. An extent of 1 in `shape` leaves the input's.

    Example:

    ```mlir
    %0 = "top.Expand"(%a, %none) {shape = [2, 3, 4]} : (tensor<3x1xf32>, none) -> tensor<2x3x4xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$shape_tensor,
                       Top_OpenExtents:$shape);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_TileOp : Top_ComputeOp<"Tile", [Top_MovesElements, Top_KeepsSign, Top_MovesIntegers]> {
  let summary = "Repeats a tensor in each dimension";
  let description = [{
    `output[i] = input[i mod extent]` in each dimension, which becomes `tile` times as large.

    Example:

    ```mlir
    %0 = "top.Tile"(%a, %none) {tile = [1, 2]} : (tensor<2x3xf32>, none) -> tensor<2x6xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$tile_tensor,
                       Top_Extents:$tile);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_PadOp : Top_ComputeOp<"Pad", [Top_KeepsSign, Top_ComputesIntegers]> {
  let summary = "Adds elements around a tensor, or takes them away";
  let description = [{
    `paddings` are the elements to add before each dimension (of `axes_tensor`, else of all), then
    those to add behind each; negative ones take away. The new elements are `val` (mode
    "constant"), the nearest one (mode "edge"), mirrored without repeating the border (mode
    "reflect"), or those of the other side (mode "wrap").

    Example:

    ```mlir
    %0 = "top.Pad"(%a, %none, %none, %none) {paddings = [0, 1, 0, 2]} : (tensor<2x3xf32>, none, none, none) -> tensor<2x6xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$paddings_tensor,
                       Top_OptionalTensor:$val_tensor,
                       Top_OptionalTensor:$axes_tensor,
                       Top_SignedPads:$paddings,
                       Top_DefaultF64<"0.0">:$val,
                       DefaultValuedStrAttr<StrAttr, "constant">:$mode);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_Depth2SpaceOp : Top_ComputeOp<"Depth2Space",
    [Top_MovesElements, Top_KeepsSign, Top_MovesIntegers]> {
  let summary = "Moves blocks of channels into space, or back";
  let description = [{
    Channels become blocks of `block_h` x `block_w` elements of the picture: the channel of the
    input is `(h * block_w + w) * c_out + c`, with `is_CRD` `(c * block_h + h) * block_w + w`.
    With `is_inversed` the same backwards: blocks become channels. The input is `N x C x H x W`.

    Example:

    ```mlir
    %0 = "top.Depth2Space"(%a) {block_h = 2 : i64, block_w = 2 : i64} : (tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_AtLeast<I64Attr, 1>:$block_h,
                       Top_AtLeast<I64Attr, 1>:$block_w,
                       Top_False:$is_CRD,
                       Top_False:$is_inversed);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_ShuffleChannelOp : Top_ComputeOp<"ShuffleChannel",
    [Top_MovesElements, Top_KeepsSign, Top_MovesIntegers]> {
  let summary = "Interleaves groups of channels";
  let description = [{
    The channels, axis 1, are `group` groups of n: `output[b, j * group + g] = input[b, g * n + j]`.

    Example:

    ```mlir
    %0 = "top.ShuffleChannel"(%a) {group = 2 : i64} : (tensor<1x8x2x3xf32>) -> tensor<1x8x2x3xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_AtLeast<I64Attr, 1>:$group);
  let results = (outs AnyTensor:$output);
}

def Top_ReverseSequenceOp : Top_ComputeOp<"ReverseSequence",
    [Top_MovesElements, Top_MovesIntegers]> {
  let summary = "Reverses the beginning of each sequence";
  let description = [{
    For each index `b` of `batch_axis`, the first `sequence_lens[b]` slices along `time_axis`
    stand in reverse order; the others stay.

    Example:

    ```mlir
    %0 = "top.ReverseSequence"(%a, %lens) {batch_axis = 1 : i64, time_axis = 0 : i64} : (tensor<4x2xf32>, tensor<2xi64>) -> tensor<4x2xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$sequence_lens,
                       Top_AxisOf<I64Attr, 0>:$batch_axis,
                       Top_AxisOf<I64Attr, 0>:$time_axis);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_TriluOp : Top_ComputeOp<"Trilu", [Top_MovesElements]> {
  let summary = "The upper or lower triangle";
  let description = [{
    Of each matrix in the last two dimensions, `output[i, j] = input[i, j]` where `j >= i +
    diagonal` (`upper`) or `j <= i + diagonal` (not `upper`), else 0.

    Example:

    ```mlir
    %0 = "top.Trilu"(%a, %none) {diagonal = 1 : i64} : (tensor<2x3x3xf32>, none) -> tensor<2x3x3xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$diagonal_tensor,
                       Top_Free<OptionalAttr<I64Attr>, "diagonals outside hold nothing">:$diagonal,
                       Top_True:$upper);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_CenterCropPadOp : Top_ComputeOp<"CenterCropPad", [Top_MovesElements]> {
  let summary = "Crops or pads around the centre to a shape";
  let description = [{
    Each dimension of `axes` (without it: all) gets the extent in `shape`: from a larger one
    `(extent - wanted) / 2` elements (rounded down) are cut at the front, and the rest at the end;
    to a smaller one `(wanted - extent) / 2` zeros (rounded down) are added at the front, and the
    rest behind.

    Example:

    ```mlir
    %0 = "top.CenterCropPad"(%a, %none) {shape = [2, 5]} : (tensor<4x3xf32>, none) -> tensor<2x5xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$shape_tensor,
                       Top_Extents:$shape,
                       Top_AxisOf<OptionalAttr<I64ArrayAttr>, 0>:$axes);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

#endif // TPUC_DIALECT_TOP_MOVEMENTOPS
