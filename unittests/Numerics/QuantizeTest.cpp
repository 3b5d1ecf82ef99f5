//===- QuantizeTest.cpp - Tests of affine quantization ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Quantize.h"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

using namespace tpuc;

namespace {

TEST(Quantize, AsymmetricParameters) {
  const IntegerRange int8 = integerRange<int8_t>();
  const IntegerRange uint8 = integerRange<uint8_t>();
  EXPECT_EQ(asymmetricParams(-1, 1.55, int8), (QuantParams{2.55 / 255, -28}));
  EXPECT_EQ(asymmetricParams(-1, 1.55, uint8), (QuantParams{2.55 / 255, 100}));
  // Intervals on one side of 0 are widened to it.
  EXPECT_EQ(asymmetricParams(1, 5.1, uint8), (QuantParams{5.1 / 255, 0}));
  EXPECT_EQ(asymmetricParams(-5.1, -1, int8), (QuantParams{5.1 / 255, 127}));
  EXPECT_EQ(asymmetricParams(0, 0, int8), (QuantParams{1, 0}));
  EXPECT_EQ(asymmetricParams(-1, 14, integerRange(4, false)), (QuantParams{1, 1}));
  const auto huge = asymmetricParams(-1.5e308, 1.5e308, uint8);
  ASSERT_TRUE(huge);
  EXPECT_TRUE(std::isfinite(huge->scale));
  EXPECT_EQ(huge->zeroPoint, 128);
}

TEST(Quantize, ZeroIsExactUnderAsymmetricParameters) {
  for (double min = -3; min <= 1; min += 0.173)
    for (double max = min; max <= 4; max += 0.219)
      for (IntegerRange range : {integerRange<int8_t>(), integerRange<uint8_t>()}) {
        const auto params = asymmetricParams(min, max, range);
        ASSERT_TRUE(params);
        ASSERT_EQ(dequantize(quantize(0, *params, range), *params), 0) << min << " " << max;
        // And the ends are met to within a step.
        ASSERT_NEAR(dequantize(quantize(max, *params, range), *params), max, params->scale);
        ASSERT_NEAR(dequantize(quantize(min, *params, range), *params), min, params->scale);
      }
}

TEST(Quantize, SymmetricScales) {
  EXPECT_EQ(activationScale(6.4), 6.4 / 128);
  EXPECT_EQ(weightScale(6.4), 6.4 / 127);
  EXPECT_EQ(unsignedScale(6.4), 6.4 / 255);
  EXPECT_EQ(activationScale(6.4, 4), 6.4 / 8);
  EXPECT_EQ(weightScale(6.4, 4), 6.4 / 7);
  EXPECT_EQ(unsignedScale(6.4, 4), 6.4 / 15);
  EXPECT_EQ(activationScale(6.4, 16), 6.4 / 32768);
  EXPECT_EQ(activationScale(0), 1);
}

TEST(Quantize, ParametersThatDoNotExist) {
  const IntegerRange int8 = integerRange<int8_t>();
  EXPECT_FALSE(asymmetricParams(2, 1, int8));
  EXPECT_FALSE(asymmetricParams(std::nan(""), 1, int8));
  EXPECT_FALSE(asymmetricParams(0, INFINITY, int8));
  EXPECT_FALSE(asymmetricParams(0, 5e-324, int8));
  EXPECT_FALSE(activationScale(-1));
  EXPECT_FALSE(weightScale(5e-324));
  const auto bad = unsignedScale(std::nan(""), 8, "relu3");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().message(), "relu3: threshold nan; expected a finite number, 0 or more");
}

TEST(Quantize, Scalars) {
  const QuantParams params{0.5, 3};
  const IntegerRange int8 = integerRange<int8_t>();
  EXPECT_EQ(quantize(1.25, params, int8), 6);
  EXPECT_EQ(quantize(-1.25, params, int8), 0);
  EXPECT_EQ(quantize(1.25, params, int8, RoundingMode::HalfToEven), 5);
  EXPECT_EQ(quantize(1.25, params, int8, RoundingMode::TowardZero), 5);
  EXPECT_EQ(quantize(1000, params, int8), 127);
  EXPECT_EQ(quantize(-INFINITY, params, int8), -128);
  EXPECT_EQ(quantize(1e300, {1e-300, 0}, int8), 127);
  EXPECT_EQ(quantize(std::nan(""), params, int8), 3);
  EXPECT_EQ(dequantize(6, params), 1.5);
}

template <typename T> void checkArrays(IntegerRange range) {
  std::vector<float> values = {0.0F, -0.0F, NAN, INFINITY, -INFINITY, 1e-40F, -1e-40F, 3e38F};
  for (int i = -3000; i <= 3000; ++i)
    for (float factor : {0.25F, 0.1F, 23.0F}) {
      values.push_back(static_cast<float>(i) * factor);
      values.push_back(std::nextafter(values.back(), 0.0F));
    }
  std::vector<T> quantized(values.size());
  std::vector<float> restored(values.size());
  for (const QuantParams &params :
       {QuantParams{0.5, 3}, QuantParams{0.1, -100}, QuantParams{0x1p-30, 0}, QuantParams{7, 2}})
    for (RoundingMode mode : kAllRoundingModes) {
      quantize<T>(values, quantized, params, range, mode);
      dequantize<T>(quantized, restored, params);
      for (size_t i = 0; i < values.size(); ++i) {
        ASSERT_EQ(int64_t(quantized[i]), quantize(values[i], params, range, mode))
            << values[i] << " " << roundingModeName(mode);
        ASSERT_EQ(restored[i], static_cast<float>(dequantize(quantized[i], params)));
      }
    }
}

TEST(Quantize, ArraysEqualScalars) {
  checkArrays<int8_t>(integerRange<int8_t>());
  checkArrays<uint8_t>(integerRange<uint8_t>());
  checkArrays<int16_t>(integerRange<int16_t>());
  checkArrays<uint16_t>(integerRange<uint16_t>());
  checkArrays<int32_t>(integerRange<int32_t>());
  checkArrays<int8_t>(integerRange(4, true));
  checkArrays<uint8_t>(integerRange(4, false));
}

} // namespace
