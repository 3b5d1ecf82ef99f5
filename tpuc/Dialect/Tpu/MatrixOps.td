//===- MatrixOps.td - Matrix products -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TPU_MATRIXOPS
#define TPUC_DIALECT_TPU_MATRIXOPS

include "tpuc/Dialect/Top/MatrixOps.td"
include "tpuc/Dialect/Tpu/TpuBase.td"

foreach top = [
    Top_EinsumOp] in
  def Tpu_#top.opName#Op : Tpu_MirroredOp<top>;

def Tpu_MatMulOp : Tpu_ProductOp<Top_MatMulOp, [{
    Integers: the sum over `(input - its zero point) * (right - its zero point)` plus `bias` (i32)
    is exact in 32 bits. Column n is requantized with `multiplier[n]` and `rshift[n]`, or all with
    the one. An operand of a plain integer type has the zero point 0.
  }]>;

#endif // TPUC_DIALECT_TPU_MATRIXOPS
