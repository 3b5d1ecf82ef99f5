//===- Convolution.cpp - Convolutions--------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Convolution.h"
#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/ConvCommand.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684x {

namespace {

/// A convolution as commands see it: in a deconvolution zeros are inserted, the kernel is turned
/// and steps are 1.
struct ConvolutionPlan {
  Window2d window;
  std::array<int64_t, 2> insert{0, 0};
  bool rotates = false;
  /// More than 1 where several commands share a large stride.
  std::array<int64_t, 2> factors{1, 1};

  bool isShared() const { return factors[0] * factors[1] > 1; }
};

ConvolutionPlan convolutionPlan(const Convolution &conv) {
  return {conv.window, {0, 0}, false, strideFactors(conv.window.stride)};
}

ConvolutionPlan deconvolutionPlan(const Convolution &deconv) {
  ConvolutionPlan plan{deconv.window, {}, true, {1, 1}};
  plan.insert = {deconv.window.stride[0] - 1, deconv.window.stride[1] - 1};
  plan.window.stride = {1, 1};
  return plan;
}

/// Zeros that a filter needs below and right of the image where its kernel is no multiple of the
/// factors.
Window2d phaseWindow(const ConvolutionPlan &plan, const Extents &phase, const Extents &output) {
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
LocalTensor phaseOf(const LocalTensor &input, const ConvolutionPlan &plan, int64_t y, int64_t x) {
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

Expected<void> checkPlan(const std::string &where, const Convolution &conv,
                         const ConvolutionPlan &plan) {
  for (const auto &[name, tensor] :
       {std::pair{"input", &conv.input}, std::pair{"output", &conv.output}})
    if (Expected<void> fits = checkFloatTensor(where, name, *tensor); !fits)
      return fits;
  bool sameType = conv.output.type == conv.input.type;
  if (!sameType && (conv.output.type != DataType::F32 || conv.isDepthwise()))
    return makeError(where, fmt::format("an output of {}", dataTypeName(conv.output.type)),
                     conv.isDepthwise() ? "the type of the input" : "the type of the input or f32");
  if (conv.group < 1 || conv.input.shape[1] % conv.group != 0 ||
      conv.output.shape[1] % conv.group != 0 || conv.input.shape[0] != conv.output.shape[0])
    return makeError(where,
                     fmt::format("[{}] to [{}] in {} groups", fmt::join(conv.input.shape, ","),
                                 fmt::join(conv.output.shape, ","), conv.group),
                     "equal n, and channels that are multiples of the groups");
  if (Expected<void> fits = checkLayout(where, "output", conv.output, Layout::Aligned); !fits)
    return fits;
  if (conv.isDepthwise())
    if (Expected<void> fits = checkLayout(where, "input", conv.input, Layout::Aligned); !fits)
      return fits;
  if (!plan.isShared())
    return checkWindow(where, plan.window, conv.input.shape, conv.output.shape, plan.insert);
  bool isPlain = !conv.isDepthwise() && plan.window.dilation == std::array<int64_t, 2>{1, 1} &&
                 plan.window.padBegin == std::array<int64_t, 2>{0, 0} && plan.factors[0] > 0 &&
                 plan.factors[1] > 0;
  if (!isPlain)
    return makeError(where, fmt::format("strides of {}", fmt::join(plan.window.stride, "x")),
                     fmt::format("at most {}, or a multiple of one and no padding, dilation or "
                                 "depthwise filter",
                                 kMostStride));
  Extents smallest = phaseOf(conv.input, plan, plan.factors[0] - 1, plan.factors[1] - 1).shape;
  return checkWindow(where, phaseWindow(plan, smallest, conv.output.shape), smallest,
                     conv.output.shape);
}

/// Shared convolutions add up in F32.
uint32_t neededScratch(const Convolution &conv, const ConvolutionPlan &plan) {
  if (!plan.isShared() || conv.output.type == DataType::F32)
    return 0;
  return laneBytes(DataType::F32, conv.output.shape, Layout::Aligned, conv.output.startLane);
}

void addDense(Builder &builder, const Convolution &conv, const ConvolutionPlan &plan) {
  LocalTensor sum = conv.output;
  if (neededScratch(conv, plan) > 0)
    sum = localTensor(DataType::F32, conv.output.shape, conv.scratch.address, Layout::Aligned,
                      conv.output.startLane);
  const int64_t outputs = conv.output.shape[1];
  const Extents filterShape = {outputs, conv.input.shape[1] / conv.group, conv.window.kernel[0],
                               conv.window.kernel[1]};
  const auto stride = plan.rotates ? plan.window.stride : conv.window.stride;
  LocalTensor filters =
      localTensor(conv.input.type, packedFilterShape(conv.input.type, filterShape, stride),
                  conv.filterAddress, Layout::Compact, conv.output.startLane);
  for (const GroupPart &part : groupParts(conv.input, sum, conv.group)) {
    const int64_t count = part.output.shape[1];
    std::optional<LocalTensor> bias;
    if (conv.biasAddress)
      bias = localTensor(DataType::F32, {1, outputs, 1, 1}, *conv.biasAddress, Layout::Compact,
                         conv.output.startLane)
                 .slice(1, part.firstOutput, count);
    for (int64_t phase = 0; phase < filters.shape[0]; ++phase) {
      ConvCommand command;
      command.input = part.input;
      command.output = part.output;
      command.filter = filters.slice(0, phase, 1).slice(1, part.firstOutput, count);
      command.bias = bias;
      command.window = plan.window;
      command.insert = plan.insert;
      command.rotates = plan.rotates;
      command.accumulates = phase > 0;
      if (plan.isShared()) {
        command.input = phaseOf(part.input, plan, phase / plan.factors[1], phase % plan.factors[1]);
        command.window = phaseWindow(plan, command.input.shape, part.output.shape);
        if (phase > 0)
          command.bias.reset();
      }
      addConv(builder, command);
    }
  }
  if (sum.address != conv.output.address || sum.type != conv.output.type)
    addCast(builder, conv.output, sum);
}

ConvCommand depthwiseCommand(const Convolution &conv, const ConvolutionPlan &plan) {
  const Extents &channels = conv.input.shape;
  auto parameter = [&](const Extents &shape, uint32_t address) {
    return localTensor(conv.input.type, shape, address, Layout::Compact, conv.output.startLane);
  };
  ConvCommand command{
      conv.input,
      conv.output,
      parameter({1, channels[1], plan.window.kernel[0], plan.window.kernel[1]}, conv.filterAddress),
      std::nullopt,
      plan.window,
      plan.insert,
      plan.rotates};
  if (conv.biasAddress)
    command.bias = parameter({1, channels[1], 1, 1}, *conv.biasAddress);
  return command;
}

Expected<uint32_t> checkedScratch(const std::string &where, const Convolution &conv,
                                  const ConvolutionPlan &plan) {
  if (Expected<void> fits = checkPlan(where, conv, plan); !fits)
    return propagate(fits);
  return neededScratch(conv, plan);
}

Expected<void> emit(Builder &builder, const Convolution &conv, const ConvolutionPlan &plan) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), conv, plan);
  if (!needed)
    return propagate(needed);
  if (Expected<void> fits = checkScratch(builder.layer(), conv.scratch, *needed); !fits)
    return fits;
  if (conv.isDepthwise())
    addDepthwise(builder, depthwiseCommand(conv, plan));
  else
    addDense(builder, conv, plan);
  addActivation(builder, conv.output, conv.activation);
  return {};
}

/// Strides of deconvolutions are zeros inserted, of which there may be 15.
Expected<void> checkInserts(const std::string &where, const Convolution &deconv) {
  for (int64_t stride : deconv.window.stride)
    if (stride < 1 || stride > kMostInsert + 1)
      return makeError(where, fmt::format("stride of {}", stride),
                       fmt::format("1 to {}", kMostInsert + 1));
  return {};
}

} // namespace

Expected<uint32_t> convolutionScratch(const Convolution &conv) {
  return checkedScratch("convolution", conv, convolutionPlan(conv));
}

Expected<void> emitConvolution(Builder &builder, const Convolution &conv) {
  return emit(builder, conv, convolutionPlan(conv));
}

Expected<uint32_t> deconvolutionScratch(const Convolution &deconv) {
  if (Expected<void> fits = checkInserts("deconvolution", deconv); !fits)
    return propagate(fits);
  return checkedScratch("deconvolution", deconv, deconvolutionPlan(deconv));
}

Expected<void> emitDeconvolution(Builder &builder, const Convolution &deconv) {
  if (Expected<void> fits = checkInserts(builder.layer(), deconv); !fits)
    return fits;
  return emit(builder, deconv, deconvolutionPlan(deconv));
}

} // namespace tpuc::bm1684x
