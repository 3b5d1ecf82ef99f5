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

/// The command for depthwise convolutions reads biases that lie together.
uint32_t biasBytes(const QuantizedConvolution &conv) {
  const LocalTensor &out = conv.output;
  return conv.hasBias && conv.isDepthwise()
             ? laneBytes(DataType::I32, {1, out.shape[1], 1, 1}, Layout::Compact, out.startLane)
             : 0;
}

Expected<uint32_t> checkedScratch(const std::string &where, const QuantizedConvolution &conv,
                                  const Motion &motion) {
  const LocalTensor &in = conv.input;
  const LocalTensor &out = conv.output;
  if (!isByte(in.type))
    return makeError(where, fmt::format("input of {}", dataTypeName(in.type)), "i8 or u8");
  if (!isByte(out.type) && !holdsSums(conv) && !isKernelFloat(out.type))
    return makeError(where, fmt::format("output of {}", dataTypeName(out.type)),
                     "i8, u8, i32 or a float");
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
  uint32_t sums =
      holdsSums(conv) ? 0 : laneBytes(DataType::I32, out.shape, Layout::Aligned, out.startLane);
  return sums + biasBytes(conv);
}

LocalTensor filterOf(const QuantizedConvolution &conv, const Extents &shape) {
  return localTensor(DataType::I8, shape, conv.filterAddress, Layout::Compact,
                     conv.output.startLane);
}

LocalTensor biasOf(const QuantizedConvolution &conv) {
  return channelWord(DataType::I32, conv.output.shape[1], conv.parameterAddress, kBiasWord,
                     conv.output.startLane);
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
  LocalTensor filters = filterOf(conv, packedFilterShape(DataType::I8, filter));
  // The command has no bias of 32 bits: sums begin with it.
  if (conv.hasBias)
    addInitialSums(builder, sums, biasOf(conv));
  for (const GroupPart &part : groupParts(conv.input, sums, conv.group)) {
    ConvCommand command = commandOf(conv, motion);
    command.input = part.input;
    command.output = part.output;
    command.filter = filters.slice(1, part.firstOutput, part.output.shape[1]);
    command.accumulates = conv.hasBias;
    addConv(builder, command);
  }
}

void addSingle(Builder &builder, const QuantizedConvolution &conv, const Motion &motion,
               const LocalTensor &sums, Room &room) {
  const int64_t channels = conv.output.shape[1];
  ConvCommand command = commandOf(conv, motion);
  command.input = conv.input;
  command.output = sums;
  command.filter = filterOf(conv, {1, channels, conv.window.kernel[0], conv.window.kernel[1]});
  if (conv.hasBias) {
    command.bias = localTensor(DataType::I32, {1, channels, 1, 1}, room.bytes(biasBytes(conv)),
                               Layout::Compact, conv.output.startLane);
    addUnaryArith(builder, ArithOp::Copy, *command.bias, biasOf(conv));
  }
  addDepthwise(builder, command);
}

/// What the sums become.
void addResult(Builder &builder, const QuantizedConvolution &conv, const LocalTensor &sums) {
  if (isByte(conv.output.type)) {
    addRequantize(builder, conv.output, sums, conv.parameterAddress);
    addCutOff(builder, conv.output, conv.lowest, conv.highest);
    return;
  }
  LocalTensor scale = channelWord(DataType::F32, conv.output.shape[1], conv.parameterAddress,
                                  kScaleWord, conv.output.startLane);
  addDequantizeSums(builder, conv.output, sums, repeated(scale, sums.shape), conv.activation);
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
    addSingle(builder, conv, motion, sums, room);
  else
    addDense(builder, conv, motion, sums);
  if (!holdsSums(conv))
    addResult(builder, conv, sums);
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
