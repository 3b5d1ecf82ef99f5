//===- ControlOps.td - Branches and loops -*- tablegen -*-
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TPU_CONTROLOPS
#define TPUC_DIALECT_TPU_CONTROLOPS

include "tpuc/Dialect/Top/ControlOps.td"
include "tpuc/Dialect/Tpu/TpuBase.td"

def Tpu_IfOp : Tpu_ControlOp<Top_IfOp, [NoRegionArguments]>;
def Tpu_LoopOp : Tpu_ControlOp<Top_LoopOp>;
def Tpu_ScanOp : Tpu_ControlOp<Top_ScanOp>;

def Tpu_YieldOp : Tpu_Op<"Yield", [Pure, Terminator, Top_MovesElements]> {
  let summary = Top_YieldOp.summary;
  let description = !subst("\"top.", "\"tpu.", Top_YieldOp.description);
  let arguments = Top_YieldOp.arguments;
}

#endif // TPUC_DIALECT_TPU_CONTROLOPS
