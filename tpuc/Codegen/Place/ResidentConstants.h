//===- ResidentConstants.h - Short constants that stay in local memory ---*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_PLACE_RESIDENTCONSTANTS_H
#define TPUC_CODEGEN_PLACE_RESIDENTCONSTANTS_H

#include "tpuc/Codegen/Backend.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace tpuc::codegen {

/// A row of bytes in each lane, in pieces that are loaded one by one. In global memory they follow
/// each other, each with the rows of all lanes.
struct PoolRows {
  /// Where the pieces end, in the row.
  llvm::SmallVector<int64_t> ends;

  struct Piece {
    int64_t begin = 0, end = 0;
  };
  Piece piece(size_t number) const { return {number == 0 ? 0 : ends[number - 1], ends[number]}; }
  /// The number of the piece that a byte of the row is in.
  size_t pieceAt(int64_t offset) const;
  int64_t bytes() const { return ends.empty() ? 0 : ends.back(); }
  /// How far from the begin of the pool a byte of the first lane's row is in global memory.
  int64_t globalOffset(int64_t offset, int64_t lanes) const;
};

/// Biases and small filters have rows so short that loading them takes many times as long as their
/// bytes would. They are loaded together, once, each lane's rows one after the other, and stay:
/// those of the first layers first, the others while layers in front of theirs are computed.
struct ResidentConstants {
  /// The operands that are such constants.
  llvm::DenseSet<mlir::OpOperand *> operands;
  /// By packed constant: the offset in the row of each lane.
  llvm::DenseMap<mlir::Value, int64_t> offsets;
  PoolRows rows;
  /// The memory space that they are in.
  unsigned space = kTileSpace;
};

/// The constants of `layers` that the chip keeps as short rows, as many as a small part of a memory
/// space holds: that of the first of them, if it has as many lanes as that of tiles. Others are not
/// resident.
ResidentConstants residentConstants(llvm::ArrayRef<mlir::Operation *> layers,
                                    const Backend &backend);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_PLACE_RESIDENTCONSTANTS_H
