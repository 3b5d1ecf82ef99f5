//===- Quantize.cpp - Affine quantization ---------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Quantize.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace tpuc {

Expected<QuantParams> asymmetricParams(double min, double max, IntegerRange range,
                                       const std::string &where) {
  if (!std::isfinite(min) || !std::isfinite(max) || min > max)
    return makeError(where, fmt::format("minimum {}, maximum {}", min, max),
                     "finite numbers, the minimum not above the maximum");
  min = std::min(min, 0.0);
  max = std::max(max, 0.0);
  if (min == max)
    return QuantParams{1, static_cast<int64_t>(saturate(0, range))};
  const auto lowest = static_cast<double>(range.lowest);
  const double steps = static_cast<double>(range.highest) - lowest;
  // Where max - min overflows, the quotients do not.
  const double scale = std::isinf(max - min) ? max / steps - min / steps : (max - min) / steps;
  if (!(scale > 0))
    return makeError(where, fmt::format("minimum {}, maximum {}", min, max),
                     "an interval wide enough for a scale above 0");
  const auto zeroPoint = toInteger<int64_t>(lowest - min / scale, RoundingMode::HalfAwayFromZero);
  return QuantParams{scale, static_cast<int64_t>(saturate(zeroPoint, range))};
}

namespace {

Expected<double> symmetricScale(double threshold, double steps, const std::string &where) {
  if (!std::isfinite(threshold) || threshold < 0)
    return makeError(where, fmt::format("threshold {}", threshold), "a finite number, 0 or more");
  if (threshold == 0)
    return 1;
  const double scale = threshold / steps;
  if (scale == 0)
    return makeError(where, fmt::format("threshold {}", threshold),
                     "large enough for a scale above 0");
  return scale;
}

} // namespace

Expected<double> activationScale(double threshold, unsigned bits, const std::string &where) {
  assert(bits >= 1 && bits <= 64);
  return symmetricScale(threshold, std::ldexp(1.0, static_cast<int>(bits) - 1), where);
}

Expected<double> weightScale(double threshold, unsigned bits, const std::string &where) {
  assert(bits >= 2 && bits <= 64);
  return symmetricScale(threshold, static_cast<double>(integerRange(bits, true).highest), where);
}

Expected<double> unsignedScale(double threshold, unsigned bits, const std::string &where) {
  assert(bits >= 1 && bits <= 64);
  return symmetricScale(threshold, static_cast<double>(integerRange(bits, false).highest), where);
}

namespace {

/// `roundToIntegral` with the mode known to the compiler, so that loops over it vectorize.
template <RoundingMode Mode, typename T>
void quantizeAll(std::span<const float> from, std::span<T> to, const QuantParams &params,
                 IntegerRange range) {
  // Rounding leaves integers alone and is monotone, so saturating before it gives the same result.
  // The bounds have 34 bits at most, hence all of this is exact.
  const auto zeroPoint = static_cast<double>(params.zeroPoint);
  const double lowest = static_cast<double>(range.lowest) - zeroPoint;
  const double highest = static_cast<double>(range.highest) - zeroPoint;
  for (size_t i = 0; i < from.size(); ++i) {
    const double exact = static_cast<double>(from[i]) / params.scale;
    double clamped = exact != exact ? 0 : exact;
    clamped = clamped < lowest ? lowest : clamped;
    clamped = clamped > highest ? highest : clamped;
    to[i] = static_cast<T>(static_cast<int32_t>(roundToIntegral(clamped, Mode) + zeroPoint));
  }
}

} // namespace

template <typename T>
void quantize(std::span<const float> from, std::span<T> to, const QuantParams &params,
              IntegerRange range, RoundingMode mode) {
  assert(from.size() == to.size());
  assert(saturate(range.lowest, integerRange<T>()) == range.lowest &&
         saturate(Int128(range.highest), integerRange<T>()) == Int128(range.highest));
  switch (mode) {
  case RoundingMode::HalfToEven:
    return quantizeAll<RoundingMode::HalfToEven>(from, to, params, range);
  case RoundingMode::HalfAwayFromZero:
    return quantizeAll<RoundingMode::HalfAwayFromZero>(from, to, params, range);
  case RoundingMode::TowardZero:
    return quantizeAll<RoundingMode::TowardZero>(from, to, params, range);
  case RoundingMode::Down:
    return quantizeAll<RoundingMode::Down>(from, to, params, range);
  case RoundingMode::Up:
    return quantizeAll<RoundingMode::Up>(from, to, params, range);
  case RoundingMode::HalfUp:
    return quantizeAll<RoundingMode::HalfUp>(from, to, params, range);
  case RoundingMode::HalfDown:
    return quantizeAll<RoundingMode::HalfDown>(from, to, params, range);
  }
}

template <typename T>
void dequantize(std::span<const T> from, std::span<float> to, const QuantParams &params) {
  assert(from.size() == to.size());
  for (size_t i = 0; i < from.size(); ++i)
    to[i] = static_cast<float>(dequantize(static_cast<int64_t>(from[i]), params));
}

template void quantize(std::span<const float>, std::span<int8_t>, const QuantParams &, IntegerRange,
                       RoundingMode);
template void quantize(std::span<const float>, std::span<uint8_t>, const QuantParams &,
                       IntegerRange, RoundingMode);
template void quantize(std::span<const float>, std::span<int16_t>, const QuantParams &,
                       IntegerRange, RoundingMode);
template void quantize(std::span<const float>, std::span<uint16_t>, const QuantParams &,
                       IntegerRange, RoundingMode);
template void quantize(std::span<const float>, std::span<int32_t>, const QuantParams &,
                       IntegerRange, RoundingMode);
template void dequantize(std::span<const int8_t>, std::span<float>, const QuantParams &);
template void dequantize(std::span<const uint8_t>, std::span<float>, const QuantParams &);
template void dequantize(std::span<const int16_t>, std::span<float>, const QuantParams &);
template void dequantize(std::span<const uint16_t>, std::span<float>, const QuantParams &);
template void dequantize(std::span<const int32_t>, std::span<float>, const QuantParams &);

} // namespace tpuc
