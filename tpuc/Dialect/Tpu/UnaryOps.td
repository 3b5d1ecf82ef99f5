//===- UnaryOps.td - Element-wise ops of one tensor -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TPU_UNARYOPS
#define TPUC_DIALECT_TPU_UNARYOPS

include "tpuc/Dialect/Top/UnaryOps.td"
include "tpuc/Dialect/Tpu/TpuBase.td"

foreach top = [
    Top_AbsOp, Top_ArccosOp, Top_ArccoshOp, Top_ArcsinOp, Top_ArcsinhOp, Top_ArctanOp,
    Top_ArctanhOp, Top_CeilOp, Top_CosOp, Top_CoshOp, Top_ErfOp, Top_ExpOp, Top_FloorOp,
    Top_HardSwishOp, Top_LogOp, Top_MishOp, Top_NegOp, Top_ReciprocalOp, Top_RoundOp, Top_RsqrtOp,
    Top_SiLUOp, Top_SignOp, Top_SinOp, Top_SinhOp, Top_SoftplusOp, Top_SoftsignOp, Top_SqrtOp,
    Top_TanOp, Top_TanhOp, Top_BitwiseNotOp, Top_LogicalNotOp, Top_IsNaNOp, Top_IsInfOp,
    Top_ReluOp, Top_EluOp, Top_CeluOp, Top_SeluOp, Top_ThresholdedReluOp, Top_ShrinkOp,
    Top_HardSigmoidOp, Top_SigmoidOp, Top_SwishOp, Top_GELUOp, Top_ClipOp, Top_ClipTensorOp,
    Top_CopyOp, Top_BitCastOp, Top_DetOp] in
  def Tpu_#top.opName#Op : Tpu_TwinOp<top>;

def Tpu_LeakyReluOp : Tpu_RequantizingOp<Top_LeakyReluOp, [{
    Integers (manual 6.3.5): q, the input less its zero point, is requantized with entry 0 of
    `multiplier` and `rshift` where it is not negative, else with entry 1.
  }]>;

def Tpu_DtypeCastOp : Tpu_TwinOp<Top_CastOp, (ins), "", "DtypeCast">;

#endif // TPUC_DIALECT_TPU_UNARYOPS
