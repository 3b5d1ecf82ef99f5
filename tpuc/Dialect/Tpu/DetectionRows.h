//===- DetectionRows.h - What the rows of detectors' outputs hold -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TPU_DETECTIONROWS_H
#define TPUC_DIALECT_TPU_DETECTIONROWS_H

#include "mlir/IR/Operation.h"

#include <cstdint>
#include <optional>

namespace tpuc::tpu {

/// The columns of a result whose rows, along the last dimension, are detections. Their order means
/// nothing but that of their scores, and rows of zeros are left over.
struct DetectionRows {
  /// The item of the batch. Without it, the first dimension of the result is that of items.
  std::optional<int64_t> item;
  /// Without it, all are of one class.
  std::optional<int64_t> category;
  int64_t score = 0;
  /// The first of four: x1, y1, x2, y2, or with `isCentred` centre x, centre y, width, height.
  int64_t box = 0;
  bool isCentred = false;
};

/// What the rows of the result of `op`, an op of the tpu dialect, hold; nothing where they are no
/// detections.
std::optional<DetectionRows> detectionRowsOf(mlir::Operation *op);

} // namespace tpuc::tpu

#endif // TPUC_DIALECT_TPU_DETECTIONROWS_H
