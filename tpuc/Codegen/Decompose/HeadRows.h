//===- HeadRows.h - Rows that hold the heads of attention -------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_DECOMPOSE_HEADROWS_H
#define TPUC_CODEGEN_DECOMPOSE_HEADROWS_H

#include "tpuc/Dialect/Tpu/CastOps.h"

#include "mlir/IR/Builders.h"

#include <optional>

namespace tpuc::codegen {

/// Rows, and which of their columns: `width` from `begin` on. Behind them stands a cast, or not.
struct HeadRows {
  mlir::Value tensor;
  int64_t begin = 0, width = 0;
  tpu::CastOp cast;
  enum Form : uint8_t {
    Apart,
    SampleTurned, ///< The only sample stands behind its rows (isSampleTurned).
    Channels,     ///< Rows are columns (rowsOfChannels).
    Planes,       ///< The rows of a sample are several dimensions (asSamples).
  } form = Apart;
  /// How many samples there are.
  int64_t samples = 1;
  /// Windows that attend each by itself.
  int64_t windows = 1;
};

/// The rows of `heads` [B, H, T, D], or of windows of them; none where these are made otherwise.
std::optional<HeadRows> rowsOfHeads(mlir::Value heads);

/// How many windows of `whole` [B, H, T, D] are dimension 1 of `parts` [B * H, windows, rows, D];
/// 1 where these are none.
int64_t numWindows(mlir::Value whole, mlir::Value parts);

/// Whether a permute has this order.
bool hasOrder(mlir::Operation *op, llvm::ArrayRef<int64_t> order);

/// The columns that `rows`, which are apart, name of their tensor, in the type of the heads: what
/// is made is named after these.
mlir::Value columnsOf(mlir::OpBuilder &builder, HeadRows rows, mlir::Value heads);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_DECOMPOSE_HEADROWS_H
