//===- Norm.cpp - What normalization computes -----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Norm.h"
#include "tpuc/Interpreter/Ops/Families.h"
#include "tpuc/Interpreter/Ops/OpShapes.h"

using namespace tpuc;
using namespace tpuc::ops;

static Expected<Tensor *> likeInput(OpContext &context) {
  return context.allocate(0, context.operand(0).type(), context.operand(0).shape());
}

/// Operands 1 and on, where they are there, have one element per channel.
static Expected<void> checkChannels(OpContext &context) {
  const Shape &input = context.operand(0).shape();
  if (input.rank() == 0)
    return context.error("input is a scalar", "channels");
  int64_t channels = input.rank() > 1 ? input[1] : 1;
  for (unsigned i = 1; i < context.numOperands(); ++i)
    if (context.has(i) && context.operand(i).numElements() != channels)
      return context.error("operand " + std::to_string(i) + " has shape " +
                               context.operand(i).shape().str(),
                           std::to_string(channels) + " elements, one per channel");
  return {};
}

/// `axis` counted from the front.
static Expected<size_t> axisOf(OpContext &context, int64_t axis) {
  auto rank = static_cast<int64_t>(context.operand(0).shape().rank());
  if (axis < -rank || axis >= rank)
    return context.error("axis " + std::to_string(axis),
                         "one of the input's " + std::to_string(rank));
  return static_cast<size_t>(axis < 0 ? axis + rank : axis);
}

/// Operand `index` broadcasts to the input's axes from `axis` on.
static Expected<void> checkTrailing(OpContext &context, unsigned index, size_t axis) {
  if (!context.has(index))
    return {};
  const Shape &input = context.operand(0).shape();
  const Shape &shape = context.operand(index).shape();
  bool fits = shape.rank() <= input.rank() - axis;
  for (size_t back = 1; fits && back <= shape.rank(); ++back)
    fits =
        shape[shape.rank() - back] == 1 || shape[shape.rank() - back] == input[input.rank() - back];
  if (!fits)
    return context.error("operand " + std::to_string(index) + " has shape " + shape.str(),
                         "one that broadcasts to the axes of " + input.str() + " from " +
                             std::to_string(axis) + " on");
  return {};
}

/// Calls `kernel(output)` where all parameters are per channel.
template <typename Kernel> static Expected<void> perChannel(OpContext &context, Kernel &&kernel) {
  if (Expected<void> checked = checkChannels(context); !checked)
    return checked;
  Expected<Tensor *> output = likeInput(context);
  if (!output)
    return propagate(output);
  kernel(**output);
  return {};
}

/// Calls `kernel(axis, output)`.
template <typename Kernel>
static Expected<void> along(OpContext &context, int64_t axis, Kernel &&kernel) {
  Expected<size_t> front = axisOf(context, axis);
  if (!front)
    return propagate(front);
  Expected<Tensor *> output = likeInput(context);
  if (!output)
    return propagate(output);
  kernel(*front, **output);
  return {};
}

static Expected<void> evaluateScale(OpContext &context) {
  return perChannel(context, [&](Tensor &output) {
    kernels::scaleChannels(context.operand(0), context.operand(1), context.operand(2),
                           context.flag("do_relu"), context.real("relu_limit"), output,
                           context.threads());
  });
}

static Expected<void> evaluateBatchNorm(OpContext &context) {
  return perChannel(context, [&](Tensor &output) {
    kernels::batchNorm(context.operand(0), context.operand(1), context.operand(2),
                       context.optional(3), context.optional(4), context.real("epsilon"),
                       context.flag("do_relu"), context.real("relu_limit"), output,
                       context.threads());
  });
}

static Expected<void> evaluateBatchNormTrain(OpContext &context) {
  if (Expected<void> checked = checkChannels(context); !checked)
    return checked;
  Expected<Tensor *> output = likeInput(context);
  if (!output)
    return propagate(output);
  for (unsigned i : {1U, 2U}) {
    Expected<Tensor *> room =
        context.allocate(i, context.operand(i).type(), context.operand(i).shape());
    if (!room)
      return propagate(room);
  }
  kernels::batchNormTrain(context.operand(0), context.operand(1), context.operand(2),
                          context.optional(3), context.optional(4), context.real("epsilon"),
                          context.real("momentum"), **output, context.results()[1],
                          context.results()[2], context.threads());
  return {};
}

static Expected<void> evaluateLayerNorm(OpContext &context) {
  Expected<size_t> axis = axisOf(context, context.integer("axis"));
  if (!axis)
    return propagate(axis);
  for (unsigned i : {1U, 2U})
    if (Expected<void> checked = checkTrailing(context, i, *axis); !checked)
      return checked;
  Expected<Tensor *> output = likeInput(context);
  if (!output)
    return propagate(output);
  Shape statistics = context.operand(0).shape();
  for (size_t i = *axis; i < statistics.rank(); ++i)
    statistics[i] = 1;
  for (unsigned i : {1U, 2U})
    if (context.wants(i)) {
      Expected<Tensor *> room = context.allocate(i, DataType::F32, statistics);
      if (!room)
        return propagate(room);
    }
  kernels::layerNorm(context.operand(0), context.optional(1), context.optional(2), *axis,
                     context.real("eps"), context.results()[0],
                     context.wants(1) ? &context.results()[1] : nullptr,
                     context.wants(2) ? &context.results()[2] : nullptr, context.threads());
  return {};
}

