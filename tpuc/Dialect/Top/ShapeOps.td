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
  let description = [{
    The extents of dimensions `start` to before `end` (without it: to the last), as i64. Negative
    ones count from the end; both are clamped.

    Example:

    ```mlir
    %0 = "top.Shape"(%a) {start = 1 : i64} : (tensor<2x?x4xf32>) -> tensor<2xi64>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_Free<Top_DefaultI64<0>, "places outside count as the nearest end">:$start,
                       Top_Position:$end);
  let results = (outs AnyTensor:$output);
}

def Top_SizeOp : Top_ComputeOp<"Size"> {
  let summary = "The number of elements of a tensor";
  let description = [{
    The product of the extents, as i64.

    Example:

    ```mlir
    %0 = "top.Size"(%a) : (tensor<2x?x4xf32>) -> tensor<i64>
    ```
  }];
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}

def Top_ConstantFillOp : Top_ComputeOp<"ConstantFill", [Top_ComputesInF32, Top_ReadsElementTypes]> {
  let summary = "A tensor of one value";
  let description = [{
    Every element of the tensor of `shape` is `value`, whose type is the element type.

    Example:

    ```mlir
    %0 = "top.ConstantFill"(%none) {shape = [2, 3], value = 1.0 : f32} : (none) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Top_OptionalTensor:$shape_tensor,
                       Top_Extents:$shape,
                       TypedAttrInterface:$value);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_RangeOp : Top_ComputeOp<"Range", [Top_ComputesInF32]> {
  let summary = "Numbers from start to limit by delta";
  let description = [{
    `output[i] = start + i * delta` for `i` from 0 to before `max(ceil((limit - start) / delta),
    0)`.

    Example:

    ```mlir
    %0 = "top.Range"(%start, %limit, %delta) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
    ```
  }];
  let arguments = (ins AnyTensor:$start,
                       AnyTensor:$limit,
                       AnyTensor:$delta);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

def Top_EyeLikeOp : Top_ComputeOp<"EyeLike", [Top_ComputesInF32, Top_ReadsElementTypes]> {
  let summary = "Ones on a diagonal, in the shape of a tensor";
  let description = [{
    `output[i, j]` is 1 where `j = i + k`, else 0, in the element type `to` (without it: the
    input's).

    Example:

    ```mlir
    %0 = "top.EyeLike"(%a) {k = 1 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       Top_Free<Top_DefaultI64<0>, "diagonals outside hold nothing">:$k,
                       OptionalAttr<TypeAttr>:$to);
  let results = (outs AnyTensor:$output);
}

#endif // TPUC_DIALECT_TOP_SHAPEOPS
