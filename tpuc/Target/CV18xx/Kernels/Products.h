//===- Products.h - Products of matrices ---------------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_KERNELS_PRODUCTS_H
#define TPUC_TARGET_CV18XX_KERNELS_PRODUCTS_H

#include "tpuc/Target/CV18xx/Kernels/LocalTensor.h"

namespace tpuc::cv18xx {

/// A matrix in local memory: the rows are cut into pieces of whole lines, one in each lane
/// from the first on. The last piece may be shorter.
struct LocalMatrix {
  uint32_t address = 0;
  uint32_t rows = 1, columns = 1;
  bool isBf16 = true;

  uint32_t elementBytes() const { return isBf16 ? 2 : 1; }
  uint32_t width(const Chip &chip) const;
  uint32_t pieces(const Chip &chip) const;
  /// What a row, and what all take in each lane.
  uint32_t rowBytes(const Chip &chip) const { return width(chip) * elementBytes(); }
  uint32_t bytes(const Chip &chip) const { return rows * rowBytes(chip); }
};

/// A matrix in global memory; strides are bytes.
struct GlobalMatrix {
  GlobalTensor begin = {};
  uint64_t rowStride = 0, columnStride = 0;
};

/// Rows of columns that follow each other, from `begin` on.
GlobalMatrix denseMatrix(const GlobalTensor &begin, const LocalMatrix &matrix);

// Between matrices of the same extents. Columns that do not lie side by side are moved one by one.
// Errors (without `where`): what the chip refuses.

Expected<void> emitLoad(Builder &builder, const GlobalMatrix &from, const LocalMatrix &to);
Expected<void> emitStore(Builder &builder, const LocalMatrix &from, const GlobalMatrix &to);
/// With zeros behind the columns of a last piece that is shorter.
Expected<void> emitPadded(Builder &builder, const GlobalMatrix &from, const LocalMatrix &to);

/// How sums of signed integers become 8 bits: times multiplier / 2^31, half up, then / 2^shift,
/// half away from zero.
struct SumScale {
  uint32_t multiplier = 0;
  unsigned shift = 0;
};

/// Columns of one piece of a left matrix, from `first` on, whose rows of the right one a product
/// takes; a `count` of 0: all columns. Of several rows these columns are all that the piece has,
/// without gaps. Sums of 32 bits
/// lie where the result does: rows of upper halves, then those of the lower ones; parts add to
/// them, and leave such.
struct ProductPart {
  uint32_t piece = 0, first = 0, count = 1;
  bool addsSums = false, leavesSums = false;
};

/// result = left * right + bias: sums of float32 that truncate, or of integers. `bias`: where lanes
/// have a row of the result's bias, of BF16 the upper halves of float32 and behind them the lower
/// ones. Errors (without `where`): more than 4095 rows.
Expected<void> emitProduct(Builder &builder, const LocalMatrix &result, const LocalMatrix &left,
                           const LocalMatrix &right, bool hasRelu,
                           std::optional<SumScale> scale = std::nullopt,
                           std::optional<uint32_t> bias = std::nullopt,
                           std::optional<ProductPart> part = std::nullopt);

/// Products of BF16 between matrices of global memory whose sums do not fit the lanes: `count` of
/// them, so many bytes apart (0: the same again). The columns of the result follow each other.
struct SlicedProduct {
  GlobalMatrix left, right, result;
  uint32_t rows = 1, inner = 1, columns = 1;
  uint32_t count = 1;
  uint64_t leftStep = 0, rightStep = 0, resultStep = 0;
  bool hasRelu = false;
};
/// So much of each the lanes hold at a time.
struct ProductPlan {
  uint32_t rows = 1, inner = 1, columns = 1;
};
/// The plan that moves the fewest bytes; none where no slice fits.
std::optional<ProductPlan> bestSlices(const Chip &chip, const SlicedProduct &product);
/// Computes them with all of local memory. Errors (without `where`): what the chip refuses.
Expected<void> emitSliced(Builder &builder, const SlicedProduct &product, const ProductPlan &plan);

} // namespace tpuc::cv18xx

#endif // TPUC_TARGET_CV18XX_KERNELS_PRODUCTS_H
