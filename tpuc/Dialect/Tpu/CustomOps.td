//===- CustomOps.td - Ops that users define -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TPU_CUSTOMOPS
#define TPUC_DIALECT_TPU_CUSTOMOPS

include "tpuc/Dialect/Top/CustomOps.td"
include "tpuc/Dialect/Tpu/TpuBase.td"

def Tpu_CustomOp : Tpu_MirroredOp<Top_CustomOp>;

#endif // TPUC_DIALECT_TPU_CUSTOMOPS
