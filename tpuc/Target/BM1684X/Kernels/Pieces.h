//===- Pieces.h - Tensors in local memory, piece by piece -------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_PIECES_H
#define TPUC_TARGET_BM1684X_KERNELS_PIECES_H

#include "tpuc/Target/BM1684X/Kernels/Convolution.h"

#include <vector>

namespace tpuc::bm1684x {

/// Some n of a tensor with all channels and rows; or of one n some channels that are whole rounds
/// of lanes; or of one round of lanes some rows.
struct Piece {
  int64_t n = 0, numN = 1;
  int64_t c = 0, numC = 1;
  int64_t h = 0, numH = 1;

  /// These n and channels of a tensor with as many, and all rows. What has an extent of 1 there is
  /// the same in all pieces.
  LocalTensor channelsOf(const LocalTensor &tensor) const;
  /// The piece of a tensor like the one that was divided.
  LocalTensor of(const LocalTensor &tensor) const;
};

/// Pieces of a tensor in their order, each of at most `bytes` in a lane, or of one row.
std::vector<Piece> piecesOf(const LocalTensor &tensor, uint32_t bytes);

/// Bytes of a lane that a piece may take: its commands are long enough, and the scratch is small.
inline constexpr uint32_t kPieceBytes = 8 << 10;

/// What the largest piece needs in a place of its own, Aligned.
uint32_t largestPieceBytes(const LocalTensor &tensor, const std::vector<Piece> &pieces);

/// The rows of an image that the windows of some rows of the result see, and what these windows see
/// beyond the image.
struct SeenRows {
  int64_t first = 0, count = 0;
  int64_t padBegin = 0, padEnd = 0;
};
SeenRows rowsSeen(const Window2d &window, int64_t imageRows, int64_t firstRow, int64_t numRows);

/// The activation of `raw`, which is overwritten, to `result`. None of its commands writes where it
/// reads, which would cost double: `other` is a tensor like `raw` in a third place, for limits.
void addActivation(Builder &builder, const LocalTensor &result, const LocalTensor &raw,
                   const LocalTensor &other, const Activation &activation);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_PIECES_H
