//===- Results.h - From sums to stored integers --------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_MACHINE_RESULTS_H
#define TPUC_TARGET_BM1684_MACHINE_RESULTS_H

#include "tpuc/Target/BM1684/Machine/Exec.h"

#include <algorithm>

namespace tpuc::bm1684 {

/// What becomes of sums of integer products: floor((max(sum + bias, 0) or sum + bias) / 2^shift +
/// 1/2), saturated.
struct IntFinish {
  bool hasRelu = false;
  int shift = 0;
  int64_t least = -128, most = 127;

  int32_t operator()(int64_t value) const {
    if (hasRelu)
      value = std::max<int64_t>(value, 0);
    if (shift > 0)
      value = ((value >> (shift - 1)) + 1) >> 1;
    return static_cast<int32_t>(std::clamp(value, least, most));
  }
  /// The same for `count` sums; `added` is the bias.
  void apply(int64_t count, const int32_t *sums, int32_t added, int32_t *out) const;
};

/// By the fields of a convolution, depthwise convolution or product. The result has a sign when an
/// operand has one, a bias included if there is one, and there is no relu.
IntFinish intFinishOf(const Decoded &decoded);
/// The range of the result for a given sign.
IntFinish intFinishOf(const Decoded &decoded, bool isSigned);

} // namespace tpuc::bm1684

#endif // TPUC_TARGET_BM1684_MACHINE_RESULTS_H
