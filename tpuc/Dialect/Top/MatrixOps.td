//===- MatrixOps.td - Matrix products -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_MATRIXOPS
#define TPUC_DIALECT_TOP_MATRIXOPS

include "tpuc/Dialect/Top/TopBase.td"

def Top_MatMulOp : Top_ComputeOp<"MatMul", [Top_Product, Top_CombinesIntegers]> {
  let summary = "Matrix product, batched and broadcast as numpy does";
  let description = [{
    The product of the last two dimensions, as numpy.matmul: leading dimensions broadcast, a vector
    on the left is a row and on the right a column that the result leaves out. `left_transpose` and
    `right_transpose` swap the last two dimensions of an operand of rank 2 and more. `bias` has one
    element per column, or one. With `do_relu` the result is max(result, 0), and at most
    `relu_limit` unless that is negative.

    Example:

    ```mlir
    %1 = "top.MatMul"(%0, %weight, %bias) {right_transpose = true} : (tensor<8x64xf32>, tensor<10x64xf32>, tensor<10xf32>) -> tensor<8x10xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$input,
                       AnyTensor:$right,
                       Top_OptionalTensor:$bias,
                       Top_False:$left_transpose,
                       Top_False:$right_transpose,
                       Top_False:$do_relu,
                       Top_ReluLimit:$relu_limit);
  let results = (outs AnyTensor:$output);
}

def Top_EinsumOp : Top_ComputeOp<"Einsum"> {
  let summary = "Sum of products by an equation of indices";
  let description = [{
    `mode` names each axis of each operand with a letter, `...` stands for any number of further
    ones: the result is the sum, over all letters that it does not name, of the product of the
    operands. A letter twice in one operand takes its diagonal. Without `->` the result has the axes
    of `...`, then the letters that occur once, in alphabetical order.

    Example:

    ```mlir
    %2 = "top.Einsum"(%0, %1) {mode = "bij,bjk->bik"} : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyTensor>:$inputs,
                       StrAttr:$mode);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

#endif // TPUC_DIALECT_TOP_MATRIXOPS
