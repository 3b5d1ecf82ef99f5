//===- OpShapes.cpp - Shapes while ops are evaluated ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Ops/OpShapes.h"
#include "tpuc/Interpreter/Kernels/ComputeType.h"

#include <algorithm>
#include <numeric>

using namespace tpuc;
using namespace tpuc::ops;

Dims ops::countUp(size_t count) {
  Dims numbers(count);
  std::iota(numbers.begin(), numbers.end(), int64_t{0});
  return numbers;
}

Expected<Shape> ops::checkedShape(const OpContext &context, std::span<const int64_t> dims,
                                  DataType type) {
  Expected<int64_t> count = checkedNumElements(dims, type, "");
  if (!count)
    return context.error("a result of which " + count.error().found, count.error().expected);
  return Shape(dims);
}

Expected<Tensor *> ops::allocateDims(OpContext &context, unsigned index, DataType type,
                                     std::span<const int64_t> dims) {
  Expected<Shape> shape = checkedShape(context, dims, type);
  if (!shape)
    return propagate(shape);
  return context.allocate(index, type, *shape);
}

Expected<Tensor *> ops::allocateLike(OpContext &context, std::span<const int64_t> dims) {
  return allocateDims(context, 0, context.operand(0).type(), dims);
}

Expected<size_t> ops::frontAxis(const OpContext &context, int64_t axis, size_t rank) {
  auto signedRank = static_cast<int64_t>(rank);
  if (axis < -signedRank || axis >= signedRank)
    return context.error("axis " + std::to_string(axis) + " of a tensor of rank " +
                         std::to_string(rank));
  return static_cast<size_t>(axis < 0 ? axis + signedRank : axis);
}

Expected<std::vector<size_t>> ops::frontAxes(const OpContext &context,
                                             std::span<const int64_t> axes, size_t rank) {
  std::vector<size_t> result;
  for (int64_t each : axes) {
    Expected<size_t> axis = frontAxis(context, each, rank);
    if (!axis)
      return propagate(axis);
    if (std::ranges::find(result, *axis) != result.end())
      return context.error("axis " + std::to_string(each) + " is named twice");
    result.push_back(*axis);
  }
  return result;
}

Expected<Dims> ops::neededInts(const OpContext &context, std::string_view attribute,
                               unsigned operandIndex) {
  std::optional<Dims> ints = context.ints(attribute, operandIndex);
  if (!ints)
    return context.error("no '" + std::string(attribute) + "'", "an operand or an attribute");
  return *ints;
}

Expected<void> ops::checkComputeTypes(const OpContext &context,
                                      std::initializer_list<unsigned> which) {
  const DataType first = context.operand(0).type();
  for (const unsigned index : which)
    if (context.has(index) &&
        kernels::computeType(context.operand(index).type()) != kernels::computeType(first))
      return context.error("operands of types " + std::string(dataTypeName(first)) + " and " +
                               std::string(dataTypeName(context.operand(index).type())),
                           "types that are computed alike");
  return {};
}

Expected<void> ops::aboutLayer(const OpContext &context, Expected<void> result) {
  if (result)
    return result;
  return context.error(result.error().found, result.error().expected);
}
