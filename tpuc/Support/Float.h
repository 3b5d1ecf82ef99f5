//===- Float.h - Conversions between floating-point formats -----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every conversion rounds once, whatever the two formats; subnormal numbers are exact on both
// sides. They assume the environment that programs start with: rounding to nearest, subnormals not
// flushed.
//
// NaN: the result is a quiet NaN. Where the target is IEEE-like (f64, f32, f16, bf16) it keeps the
// sign and the upper bits of the payload, as x86's conversion instructions do. The 8-bit formats
// have one NaN each, with the sign kept where the format has signs of NaN: 0x7F or 0xFF for
// F8E4M3FN, 0x7E or 0xFE for F8E5M2, 0x80 for the FNUZ ones. Only bf16 -> f32 leaves a signaling
// NaN as it is: bf16 is the upper half of f32.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_FLOAT_H
#define TPUC_SUPPORT_FLOAT_H

#include "tpuc/Support/DataType.h"
#include "tpuc/Support/Rounding.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace tpuc {

/// What becomes of a number whose rounded value is too large for the format.
enum class Overflow : uint8_t {
  /// Infinity, or NaN where the format has no infinity (as ml_dtypes does). As in IEEE 754 a
  /// directed mode that rounds toward zero here stops at the largest finite number instead.
  Infinity,
  /// The largest finite number of the same sign, also for an infinity. NaN stays NaN.
  Saturate,
};

/// The layout of a binary format: sign, exponent, mantissa, from the top.
struct FloatFormat {
  unsigned exponentBits;
  unsigned mantissaBits; ///< Without the implicit one.
  int bias;
  bool hasInfinity;
  bool isIeee;          ///< NaNs have a payload and a quiet bit.
  uint64_t largestCode; ///< The bits of the largest finite number.
  uint64_t nanCode;     ///< The bits of the canonical positive NaN.
  bool isUnsignedZero;  ///< FNUZ: no negative zero; what would be its code is the only NaN.

  constexpr unsigned signShift() const { return exponentBits + mantissaBits; }
  constexpr uint64_t signBit() const { return uint64_t(1) << signShift(); }
  /// Infinity where there is one.
  constexpr uint64_t infinityCode() const { return largestCode + 1; }
  /// The exponent of the smallest normal number.
  constexpr int minExponent() const { return 1 - bias; }
};

/// The layout of a floating-point `type`.
constexpr FloatFormat floatFormat(DataType type) {
  switch (type) {
  case DataType::F64:
    return {11, 52, 1023, true, true, 0x7FEFFFFFFFFFFFFF, 0x7FF8000000000000, false};
  case DataType::F32:
    return {8, 23, 127, true, true, 0x7F7FFFFF, 0x7FC00000, false};
  case DataType::F16:
    return {5, 10, 15, true, true, 0x7BFF, 0x7E00, false};
  case DataType::BF16:
    return {8, 7, 127, true, true, 0x7F7F, 0x7FC0, false};
  case DataType::F8E4M3FN:
    return {4, 3, 7, false, false, 0x7E, 0x7F, false};
  case DataType::F8E5M2:
    return {5, 2, 15, true, false, 0x7B, 0x7E, false};
  case DataType::F8E4M3FNUZ:
    return {4, 3, 8, false, false, 0x7F, 0x80, true};
  case DataType::F8E5M2FNUZ:
    return {5, 2, 16, false, false, 0x7F, 0x80, true};
  default:
    assert(false && "not a floating-point type");
    return {};
  }
}

/// The unsigned integer that holds the bits of one element of a floating-point type.
template <DataType Type>
using FloatBits = std::conditional_t<
    Type == DataType::F64, uint64_t,
    std::conditional_t<
        Type == DataType::F32, uint32_t,
        std::conditional_t<Type == DataType::F16 || Type == DataType::BF16, uint16_t, uint8_t>>>;

