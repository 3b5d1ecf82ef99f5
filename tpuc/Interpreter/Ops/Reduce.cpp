//===- Reduce.cpp - What reductions and searches compute ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Reduce.h"
#include "tpuc/Interpreter/Kernels/Search.h"
#include "tpuc/Interpreter/Ops/Families.h"
#include "tpuc/Interpreter/Ops/OpShapes.h"
#include "tpuc/Support/Elements.h"

using namespace tpuc;
using namespace tpuc::ops;

/// `axis` of `shape` counted from the front.
static Expected<int64_t> axisOf(OpContext &context, int64_t axis, const Shape &shape) {
  const auto rank = static_cast<int64_t>(shape.rank());
  if (axis < -rank || axis >= rank)
    return context.error("axis " + std::to_string(axis) + " of shape " + shape.str(),
                         "-" + std::to_string(rank) + " to " + std::to_string(rank - 1));
  return axis < 0 ? axis + rank : axis;
}

/// The number that a tensor of one element holds; `fallback` without a tensor.
static Expected<double> numberOf(OpContext &context, unsigned index, double fallback) {
  const Tensor *tensor = context.optional(index);
  if (!tensor)
    return fallback;
  if (tensor->numElements() != 1)
    return context.error(
        "operand #" + std::to_string(index) + " has shape " + tensor->shape().str(), "one element");
  double value = 0;
  loadElements(*tensor, 0, std::span(&value, 1));
  return value;
}

/// The integer that an attribute or else operand `index` holds.
static Expected<int64_t> integerOf(OpContext &context, std::optional<int64_t> attribute,
                                   unsigned index, int64_t fallback) {
  if (!context.has(index))
    return attribute ? static_cast<int64_t>(*attribute) : fallback;
  const std::optional<Dims> values = context.intsOf(index);
  if (values->size() != 1)
    return context.error("operand #" + std::to_string(index) + " has " +
                             std::to_string(values->size()) + " elements",
                         "one");
  return values->front();
}

static kernels::ReduceOp reduceKind(std::string_view mode) {
  using kernels::ReduceOp;
  return choose<ReduceOp>(mode,
                          {{"ReduceL1", ReduceOp::L1},
                           {"ReduceL2", ReduceOp::L2},
                           {"ReduceLogSum", ReduceOp::LogSum},
                           {"ReduceLogSumExp", ReduceOp::LogSumExp},
                           {"ReduceMax", ReduceOp::Max},
                           {"ReduceMean", ReduceOp::Mean},
                           {"ReduceMin", ReduceOp::Min},
                           {"ReduceProd", ReduceOp::Prod},
                           {"ReduceSumSquare", ReduceOp::SumSquare}},
                          ReduceOp::Sum);
}

static Expected<void> evaluateReduce(OpContext &context) {
  const Tensor &input = context.operand(0);
  Dims axes = context.ints("axes", 1).value_or(Dims());
  if (axes.empty()) {
    if (context.flag("noop_with_empty_axes")) {
      context.set(0, input);
      return {};
    }
    axes = countUp(input.shape().rank());
  }
  for (int64_t &axis : axes) {
    Expected<int64_t> normal = axisOf(context, axis, input.shape());
    if (!normal)
      return propagate(normal);
    axis = *normal;
  }
  Expected<Tensor *> output = context.allocate(
      0, input.type(), kernels::reducedShape(input.shape(), axes, context.flag("keepdims")));
  if (!output)
    return propagate(output);
  kernels::reduce(reduceKind(context.text("mode")), input, axes, **output, context.threads());
  return {};
}

static Expected<void> evaluateArg(OpContext &context) {
  const Tensor &input = context.operand(0);
  Expected<int64_t> axis = axisOf(context, context.integer("axis"), input.shape());
  if (!axis)
    return propagate(axis);
  if (input.shape()[static_cast<size_t>(*axis)] == 0)
    return context.error(
        "axis " + std::to_string(*axis) + " of " + input.shape().str() + " is empty", "an element");
  const std::array axes{*axis};
  const Shape shape = kernels::reducedShape(input.shape(), axes, context.flag("keepdims"));
  Expected<Tensor *> indices = context.allocate(0, DataType::I64, shape);
  if (!indices)
    return propagate(indices);
  Tensor *values = nullptr;
  if (context.wants(1)) {
    Expected<Tensor *> wanted = context.allocate(1, input.type(), shape);
    if (!wanted)
      return propagate(wanted);
    values = *wanted;
  }
  kernels::argExtreme(input, *axis, context.text("mode") == "ArgMax",
                      context.flag("select_last_index"), **indices, values, context.threads());
  return {};
}

