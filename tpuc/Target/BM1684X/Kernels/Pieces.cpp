//===- Pieces.cpp - Tensors in local memory, piece by piece ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Pieces.h"
#include "tpuc/Target/BM1684X/Kernels/Commands.h"

#include <algorithm>

namespace tpuc::bm1684x {

LocalTensor Piece::channelsOf(const LocalTensor &tensor) const {
  LocalTensor part = tensor;
  if (tensor.shape[0] != 1 && numN != tensor.shape[0])
    part = part.slice(0, n, numN);
  if (tensor.shape[1] != 1 && numC != tensor.shape[1])
    part = part.slice(1, c, numC);
  return part;
}

LocalTensor Piece::of(const LocalTensor &tensor) const {
  const LocalTensor part = channelsOf(tensor);
  return numH == part.shape[2] || part.shape[2] == 1 ? part : part.slice(2, h, numH);
}

std::vector<Piece> piecesOf(const LocalTensor &tensor, uint32_t bytes) {
  const auto &[numN, numC, numH, w] = tensor.shape;
  const int64_t round = laneBytes(tensor.type, {1, 1, numH, w});
  const int64_t rounds = ceilDiv(tensor.startLane + numC, kLanes);
  const int64_t fitting = bytes / round;
  std::vector<Piece> pieces;
  if (fitting >= rounds) {
    const int64_t step = fitting / rounds;
    for (int64_t n = 0; n < numN; n += step)
      pieces.push_back({n, std::min(step, numN - n), 0, numC, 0, numH});
    return pieces;
  }
  const int64_t most = std::max<int64_t>(1, bytes / (w * tensor.elementBytes()));
  const int64_t rows = fitting > 0 ? numH : ceilDiv(numH, ceilDiv(numH, most));
  const int64_t step = std::max<int64_t>(fitting, 1) * kLanes;
  for (int64_t n = 0; n < numN; ++n)
    for (int64_t lane = 0; lane < rounds * kLanes; lane += step) {
      const int64_t c = std::max<int64_t>(0, lane - tensor.startLane);
      const int64_t end = std::min(numC, lane + step - tensor.startLane);
      for (int64_t h = 0; h < numH; h += rows)
        pieces.push_back({n, 1, c, end - c, h, std::min(rows, numH - h)});
    }
  return pieces;
}

uint32_t largestPieceBytes(const LocalTensor &tensor, const std::vector<Piece> &pieces) {
  uint32_t bytes = 0;
  for (const Piece &piece : pieces) {
    const LocalTensor part = piece.of(tensor);
    bytes = std::max(bytes, laneBytes(part.type, part.shape, Layout::Aligned, part.startLane));
  }
  return bytes;
}

SeenRows rowsSeen(const Window2d &window, int64_t imageRows, int64_t firstRow, int64_t numRows) {
  const int64_t begin = firstRow * window.stride[0] - window.padBegin[0];
  const int64_t end =
      begin + (numRows - 1) * window.stride[0] + (window.kernel[0] - 1) * window.dilation[0] + 1;
  SeenRows seen;
  seen.first = std::clamp<int64_t>(begin, 0, imageRows);
  seen.count = std::max<int64_t>(0, std::min(end, imageRows) - seen.first);
  seen.padBegin = std::max<int64_t>(0, std::min<int64_t>(end, 0) - begin);
  seen.padEnd = (end - begin) - seen.padBegin - seen.count;
  return seen;
}

const LocalTensor &beforeActivation(const LocalTensor &result, const LocalTensor &spare,
                                    const Activation &activation) {
  return activation.relu && activation.limit < 0 ? spare : result;
}

void addActivation(Builder &builder, const LocalTensor &result, const LocalTensor &raw,
                   const LocalTensor &other, const Activation &activation) {
  const Immediate zero = immediate(result.type, 0);
  if (activation.limit < 0)
    return addArith(builder, ArithOp::Max, result, raw, zero);
  addArith(builder, ArithOp::Max, other, raw, zero);
  addArith(builder, ArithOp::Min, result, other, immediate(result.type, activation.limit));
}

} // namespace tpuc::bm1684x