namespace detail {

/// The code of a number beyond the finite ones; `mode` is for magnitudes.
constexpr uint64_t overflowCode(const FloatFormat &format, uint64_t sign, RoundingMode mode,
                                Overflow overflow) {
  if (overflow == Overflow::Saturate || mode == RoundingMode::TowardZero ||
      mode == RoundingMode::Down)
    return sign | format.largestCode;
  if (format.hasInfinity)
    return sign | format.infinityCode();
  return format.isUnsignedZero ? format.nanCode : sign | format.nanCode;
}

/// The code for +-significand * 2^exponent. `significand` must not be 0.
constexpr uint64_t packRounded(const FloatFormat &format, bool isNegative, uint64_t significand,
                               int exponent, RoundingMode mode, Overflow overflow) {
  const RoundingMode magnitudeMode = isNegative ? mirrored(mode) : mode;
  const uint64_t sign = isNegative ? format.signBit() : 0;
  const int lowestUnit = format.minExponent() - static_cast<int>(format.mantissaBits);
  const int top = exponent + 63 - std::countl_zero(significand);
  // The exponent of the last place of the result.
  const int unit = std::max(top - static_cast<int>(format.mantissaBits), lowestUnit);
  if (unit - lowestUnit > 1 << format.exponentBits)
    return overflowCode(format, sign, magnitudeMode, overflow);
  const int shift = unit - exponent;
  const uint64_t rounded =
      shift >= 0 ? roundingShiftRight(significand, static_cast<unsigned>(shift), magnitudeMode)
                 : significand << -shift;
  // Above the subnormal numbers the implicit one adds 1 to the exponent field, and so does a carry
  // out of the mantissa.
  const uint64_t code = (static_cast<uint64_t>(unit - lowestUnit) << format.mantissaBits) + rounded;
  if (code > format.largestCode)
    return overflowCode(format, sign, magnitudeMode, overflow);
  return code == 0 && format.isUnsignedZero ? 0 : sign | code;
}

constexpr uint64_t zeroCode(const FloatFormat &format, bool isNegative) {
  return isNegative && !format.isUnsignedZero ? format.signBit() : 0;
}

constexpr uint64_t encodeDouble(const FloatFormat &format, double value, RoundingMode mode,
                                Overflow overflow) {
  constexpr uint64_t kMantissa = (uint64_t(1) << 52) - 1;
  const auto bits = std::bit_cast<uint64_t>(value);
  const bool isNegative = (bits >> 63) != 0;
  const uint64_t sign = isNegative ? format.signBit() : 0;
  const auto field = static_cast<int>((bits >> 52) & 0x7FF);
  const uint64_t mantissa = bits & kMantissa;
  if (field == 0x7FF) {
    if (mantissa == 0) {
      if (overflow == Overflow::Saturate)
        return sign | format.largestCode;
      return overflowCode(format, sign, RoundingMode::HalfToEven, overflow);
    }
    if (format.isUnsignedZero)
      return format.nanCode;
    return sign | format.nanCode |
           (format.isIeee ? mantissa >> (52 - format.mantissaBits) : uint64_t(0));
  }
  if ((bits << 1) == 0)
    return zeroCode(format, isNegative);
  const uint64_t significand = field == 0 ? mantissa : mantissa | (kMantissa + 1);
  return packRounded(format, isNegative, significand, std::max(field, 1) - 1075, mode, overflow);
}

/// `encodeDouble` to the nearest, ties to even, for formats below f64; free of branches, so that
/// loops over it vectorize.
constexpr uint64_t encodeNearest(const FloatFormat &format, double value, Overflow overflow) {
  constexpr uint64_t kInfinity = 0x7FF0000000000000;
  const auto bits = std::bit_cast<uint64_t>(value);
  const uint64_t magnitude = bits & ~(uint64_t(1) << 63);
  const uint64_t sign = (bits >> 63) << format.signShift();
  const unsigned dropped = 52 - format.mantissaBits;
  const uint64_t rebias = static_cast<uint64_t>(1023 - format.bias) << 52;
  const uint64_t normal =
      (magnitude - rebias + ((uint64_t(1) << (dropped - 1)) - 1) + ((magnitude >> dropped) & 1)) >>
      dropped;
  // Adding this to a number puts the last place of the format's subnormal numbers into the last
  // place of the sum.
  const auto magic = static_cast<uint64_t>(1023 + format.minExponent() + static_cast<int>(dropped))
                     << 52;
  const uint64_t subnormal =
      std::bit_cast<uint64_t>(std::bit_cast<double>(magnitude) + std::bit_cast<double>(magic)) -
      magic;
  const auto firstNormal = static_cast<uint64_t>(1023 + format.minExponent()) << 52;
  const uint64_t code = magnitude < firstNormal ? subnormal : normal;
  const uint64_t finite = sign | code;
  const uint64_t zero = format.isUnsignedZero ? 0 : sign;
  const uint64_t infinite = overflowCode(format, sign, RoundingMode::HalfToEven, overflow);
  const uint64_t payload = format.isIeee ? (magnitude & ~kInfinity) >> dropped : 0;
  const uint64_t nan = (format.isUnsignedZero ? 0 : sign) | format.nanCode | payload;
  uint64_t result = code == 0 ? zero : finite;
  result = code > format.largestCode ? infinite : result;
  return magnitude > kInfinity ? nan : result;
}

constexpr double decodeToDouble(const FloatFormat &format, uint64_t code) {
  const bool isNegative = ((code >> format.signShift()) & 1) != 0;
  const uint64_t sign = isNegative ? uint64_t(1) << 63 : 0;
  const uint64_t magnitude = code & (format.signBit() - 1);
  if (magnitude > format.largestCode || (format.isUnsignedZero && code == format.nanCode)) {
    if (format.hasInfinity && magnitude == format.infinityCode())
      return std::bit_cast<double>(sign | 0x7FF0000000000000);
    const uint64_t payload = magnitude & ((uint64_t(1) << format.mantissaBits) - 1);
    return std::bit_cast<double>(
        sign | 0x7FF8000000000000 |
        (format.isIeee ? payload << (52 - format.mantissaBits) : uint64_t(0)));
  }
  if (magnitude == 0)
    return std::bit_cast<double>(sign);
  const auto field = static_cast<int>(magnitude >> format.mantissaBits);
  uint64_t mantissa = magnitude & ((uint64_t(1) << format.mantissaBits) - 1);
  if (field > 0)
    mantissa |= uint64_t(1) << format.mantissaBits;
  // The mantissa fits in a double, and so does the product, which is the value itself.
  const int exponent = std::max(field, 1) - format.bias - static_cast<int>(format.mantissaBits);
  const double unit = std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
  const double result = static_cast<double>(mantissa) * unit;
  return isNegative ? -result : result;
}

} // namespace detail

