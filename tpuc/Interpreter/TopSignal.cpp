//===- TopSignal.cpp - What spectra are -----------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/SignalOps.h"
#include "tpuc/Dialect/Top/SignalShapes.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Interpreter/Attach.h"
#include "tpuc/Interpreter/EvaluateShapes.h"
#include "tpuc/Interpreter/Kernels/Signal.h"
#include "tpuc/Support/Convert.h"

using namespace tpuc;
using namespace tpuc::top;

/// The one number that operand `index` holds.
static Expected<double> numberOf(const EvalContext &context, unsigned index) {
  const Tensor &tensor = context.operand(index);
  if (tensor.numElements() != 1)
    return context.error("operand #" + std::to_string(index) + " has " +
                             std::to_string(tensor.numElements()) + " elements",
                         "one");
  return convert(tensor, DataType::F64).data<double>()[0];
}

/// The integer of operand `index`; none if it is left out.
static Expected<std::optional<int64_t>> integerIfGiven(const EvalContext &context, unsigned index) {
  if (!context.has(index))
    return std::optional<int64_t>();
  Expected<double> number = numberOf(context, index);
  if (!number)
    return propagate(number);
  return std::optional<int64_t>(context.ints(std::nullopt, index)->front());
}

static Expected<void> evaluateDft(DFTOp op, EvalContext &context) {
  Expected<std::optional<int64_t>> length = integerIfGiven(context, 1);
  if (!length)
    return propagate(length);
  Expected<std::optional<int64_t>> axis = integerIfGiven(context, 2);
  if (!axis)
    return propagate(axis);
  Expected<DftShape> shape =
      dftShape(op, dimsOf(context, 0), axis->value_or(static_cast<int64_t>(op.getAxis())), *length);
  if (!shape)
    return context.error(shape.error().found, shape.error().expected);
  const Tensor &input = context.operand(0);
  Expected<Tensor *> output = allocateDims(context, 0, input.type(), shape->output);
  if (!output)
    return propagate(output);
  kernels::dft(input, {shape->axis, shape->length, op.getInverse(), op.getOnesided()}, **output,
               context.threads());
  return {};
}

static Expected<void> evaluateStft(STFTOp op, EvalContext &context) {
  Expected<std::optional<int64_t>> step = integerIfGiven(context, 1);
  if (!step)
    return propagate(step);
  Expected<std::optional<int64_t>> length = integerIfGiven(context, 3);
  if (!length)
    return propagate(length);
  std::optional<Dims> window;
  if (context.has(2))
    window = dimsOf(context, 2);
  Expected<StftShape> shape = stftShape(op, dimsOf(context, 0), step->value_or(0), window, *length);
  if (!shape)
    return context.error(shape.error().found, shape.error().expected);
  const Tensor &input = context.operand(0);
  Expected<Tensor *> output = allocateDims(context, 0, input.type(), shape->output);
  if (!output)
    return propagate(output);
  kernels::stft(input, **step, shape->length, context.optional(2), **output, context.threads());
  return {};
}

static Expected<void> evaluateWindow(CosineWindowOp op, EvalContext &context) {
  Expected<std::optional<int64_t>> size = integerIfGiven(context, 0);
  if (!size)
    return propagate(size);
  // The verifier saw that tensors can hold the type.
  Expected<Tensor *> output = allocateDims(context, 0, *storageDataType(op.getTo()), {**size});
  if (!output)
    return propagate(output);
  std::vector<double> coeff;
  for (mlir::Attribute each : op.getCoeff())
    coeff.push_back(mlir::cast<mlir::FloatAttr>(each).getValueAsDouble());
  kernels::cosineWindow(coeff, op.getPeriodic(), **output);
  return {};
}

static Expected<void> evaluateMel(MelWeightMatrixOp op, EvalContext &context) {
  double numbers[5];
  for (unsigned i = 0; i < 5; ++i) {
    Expected<double> number = numberOf(context, i);
    if (!number)
      return propagate(number);
    numbers[i] = *number;
  }
  auto bins = static_cast<int64_t>(numbers[0]);
  kernels::MelParams params{static_cast<int64_t>(numbers[1]), numbers[2], numbers[3], numbers[4]};
  if (params.length < 0)
    return context.error("length " + std::to_string(params.length), "at least 0");
  Expected<Tensor *> output =
      allocateDims(context, 0, *storageDataType(op.getTo()), {params.length / 2 + 1, bins});
  if (!output)
    return propagate(output);
  return aboutLayer(context, kernels::melWeightMatrix(params, **output));
}

void tpuc::attachSignal(mlir::MLIRContext *context) {
  attachEvaluate<DFTOp, evaluateDft>(context);
  attachEvaluate<STFTOp, evaluateStft>(context);
  attachEvaluate<CosineWindowOp, evaluateWindow>(context);
  attachEvaluate<MelWeightMatrixOp, evaluateMel>(context);
}
