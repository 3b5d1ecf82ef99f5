//===- Convolution.cpp - Convolutions--------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Convolution.h"
#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/ConvolutionPlan.h"
#include "tpuc/Target/BM1684X/Kernels/ScratchAllocator.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684x {

namespace {

Expected<void> checkConvolution(const std::string &where, const Convolution &conv,
                                const ConvolutionPlan &plan) {
  for (const auto &[name, tensor] :
       {std::pair{"input", &conv.input}, std::pair{"output", &conv.output}})
    if (Expected<void> fits = checkFloatTensor(where, name, *tensor); !fits)
      return fits;
  bool sameType = conv.output.type == conv.input.type;
  if (!sameType && (conv.output.type != DataType::F32 || conv.isDepthwise()))
    return makeError(where, fmt::format("an output of {}", dataTypeName(conv.output.type)),
                     conv.isDepthwise() ? "the type of the input" : "the type of the input or f32");
  if (Expected<void> fits = checkLayout(where, "output", conv.output, Layout::Aligned); !fits)
    return fits;
  if (conv.isDepthwise())
    if (Expected<void> fits = checkLayout(where, "input", conv.input, Layout::Aligned); !fits)
      return fits;
  return checkPlan(where, plan, conv.input, conv.output, conv.group, conv.isDepthwise());
}

/// Whether a depthwise convolution is computed in F32: the command rounds each addition to the type
/// of the input, and the sum of nine products in BF16 has lost one or two of its eight bits.
bool isWidened(const Convolution &conv) {
  const int64_t taps = conv.window.kernel[0] * conv.window.kernel[1];
  return conv.isDepthwise() && depthwiseBiasType(conv.input.type, taps) != conv.input.type;
}

/// The same in F32, its operands in `space`, but for the bias.
Convolution widened(const Convolution &conv, ScratchAllocator &space) {
  const int64_t channels = conv.input.shape[1];
  const auto compact = [&](const Extents &shape) {
    return space.bytes(laneBytes(DataType::F32, shape, Layout::Compact, conv.output.startLane));
  };
  Convolution wide = conv;
  wide.input = space.take(DataType::F32, conv.input.shape, conv.input.startLane);
  wide.output = space.take(DataType::F32, conv.output.shape, conv.output.startLane);
  wide.filterAddress = compact({1, channels, conv.window.kernel[0], conv.window.kernel[1]});
  return wide;
}

/// Shared convolutions add up in F32.
uint32_t neededScratch(const Convolution &conv, const ConvolutionPlan &plan) {
  if (isWidened(conv)) {
    ScratchAllocator space;
    widened(conv, space);
    return space.next;
  }
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
  LocalTensor filters = localTensor(
      conv.input.type, packedFilterShape(conv.input.type, filterShape, plan.packedStride()),
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
      command.output = part.output;
      command.filter = filters.slice(0, phase, 1).slice(1, part.firstOutput, count);
      setPhase(command, plan, part.input, phase);
      command.accumulates = phase > 0;
      command.outside = immediateBits(conv.input.type, conv.outside);
      if (phase == 0)
        command.bias = bias;
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
  command.outside = immediateBits(conv.input.type, conv.outside);
  if (conv.biasAddress)
    command.bias = parameter({1, channels[1], 1, 1}, *conv.biasAddress);
  return command;
}

void addWidened(Builder &builder, const Convolution &conv, const ConvolutionPlan &plan) {
  ScratchAllocator space{conv.scratch.address};
  const Convolution wide = widened(conv, space);
  const ConvCommand from = depthwiseCommand(conv, plan);
  const ConvCommand to = depthwiseCommand(wide, plan);
  addCast(builder, to.input, from.input);
  addCast(builder, to.filter, from.filter);
  addDepthwise(builder, to);
  addCast(builder, conv.output, wide.output);
  // Rounded limits limit rounded results.
  addActivation(builder, conv.output, conv.activation);
}

Expected<uint32_t> checkedScratch(const std::string &where, const Convolution &conv,
                                  const ConvolutionPlan &plan) {
  if (Expected<void> fits = checkConvolution(where, conv, plan); !fits)
    return propagate(fits);
  return neededScratch(conv, plan);
}

Expected<void> emit(Builder &builder, const Convolution &conv, const ConvolutionPlan &plan) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), conv, plan);
  if (Expected<void> fits = checkScratch(builder.layer(), conv.scratch, needed); !fits)
    return fits;
  if (isWidened(conv)) {
    addWidened(builder, conv, plan);
    return {};
  }
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

DataType depthwiseBiasType(DataType type, int64_t taps) {
  return type == DataType::BF16 && taps > 1 ? DataType::F32 : type;
}

Expected<uint32_t> convolutionScratch(const Convolution &conv) {
  return checkedScratch("convolution", conv, convolutionPlan(conv.window));
}

Expected<void> emitConvolution(Builder &builder, const Convolution &conv) {
  return emit(builder, conv, convolutionPlan(conv.window));
}

Expected<uint32_t> deconvolutionScratch(const Convolution &deconv) {
  if (Expected<void> fits = checkInserts("deconvolution", deconv); !fits)
    return propagate(fits);
  return checkedScratch("deconvolution", deconv, deconvolutionPlan(deconv.window));
}

Expected<void> emitDeconvolution(Builder &builder, const Convolution &deconv) {
  if (Expected<void> fits = checkInserts(builder.layer(), deconv); !fits)
    return fits;
  return emit(builder, deconv, deconvolutionPlan(deconv.window));
}

} // namespace tpuc::bm1684x
