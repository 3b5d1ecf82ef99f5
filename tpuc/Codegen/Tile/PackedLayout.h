//===- PackedLayout.h - Weights in the order in which a chip reads them -*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_TILE_PACKEDLAYOUT_H
#define TPUC_CODEGEN_TILE_PACKEDLAYOUT_H

#include "tpuc/Support/Tensor.h"

#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <vector>

namespace tpuc::codegen {

/// How a constant is kept for a chip, as `tpu.Unpack` states it:
///
///     constant = crop(reshape(transpose(reshape(packed, blocks), order), padded))
struct PackedLayout {
  /// The packed tensor's own shape.
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<int64_t> blocks;
  llvm::SmallVector<int64_t> order;
  /// The constant's extents, rounded up to whole blocks.
  llvm::SmallVector<int64_t> padded;
  /// The type in which it is kept, where that is another one.
  std::optional<DataType> type = std::nullopt;
  /// Bytes that stand in padding, or behind all blocks: parameters that a kernel reads beside
  /// the constant.
  struct Bytes {
    int64_t offset = 0;
    std::vector<uint8_t> bytes;
  };
  std::vector<Bytes> parameters = {};
};

/// `plain` in that layout; what is padding and no parameter is 0.
Tensor pack(const Tensor &plain, const PackedLayout &layout);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_TILE_PACKEDLAYOUT_H
