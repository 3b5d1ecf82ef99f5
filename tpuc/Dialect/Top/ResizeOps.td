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

def Top_InterpOp : Top_ComputeOp<"Interp"> {
  let summary = "Resamples to another size";
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
                       OptionalAttr<I64ArrayAttr>:$axes,
                       OptionalAttr<F64ArrayAttr>:$scales,
                       OptionalAttr<I64ArrayAttr>:$sizes);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_UpsampleOp : Top_ComputeOp<"Upsample"> {
  let summary = "Repeats each pixel";
  let arguments = (ins AnyTensor:$input,
                       I64Attr:$scale_h,
                       I64Attr:$scale_w,
                       Top_False:$do_relu,
                       Top_ReluLimit:$relu_limit);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_GridSamplerOp : Top_ComputeOp<"GridSampler"> {
  let summary = "Samples where a grid says";
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$grid,
                       DefaultValuedStrAttr<StrAttr, "linear">:$mode,
                       DefaultValuedStrAttr<StrAttr, "zeros">:$padding_mode,
                       Top_False:$align_corners);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_AffineGridOp : Top_ComputeOp<"AffineGrid"> {
  let summary = "A sampling grid from affine maps";
  let arguments = (ins AnyTensor:$theta,
                       AnyTensor:$size,
                       Top_False:$align_corners);
  let results = (outs AnyTensor:$output);
}

#endif // TPUC_DIALECT_TOP_RESIZEOPS
