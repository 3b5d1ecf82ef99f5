//===- MatrixOps.cpp - Matrix products ------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/MatrixOps.h"
#include "tpuc/Dialect/Top/WindowShapes.h"
#include "tpuc/Support/OpShapes/Matrix.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

LogicalResult MatMulOp::inferShape() {
  std::optional<Dims> left = dimsOf(getInput());
  std::optional<Dims> right = dimsOf(getRight());
  if (!left || !right)
    return setResult(*this, 0, elementTypeOf(getInput()), std::nullopt);
  Expected<shapes::Dims> shape =
      shapes::matMulShape(*left, *right, getLeftTranspose(), getRightTranspose());
  if (!shape)
    return emit(*this, shape.error());
  return setResult(*this, 0, elementTypeOf(getInput()), *shape);
}

int64_t MatMulOp::flops() {
  std::optional<Dims> left = dimsOf(getInput());
  if (!left || left->empty())
    return 0;
  bool swapped = getLeftTranspose() && left->size() > 1;
  int64_t inner = swapped ? (*left)[left->size() - 2] : left->back();
  if (inner == kDynamic)
    return 0;
  return staticElements(getOutput()) * (2 * inner + (isPresent(getBias()) ? 1 : 0));
}

LogicalResult EinsumOp::inferShape() {
  std::vector<shapes::Dims> operands;
  for (Value input : getInputs()) {
    std::optional<Dims> dims = dimsOf(input);
    if (!dims)
      return setResult(*this, 0, elementTypeOf(getInputs()[0]), std::nullopt);
    operands.emplace_back(dims->begin(), dims->end());
  }
  Expected<shapes::EinsumIndices> indices = shapes::parseEinsum(getMode(), operands);
  if (!indices)
    return emit(*this, indices.error());
  Dims shape;
  for (int64_t number : indices->result)
    shape.push_back(indices->extents[number]);
  return setResult(*this, 0, elementTypeOf(getInputs()[0]), shape);
}

LogicalResult EinsumOp::verify() {
  if (getInputs().empty())
    return emitOpError("has no operand; expected at least one");
  return success();
}

int64_t EinsumOp::flops() {
  std::vector<shapes::Dims> operands;
  for (Value input : getInputs()) {
    if (staticElements(input) == 0)
      return 0;
    const Dims dims = *dimsOf(input);
    operands.emplace_back(dims.begin(), dims.end());
  }
  Expected<shapes::EinsumIndices> indices = shapes::parseEinsum(getMode(), operands);
  if (!indices)
    return 0;
  return elementsOf(indices->extents) * operands.size();
}
