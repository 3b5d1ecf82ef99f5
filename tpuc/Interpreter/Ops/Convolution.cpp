//===- Convolution.cpp - What convolutions compute ------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Elementwise.h"
#include "tpuc/Interpreter/Kernels/Movement.h"
#include "tpuc/Interpreter/Ops/Families.h"
#include "tpuc/Interpreter/Ops/OpShapes.h"
#include "tpuc/Interpreter/Ops/Windows.h"

#include <algorithm>
#include <cstring>

using namespace tpuc;
using namespace tpuc::ops;

static kernels::ConvParams convParams(const OpContext &context, const Window &window) {
  kernels::ConvParams params;
  params.window = windowParams(window);
  params.group = context.integer("group");
  params.doRelu = context.optionalFlag("do_relu");
  if (params.doRelu)
    params.reluLimit = context.real("relu_limit");
  return params;
}

/// A bias with one element per output channel, or none.
static Expected<void> checkBias(OpContext &context, unsigned index, const Window &window) {
  if (context.has(index) && context.operand(index).numElements() != window.output[1])
    return context.error("bias has shape " + context.operand(index).shape().str(),
                         std::to_string(window.output[1]) + " elements");
  return {};
}

/// The input with `values` where windows reach beyond it, one for each channel or one for all;
/// these then reach no further.
static Tensor padWith(const Tensor &input, Window &window, std::span<const double> values,
                      ThreadPool &threads) {
  const Shape &from = input.shape();
  std::vector<kernels::AxisSource> sources;
  std::vector<int64_t> dims;
  for (size_t axis = 0; axis < from.rank(); ++axis) {
    const bool isSpatial = axis >= 2;
    sources.push_back(kernels::padSource(from[axis], isSpatial ? window.padsBegin[axis - 2] : 0,
                                         isSpatial ? window.padsEnd[axis - 2] : 0,
                                         kernels::PadMode::Constant));
    dims.push_back(std::ssize(sources.back()));
  }
  std::ranges::fill(window.padsBegin, 0);
  std::ranges::fill(window.padsEnd, 0);
  const Shape to(std::span<const int64_t>{dims});
  Tensor padded(input.type(), to);
  // All channels with the number of one, of which that one is kept.
  const int64_t plane = to.numElements() / std::max<int64_t>(1, to[0] * to[1]);
  const auto planeBytes = static_cast<size_t>(byteSize(input.type(), plane));
  for (size_t channel = 0; channel < values.size(); ++channel) {
    Tensor number(input.type(), Shape{});
    kernels::storeBlock<double>(values.subspan(channel, 1), number, 0);
    if (values.size() == 1) {
      kernels::remap(input, sources, &number, padded, threads);
      break;
    }
    Tensor part(input.type(), to);
    kernels::remap(input, sources, &number, part, threads);
    for (int64_t n = 0; n < to[0]; ++n) {
      const size_t at = (static_cast<size_t>(n * to[1]) + channel) * planeBytes;
      std::memcpy(padded.mutableBytes().data() + at, part.rawBytes().data() + at, planeBytes);
    }
  }
  return padded;
}

template <auto geometry, auto kernel>
static Expected<void> evaluateConvolution(OpContext &context) {
  if (Expected<void> checked = checkComputeTypes(context, {1, 2}); !checked)
    return checked;
  Expected<Window> window = geometry(windowSpec(context), dimsOf(context, 0), dimsOf(context, 1));
  if (!window)
    return located(context, window.error());
  if (Expected<void> checked = checkBias(context, 2, *window); !checked)
    return checked;
  Expected<Tensor *> output = allocateLike(context, window->output);
  if (!output)
    return propagate(output);
  Tensor input = context.operand(0);
  if (std::optional<Dims> inserts = context.optionalIntList("inserts"))
    input = kernels::insertZeros(input, *inserts);
  std::vector<double> outside = context.realList("pad_values");
  if (std::optional<double> number = context.optionalReal("pad_value"))
    outside = {*number};
  if (outside.size() > 1 && std::ssize(outside) != input.shape()[1])
    return context.error(std::to_string(outside.size()) + " pad_values",
                         "one for each of " + std::to_string(input.shape()[1]) + " channels");
  if (!outside.empty())
    input = padWith(input, *window, outside, context.threads());
  bool isConstant = !context.has(2) || context.cacheFor(2);
  kernel(input, context.operand(1), context.optional(2), convParams(context, *window), **output,
         context.threads(), isConstant ? context.cacheFor(1) : nullptr);
  return {};
}

static Expected<void> evaluateDeform(OpContext &context) {
  if (context.intList("kernel_shape").size() != 2)
    return context.error("a kernel_shape of another rank", "height and width");
  if (Expected<void> checked = checkComputeTypes(context, {1, 2, 3, 4}); !checked)
    return checked;
  Expected<Window> window =
      shapes::deformableWindow(windowSpec(context), context.integer("offset_group"),
                               dimsOf(context, 0), dimsOf(context, 1), dimsOf(context, 2));
  if (!window)
    return located(context, window.error());
  if (Expected<void> checked = checkBias(context, 3, *window); !checked)
    return checked;
  auto offsetGroup = context.integer("offset_group");
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
                          context.optional(3), context.optional(4), convParams(context, *window),
                          offsetGroup, **output, context.threads());
  return {};
}

static Expected<void> evaluateCol2Im(OpContext &context) {
  auto image = context.intsOf(1);
  auto block = context.intsOf(2);
  Expected<Window> window =
      shapes::blocksWindow(windowSpec(context, block->size()), dimsOf(context, 0), image, block);
  if (!window)
    return located(context, window.error());
  Expected<Tensor *> output = allocateLike(context, window->output);
  if (!output)
    return propagate(output);
  kernels::col2Im(context.operand(0), windowParams(*window), **output, context.threads());
  return {};
}

std::span<const OpEvaluator> ops::convolutionOps() {
  static constexpr OpEvaluator kOps[] = {
      {"Conv", evaluateConvolution<shapes::convolutionWindow, kernels::convolve>},
      {"Deconv", evaluateConvolution<shapes::transposedWindow, kernels::deconvolve>},
      {"DeformConv2D", evaluateDeform},
      {"Col2Im", evaluateCol2Im},
  };
  return kOps;
}
