//===- ResizeOps.td - Resizing and sampling -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TPU_RESIZEOPS
#define TPUC_DIALECT_TPU_RESIZEOPS

include "tpuc/Dialect/Top/ResizeOps.td"
include "tpuc/Dialect/Tpu/TpuBase.td"

foreach top = [
    Top_UpsampleOp, Top_GridSamplerOp, Top_AffineGridOp] in
  def Tpu_#top.opName#Op : Tpu_MirroredOp<top>;

def Tpu_InterpOp : Tpu_RequantizingOp<Top_InterpOp, [{
    Integers, linear mode: the two weights of each axis are round(2048 * w), halves away from zero,
    and the larger one (the first of equal ones) takes up what their sum lacks or exceeds 2048 by.
    The sum of weight * weight * (element - zero point) over the last two axes is requantized, and
    the factor holds 2^-22.
  }]>;

#endif // TPUC_DIALECT_TPU_RESIZEOPS
