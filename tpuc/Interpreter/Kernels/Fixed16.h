//===- Fixed16.h - Products of 16-bit numbers in fixed point -----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_FIXED16_H
#define TPUC_INTERPRETER_KERNELS_FIXED16_H

#include "tpuc/Support/Rounding.h"

namespace tpuc::kernels {

/// a * b / 2^15, rounded half up; only -2^15 * -2^15 saturates. gemmlowp's
/// SaturatingRoundingDoublingHighMul of 16 bits.
constexpr int16_t multiplyHigh16(int16_t a, int16_t b) {
  return saturateCast<int16_t>(roundingShiftRight(int32_t(a) * b, 15, RoundingMode::HalfUp));
}

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_FIXED16_H
