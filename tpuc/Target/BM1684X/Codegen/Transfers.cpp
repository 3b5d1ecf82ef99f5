//===- Transfers.cpp - Tiles between global and local memory ----------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/Transfers.h"
#include "tpuc/Target/BM1684X/Kernels/DataMovement.h"
#include "tpuc/Target/BM1684X/Kernels/Matrix.h"

namespace tpuc::bm1684x::backend {

namespace {

/// The local side as a matrix, and how far its rows are apart in global memory.
struct MatrixSides {
  LocalTensor local;
  int64_t rowStride = 0;
  int64_t columns() const { return local.shape[1] * local.shape[3]; }
};

} // namespace

/// Images as rows of a matrix whose columns are the channels; or rounds of lanes as rows, where
/// those of an image are too many. None where channels do not follow each other in global memory.
static std::optional<MatrixSides> asMatrix(const LocalTensor &local, const GlobalTensor &global) {
  constexpr int64_t kMostExtent = 65535;
  const Extents &shape = local.shape;
  const int64_t plane = shape[2] * shape[3];
  const auto follows = [&](unsigned axis, int64_t stride) {
    return shape[axis] == 1 || global.stride[axis] == stride;
  };
  const bool isDense = follows(1, plane) && follows(2, shape[3]) && follows(3, 1);
  if (!isDense || !(local.liesAs(Layout::Aligned) || local.liesAs(Layout::Compact)))
    return std::nullopt;
  MatrixSides sides{local.withShape({shape[0], shape[1], 1, plane}), global.stride[0]};
  if (sides.columns() > kMostExtent && shape[0] == 1 && local.startLane == 0 &&
      shape[1] % int64_t{kLanes} == 0) {
    sides.local.explicitStride = local.strides();
    sides.local.explicitStride[0] = sides.local.explicitStride[1];
    sides.local.layout = Layout::Explicit;
    sides.local.shape = {shape[1] / int64_t{kLanes}, kLanes, 1, plane};
    sides.rowStride = plane * int64_t{kLanes};
  }
  if (sides.columns() > kMostExtent || sides.local.shape[0] > kMostExtent)
    return std::nullopt;
  return sides;
}

Expected<void> loadTensor(Builder &builder, const GlobalTensor &from, const LocalTensor &to) {
  if (std::optional<MatrixSides> matrix = asMatrix(to, from))
    return emitLoadMatrix(builder, from.address, matrix->rowStride, matrix->columns(),
                          matrix->local);
  return emitLoad(builder, from, to);
}

Expected<void> storeTensor(Builder &builder, const LocalTensor &from, const GlobalTensor &to) {
  if (std::optional<MatrixSides> matrix = asMatrix(from, to))
    return emitStoreMatrix(builder, matrix->local, matrix->columns(), to.address,
                           matrix->rowStride);
  return emitStore(builder, from, to);
}

} // namespace tpuc::bm1684x::backend
