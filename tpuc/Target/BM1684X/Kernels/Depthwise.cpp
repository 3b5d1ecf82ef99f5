//===- Depthwise.cpp - Depthwise convolutions of floats --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Depthwise.h"
#include "tpuc/Target/BM1684X/Kernels/Commands.h"
#include "tpuc/Target/BM1684X/Kernels/Pieces.h"
#include "tpuc/Target/BM1684X/Kernels/ScratchAllocator.h"
#include "tpuc/Target/BM1684X/Kernels/Windows.h"

namespace tpuc::bm1684x {

namespace {

/// Rows of the image that are a stride apart, from `firstRow` on, with `padBegin` of them above it,
/// and the rows of the kernel that meet them.
struct RowPhase {
  int64_t firstRow = 0, numRows = 0;
  int64_t padBegin = 0;
  int64_t firstTap = 0, numTaps = 0;
  int64_t step = 1;
};

/// Every few rows of a tensor, from `first` on.
LocalTensor rowsOf(const LocalTensor &tensor, int64_t first, int64_t count, int64_t step) {
  LocalTensor rows = tensor;
  rows.explicitStride = tensor.strides();
  rows.layout = Layout::Explicit;
  rows.shape[2] = count;
  rows.address += static_cast<uint32_t>(first * rows.explicitStride[2] * tensor.elementBytes());
  rows.explicitStride[2] *= step;
  return rows;
}

/// How a depthwise convolution is computed: in phases of rows, whose sums are added.
class DepthwiseLayer {
public:
  DepthwiseLayer(const Convolution &conv, const ConvolutionPlan &plan);

  /// What is made of one piece, in the scratch.
  struct Places {
    LocalTensor input, filter;
    std::array<LocalTensor, 2> sums;
    uint32_t total = 0, raw = 0, other = 0;
  };
  Places placesOf(const Piece &piece, ScratchAllocator &space) const;
  void emitPiece(Builder &builder, const Piece &piece) const;

  std::vector<Piece> pieces;

private:
  bool isWidened() const { return computed != conv.input.type; }
  /// Whether what the command reads is a copy.
  bool isCopied() const { return isWidened() || phases.size() > 1; }
  LocalTensor parameter(DataType type, const Extents &shape, uint32_t address) const {
    return localTensor(type, shape, address, Layout::Compact, conv.output.startLane);
  }
  LocalTensor filter() const {
    return parameter(conv.input.type,
                     {1, conv.input.shape[1], plan.window.kernel[0], plan.window.kernel[1]},
                     conv.filterAddress);
  }
  SeenRows seenRows(const RowPhase &phase, const Piece &piece) const;
  bool seeRows() const;
  void emitPhase(Builder &builder, ConvCommand command, const Piece &piece, const Places &places,
                 const RowPhase &phase) const;

