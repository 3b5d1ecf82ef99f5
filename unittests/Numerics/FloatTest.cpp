//===- FloatTest.cpp - Tests of the floating-point formats -----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Float.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace tpuc;

namespace {

template <DataType Type> struct Tag {
  static constexpr DataType kType = Type;
};

template <typename T> class NarrowFloat : public testing::Test {};
using NarrowFormats =
    testing::Types<Tag<DataType::F16>, Tag<DataType::BF16>, Tag<DataType::F8E4M3FN>,
                   Tag<DataType::F8E5M2>, Tag<DataType::F8E4M3FNUZ>, Tag<DataType::F8E5M2FNUZ>>;
TYPED_TEST_SUITE(NarrowFloat, NarrowFormats);

/// The formats once more, from the papers that define them: fields, bias, and what the top codes
/// mean.
struct Definition {
  int mantissaBits;
  int bias;
  double largest;
  bool hasInfinity;
  bool isUnsignedZero;
};

constexpr Definition definitionOf(DataType type) {
  switch (type) {
  case DataType::F16:
    return {10, 15, 65504, true, false};
  case DataType::BF16:
    return {7, 127, 0x1.FEp127, true, false};
  case DataType::F8E4M3FN:
    return {3, 7, 448, false, false};
  case DataType::F8E5M2:
    return {2, 15, 57344, true, false};
  case DataType::F8E4M3FNUZ:
    return {3, 8, 240, false, true};
  case DataType::F8E5M2FNUZ:
    return {2, 16, 57344, false, true};
  default:
    return {};
  }
}

/// The value of a code without its sign, as if the format went on above its largest number.
double magnitudeOf(const Definition &definition, uint32_t code) {
  const int field = static_cast<int>(code >> definition.mantissaBits);
  const auto fraction = std::ldexp(
      static_cast<double>(code & ((1U << definition.mantissaBits) - 1)), -definition.mantissaBits);
  return field == 0 ? std::ldexp(fraction, 1 - definition.bias)
                    : std::ldexp(1 + fraction, field - definition.bias);
}

template <DataType Type> constexpr uint32_t kSignBit = 1U << (sizeof(FloatBits<Type>) * 8 - 1);

TYPED_TEST(NarrowFloat, EveryPatternWidensExactlyAndComesBack) {
  constexpr DataType kType = TypeParam::kType;
  using Bits = FloatBits<kType>;
  const Definition definition = definitionOf(kType);
  int numbers = 0;
  for (uint32_t code = 0; code < 2 * kSignBit<kType>; ++code) {
    const bool isNegative = (code & kSignBit<kType>) != 0;
    const uint32_t magnitude = code & (kSignBit<kType> - 1);
    const auto bits = static_cast<Bits>(code);
    const double wide = decodeToDouble<kType>(bits);
    const float narrow = decodeFloat<kType>(bits);
    const double value = magnitudeOf(definition, magnitude);
    const bool isNaN = definition.isUnsignedZero && code == kSignBit<kType>;
    if (value <= definition.largest && !isNaN) {
      ++numbers;
      ASSERT_EQ(wide, isNegative ? -value : value) << code;
      ASSERT_EQ(std::signbit(wide), isNegative) << code;
      ASSERT_EQ(narrow, wide) << code;
      ASSERT_EQ(std::signbit(narrow), isNegative) << code;
      ASSERT_EQ(encodeFloat<kType>(wide), bits);
      for (RoundingMode mode : kAllRoundingModes)
        for (Overflow overflow : {Overflow::Infinity, Overflow::Saturate})
          ASSERT_EQ(encodeFloat<kType>(narrow, mode, overflow), bits) << code;
    } else if (definition.hasInfinity &&
               magnitudeOf(definition, magnitude - 1) == definition.largest) {
      ASSERT_EQ(wide, isNegative ? -INFINITY : INFINITY) << code;
      ASSERT_EQ(narrow, isNegative ? -INFINITY : INFINITY) << code;
      ASSERT_EQ(encodeFloat<kType>(wide), bits);
      ASSERT_EQ(encodeFloat<kType>(wide, RoundingMode::HalfToEven, Overflow::Saturate), code - 1);
    } else {
      ASSERT_TRUE(std::isnan(wide)) << code;
      ASSERT_TRUE(std::isnan(narrow)) << code;
      const auto again = encodeFloat<kType>(wide);
      ASSERT_TRUE(std::isnan(decodeToDouble<kType>(again)));
      if constexpr (kType == DataType::F16 || kType == DataType::BF16)
        ASSERT_EQ(again, code | (1U << (definition.mantissaBits - 1)));
      else if constexpr (kType == DataType::F8E5M2)
        ASSERT_EQ(again, (code & 0x80) | 0x7E);
      else
        ASSERT_EQ(again, code);
    }
  }
  EXPECT_EQ(encodeFloat<kType>(-0.0), definition.isUnsignedZero ? 0 : kSignBit<kType>);
  const int infinities = definition.hasInfinity ? 2 : 0;
  const int nans = static_cast<int>(2 * kSignBit<kType>) - numbers - infinities;
  EXPECT_EQ(nans, kType == DataType::F16        ? 2 * 1023
                  : kType == DataType::BF16     ? 2 * 127
                  : kType == DataType::F8E5M2   ? 2 * 3
                  : kType == DataType::F8E4M3FN ? 2
                                                : 1);
}

enum class Position : uint8_t { AtLower, BelowMiddle, Middle, AboveMiddle };

bool takesUpper(Position position, bool isOdd, bool isNegative, RoundingMode mode) {
  if (position == Position::AtLower)
    return false;
  switch (mode) {
  case RoundingMode::TowardZero:
    return false;
  case RoundingMode::Down:
    return isNegative;
  case RoundingMode::Up:
    return !isNegative;
  default:
    break;
  }
  if (position != Position::Middle)
    return position == Position::AboveMiddle;
  return mode == RoundingMode::HalfAwayFromZero || (mode == RoundingMode::HalfToEven && isOdd) ||
         (mode == RoundingMode::HalfUp && !isNegative) ||
         (mode == RoundingMode::HalfDown && isNegative);
}

/// What a rounded magnitude code becomes: itself, or the overflow of the format.
template <DataType Type>
uint32_t expectedCode(const Definition &definition, uint32_t code, bool isNegative,
                      RoundingMode mode, Overflow overflow) {
  const uint32_t sign = isNegative ? kSignBit<Type> : 0;
  if (magnitudeOf(definition, code) <= definition.largest)
    return code == 0 && definition.isUnsignedZero ? 0 : sign | code;
  const bool towardZero = mode == RoundingMode::TowardZero ||
                          (mode == RoundingMode::Down && !isNegative) ||
                          (mode == RoundingMode::Up && isNegative);
  const uint32_t infinity = Type == DataType::F16        ? 0x7C00
                            : Type == DataType::BF16     ? 0x7F80
                            : Type == DataType::F8E5M2   ? 0x7C
                            : Type == DataType::F8E4M3FN ? 0x7F
                                                         : 0x80;
  const uint32_t largest = definition.isUnsignedZero ? 0x7F : infinity - 1;
  if (overflow == Overflow::Saturate || towardZero)
    return sign | largest;
  return definition.isUnsignedZero ? 0x80 : sign | infinity;
}

// The conversion is monotone, so what it does at two neighbours, at the middle between them and
// right beside each says what it does everywhere between them.
TYPED_TEST(NarrowFloat, EveryMidpointRoundsInEveryMode) {
  constexpr DataType kType = TypeParam::kType;
  const Definition definition = definitionOf(kType);
  for (uint32_t code = 0; magnitudeOf(definition, code) <= definition.largest; ++code) {
    const double lower = magnitudeOf(definition, code);
    const double upper = magnitudeOf(definition, code + 1);
    const double middle = (lower + upper) / 2;
    const std::pair<double, Position> samples[] = {
        {lower, Position::AtLower},
        {std::nextafter(lower, upper), Position::BelowMiddle},
        {std::nextafter(middle, lower), Position::BelowMiddle},
        {middle, Position::Middle},
        {std::nextafter(middle, upper), Position::AboveMiddle},
        {std::nextafter(upper, lower), Position::AboveMiddle}};
    for (auto [value, position] : samples)
      for (RoundingMode mode : kAllRoundingModes)
        for (bool isNegative : {false, true})
          for (Overflow overflow : {Overflow::Infinity, Overflow::Saturate}) {
            const bool up = takesUpper(position, (code & 1) != 0, isNegative, mode);
            const uint32_t expected =
                expectedCode<kType>(definition, code + (up ? 1 : 0), isNegative, mode, overflow);
            ASSERT_EQ(encodeFloat<kType>(isNegative ? -value : value, mode, overflow), expected)
                << value << (isNegative ? " negated, " : ", ") << roundingModeName(mode);
          }
  }
}

TYPED_TEST(NarrowFloat, FarBeyondTheRange) {
  constexpr DataType kType = TypeParam::kType;
  const Definition definition = definitionOf(kType);
  const uint32_t past = sizeof(FloatBits<kType>) == 1 ? 0xFF : 0xFFFF;
  for (double value : {0x1p128, 1e300, 0x1.FFFFFFFFFFFFFp1023})
    for (RoundingMode mode : kAllRoundingModes)
      for (bool isNegative : {false, true})
        for (Overflow overflow : {Overflow::Infinity, Overflow::Saturate})
          EXPECT_EQ(encodeFloat<kType>(isNegative ? -value : value, mode, overflow),
                    expectedCode<kType>(definition, past, isNegative, mode, overflow));
  for (RoundingMode mode : kAllRoundingModes)
    for (bool isNegative : {false, true}) {
      const double infinity = isNegative ? -INFINITY : INFINITY;
      EXPECT_EQ(encodeFloat<kType>(infinity, mode),
                expectedCode<kType>(definition, past, isNegative, RoundingMode::HalfToEven,
                                    Overflow::Infinity));
      EXPECT_EQ(encodeFloat<kType>(infinity, mode, Overflow::Saturate),
                expectedCode<kType>(definition, past, isNegative, mode, Overflow::Saturate));
    }
  // Below half of the smallest number.
  for (double value : {0x1p-1074, 1e-300, 0x1p-1022})
    for (RoundingMode mode : kAllRoundingModes) {
      EXPECT_EQ(encodeFloat<kType>(value, mode), mode == RoundingMode::Up ? 1 : 0);
      EXPECT_EQ(encodeFloat<kType>(-value, mode), mode == RoundingMode::Down  ? kSignBit<kType> | 1
                                                  : definition.isUnsignedZero ? 0
                                                                              : kSignBit<kType>);
    }
}

TYPED_TEST(NarrowFloat, IntegersRoundLikeTheirDoubles) {
  constexpr DataType kType = TypeParam::kType;
  for (RoundingMode mode : kAllRoundingModes)
    for (int64_t value = -70000; value <= 70000; ++value)
      ASSERT_EQ(encodeInteger<kType>(value, mode),
                value == 0 ? 0 : encodeFloat<kType>(static_cast<double>(value), mode))
          << value;
}

/// f32 patterns around everything where a conversion to 16 bits changes its mind: all upper halves
/// with lower halves near the middles of bf16 and of f16 (whose middle is bit 12).
std::vector<float> interestingFloats() {
  std::vector<float> values;
  for (uint32_t upper = 0; upper < 0x10000; ++upper)
    for (uint32_t lower : {0x0000, 0x0001, 0x0FFF, 0x1000, 0x1001, 0x2FFF, 0x3000, 0x3001, 0x5000,
                           0x7000, 0x7FFF, 0x8000, 0x8001, 0x9000, 0xF000, 0xFFFF})
      values.push_back(std::bit_cast<float>(upper << 16 | lower));
  return values;
}

TEST(Float, FastScalarsEqualTheGeneralForm) {
  for (float value : interestingFloats()) {
    const auto bits = std::bit_cast<uint32_t>(value);
    // Through a double a signaling NaN becomes quiet, as it must.
    ASSERT_EQ(f32ToF16(value), encodeFloat<DataType::F16>(value)) << std::hex << bits;
    ASSERT_EQ(f32ToBF16(value), encodeFloat<DataType::BF16>(value)) << std::hex << bits;
  }
}

// Midpoints of subnormal halves lie at lower bits than the patterns above reach.
TEST(Float, FastScalarAtSubnormalMidpoints) {
  for (int code = 0; code < 1024; ++code) {
    const auto middle = static_cast<float>(std::ldexp(code + 0.5, -24));
    for (float value : {middle, std::nextafter(middle, 0.0F), std::nextafter(middle, 1.0F)}) {
      ASSERT_EQ(f32ToF16(value), encodeFloat<DataType::F16>(value)) << value;
      ASSERT_EQ(f32ToF16(-value), encodeFloat<DataType::F16>(-value)) << value;
    }
  }
}

TEST(Float, ArraysEqualScalars) {
  const std::vector<float> values = interestingFloats();
  // Every start and length modulo the width of a vector.
  for (size_t start = 0; start < 9; ++start) {
    const size_t count = start == 0 ? values.size() : 4096 + 3 * start;
    const std::span from = std::span(values).subspan(start == 0 ? 0 : 0x3F0000 / 16 + start, count);
    std::vector<uint16_t> halves(count);
    std::vector<uint16_t> brains(count);
    f32ToF16(from, halves);
    f32ToBF16(from, brains);
    for (size_t i = 0; i < count; ++i) {
      ASSERT_EQ(halves[i], f32ToF16(from[i])) << std::bit_cast<uint32_t>(from[i]);
      ASSERT_EQ(brains[i], f32ToBF16(from[i])) << std::bit_cast<uint32_t>(from[i]);
    }
  }
  std::vector<uint16_t> codes(65536 + 5);
  for (size_t i = 0; i < codes.size(); ++i)
    codes[i] = static_cast<uint16_t>(i);
  std::vector<float> wide(codes.size());
  f16ToF32(codes, wide);
  for (size_t i = 0; i < codes.size(); ++i)
    ASSERT_EQ(std::bit_cast<uint32_t>(wide[i]), std::bit_cast<uint32_t>(f16ToF32(codes[i]))) << i;
  bf16ToF32(codes, wide);
  for (size_t i = 0; i < codes.size(); ++i)
    ASSERT_EQ(std::bit_cast<uint32_t>(wide[i]), static_cast<uint32_t>(codes[i]) << 16) << i;
}

TEST(Float, F32AgainstTheCompiler) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000000; ++i) {
    // Exponents around f32's, so that every other number is neither zero nor infinity.
    const uint64_t exponent = 1023 - 152 + random() % 284;
    const uint64_t pattern = random();
    const auto value = std::bit_cast<double>((pattern & 0x800FFFFFFFFFFFFF) | exponent << 52);
    ASSERT_EQ(encodeFloat<DataType::F32>(value), std::bit_cast<uint32_t>(static_cast<float>(value)))
        << value;
    const double middle =
        (static_cast<double>(std::bit_cast<float>(uint32_t(pattern & 0x7F7FFFFE))) +
         static_cast<double>(std::bit_cast<float>(uint32_t(pattern & 0x7F7FFFFE) + 1))) /
        2;
    ASSERT_EQ(encodeFloat<DataType::F32>(middle), pattern & 0x7F7FFFFE);
    ASSERT_EQ(encodeFloat<DataType::F32>(middle, RoundingMode::HalfUp), (pattern & 0x7F7FFFFE) + 1);
  }
}

