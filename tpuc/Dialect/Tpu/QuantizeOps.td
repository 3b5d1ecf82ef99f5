//===- QuantizeOps.td - Quantized ops of the source -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TPU_QUANTIZEOPS
#define TPUC_DIALECT_TPU_QUANTIZEOPS

include "tpuc/Dialect/Top/QuantizeOps.td"
include "tpuc/Dialect/Tpu/TpuBase.td"

foreach top = [
    Top_QuantizeLinearOp, Top_DequantizeLinearOp, Top_DynamicQuantizeLinearOp,
    Top_DynamicQuantizeRowsOp, Top_QLinearConvOp, Top_QLinearMatMulOp, Top_ConvIntegerOp, Top_MatMulIntegerOp] in
  def Tpu_#top.opName#Op : Tpu_MirroredOp<top>;

#endif // TPUC_DIALECT_TPU_QUANTIZEOPS
