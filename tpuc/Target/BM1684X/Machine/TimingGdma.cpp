//===- TimingGdma.cpp - Cycles of transfers -------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Machine/Operands.h"
#include "tpuc/Target/BM1684X/Machine/TimingCost.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tpuc::bm1684x::detail {

namespace {

/// One side of a tensor transfer in global memory: blocks at i * strides[0] + j * strides[1] bytes.
struct Blocks {
  std::array<int64_t, 2> counts;
  std::array<int64_t, 2> strides;
  int64_t bytes;
};

/// Which of the first pieces of global memory, counted from the first block, a transfer touches:
/// bit i for piece i. Pieces belong to the memory channels in turn. A block counts as if it began
/// at the start of a piece.
uint32_t touchedPieces(const Blocks &blocks, const TimingInfo &timing) {
  int64_t piece = timing.channelInterleaveBytes;
  int64_t window = piece * timing.memoryChannels;
  int64_t perBlock = std::min<int64_t>(ceilDiv(blocks.bytes, piece), timing.memoryChannels);
  uint32_t all = timing.memoryChannels >= 32 ? ~0u : (1u << timing.memoryChannels) - 1;
  uint32_t pieces = 0;
  auto touch = [&](int64_t offset) { pieces |= ((1u << perBlock) - 1) << (offset / piece); };
  int64_t far = blocks.strides[0] > blocks.strides[1] ? 0 : 1;
  int64_t near = 1 - far;
  if (blocks.strides[far] <= piece) {
    // Steps of at most one piece leave no piece out, up to the last block.
    int64_t last = 0;
    for (int64_t axis : {near, far})
      last += (blocks.counts[axis] - 1) * blocks.strides[axis];
    for (int64_t offset = 0; offset < window && offset / piece <= last / piece; offset += piece)
      touch(offset);
    return pieces & all;
  }
  // At most `memoryChannels` blocks along the far axis lie in the window. Along the near axis only
  // the first block in each piece matters.
  for (int64_t i = 0; i < blocks.counts[far] && i * blocks.strides[far] < window; ++i) {
    int64_t base = i * blocks.strides[far];
    touch(base);
    if (int64_t stride = blocks.strides[near]; stride > 0)
      for (int64_t first = (base / piece + 1) * piece; first < window; first += piece) {
        int64_t j = ceilDiv(first - base, stride);
        if (j < blocks.counts[near] && base + j * stride < window)
          touch(base + j * stride);
      }
  }
  return pieces & all;
}

/// Reads a command and evaluates the formulas.
struct GdmaCost {
  const Command &command;
  const TimingInfo &timing;
  int64_t elementBytes;
  Direction direction;
  Extents source;
  Extents destination;
  Extents sourceStride;
  Extents destinationStride;
  bool hasStrides;

  GdmaCost(const Command &command, const TimingInfo &timing);

  int64_t get(Field field) const { return static_cast<int64_t>(command.get(field)); }
  int64_t sourceElements() const { return product({source[0], source[1], source[2], source[3]}); }
  /// The vendor's figures for matrices and fills are not divided.
  double plainRate() const {
    switch (direction) {
    case Direction::SystemToLocal:
      return timing.globalToLocal;
    case Direction::LocalToSystem:
      return timing.localToGlobal;
    case Direction::SystemToSystem:
      return timing.globalToGlobal;
    default:
      return timing.localToLocal;
    }
  }
  /// `runs` contiguous pieces of `bytes` at `rate` bytes per cycle; short ones cost a whole burst.
  double bursts(int64_t runs, int64_t bytes, double rate) const {
    int64_t paid = product({runs, std::max<int64_t>(bytes, timing.minBurstBytes)});
    return static_cast<double>(paid) / rate;
  }

