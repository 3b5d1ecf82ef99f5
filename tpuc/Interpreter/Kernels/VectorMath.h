//===- VectorMath.h - Functions that loops over floats can be vectorized with ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_VECTORMATH_H
#define TPUC_INTERPRETER_KERNELS_VECTORMATH_H

#include <bit>
#include <cmath>
#include <cstdint>

namespace tpuc::kernels {

/// e^x within 2 units in the last place; without branches or calls, so that loops vectorize.
/// x = n ln 2 + r with ln 2 in two parts (Cody and Waite), e^r by Cephes' polynomial for |r| <=
/// ln 2 / 2, and 2^n in two factors, so that subnormal results and those near the top come out.
inline float vectorExp(float x) {
  constexpr float kMagic = 0x1.8p23F; // Adding it rounds to an integer in the low bits.
  constexpr float kLog2e = 1.44269504F;
  constexpr float kLn2High = 0.693359375F;
  constexpr float kLn2Low = -2.12194440e-4F;
  float clamped = x < -104.0F ? -104.0F : x;
  clamped = clamped > 89.0F ? 89.0F : clamped;
  const float shifted = clamped * kLog2e + kMagic;
  const float n = shifted - kMagic;
  const float r = (clamped - n * kLn2High) - n * kLn2Low;
  float poly = 1.9875691500e-4F;
  poly = poly * r + 1.3981999507e-3F;
  poly = poly * r + 8.3334519073e-3F;
  poly = poly * r + 4.1665795894e-2F;
  poly = poly * r + 1.6666665459e-1F;
  poly = poly * r + 5.0000001201e-1F;
  const float value = poly * (r * r) + r + 1.0F;
  const int32_t exponent = std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(kMagic);
  const int32_t half = exponent >> 1;
  const auto power = [](int32_t e) {
    return std::bit_cast<float>(static_cast<uint32_t>(e + 127) << 23);
  };
  return value * power(half) * power(exponent - half);
}
inline double vectorExp(double x) { return std::exp(x); }

/// tanh within 2 units in the last place: Cephes' polynomial near zero, where 1 - 2 / (e^2x + 1)
/// would lose digits.
inline float vectorTanh(float x) {
  const float magnitude = x < 0 ? -x : x;
  const float square = x * x;
  float poly = -5.70498872745e-3F;
  poly = poly * square + 2.06390887954e-2F;
  poly = poly * square - 5.37397155531e-2F;
  poly = poly * square + 1.33314422036e-1F;
  poly = poly * square - 3.33332819422e-1F;
  const float nearZero = poly * square * x + x;
  const float far = 1.0F - 2.0F / (vectorExp(2.0F * magnitude) + 1.0F);
  return magnitude < 0.625F ? nearZero : (x < 0 ? -far : far);
}
inline double vectorTanh(double x) { return std::tanh(x); }

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_VECTORMATH_H
