//===- Divide.h - How the chip divides ------------------------ -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_MACHINE_DIVIDE_H
#define TPUC_TARGET_BM1684_MACHINE_DIVIDE_H

#include <cstdint>

namespace tpuc::bm1684 {

/// 1 / sqrt(x) by three steps of Newton's method from a guess by the exponent: y (3/2 - x/2 y y),
/// each product and difference rounded. x is taken as positive.
inline float reciprocalRoot(float x) {
  const auto bits = __builtin_bit_cast(int32_t, x);
  const float half = x * 0.5f;
  float y = __builtin_bit_cast(float, 0x5f3759dfU - static_cast<uint32_t>(bits >> 1));
  for (int step = 0; step < 3; ++step)
    y = y * (1.5f - half * y * y);
  return y;
}

/// a / b: the magnitude of a times the square of 1 / sqrt(|b|), with the sign of the quotient.
inline float divide(float a, float b) {
  constexpr uint32_t kSign = 0x80000000;
  const auto x = __builtin_bit_cast(uint32_t, a), y = __builtin_bit_cast(uint32_t, b);
  const float magnitude = __builtin_bit_cast(float, (x & ~kSign) | ((x ^ y) & kSign));
  const float root = reciprocalRoot(__builtin_bit_cast(float, y & ~kSign));
  return root * root * magnitude;
}

} // namespace tpuc::bm1684

#endif // TPUC_TARGET_BM1684_MACHINE_DIVIDE_H
