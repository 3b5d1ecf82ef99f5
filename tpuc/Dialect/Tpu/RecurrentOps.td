//===- RecurrentOps.td - Recurrent cells -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TPU_RECURRENTOPS
#define TPUC_DIALECT_TPU_RECURRENTOPS

include "tpuc/Dialect/Top/RecurrentOps.td"
include "tpuc/Dialect/Tpu/TpuBase.td"

foreach top = [
    Top_LSTMOp, Top_GRUOp, Top_RNNOp, Top_LSTMIntegerOp] in
  def Tpu_#top.opName#Op : Tpu_MirroredOp<top>;

#endif // TPUC_DIALECT_TPU_RECURRENTOPS
