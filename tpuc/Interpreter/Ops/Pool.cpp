//===- Pool.cpp - What pooling computes -----------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Pool.h"
#include "tpuc/Interpreter/Ops/Families.h"
#include "tpuc/Interpreter/Ops/OpShapes.h"
#include "tpuc/Interpreter/Ops/Windows.h"
#include "tpuc/Support/Convert.h"

using namespace tpuc;
using namespace tpuc::ops;

/// Only average and maximum have more than a window.
static kernels::PoolParams poolParams(const OpContext &context, const Window &window) {
  kernels::PoolParams params;
  params.window = windowParams(window);
  params.countIncludePad = context.optionalFlag("count_include_pad");
  params.padValue = static_cast<double>(context.optionalInteger("pad_value").value_or(0));
  params.doRelu = context.optionalFlag("do_relu");
  params.reluLimit = context.optionalReal("relu_limit").value_or(params.reluLimit);
  return params;
}

/// Calls `kernel(params, output)` with room for the output.
template <typename Kernel> static Expected<void> pool(OpContext &context, Kernel &&kernel) {
  Expected<Window> window = shapes::poolWindow(windowSpec(context), dimsOf(context, 0));
  if (!window)
    return located(context, window.error());
  Expected<Tensor *> output = allocateLike(context, window->output);
  if (!output)
    return propagate(output);
  return kernel(poolParams(context, *window), **output);
}

static Expected<void> evaluateAvgPool(OpContext &context) {
  return pool(context, [&](const kernels::PoolParams &params, Tensor &output) {
    kernels::averagePool(context.operand(0), params, output, context.threads());
    return Expected<void>();
  });
}

static Expected<void> evaluateMaxPool(OpContext &context) {
  return pool(context, [&](const kernels::PoolParams &params, Tensor &output) {
    kernels::maxPool(context.operand(0), params, output, nullptr, false, context.threads());
    return Expected<void>();
  });
}

static Expected<void> evaluateMaxPoolWithMask(OpContext &context) {
  return pool(context, [&](const kernels::PoolParams &params, Tensor &output) -> Expected<void> {
    Expected<Tensor *> indices = context.allocate(1, DataType::I64, output.shape());
    if (!indices)
      return propagate(indices);
    kernels::maxPool(context.operand(0), params, output, *indices,
                     context.integer("storage_order") == 1, context.threads());
    return {};
  });
}

static Expected<void> evaluateLpPool(OpContext &context) {
  return pool(context, [&](const kernels::PoolParams &params, Tensor &output) {
    kernels::lpPool(context.operand(0), params, context.integer("p"), output, context.threads());
    return Expected<void>();
  });
}

static Expected<void> evaluateMaxUnpool(OpContext &context) {
  const Tensor &input = context.operand(0);
  shapes::WindowSpec spec = windowSpec(context);
  spec.dilations.reset();
  Expected<Window> window =
      shapes::unpoolWindow(spec, input.shape().dims(), context.intsOf(2), context.has(2));
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

static Expected<void> evaluateRoiAlign(OpContext &context) {
  const Shape &input = context.operand(0).shape();
  const Shape &rois = context.operand(1).shape();
  const Shape &batches = context.operand(2).shape();
  if (input.rank() != 4 || rois.rank() != 2 || rois[1] != 4 || batches.rank() != 1 ||
      batches[0] != rois[0])
    return context.error("shapes " + input.str() + ", " + rois.str() + " and " + batches.str(),
                         "[N, C, H, W], [R, 4] and [R]");
  Expected<Tensor *> output =
      allocateLike(context, Dims{rois[0], input[1], context.integer("output_height"),
                                 context.integer("output_width")});
  if (!output)
    return propagate(output);
  kernels::RoiAlignParams params{context.text("mode") == "Max", context.integer("sampling_ratio"),
                                 context.real("spatial_scale"), context.flag("align_corners")};
  Expected<void> done = kernels::roiAlign(context.operand(0), context.operand(1),
                                          convert(context.operand(2), DataType::I64), params,
                                          **output, context.threads());
  if (!done)
    return located(context, done.error());
  return {};
}

std::span<const OpEvaluator> ops::poolOps() {
  static constexpr OpEvaluator kOps[] = {
      {"AvgPool", evaluateAvgPool},
      {"MaxPool", evaluateMaxPool},
      {"MaxPoolWithMask", evaluateMaxPoolWithMask},
      {"LpPool", evaluateLpPool},
      {"MaxUnpool", evaluateMaxUnpool},
      {"RoiAlign", evaluateRoiAlign},
  };
  return kOps;
}
