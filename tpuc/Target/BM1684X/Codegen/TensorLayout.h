//===- TensorLayout.h - How a tensor lies in both memories ------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_CODEGEN_TENSORLAYOUT_H
#define TPUC_TARGET_BM1684X_CODEGEN_TENSORLAYOUT_H

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Target/BM1684X/Codegen/ChannelRows.h"
#include "tpuc/Target/BM1684X/Codegen/OperandForm.h"

namespace tpuc::bm1684x::backend {

/// The parameters that a constant operand carries behind its elements.
enum class Carried : uint8_t {
  Nothing,
  ChannelWords, ///< Words of each channel: behind filters and slopes.
  ColumnWords,  ///< Rows of words of each column: behind matrices.
};

/// How an operand of an op, or its result, lies in both memories. It is made once for all tiles
/// (`BM1684XLayout`), and whoever loads, stores, computes or counts bytes takes it from there.
struct TensorLayout : codegen::OperandLayout {
  OperandForm form = OperandForm::Absent;
  Carried parameters = Carried::Nothing;
  /// Of a right operand: whether it lies in local memory as [columns, rows].
  bool liesTurned = false;
  /// Of a constant matrix: whether its rows stand by the lane that holds them, so that a lane's
  /// rows follow each other in global memory.
  bool isByLane = false;
  /// Of the whole tensor, as its model sees it.
  codegen::AxisExtents extents{};
  /// Of PerChannel: how the rows are packed and put over lanes.
  ChannelRows rows = {};
  /// Of a constant that a command takes as a number, which makes it Absent.
  std::optional<double> number = std::nullopt;

  /// A tile in local memory.
  LocalTensor local(const codegen::LocalTile &tile) const;
  /// Bytes that a tile takes in each lane, with the parameters that it carries.
  int64_t bytes(const codegen::Tile &tile) const;
  /// The same tile in the tensor that begins at `address` of global memory, of the same shape as
  /// `local` gives it (of EveryLane one lane, of Transposed rows and columns exchanged).
  GlobalTensor global(const codegen::Tile &tile, int64_t address) const;

  /// Of a matrix by lanes, both sides of the transfer of a tile: [1, lanes, slots, columns].
  LocalTensor localByLane(const codegen::LocalTile &tile) const;
  GlobalTensor globalByLane(const codegen::Tile &tile, int64_t address) const;

  /// Where the parameters lie that a tile in local memory carries: the words of each channel
  /// [1, channels, 1, 4] Aligned, or the rows of words of each column.
  uint32_t parameterAddress(const codegen::LocalTile &tile) const;
  /// ColumnWords of a tile in local memory, [kColumnRows, lanes, 1, columns].
  LocalTensor localColumnWords(const codegen::LocalTile &tile) const;
  /// Those of `columns` in the matrix that begins at `address` of global memory, of one lane.
  GlobalTensor columnWords(codegen::Range columns, int64_t address) const;
  /// Where ColumnWords begin in the packed matrix, in bytes.
  int64_t columnWordsBegin() const;
};

} // namespace tpuc::bm1684x::backend

#endif // TPUC_TARGET_BM1684X_CODEGEN_TENSORLAYOUT_H
