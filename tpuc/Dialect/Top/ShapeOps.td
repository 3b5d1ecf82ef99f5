//===- ShapeOps.td - Shapes as values -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_SHAPEOPS
#define TPUC_DIALECT_TOP_SHAPEOPS

include "tpuc/Dialect/Top/TopBase.td"

def Top_ShapeOp : Top_ComputeOp<"Shape"> {
  let summary = "The shape of a tensor";
  let arguments = (ins AnyTensor:$input,
                       Top_DefaultI64<0>:$start,
                       OptionalAttr<I64Attr>:$end);
  let results = (outs AnyTensor:$output);
}

def Top_SizeOp : Top_ComputeOp<"Size"> {
  let summary = "The number of elements of a tensor";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_ConstantFillOp : Top_ComputeOp<"ConstantFill"> {
  let summary = "A tensor of one value";
  let arguments = (ins Top_OptionalTensor:$shape_tensor,
                       OptionalAttr<I64ArrayAttr>:$shape,
                       TypedAttrInterface:$value);
  let results = (outs AnyTensor:$output);
}

def Top_RangeOp : Top_ComputeOp<"Range"> {
  let summary = "Numbers from start to limit by delta";
  let arguments = (ins AnyTensor:$start,
                       AnyTensor:$limit,
                       AnyTensor:$delta);
  let results = (outs AnyTensor:$output);
}

def Top_EyeLikeOp : Top_ComputeOp<"EyeLike"> {
  let summary = "Ones on a diagonal, in the shape of a tensor";
  let arguments = (ins AnyTensor:$input,
                       Top_DefaultI64<0>:$k,
                       OptionalAttr<TypeAttr>:$to);
  let results = (outs AnyTensor:$output);
}

#endif // TPUC_DIALECT_TOP_SHAPEOPS