/// The bits of `value` in the format `Type`, rounded once.
template <DataType Type>
constexpr FloatBits<Type> encodeFloat(double value, RoundingMode mode = RoundingMode::HalfToEven,
                                      Overflow overflow = Overflow::Infinity) {
  if constexpr (Type == DataType::F64) {
    const auto bits = std::bit_cast<uint64_t>(value);
    if (overflow == Overflow::Infinity || (bits << 1) != 0xFFE0000000000000)
      return bits | (value != value ? 0x0008000000000000 : 0);
    return bits - 1;
  } else {
    return static_cast<FloatBits<Type>>(
        mode == RoundingMode::HalfToEven
            ? detail::encodeNearest(floatFormat(Type), value, overflow)
            : detail::encodeDouble(floatFormat(Type), value, mode, overflow));
  }
}

/// The bits of the integer `value` in the format `Type`, rounded once.
template <DataType Type>
constexpr FloatBits<Type> encodeInteger(int64_t value, RoundingMode mode = RoundingMode::HalfToEven,
                                        Overflow overflow = Overflow::Infinity) {
  const uint64_t magnitude =
      value < 0 ? uint64_t(0) - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  if (magnitude == 0)
    return 0;
  return static_cast<FloatBits<Type>>(
      detail::packRounded(floatFormat(Type), value < 0, magnitude, 0, mode, overflow));
}

template <DataType Type>
constexpr FloatBits<Type> encodeInteger(uint64_t value,
                                        RoundingMode mode = RoundingMode::HalfToEven,
                                        Overflow overflow = Overflow::Infinity) {
  if (value == 0)
    return 0;
  return static_cast<FloatBits<Type>>(
      detail::packRounded(floatFormat(Type), false, value, 0, mode, overflow));
}

/// The value of `bits` in the format `Type`, exactly.
template <DataType Type> constexpr double decodeToDouble(FloatBits<Type> bits) {
  if constexpr (Type == DataType::F64)
    return std::bit_cast<double>(bits);
  else if constexpr (Type == DataType::F32)
    return static_cast<double>(std::bit_cast<float>(bits));
  else
    return detail::decodeToDouble(floatFormat(Type), bits);
}

//===----------------------------------------------------------------------===//
// The pairs of the hot loops, f32 <-> f16 and bf16, rounded half to even, overflow to infinity.
// Free of branches, so that loops over them vectorize; the same bits as `encodeFloat`.
//===----------------------------------------------------------------------===//

