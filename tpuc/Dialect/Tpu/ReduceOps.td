//===- ReduceOps.td - Reductions and searches -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TPU_REDUCEOPS
#define TPUC_DIALECT_TPU_REDUCEOPS

include "tpuc/Dialect/Top/ReduceOps.td"
include "tpuc/Dialect/Tpu/TpuBase.td"

foreach top = [
    Top_ArgOp, Top_TopKOp, Top_CumSumOp, Top_CumProdOp, Top_NonZeroOp, Top_UniqueOp, Top_NmsOp] in
  def Tpu_#top.opName#Op : Tpu_MirroredOp<top>;

def Tpu_ReduceOp : Tpu_RequantizingOp<Top_ReduceOp, [{
    Integers: the sum of the elements less their zero point, requantized; for a mean the factor
    holds the division by their number. The greatest and the least are selected as they are.
  }]>;

#endif // TPUC_DIALECT_TPU_REDUCEOPS