  double channelFactor() const;
  CommandCost tensor() const;
  CommandCost matrix() const;
  CommandCost broadcast() const;
  CommandCost fill() const;
  CommandCost linear(std::string_view kind, int64_t elements) const;
};

GdmaCost::GdmaCost(const Command &command, const TimingInfo &timing)
    : command(command), timing(timing), elementBytes(precBytes(command.as<Prec>(Field::SrcPrec))),
      direction(bm168x::directionOf(kLocalMemory,
                                    command.address(Field::SrcAddrL32, Field::SrcAddrH8),
                                    command.address(Field::DstAddrL32, Field::DstAddrH8))),
      source(
          extentsOf(command, Field::SrcNsize, Field::SrcCsize, Field::SrcHsize, Field::SrcWsize)),
      destination(
          extentsOf(command, Field::DstNsize, Field::DstCsize, Field::DstHsize, Field::DstWsize)),
      sourceStride(extentsOf(command, Field::SrcNstride, Field::SrcCstride, Field::SrcHstride,
                             Field::SrcWstride)),
      destinationStride(extentsOf(command, Field::DstNstride, Field::DstCstride, Field::DstHstride,
                                  Field::DstWstride)),
      hasStrides(command.get(Field::StrideEnable) != 0) {
  if (hasStrides)
    return;
  int64_t plane = source[2] * source[3];
  sourceStride = {product({source[1], plane}), plane, source[3], 1};
  destinationStride = {ceilDiv(source[1], kLanes) * plane, plane, source[3], 1};
}

/// Four memory channels in turn hold 4 KiB each: a transfer that reaches only k of the first four
/// pieces takes 4 / k times longer. 0 where the vendor's model finds no piece at all.
double GdmaCost::channelFactor() const {
  double factor = 1;
  uint32_t pieces = 0;
  auto add = [&](const Extents &strides, int64_t inner, int64_t outer) {
    int64_t rows = product({source[2], strides[2], elementBytes});
    if (!timing.repeatedRowsAreFree)
      rows = std::max(rows, product({source[3], elementBytes}));
    if (rows > 0)
      pieces |= touchedPieces(
          {{inner, outer}, {strides[1] * elementBytes, strides[0] * elementBytes}, rows}, timing);
    factor *= pieces == 0 ? 0 : double{1} * timing.memoryChannels / std::popcount(pieces);
  };
  bool swapsNc = command.operation().sub == 1;
  if (direction == Direction::SystemToLocal || direction == Direction::SystemToSystem)
    add(sourceStride, source[1], source[0]);
  if (direction == Direction::LocalToSystem || direction == Direction::SystemToSystem)
    add(destinationStride, source[swapsNc ? 0 : 1], source[swapsNc ? 1 : 0]);
  return factor;
}

CommandCost GdmaCost::tensor() const {
  const auto &[n, c, h, w] = source;
  int64_t runs = product({n, c, h});
  int64_t length = w * elementBytes;
  if (sourceStride[2] == w && destinationStride[2] == w) {
    runs = n * c;
    length = product({h, w, elementBytes});
  } else if (sourceStride[3] != 1 || destinationStride[3] != 1) {
    runs = sourceElements();
    length = elementBytes;
  }
  // A transfer of nothing touches no piece.
  double cycles =
      runs == 0 ? 0 : bursts(runs, length, plainRate() / timing.transferDivisor) * channelFactor();
  return {.kind = "GDMA_TENSOR", .cycles = static_cast<int64_t>(cycles)};
}

CommandCost GdmaCost::matrix() const {
  bool toLocal = direction == Direction::SystemToLocal;
  bool isTransposed = command.operation().sub == 1;
  // The short form has only the matrix's own extents.
  bool fromSource = toLocal || isTransposed || !command.has(Field::DstHsize);
  int64_t rows = fromSource ? source[2] : destination[2];
  int64_t columns = fromSource ? source[3] : destination[3];
  // Columns that one lane holds are contiguous.
  int64_t perLane = (toLocal ? destination[3] : source[3]) * elementBytes;
  double burst =
      std::max(1.0, static_cast<double>(timing.minBurstBytes) / static_cast<double>(perLane));
  double rate = (toLocal ? timing.globalToLocal : timing.localToGlobal) *
                (isTransposed ? timing.matrixTransposeFactor : 1);
  int64_t bytes = product({rows, columns, elementBytes});
  double cycles = bytes == 0 || perLane == 0 ? 0 : static_cast<double>(bytes) * burst / rate;
  return {.kind = "GDMA_MATRIX",
          .cycles = static_cast<int64_t>(std::min(cycles, 0x1p62)),
          .bytes = bytes};
}

CommandCost GdmaCost::broadcast() const {
  const auto &[n, c, h, w] = source;
  int64_t runs = n * h;
  int64_t length = w * elementBytes;
  if (hasStrides && sourceStride[2] == w && destinationStride[2] == w) {
    runs = n;
    length = product({h, w, elementBytes});
  } else if (sourceStride[3] != 1 || destinationStride[3] != 1) {
    runs = product({n, h, w});
    length = elementBytes;
  }
  return {.kind = "GDMA_BROADCAST",
          .cycles = static_cast<int64_t>(bursts(runs, length, timing.globalToLocal))};
}

CommandCost GdmaCost::fill() const {
  Extents shape = destination;
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] == 0)
      shape[i] = source[i];
  const auto &[n, c, h, w] = shape;
  // Without explicit strides the rows of the source's extents are packed.
  int64_t runs = product({n, c, h});
  int64_t length = w * elementBytes;
  if (destinationStride[2] == w) {
    runs = n * c;
    length = product({h, w, elementBytes});
  } else if (destinationStride[3] != 1) {
    runs = product({n, c, h, w});
    length = elementBytes;
  }
  return {.kind = "GDMA_CONSTANT",
          .cycles = static_cast<int64_t>(bursts(runs, length, timing.globalToLocal)),
          .bytes = product({n, c, h, w, elementBytes})};
}

