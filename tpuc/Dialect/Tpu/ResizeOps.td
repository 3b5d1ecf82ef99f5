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

def Tpu_InterpOp : Tpu_MirroredOp<Top_InterpOp,
    !con(Tpu_Requantization, (ins UnitAttr:$as_stored)), [{
    Integers, linear mode: the two weights of each axis are round(2048 * w), halves away from zero,
    and the larger one (the first of equal ones) takes up what their sum lacks or exceeds 2048 by.
    The sum of weight * weight * (element - zero point) over the last two axes is requantized, and
    the factor holds 2^-22.

    With `as_stored` the sum is that of the stored integers themselves, and no zero point is added
    behind it. Positions have 10 fractional bits, as TFLite has them: with the step s = 1024 * input
    extent / output extent (less 1 each for `align_corners`), rounded half up, position x is x * s,
    for `half_pixel` x * s + s / 2 - 512 (the quotient rounded down). Weights are twice their rest.
  }], "Interp", [Tpu_RequantTrait]>;

#endif // TPUC_DIALECT_TPU_RESIZEOPS
