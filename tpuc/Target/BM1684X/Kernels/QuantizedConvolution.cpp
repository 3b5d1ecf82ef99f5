//===- QuantizedConvolution.cpp - Convolutions of quantized integers-------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/ConvolutionPlan.h"
#include "tpuc/Target/BM1684X/Kernels/Requant.h"
#include "tpuc/Target/BM1684X/Kernels/ScratchAllocator.h"
#include "tpuc/Target/BM1684X/Kernels/WidePads.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684x {

namespace {

bool holdsSums(const QuantizedConvolution &conv) { return conv.output.type == DataType::I32; }

/// The command for depthwise convolutions reads biases that lie together.
uint32_t biasBytes(const QuantizedConvolution &conv) {
  const LocalTensor &out = conv.output;
  return conv.hasBias && conv.isDepthwise()
             ? laneBytes(DataType::I32, {1, out.shape[1], 1, 1}, Layout::Compact, out.startLane)
             : 0;
}

Expected<uint32_t> checkedScratch(const std::string &where, const QuantizedConvolution &conv,
                                  const ConvolutionPlan &plan) {
  const LocalTensor &in = conv.input;
  const LocalTensor &out = conv.output;
  if (!isByte(in.type))
    return makeError(where, fmt::format("input of {}", dataTypeName(in.type)), "i8 or u8");
  if (!isByte(out.type) && !holdsSums(conv) && !isKernelFloat(out.type))
    return makeError(where, fmt::format("output of {}", dataTypeName(out.type)),
                     "i8, u8, i32 or a float");
  if (Expected<void> fits = checkLayout(where, "output", out, Layout::Aligned); !fits)
    return propagate(fits);
  if (conv.isDepthwise()) {
    if (Expected<void> fits = checkLayout(where, "input", in, Layout::Aligned); !fits)
      return propagate(fits);
    bool inserts = plan.insert != std::array<int64_t, 2>{0, 0};
    if (inserts && conv.inputZero != 0)
      return makeError(
          where, fmt::format("a depthwise deconvolution with zero point {}", conv.inputZero), "0");
  }
  if (Expected<void> fits = checkPlan(where, plan, in, out, conv.group, conv.isDepthwise()); !fits)
    return propagate(fits);
  uint32_t sums =
      holdsSums(conv) ? 0 : laneBytes(DataType::I32, out.shape, Layout::Aligned, out.startLane);
  // Where they are rounded twice, they lie in a place of their own between: in the place of an
  // operand it would take twice the time.
  const bool isTwice = isByte(out.type) && conv.roundings != Roundings::Once;
  return (isTwice ? 2 : 1) * sums + biasBytes(conv);
}

LocalTensor filterOf(const QuantizedConvolution &conv, const Extents &shape) {
  return localTensor(DataType::I8, shape, conv.filterAddress, Layout::Compact,
                     conv.output.startLane);
}

LocalTensor biasOf(const QuantizedConvolution &conv) {
  return channelWord(DataType::I32, conv.output.shape[1], conv.parameterAddress, conv.biasWord,
                     conv.output.startLane);
}

/// The bits of what lies around the image and between its elements.
uint32_t outsideOf(const QuantizedConvolution &conv) {
  return static_cast<uint32_t>(conv.inputZero) & 255;
}

void addDense(Builder &builder, const QuantizedConvolution &conv, const ConvolutionPlan &plan,
              const LocalTensor &sums) {
  const int64_t outputs = conv.output.shape[1];
  const Extents filter = {outputs, conv.input.shape[1] / conv.group, conv.window.kernel[0],
                          conv.window.kernel[1]};
  LocalTensor filters =
      filterOf(conv, packedFilterShape(DataType::I8, filter, plan.packedStride()));
  // The command has no bias of 32 bits: sums begin with it.
  if (conv.hasBias)
    addInitialSums(builder, sums, biasOf(conv));
  for (const GroupPart &part : groupParts(conv.input, sums, conv.group))
    for (int64_t phase = 0; phase < filters.shape[0]; ++phase) {
      ConvCommand command;
      command.output = part.output;
      command.filter = filters.slice(0, phase, 1).slice(1, part.firstOutput, part.output.shape[1]);
      command.outside = outsideOf(conv);
      setPhase(command, plan, part.input, phase);
      command.accumulates = conv.hasBias || phase > 0;
      addConv(builder, command);
    }
}

void addSingle(Builder &builder, const QuantizedConvolution &conv, const ConvolutionPlan &plan,
               const LocalTensor &sums, ScratchAllocator &space) {
  const int64_t channels = conv.output.shape[1];
  ConvCommand command;
  command.output = sums;
  command.outside = outsideOf(conv);
  setPhase(command, plan, conv.input, 0);
  command.filter = filterOf(conv, {1, channels, conv.window.kernel[0], conv.window.kernel[1]});
  if (conv.hasBias) {
    command.bias = localTensor(DataType::I32, {1, channels, 1, 1}, space.bytes(biasBytes(conv)),
                               Layout::Compact, conv.output.startLane);
    addUnaryArith(builder, ArithOp::Copy, *command.bias, biasOf(conv));
  }
  addDepthwise(builder, command);
}

/// The first of two roundings, into `rounded`.
void addFirstRounding(Builder &builder, const QuantizedConvolution &conv, const LocalTensor &sums,
                      const LocalTensor &rounded) {
  auto word = [&](int64_t index) {
    return repeated(channelWord(DataType::I32, conv.output.shape[1], conv.parameterAddress, index,
                                conv.output.startLane),
                    sums.shape);
  };
  if (conv.roundings == Roundings::TwiceAfterLeftShift)
    addArith(builder, ArithOp::MulSat, sums, sums, word(kPowerWord));
  addMultiplyHigh(builder, rounded, sums, word(kFirstFactorWord), Rounding::HalfUp);
}

/// What the sums become.
void addResult(Builder &builder, const QuantizedConvolution &conv, LocalTensor sums,
               ScratchAllocator &space) {
  if (isByte(conv.output.type)) {
    const bool isTwice = conv.roundings != Roundings::Once;
    if (isTwice) {
      const LocalTensor rounded = space.take(DataType::I32, sums.shape, sums.startLane);
      addFirstRounding(builder, conv, sums, rounded);
      sums = rounded;
    }
    addRequantize(builder, conv.output, sums, conv.parameterAddress,
                  isTwice ? Rounding::HalfAway : Rounding::HalfUp);
    addCutOff(builder, conv.output, conv.lowest, conv.highest);
    return;
  }
  LocalTensor scale = channelWord(DataType::F32, conv.output.shape[1], conv.parameterAddress,
                                  kScaleWord, conv.output.startLane);
  addDequantizeSums(builder, conv.output, sums, repeated(scale, sums.shape), conv.activation);
}

Expected<void> emit(Builder &builder, const QuantizedConvolution &conv,
                    const ConvolutionPlan &plan) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), conv, plan);
  if (Expected<void> fits = checkScratch(builder.layer(), conv.scratch, needed); !fits)
    return fits;
  ScratchAllocator space{conv.scratch.address};
  LocalTensor sums = conv.output;
  if (!holdsSums(conv))
    sums = space.take(DataType::I32, conv.output.shape, conv.output.startLane);
  if (conv.isDepthwise())
    addSingle(builder, conv, plan, sums, space);
  else
    addDense(builder, conv, plan, sums);
  if (!holdsSums(conv))
    addResult(builder, conv, sums, space);
  return {};
}

} // namespace

Expected<uint32_t> quantizedConvolutionScratch(const QuantizedConvolution &conv) {
  if (isByte(conv.input.type) && hasWidePads(conv.window, conv.output.shape))
    return scratchOfPadded<quantizedConvolutionScratch>(conv);
  return checkedScratch("convolution", conv, convolutionPlan(conv.window));
}

Expected<void> emitQuantizedConvolution(Builder &builder, const QuantizedConvolution &conv) {
  if (isByte(conv.input.type) && hasWidePads(conv.window, conv.output.shape)) {
    const QuantizedConvolution inner = ofPadded(conv);
    addPadded(builder, inner.input, conv.input, conv.window, conv.inputZero);
    return emitQuantizedConvolution(builder, inner);
  }
  return emit(builder, conv, convolutionPlan(conv.window));
}

Expected<uint32_t> quantizedDeconvolutionScratch(const QuantizedConvolution &deconv) {
  return checkedScratch("deconvolution", deconv, deconvolutionPlan(deconv.window));
}

Expected<void> emitQuantizedDeconvolution(Builder &builder, const QuantizedConvolution &deconv) {
  return emit(builder, deconv, deconvolutionPlan(deconv.window));
}

} // namespace tpuc::bm1684x
