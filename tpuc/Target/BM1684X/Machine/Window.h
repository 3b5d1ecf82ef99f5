//===- Window.h - Windows that slide over padded images ------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_MACHINE_WINDOW_H
#define TPUC_TARGET_BM1684X_MACHINE_WINDOW_H

#include "tpuc/Target/BM1684X/Machine/Exec.h"

namespace tpuc::bm1684x {

/// Index of a place that holds no element of the image.
inline constexpr int32_t kPadValue = -1;
inline constexpr int32_t kInsertValue = -2;

/// The fields that convolution, pooling and depthwise convolution share. Per axis (0: h, 1: w) the
/// image gets `insert` values between its elements, then `padLow` and `padHigh` around.
struct Window {
  std::array<int64_t, 2> image{};
  std::array<int64_t, 2> result{};
  std::array<int64_t, 2> kernel{};
  std::array<int64_t, 2> stride{};
  std::array<int64_t, 2> dilation{};
  std::array<int64_t, 2> insert{};
  std::array<int64_t, 2> padLow{};
  std::array<int64_t, 2> padHigh{};
  /// 0 constant, 1 reflect, 2 replicate, 3 circular.
  unsigned padMode = 0;

  /// The row (column) of the image that kernel position `k` sees for result position `out`, or
  /// kPadValue or kInsertValue.
  int32_t source(size_t axis, int64_t out, int64_t k) const;
};

/// Errors name the command: a result that is larger than the windows, a stride of 0.
Expected<Window> windowOf(const Decoded &decoded);

/// The values of padding and inserted places of a channel, as raw bits of the input type.
struct Fillers {
  Source source;
  uint32_t insertImmediate = 0;

  uint32_t pad(Exec &exec, int64_t channel) const;
  uint32_t insert(Exec &exec, int64_t channel) const;
};
Fillers fillersOf(const Decoded &decoded, Prec prec, bool isSigned);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_MACHINE_WINDOW_H
