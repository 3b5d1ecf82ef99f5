//===- Requant.h - Scaling integers by multiplier and shift -----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An accumulator of scale S1 becomes a value of scale S2 by a multiplication with S1/S2, which
// integer hardware makes as multiplier / 2^rshift:
//
//   y = saturate(round(x * multiplier / 2^rshift) + zeroPoint)
//
// The chips differ in where they round; `RequantMode` names the ways.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_REQUANT_H
#define TPUC_SUPPORT_REQUANT_H

#include "tpuc/Support/Error.h"
#include "tpuc/Support/Float.h"
#include "tpuc/Support/Rounding.h"

#include <optional>
#include <string>
#include <string_view>

namespace tpuc {

/// A scale as an integer fraction: multiplier / 2^rshift. A negative `rshift` is a left shift.
struct MultiplierShift {
  int32_t multiplier = 0;
  int32_t rshift = 0;

  /// The scale that it stands for; exact, as multipliers have 31 bits.
  double scale() const;
  /// The same scale for the modes that shift by 31 before `rshift` comes (TFLite, TFLite_LShift,
  /// QDM).
  MultiplierShift afterShiftBy31() const { return {multiplier, rshift - 31}; }

  friend bool operator==(const MultiplierShift &, const MultiplierShift &) = default;
};

/// What multiplier and shift may be. The defaults fit 32-bit signed multipliers and a product of
/// 64 bits.
struct MultiplierLimits {
  /// The largest magnitude of a multiplier, at least 1.
  int32_t maxMultiplier = std::numeric_limits<int32_t>::max();
  /// Whether a negative scale may become a negative multiplier.
  bool isSigned = true;
  int32_t minShift = -31;
  int32_t maxShift = 63;
  /// How the multiplier is rounded; TowardZero where a vendor truncates it.
  RoundingMode rounding = RoundingMode::HalfAwayFromZero;

