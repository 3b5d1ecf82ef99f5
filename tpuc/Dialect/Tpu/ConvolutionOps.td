//===- ConvolutionOps.td - Convolutions -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TPU_CONVOLUTIONOPS
#define TPUC_DIALECT_TPU_CONVOLUTIONOPS

include "tpuc/Dialect/Top/ConvolutionOps.td"
include "tpuc/Dialect/Tpu/TpuBase.td"

foreach top = [
    Top_DeformConv2DOp, Top_Col2ImOp] in
  def Tpu_#top.opName#Op : Tpu_MirroredOp<top>;

def Tpu_ConvOp : Tpu_ProductOp<Top_ConvOp, [{
    Integers: the sum over `input[...] * filter[...]` of stored integers, padding read as the zero
    point of the input, plus `bias` (i32, into which the zero point is folded) is exact in 32 bits.
    Output channel c is requantized with `multiplier[c]` and `rshift[c]`, or all with the one.
    With `narrow_sums`, a device may round sums of 16-bit floats to their type at each step.
  }], !con((ins UnitAttr:$narrow_sums), Tpu_PixelRowFacts, Tpu_StoredRowsFacts,
           Tpu_StoredTurnedFacts),
    [Tpu_PixelRowInterface, Tpu_StoredRowsInterface, Tpu_StoredTurnedInterface]>;

def Tpu_DeconvOp : Tpu_ProductOp<Top_DeconvOp, [{
    Integers: the sum over `(input[...] - zero point) * filter[...]` plus `bias` (i32) is exact in
    32 bits and requantized as by `tpu.Conv`.
  }], Tpu_StoredTurnedFacts, [Tpu_StoredTurnedInterface]>;

#endif // TPUC_DIALECT_TPU_CONVOLUTIONOPS
