//===- ChannelRows.h - Rows of filters and biases over lanes ----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_CODEGEN_CHANNELROWS_H
#define TPUC_TARGET_BM1684X_CODEGEN_CHANNELROWS_H

#include "tpuc/Codegen/Tile/TileModel.h"
#include "tpuc/Target/BM1684X/Kernels/GlobalTensor.h"
#include "tpuc/Target/BM1684X/Kernels/LocalTensor.h"

#include "llvm/Support/MathExtras.h"

namespace tpuc::bm1684x::backend {

/// How the rows of a filter or bias are put over lanes.
struct ChannelRows {
  int64_t channels = 1;
  /// Elements of one channel as they are kept, in each phase.
  int64_t row = 1;
  /// Phases of a filter with a large stride follow each other.
  std::array<int64_t, 2> factors{1, 1};
  /// A lane's rows stand together, channel after channel of that lane; else a channel's do.
  bool isByLane = true;
  DataType type = DataType::F32;
  /// Whether words of each channel stand behind the rows of a lane, or behind all rows.
  bool hasWords = false;
  /// A long filter stands as matrices, whose transfer is the fastest: the rows of 64 channels are
  /// cut into so many parts (of the blocks of input channels, and of the taps of each), each of
  /// which stands beside those of the other lanes. 0: rows as they are.
  std::array<int64_t, 2> parts{0, 0};
  /// The taps of a transposed convolution of one channel take the place of channels.
  bool areTaps = false;

  int64_t lanes() const { return std::min<int64_t>(channels, kLanes); }
  int64_t slots() const { return slotsOf(channels); }
  int64_t phases() const { return factors[0] * factors[1]; }
  static int64_t slotsOf(int64_t count) {
    return static_cast<int64_t>(llvm::divideCeil(count, int64_t{kLanes}));
  }
  int64_t rowBytes() const { return byteSize(type, row); }
  bool isInParts() const { return parts[0] > 0; }
  /// The rows of a tile of the result's channels.
  codegen::Range rowsOf(codegen::Range tile) const {
    return areTaps ? codegen::Range{0, channels} : tile;
  }

  //===--- In local memory ------------------------------------------------===//

  /// Bytes of the words of one channel in each lane.
  static constexpr int64_t kSlotBytes = kEuBytes;
  /// Where the words of a tile of `count` channels begin in a lane, behind its rows.
  int64_t wordsAt(int64_t count) const {
    return alignUp(phases() * slotsOf(count) * rowBytes(), kEuBytes);
  }

  //===--- In global memory -----------------------------------------------===//

  /// Rows of a phase, of a lane (or of all channels), without and with the words behind them.
  int64_t ownRows() const {
    if (isByLane)
      return slots();
    return isInParts() ? slots() * lanes() : channels;
  }
  int64_t phaseRows() const {
    const int64_t bytes = slots() * kSlotBytes * (isByLane ? 1 : lanes());
    const int64_t rows = hasWords ? ceilDiv(firstWord(ownRows()) + bytes, rowBytes()) : ownRows();
    return isInParts() ? alignUp(rows, lanes()) : rows;
  }
  int64_t laneRows() const { return phases() * phaseRows(); }
  /// Where the words of a lane (or of all) begin, behind the rows of the last phase.
  int64_t wordsBegin() const { return firstWord((phases() - 1) * phaseRows() + ownRows()); }

private:
  /// The words of a lane lie as in local memory, so that one transfer brings both.
  int64_t firstWord(int64_t rows) const {
    return isByLane ? alignUp(rows * rowBytes(), kEuBytes) : rows * rowBytes();
  }
};

/// What the rows of a convolution's filter depend on, beside its tensors.
struct FilterKind {
  /// There is one input channel for each output channel, and no others.
  bool isDepthwise = false;
  /// A transposed convolution is computed phase after phase; its taps take the place of channels.
  bool isInPhases = false, hasTapsAsChannels = false;
};
FilterKind filterKindOf(mlir::Operation *op, const codegen::TileModel &model);

/// Of operand `index` of `op`, which is a row for each channel.
ChannelRows channelRows(mlir::Operation *op, const codegen::TileModel &model, unsigned index,
                        const FilterKind &filter);

/// Rows `channels` in the packed constant that begins at `address` of global memory: phases,
/// channels or lanes, and what each of them has.
GlobalTensor channelSlice(const ChannelRows &rows, codegen::Range channels, int64_t address);

/// Their requantization parameters, as bytes.
GlobalTensor channelWords(const ChannelRows &rows, codegen::Range channels, int64_t address);

/// Input channels that stand together in a filter.
int64_t channelBlock(DataType type);

/// The factor of tap dimension `axis` of `count`: of one, that of w.
int64_t factorOf(const ChannelRows &rows, size_t axis, size_t count);

} // namespace tpuc::bm1684x::backend

#endif // TPUC_TARGET_BM1684X_CODEGEN_CHANNELROWS_H