static Expected<void> evaluateTopK(OpContext &context) {
  const Tensor &input = context.operand(0);
  Expected<int64_t> axis = axisOf(context, context.integer("axis"), input.shape());
  if (!axis)
    return propagate(axis);
  Expected<int64_t> size = integerOf(context, context.optionalInteger("k"), 1, 0);
  if (!size)
    return propagate(size);
  Shape shape = input.shape();
  int64_t &extent = shape[static_cast<size_t>(*axis)];
  if (*size < 0 || *size > extent)
    return context.error("k is " + std::to_string(*size), "0 to " + std::to_string(extent));
  extent = *size;
  Expected<Tensor *> values = context.allocate(0, input.type(), shape);
  if (!values)
    return propagate(values);
  Expected<Tensor *> indices = context.allocate(1, DataType::I64, shape);
  if (!indices)
    return propagate(indices);
  kernels::topK(input, *axis, context.flag("largest"), **values, **indices, context.threads());
  return {};
}

static Expected<void> evaluateCumulative(OpContext &context, kernels::Cumulative kind) {
  const Tensor &input = context.operand(0);
  Expected<int64_t> given = integerOf(context, context.optionalInteger("axis"), 1, 0);
  if (!given)
    return propagate(given);
  Expected<int64_t> axis = axisOf(context, *given, input.shape());
  if (!axis)
    return propagate(axis);
  Expected<Tensor *> output = context.allocate(0, input.type(), input.shape());
  if (!output)
    return propagate(output);
  kernels::cumulative(kind, input, *axis, context.flag("exclusive"), context.flag("reverse"),
                      **output, context.threads());
  return {};
}

static Expected<void> evaluateCumSum(OpContext &context) {
  return evaluateCumulative(context, kernels::Cumulative::Sum);
}

static Expected<void> evaluateCumProd(OpContext &context) {
  return evaluateCumulative(context, kernels::Cumulative::Product);
}

static Expected<void> evaluateNonZero(OpContext &context) {
  context.set(0, kernels::nonZero(context.operand(0)));
  return {};
}

static Expected<void> evaluateUnique(OpContext &context) {
  const Tensor &input = context.operand(0);
  std::optional<int64_t> axis;
  if (context.optionalInteger("axis")) {
    Expected<int64_t> normal = axisOf(context, *context.optionalInteger("axis"), input.shape());
    if (!normal)
      return propagate(normal);
    axis = *normal;
  }
  kernels::UniqueResult result = kernels::unique(input, axis, context.flag("sorted"));
  const std::array results{result.values, result.first, result.inverse, result.counts};
  for (unsigned index = 0; index < results.size(); ++index)
    if (context.wants(index))
      context.set(index, results[index]);
  return {};
}

static Expected<void> evaluateNms(OpContext &context) {
  const Tensor &boxes = context.operand(0);
  const Tensor &scores = context.operand(1);
  const Shape &b = boxes.shape();
  const Shape &s = scores.shape();
  if (b.rank() != 3 || s.rank() != 3 || b[2] != 4 || b[0] != s[0] || b[1] != s[2])
    return context.error("boxes have shape " + b.str() + " and scores " + s.str(),
                         "[batch, n, 4] and [batch, classes, n]");
  kernels::NmsParams params;
  params.isCenter = context.integer("center_point_box") != 0;
  Expected<int64_t> size = integerOf(context, std::nullopt, 2, 0);
  if (!size)
    return propagate(size);
  params.maxOutputSize = *size;
  Expected<double> iou = numberOf(context, 3, 0);
  if (!iou)
    return propagate(iou);
  params.iouThreshold = *iou;
  if (context.has(4)) {
    Expected<double> score = numberOf(context, 4, 0);
    if (!score)
      return propagate(score);
    params.scoreThreshold = *score;
  }
  context.set(0, kernels::nonMaximumSuppression(boxes, scores, params));
  return {};
}

std::span<const OpEvaluator> ops::reduceOps() {
  static constexpr OpEvaluator kOps[] = {
      {"Reduce", evaluateReduce}, {"Arg", evaluateArg},         {"TopK", evaluateTopK},
      {"CumSum", evaluateCumSum}, {"CumProd", evaluateCumProd}, {"NonZero", evaluateNonZero},
      {"Unique", evaluateUnique}, {"Nms", evaluateNms},
  };
  return kOps;
}
