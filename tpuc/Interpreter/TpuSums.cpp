//===- TpuSums.cpp - What pools and reductions of stored integers compute ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Tpu/PoolOps.h"
#include "tpuc/Dialect/Tpu/ReduceOps.h"
#include "tpuc/Interpreter/Attach.h"
#include "tpuc/Interpreter/Kernels/IntegerPool.h"
#include "tpuc/Interpreter/Kernels/Reduce.h"
#include "tpuc/Interpreter/StoredRequant.h"
#include "tpuc/Interpreter/TopWindow.h"

using namespace tpuc;
using namespace tpuc::top;

static Expected<void> evaluateTpuAvgPool(tpu::AvgPoolOp op, EvalContext &context) {
  Expected<Window> window = poolWindow(windowSpec(op), extents(context.operand(0)));
  if (!window)
    return located(context, window.error());
  const tpu::StoredRange range = storedRange(op);
  kernels::IntegerPoolParams params;
  params.window = windowParams(*window);
  params.countIncludePad = op.getCountIncludePad();
  params.inputZero = zeroPoint(op.getInput());
  params.requant = requantOf(op, range);
  if (op->hasAttr("as_stored"))
    params.inputZero = params.requant.zeroPoint = 0;
  const Shape shape(std::span(window->output.data(), window->output.size()));
  std::vector<MultiplierShift> &factors = params.requant.factors;
  if (factors.size() > 1) {
    // The kernel counts from windows without elements.
    factors.insert(factors.begin(), MultiplierShift());
    if (int64_t most = kernels::largestPoolCount(context.operand(0).shape(), shape, params);
        std::ssize(factors) <= most)
      return context.error(std::to_string(factors.size() - 1) + " multipliers",
                           std::to_string(most) + ", one for each number of elements");
  }
  Expected<Tensor *> output = context.allocate(0, resultType(op), shape);
  if (!output)
    return propagate(output);
  kernels::integerAveragePool(context.operand(0), params, **output, context.threads());
  limitBelowZero(range, **output);
  return {};
}

static Expected<void> evaluateTpuReduce(tpu::ReduceOp op, EvalContext &context) {
  const Tensor &input = context.operand(0);
  const auto rank = static_cast<int64_t>(input.shape().rank());
  llvm::SmallVector<int64_t> axes = op.getAxes() ? toInts(*op.getAxes()) : Dims();
  if (axes.empty())
    axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  for (int64_t &axis : axes) {
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis >= rank)
      return context.error("axis " + std::to_string(axis), "an axis of " + input.shape().str());
  }
  Expected<Tensor *> output = context.allocate(
      0, resultType(op), kernels::reducedShape(input.shape(), axes, op.getKeepdims()));
  if (!output)
    return propagate(output);
  kernels::integerReduceSum(input, axes, zeroPoint(op.getInput()), requantOf(op, storedRange(op)),
                            **output, context.threads());
  return {};
}

void tpuc::attachTpuSums(mlir::MLIRContext *context) {
  attachEvaluate<tpu::AvgPoolOp, evaluateTpuAvgPool>(context);
  attachEvaluate<tpu::ReduceOp, evaluateTpuReduce>(context);
}