CommandCost GdmaCost::linear(std::string_view kind, int64_t elements) const {
  uint32_t rate = direction == Direction::LocalToLocal ? timing.linearLocalBytesPerCycle
                                                       : timing.linearBytesPerCycle;
  int64_t bytes = product({elements, elementBytes});
  return {.kind = kind, .cycles = bytes / rate, .bytes = bytes};
}

CommandCost costOf(const GdmaCost &cost) {
  const CommandOp &operation = cost.command.operation();
  bool isFill = cost.command.get(Field::FillConstantEn) != 0;
  if (isFill && operation.opcode != gdma::kGeneral)
    return cost.fill();
  switch (operation.opcode) {
  case gdma::kTensor:
    if (operation.sub == 2 || operation.sub == 4)
      return cost.linear("GDMA_CW_TRANS", cost.sourceElements());
    return operation.sub == 3 || operation.sub == 6 ? cost.broadcast() : cost.tensor();
  case gdma::kMatrix:
    return cost.matrix();
  case gdma::kSelect:
    return cost.linear("GDMA_SELECT", cost.sourceElements());
  case gdma::kGeneral: // The c stride holds the number of elements.
    return cost.linear(isFill ? "GDMA_CONSTANT" : "GDMA_GENERAL", cost.get(Field::SrcCstride));
  case gdma::kCwTranspose:
    return cost.linear("GDMA_CW_TRANS", cost.sourceElements());
  case gdma::kNonzero:
    return cost.linear("GDMA_NONZERO", cost.sourceElements());
  case gdma::kGather:
    return cost.linear("GDMA_GATHER",
                       product({cost.source[1], cost.destination[2], cost.source[3]}));
  default:
    return cost.linear("GDMA_SCATTER", product({cost.source[1], cost.source[2], cost.source[3]}));
  }
}

} // namespace

std::optional<CommandCost> gdmaCost(const Command &command, const TimingInfo &timing) {
  if (command.operation().opcode == gdma::kSys)
    return CommandCost{.kind = "SYS"};
  GdmaCost formulas(command, timing);
  if (formulas.elementBytes == 0)
    return std::nullopt;
  CommandCost cost = costOf(formulas);
  bool isFill = command.get(Field::FillConstantEn) != 0;
  if (cost.bytes == 0)
    cost.bytes = product({formulas.sourceElements(), formulas.elementBytes});
  if (!isFill)
    cost.direction = formulas.direction;
  const uint64_t destination = command.address(Field::DstAddrL32, Field::DstAddrH8);
  cost.fillsGlobal = isFill && destination >= kGlobalBase;
  bool usesGlobal =
      isFill ? !kLocalMemory.contains(destination) : formulas.direction != Direction::LocalToLocal;
  cost.cycles += timing.transferStartCycles + (usesGlobal ? timing.memoryLatencyCycles : 0);
  return cost;
}

} // namespace tpuc::bm1684x::detail
