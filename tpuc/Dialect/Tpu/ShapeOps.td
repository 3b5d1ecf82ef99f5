//===- ShapeOps.td - Shapes and ranges -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TPU_SHAPEOPS
#define TPUC_DIALECT_TPU_SHAPEOPS

include "tpuc/Dialect/Top/ShapeOps.td"
include "tpuc/Dialect/Tpu/TpuBase.td"

foreach top = [
    Top_ShapeOp, Top_SizeOp, Top_ConstantFillOp, Top_RangeOp, Top_EyeLikeOp] in
  def Tpu_#top.opName#Op : Tpu_MirroredOp<top>;

#endif // TPUC_DIALECT_TPU_SHAPEOPS