TEST(Float, WideIntegersAgainstTheCompiler) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 1000000; ++i) {
    const uint64_t pattern = random() >> (random() % 64);
    const auto value = static_cast<int64_t>(i % 2 == 0 ? pattern : ~pattern);
    ASSERT_EQ(encodeInteger<DataType::F64>(value),
              std::bit_cast<uint64_t>(static_cast<double>(value)));
    ASSERT_EQ(encodeInteger<DataType::F32>(value),
              std::bit_cast<uint32_t>(static_cast<float>(value)));
    ASSERT_EQ(encodeInteger<DataType::F64>(pattern),
              std::bit_cast<uint64_t>(static_cast<double>(pattern)));
    ASSERT_EQ(encodeInteger<DataType::F32>(pattern),
              std::bit_cast<uint32_t>(static_cast<float>(pattern)));
  }
  EXPECT_EQ(encodeInteger<DataType::F32>(int64_t(16777217), RoundingMode::Up), 0x4B800001U);
  EXPECT_EQ(encodeInteger<DataType::F32>(int64_t(-16777217), RoundingMode::Up), 0xCB800000U);
  EXPECT_EQ(encodeInteger<DataType::F16>(int64_t(65520)), 0x7C00);
  EXPECT_EQ(encodeInteger<DataType::F16>(int64_t(65519)), 0x7BFF);
}

