//===- Rounding.h - Rounding and saturation of integers ---------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How numbers become integers: rounding modes, shifts that round, saturation. Interpreter,
// quantization and chip simulators round with these functions and no others.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_ROUNDING_H
#define TPUC_SUPPORT_ROUNDING_H

#include "tpuc/Support/DataType.h"

#include <array>
#include <bit>
#include <cassert>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>

namespace tpuc {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

/// How a number that lies between two representable ones is rounded. The numbering is that of the
/// BM1684X's commands.
enum class RoundingMode : uint8_t {
  HalfToEven = 0,       ///< To the nearest, ties to the even one (IEEE 754's default).
  HalfAwayFromZero = 1, ///< To the nearest, ties away from zero (C's round()).
  TowardZero = 2,       ///< Truncation.
  Down = 3,             ///< Toward minus infinity.
  Up = 4,               ///< Toward plus infinity.
  HalfUp = 5,           ///< To the nearest, ties toward plus infinity: floor(x + 1/2).
  HalfDown = 6,         ///< To the nearest, ties toward minus infinity: ceil(x - 1/2).
};

inline constexpr std::array kAllRoundingModes = {
    RoundingMode::HalfToEven, RoundingMode::HalfAwayFromZero,
    RoundingMode::TowardZero, RoundingMode::Down,
    RoundingMode::Up,         RoundingMode::HalfUp,
    RoundingMode::HalfDown};

/// The name in options, attributes and messages: HalfToEven, HalfAwayFromZero, TowardsZero, Down,
/// Up, HalfUp, HalfDown, as TPU-MLIR's attribute spells them.
std::string_view roundingModeName(RoundingMode mode);
/// The inverse of `roundingModeName`; `TowardZero` is read as well.
std::optional<RoundingMode> parseRoundingMode(std::string_view name);

/// The mode that rounds -x to minus what `mode` rounds x to: Up for Down, HalfUp for HalfDown and
/// the reverse, else `mode` itself. Rounding with `x < 0 ? HalfUp : HalfDown` takes ties toward
/// zero, which is what the BM1684X makes of code 6 when it narrows floats.
constexpr RoundingMode mirrored(RoundingMode mode) {
  switch (mode) {
  case RoundingMode::Down:
    return RoundingMode::Up;
  case RoundingMode::Up:
    return RoundingMode::Down;
  case RoundingMode::HalfUp:
    return RoundingMode::HalfDown;
  case RoundingMode::HalfDown:
    return RoundingMode::HalfUp;
  default:
    return mode;
  }
}

/// Where a number lies between the integer below it and the one above.
enum class Fraction : uint8_t { Zero, BelowHalf, Half, AboveHalf };

/// Whether a number goes to the integer above it rather than to `floor`, the one below.
/// `floorIsOdd` and `isNegative` say whether `floor` is odd and whether the number is below 0.
constexpr bool roundsUp(Fraction fraction, bool floorIsOdd, bool isNegative, RoundingMode mode) {
  switch (mode) {
  case RoundingMode::HalfToEven:
    return fraction > Fraction::Half || (fraction == Fraction::Half && floorIsOdd);
  case RoundingMode::HalfAwayFromZero:
    return fraction > Fraction::Half || (fraction == Fraction::Half && !isNegative);
  case RoundingMode::TowardZero:
    return isNegative && fraction != Fraction::Zero;
  case RoundingMode::Down:
    return false;
  case RoundingMode::Up:
    return fraction != Fraction::Zero;
  case RoundingMode::HalfUp:
    return fraction >= Fraction::Half;
  case RoundingMode::HalfDown:
    return fraction > Fraction::Half;
  }
  return false;
}

/// The integers that can be shifted: 32, 64 and 128 bits of either sign. (The standard library's
/// traits do not know __int128 without language extensions.)
template <typename T>
concept ShiftableInteger =
    std::same_as<T, int32_t> || std::same_as<T, uint32_t> || std::same_as<T, int64_t> ||
    std::same_as<T, uint64_t> || std::same_as<T, Int128> || std::same_as<T, UInt128>;

template <ShiftableInteger T>
using UnsignedOf = std::conditional_t<sizeof(T) == 4, uint32_t,
                                      std::conditional_t<sizeof(T) == 8, uint64_t, UInt128>>;

template <ShiftableInteger T> inline constexpr bool kIsSigned = T(-1) < T(0);

template <ShiftableInteger T>
inline constexpr T kHighest =
    T(kIsSigned<T> ? UnsignedOf<T>(~UnsignedOf<T>(0)) >> 1 : UnsignedOf<T>(~UnsignedOf<T>(0)));
template <ShiftableInteger T>
inline constexpr T kLowest = kIsSigned<T> ? T(-kHighest<T> - 1) : T(0);

/// value / 2^amount, rounded. Exact for every amount, also beyond the width of T.
template <ShiftableInteger T>
constexpr T roundingShiftRight(T value, unsigned amount, RoundingMode mode) {
  constexpr unsigned kWidth = sizeof(T) * 8;
  using U = UnsignedOf<T>;
  if (amount == 0)
    return value;
  const bool isNegative = value < T(0);
  T floor = isNegative ? T(-1) : T(0);
  Fraction fraction = Fraction::Zero;
  if (amount <= kWidth) {
    if (amount < kWidth)
      floor = T(value >> amount);
    const U half = U(1) << (amount - 1);
    const U rest = U(value) & U(half | (half - 1));
    fraction = rest == 0     ? Fraction::Zero
               : rest < half ? Fraction::BelowHalf
               : rest > half ? Fraction::AboveHalf
                             : Fraction::Half;
  } else if (value != T(0)) {
    fraction = isNegative ? Fraction::AboveHalf : Fraction::BelowHalf;
  }
  return T(floor + T(roundsUp(fraction, (floor & T(1)) != T(0), isNegative, mode)));
}

/// value * 2^amount, saturated to the range of T.
template <ShiftableInteger T> constexpr T shiftLeftSaturating(T value, unsigned amount) {
  constexpr unsigned kWidth = sizeof(T) * 8;
  if (value == T(0) || amount == 0)
    return value;
  if (amount >= kWidth || value > T(kHighest<T> >> amount))
    return value < T(0) ? kLowest<T> : kHighest<T>;
  if (value < T(kLowest<T> >> amount))
    return kLowest<T>;
  return T(UnsignedOf<T>(value) << amount);
}

/// The low bits of value * 2^amount.
template <ShiftableInteger T> constexpr T shiftLeftWrapping(T value, unsigned amount) {
  return amount >= sizeof(T) * 8 ? T(0) : T(UnsignedOf<T>(value) << amount);
}

/// value / 2^rshift, rounded; a negative `rshift` is a left shift, which saturates to the range of
/// T. `rshift` must be above INT_MIN. A narrower saturation may follow; where a chip wraps instead,
/// use `shiftLeftWrapping`.
template <ShiftableInteger T> constexpr T roundingShift(T value, int rshift, RoundingMode mode) {
  return rshift >= 0 ? roundingShiftRight(value, static_cast<unsigned>(rshift), mode)
                     : shiftLeftSaturating(value, static_cast<unsigned>(-rshift));
}

/// The closed interval of values that an integer type can hold.
struct IntegerRange {
  int64_t lowest = 0;
  uint64_t highest = 0;

