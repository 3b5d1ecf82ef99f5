//===- Constants.h - Operands that are the same in every run ----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM168X_CODEGEN_CONSTANTS_H
#define TPUC_TARGET_BM168X_CODEGEN_CONSTANTS_H

#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Support/Tensor.h"

namespace tpuc::bm168x::backend {

/// The constant that `value` is, whatever stands between; null if it is computed.
top::WeightOp constantOf(mlir::Value value);

/// Whether operand `index` is the same in every run.
bool isConstantOperand(mlir::Operation *op, unsigned index);

/// The elements of a constant operand as the network has them, before it is packed.
Expected<Tensor> readConstant(mlir::Operation *op, unsigned index);

/// The number that all elements of a constant operand are; none unless it has one element.
std::optional<double> scalarOperand(mlir::Operation *op, unsigned index);

} // namespace tpuc::bm168x::backend

#endif // TPUC_TARGET_BM168X_CODEGEN_CONSTANTS_H
