//===- BitExactMath.h - Functions as devices compute them --------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Norms, softmaxes and attention on stored integers are stated as short sequences of f32
// operations, each rounded to the nearest, ties to even, so that a device has the same bits as the
// interpreter. What is stated here are the parts that both sides take from one place.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_BITEXACTMATH_H
#define TPUC_SUPPORT_BITEXACTMATH_H

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>

namespace tpuc::steps {

/// The longest row of 8-bit integers whose distances from their mean have an exact sum of squares:
/// 1024 * 128^2 = 2^24.
inline constexpr int64_t kLongestNorm = 1024;

/// How many steps of Newton's method a reciprocal root takes; two leave an error of 5 in 10^6.
inline constexpr unsigned kRootSteps = 3;

/// 1 / sqrt(x) for x > 0, wrong by a few units in the last place: half of the exponent's bits, then
/// y (3/2 - (x/2 y) y) `kRootSteps` times.
inline float reciprocalRoot(float x) {
  constexpr uint32_t kMagic = 0x5f3759df;
  float y = std::bit_cast<float>(kMagic - (std::bit_cast<uint32_t>(x) >> 1));
  const float half = 0.5F * x;
  for (unsigned step = 0; step < kRootSteps; ++step)
    y = y * (1.5F - half * y * y);
  return y;
}

/// 1 / x for x > 0: the square of its reciprocal root.
inline float reciprocal(float x) {
  const float root = reciprocalRoot(x);
  return root * root;
}

/// The most keys, or classes, of a softmax whose weights are whole numbers.
inline constexpr int64_t kLongestSoftmax = 4096;

/// Bits of the weights of a softmax over `count` elements: the largest weight is 2^bits, and the
/// sum of all at most 2^23, so that it is exact in f32, and that of products with 8-bit integers
/// within 32 bits.
constexpr int weightBits(int64_t count) {
  constexpr int kMostBits = 15, kExactBits = 23;
  const int ceilLog2 = static_cast<int>(std::bit_width(static_cast<uint64_t>(count - 1)));
  return std::min(kMostBits, kExactBits - ceilLog2);
}

/// 2^f for |f| <= 1/2 by powers of f, wrong by 3 in 10^6.
inline constexpr float kPowerTerms[] = {0.99999926F, 0.69312182F, 0.24024745F, 0.055917808F,
                                        0.009570069F};
/// Below this exponent every weight is 0.
inline constexpr float kLeastExponent = -32;

/// The weight of an element of a softmax: 2^exponent * 2^bits as a whole number.
inline float weightOf(float exponent, int bits) {
  constexpr int kMantissaBits = 23;
  const float bounded = exponent > kLeastExponent ? exponent : kLeastExponent;
  const float whole = std::nearbyint(bounded);
  const float fraction = bounded - whole;
  float power = kPowerTerms[std::size(kPowerTerms) - 1];
  for (size_t i = std::size(kPowerTerms) - 1; i-- > 0;)
    power = power * fraction + kPowerTerms[i];
  const int32_t shifted = (static_cast<int32_t>(whole) + bits) << kMantissaBits;
  return std::nearbyint(std::bit_cast<float>(std::bit_cast<int32_t>(power) + shifted));
}

} // namespace tpuc::steps

#endif // TPUC_SUPPORT_BITEXACTMATH_H