constexpr uint16_t f32ToF16(float value) {
  constexpr uint32_t kInfinity = 0x7F800000;
  constexpr uint32_t kFirstOverflow = (127 + 16) << 23;
  constexpr uint32_t kFirstNormal = (127 - 14) << 23;
  // Adding this to a subnormal result's value puts f16's last place into f32's last place.
  constexpr uint32_t kSubnormalMagic = (127 - 14 + 13) << 23;
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000;
  const uint32_t magnitude = bits & 0x7FFFFFFF;
  const uint32_t normal = (magnitude - ((127 - 15) << 23) + 0x0FFF + ((magnitude >> 13) & 1)) >> 13;
  const float shifted = std::bit_cast<float>(magnitude) + std::bit_cast<float>(kSubnormalMagic);
  const uint32_t subnormal = std::bit_cast<uint32_t>(shifted) - kSubnormalMagic;
  const uint32_t nan = 0x7E00 | ((magnitude >> 13) & 0x03FF);
  uint32_t result = magnitude < kFirstNormal ? subnormal : normal;
  result = magnitude >= kFirstOverflow ? 0x7C00 : result;
  result = magnitude > kInfinity ? nan : result;
  return static_cast<uint16_t>(sign | result);
}

constexpr float f16ToF32(uint16_t bits) {
  // 2^-14, f16's smallest normal number: subnormal numbers are what stands above it once the
  // exponent field is made 1.
  constexpr uint32_t kFirstNormal = (127 - 14) << 23;
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t shifted = static_cast<uint32_t>(bits & 0x7FFF) << 13;
  const uint32_t normal = shifted + ((127 - 15) << 23);
  const float subnormal =
      std::bit_cast<float>(shifted + kFirstNormal) - std::bit_cast<float>(kFirstNormal);
  const uint32_t special =
      shifted | 0x7F800000 | (shifted > 0x0F800000 ? uint32_t(0x00400000) : uint32_t(0));
  uint32_t result = shifted < (1 << 23) ? std::bit_cast<uint32_t>(subnormal) : normal;
  result = shifted >= 0x0F800000 ? special : result;
  return std::bit_cast<float>(sign | result);
}

constexpr uint16_t f32ToBF16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  const uint32_t nan = (bits >> 16) | 0x0040;
  return static_cast<uint16_t>((bits & 0x7FFFFFFF) > 0x7F800000 ? nan : rounded);
}

constexpr float bf16ToF32(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

/// The value of `bits` in the format `Type`, exactly. Not for F64.
template <DataType Type>
  requires(Type != DataType::F64)
constexpr float decodeFloat(FloatBits<Type> bits) {
  if constexpr (Type == DataType::F32)
    return std::bit_cast<float>(bits);
  else if constexpr (Type == DataType::F16)
    return f16ToF32(bits);
  else if constexpr (Type == DataType::BF16)
    return bf16ToF32(bits);
  else
    return static_cast<float>(decodeToDouble<Type>(bits));
}

/// `value` rounded to the format `Type`, as a float: what a 16- or 8-bit register would hold.
template <DataType Type>
  requires(Type != DataType::F64)
constexpr float roundToFormat(float value, RoundingMode mode = RoundingMode::HalfToEven,
                              Overflow overflow = Overflow::Infinity) {
  return decodeFloat<Type>(encodeFloat<Type>(value, mode, overflow));
}

//===----------------------------------------------------------------------===//
// Arrays. `from` and `to` must have the same size and not overlap. The results are those of the
// scalar functions bit for bit, whichever instructions the machine has.
//===----------------------------------------------------------------------===//

void f32ToF16(std::span<const float> from, std::span<uint16_t> to);
void f16ToF32(std::span<const uint16_t> from, std::span<float> to);
void f32ToBF16(std::span<const float> from, std::span<uint16_t> to);
void bf16ToF32(std::span<const uint16_t> from, std::span<float> to);

/// One element of type T at `index` of an array of any alignment.
template <typename T> T loadElement(const std::byte *array, size_t index) {
  T element;
  std::memcpy(&element, array + index * sizeof(T), sizeof(T));
  return element;
}

template <typename T> void storeElement(std::byte *array, size_t index, T element) {
  std::memcpy(array + index * sizeof(T), &element, sizeof(T));
}

/// `to.size()` elements of the floating-point `type`, densely stored at `from` with any alignment,
/// as double; exact.
void decodeFloats(DataType type, const std::byte *from, std::span<double> to);
/// The reverse, rounded once.
void encodeFloats(DataType type, std::span<const double> from, std::byte *to,
                  RoundingMode mode = RoundingMode::HalfToEven,
                  Overflow overflow = Overflow::Infinity);

} // namespace tpuc

#endif // TPUC_SUPPORT_FLOAT_H
