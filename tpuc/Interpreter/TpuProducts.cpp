//===- TpuProducts.cpp - What convolutions and products of stored integers compute ---===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/MatrixShapes.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Interpreter/Attach.h"
#include "tpuc/Interpreter/Kernels/IntegerConvolution.h"
#include "tpuc/Interpreter/Kernels/IntegerMatrix.h"
#include "tpuc/Interpreter/StoredRequant.h"
#include "tpuc/Interpreter/TopWindow.h"

using namespace tpuc;
using namespace tpuc::top;

/// Room for result 0 of the shape `dims`, as it is stored.
static Expected<Tensor *> allocateStored(EvalContext &context, llvm::ArrayRef<int64_t> dims) {
  return context.allocate(0, resultType(context.op()), Shape(std::span(dims.data(), dims.size())));
}

template <typename Op, auto geometry, auto kernel>
static Expected<void> evaluateTpuConvolution(Op op, EvalContext &context) {
  Expected<Window> window =
      geometry(windowSpec(op), extents(context.operand(0)), extents(context.operand(1)));
  if (!window)
    return located(context, window.error());
  if (op.getInserts())
    return context.error("inserts zeros between stored integers", "no inserts");
  const tpu::StoredRange range = storedRange(op);
  kernels::IntegerConvParams params;
  params.window = windowParams(*window);
  params.group = op.getGroup();
  params.inputZero = zeroPoint(op.getInput());
  params.requant = requantOf(op, range);
  const auto channels = static_cast<size_t>(window->output[1]);
  if (size_t count = params.requant->factors.size(); count != 1 && count != channels)
    return context.error(std::to_string(count) + " multipliers",
                         "1 or " + std::to_string(channels) + ", one for each output channel");
  Expected<Tensor *> output = allocateStored(context, window->output);
  if (!output)
    return propagate(output);
  const bool isConstant = !context.has(2) || context.cacheFor(2);
  kernel(context.operand(0), context.operand(1), context.optional(2), params, **output,
         context.threads(), isConstant ? context.cacheFor(1) : nullptr);
  limitBelowZero(range, **output);
  return {};
}

static Expected<void> evaluateTpuMatMul(tpu::MatMulOp op, EvalContext &context) {
  const Tensor &left = context.operand(0);
  const Tensor &right = context.operand(1);
  Expected<Dims> shape =
      matMulShape(extents(left), extents(right), op.getLeftTranspose(), op.getRightTranspose());
  if (!shape)
    return located(context, shape.error());
  const tpu::StoredRange range = storedRange(op);
  kernels::IntegerMatMulParams params;
  params.transposeLeft = op.getLeftTranspose();
  params.transposeRight = op.getRightTranspose();
  params.leftZero = zeroPoint(op.getInput());
  params.rightZero = zeroPoint(op.getRight());
  params.requant = requantOf(op, range);
  Expected<Tensor *> output = allocateStored(context, *shape);
  if (!output)
    return propagate(output);
  const bool isConstant = !context.has(2) || context.cacheFor(2);
  kernels::integerMatMul(left, right, context.optional(2), params, **output, context.threads(),
                         isConstant ? context.cacheFor(1) : nullptr);
  limitBelowZero(range, **output);
  return {};
}

void tpuc::attachTpuProducts(mlir::MLIRContext *context) {
  attachEvaluate<tpu::ConvOp,
                 evaluateTpuConvolution<tpu::ConvOp, convolutionWindow, kernels::integerConvolve>>(
      context);
  attachEvaluate<tpu::DeconvOp, evaluateTpuConvolution<tpu::DeconvOp, transposedWindow,
                                                       kernels::integerDeconvolve>>(context);
  attachEvaluate<tpu::MatMulOp, evaluateTpuMatMul>(context);
}
