//===- ReduceOps.td - Reductions, searches -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_REDUCEOPS
#define TPUC_DIALECT_TOP_REDUCEOPS

include "tpuc/Dialect/Top/TopBase.td"

def Top_ReduceOp : Top_ComputeOp<"Reduce"> {
  let summary = "Reduces dimensions";
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$axes_tensor,
                       OptionalAttr<I64ArrayAttr>:$axes,
                       Top_True:$keepdims,
                       StrAttr:$mode,
                       Top_False:$noop_with_empty_axes);
  let results = (outs AnyTensor:$output);
}

def Top_ArgOp : Top_ComputeOp<"Arg"> {
  let summary = "Where the largest or smallest element along an axis is";
  let arguments = (ins AnyTensor:$input,
                       I64Attr:$axis,
                       Top_True:$keepdims,
                       StrAttr:$mode,
                       Top_False:$select_last_index);
  let results = (outs AnyTensor:$indices, Top_OptionalTensor:$values);
}

def Top_TopKOp : Top_ComputeOp<"TopK"> {
  let summary = "The k largest or smallest elements along an axis";
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$k_tensor,
                       Top_DefaultI64<-1>:$axis,
                       OptionalAttr<I64Attr>:$k,
                       Top_True:$largest,
                       Top_True:$sorted);
  let results = (outs AnyTensor:$values, AnyTensor:$indices);
}

def Top_CumSumOp : Top_ComputeOp<"CumSum"> {
  let summary = "Running sum along an axis";
  let arguments = (ins AnyTensor:$input,
                       Top_OptionalTensor:$axis_tensor,
                       OptionalAttr<I64Attr>:$axis,
                       Top_False:$exclusive,
                       Top_False:$reverse);
  let results = (outs AnyTensor:$output);
}

def Top_NonZeroOp : Top_ComputeOp<"NonZero"> {
  let summary = "The coordinates of elements that are not zero";
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_UniqueOp : Top_ComputeOp<"Unique"> {
  let summary = "The distinct elements or slices";
  let arguments = (ins AnyTensor:$input,
                       OptionalAttr<I64Attr>:$axis,
                       Top_True:$sorted);
  let results = (outs AnyTensor:$output, Top_OptionalTensor:$indices, Top_OptionalTensor:$inverse_indices, Top_OptionalTensor:$counts);
}

def Top_NmsOp : Top_ComputeOp<"Nms"> {
  let summary = "Boxes that are left after non-maximum suppression";
  let arguments = (ins AnyTensor:$boxes,
                       AnyTensor:$scores,
                       Top_OptionalTensor:$max_output_size,
                       Top_OptionalTensor:$iou_threshold,
                       Top_OptionalTensor:$score_threshold,
                       Top_DefaultI64<0>:$center_point_box);
  let results = (outs AnyTensor:$output);
}

#endif // TPUC_DIALECT_TOP_REDUCEOPS
