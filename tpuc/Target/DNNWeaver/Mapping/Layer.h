//===- Layer.h - A convolution, its tiles and its loops ------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_DNNWEAVER_MAPPING_LAYER_H
#define TPUC_TARGET_DNNWEAVER_MAPPING_LAYER_H

#include "tpuc/Target/DNNWeaver/Machine/Program.h"

namespace tpuc::dnnweaver {

/// Two numbers, of rows and of columns.
struct Extent {
  unsigned h = 1;
  unsigned w = 1;

  uint64_t area() const { return uint64_t{h} * w; }
  friend bool operator==(const Extent &, const Extent &) = default;
};

/// Hands out DDR from `end` on, in pages.
struct PageAllocator {
  static constexpr uint64_t kPage = 4096;
  /// Behind all that was handed out.
  uint64_t end = 0;

  /// The address of `bytes` bytes.
  uint64_t take(uint64_t bytes) {
    const uint64_t at = end;
    end = (end + bytes + kPage - 1) / kPage * kPage;
    return at;
  }
};

/// A convolution and the pool behind it, as the machine sees them: images have their halos,
/// channels are words of the array's sides.
struct ConvLayer {
  /// Of what is stored: pooled rows and columns.
  Extent result = {};
  Extent kernel = {};
  Extent stride = {};
  Extent pool = {};
  Extent poolStride = {};
  /// Rows and columns at the end that the pool sees and the convolution does not give. They come
  /// from DDR, where they were filled before.
  Extent poolPad = {0, 0};
  /// Words of channels: ceil(channels / N) and ceil(kernels / M).
  unsigned inWords = 1;
  unsigned outWords = 1;
  /// Pairs of int8: of rows, where `result` has those of one half, or of kernels, where `outWords`
  /// are those of one half.
  bool pairs = false;
  bool pairsKernels = false;
  /// How often the array goes over an image of so few pixels that weights would not stay for long
  /// enough. There is one tile of rows and columns then, and nobody reads the sums behind the first
  /// ones.
  unsigned repeats = 1;

  /// Rows and columns of sums under the pool windows of `results` results, pads included.
  Extent sumsOf(Extent results) const {
    return {(results.h - 1) * poolStride.h + pool.h, (results.w - 1) * poolStride.w + pool.w};
  }
  /// Rows and columns of the input under `sums` sums.
  Extent inputOf(Extent sums) const {
    return {(sums.h - 1) * stride.h + kernel.h, (sums.w - 1) * stride.w + kernel.w};
  }
};

/// The loops over tiles.
enum class TileLoop : uint8_t { Rows, Columns, Inputs, Outputs };
inline constexpr unsigned kNumTileLoops = 4;
/// The loops over the words of a tile.
enum class WordLoop : uint8_t { Inputs, KernelColumns, KernelRows, Columns, Rows, Outputs };
inline constexpr unsigned kNumWordLoops = 6;

struct Mapping {
  /// Results of a tile; they divide those of the layer.
  Extent tile = {};
  /// Words of channels of a tile; they divide those of the layer.
  unsigned inWords = 1;
  unsigned outWords = 1;
  /// The innermost loop first.
  std::array<TileLoop, kNumTileLoops> tileOrder = {TileLoop::Inputs, TileLoop::Columns,
                                                   TileLoop::Rows, TileLoop::Outputs};
  std::array<WordLoop, kNumWordLoops> wordOrder = {WordLoop::Inputs,     WordLoop::KernelColumns,
                                                   WordLoop::KernelRows, WordLoop::Columns,
                                                   WordLoop::Rows,       WordLoop::Outputs};
  /// Neighbouring loops of the array whose strides continue each other become one.
  bool collapses = true;
  /// Words of channels that follow each other in DDR are asked for at once.
  bool mergesRequests = true;
  /// Sums are loaded only where something of them is read.
  bool skipsSums = true;

  friend bool operator==(const Mapping &, const Mapping &) = default;
};

/// Trips of the loops over tiles, in the order of TileLoop.
std::array<uint32_t, kNumTileLoops> tileTrips(const ConvLayer &layer, const Mapping &mapping);
/// Trips of the loops over words, in the order of WordLoop.
std::array<uint32_t, kNumWordLoops> wordTrips(const ConvLayer &layer, const Mapping &mapping);
/// Words of a tile in each buffer.
std::array<uint64_t, kNumBuffers> tileWords(const ConvLayer &layer, const Mapping &mapping);

/// The loops of the array over a tile, in the order of the mapping, neighbours made one where it
/// says so. Loops of one trip are left out.
Levels arrayLevels(const ConvLayer &layer, const Mapping &mapping);

/// The order of the loops over words in which the array takes the fewest cycles, the same of
/// several on each call. A machine with weights by row has columns and rows innermost.
std::array<WordLoop, kNumWordLoops> bestWordOrder(const Parameters &machine, const ConvLayer &layer,
                                                  Mapping mapping);

} // namespace tpuc::dnnweaver

#endif // TPUC_TARGET_DNNWEAVER_MAPPING_LAYER_H
