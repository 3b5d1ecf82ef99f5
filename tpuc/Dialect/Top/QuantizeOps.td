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

def Top_QuantizeLinearOp : Top_ComputeOp<"QuantizeLinear"> {
  let summary = "Floats as integers with a scale and a zero point";
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$scale,
                       Top_OptionalTensor:$zero_point,
                       Top_DefaultI64<1>:$axis,
                       Top_DefaultI64<0>:$block_size,
                       OptionalAttr<TypeAttr>:$to,
                       Top_True:$saturate);
  let results = (outs AnyTensor:$output);
}

def Top_DequantizeLinearOp : Top_ComputeOp<"DequantizeLinear"> {
  let summary = "Integers with a scale and a zero point as floats";
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$scale,
                       Top_OptionalTensor:$zero_point,
                       Top_DefaultI64<1>:$axis,
                       Top_DefaultI64<0>:$block_size);
  let results = (outs AnyTensor:$output);
}

def Top_DynamicQuantizeLinearOp : Top_ComputeOp<"DynamicQuantizeLinear"> {
  let summary = "Floats as u8 with the scale and zero point of their range";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output, AnyTensor:$scale, AnyTensor:$zero_point);
}

def Top_QLinearConvOp : Top_ComputeOp<"QLinearConv"> {
  let summary = "Convolution of quantized tensors";
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$input_scale,
                       AnyTensor:$input_zero_point,
                       AnyTensor:$filter,
                       AnyTensor:$filter_scale,
                       AnyTensor:$filter_zero_point,
                       AnyTensor:$output_scale,
                       AnyTensor:$output_zero_point,
                       Top_OptionalTensor:$bias,
                       I64ArrayAttr:$kernel_shape,
                       OptionalAttr<I64ArrayAttr>:$strides,
                       OptionalAttr<I64ArrayAttr>:$pads,
                       Top_DefaultI64<1>:$group,
                       OptionalAttr<I64ArrayAttr>:$dilations,
                       DefaultValuedStrAttr<StrAttr, "NOTSET">:$auto_pad);
  let results = (outs AnyTensor:$output);
}

def Top_QLinearMatMulOp : Top_ComputeOp<"QLinearMatMul"> {
  let summary = "Matrix product of quantized tensors";
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
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$filter,
                       Top_OptionalTensor:$input_zero_point,
                       Top_OptionalTensor:$filter_zero_point,
                       I64ArrayAttr:$kernel_shape,
                       OptionalAttr<I64ArrayAttr>:$strides,
                       OptionalAttr<I64ArrayAttr>:$pads,
                       Top_DefaultI64<1>:$group,
                       OptionalAttr<I64ArrayAttr>:$dilations,
                       DefaultValuedStrAttr<StrAttr, "NOTSET">:$auto_pad);
  let results = (outs AnyTensor:$output);
}

def Top_MatMulIntegerOp : Top_ComputeOp<"MatMulInteger"> {
  let summary = "Matrix product of integers into i32";
  let arguments = (ins AnyTensor:$a,
                       AnyTensor:$b,
                       Top_OptionalTensor:$a_zero_point,
                       Top_OptionalTensor:$b_zero_point);
  let results = (outs AnyTensor:$output);
}

#endif // TPUC_DIALECT_TOP_QUANTIZEOPS
