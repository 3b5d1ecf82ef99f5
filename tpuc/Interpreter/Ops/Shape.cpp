//===- Shape.cpp - What shapes and filled tensors are ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Fill.h"
#include "tpuc/Interpreter/Ops/Families.h"
#include "tpuc/Interpreter/Ops/OpShapes.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/SliceRange.h"

using namespace tpuc;
using namespace tpuc::ops;

static Expected<void> evaluateShape(OpContext &context) {
  Dims dims = dimsOf(context, 0);
  auto rank = static_cast<int64_t>(dims.size());
  SliceRange range =
      sliceRange(rank, context.integer("start"), context.optionalInteger("end").value_or(rank), 1);
  std::span<const int64_t> wanted(dims.data() + range.start, static_cast<size_t>(range.count));
  context.set(0, Tensor::of<int64_t>({range.count}, wanted));
  return {};
}

static Expected<void> evaluateSize(OpContext &context) {
  context.set(0, Tensor::of<int64_t>({}, {context.operand(0).numElements()}));
  return {};
}

static Expected<void> evaluateConstantFill(OpContext &context) {
  Expected<Dims> dims = neededInts(context, "shape", 0);
  if (!dims)
    return propagate(dims);
  const Tensor value = context.number("value");
  Expected<Tensor *> output = allocateDims(context, 0, value.type(), *dims);
  if (!output)
    return propagate(output);
  kernels::fill(value, **output, context.threads());
  return {};
}

static Expected<void> evaluateRange(OpContext &context) {
  for (unsigned index = 0; index < 3; ++index)
    if (context.operand(index).numElements() != 1)
      return context.error("operand #" + std::to_string(index) + " has shape " +
                               context.operand(index).shape().str(),
                           "one element");
  for (unsigned index = 1; index < 3; ++index)
    if (context.operand(index).type() != context.operand(0).type())
      return context.error("operands of types " +
                               std::string(dataTypeName(context.operand(0).type())) + " and " +
                               std::string(dataTypeName(context.operand(index).type())),
                           "one type");
  Expected<int64_t> count =
      kernels::rangeCount(context.operand(0), context.operand(1), context.operand(2));
  if (!count)
    return context.error(count.error().found, count.error().expected);
  Expected<Tensor *> output = allocateDims(context, 0, context.operand(0).type(), Dims{*count});
  if (!output)
    return propagate(output);
  kernels::range(context.operand(0), context.operand(2), **output);
  return {};
}

static Expected<void> evaluateEyeLike(OpContext &context) {
  const Tensor &input = context.operand(0);
  if (input.shape().rank() != 2)
    return context.error("an input of rank " + std::to_string(input.shape().rank()), "2");
  const DataType type = context.optionalType("to").value_or(input.type());
  Expected<Tensor *> output = context.allocate(0, type, input.shape());
  if (!output)
    return propagate(output);
  kernels::eye(context.integer("k"), **output, context.threads());
  return {};
}

std::span<const OpEvaluator> ops::shapeOps() {
  static constexpr OpEvaluator kOps[] = {
      {"Shape", evaluateShape},
      {"Size", evaluateSize},
      {"ConstantFill", evaluateConstantFill},
      {"Range", evaluateRange},
      {"EyeLike", evaluateEyeLike},
  };
  return kOps;
}
