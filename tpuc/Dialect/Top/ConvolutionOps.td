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

def Top_ConvOp : Top_ComputeOp<"Conv"> {
  let summary = "Convolution over 1, 2 or 3 spatial dimensions";
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$filter,
                       Top_OptionalTensor:$bias,
                       I64ArrayAttr:$kernel_shape,
                       OptionalAttr<I64ArrayAttr>:$strides,
                       OptionalAttr<I64ArrayAttr>:$pads,
                       Top_DefaultI64<1>:$group,
                       OptionalAttr<I64ArrayAttr>:$dilations,
                       OptionalAttr<I64ArrayAttr>:$inserts,
                       DefaultValuedStrAttr<StrAttr, "NOTSET">:$auto_pad,
                       Top_False:$do_relu,
                       Top_ReluLimit:$relu_limit);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_DeconvOp : Top_ComputeOp<"Deconv"> {
  let summary = "Transposed convolution over 1, 2 or 3 spatial dimensions";
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$filter,
                       Top_OptionalTensor:$bias,
                       I64ArrayAttr:$kernel_shape,
                       OptionalAttr<I64ArrayAttr>:$strides,
                       OptionalAttr<I64ArrayAttr>:$pads,
                       OptionalAttr<I64ArrayAttr>:$output_padding,
                       OptionalAttr<I64ArrayAttr>:$output_shape,
                       Top_DefaultI64<1>:$group,
                       OptionalAttr<I64ArrayAttr>:$dilations,
                       OptionalAttr<I64ArrayAttr>:$inserts,
                       DefaultValuedStrAttr<StrAttr, "NOTSET">:$auto_pad,
                       Top_False:$do_relu,
                       Top_ReluLimit:$relu_limit);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_DeformConv2DOp : Top_ComputeOp<"DeformConv2D"> {
  let summary = "Convolution whose taps are moved by learned offsets";
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$filter,
                       AnyTensor:$offset,
                       Top_OptionalTensor:$bias,
                       Top_OptionalTensor:$mask,
                       I64ArrayAttr:$kernel_shape,
                       OptionalAttr<I64ArrayAttr>:$strides,
                       OptionalAttr<I64ArrayAttr>:$pads,
                       Top_DefaultI64<1>:$group,
                       Top_DefaultI64<1>:$offset_group,
                       OptionalAttr<I64ArrayAttr>:$dilations);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_Col2ImOp : Top_ComputeOp<"Col2Im"> {
  let summary = "Sums columns of blocks back into an image";
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$image_shape,
                       AnyTensor:$block_shape,
                       OptionalAttr<I64ArrayAttr>:$strides,
                       OptionalAttr<I64ArrayAttr>:$pads,
                       OptionalAttr<I64ArrayAttr>:$dilations);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

#endif // TPUC_DIALECT_TOP_CONVOLUTIONOPS
