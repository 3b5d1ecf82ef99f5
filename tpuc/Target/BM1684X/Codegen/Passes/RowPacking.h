//===- RowPacking.h - Rows of pictures as channels --------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_CODEGEN_PASSES_ROWPACKING_H
#define TPUC_TARGET_BM1684X_CODEGEN_PASSES_ROWPACKING_H

#include "tpuc/Support/Tensor.h"

#include <optional>
#include <span>
#include <vector>

namespace tpuc::bm1684x::backend {

/// How the rows of a convolution's pictures lie: so many rows side by side as channels, the first
/// one's channels first.
struct RowPacking {
  int64_t inputs = 1;
  int64_t results = 1;
  /// The rows under the windows of one row of results are channels (`tpu.PackRows`), `inputs`
  /// is 1.
  bool isStacked = false;

  bool operator==(const RowPacking &) const = default;
};

/// What stands outside of pictures whose stacked rows a convolution reads: `fill` in all channels,
/// and one channel more for each entry of `rows`, as `tpu.PackRows` has them.
struct RowMarks {
  int64_t fill = 0;
  std::vector<int64_t> rows = {};
};

/// The windows of a convolution along its rows. With the rows packed it is a convolution, too: of
/// more channels, with other windows and zeros in its filter where channels do not meet.
struct RowWindows {
  int64_t inputRows = 1, resultRows = 1;
  int64_t kernel = 1, stride = 1, padBegin = 0, padEnd = 0;

  /// The rows under the windows of `results` rows of results.
  int64_t reach(int64_t results) const { return (results - 1) * stride + kernel; }
  /// Rows of results with so many side by side.
  int64_t packedRows(int64_t results) const { return (resultRows + results - 1) / results; }
  /// The windows on packed rows, of which the last may hold results beyond `resultRows`, which mean
  /// nothing. None: rows of the input that cannot be shared out evenly.
  std::optional<RowWindows> packed(const RowPacking &packing) const;
  /// The filter [O, C, H, W] on packed rows: [results * O, channels, kernel, W].
  Tensor packedFilter(const Tensor &filter, const RowPacking &packing) const;

  /// What has stacked rows mean `outsides`, one number for each channel, outside of the pictures,
  /// which hold bytes' numbers; `hasColumns` says whether windows also reach beyond columns.
  RowMarks marks(std::span<const double> outsides, const RowPacking &packing,
                 bool hasColumns) const;
  /// The same filter on stacked rows with channels for marks behind them.
  Tensor markedFilter(const Tensor &filter, const RowPacking &packing, const RowMarks &marks,
                      std::span<const double> outsides) const;
};

} // namespace tpuc::bm1684x::backend

#endif // TPUC_TARGET_BM1684X_CODEGEN_PASSES_ROWPACKING_H