  const Convolution &conv;
  const ConvolutionPlan &plan;
  DataType computed;
  std::vector<RowPhase> phases;
};

/// The image as it is.
RowPhase onlyPhase(const Convolution &conv, const ConvolutionPlan &plan) {
  return {.numRows = conv.input.shape[2],
          .padBegin = plan.window.padBegin[0],
          .numTaps = plan.window.kernel[0]};
}

/// Two phases where they take less time.
std::vector<RowPhase> phasesOf(const Convolution &conv, const ConvolutionPlan &plan,
                               bool isWidened) {
  constexpr int64_t kStep = 2;
  const Window2d &window = plan.window;
  // Beside copies to F32 those of rows cost nothing.
  if (!isWidened || window.stride[0] != kStep || window.stride[1] == 1 ||
      window.kernel[0] < kStep || window.dilation[0] != 1 || plan.rotates)
    return {onlyPhase(conv, plan)};
  std::vector<RowPhase> phases;
  for (int64_t first = 0; first < kStep; ++first) {
    RowPhase phase{.firstTap = first, .step = kStep};
    phase.numTaps = ceilDiv(window.kernel[0] - first, kStep);
    phase.padBegin = ceilDiv(std::max<int64_t>(0, window.padBegin[0] - first), kStep);
    phase.firstRow = phase.padBegin * kStep + first - window.padBegin[0];
    phase.numRows = ceilDiv(std::max<int64_t>(0, conv.input.shape[2] - phase.firstRow), kStep);
    phases.push_back(phase);
  }
  return phases;
}

DepthwiseLayer::DepthwiseLayer(const Convolution &conv, const ConvolutionPlan &plan)
    : conv(conv), plan(plan),
      computed(depthwiseBiasType(conv.input.type, plan.window.kernel[0] * plan.window.kernel[1],
                                 conv.narrowSums)),
      phases(phasesOf(conv, plan, isWidened())) {
  const Extents &output = conv.output.shape;
  const std::vector<Piece> whole = {{0, output[0], 0, output[1], 0, output[2]}};
  // F32 has twice the bytes. Copies may be of some rows.
  pieces = plan.rotates || !isCopied()
               ? whole
               : piecesOf(conv.output, isWidened() ? kPieceBytes / 2 : kPieceBytes);
  if (seeRows())
    return;
  pieces = whole;
  if (!seeRows())
    phases = {onlyPhase(conv, plan)};
}

SeenRows DepthwiseLayer::seenRows(const RowPhase &phase, const Piece &piece) const {
  if (plan.rotates)
    return {0, phase.numRows, plan.window.padBegin[0], plan.window.padEnd[0]};
  Window2d window = plan.window;
  window.stride[0] /= phase.step;
  window.kernel[0] = phase.numTaps;
  window.padBegin[0] = phase.padBegin;
  return rowsSeen(window, phase.numRows, piece.h, piece.numH);
}

/// Commands need a row in each phase of each piece.
bool DepthwiseLayer::seeRows() const {
  for (const RowPhase &phase : phases)
    for (const Piece &piece : pieces)
      if (seenRows(phase, piece).count < 1)
        return false;
  return true;
}

DepthwiseLayer::Places DepthwiseLayer::placesOf(const Piece &piece, ScratchAllocator &space) const {
  Places places;
  const LocalTensor output = piece.of(conv.output);
  const uint32_t lane = output.startLane;
  if (!isCopied())
    return places;
  places.filter = piece.channelsOf(filter()).as(computed);
  places.filter.address =
      space.bytes(laneBytes(computed, places.filter.shape, Layout::Compact, lane));
  Extents rows = piece.channelsOf(conv.input).shape;
  rows[2] = 0;
  for (const RowPhase &phase : phases)
    rows[2] = std::max(rows[2], seenRows(phase, piece).count);
  places.input = localTensor(computed, rows, space.next, Layout::Aligned, lane);
  const uint32_t wideBytes = laneBytes(computed, output.shape, Layout::Aligned, lane);
  space.bytes(std::max(laneBytes(computed, rows, Layout::Aligned, lane), wideBytes));
  for (size_t i = 0; i < phases.size(); ++i)
    places.sums[i] = space.take(computed, output.shape, lane);
  // When there are sums of it, the input is not needed any longer; nor are they behind their total.
  places.total = places.input.address;
  const bool isTotalWide = phases.size() > 1 && isWidened();
  places.raw = isTotalWide ? places.sums[0].address : places.input.address;
  places.other = isTotalWide ? places.sums[1].address : places.sums[0].address;
  return places;
}

/// Sums of one phase, to the output of `command`.
void DepthwiseLayer::emitPhase(Builder &builder, ConvCommand command, const Piece &piece,
                               const Places &places, const RowPhase &phase) const {
  const SeenRows seen = seenRows(phase, piece);
  command.window.kernel[0] = phase.numTaps;
  command.window.stride[0] /= phase.step;
  command.window.padBegin[0] = seen.padBegin;
  command.window.padEnd[0] = seen.padEnd;
  const LocalTensor image = piece.channelsOf(conv.input);
  const LocalTensor filters = piece.channelsOf(filter());
  command.input = image;
  command.filter = filters;
  if (isCopied()) {
    const auto copy = [&](const LocalTensor &to, const LocalTensor &from) {
      if (to.type == from.type)
        addUnaryArith(builder, ArithOp::Copy, to, from);
      else
        addCast(builder, to, from);
    };
    command.input = places.input;
    command.input.shape[2] = seen.count;
    copy(command.input,
         rowsOf(image, phase.firstRow + seen.first * phase.step, seen.count, phase.step));
    command.filter = places.filter;
    command.filter.shape[2] = phase.numTaps;
    copy(command.filter, rowsOf(filters, phase.firstTap, phase.numTaps, phase.step));
  }
  addDepthwise(builder, command);
}

void DepthwiseLayer::emitPiece(Builder &builder, const Piece &piece) const {
  ScratchAllocator space{conv.scratch.address};
  const Places places = placesOf(piece, space);
  const LocalTensor output = piece.of(conv.output);
  const auto scratchAt = [&](uint32_t address) {
    return localTensor(output.type, output.shape, address, Layout::Aligned, output.startLane);
  };
  const LocalTensor raw = conv.activation.relu && isCopied() ? scratchAt(places.raw) : output;
  ConvCommand command{.input = {},
                      .output = output,
                      .filter = {},
                      .bias = std::nullopt,
                      .window = plan.window,
                      .insert = plan.insert,
                      .rotates = plan.rotates};
  command.outside = immediateBits(computed, conv.outside);
  if (conv.biasAddress)
    command.bias =
        piece.channelsOf(parameter(computed, {1, conv.input.shape[1], 1, 1}, *conv.biasAddress));
  for (size_t i = 0; i < phases.size(); ++i) {
    if (isCopied())
      command.output = places.sums[i];
    emitPhase(builder, command, piece, places, phases[i]);
    command.bias.reset();
  }
  LocalTensor total = places.sums[0];
  if (phases.size() > 1) {
    total = isWidened() ? total.at(places.total) : raw;
    addArith(builder, ArithOp::Add, total, places.sums[0], places.sums[1]);
  }
  if (isWidened())
    addCast(builder, raw, total);
  // Rounded limits limit rounded results.
  if (!isCopied())
    return addActivation(builder, output, conv.activation);
  if (conv.activation.relu)
    addActivation(builder, output, raw, scratchAt(places.other), conv.activation);
}

} // namespace

uint32_t depthwiseScratch(const Convolution &conv, const ConvolutionPlan &plan) {
  const DepthwiseLayer layer(conv, plan);
  uint32_t bytes = 0;
  for (const Piece &piece : layer.pieces) {
    ScratchAllocator space;
    layer.placesOf(piece, space);
    bytes = std::max(bytes, space.next);
  }
  return bytes;
}

void addDepthwiseLayer(Builder &builder, const Convolution &conv, const ConvolutionPlan &plan) {
  const DepthwiseLayer layer(conv, plan);
  for (const Piece &piece : layer.pieces)
    layer.emitPiece(builder, piece);
}

} // namespace tpuc::bm1684x
