//===- Quantize.h - Affine quantization -------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// r = S * (q - Z): real value r, scale S, quantized value q, zero point Z (manual 6.1).
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_QUANTIZE_H
#define TPUC_SUPPORT_QUANTIZE_H

#include "tpuc/Support/Error.h"
#include "tpuc/Support/Rounding.h"

#include <span>
#include <string>

namespace tpuc {

/// Scale and zero point of a quantized tensor or of one of its channels.
struct QuantParams {
  double scale = 1;
  int64_t zeroPoint = 0;

  friend bool operator==(const QuantParams &, const QuantParams &) = default;
};

/// Asymmetric: S = (max - min) / (qmax - qmin), Z = round(qmin - min / S), half away from zero,
/// saturated to `range`. The interval is widened to contain 0, so that padding is exact; an empty
/// one (min = max = 0) has scale 1 and Z nearest to 0. Errors name `where`: min or max not finite,
/// min > max, a scale that underflows to 0.
Expected<QuantParams> asymmetricParams(double min, double max, IntegerRange range,
                                       const std::string &where = "range");

/// Symmetric, Z = 0: activations T/128 for 8 bits, T/2^(bits-1) in general.
Expected<double> activationScale(double threshold, unsigned bits = 8,
                                 const std::string &where = "threshold");
/// Symmetric weights: T/127 for 8 bits, T/(2^(bits-1) - 1) in general; `bits` at least 2.
Expected<double> weightScale(double threshold, unsigned bits = 8,
                             const std::string &where = "threshold");
/// Unsigned values in [0, T]: T/255 for 8 bits, T/(2^bits - 1) in general.
Expected<double> unsignedScale(double threshold, unsigned bits = 8,
                               const std::string &where = "threshold");

/// saturate(round(r / S) + Z). r / S is one division in double; infinities saturate, NaN gives Z.
/// `params.scale` must be positive.
constexpr int64_t quantize(double value, const QuantParams &params, IntegerRange range,
                           RoundingMode mode = RoundingMode::HalfAwayFromZero) {
  const auto rounded = Int128(toInteger<int64_t>(value / params.scale, mode));
  return static_cast<int64_t>(saturate(rounded + params.zeroPoint, range));
}

/// S * (q - Z), in double; the difference is exact for q and Z of up to 53 bits.
constexpr double dequantize(int64_t value, const QuantParams &params) {
  return params.scale * (static_cast<double>(value) - static_cast<double>(params.zeroPoint));
}

/// Arrays, the same results; `from` and `to` must have the same size. T is int8_t, uint8_t,
/// int16_t, uint16_t or int32_t; `range` may be narrower than T (four bits in a byte).
template <typename T>
void quantize(std::span<const float> from, std::span<T> to, const QuantParams &params,
              IntegerRange range = integerRange<T>(),
              RoundingMode mode = RoundingMode::HalfAwayFromZero);
/// Each result is the double product rounded to f32.
template <typename T>
void dequantize(std::span<const T> from, std::span<float> to, const QuantParams &params);

} // namespace tpuc

#endif // TPUC_SUPPORT_QUANTIZE_H
