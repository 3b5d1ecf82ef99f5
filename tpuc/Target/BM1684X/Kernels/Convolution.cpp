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
#include "tpuc/Target/BM1684X/Kernels/Depthwise.h"
#include "tpuc/Target/BM1684X/Kernels/Pieces.h"
#include "tpuc/Target/BM1684X/Kernels/WidePads.h"
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
  const auto numOutsides = static_cast<int64_t>(conv.outsides.size());
  if (numOutsides > 0 && (conv.group != 1 || numOutsides != conv.input.shape[1]))
    return makeError(where,
                     fmt::format("{} numbers around {} channels in {} groups", numOutsides,
                                 conv.input.shape[1], conv.group),
                     "one for each of one group");
  return checkPlan(where, plan, conv.input, conv.output, conv.group, conv.isDepthwise());
}

/// Convolutions that several commands share add up in F32.
bool hasWideSums(const Convolution &conv, const ConvolutionPlan &plan) {
  return plan.isShared() && conv.output.type != DataType::F32;
}

/// Whether an activation reads what is not its result: writing where a command reads costs double.
/// Where sums are long that is little beside them, and the place is better used for transfers.
bool hasRoomForActivation(const Convolution &conv, const ConvolutionPlan &plan) {
  constexpr int64_t kMostBlocks = 5;
  const Activation &activation = conv.activation;
  const int64_t blocks = ceilDiv(conv.input.shape[1] / conv.group, channelBlock(conv.input.prec()));
  const int64_t numCommands = activation.limit < 0 ? 1 : 2;
  return activation.relu && !hasWideSums(conv, plan) && !plan.isShared() && !plan.rotates &&
         blocks * plan.window.kernel[0] * plan.window.kernel[1] <= kMostBlocks * numCommands;
}

/// Pieces of a group's result. Those of some rows have windows of their own.
std::vector<Piece> piecesOf(const Convolution &conv, const GroupPart &part) {
  std::vector<Piece> pieces = piecesOf(part.output, kPieceBytes);
  for (const Piece &piece : pieces)
    if (rowsSeen(conv.window, conv.input.shape[2], piece.h, piece.numH).count < 1)
      return {{0, part.output.shape[0], 0, part.output.shape[1], 0, part.output.shape[2]}};
  return pieces;
}

/// The numbers around each channel in scratch behind `bytes`, twice: none is inserted.
LocalTensor outsidesOf(const Convolution &conv, uint32_t bytes) {
  return localTensor(conv.input.type, {1, conv.input.shape[1], 1, 2},
                     conv.scratch.address + alignUp(bytes, kEuBytes), Layout::Compact,
                     conv.input.startLane);
}

/// Sums in F32, or places for an activation.
uint32_t neededForSums(const Convolution &conv, const ConvolutionPlan &plan) {
  if (conv.isDepthwise())
    return depthwiseScratch(conv, plan);
  if (hasWideSums(conv, plan))
    return laneBytes(DataType::F32, conv.output.shape, Layout::Aligned, conv.output.startLane);
  uint32_t bytes = 0;
  if (hasRoomForActivation(conv, plan))
    for (const GroupPart &part : groupParts(conv.input, conv.output, conv.group))
      bytes = std::max(bytes, largestPieceBytes(part.output, piecesOf(conv, part)));
  return conv.activation.limit < 0 ? bytes : 2 * bytes;
}

uint32_t neededScratch(const Convolution &conv, const ConvolutionPlan &plan) {
  const uint32_t bytes = neededForSums(conv, plan);
  if (conv.outsides.empty())
    return bytes;
  const LocalTensor outsides = outsidesOf(conv, bytes);
  return outsides.address - conv.scratch.address +
         laneBytes(outsides.type, outsides.shape, Layout::Compact, outsides.startLane);
}

/// The filters and biases of all output channels.
struct DenseParameters {
  LocalTensor filters;
  std::optional<LocalTensor> biases, outsides;
};

DenseParameters parametersOf(const Convolution &conv, const ConvolutionPlan &plan) {
  const int64_t outputs = conv.output.shape[1];
  const Extents shape = {outputs, conv.input.shape[1] / conv.group, conv.window.kernel[0],
                         conv.window.kernel[1]};
  DenseParameters parameters;
  parameters.filters =
      localTensor(conv.input.type, packedFilterShape(conv.input.type, shape, plan.packedStride()),
                  conv.filterAddress, Layout::Compact, conv.output.startLane);
  if (conv.biasAddress)
    parameters.biases = localTensor(DataType::F32, {1, outputs, 1, 1}, *conv.biasAddress,
                                    Layout::Compact, conv.output.startLane);
  if (!conv.outsides.empty())
    parameters.outsides = outsidesOf(conv, neededForSums(conv, plan));
  return parameters;
}

