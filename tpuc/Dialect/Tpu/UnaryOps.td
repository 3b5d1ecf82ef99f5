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

foreach top = Top_PlainUnaryOps in
  def Tpu_#top.opName#Op : Tpu_MirroredOp<top>;

def Tpu_LeakyReluOp : Tpu_RequantizingOp<Top_LeakyReluOp, [{
    Integers (manual 6.3.5): q, the input less its zero point, is requantized with entry 0 of
    `multiplier` and `rshift` where it is not negative, else with entry 1.
  }]>;

def Tpu_DtypeCastOp : Tpu_MirroredOp<Top_CastOp, (ins), "", "DtypeCast">;

#endif // TPUC_DIALECT_TPU_UNARYOPS
