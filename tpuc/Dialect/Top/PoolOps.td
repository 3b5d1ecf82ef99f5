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

def Top_AvgPoolOp : Top_ComputeOp<"AvgPool"> {
  let summary = "Average over windows";
  let arguments = (ins AnyTensor:$input,
                       I64ArrayAttr:$kernel_shape,
                       OptionalAttr<I64ArrayAttr>:$strides,
                       OptionalAttr<I64ArrayAttr>:$pads,
                       OptionalAttr<I64ArrayAttr>:$dilations,
                       Top_False:$ceil_mode,
                       DefaultValuedStrAttr<StrAttr, "NOTSET">:$auto_pad,
                       Top_DefaultI64<0>:$pad_value,
                       Top_False:$count_include_pad,
                       Top_False:$do_relu,
                       Top_ReluLimit:$relu_limit);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_MaxPoolOp : Top_ComputeOp<"MaxPool"> {
  let summary = "Maximum over windows";
  let arguments = (ins AnyTensor:$input,
                       I64ArrayAttr:$kernel_shape,
                       OptionalAttr<I64ArrayAttr>:$strides,
                       OptionalAttr<I64ArrayAttr>:$pads,
                       OptionalAttr<I64ArrayAttr>:$dilations,
                       Top_False:$ceil_mode,
                       DefaultValuedStrAttr<StrAttr, "NOTSET">:$auto_pad,
                       Top_DefaultI64<0>:$pad_value,
                       Top_False:$count_include_pad,
                       Top_False:$do_relu,
                       Top_ReluLimit:$relu_limit);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_MaxPoolWithMaskOp : Top_ComputeOp<"MaxPoolWithMask"> {
  let summary = "Maximum over windows, and where in the whole tensor it was found";
  let arguments = (ins AnyTensor:$input,
                       I64ArrayAttr:$kernel_shape,
                       OptionalAttr<I64ArrayAttr>:$strides,
                       OptionalAttr<I64ArrayAttr>:$pads,
                       OptionalAttr<I64ArrayAttr>:$dilations,
                       Top_False:$ceil_mode,
                       DefaultValuedStrAttr<StrAttr, "NOTSET">:$auto_pad,
                       Top_DefaultI64<0>:$storage_order);
  let results = (outs AnyTensor:$output, AnyTensor:$mask);
  let hasVerifier = 1;
}

def Top_MaxUnpoolOp : Top_ComputeOp<"MaxUnpool"> {
  let summary = "Puts maxima back where they were found";
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$mask,
                       Top_OptionalTensor:$output_shape,
                       I64ArrayAttr:$kernel_shape,
                       OptionalAttr<I64ArrayAttr>:$strides,
                       OptionalAttr<I64ArrayAttr>:$pads);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_LpPoolOp : Top_ComputeOp<"LpPool"> {
  let summary = "The p-norm over windows";
  let arguments = (ins AnyTensor:$input,
                       I64ArrayAttr:$kernel_shape,
                       OptionalAttr<I64ArrayAttr>:$strides,
                       OptionalAttr<I64ArrayAttr>:$pads,
                       OptionalAttr<I64ArrayAttr>:$dilations,
                       Top_False:$ceil_mode,
                       DefaultValuedStrAttr<StrAttr, "NOTSET">:$auto_pad,
                       Top_DefaultI64<2>:$p);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_RoiAlignOp : Top_ComputeOp<"RoiAlign"> {
  let summary = "Pools regions of interest with bilinear samples";
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$rois,
                       AnyTensor:$batch_indices,
                       DefaultValuedStrAttr<StrAttr, "Avg">:$mode,
                       Top_DefaultI64<1>:$output_height,
                       Top_DefaultI64<1>:$output_width,
                       Top_DefaultI64<0>:$sampling_ratio,
                       Top_DefaultF64<"1.0">:$spatial_scale,
                       Top_True:$align_corners);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

#endif // TPUC_DIALECT_TOP_POOLOPS
