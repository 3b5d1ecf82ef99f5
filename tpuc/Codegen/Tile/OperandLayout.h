//===- OperandLayout.h - How the tensors of an op lie on a chip ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_TILE_OPERANDLAYOUT_H
#define TPUC_CODEGEN_TILE_OPERANDLAYOUT_H

#include "tpuc/Codegen/Tile/Tile.h"
#include "tpuc/Target/Target.h"

#include <optional>

namespace tpuc::codegen {

/// How an operand of an op, or its result, lies on a chip, whatever its tile.
struct OperandLayout {
  /// Whether it has to be in local memory; constants may be part of commands.
  bool isLoaded = false;
  /// Whether the channels of a tile begin at whole lines of a lane.
  bool isAligned = true;
  /// The type in which its elements are stored; F32 where memory holds none.
  DataType type = DataType::F32;
  /// The number of the memory space that it lies in. Results lie in the space of tiles.
  unsigned space = kTileSpace;
  /// The chip's number for how tiles lie in local memory. None for what lies as nothing else does,
  /// such as the packed rows of a filter.
  std::optional<uint8_t> likeness = std::nullopt;
  /// Of a constant of which each lane holds one short row that is the same in both memories, packed
  /// as [lanes, elements], so that it may stay in its space for the whole network: what the rows
  /// have to be aligned to. None for others.
  std::optional<int64_t> residentAlignment = std::nullopt;

  /// Whether equal tiles of both lie alike in local memory.
  bool liesLike(const OperandLayout &other) const {
    return likeness && likeness == other.likeness && type == other.type && space == other.space;
  }
};

/// The layouts of all operands of an op and of its result. Chips derive their own, with what their
/// kernels, transfers and footprints need beside, so that nobody finds that out again.
class OpLayout {
public:
  virtual ~OpLayout() = default;
  /// Of operand `index`, or of the result (`index` = number of operands).
  virtual const OperandLayout &operand(unsigned index) const = 0;
  /// Bytes of a tile of it in each lane of its memory space, with the parameters that it carries.
  virtual int64_t bytes(unsigned index, const Tile &tile) const = 0;
  /// Bytes of room behind such a tile that it has while it is stored, or from its load until it is
  /// used (`LocalTile::room`); constants and parts of concatenations have none.
  virtual int64_t roomBytes(unsigned /*index*/, const Tile & /*tile*/) const { return 0; }
};

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_TILE_OPERANDLAYOUT_H
