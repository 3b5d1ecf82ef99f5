//===- QuantizedConvolution.cpp - Convolutions of quantized integers-------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/ConvCommand.h"
#include "tpuc/Target/BM1684X/Kernels/Requant.h"
#include "tpuc/Target/BM1684X/Kernels/Room.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuc::bm1684x {

namespace {

/// What the commands of a convolution or deconvolution move.
struct Motion {
  Window2d window;
  std::array<int64_t, 2> insert{0, 0};
  bool rotates = false;
};

Motion motionOf(const QuantizedConvolution &conv, bool isTransposed) {
  Motion motion{conv.window, {}, isTransposed};
  if (isTransposed) {
    motion.insert = {conv.window.stride[0] - 1, conv.window.stride[1] - 1};
    motion.window.stride = {1, 1};
  }
  return motion;
}

bool holdsSums(const QuantizedConvolution &conv) { return conv.output.type == DataType::I32; }

Expected<uint32_t> checkedScratch(const std::string &where, const QuantizedConvolution &conv,
                                  const Motion &motion) {
  const LocalTensor &in = conv.input;
  const LocalTensor &out = conv.output;
  if (!isByte(in.type))
    return makeError(where, fmt::format("input of {}", dataTypeName(in.type)), "i8 or u8");
  if (!isByte(out.type) && !holdsSums(conv))
    return makeError(where, fmt::format("output of {}", dataTypeName(out.type)), "i8, u8 or i32");
  if (Expected<void> fits = checkLayout(where, "output", out, Layout::Aligned); !fits)
    return propagate(fits);
  if (conv.group < 1 || in.shape[1] % conv.group != 0 || out.shape[1] % conv.group != 0 ||
      in.shape[0] != out.shape[0])
    return makeError(where,
                     fmt::format("[{}] to [{}] in {} groups", fmt::join(in.shape, ","),
                                 fmt::join(out.shape, ","), conv.group),
                     "equal n, and channels that are multiples of the groups");
  if (conv.isDepthwise()) {
    if (Expected<void> fits = checkLayout(where, "input", in, Layout::Aligned); !fits)
      return propagate(fits);
    bool inserts = motion.insert != std::array<int64_t, 2>{0, 0};
    if (inserts && conv.inputZero != 0)
      return makeError(
          where, fmt::format("a depthwise deconvolution with zero point {}", conv.inputZero), "0");
  }
  if (Expected<void> fits = checkWindow(where, motion.window, in.shape, out.shape, motion.insert);
      !fits)
    return propagate(fits);
  return holdsSums(conv) ? 0 : laneBytes(DataType::I32, out.shape, Layout::Aligned, out.startLane);
}

LocalTensor parameter(const QuantizedConvolution &conv, DataType type, const Extents &shape,
                      uint32_t address) {
  return localTensor(type, shape, address, Layout::Compact, conv.output.startLane);
}

ConvCommand commandOf(const QuantizedConvolution &conv, const Motion &motion) {
  ConvCommand command;
  command.window = motion.window;
  command.insert = motion.insert;
  command.rotates = motion.rotates;
  command.outside = static_cast<uint32_t>(conv.inputZero) & 255;
  return command;
}

void addDense(Builder &builder, const QuantizedConvolution &conv, const Motion &motion,
              const LocalTensor &sums) {
  const int64_t outputs = conv.output.shape[1];
  const Extents filter = {outputs, conv.input.shape[1] / conv.group, conv.window.kernel[0],
                          conv.window.kernel[1]};
  LocalTensor filters =
      parameter(conv, DataType::I8, packedFilterShape(DataType::I8, filter), conv.filterAddress);
  // The command has no bias of 32 bits: sums begin with it.
  if (conv.biasAddress)
    addInitialSums(builder, sums,
                   parameter(conv, DataType::I32, {1, outputs, 1, 1}, *conv.biasAddress));
  for (const GroupPart &part : groupParts(conv.input, sums, conv.group)) {
    ConvCommand command = commandOf(conv, motion);
    command.input = part.input;
    command.output = part.output;
    command.filter = filters.slice(1, part.firstOutput, part.output.shape[1]);
    command.accumulates = conv.biasAddress.has_value();
    addConv(builder, command);
  }
}

void addSingle(Builder &builder, const QuantizedConvolution &conv, const Motion &motion,
               const LocalTensor &sums) {
  const int64_t channels = conv.output.shape[1];
  ConvCommand command = commandOf(conv, motion);
  command.input = conv.input;
  command.output = sums;
  command.filter =
      parameter(conv, DataType::I8, {1, channels, conv.window.kernel[0], conv.window.kernel[1]},
                conv.filterAddress);
  if (conv.biasAddress)
    command.bias = parameter(conv, DataType::I32, {1, channels, 1, 1}, *conv.biasAddress);
  addDepthwise(builder, command);
}

Expected<void> emit(Builder &builder, const QuantizedConvolution &conv, const Motion &motion) {
  Expected<uint32_t> needed = checkedScratch(builder.layer(), conv, motion);
  if (!needed)
    return propagate(needed);
  if (Expected<void> fits = checkScratch(builder.layer(), conv.scratch, *needed); !fits)
    return fits;
  Room room{conv.scratch.address};
  LocalTensor sums = conv.output;
  if (!holdsSums(conv))
    sums = room.take(DataType::I32, conv.output.shape, conv.output.startLane);
  if (conv.isDepthwise())
    addSingle(builder, conv, motion, sums);
  else
    addDense(builder, conv, motion, sums);
  if (!holdsSums(conv)) {
    addRequantize(builder, conv.output, sums, conv.requantAddress);
    addCutOff(builder, conv.output, conv.lowest, conv.highest);
  }
  return {};
}

} // namespace

Expected<uint32_t> quantizedConvolutionScratch(const QuantizedConvolution &conv) {
  return checkedScratch("convolution", conv, motionOf(conv, false));
}

Expected<void> emitQuantizedConvolution(Builder &builder, const QuantizedConvolution &conv) {
  return emit(builder, conv, motionOf(conv, false));
}

Expected<uint32_t> quantizedDeconvolutionScratch(const QuantizedConvolution &deconv) {
  return checkedScratch("deconvolution", deconv, motionOf(deconv, true));
}

Expected<void> emitQuantizedDeconvolution(Builder &builder, const QuantizedConvolution &deconv) {
  return emit(builder, deconv, motionOf(deconv, true));
}

} // namespace tpuc::bm1684x
