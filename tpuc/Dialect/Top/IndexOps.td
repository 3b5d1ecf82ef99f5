//===- IndexOps.td - Gathering and scattering -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_INDEXOPS
#define TPUC_DIALECT_TOP_INDEXOPS

include "tpuc/Dialect/Top/TopBase.td"

def Top_GatherOp : Top_ComputeOp<"Gather"> {
  let summary = "Slices that indices name";
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$indices,
                       Top_DefaultI64<0>:$axis);
  let results = (outs AnyTensor:$output);
}

def Top_GatherElementsOp : Top_ComputeOp<"GatherElements"> {
  let summary = "Elements that indices along an axis name";
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$indices,
                       Top_DefaultI64<0>:$axis);
  let results = (outs AnyTensor:$output);
}

def Top_GatherNDOp : Top_ComputeOp<"GatherND"> {
  let summary = "Slices that tuples of indices name";
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$indices,
                       Top_DefaultI64<0>:$batch_dims);
  let results = (outs AnyTensor:$output);
}

def Top_ScatterElementsOp : Top_ComputeOp<"ScatterElements"> {
  let summary = "Writes elements where indices along an axis say";
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$indices,
                       AnyTensor:$updates,
                       Top_DefaultI64<0>:$axis,
                       DefaultValuedStrAttr<StrAttr, "none">:$reduction);
  let results = (outs AnyTensor:$output);
}

def Top_ScatterNDOp : Top_ComputeOp<"ScatterND"> {
  let summary = "Writes slices where tuples of indices say";
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$indices,
                       AnyTensor:$updates,
                       DefaultValuedStrAttr<StrAttr, "none">:$reduction);
  let results = (outs AnyTensor:$output);
}

def Top_OneHotOp : Top_ComputeOp<"OneHot"> {
  let summary = "Ones where indices say";
  let arguments = (ins AnyTensor:$indices,
                       AnyTensor:$depth,
                       AnyTensor:$values,
                       Top_DefaultI64<-1>:$axis);
  let results = (outs AnyTensor:$output);
}

def Top_CompressOp : Top_ComputeOp<"Compress"> {
  let summary = "Slices where a condition holds";
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$condition,
                       OptionalAttr<I64Attr>:$axis);
  let results = (outs AnyTensor:$output);
}

#endif // TPUC_DIALECT_TOP_INDEXOPS
