//===- EvaluateShapes.h - Shapes while ops are evaluated -------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_EVALUATESHAPES_H
#define TPUC_INTERPRETER_EVALUATESHAPES_H

#include "tpuc/Interpreter/Evaluate.h"

namespace tpuc {

using EvalDims = llvm::SmallVector<int64_t>;

/// The extents of operand `index`.
EvalDims dimsOf(const EvalContext &context, unsigned index);
/// `dims` as a shape. Errors: too many dimensions, negative or too large extents.
Expected<Shape> checkedShape(const EvalContext &context, llvm::ArrayRef<int64_t> dims,
                             DataType type);
/// Room for result `index` of `dims`. Errors: as checkedShape.
Expected<Tensor *> allocateDims(EvalContext &context, unsigned index, DataType type,
                                llvm::ArrayRef<int64_t> dims);
/// `axis` counted from the front. Errors: there is none such.
Expected<size_t> frontAxis(const EvalContext &context, int64_t axis, size_t rank);
/// `axes` counted from the front. Errors: one that there is not or that is named twice.
Expected<llvm::SmallVector<size_t>> frontAxes(const EvalContext &context,
                                              llvm::ArrayRef<int64_t> axes, size_t rank);
/// The integers of an attribute or of the operand that stands in for it. Errors: neither is given.
Expected<EvalDims> neededInts(const EvalContext &context, std::optional<mlir::ArrayAttr> attribute,
                              unsigned operandIndex, llvm::StringRef name);
/// Hands the error of a kernel on as one about the layer.
Expected<void> aboutLayer(const EvalContext &context, Expected<void> result);

} // namespace tpuc

#endif // TPUC_INTERPRETER_EVALUATESHAPES_H
