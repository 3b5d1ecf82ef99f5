//===- BinaryOps.td - Element-wise ops of several tensors -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TPU_BINARYOPS
#define TPUC_DIALECT_TPU_BINARYOPS

include "tpuc/Dialect/Top/BinaryOps.td"
include "tpuc/Dialect/Tpu/TpuBase.td"

foreach top = [
    Top_DivOp, Top_MinOp, Top_MaxOp, Top_MeanOp, Top_PowOp, Top_ModOp, Top_AddConstOp,
    Top_SubConstOp, Top_MulConstOp, Top_DivConstOp, Top_MinConstOp, Top_MaxConstOp,
    Top_PowConstOp, Top_Pow2Op, Top_CompareOp, Top_CompareConstOp, Top_LogicalBinaryOp,
    Top_BitwiseBinaryOp, Top_BitShiftOp, Top_WhereOp] in
  def Tpu_#top.opName#Op : Tpu_MirroredOp<top>;

/// A sum of stored integers, each with its own multiplier.
class Tpu_SumOp<Op top> : Tpu_MirroredOp<top, (ins
    OptionalAttr<I64ArrayAttr>:$multiplier, OptionalAttr<I64Attr>:$offset,
    OptionalAttr<I64Attr>:$rshift, OptionalAttr<StrAttr>:$quant_mode, Tpu_RoundMode:$round_mode), [{
    Integers (manual 6.3.3): `(sum of multiplier[i] * inputs[i] + offset) / 2^rshift`, rounded by
    `round_mode`, plus the output's zero point, saturated; `offset` holds the zero points of the
    operands. The sum is exact in 32 bits. `coeff` is in the multipliers.

    With the `quant_mode` TFLite the types of both inputs and the result state all factors, and there
    are no multipliers. With u, twice the larger scale of the inputs, each of them less its zero
    point is shifted to the left by 20 and scaled by its scale / u. The sum is scaled by
    u / 2^20 / the output's scale. Each factor is taken as TFLite scales: `multiplier / 2^31` from
    0.5 on, which is the nearest, behind which `rshift` follows.
  }], top.opName, [Tpu_CombinationTrait]>;

def Tpu_AddOp : Tpu_SumOp<Top_AddOp>;
def Tpu_SubOp : Tpu_SumOp<Top_SubOp>;

def Tpu_MulOp : Tpu_MirroredOp<Top_MulOp, (ins OptionalAttr<StrAttr>:$quant_mode,
                                             Tpu_RoundMode:$round_mode), [{
    Integers: `(inputs[0] - zero point) * (inputs[1] - zero point)`, scaled by `multiplier` and
    `rshift` as `quant_mode` says, plus the output's zero point, saturated.
  }], "Mul", [Tpu_CombinationTrait]>;

def Tpu_PReluOp : Tpu_RequantizingOp<Top_PReluOp, [{
    Integers (manual 6.3.7): q, the input less its zero point, is multiplied by `multiplier[0]` and
    shifted by `rshift[0]` where it is not negative, else by entry 1 + c of both for channel c (or
    entry 1 for all). `slope` is not read then.
  }]>;

#endif // TPUC_DIALECT_TPU_BINARYOPS