  friend constexpr bool operator==(const IntegerRange &, const IntegerRange &) = default;
};

/// The range of `bits` (1 to 64) bits in two's complement or unsigned.
constexpr IntegerRange integerRange(unsigned bits, bool isSigned) {
  assert(bits >= 1 && bits <= 64);
  const uint64_t all = ~uint64_t(0) >> (64 - bits);
  return isSigned ? IntegerRange{-static_cast<int64_t>(all >> 1) - 1, all >> 1}
                  : IntegerRange{0, all};
}

/// The range of an integer type; [0, 1] for Bool. `type` must not be a float.
IntegerRange integerRange(DataType type);

template <std::integral T> constexpr IntegerRange integerRange() {
  return {static_cast<int64_t>(std::numeric_limits<T>::min()),
          static_cast<uint64_t>(std::numeric_limits<T>::max())};
}

/// The value of `range` that is nearest to `value`.
constexpr Int128 saturate(Int128 value, IntegerRange range) {
  if (value < Int128(range.lowest))
    return range.lowest;
  if (value > Int128(range.highest))
    return Int128(range.highest);
  return value;
}

/// `value`, or the end of To's range that it lies beyond.
template <std::integral To, typename From> constexpr To saturateCast(From value) {
  constexpr auto kMin = std::numeric_limits<To>::min();
  constexpr auto kMax = std::numeric_limits<To>::max();
  if constexpr (sizeof(From) < 8 || (sizeof(From) == 8 && From(-1) < From(0))) {
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): int8_t is a number here.
    const auto wide = static_cast<int64_t>(value);
    if constexpr (sizeof(To) == 8)
      return std::is_unsigned_v<To> && wide < 0 ? To(0) : static_cast<To>(wide);
    else
      return wide < int64_t(kMin) ? kMin : wide > int64_t(kMax) ? kMax : static_cast<To>(wide);
  } else if constexpr (sizeof(From) == 8) {
    return value > static_cast<uint64_t>(kMax) ? kMax : static_cast<To>(value);
  } else if constexpr (kIsSigned<From>) {
    return static_cast<To>(saturate(value, integerRange<To>()));
  } else {
    return value > From(kMax) ? kMax : static_cast<To>(value);
  }
}

