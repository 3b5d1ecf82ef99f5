//===- GroupInfo.h - How a group is tiled and where its tiles lie ----*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_GROUP_GROUPINFO_H
#define TPUC_CODEGEN_GROUP_GROUPINFO_H

#include "tpuc/Codegen/Footprint.h"
#include "tpuc/Codegen/Tile/TileModel.h"

#include "mlir/IR/BuiltinAttributes.h"
#include <optional>

namespace tpuc::codegen {

/// A memory space is given out in multiples of so many bytes.
inline int64_t localAlignment(const TargetInfo &target, unsigned space = kTileSpace) {
  return target.memory.spaces[space].align;
}
/// `bytes` rounded up to that.
int64_t alignedLocally(int64_t bytes, const TargetInfo &target, unsigned space = kTileSpace);
/// Where the room of a tile at `address` begins, of operand `index` or of the result.
int64_t roomBehind(int64_t address, const TileModel &model, unsigned index, const Tile &tile,
                   const TargetInfo &target);

/// The ranges that a tensor is tiled into, for each axis.
using Sections = std::array<llvm::SmallVector<Range>, kNumAxes>;
/// How many of them there are.
using TileCounts = std::array<unsigned, kNumAxes>;

/// The order of the tiles of a group: tiles of c outermost, so that each weight is loaded once, or
/// innermost, so that each activation is.
enum class TileOrder : uint8_t { ChannelsOutermost, ChannelsInnermost };

/// What the attribute `ginfo` of an op in a group holds; see `tpu.Group` for its entries.
struct GroupInfo {
  int64_t outAddress = 0, outBytes = 0;
  int64_t buffers = 1;
  int64_t scratchAddress = 0, scratchBytes = 0;
  /// The ranges of the result, tile after tile, for each axis.
  Sections axisTiles;
  int64_t id = 0, stage = 0;
  /// The time step, counted from the first layer's of the same tile; those of loads are mostly
  /// below 0, into what runs before.
  int64_t step = 0;
  /// That of the first tile, which may be loaded before.
  int64_t firstStep = 0;
  /// 0: packed without gaps between channels.
  int64_t isAligned = 1;
  /// 1: a constant that is there from the start to the end of the network.
  int64_t resident = 0;
  /// Of a concatenation parts of which are brought to their lanes before it runs: for each operand
  /// the step behind which that is done; `kAtOnce` the others.
  llvm::SmallVector<int64_t> partSteps;
  static constexpr int64_t kAtOnce = -1;
  TileOrder order = TileOrder::ChannelsOutermost;

  mlir::DictionaryAttr attribute(mlir::MLIRContext *context) const;
  /// What `op` says, in a module that is verified. Errors name the layer: no such attribute.
  static Expected<GroupInfo> of(mlir::Operation *op);

  /// Where tile number `version` lies; tiles take turns.
  int64_t address(int64_t version) const { return outAddress + version % buffers * outBytes; }
};

/// The tiles of a group in their order: tile numbers for each axis, n, d, h, w and c in front of
/// these or behind them.
llvm::SmallVector<TileCounts> tileNumbers(const TileCounts &axisTiles,
                                          TileOrder order = TileOrder::ChannelsOutermost);

/// The tile that a tensor with these tiles has. An axis with one tile keeps it.
Tile tileAt(const Sections &axisTiles, const TileCounts &number);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_GROUP_GROUPINFO_H
