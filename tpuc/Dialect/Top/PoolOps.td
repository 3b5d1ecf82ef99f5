//===- PoolOps.td - Pooling -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_POOLOPS
#define TPUC_DIALECT_TOP_POOLOPS

include "tpuc/Dialect/Top/TopBase.td"

def Top_AvgPoolOp : Top_ComputeOp<"AvgPool", [Top_KeepsSign, Top_ComputesIntegers]> {
  let summary = "Average over windows";
  let description = [{
    The average of the elements of `input` ([N, C, spatial...]) under each window; with
    `count_include_pad` the padding counts too, each element of it as `pad_value`. Pads and
    `auto_pad` are as in Conv. `ceil_mode` rounds the number of positions up, but leaves out windows
    that would start behind the input and its beginning pad. With `do_relu` the result is
    max(result, 0), and at most `relu_limit` unless that is negative.

    Example:

    ```mlir
    %1 = "top.AvgPool"(%0) {kernel_shape = [2, 2], strides = [2, 2]} : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_KernelShape:$kernel_shape,
                       Top_Strides:$strides,
                       Top_Pads:$pads,
                       Top_Dilations:$dilations,
                       Top_False:$ceil_mode,
                       DefaultValuedStrAttr<StrAttr, "NOTSET">:$auto_pad,
                       Top_I32<Top_DefaultI64<0>>:$pad_value,
                       Top_False:$count_include_pad,
                       Top_False:$do_relu,
                       Top_ReluLimit:$relu_limit);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_MaxPoolOp : Top_ComputeOp<"MaxPool", [Top_KeepsSign, Top_ComputesIntegers]> {
  let summary = "Maximum over windows";
  let description = [{
    The maximum of the elements of `input` ([N, C, spatial...]) under each window; the padding never
    wins, whatever `pad_value` says. Pads and `auto_pad` are as in Conv. `ceil_mode` rounds the
    number of positions up, but leaves out windows that would start behind the input and its
    beginning pad. With `do_relu` the result is max(result, 0), and at most `relu_limit` unless that
    is negative.

    Example:

    ```mlir
    %1 = "top.MaxPool"(%0) {kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]} : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_KernelShape:$kernel_shape,
                       Top_Strides:$strides,
                       Top_Pads:$pads,
                       Top_Dilations:$dilations,
                       Top_False:$ceil_mode,
                       DefaultValuedStrAttr<StrAttr, "NOTSET">:$auto_pad,
                       Top_I32<Top_DefaultI64<0>>:$pad_value,
                       Top_False:$count_include_pad,
                       Top_False:$do_relu,
                       Top_ReluLimit:$relu_limit);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_MaxPoolWithMaskOp : Top_ComputeOp<"MaxPoolWithMask", [Top_MovesElements]> {
  let summary = "Maximum over windows, and where in the whole tensor it was found";
  let description = [{
    As MaxPool; `mask` (i64) holds the index of the first maximum in the whole flattened input, with
    `storage_order` 1 counted first to last over the spatial dimensions instead of last to first.

    Example:

    ```mlir
    %1, %2 = "top.MaxPoolWithMask"(%0) {kernel_shape = [2, 2], strides = [2, 2]} : (tensor<1x1x4x4xf32>) -> (tensor<1x1x2x2xf32>, tensor<1x1x2x2xi64>)
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_KernelShape:$kernel_shape,
                       Top_Strides:$strides,
                       Top_Pads:$pads,
                       Top_Dilations:$dilations,
                       Top_False:$ceil_mode,
                       DefaultValuedStrAttr<StrAttr, "NOTSET">:$auto_pad,
                       Top_Between<Top_DefaultI64<0>, 0, 1>:$storage_order);
  let results = (outs AnyTensor:$output, AnyTensor:$mask);
  let hasVerifier = 1;
}

def Top_MaxUnpoolOp : Top_ComputeOp<"MaxUnpool", [Top_MovesElements]> {
  let summary = "Puts maxima back where they were found";
  let description = [{
    Zeros, but the elements of `input` where `mask` (as MaxPoolWithMask makes it) says. The extents
    are (input - 1) * stride + kernel - both pads unless `output_shape` (all of them) states larger
    ones; the indices count in the former.

    Example:

    ```mlir
    %1 = "top.MaxUnpool"(%0, %mask, %none) {kernel_shape = [2, 2], strides = [2, 2]} : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xi64>, none) -> tensor<1x1x4x4xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$mask,
                       Top_OptionalTensor:$output_shape,
                       Top_KernelShape:$kernel_shape,
                       Top_Strides:$strides,
                       Top_Pads:$pads);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_LpPoolOp : Top_ComputeOp<"LpPool"> {
  let summary = "The p-norm over windows";
  let description = [{
    (sum of |x|^p)^(1/p) over the elements of `input` ([N, C, spatial...]) under each window. Pads
    and `auto_pad` are as in Conv. `ceil_mode` rounds the number of positions up, but leaves out
    windows that would start behind the input and its beginning pad.

    Example:

    ```mlir
    %1 = "top.LpPool"(%0) {kernel_shape = [2, 2], p = 2 : i64} : (tensor<1x3x8x8xf32>) -> tensor<1x3x7x7xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_KernelShape:$kernel_shape,
                       Top_Strides:$strides,
                       Top_Pads:$pads,
                       Top_Dilations:$dilations,
                       Top_False:$ceil_mode,
                       DefaultValuedStrAttr<StrAttr, "NOTSET">:$auto_pad,
                       Top_AtLeast<Top_DefaultI64<2>, 1>:$p);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_RoiAlignOp : Top_ComputeOp<"RoiAlign", [Top_ComputesInF32]> {
  let summary = "Pools regions of interest with bilinear samples";
  let description = [{
    Divides each region (`rois`: [R, 4], x1 y1 x2 y2, times `spatial_scale`) of image
    `batch_indices[r]` of `input` into `output_height` by `output_width` bins and takes the average
    of `sampling_ratio` squared bilinear samples of each bin (0: as many along an axis as the bin
    has pixels, rounded up). In `mode` Max it takes the largest weighted neighbour of all samples,
    as ONNX defines it. With `align_corners` regions are moved by half a pixel (ONNX's half_pixel),
    without it they are at least one pixel large.

    Example:

    ```mlir
    %1 = "top.RoiAlign"(%0, %rois, %batches) {output_height = 5 : i64, output_width = 5 : i64, sampling_ratio = 2 : i64} : (tensor<1x1x10x10xf32>, tensor<3x4xf32>, tensor<3xi64>) -> tensor<3x1x5x5xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$rois,
                       AnyTensor:$batch_indices,
                       DefaultValuedStrAttr<StrAttr, "Avg">:$mode,
                       Top_AtLeast<Top_DefaultI64<1>, 1>:$output_height,
                       Top_AtLeast<Top_DefaultI64<1>, 1>:$output_width,
                       Top_Between<Top_DefaultI64<0>, 0, 1024>:$sampling_ratio,
                       Top_DefaultF64<"1.0">:$spatial_scale,
                       Top_True:$align_corners);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

#endif // TPUC_DIALECT_TOP_POOLOPS
