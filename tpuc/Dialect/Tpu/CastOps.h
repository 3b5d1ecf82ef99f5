//===- CastOps.h - Changes of the element type -------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TPU_CASTOPS_H
#define TPUC_DIALECT_TPU_CASTOPS_H

#include "tpuc/Dialect/Tpu/TpuDialect.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "tpuc/Dialect/Tpu/CastOps.h.inc"

namespace tpuc::tpu {
/// Registers the ops of this family with their dialect.
void addCastOps(TpuDialect &dialect);
} // namespace tpuc::tpu

#endif // TPUC_DIALECT_TPU_CASTOPS_H
