//===- StructureOps.h - What a network is made of besides layers -------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_STRUCTUREOPS_H
#define TPUC_DIALECT_TOP_STRUCTUREOPS_H

#include "tpuc/Dialect/Top/TopDialect.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "tpuc/Dialect/Top/StructureOps.h.inc"

namespace tpuc::top {
/// Registers the ops of this family with their dialect.
void addStructureOps(TopDialect &dialect);
} // namespace tpuc::top

#endif // TPUC_DIALECT_TOP_STRUCTUREOPS_H
