//===- TopPool.cpp - What pooling computes --------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/PoolOps.h"
#include "tpuc/Interpreter/Attach.h"
#include "tpuc/Interpreter/Kernels/Pool.h"
#include "tpuc/Interpreter/TopWindow.h"
#include "tpuc/Support/Convert.h"

using namespace tpuc;
using namespace tpuc::top;

template <typename Op> static kernels::PoolParams poolParams(Op op, const Window &window) {
  kernels::PoolParams params;
  params.window = windowParams(window);
  if constexpr (requires { op.getCountIncludePad(); }) {
    params.countIncludePad = op.getCountIncludePad();
    params.padValue = static_cast<double>(static_cast<int64_t>(op.getPadValue()));
    params.doRelu = op.getDoRelu();
    params.reluLimit = op.getReluLimit().convertToDouble();
  }
  return params;
}

/// Calls `kernel(params, output)` with room for the output of `op`.
template <typename Op, typename Kernel>
static Expected<void> pool(Op op, EvalContext &context, Kernel &&kernel) {
  Expected<Window> window = windowOf(op, extents(context.operand(0)));
  if (!window)
    return located(context, window.error());
  Expected<Tensor *> output = allocateLike(context, window->output);
  if (!output)
    return propagate(output);
  return kernel(poolParams(op, *window), **output);
}

static Expected<void> evaluateAvgPool(AvgPoolOp op, EvalContext &context) {
  return pool(op, context, [&](const kernels::PoolParams &params, Tensor &output) {
    kernels::averagePool(context.operand(0), params, output, context.threads());
    return Expected<void>();
  });
}

static Expected<void> evaluateMaxPool(MaxPoolOp op, EvalContext &context) {
  return pool(op, context, [&](const kernels::PoolParams &params, Tensor &output) {
    kernels::maxPool(context.operand(0), params, output, nullptr, false, context.threads());
    return Expected<void>();
  });
}

static Expected<void> evaluateMaxPoolWithMask(MaxPoolWithMaskOp op, EvalContext &context) {
  return pool(op, context,
              [&](const kernels::PoolParams &params, Tensor &output) -> Expected<void> {
                Expected<Tensor *> indices = context.allocate(1, DataType::I64, output.shape());
                if (!indices)
                  return propagate(indices);
                kernels::maxPool(context.operand(0), params, output, *indices,
                                 op.getStorageOrder() == 1, context.threads());
                return {};
              });
}

static Expected<void> evaluateLpPool(LpPoolOp op, EvalContext &context) {
  return pool(op, context, [&](const kernels::PoolParams &params, Tensor &output) {
    kernels::lpPool(context.operand(0), params, op.getP(), output, context.threads());
    return Expected<void>();
  });
}

static Expected<void> evaluateMaxUnpool(MaxUnpoolOp op, EvalContext &context) {
  const Tensor &input = context.operand(0);
  Expected<Window> window = windowOf(op, extents(input), context.ints(std::nullopt, 2));
  if (!window)
    return located(context, window.error());
  if (context.operand(1).shape() != input.shape())
    return context.error("indices have shape " + context.operand(1).shape().str(),
                         input.shape().str());
  // Indices count in the tensor that was pooled, also where a larger output is asked for.
  Shape indexed = input.shape();
  for (size_t axis = 0; axis < window->kernel.size(); ++axis)
    indexed[axis + 2] = (indexed[axis + 2] - 1) * window->strides[axis] + window->kernel[axis] -
                        window->padsBegin[axis] - window->padsEnd[axis];
  for (size_t axis = 0; axis < indexed.rank(); ++axis)
    if (window->output[axis] < indexed[axis])
      indexed[axis] = window->output[axis];
  Expected<Tensor *> output = allocateLike(context, window->output);
  if (!output)
    return propagate(output);
  Expected<void> done =
      kernels::maxUnpool(input, convert(context.operand(1), DataType::I64), indexed, **output);
  if (!done)
    return located(context, done.error());
  return {};
}

static Expected<void> evaluateRoiAlign(RoiAlignOp op, EvalContext &context) {
  const Shape &input = context.operand(0).shape();
  const Shape &rois = context.operand(1).shape();
  const Shape &batches = context.operand(2).shape();
  if (input.rank() != 4 || rois.rank() != 2 || rois[1] != 4 || batches.rank() != 1 ||
      batches[0] != rois[0])
    return context.error("shapes " + input.str() + ", " + rois.str() + " and " + batches.str(),
                         "[N, C, H, W], [R, 4] and [R]");
  Expected<Tensor *> output =
      allocateLike(context, Dims{rois[0], input[1], static_cast<int64_t>(op.getOutputHeight()),
                                 static_cast<int64_t>(op.getOutputWidth())});
  if (!output)
    return propagate(output);
  kernels::RoiAlignParams params{op.getMode() == "Max", static_cast<int64_t>(op.getSamplingRatio()),
                                 op.getSpatialScale().convertToDouble(), op.getAlignCorners()};
  Expected<void> done = kernels::roiAlign(context.operand(0), context.operand(1),
                                          convert(context.operand(2), DataType::I64), params,
                                          **output, context.threads());
  if (!done)
    return located(context, done.error());
  return {};
}

void tpuc::attachPool(mlir::MLIRContext *context) {
  attachEvaluate<AvgPoolOp, evaluateAvgPool>(context);
  attachEvaluate<MaxPoolOp, evaluateMaxPool>(context);
  attachEvaluate<MaxPoolWithMaskOp, evaluateMaxPoolWithMask>(context);
  attachEvaluate<LpPoolOp, evaluateLpPool>(context);
  attachEvaluate<MaxUnpoolOp, evaluateMaxUnpool>(context);
  attachEvaluate<RoiAlignOp, evaluateRoiAlign>(context);
}
