//===- ElementwiseForm.h - Element-wise ops as post-ops ---------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_ELEMENTWISEFORM_H
#define TPUC_INTERPRETER_ELEMENTWISEFORM_H

#include "tpuc/Interpreter/CompileOps.h"

namespace tpuc {

/// An element-wise op as what is done to one of its operands.
struct ElementwiseForm {
  std::vector<kernels::PostOp> ops;
  /// What `PostOp::operand` counts.
  llvm::SmallVector<mlir::Value> others;
};

/// min(max(x, low), high).
kernels::PostOp clipOp(double low, double high);

/// `op` applied to `main`, which has the shape `shape` of the result, in the layout `isBlocked`.
/// None if it is no such op, or reads another operand in a way that kernels do not know: other than
/// element by element, per channel of the blocked layout, or one for all.
std::optional<ElementwiseForm> elementwiseForm(mlir::Operation *op, mlir::Value main,
                                               const Shape &shape, bool isBlocked,
                                               const CompileContext &context);

/// Whether `elementwiseForm` knows ops of this name, in some form.
bool hasElementwiseForm(mlir::OperationName op);

} // namespace tpuc

#endif // TPUC_INTERPRETER_ELEMENTWISEFORM_H
