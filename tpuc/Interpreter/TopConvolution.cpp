//===- TopConvolution.cpp - What convolutions compute ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Interpreter/Attach.h"
#include "tpuc/Interpreter/TopWindow.h"

using namespace tpuc;
using namespace tpuc::top;

template <typename Op> static kernels::ConvParams convParams(Op op, const Window &window) {
  kernels::ConvParams params;
  params.window = windowParams(window);
  params.group = op.getGroup();
  if constexpr (requires { op.getDoRelu(); }) {
    params.doRelu = op.getDoRelu();
    params.reluLimit = op.getReluLimit().convertToDouble();
  }
  return params;
}

/// A bias with one element per output channel, or none.
static Expected<void> checkBias(EvalContext &context, unsigned index, const Window &window) {
  if (context.has(index) && context.operand(index).numElements() != window.output[1])
    return context.error("bias has shape " + context.operand(index).shape().str(),
                         std::to_string(window.output[1]) + " elements");
  return {};
}

template <typename Op, auto kernel>
static Expected<void> evaluateConvolution(Op op, EvalContext &context) {
  Expected<Window> window = windowOf(op, extents(context.operand(0)), extents(context.operand(1)));
  if (!window)
    return located(context, window.error());
  if (Expected<void> checked = checkBias(context, 2, *window); !checked)
    return checked;
  Expected<Tensor *> output = allocateLike(context, window->output);
  if (!output)
    return propagate(output);
  Tensor input = context.operand(0);
  if (op.getInserts())
    input = kernels::insertZeros(input, toVector(toInts(*op.getInserts())));
  bool isConstant = !context.has(2) || context.cacheFor(2);
  kernel(input, context.operand(1), context.optional(2), convParams(op, *window), **output,
         context.threads(), isConstant ? context.cacheFor(1) : nullptr);
  return {};
}

static Expected<void> evaluateDeform(DeformConv2DOp op, EvalContext &context) {
  Expected<Window> window = windowOf(op, extents(context.operand(0)), extents(context.operand(1)),
                                     extents(context.operand(2)));
  if (!window)
    return located(context, window.error());
  if (Expected<void> checked = checkBias(context, 3, *window); !checked)
    return checked;
  auto offsetGroup = static_cast<int64_t>(op.getOffsetGroup());
  const Shape &input = context.operand(0).shape();
  if (input[1] % offsetGroup != 0)
    return context.error(std::to_string(input[1]) + " input channels",
                         "a multiple of the " + std::to_string(offsetGroup) + " offset groups");
  Shape maskShape = context.operand(2).shape();
  maskShape[1] /= 2;
  if (context.has(4) && context.operand(4).shape() != maskShape)
    return context.error("mask has shape " + context.operand(4).shape().str(), maskShape.str());
  Expected<Tensor *> output = allocateLike(context, window->output);
  if (!output)
    return propagate(output);
  kernels::deformConvolve(context.operand(0), context.operand(1), context.operand(2),
                          context.optional(3), context.optional(4), convParams(op, *window),
                          offsetGroup, **output, context.threads());
  return {};
}

static Expected<void> evaluateCol2Im(Col2ImOp op, EvalContext &context) {
  auto image = context.ints(std::nullopt, 1);
  auto block = context.ints(std::nullopt, 2);
  Expected<Window> window = windowOf(op, extents(context.operand(0)), image, block);
  if (!window)
    return located(context, window.error());
  Expected<Tensor *> output = allocateLike(context, window->output);
  if (!output)
    return propagate(output);
  kernels::col2Im(context.operand(0), windowParams(*window), **output, context.threads());
  return {};
}

void tpuc::attachConvolution(mlir::MLIRContext *context) {
  attachEvaluate<ConvOp, evaluateConvolution<ConvOp, kernels::convolve>>(context);
  attachEvaluate<DeconvOp, evaluateConvolution<DeconvOp, kernels::deconvolve>>(context);
  attachEvaluate<DeformConv2DOp, evaluateDeform>(context);
  attachEvaluate<Col2ImOp, evaluateCol2Im>(context);
}
