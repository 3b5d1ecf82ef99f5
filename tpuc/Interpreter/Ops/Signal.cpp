//===- Signal.cpp - What spectra are --------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Signal.h"
#include "tpuc/Interpreter/Ops/Families.h"
#include "tpuc/Interpreter/Ops/OpShapes.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/OpShapes/Signal.h"

using namespace tpuc;
using namespace tpuc::ops;

/// The one number that operand `index` holds.
static Expected<double> oneNumber(const OpContext &context, unsigned index) {
  const Tensor &tensor = context.operand(index);
  if (tensor.numElements() != 1)
    return context.error("operand #" + std::to_string(index) + " has " +
                             std::to_string(tensor.numElements()) + " elements",
                         "one");
  return convert(tensor, DataType::F64).data<double>()[0];
}

/// The integer of operand `index`; none if it is left out.
static Expected<std::optional<int64_t>> integerIfGiven(const OpContext &context, unsigned index) {
  if (!context.has(index))
    return std::optional<int64_t>();
  Expected<double> number = oneNumber(context, index);
  if (!number)
    return propagate(number);
  return std::optional<int64_t>(context.intsOf(index)->front());
}

static Expected<void> evaluateDft(OpContext &context) {
  Expected<std::optional<int64_t>> length = integerIfGiven(context, 1);
  if (!length)
    return propagate(length);
  Expected<std::optional<int64_t>> axis = integerIfGiven(context, 2);
  if (!axis)
    return propagate(axis);
  Expected<shapes::DftShape> shape =
      shapes::dftShape({context.flag("inverse"), context.flag("onesided")}, dimsOf(context, 0),
                       axis->value_or(context.integer("axis")), *length);
  if (!shape)
    return context.error(shape.error().found, shape.error().expected);
  const Tensor &input = context.operand(0);
  Expected<Tensor *> output = allocateDims(context, 0, input.type(), shape->output);
  if (!output)
    return propagate(output);
  kernels::dft(input,
               {shape->axis, shape->length, context.flag("inverse"), context.flag("onesided")},
               **output, context.threads());
  return {};
}

static Expected<void> evaluateStft(OpContext &context) {
  Expected<std::optional<int64_t>> step = integerIfGiven(context, 1);
  if (!step)
    return propagate(step);
  Expected<std::optional<int64_t>> length = integerIfGiven(context, 3);
  if (!length)
    return propagate(length);
  std::optional<Dims> window;
  if (context.has(2))
    window = dimsOf(context, 2);
  Expected<shapes::StftShape> shape = shapes::stftShape(
      context.flag("onesided"), dimsOf(context, 0), step->value_or(0), window, *length);
  if (!shape)
    return context.error(shape.error().found, shape.error().expected);
  const Tensor &input = context.operand(0);
  Expected<Tensor *> output = allocateDims(context, 0, input.type(), shape->output);
  if (!output)
    return propagate(output);
  kernels::stft(input, **step, shape->length, context.optional(2), **output, context.threads());
  return {};
}

static Expected<void> evaluateWindow(OpContext &context) {
  Expected<std::optional<int64_t>> size = integerIfGiven(context, 0);
  if (!size)
    return propagate(size);
  // The verifier saw that tensors can hold the type.
  Expected<Tensor *> output = allocateDims(context, 0, context.type("to"), Dims{**size});
  if (!output)
    return propagate(output);
  kernels::cosineWindow(context.realList("coeff"), context.flag("periodic"), **output);
  return {};
}

static Expected<void> evaluateMel(OpContext &context) {
  double numbers[5];
  for (unsigned i = 0; i < 5; ++i) {
    Expected<double> number = oneNumber(context, i);
    if (!number)
      return propagate(number);
    numbers[i] = *number;
  }
  auto bins = static_cast<int64_t>(numbers[0]);
  kernels::MelParams params{static_cast<int64_t>(numbers[1]), numbers[2], numbers[3], numbers[4]};
  if (params.length < 0)
    return context.error("length " + std::to_string(params.length), "at least 0");
  Expected<Tensor *> output =
      allocateDims(context, 0, context.type("to"), Dims{params.length / 2 + 1, bins});
  if (!output)
    return propagate(output);
  return aboutLayer(context, kernels::melWeightMatrix(params, **output));
}

std::span<const OpEvaluator> ops::signalOps() {
  static constexpr OpEvaluator kOps[] = {
      {"DFT", evaluateDft},
      {"STFT", evaluateStft},
      {"CosineWindow", evaluateWindow},
      {"MelWeightMatrix", evaluateMel},
  };
  return kOps;
}