/// Some output channels of a group, from `first` on, to `output`.
void addDensePiece(Builder &builder, const Convolution &conv, const ConvolutionPlan &plan,
                   const DenseParameters &parameters, const LocalTensor &input,
                   const LocalTensor &output, int64_t first) {
  const int64_t count = output.shape[1];
  for (int64_t phase = 0; phase < parameters.filters.shape[0]; ++phase) {
    ConvCommand command;
    command.output = output;
    command.filter = parameters.filters.slice(0, phase, 1).slice(1, first, count);
    setPhase(command, plan, input, phase);
    command.accumulates = phase > 0;
    command.outside = immediateBits(conv.input.type, conv.outside);
    command.outsides = parameters.outsides;
    if (phase == 0 && parameters.biases)
      command.bias = parameters.biases->slice(1, first, count);
    addConv(builder, command);
  }
}

/// A group's result with its activation, piece by piece.
void addActivated(Builder &builder, const Convolution &conv, const ConvolutionPlan &plan,
                  const DenseParameters &parameters, const GroupPart &part) {
  const std::vector<Piece> pieces = piecesOf(conv, part);
  const uint32_t bytes = largestPieceBytes(part.output, pieces);
  for (const Piece &piece : pieces) {
    const LocalTensor output = piece.of(part.output);
    const LocalTensor raw = localTensor(output.type, output.shape, conv.scratch.address,
                                        Layout::Aligned, output.startLane);
    const SeenRows seen = rowsSeen(conv.window, part.input.shape[2], piece.h, piece.numH);
    LocalTensor input = part.input;
    if (piece.numN != input.shape[0])
      input = input.slice(0, piece.n, piece.numN);
    if (seen.count != input.shape[2])
      input = input.slice(2, seen.first, seen.count);
    ConvolutionPlan piecePlan = plan;
    piecePlan.window.padBegin[0] = seen.padBegin;
    piecePlan.window.padEnd[0] = seen.padEnd;
    addDensePiece(builder, conv, piecePlan, parameters, input, raw, part.firstOutput + piece.c);
    addActivation(builder, output, raw, raw.at(conv.scratch.address + bytes), conv.activation);
  }
}

void addDense(Builder &builder, const Convolution &conv, const ConvolutionPlan &plan) {
  const DenseParameters parameters = parametersOf(conv, plan);
  const bool isWide = hasWideSums(conv, plan);
  const LocalTensor sums = isWide
                               ? localTensor(DataType::F32, conv.output.shape, conv.scratch.address,
                                             Layout::Aligned, conv.output.startLane)
                               : conv.output;
  const bool isActivated = hasRoomForActivation(conv, plan);
  for (size_t channel = 0; channel < conv.outsides.size(); ++channel)
    addUnaryArith(builder, ArithOp::Copy,
                  parameters.outsides->slice(1, static_cast<int64_t>(channel), 1),
                  immediate(conv.input.type, conv.outsides[channel]));
  for (const GroupPart &part : groupParts(conv.input, sums, conv.group))
    if (isActivated)
      addActivated(builder, conv, plan, parameters, part);
    else
      addDensePiece(builder, conv, plan, parameters, part.input, part.output, part.firstOutput);
  if (isWide)
    addCast(builder, conv.output, sums);
  if (!isActivated)
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
  if (conv.isDepthwise())
    addDepthwiseLayer(builder, conv, plan);
  else
    addDense(builder, conv, plan);
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

/// One number stands around the image in its copy.
bool isPaddedFirst(const Convolution &conv) {
  return isKernelFloat(conv.input.type) && hasWidePads(conv.window, conv.output.shape) &&
         conv.outsides.empty();
}

} // namespace

DataType depthwiseBiasType(DataType type, int64_t taps, bool narrowSums) {
  // In F32 larger kernels of F16 would cost recognizers of text a sixth more cycles.
  constexpr int64_t kMostWideTapsOfF16 = 9;
  if (taps == 1 || (type == DataType::F16 && (narrowSums || taps > kMostWideTapsOfF16)))
    return type;
  return type == DataType::F16 || type == DataType::BF16 ? DataType::F32 : type;
}

Expected<uint32_t> convolutionScratch(const Convolution &conv) {
  if (isPaddedFirst(conv))
    return scratchOfPadded<convolutionScratch>(conv);
  return checkedScratch("convolution", conv, convolutionPlan(conv.window));
}

Expected<void> emitConvolution(Builder &builder, const Convolution &conv) {
  if (isPaddedFirst(conv)) {
    const Convolution inner = ofPadded(conv);
    addPadded(builder, inner.input, conv.input, conv.window, conv.outside);
    return emitConvolution(builder, inner);
  }
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
