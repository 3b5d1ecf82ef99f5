//===- TpuElementwise.cpp - What element-wise ops on stored integers compute ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/UnaryOps.h"
#include "tpuc/Interpreter/Attach.h"
#include "tpuc/Interpreter/Kernels/Elementwise.h"
#include "tpuc/Interpreter/Kernels/FixedPoint.h"
#include "tpuc/Interpreter/Kernels/IntegerElementwise.h"
#include "tpuc/Interpreter/Kernels/IntegerTable.h"
#include "tpuc/Interpreter/StoredRequant.h"

using namespace tpuc;

static Expected<Tensor *> allocateSame(EvalContext &context) {
  return context.allocate(0, resultType(context.op()), context.operand(0).shape());
}

static llvm::SmallVector<Tensor> operandsOf(EvalContext &context) {
  llvm::SmallVector<Tensor> inputs;
  for (unsigned index = 0; index < context.numOperands(); ++index)
    inputs.push_back(context.operand(index));
  return inputs;
}

static Expected<Tensor *> allocateBroadcast(EvalContext &context, llvm::ArrayRef<Tensor> inputs) {
  llvm::SmallVector<Shape> shapes;
  for (const Tensor &input : inputs)
    shapes.push_back(input.shape());
  std::optional<Shape> shape = kernels::broadcastShape(shapes);
  if (!shape)
    return context.error("operands have shapes that do not broadcast together");
  return context.allocate(0, resultType(context.op()), *shape);
}

/// One factor and the rounding of ops that state them as single integers.
template <typename Op>
static kernels::RequantParams singleRequant(Op op, MultiplierShift factor,
                                            const tpu::StoredRange &range) {
  kernels::RequantParams params;
  if (auto mode = op->template getAttrOfType<mlir::StringAttr>("quant_mode"))
    params.mode = *parseRequantMode(mode.getValue());
  params.rounding = *parseRoundingMode(op.getRoundMode().value_or("HalfUp"));
  params.factors = {factor};
  params.zeroPoint = zeroPoint(op->getResult(0));
  params.range = kernelRange(range);
  return params;
}

/// The sum or difference of two, whose types state the factors.
template <typename Op> static Expected<void> evaluateFixedSum(Op op, EvalContext &context) {
  const llvm::SmallVector<Tensor> inputs = operandsOf(context);
  const tpu::StoredRange range = storedRange(op);
  Expected<Tensor *> output = allocateBroadcast(context, inputs);
  if (!output)
    return propagate(output);
  const auto operand = [&](unsigned index) {
    return kernels::FixedOperand{inputs[index],
                                 tpu::paramsOf(tpu::quantizedType(op->getOperand(index)))};
  };
  kernels::fixedAdd(operand(0), operand(1), std::is_same_v<Op, tpu::SubOp>,
                    {tpu::paramsOf(tpu::quantizedType(op->getResult(0))), kernelRange(range)},
                    **output, context.threads());
  limitBelowZero(range, **output);
  return {};
}

template <typename Op> static Expected<void> evaluateTpuSum(Op op, EvalContext &context) {
  if (op.getQuantMode())
    return evaluateFixedSum(op, context);
  const llvm::SmallVector<Tensor> inputs = operandsOf(context);
  if (!op.getMultiplier() || op.getMultiplier()->size() != inputs.size())
    return context.error("multiplier has not one entry for each operand",
                         std::to_string(inputs.size()) + " entries");
  const tpu::StoredRange range = storedRange(op);
  kernels::WeightedSumParams params;
  for (int64_t multiplier : top::toInts(*op.getMultiplier()))
    params.multipliers.push_back(static_cast<int32_t>(multiplier));
  params.constant = static_cast<int32_t>(op.getOffset().value_or(0));
  params.requant = singleRequant(op, {1, static_cast<int32_t>(op.getRshift().value_or(0))}, range);
  Expected<Tensor *> output = allocateBroadcast(context, inputs);
  if (!output)
    return propagate(output);
  kernels::integerWeightedSum(inputs, params, **output, context.threads());
  limitBelowZero(range, **output);
  return {};
}

