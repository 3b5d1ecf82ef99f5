//===- SignalOps.td - Transforms of signals -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TPU_SIGNALOPS
#define TPUC_DIALECT_TPU_SIGNALOPS

include "tpuc/Dialect/Top/SignalOps.td"
include "tpuc/Dialect/Tpu/TpuBase.td"

foreach top = [
    Top_DFTOp, Top_STFTOp, Top_CosineWindowOp, Top_MelWeightMatrixOp] in
  def Tpu_#top.opName#Op : Tpu_MirroredOp<top>;

#endif // TPUC_DIALECT_TPU_SIGNALOPS
