//===- IntegerForm.h - How an op can be computed on stored integers -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_INTEGERFORM_H
#define TPUC_DIALECT_TOP_INTEGERFORM_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

namespace tpuc {

/// How a top op can be computed on integers.
enum class IntegerForm : uint8_t {
  None,
  Computes, ///< New values: results have a scale of their own.
  Moves,    ///< Elements of its tensor operands: all have one scale, and so have the results.
};

namespace top {

/// The form of an op that moves elements of its first operand: none where that is a weight.
IntegerForm formOfMover(mlir::Operation *op);

/// The first operand of `op`.
llvm::SmallVector<mlir::OpOperand *> firstOperand(mlir::Operation *op);

} // namespace top
} // namespace tpuc

#endif // TPUC_DIALECT_TOP_INTEGERFORM_H
