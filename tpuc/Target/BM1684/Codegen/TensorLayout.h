//===- TensorLayout.h - How a tensor lies in both memories ---- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_CODEGEN_TENSORLAYOUT_H
#define TPUC_TARGET_BM1684_CODEGEN_TENSORLAYOUT_H

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Target/BM1684/Kernels/DataMovement.h"

namespace tpuc::bm1684::backend {

/// Bytes of a word, one for each of so many batch items.
inline constexpr int64_t kItemsOfWord = itemsPerWord(Prec::I8);

/// How an operand or a result lies in local memory.
enum class OperandForm : uint8_t {
  Absent,     ///< Not loaded: left out, or a number in a command.
  Tensor,     ///< [n, c, h, w], channels (or rows of a matrix) over lanes.
  PerChannel, ///< A row for each channel, packed: filters and biases.
  Transposed, ///< The same as Tensor of a matrix that lies transposed in global memory.
  Turned,     ///< A computed right operand that is transposed: [n, columns, 1, rows].
  FirstLane,  ///< [n, 1, 1, w].
  Repeated,   ///< Bytes of one batch item in all items of a word, of one channel in all lanes.
  Rows,       ///< Rows of matrices of bytes, each dense in a lane: I32 words [n, c, 1, w / 4].
  BiasParts,  ///< A bias as rows of bytes (`biasParts`), in the lanes behind those of a matrix.
  Pieces,     ///< Rows of matrices of bytes, whose dense pieces lie over lanes (MatrixPieces).
  Table, ///< 256 bytes, as words of L2: where local memory holds its place, at the same offset.
};

/// Whether an op has a tensor of stored integers.
bool isOnIntegers(mlir::Operation *op);

/// Of operand `index` of `op`; its result is number `op->getNumOperands()`.
OperandForm operandForm(mlir::Operation *op, unsigned index);

/// Whether operand `index` is what sums of integers begin with: kept in 16 bits.
bool isIntegerBias(mlir::Operation *op, unsigned index);

/// The type in which operand `index` or the result is stored.
DataType elementTypeOf(mlir::Operation *op, unsigned index);

/// How the packed rows of a filter or bias are put over lanes: a lane's rows stand together, slot
/// after slot, or the rows of channels follow each other.
struct ChannelRows {
  int64_t channels = 1;
  /// Elements of one channel.
  int64_t row = 1;
  bool isByLane = true;

  int64_t lanes() const { return std::min<int64_t>(channels, kLanes); }
  int64_t slots() const { return slotsOf(channels); }
  /// Bytes of each lane that the rows of so many channels take.
  int64_t laneBytes(DataType type, int64_t count) const {
    return byteSize(type, slotsOf(count) * row);
  }
  static int64_t slotsOf(int64_t count) { return ceilDiv(count, kLanes); }
};

/// How an operand of an op, or its result, lies in both memories. It is made once for all tiles
/// (`BM1684Layout`), and whoever loads, stores, computes or counts bytes takes it from there.
struct TensorLayout : codegen::OperandLayout {
  OperandForm form = OperandForm::Absent;
  /// Of the whole tensor, as its model sees it.
  codegen::AxisExtents extents{};
  /// Of PerChannel.
  ChannelRows rows = {};
  /// Of BiasParts.
  uint32_t startLane = 0;
  /// Of Repeated: over what.
  bool repeatsItems = false, repeatsChannels = false;
  bool isResult = false;
  /// Of a constant that a command takes as a number, which makes it Absent.
  std::optional<double> number = std::nullopt;

  /// A tile in local memory.
  LocalTensor local(const codegen::LocalTile &tile) const;
  int64_t bytes(const codegen::Tile &tile) const { return local({tile, 0}).bytesPerLane(); }
  /// Of a result whether a tile of it is packed for its store, of others whether it is unpacked
  /// behind its load, where there is room (PackedImages).
  bool isPacked(const codegen::Tile &tile) const;
  /// Bytes of that room.
  int64_t roomBytes(const codegen::Tile &tile) const;
  /// The same tile in the tensor that begins at `address` of global memory, of the same shape as
  /// `local` gives it (of Transposed and Turned rows and columns exchanged).
  GlobalTensor global(const codegen::Tile &tile, int64_t address) const;
};

} // namespace tpuc::bm1684::backend

#endif // TPUC_TARGET_BM1684_CODEGEN_TENSORLAYOUT_H
