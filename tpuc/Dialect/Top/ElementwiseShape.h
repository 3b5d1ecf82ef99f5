//===- ElementwiseShape.h - Shape inference of element-wise ops ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_ELEMENTWISESHAPE_H
#define TPUC_DIALECT_TOP_ELEMENTWISESHAPE_H

#include "mlir/IR/Operation.h"

namespace tpuc::top {

/// The result has the type of the first operand.
llvm::LogicalResult inferLikeFirst(mlir::Operation *op);
/// The result has the shape of the first operand, its elements are bools.
llvm::LogicalResult inferPredicate(mlir::Operation *op);
/// The result has the shape to which all operands are broadcast, and the element type that they
/// all have.
llvm::LogicalResult inferBroadcast(mlir::Operation *op);
/// The same, with an element type of bool.
llvm::LogicalResult inferComparison(mlir::Operation *op);

/// `cond ? x : y`: the elements of the second operand.
llvm::LogicalResult inferWhere(mlir::Operation *op);
/// The type of the first operand, to which the second must broadcast.
llvm::LogicalResult inferPRelu(mlir::Operation *op);

/// One operation per element of the result and operand but the first, at least one.
int64_t elementwiseFlops(mlir::Operation *op);

} // namespace tpuc::top

#endif // TPUC_DIALECT_TOP_ELEMENTWISESHAPE_H
