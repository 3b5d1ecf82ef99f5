//===- QuantizeOps.td - Quantized networks -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_QUANTIZEOPS
#define TPUC_DIALECT_TOP_QUANTIZEOPS

include "tpuc/Dialect/Top/TopBase.td"

def Top_QuantizeLinearOp : Top_ComputeOp<"QuantizeLinear",
    [Top_ComputesInF32, Top_ReadsElementTypes]> {
  let summary = "Floats as integers with a scale and a zero point";
  let description = [{
    `output = saturate(round(input / scale) + zero_point)`, ties to even; for 8-bit floats
    `input / scale` rounded, with what is too large the largest number if `saturate`. The element type
    is `to`, else that of `zero_point`, else ui8.
    `scale` and `zero_point` (0 if none) hold one element; or one for each position along `axis`; or,
    with `block_size`, one for each block of so many positions along `axis`, in the rank of `input`.

    Example:

    ```mlir
    %3 = "top.QuantizeLinear"(%0, %1, %2) {axis = 1} :
             (tensor<1x3x4xf32>, tensor<3xf32>, tensor<3xui8>) -> tensor<1x3x4xui8> loc("y")
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$scale,
                       Top_OptionalTensor:$zero_point,
                       Top_SomeAxis<Top_DefaultI64<1>>:$axis,
                       Top_AtLeast<Top_DefaultI64<0>, 0>:$block_size,
                       OptionalAttr<TypeAttr>:$to,
                       Top_True:$saturate);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_DequantizeLinearOp : Top_ComputeOp<"DequantizeLinear",
    [Top_ComputesInF32, Top_ReadsElementTypes]> {
  let summary = "Integers with a scale and a zero point as floats";
  let description = [{
    `output = (input - zero_point) * scale` in type `to`, else that of `scale`.
    `scale` and `zero_point` (0 if none) hold one element; or one for each position along `axis`; or,
    with `block_size`, one for each block of so many positions along `axis`, in the rank of `input`.

    Example:

    ```mlir
    %3 = "top.DequantizeLinear"(%0, %1, %2) {axis = 1} :
             (tensor<1x3x4xui8>, tensor<3xf32>, tensor<3xui8>) -> tensor<1x3x4xf32> loc("y")
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$scale,
                       Top_OptionalTensor:$zero_point,
                       Top_SomeAxis<Top_DefaultI64<1>>:$axis,
                       Top_AtLeast<Top_DefaultI64<0>, 0>:$block_size,
                       OptionalAttr<TypeAttr>:$to);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_DynamicQuantizeLinearOp : Top_ComputeOp<"DynamicQuantizeLinear",
    [Top_ComputesInF32, Top_ReadsElementTypes]> {
  let summary = "Floats as u8 with the scale and zero point of their range";
  let description = [{
    With `low = min(0, min input)` and `high = max(0, max input)`: `scale = (high - low) / 255` (1 if that
    is 0), `zero_point = saturate(round(-low / scale))`, `output = saturate(round(input / scale) +
    zero_point)`, ties to even, as ui8.

    Example:

    ```mlir
    %1, %2, %3 = "top.DynamicQuantizeLinear"(%0) :
             (tensor<2x3xf32>) -> (tensor<2x3xui8>, tensor<f32>, tensor<ui8>) loc("y")
    ```
  }];
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output, AnyTensor:$scale, AnyTensor:$zero_point);
}

def Top_DynamicQuantizeRowsOp : Top_ComputeOp<"DynamicQuantizeRows",
    [Top_ComputesInF32, Top_ReadsElementTypes]> {
  let summary = "Floats as i8 with the scale and zero point of the range of each row";
  let description = [{
    A row is what has the same place in the dimensions in front of `axis` (0 to the rank; 0: one row).
    `symmetric`: `scale = high / 127` with `high = max |input|`, `zero_point = 0`,
    `output = round(input * (127 / high))` from -127 to 127.
    Otherwise `low = min(0, min input)`, `high = max(0, max input)`, and in f64
    `scale = (high - low) / 255`; `zero_point = round(z)` from -128 to 127 with
    `z = -128 - low / scale` or `127 - high / scale`, whichever has the smaller
    `|bound| + |bound of the range / scale|`; `output = round(zero_point + input * (1 / scale))` from
    -128 to 127, in f32. Ties go away from zero. Where `high = low = 0`, all are 0 and the scale is 1.
    So have the hybrid kernels of LiteRT (`tensor_utils`) it.

    Results: i8 like `input`; `scale` (f32) and `zero_point` (i8) with 1 in place of the extents from
    `axis` on.

    Example:

    ```mlir
    %1, %2, %3 = "top.DynamicQuantizeRows"(%0) {axis = 1} :
             (tensor<2x3xf32>) -> (tensor<2x3xi8>, tensor<2x1xf32>, tensor<2x1xi8>) loc("y")
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_SomeAxis<Top_DefaultI64<1>>:$axis,
                       Top_True:$symmetric);
  let results = (outs AnyTensor:$output, AnyTensor:$scale, AnyTensor:$zero_point);
}

def Top_QLinearConvOp : Top_ComputeOp<"QLinearConv", [Top_ComputesInF32, Top_ReadsElementTypes]> {
  let summary = "Convolution of quantized tensors";
  let description = [{
    `output = saturate(round(sums * input_scale * filter_scale / output_scale) + output_zero_point)`,
    ties to even, where `sums` is the convolution of `input - input_zero_point` with `filter -
    filter_zero_point` plus `bias`, in i32. `filter_scale` and `filter_zero_point` hold one element or
    one per output channel. Window attributes as in `top.Conv`.

    Example:

    ```mlir
    %9 = "top.QLinearConv"(%0, %1, %2, %3, %4, %5, %6, %7, %8) {kernel_shape = [3, 3]} :
             (tensor<1x3x8x8xui8>, tensor<f32>, tensor<ui8>, tensor<4x3x3x3xi8>, tensor<4xf32>,
              tensor<4xi8>, tensor<f32>, tensor<ui8>, none) -> tensor<1x4x6x6xui8> loc("y")
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$input_scale,
                       AnyTensor:$input_zero_point,
                       AnyTensor:$filter,
                       AnyTensor:$filter_scale,
                       AnyTensor:$filter_zero_point,
                       AnyTensor:$output_scale,
                       AnyTensor:$output_zero_point,
                       Top_OptionalTensor:$bias,
                       Top_KernelShape:$kernel_shape,
                       Top_Strides:$strides,
                       Top_Pads:$pads,
                       Top_Group:$group,
                       Top_Dilations:$dilations,
                       DefaultValuedStrAttr<StrAttr, "NOTSET">:$auto_pad);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_QLinearMatMulOp : Top_ComputeOp<"QLinearMatMul",
    [Top_ComputesInF32, Top_ReadsElementTypes]> {
  let summary = "Matrix product of quantized tensors";
  let description = [{
    `output = saturate(round(sums * a_scale * b_scale / output_scale) + output_zero_point)`, ties to
    even, where `sums` is the matrix product of `a - a_zero_point` and `b - b_zero_point` in i32, with
    numpy's rules for ranks. The scale and zero point of `a` hold one element or one per row, those of
    `b` one or one per column; those of the output one.

    Example:

    ```mlir
    %8 = "top.QLinearMatMul"(%0, %1, %2, %3, %4, %5, %6, %7) :
             (tensor<2x4xui8>, tensor<f32>, tensor<ui8>, tensor<4x3xui8>, tensor<f32>, tensor<ui8>,
              tensor<f32>, tensor<ui8>) -> tensor<2x3xui8> loc("y")
    ```
  }];
  let arguments = (ins AnyTensor:$a,
                       AnyTensor:$a_scale,
                       AnyTensor:$a_zero_point,
                       AnyTensor:$b,
                       AnyTensor:$b_scale,
                       AnyTensor:$b_zero_point,
                       AnyTensor:$output_scale,
                       AnyTensor:$output_zero_point);
  let results = (outs AnyTensor:$output);
}

def Top_ConvIntegerOp : Top_ComputeOp<"ConvInteger"> {
  let summary = "Convolution of integers into i32";
  let description = [{
    The convolution of `input - input_zero_point` with `filter - filter_zero_point` as i32, modulo
    2^32; zero points of type none are 0. That of the filter holds one element or one per output
    channel. Window attributes as in `top.Conv`.

    Example:

    ```mlir
    %4 = "top.ConvInteger"(%0, %1, %2, %3) {kernel_shape = [3, 3]} :
             (tensor<1x3x8x8xui8>, tensor<4x3x3x3xui8>, tensor<ui8>, none) -> tensor<1x4x6x6xi32> loc("y")
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$filter,
                       Top_OptionalTensor:$input_zero_point,
                       Top_OptionalTensor:$filter_zero_point,
                       Top_KernelShape:$kernel_shape,
                       Top_Strides:$strides,
                       Top_Pads:$pads,
                       Top_Group:$group,
                       Top_Dilations:$dilations,
                       DefaultValuedStrAttr<StrAttr, "NOTSET">:$auto_pad);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_MatMulIntegerOp : Top_ComputeOp<"MatMulInteger"> {
  let summary = "Matrix product of integers into i32";
  let description = [{
    The matrix product of `a - a_zero_point` and `b - b_zero_point` as i32, modulo 2^32, with numpy's
    rules for ranks; zero points of type none are 0. That of `a` holds one element or one per row, that
    of `b` one or one per column.

    Example:

    ```mlir
    %4 = "top.MatMulInteger"(%0, %1, %2, %3) :
             (tensor<2x4xui8>, tensor<4x3xui8>, tensor<ui8>, none) -> tensor<2x3xi32> loc("y")
    ```
  }];
  let arguments = (ins AnyTensor:$a,
                       AnyTensor:$b,
                       Top_OptionalTensor:$a_zero_point,
                       Top_OptionalTensor:$b_zero_point);
  let results = (outs AnyTensor:$output);
}

#endif // TPUC_DIALECT_TOP_QUANTIZEOPS
