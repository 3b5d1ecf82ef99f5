//===- PoolOps.td - Pooling -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TPU_POOLOPS
#define TPUC_DIALECT_TPU_POOLOPS

include "tpuc/Dialect/Top/PoolOps.td"
include "tpuc/Dialect/Tpu/TpuBase.td"

foreach top = [
    Top_MaxPoolOp, Top_MaxPoolWithMaskOp, Top_MaxUnpoolOp, Top_LpPoolOp, Top_RoiAlignOp] in
  def Tpu_#top.opName#Op : Tpu_MirroredOp<top>;

def Tpu_AvgPoolOp : Tpu_MirroredOp<Top_AvgPoolOp,
    !con(Tpu_Requantization, (ins UnitAttr:$as_stored)), [{
    Integers (manual 6.3.4): the sum of the elements less their zero point is requantized with entry
    n - 1 of `multiplier` and `rshift`, where n is the number of elements that the average divides
    by, or with the only entry. Padding adds nothing to the sum.

    With `as_stored` the sum is that of the stored integers themselves, and no zero point is added
    behind it: TFLite's averages, whose ties go away from zero.
  }], "AvgPool", [Tpu_RequantTrait]>;

#endif // TPUC_DIALECT_TPU_POOLOPS
