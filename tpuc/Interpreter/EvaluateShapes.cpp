//===- EvaluateShapes.cpp - Shapes while ops are evaluated -------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/EvaluateShapes.h"

#include "llvm/ADT/STLExtras.h"

using namespace tpuc;

EvalDims tpuc::dimsOf(const EvalContext &context, unsigned index) {
  const Shape &shape = context.operand(index).shape();
  return EvalDims(shape.begin(), shape.end());
}

Expected<Shape> tpuc::checkedShape(const EvalContext &context, llvm::ArrayRef<int64_t> dims,
                                   DataType type) {
  Expected<int64_t> count = checkedNumElements(std::span(dims.data(), dims.size()), type, "");
  if (!count)
    return context.error("a result of which " + count.error().found, count.error().expected);
  return Shape(std::span(dims.data(), dims.size()));
}

Expected<Tensor *> tpuc::allocateDims(EvalContext &context, unsigned index, DataType type,
                                      llvm::ArrayRef<int64_t> dims) {
  Expected<Shape> shape = checkedShape(context, dims, type);
  if (!shape)
    return propagate(shape);
  return context.allocate(index, type, *shape);
}

Expected<size_t> tpuc::frontAxis(const EvalContext &context, int64_t axis, size_t rank) {
  auto signedRank = static_cast<int64_t>(rank);
  if (axis < -signedRank || axis >= signedRank)
    return context.error("axis " + std::to_string(axis) + " of a tensor of rank " +
                         std::to_string(rank));
  return static_cast<size_t>(axis < 0 ? axis + signedRank : axis);
}

Expected<llvm::SmallVector<size_t>> tpuc::frontAxes(const EvalContext &context,
                                                    llvm::ArrayRef<int64_t> axes, size_t rank) {
  llvm::SmallVector<size_t> result;
  for (int64_t each : axes) {
    Expected<size_t> axis = frontAxis(context, each, rank);
    if (!axis)
      return propagate(axis);
    if (llvm::is_contained(result, *axis))
      return context.error("axis " + std::to_string(each) + " is named twice");
    result.push_back(*axis);
  }
  return result;
}

Expected<EvalDims> tpuc::neededInts(const EvalContext &context,
                                    std::optional<mlir::ArrayAttr> attribute, unsigned operandIndex,
                                    llvm::StringRef name) {
  std::optional<EvalDims> ints = context.ints(attribute, operandIndex);
  if (!ints)
    return context.error("no '" + name.str() + "'", "an operand or an attribute");
  return *ints;
}

Expected<void> tpuc::aboutLayer(const EvalContext &context, Expected<void> result) {
  if (result)
    return result;
  return context.error(result.error().found, result.error().expected);
}
