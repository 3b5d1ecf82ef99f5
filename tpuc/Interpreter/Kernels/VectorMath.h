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
#include <numbers>

namespace tpuc::kernels {

// A call that is left keeps a loop from being vectorized: all are inlined.

/// e^x within 2 units in the last place; without branches or calls, so that loops vectorize.
/// x = n ln 2 + r with ln 2 in two parts (Cody and Waite), e^r by Cephes' polynomial for |r| <=
/// ln 2 / 2, and 2^n in two factors, so that subnormal results and those near the top come out.
[[gnu::always_inline]] inline float vectorExp(float x) {
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
[[gnu::always_inline]] inline float vectorTanh(float x) {
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

/// The complementary error function of x >= 0, within 1 in 10^6 of its value: t exp(-x^2 + p(t))
/// with t = 1 / (1 + x/2) and a Chebyshev fit p (Numerical Recipes, erfcc). x^2 is taken in two
/// parts, of which the larger is exact. Beyond 12 it is 0.
[[gnu::always_inline]] inline float vectorErfcPositive(float x) {
  const float u = x > 12.0F ? 12.0F : x;
  const float t = 1.0F / (1.0F + 0.5F * u);
  float poly = 0.17087277F;
  poly = poly * t - 0.82215223F;
  poly = poly * t + 1.48851587F;
  poly = poly * t - 1.13520398F;
  poly = poly * t + 0.27886807F;
  poly = poly * t - 0.18628806F;
  poly = poly * t + 0.09678418F;
  poly = poly * t + 0.37409196F;
  poly = poly * t + 1.00002368F;
  poly = poly * t - 1.26551223F;
  const float high = std::bit_cast<float>(std::bit_cast<uint32_t>(u) & 0xfffff000U);
  return t * vectorExp(-high * high) * vectorExp((high - u) * (high + u) + poly);
}

[[gnu::always_inline]] inline float vectorErfc(float x) {
  const float tail = vectorErfcPositive(x < 0 ? -x : x);
  return x < 0 ? 2.0F - tail : tail;
}
inline double vectorErfc(double x) { return std::erfc(x); }

/// The error function: Cephes' polynomial up to 1, where 1 - erfc would lose digits.
[[gnu::always_inline]] inline float vectorErf(float x) {
  const float square = x * x;
  float poly = 7.853861353153693e-5F;
  poly = poly * square - 8.010193625184903e-4F;
  poly = poly * square + 5.188327685732524e-3F;
  poly = poly * square - 2.685381193529856e-2F;
  poly = poly * square + 1.128358514861418e-1F;
  poly = poly * square - 3.761262582423300e-1F;
  poly = poly * square + 1.128379165726710F;
  const float magnitude = x < 0 ? -x : x;
  const float far = 1.0F - vectorErfcPositive(magnitude);
  return magnitude < 1.0F ? x * poly : (x < 0 ? -far : far);
}
inline double vectorErf(double x) { return std::erf(x); }

// The branch-free activations, for float and double.

/// x tanh(ln(1 + e^x)) = x n / (n + 2) with n = e^x (e^x + 2); beyond 20 the fraction is 1.
template <typename T> [[gnu::always_inline]] inline T mish(T x) {
  const T e = vectorExp(x > T(20) ? T(20) : x);
  const T n = e * (e + T(2));
  return x > T(20) ? x : x * (n / (n + T(2)));
}
template <typename T> [[gnu::always_inline]] inline T sigmoid(T x) {
  return T(1) / (T(1) + vectorExp(-x));
}
template <typename T> [[gnu::always_inline]] inline T hardSwish(T x) {
  const T gate = x / T(6) + T(0.5);
  return x * (gate < T(0) ? T(0) : (gate > T(1) ? T(1) : gate));
}
template <typename T> [[gnu::always_inline]] inline T hardSigmoid(T x, T a, T b) {
  const T y = a * x + b;
  return y < T(0) ? T(0) : (y > T(1) ? T(1) : y);
}
/// 1 + erf(u) = erfc(-u), which keeps its digits where u is negative.
template <typename T> [[gnu::always_inline]] inline T geluErf(T x) {
  return T(0.5) * x * vectorErfc(-x * T(std::numbers::sqrt2 / 2));
}
/// (1 + tanh(u)) / 2 = sigmoid(2 u), for the same reason.
template <typename T> [[gnu::always_inline]] inline T geluTanh(T x) {
  constexpr T kFactor = T(2 * 0.79788456080286535588); // 2 sqrt(2 / pi)
  return x * sigmoid(kFactor * (x + T(0.044715) * x * x * x));
}

/// x as f16 stores it: to the nearest, ties to even. Below the normal numbers, adding 0.5, whose
/// last digit is that of f16's smallest, rounds.
[[gnu::always_inline]] inline float roundF16(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  const uint32_t sign = bits & 0x80000000U;
  const uint32_t magnitude = bits ^ sign;
  const uint32_t rounded = (magnitude + 0xfffU + ((magnitude >> 13) & 1U)) & ~0x1fffU;
  const uint32_t bounded = rounded > 0x477fe000U ? 0x7f800000U : rounded;
  const float small = (std::bit_cast<float>(magnitude) + 0.5F) - 0.5F;
  const uint32_t finite = magnitude < 0x38800000U ? std::bit_cast<uint32_t>(small) : bounded;
  return std::bit_cast<float>((magnitude > 0x7f800000U ? magnitude : finite) | sign);
}
/// x as bf16 stores it.
[[gnu::always_inline]] inline float roundBF16(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  const uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) & 0xffff0000U;
  return std::bit_cast<float>((bits & 0x7fffffffU) > 0x7f800000U ? bits : rounded);
}

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_VECTORMATH_H