static Expected<void> evaluateRMSNorm(OpContext &context) {
  Expected<size_t> axis = axisOf(context, context.integer("axis"));
  if (!axis)
    return propagate(axis);
  if (Expected<void> checked = checkTrailing(context, 1, *axis); !checked)
    return checked;
  const int64_t heads = context.optionalInteger("num_heads").value_or(1);
  const Shape &shape = context.operand(0).shape();
  if (heads < 1 || (heads > 1 && (*axis + 1 != shape.rank() || shape[*axis] % heads != 0)))
    return context.error(std::to_string(heads) + " parts of " + shape.str(),
                         "equal parts of the last dimension");
  return along(context, context.integer("axis"), [&](size_t front, Tensor &output) {
    kernels::rmsNorm(context.operand(0), context.optional(1), front, context.real("eps"), heads,
                     output, context.threads());
  });
}

static Expected<void> evaluateInstanceNorm(OpContext &context) {
  return perChannel(context, [&](Tensor &output) {
    const Shape &shape = context.operand(0).shape();
    kernels::groupNorm(context.operand(0), context.optional(1), context.optional(2),
                       shape.rank() > 1 ? shape[1] : 1, context.real("eps"), output,
                       context.threads());
  });
}

static Expected<void> evaluateGroupNorm(OpContext &context) {
  const Shape &shape = context.operand(0).shape();
  auto groups = context.integer("num_groups");
  if (shape.rank() < 2 || shape[1] % groups != 0)
    return context.error("input has shape " + shape.str(),
                         "channels that " + std::to_string(groups) + " groups divide");
  return perChannel(context, [&](Tensor &output) {
    kernels::groupNorm(context.operand(0), context.optional(1), context.optional(2), groups,
                       context.real("eps"), output, context.threads());
  });
}

static Expected<void> evaluatePixelNorm(OpContext &context) {
  return perChannel(context, [&](Tensor &output) {
    kernels::pixelNorm(context.operand(0), context.optional(1), context.optional(2),
                       context.real("eps"), output, context.threads());
  });
}

static Expected<void> evaluateNormalize(OpContext &context) {
  return along(context, context.integer("axis"), [&](size_t axis, Tensor &output) {
    kernels::normalize(context.operand(0), axis, context.integer("p"), output, context.threads());
  });
}

static Expected<void> evaluateMeanVarianceNorm(OpContext &context) {
  std::vector<size_t> axes;
  for (int64_t axis : context.intList("axes")) {
    Expected<size_t> front = axisOf(context, axis);
    if (!front)
      return propagate(front);
    axes.push_back(*front);
  }
  Expected<Tensor *> output = likeInput(context);
  if (!output)
    return propagate(output);
  kernels::meanVarianceNorm(context.operand(0), axes, context.real("eps"), **output,
                            context.threads());
  return {};
}

static Expected<void> evaluateLRN(OpContext &context) {
  if (context.flag("within_channel")) {
    if (context.operand(0).shape().rank() != 4)
      return context.error("input has shape " + context.operand(0).shape().str(), "[n, c, h, w]");
    Expected<Tensor *> output = likeInput(context);
    if (!output)
      return propagate(output);
    kernels::localResponseNormWithin(context.operand(0), context.integer("size"),
                                     context.real("alpha"), context.real("beta"),
                                     context.real("bias"), **output, context.threads());
    return {};
  }
  return along(context, 1, [&](size_t, Tensor &output) {
    kernels::localResponseNorm(context.operand(0), context.integer("size"), context.real("alpha"),
                               context.real("beta"), context.real("bias"), output,
                               context.threads());
  });
}

static Expected<void> evaluateSoftmax(OpContext &context) {
  return along(context, context.integer("axis"), [&](size_t axis, Tensor &output) {
    kernels::softmax(context.operand(0), axis, context.real("beta"), context.flag("log"), output,
                     context.threads());
  });
}

static Expected<void> evaluateHardmax(OpContext &context) {
  return along(context, context.integer("axis"), [&](size_t axis, Tensor &output) {
    kernels::hardmax(context.operand(0), axis, output, context.threads());
  });
}

std::span<const OpEvaluator> ops::normOps() {
  static constexpr OpEvaluator kOps[] = {
      {"Scale", evaluateScale},
      {"BatchNorm", evaluateBatchNorm},
      {"BatchNormTrain", evaluateBatchNormTrain},
      {"LayerNorm", evaluateLayerNorm},
      {"RMSNorm", evaluateRMSNorm},
      {"InstanceNorm", evaluateInstanceNorm},
      {"GroupNorm", evaluateGroupNorm},
      {"PixelNorm", evaluatePixelNorm},
      {"Normalize", evaluateNormalize},
      {"MeanVarianceNorm", evaluateMeanVarianceNorm},
      {"LRN", evaluateLRN},
      {"Softmax", evaluateSoftmax},
      {"Hardmax", evaluateHardmax},
  };
  return kOps;
}
