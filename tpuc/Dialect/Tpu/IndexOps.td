//===- IndexOps.td - Reading and writing by index -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TPU_INDEXOPS
#define TPUC_DIALECT_TPU_INDEXOPS

include "tpuc/Dialect/Top/IndexOps.td"
include "tpuc/Dialect/Tpu/TpuBase.td"

foreach top = [
    Top_GatherOp, Top_GatherElementsOp, Top_GatherNDOp, Top_ScatterElementsOp, Top_ScatterNDOp,
    Top_TensorScatterOp, Top_OneHotOp, Top_CompressOp] in
  def Tpu_#top.opName#Op : Tpu_MirroredOp<top>;

#endif // TPUC_DIALECT_TPU_INDEXOPS
