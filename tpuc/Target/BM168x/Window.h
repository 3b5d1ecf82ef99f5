//===- Window.h - Windows that slide over padded images ------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM168X_WINDOW_H
#define TPUC_TARGET_BM168X_WINDOW_H

#include "tpuc/Target/Common/Command.h"

#include <array>

namespace tpuc::bm168x {

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

/// The fields of a command of the TIU. Errors name `where` and the command: a kernel without
/// elements, windows that leave the padded image.
Expected<Window> readWindow(const mc::Command &command, const std::string &where);

} // namespace tpuc::bm168x

#endif // TPUC_TARGET_BM168X_WINDOW_H
