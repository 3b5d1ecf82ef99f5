//===- DataMovement.h - Transfers of the BM1684 --------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_KERNELS_DATAMOVEMENT_H
#define TPUC_TARGET_BM1684_KERNELS_DATAMOVEMENT_H

#include "tpuc/Target/BM1684/Kernels/Commands.h"
#include "tpuc/Target/BM168x/GlobalTensor.h"

namespace tpuc::bm1684 {

using bm168x::GlobalTensor;
using bm168x::globalTensor;

// Both sides have one shape and elements of one size. Of words that several batch items share, each
// item is moved for itself: it is 1 or 2 bytes of each word. Extents that no field holds are cut.

Expected<void> emitLoad(Builder &builder, const GlobalTensor &from, const LocalTensor &to);
Expected<void> emitStore(Builder &builder, const LocalTensor &from, const GlobalTensor &to);
Expected<void> emitGlobalCopy(Builder &builder, const GlobalTensor &from, const GlobalTensor &to);
/// `to` [n,w,h,c] = `from` [n,c,h,w] by a transfer that exchanges n and c for each n and h. Columns
/// of both sides follow each other, elements have at most 4 bytes. Errors: other shapes or columns.
Expected<void> emitGlobalTurn(Builder &builder, const GlobalTensor &from, const GlobalTensor &to);
/// Between lanes.
Expected<void> emitLocalMove(Builder &builder, const LocalTensor &from, const LocalTensor &to);

/// `to` [n,c,h,w] = `from` [n,w,h,c], and the other way round.
Expected<void> emitLoadTurned(Builder &builder, const GlobalTensor &from, const LocalTensor &to);
Expected<void> emitStoreTurned(Builder &builder, const LocalTensor &from, const GlobalTensor &to);

/// Elements of any size that follow each other in both memories: [1,c,1,w] with rows of w elements,
/// those of channel c in lane c mod 64, slot after slot from byte `address` on.
Expected<void> emitLoadDense(Builder &builder, const GlobalTensor &from, uint32_t address);

/// Rows of bytes without gaps in the lanes: channel c has its rows in lane (startLane + c) mod 64,
/// from byte `address` on, and `slotBytes` further in each next slot of lanes.
struct DenseRows {
  uint32_t address = 0;
  uint32_t startLane = 0;
  int64_t slotBytes = 0;
};
/// Transfers of bytes [1,c,h,w]. Errors: several batch items, elements of other sizes.
Expected<void> emitLoadRows(Builder &builder, const GlobalTensor &from, const DenseRows &to);
Expected<void> emitStoreRows(Builder &builder, const DenseRows &from, const GlobalTensor &to);

/// How the columns of a matrix are divided among lanes: a row has `count` pieces of `width`, the
/// last one of `last`, and takes `lines` lines of each lane.
struct MatrixPieces {
  int64_t width = 1, count = 1, last = 1, slots = 1;

  /// As the product of two matrices wants its right operand and its result: commands take 64
  /// columns at a time in each of 64 lanes.
  static MatrixPieces of(int64_t columns);
  /// Elements from one row to the next for elements of so many bytes.
  int64_t pitch(int64_t bytes) const { return slots * alignUp(width, kEuBytes / bytes); }
};
/// Bytes of each lane that `rows` of a matrix take, in elements of `type`.
uint32_t matrixBytes(DataType type, int64_t rows, int64_t columns);
/// A matrix [1,1,rows,columns] from global memory to byte `address` of the lanes, as dense pieces,
/// and back.
Expected<void> emitLoadMatrix(Builder &builder, const GlobalTensor &from, uint32_t address);
Expected<void> emitStoreMatrix(Builder &builder, uint32_t address, const GlobalTensor &to);

/// A table of 256 bytes in global memory as the low bytes of 256 words at byte `table` of L2.
Expected<void> emitLoadTable(Builder &builder, const GlobalTensor &from, uint32_t table);

/// Every element = the low bytes of `bits`.
Expected<void> emitGlobalFill(Builder &builder, const GlobalTensor &to, uint32_t bits);

} // namespace tpuc::bm1684

#endif // TPUC_TARGET_BM1684_KERNELS_DATAMOVEMENT_H