/// `value` rounded to an integral value, in the same type: NaN, infinities and what is integral
/// already stay as they are, and a result of zero keeps the sign of `value`. Free of branches when
/// `mode` is a constant.
constexpr double roundToIntegral(double value, RoundingMode mode) {
  // From here on every double is integral, and a sum that lands here is rounded to one.
  constexpr double kAllIntegral = 0x1p52;
  constexpr uint64_t kSign = uint64_t(1) << 63;
  const uint64_t sign = std::bit_cast<uint64_t>(value) & kSign;
  const double shifter = std::bit_cast<double>(std::bit_cast<uint64_t>(kAllIntegral) | sign);
  const double nearest = (value + shifter) - shifter;
  // Exact: both are multiples of the last place of `value`, and their distance is at most 1/2.
  const double rest = value - nearest;
  double step = 0;
  switch (mode) {
  case RoundingMode::HalfToEven:
    break;
  case RoundingMode::HalfAwayFromZero:
    step = sign == 0 ? (rest == 0.5 ? 1.0 : 0.0) : (rest == -0.5 ? -1.0 : 0.0);
    break;
  case RoundingMode::TowardZero:
    step = sign == 0 ? (rest < 0 ? -1.0 : 0.0) : (rest > 0 ? 1.0 : 0.0);
    break;
  case RoundingMode::Down:
    step = rest < 0 ? -1.0 : 0.0;
    break;
  case RoundingMode::Up:
    step = rest > 0 ? 1.0 : 0.0;
    break;
  case RoundingMode::HalfUp:
    step = rest == 0.5 ? 1.0 : 0.0;
    break;
  case RoundingMode::HalfDown:
    step = rest == -0.5 ? -1.0 : 0.0;
    break;
  }
  const double rounded =
      std::bit_cast<double>((std::bit_cast<uint64_t>(nearest + step) & ~kSign) | sign);
  return value < kAllIntegral && value > -kAllIntegral ? rounded : value;
}

constexpr float roundToIntegral(float value, RoundingMode mode) {
  return static_cast<float>(roundToIntegral(static_cast<double>(value), mode));
}

/// `value` rounded to an integer and saturated to the range of To; infinities saturate as well, NaN
/// gives 0. Floats convert to double without loss.
template <std::integral To>
constexpr To toInteger(double value, RoundingMode mode = RoundingMode::TowardZero) {
  constexpr auto kMin = std::numeric_limits<To>::min();
  constexpr auto kMax = std::numeric_limits<To>::max();
  const double number = value != value ? 0.0 : value;
  // The cast truncates; without branches, loops vectorize.
  const double rounded = mode == RoundingMode::TowardZero ? number : roundToIntegral(number, mode);
  if constexpr (sizeof(To) <= 4) {
    const double above = rounded < double(kMin) ? double(kMin) : rounded;
    const double clamped = above > double(kMax) ? double(kMax) : above;
    using Wide = std::conditional_t<std::same_as<To, uint32_t>, int64_t, int32_t>;
    return static_cast<To>(static_cast<Wide>(clamped));
  } else {
    // The first value above the range, exact as a double where kMax is not.
    constexpr double kEnd = 2.0 * static_cast<double>((uint64_t(kMax) >> 1) + 1);
    if (rounded < static_cast<double>(kMin))
      return kMin;
    return rounded >= kEnd ? kMax : static_cast<To>(rounded);
  }
}

/// The same for a range that no C++ type has, such as four bits. Ranges start at 0 or below.
constexpr Int128 toInteger(double value, IntegerRange range, RoundingMode mode) {
  if (range.lowest < 0)
    return saturate(toInteger<int64_t>(value, mode), range);
  return saturate(Int128(toInteger<uint64_t>(value, mode)), range);
}

} // namespace tpuc

#endif // TPUC_SUPPORT_ROUNDING_H