  /// A signed multiplier of `bits` (2 to 32) bits: 2^(bits-1) - 1 at most.
  static constexpr MultiplierLimits ofBits(unsigned bits) {
    assert(bits >= 2 && bits <= 32);
    MultiplierLimits limits;
    limits.maxMultiplier = static_cast<int32_t>((uint32_t(1) << (bits - 1)) - 1);
    return limits;
  }
  /// An unsigned multiplier of `bits` (1 to 31) bits: 2^bits - 1 at most.
  static constexpr MultiplierLimits ofUnsignedBits(unsigned bits) {
    assert(bits >= 1 && bits <= 31);
    MultiplierLimits limits;
    limits.maxMultiplier = static_cast<int32_t>((uint32_t(1) << bits) - 1);
    limits.isSigned = false;
    return limits;
  }
};

/// The most precise multiplier / 2^rshift for `scale` within `limits`: the multiplier uses all its
/// bits (scale = M0 * 2^-n with M0 in [0.5, 1), manual 6.2; 0.1234 gives 2119995857 and 34).
///
/// Scale 0 gives {0, 0}. A scale too small for a full multiplier at `maxShift` keeps `maxShift`
/// with a smaller multiplier, which may round to 0. Errors, which name `where`: a scale that is not
/// finite, one too large for `minShift`, a negative one where multipliers are unsigned.
Expected<MultiplierShift> quantizeMultiplier(double scale, const MultiplierLimits &limits = {},
                                             const std::string &where = "scale");

/// Where a requantization rounds. x is the accumulator, m the multiplier, s the shift.
enum class RequantMode : uint8_t {
  MultiplierShift, ///< round(x * m / 2^s), one rounding in the mode asked for; exact product.
  OnlyShift,       ///< round(x / 2^s); m is not used.
  TFLite,          ///< gemmlowp: h = x * m / 2^31 rounded half up and saturated to 32 bits, then
                   ///< h / 2^s rounded half away from zero; s >= 0.
  TFLite_LShift,   ///< TFLite where a negative s shifts x left first, saturating to 32 bits.
  QDM,             ///< CV18xx "chl_quan": both roundings of TFLite half away from zero.
};

/// `MultiplierShift`, `TFLite_LShift` ...: the name in attributes, options and messages.
std::string_view requantModeName(RequantMode mode);
std::optional<RequantMode> parseRequantMode(std::string_view name);

/// x * multiplier / 2^rshift, rounded once, before zero point and saturation. The product and left
/// shifts are exact in 128 bits for |rshift| <= 63; beyond, a left shift saturates.
constexpr Int128 multiplyShift(int64_t x, int32_t multiplier, int rshift, RoundingMode mode) {
  return roundingShift(Int128(x) * multiplier, rshift, mode);
}

/// The same in 64 bits: `x` of at most 32 bits, and a left shift must not leave 64.
constexpr int64_t multiplyShift32(int32_t x, int32_t multiplier, int rshift, RoundingMode mode) {
  return roundingShift(int64_t(x) * multiplier, rshift, mode);
}

/// x * multiplier / 2^31, rounded in `mode`; only -2^31 * -2^31 saturates. gemmlowp's
/// SaturatingRoundingDoublingHighMul is this with HalfUp, CV18xx rounds HalfAwayFromZero.
constexpr int32_t multiplyHigh(int32_t x, int32_t multiplier,
                               RoundingMode mode = RoundingMode::HalfUp) {
  return saturateCast<int32_t>(roundingShiftRight(int64_t(x) * multiplier, 31, mode));
}

/// TFLite and TFLite_LShift: see RequantMode. `rshift` counts after the division by 2^31.
constexpr int32_t multiplyShiftTFLite(int32_t x, int32_t multiplier, int rshift,
                                      RoundingMode highMode = RoundingMode::HalfUp) {
  const int32_t shifted = rshift < 0 ? shiftLeftSaturating(x, static_cast<unsigned>(-rshift)) : x;
  const int32_t high = multiplyHigh(shifted, multiplier, highMode);
  return rshift > 0 ? roundingShiftRight(high, static_cast<unsigned>(rshift),
                                         RoundingMode::HalfAwayFromZero)
                    : high;
}

/// QDM: see RequantMode. `rshift` >= 0 counts after the division by 2^31.
constexpr int32_t multiplyShiftQDM(int32_t x, int32_t multiplier, int rshift) {
  assert(rshift >= 0);
  return multiplyShiftTFLite(x, multiplier, rshift, RoundingMode::HalfAwayFromZero);
}

/// Everything that a requantization from one integer to another needs.
struct Requantization {
  RequantMode mode = RequantMode::MultiplierShift;
  MultiplierShift factor;
  int32_t zeroPoint = 0;
  /// For MultiplierShift and OnlyShift; the others have their own.
  RoundingMode rounding = RoundingMode::HalfUp;
  IntegerRange range = integerRange<int8_t>();
};

/// saturate(scaled x + zeroPoint) after `requantization`. `x` must have 32 bits at most in the
/// modes TFLite, TFLite_LShift and QDM (their accumulators do).
constexpr int64_t requantize(int64_t x, const Requantization &requantization) {
  const auto [multiplier, rshift] = requantization.factor;
  Int128 scaled = 0;
  switch (requantization.mode) {
  case RequantMode::MultiplierShift:
    scaled = multiplyShift(x, multiplier, rshift, requantization.rounding);
    break;
  case RequantMode::OnlyShift:
    scaled = roundingShift(Int128(x), rshift, requantization.rounding);
    break;
  case RequantMode::TFLite:
  case RequantMode::TFLite_LShift:
    scaled = multiplyShiftTFLite(static_cast<int32_t>(x), multiplier, rshift);
    break;
  case RequantMode::QDM:
    scaled = multiplyShiftQDM(static_cast<int32_t>(x), multiplier, rshift);
    break;
  }
  return static_cast<int64_t>(saturate(scaled + requantization.zeroPoint, requantization.range));
}

/// Requantization in f32: saturate(round(f32(f32(x) * scale) + offset)), every step rounded to f32
/// (BM1684X, RQ with float parameters; TPU-MLIR's OnlyScale is offset 0). `toFloat` rounds x to
/// f32.
constexpr int64_t requantizeFloat(int32_t x, float scale, float offset, IntegerRange range,
                                  RoundingMode rounding = RoundingMode::HalfToEven,
                                  RoundingMode toFloat = RoundingMode::HalfToEven) {
  const auto wide =
      std::bit_cast<float>(encodeInteger<DataType::F32>(static_cast<int64_t>(x), toFloat));
  const float scaled = wide * scale;
  return static_cast<int64_t>(toInteger(static_cast<double>(scaled + offset), range, rounding));
}

} // namespace tpuc

#endif // TPUC_SUPPORT_REQUANT_H