TEST(Float, RoundsOnceFromDouble) {
  // Just above the middle of 1 and its f16 successor, by less than f32 can tell.
  const double value = 1 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(encodeFloat<DataType::F16>(value), 0x3C01);
  EXPECT_EQ(encodeFloat<DataType::F16>(static_cast<double>(static_cast<float>(value))), 0x3C00);
}

TEST(Float, NaNsAreQuietAndKeepTheirSign) {
  const auto signaling = std::bit_cast<double>(0xFFF0000040000000);
  EXPECT_EQ(encodeFloat<DataType::F32>(signaling), 0xFFC00002U);
  EXPECT_EQ(encodeFloat<DataType::F16>(signaling), 0xFE00);
  EXPECT_EQ(encodeFloat<DataType::F8E4M3FN>(signaling), 0xFF);
  EXPECT_EQ(encodeFloat<DataType::F8E5M2>(signaling), 0xFE);
  EXPECT_EQ(encodeFloat<DataType::F8E5M2FNUZ>(signaling), 0x80);
  EXPECT_EQ(encodeFloat<DataType::F16>(signaling, RoundingMode::Up, Overflow::Saturate), 0xFE00);
  EXPECT_EQ(std::bit_cast<uint32_t>(f16ToF32(0x7D00)), 0x7FE00000U);
  EXPECT_EQ(encodeFloat<DataType::F64>(-INFINITY, RoundingMode::Up, Overflow::Saturate),
            0xFFEFFFFFFFFFFFFF);
}

TEST(Float, RoundToFormatIsWhatARegisterHolds) {
  EXPECT_EQ(roundToFormat<DataType::F16>(0.1F), 0.0999755859375F);
  EXPECT_EQ(roundToFormat<DataType::BF16>(0.1F), 0.10009765625F);
  EXPECT_EQ(
      roundToFormat<DataType::F8E4M3FN>(1000.0F, RoundingMode::HalfToEven, Overflow::Saturate),
      448.0F);
  static_assert(f32ToF16(65520.0F) == 0x7C00 && f32ToF16(65519.0F) == 0x7BFF);
  static_assert(f16ToF32(1) == 0x1p-24F);
}

} // namespace
