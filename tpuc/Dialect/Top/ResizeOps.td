//===- ResizeOps.td - Resampling -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_RESIZEOPS
#define TPUC_DIALECT_TOP_RESIZEOPS

include "tpuc/Dialect/Top/TopBase.td"

def Top_InterpOp : Top_ComputeOp<"Interp", [Top_KeepsSign, Top_ComputesIntegers]> {
  let summary = "Resamples to another size";
  let description = [{
    Resamples along `axes` (all unless stated) to floor(input * scale) for `scales`, or to `sizes`;
    at most one of both is given, as attribute or tensor. With `keep_aspect_ratio_policy` not_larger
    or not_smaller all axes take the smallest or largest scale that the sizes ask for.

    Output position x of an axis stands for the input point

    | coord_mode | point |
    | --- | --- |
    | half_pixel | (x + 1/2) / scale - 1/2 |
    | half_pixel_symmetric | the same, moved so that the centres meet where the output was rounded |
    | pytorch_half_pixel | half_pixel, but -1/2 for an output of 1 |
    | align_corners | x * (input - 1) / (output - 1) |
    | asymmetric | x / scale |
    | tf_crop_and_resize | align_corners within the region `roi` (begins, then ends, as fractions of input - 1); outside of the input the result is `extrapolation_value` |

    where output is input * scale before rounding. `mode` nearest takes the element that
    `nearest_mode` rounds the point to, linear weighs two neighbours, cubic four with Keys' kernel
    of parameter `cubic_coeff_a`. With `antialias` the kernel is 1/scale as wide where scale < 1.
    Elements outside of the input repeat the edge, with `exclude_outside` they weigh nothing.

    Example:

    ```mlir
    %1 = "top.Interp"(%0, %none, %none, %none) {mode = "linear", scales = [1.0, 1.0, 2.0, 2.0]} : (tensor<1x3x8x8xf32>, none, none, none) -> tensor<1x3x16x16xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$roi,
                       Top_OptionalTensor:$scales_tensor,
                       Top_OptionalTensor:$sizes_tensor,
                       StrAttr:$mode,
                       DefaultValuedStrAttr<StrAttr, "half_pixel">:$coord_mode,
                       DefaultValuedStrAttr<StrAttr, "round_prefer_floor">:$nearest_mode,
                       Top_DefaultF64<"-0.75">:$cubic_coeff_a,
                       Top_False:$exclude_outside,
                       Top_DefaultF64<"0.0">:$extrapolation_value,
                       Top_False:$antialias,
                       DefaultValuedStrAttr<StrAttr, "stretch">:$keep_aspect_ratio_policy,
                       Top_AxisOf<OptionalAttr<I64ArrayAttr>, 0>:$axes,
                       OptionalAttr<F64ArrayAttr>:$scales,
                       Top_Extents:$sizes);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_UpsampleOp : Top_ComputeOp<"Upsample", [Top_KeepsSign, Top_ComputesIntegers]> {
  let summary = "Repeats each pixel";
  let description = [{
    Repeats each pixel of [N, C, H, W] `scale_h` times `scale_w` times. With `do_relu` the result is
    max(result, 0), and at most `relu_limit` unless that is negative.

    Example:

    ```mlir
    %1 = "top.Upsample"(%0) {scale_h = 2 : i64, scale_w = 2 : i64} : (tensor<1x3x8x8xf32>) -> tensor<1x3x16x16xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_AtLeast<I64Attr, 1>:$scale_h,
                       Top_AtLeast<I64Attr, 1>:$scale_w,
                       Top_False:$do_relu,
                       Top_ReluLimit:$relu_limit);
  let results = (outs AnyTensor:$output);
}

def Top_GridSamplerOp : Top_ComputeOp<"GridSampler", [Top_ComputesInF32]> {
  let summary = "Samples where a grid says";
  let description = [{
    output[n, c, o] is `input` [N, C, spatial...] at the point grid[n, o], whose coordinates come
    last axis first. -1 and 1 are the centres of the outermost pixels with `align_corners`, their
    outer edges without. `mode` is nearest (ties to even), linear (bilinear) or cubic (bicubic,
    parameter -0.75); `padding_mode` says what lies outside: zeros, the border, or its reflection.

    Example:

    ```mlir
    %1 = "top.GridSampler"(%0, %grid) {mode = "linear", padding_mode = "border"} : (tensor<1x3x8x8xf32>, tensor<1x4x4x2xf32>) -> tensor<1x3x4x4xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$grid,
                       DefaultValuedStrAttr<StrAttr, "linear">:$mode,
                       DefaultValuedStrAttr<StrAttr, "zeros">:$padding_mode,
                       Top_False:$align_corners);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_AffineGridOp : Top_ComputeOp<"AffineGrid", [Top_ComputesInF32]> {
  let summary = "A sampling grid from affine maps";
  let description = [{
    The grid for GridSampler that samples an output of `size` ([N, C, spatial...]) through the
    affine maps `theta` ([N, d, d+1]): grid[n, o] = theta[n] * (o in homogeneous coordinates, last
    axis first).

    Example:

    ```mlir
    %1 = "top.AffineGrid"(%theta, %size) : (tensor<1x2x3xf32>, tensor<4xi64>) -> tensor<1x5x6x2xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$theta,
                       AnyTensor:$size,
                       Top_False:$align_corners);
  let results = (outs AnyTensor:$output);
}

#endif // TPUC_DIALECT_TOP_RESIZEOPS
