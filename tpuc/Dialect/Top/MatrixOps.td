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

def Top_MatMulOp : Top_ComputeOp<"MatMul"> {
  let summary = "Matrix product, batched and broadcast as numpy does";
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
  let arguments = (ins Variadic<AnyTensor>:$inputs,
                       StrAttr:$mode);
  let results = (outs AnyTensor:$output);
  let hasVerifier = 1;
}

#endif // TPUC_DIALECT_TOP_MATRIXOPS
