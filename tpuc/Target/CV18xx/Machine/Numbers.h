//===- Numbers.h - How the CV18xx chips round -------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_MACHINE_NUMBERS_H
#define TPUC_TARGET_CV18XX_MACHINE_NUMBERS_H

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

namespace tpuc::cv18xx {

/// Numbers too small for float32's normal form, and -0, are +0.
inline float flushed(float value) {
  return (std::bit_cast<uint32_t>(value) & 0x7F800000) == 0 ? 0.0f : value;
}

inline float fromBf16(uint16_t bits) { return flushed(std::bit_cast<float>(uint32_t{bits} << 16)); }

inline constexpr uint16_t kLargestBf16 = 0x7F7F;

/// To the nearest, ties to even. What would be infinite or no number, of either sign, becomes the
/// largest positive number.
inline uint16_t toBf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto rounded = static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
  const bool isFinite = (bits & 0x7F800000) != 0x7F800000 && (rounded & 0x7F80) != 0x7F80;
  return isFinite ? rounded : kLargestBf16;
}

/// The float32 next to `value` towards zero, or `value` itself.
inline float truncated(double value) {
  const auto nearest = static_cast<float>(value);
  const bool isBeyond = std::fabs(static_cast<double>(nearest)) > std::fabs(value);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(nearest) - (isBeyond ? 1u : 0u));
}

inline constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kLargest = std::numeric_limits<float>::max();

/// The exact sum of two numbers, cut to float32. What is cut to the largest number, of either sign,
/// counts as a sum beyond float32: it is no number, and stays so.
/// Where float64 rounded the sum to a float32, what it lost says whether the sum lies below.
inline float truncatedSum(double a, double b) {
  const double sum = a + b;
  const double part = sum - a;
  const double lost = (a - (sum - part)) + (b - part);
  const float cut = truncated(sum);
  const bool isBelow =
      static_cast<double>(cut) == sum && ((sum > 0 && lost < 0) || (sum < 0 && lost > 0));
  const float made = std::bit_cast<float>(std::bit_cast<uint32_t>(cut) - (isBelow ? 1u : 0u));
  return std::fabs(made) < kLargest ? flushed(made) : kNoNumber;
}

/// Sums of BF16 products: float32 that truncates at each addition. The product is exact, or 0 where
/// it is small, or infinite.
inline float addTruncating(float sum, float a, float b) {
  return truncatedSum(static_cast<double>(sum), static_cast<double>(flushed(a * b)));
}
inline float addTruncating(float sum, float a) {
  return truncatedSum(static_cast<double>(sum), static_cast<double>(a));
}

/// `truncatedSum` of two float32 values whose sum is one of them: what the sum to the nearest lost
/// says whether it is too large. Beyond that, the result is the largest number or not finite.
inline float truncatedNear(float a, float b) {
  const float sum = a + b;
  const float part = sum - a;
  const float lost = (a - (sum - part)) + (b - part);
  const bool isBeyond = (sum > 0 && lost < 0) || (sum < 0 && lost > 0);
  return flushed(std::bit_cast<float>(std::bit_cast<uint32_t>(sum) - (isBeyond ? 1u : 0u)));
}

/// sums[i] += values[i] * factor, as `addTruncating` has it. `scratch` has room for all.
inline void addScaled(std::span<float> sums, const float *values, float factor,
                      std::span<float> scratch) {
  bool isFinite = true;
  for (size_t i = 0; i < sums.size(); ++i) {
    scratch[i] = truncatedNear(sums[i], flushed(values[i] * factor));
    isFinite &= std::fabs(scratch[i]) < kLargest;
  }
  if (isFinite)
    std::copy(scratch.begin(), scratch.end(), sums.begin());
  else
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i] = addTruncating(sums[i], values[i], factor);
}

/// The larger and the smaller of two numbers. What is infinite or no number, of either sign, wins.
inline float largerOf(float a, float b) {
  return std::isfinite(a) && std::isfinite(b) ? std::max(a, b) : kNoNumber;
}
inline float smallerOf(float a, float b) {
  return std::isfinite(a) && std::isfinite(b) ? std::min(a, b) : kNoNumber;
}

/// max(value, 0) of a result in BF16. Where its rounding makes it the largest number, it stays
/// that, also from below 0.
inline float reluOf(float value) {
  return value > 0 || toBf16(value) == kLargestBf16 ? value : 0.0f;
}

/// value / 2^shift, half up or down, as the chip has it in 32 bits: unsigned sums shift zeros in,
/// but are signed where nothing shifts them. What is added to round can wrap. `shift` is below 32.
inline int32_t shiftRight(int32_t value, unsigned shift, bool round, bool isSigned) {
  if (shift == 0)
    return value;
  const auto by = [isSigned](uint32_t bits, unsigned count) {
    return isSigned ? static_cast<uint32_t>(static_cast<int32_t>(bits) >> count) : bits >> count;
  };
  const auto bits = static_cast<uint32_t>(value);
  return static_cast<int32_t>(round ? by(by(bits, shift - 1) + 1, 1) : by(bits, shift));
}

/// value / 2^shift, half away from zero.
inline int64_t shiftAway(int64_t value, unsigned shift) {
  if (shift == 0)
    return value;
  const int64_t half = int64_t{1} << (shift - 1);
  return value >= 0 ? (value + half) >> shift : -((-value + half) >> shift);
}

/// value * multiplier / 2^31, half up, then / 2^shift, half away from zero. |value| < 2^33 keeps
/// the first within 64 bits; a shift of 62 and more gives what 62 gives.
inline int64_t requantize(int64_t value, uint32_t multiplier, unsigned shift) {
  const __int128 product = static_cast<__int128>(value) * multiplier;
  const auto scaled = static_cast<int64_t>((product + (__int128{1} << 30)) >> 31);
  return shiftAway(scaled, std::min(shift, 62u));
}

inline int64_t saturate(int64_t value, unsigned bits, bool isSigned) {
  const int64_t least = isSigned ? -(int64_t{1} << (bits - 1)) : 0;
  const int64_t most = (int64_t{1} << (isSigned ? bits - 1 : bits)) - 1;
  return std::clamp(value, least, most);
}

} // namespace tpuc::cv18xx

#endif // TPUC_TARGET_CV18XX_MACHINE_NUMBERS_H
