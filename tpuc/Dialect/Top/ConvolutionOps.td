//===- ConvolutionOps.td - Convolutions -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_CONVOLUTIONOPS
#define TPUC_DIALECT_TOP_CONVOLUTIONOPS

include "tpuc/Dialect/Top/TopBase.td"

def Top_ConvOp : Top_ComputeOp<"Conv", [Top_Product, Top_ComputesIntegers]> {
  let summary = "Convolution over 1, 2 or 3 spatial dimensions";
  let description = [{
    `input` is [N, C, spatial...], `filter` [M, C/group, kernel...], `bias` [M]:

        output[n, m, o] = bias[m] + sum over c, k of filter[m, c, k]
                          * input[n, g * C/group + c, o * stride + k * dilation - pad]

    where g is the group of m and elements outside of the input are `pad_value`, or 0 without one. A
    `pad_value` needs floats over 2 dimensions. `pad_values` are numbers outside by the input's
    channels, in its place. `pads` holds the beginnings of all
    spatial dimensions, then the ends. `auto_pad` SAME_UPPER and SAME_LOWER ask for
    ceil(input / stride) elements with the odd element of padding behind or in front; shape
    inference replaces it by `pads` once the extents are known. `inserts` puts as many zeros between
    neighbours of the input first. With `do_relu` the result is max(result, 0), and at most
    `relu_limit` unless that is negative.

    Example:

    ```mlir
    %1 = "top.Conv"(%input, %filter, %bias) {kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1], do_relu = true} : (tensor<1x3x224x224xf32>, tensor<32x3x3x3xf32>, tensor<32xf32>) -> tensor<1x32x112x112xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$filter,
                       Top_OptionalTensor:$bias,
                       Top_KernelShape:$kernel_shape,
                       Top_Strides:$strides,
                       Top_Pads:$pads,
                       OptionalAttr<F64Attr>:$pad_value,
                       OptionalAttr<F64ArrayAttr>:$pad_values,
                       Top_Group:$group,
                       Top_Dilations:$dilations,
                       Top_Inserts:$inserts,
                       DefaultValuedStrAttr<StrAttr, "NOTSET">:$auto_pad,
                       Top_False:$do_relu,
                       Top_ReluLimit:$relu_limit);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_DeconvOp : Top_ComputeOp<"Deconv", [Top_Product, Top_ComputesIntegers]> {
  let summary = "Transposed convolution over 1, 2 or 3 spatial dimensions";
  let description = [{
    `input` is [N, C, spatial...], `filter` [C, M/group, kernel...] as in ONNX, `bias` [M]. Each
    input[n, c, i] * filter[c, m, k] is added to output[n, g * M/group + m, i * stride + k *
    dilation - pad], and the bias to all. The extents are

        stride * (input - 1) + output_padding + (kernel - 1) * dilation + 1 - both pads

    unless `output_shape` (the spatial extents) states them, or `auto_pad` asks for at most
    input * stride; the pads follow from these then, with the odd element in front unless `auto_pad`
    is SAME_UPPER. They are negative at the end where the stated output is larger than what the
    windows reach. With `do_relu` the result is max(result, 0), and at most `relu_limit` unless that is negative.

    Example:

    ```mlir
    %1 = "top.Deconv"(%input, %filter, %none) {kernel_shape = [2, 2], strides = [2, 2]} : (tensor<1x8x5x5xf32>, tensor<8x4x2x2xf32>, none) -> tensor<1x4x10x10xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$filter,
                       Top_OptionalTensor:$bias,
                       Top_KernelShape:$kernel_shape,
                       Top_Strides:$strides,
                       Top_SignedPads:$pads,
                       Top_Pads:$output_padding,
                       Top_Extents:$output_shape,
                       Top_Group:$group,
                       Top_Dilations:$dilations,
                       Top_Inserts:$inserts,
                       DefaultValuedStrAttr<StrAttr, "NOTSET">:$auto_pad,
                       Top_False:$do_relu,
                       Top_ReluLimit:$relu_limit);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_DeformConv2DOp : Top_ComputeOp<"DeformConv2D", [Top_ComputesInF32]> {
  let summary = "Convolution whose taps are moved by learned offsets";
  let description = [{
    A convolution of [N, C, H, W] whose tap k at output o reads the bilinear interpolation of the
    input at o * stride + k * dilation - pad + offset, times `mask`. `offset` is [N, offset_group *
    kH * kW * 2, oH, oW] with y before x, `mask` [N, offset_group * kH * kW, oH, oW]; each offset
    group serves C/offset_group channels. Outside of the input is 0.

    Example:

    ```mlir
    %1 = "top.DeformConv2D"(%input, %filter, %offset, %none, %none) {kernel_shape = [2, 2]} : (tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>, tensor<1x8x2x2xf32>, none, none) -> tensor<1x1x2x2xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$filter,
                       AnyTensor:$offset,
                       Top_OptionalTensor:$bias,
                       Top_OptionalTensor:$mask,
                       Top_KernelShape:$kernel_shape,
                       Top_Strides:$strides,
                       Top_Pads:$pads,
                       Top_Group:$group,
                       Top_Group:$offset_group,
                       Top_Dilations:$dilations);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_Col2ImOp : Top_ComputeOp<"Col2Im"> {
  let summary = "Sums columns of blocks back into an image";
  let description = [{
    `input` is [N, C * product(block_shape), L]: column l holds the block that a window would take
    at its l-th position over the image. All columns are added to where they were taken; the result
    is [N, C, image_shape...].

    Example:

    ```mlir
    %1 = "top.Col2Im"(%input, %image, %block) : (tensor<1x5x5xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<1x1x5x5xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$image_shape,
                       AnyTensor:$block_shape,
                       Top_Strides:$strides,
                       Top_Pads:$pads,
                       Top_Dilations:$dilations);
  let results = (outs AnyTensor:$output);
}

#endif // TPUC_DIALECT_TOP_CONVOLUTIONOPS
