//===- ConvolutionPlan.cpp - Convolutions as commands see them -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/ConvolutionPlan.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684x {

ConvolutionPlan convolutionPlan(const Window2d &window) {
  return {window, {0, 0}, false, strideFactors(window.stride)};
}

ConvolutionPlan deconvolutionPlan(const Window2d &window) {
  ConvolutionPlan plan{window, {}, true, {1, 1}};
  plan.insert = {window.stride[0] - 1, window.stride[1] - 1};
  plan.window.stride = {1, 1};
  return plan;
}

/// Zeros that a filter needs below and right of the image where its kernel is no multiple of the
/// factors.
static Window2d phaseWindow(const ConvolutionPlan &plan, const Extents &phase,
                            const Extents &output) {
  Window2d window = plan.window;
  for (size_t axis = 0; axis < 2; ++axis) {
    window.stride[axis] /= plan.factors[axis];
    window.kernel[axis] = ceilDiv(window.kernel[axis], plan.factors[axis]);
    int64_t covered = (output[axis + 2] - 1) * window.stride[axis] + window.kernel[axis];
    window.padEnd[axis] = std::max<int64_t>(0, covered - phase[axis + 2]);
  }
  return window;
}

/// The rows and columns of the image that the filter's phase (y, x) meets.
static LocalTensor phaseOf(const LocalTensor &input, const ConvolutionPlan &plan, int64_t y,
                           int64_t x) {
  LocalTensor part = input;
  part.explicitStride = input.strides();
  part.layout = Layout::Explicit;
  const std::array<int64_t, 2> first{y, x};
  for (size_t axis = 0; axis < 2; ++axis) {
    int64_t &stride = part.explicitStride[axis + 2];
    part.address += static_cast<uint32_t>(first[axis] * stride * input.elementBytes());
    part.shape[axis + 2] = ceilDiv(input.shape[axis + 2] - first[axis], plan.factors[axis]);
    stride *= plan.factors[axis];
  }
  return part;
}

Expected<void> checkPlan(const std::string &where, const ConvolutionPlan &plan,
                         const LocalTensor &input, const LocalTensor &output, int64_t group,
                         bool isDepthwise) {
  if (group < 1 || input.shape[1] % group != 0 || output.shape[1] % group != 0 ||
      input.shape[0] != output.shape[0])
    return makeError(where,
                     fmt::format("[{}] to [{}] in {} groups", fmt::join(input.shape, ","),
                                 fmt::join(output.shape, ","), group),
                     "equal n, and channels that are multiples of the groups");
  if (!isDepthwise)
    if (Expected<void> fits = checkTerms(where, "input channels", input.shape[1] / group); !fits)
      return fits;
  if (!plan.isShared())
    return checkWindow(where, plan.window, input.shape, output.shape, plan.insert);
  bool isPlain = !isDepthwise && plan.window.dilation == std::array<int64_t, 2>{1, 1} &&
                 plan.window.padBegin == std::array<int64_t, 2>{0, 0} && plan.factors[0] > 0 &&
                 plan.factors[1] > 0;
  if (!isPlain)
    return makeError(where, fmt::format("strides of {}", fmt::join(plan.window.stride, "x")),
                     fmt::format("at most {}, or a multiple of one and no padding, dilation or "
                                 "depthwise filter",
                                 kMostStride));
  Extents smallest = phaseOf(input, plan, plan.factors[0] - 1, plan.factors[1] - 1).shape;
  return checkWindow(where, phaseWindow(plan, smallest, output.shape), smallest, output.shape);
}

void setPhase(ConvCommand &command, const ConvolutionPlan &plan, const LocalTensor &input,
              int64_t phase) {
  command.input = input;
  command.window = plan.window;
  command.insert = plan.insert;
  command.rotates = plan.rotates;
  if (!plan.isShared())
    return;
  command.input = phaseOf(input, plan, phase / plan.factors[1], phase % plan.factors[1]);
  command.window = phaseWindow(plan, command.input.shape, command.output.shape);
}

} // namespace tpuc::bm1684x