static Expected<void> evaluateMul(tpu::MulOp op, EvalContext &context) {
  const llvm::SmallVector<Tensor> inputs = operandsOf(context);
  if (inputs.size() != 2)
    return context.error(std::to_string(inputs.size()) + " operands", "2 stored integers");
  const tpu::StoredRange range = storedRange(op);
  Expected<Tensor *> output = allocateBroadcast(context, inputs);
  if (!output)
    return propagate(output);
  const MultiplierShift factor{static_cast<int32_t>(op.getMultiplier()),
                               static_cast<int32_t>(op.getRshift())};
  kernels::integerProduct(inputs[0], zeroPoint(op->getOperand(0)), inputs[1],
                          zeroPoint(op->getOperand(1)), singleRequant(op, factor, range), **output,
                          context.threads());
  limitBelowZero(range, **output);
  return {};
}

/// Entry 0 of the factors for what is not negative, the others for the rest, by channel.
template <typename Op> static Expected<void> evaluateLeaky(Op op, EvalContext &context) {
  kernels::RequantParams positive = requantOf(op, storedRange(op));
  kernels::RequantParams negative = positive;
  negative.factors.erase(negative.factors.begin());
  positive.factors.resize(1);
  const Shape &shape = context.operand(0).shape();
  const size_t count = negative.factors.size();
  if (count == 0 || (count > 1 && (shape.rank() < 2 || int64_t(count) != shape[1])))
    return context.error(std::to_string(count) + " factors for negative elements",
                         "1, or one for each channel");
  Expected<Tensor *> output = allocateSame(context);
  if (!output)
    return propagate(output);
  kernels::integerLeakyRelu(context.operand(0), zeroPoint(op->getOperand(0)), positive, negative,
                            /*axis=*/1, **output, context.threads());
  return {};
}

static Expected<void> evaluateRequant(tpu::RequantIntOp op, EvalContext &context) {
  const tpu::StoredRange range = storedRange(op);
  const kernels::RequantParams params = requantOf(op, range);
  const Shape &shape = context.operand(0).shape();
  const size_t count = params.factors.size();
  if (count > 1 && (shape.rank() < 2 || int64_t(count) != shape[1]))
    return context.error(std::to_string(count) + " multipliers", "1, or one for each channel");
  Expected<Tensor *> output = allocateSame(context);
  if (!output)
    return propagate(output);
  kernels::integerRequantize(context.operand(0), zeroPoint(op.getInput()), /*axis=*/1, params,
                             **output, context.threads());
  return {};
}

static Expected<void> evaluateLut(tpu::LutOp op, EvalContext &context) {
  const Tensor &input = context.operand(0);
  const std::span<const std::byte> entries = context.operand(1).rawBytes();
  const kernels::ByteTable table = kernels::byteTable(input.type(), [&](int64_t stored) {
    return static_cast<uint8_t>(entries[static_cast<uint8_t>(stored)]);
  });
  Expected<Tensor *> output = allocateSame(context);
  if (!output)
    return propagate(output);
  kernels::lookUp(input, {&table, 1}, 0, **output, context.threads());
  return {};
}

void tpuc::attachTpuElementwise(mlir::MLIRContext *context) {
  attachEvaluate<tpu::AddOp, evaluateTpuSum<tpu::AddOp>>(context);
  attachEvaluate<tpu::SubOp, evaluateTpuSum<tpu::SubOp>>(context);
  attachEvaluate<tpu::MulOp, evaluateMul>(context);
  attachEvaluate<tpu::LeakyReluOp, evaluateLeaky<tpu::LeakyReluOp>>(context);
  attachEvaluate<tpu::PReluOp, evaluateLeaky<tpu::PReluOp>>(context);
  attachEvaluate<tpu::RequantIntOp, evaluateRequant>(context);
  attachEvaluate<tpu::LutOp, evaluateLut>(context);
}
