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

/// The local side as a matrix of one row, chunks of whose columns are the channels; none where the
/// elements do not follow each other in global memory, or the transfer of a tensor is as good.
static std::optional<LocalTensor> asRow(const LocalTensor &local, const GlobalTensor &global) {
  constexpr int64_t kLongRow = 256, kPages = 16384;
  const Extents &shape = local.shape;
  const int64_t plane = shape[2] * shape[3];
  const int64_t bytes = byteSize(local.type, plane);
  const bool isOneRow = shape[0] == 1 && global.stride[1] == plane && global.stride[3] == 1 &&
                        (shape[2] == 1 || global.stride[2] == shape[3]);
  if (!isOneRow || !local.liesAs(Layout::Aligned) || shape[1] == 1 || bytes >= kLongRow ||
      bytes * shape[1] >= kPages)
    return std::nullopt;
  return local.withShape({1, shape[1], 1, plane});
}

Expected<void> loadTensor(Builder &builder, const GlobalTensor &from, const LocalTensor &to) {
  if (std::optional<LocalTensor> row = asRow(to, from)) {
    const int64_t columns = row->shape[1] * row->shape[3];
    return emitLoadMatrix(builder, from.address, columns, columns, *row);
  }
  return emitLoad(builder, from, to);
}

Expected<void> storeTensor(Builder &builder, const LocalTensor &from, const GlobalTensor &to) {
  if (std::optional<LocalTensor> row = asRow(from, to)) {
    const int64_t columns = row->shape[1] * row->shape[3];
    return emitStoreMatrix(builder, *row, columns, to.address, columns);
  }
  return emitStore(builder, from, to);
}

} // namespace tpuc::bm1684x::backend
