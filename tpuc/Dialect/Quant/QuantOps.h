//===- QuantOps.h - The casts of the quant dialect ---------------------*- C++ -* -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_QUANT_QUANTOPS_H
#define TPUC_DIALECT_QUANT_QUANTOPS_H

#include "tpuc/Dialect/Quant/QuantTypes.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "tpuc/Dialect/Quant/QuantOps.h.inc"

namespace tpuc::quant {
/// Registers the ops of this family with their dialect.
void addQuantOps(QuantDialect &dialect);
} // namespace tpuc::quant

#endif // TPUC_DIALECT_QUANT_QUANTOPS_H
