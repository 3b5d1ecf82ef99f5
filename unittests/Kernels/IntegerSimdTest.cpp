//===- IntegerSimdTest.cpp - Loops over integers on all instruction sets --===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IntegerTesting.h"
#include "tpuc/Interpreter/Kernels/IntegerRequantizer.h"
#include "tpuc/Support/Quantize.h"

#include <cmath>

using namespace tpuc;
using namespace tpuc::kernels;
using namespace tpuc::kernels::integer;

namespace {

/// Sums of all sizes, and the largest.
std::vector<int32_t> randomSums(Random &random, size_t count) {
  std::vector<int32_t> sums;
  for (size_t i = 0; i < count; ++i) {
    const int64_t bits = pick(random, 0, 31);
    const int64_t bound = (int64_t(1) << bits) - 1;
    sums.push_back(static_cast<int32_t>(pick(random, -bound - 1, bound)));
  }
  return sums;
}

MultiplierShift randomFactor(Random &random) {
  const int64_t kind = pick(random, 0, 7);
  const auto shift = static_cast<int32_t>(pick(random, 0, 62));
  if (kind == 0)
    return {INT32_MAX, shift};
  if (kind == 1)
    return {INT32_MIN, shift};
  if (kind == 2)
    return {1, static_cast<int32_t>(pick(random, 0, 12))};
  if (kind == 3)
    return {static_cast<int32_t>(pick(random, INT32_MIN, INT32_MAX)), shift};
  // Results of about 8 bits from sums of 8 to 31.
  return {static_cast<int32_t>(pick(random, int64_t(1) << 30, INT32_MAX)),
          static_cast<int32_t>(pick(random, 31, 54))};
}

class IntegerSimdTest : public testing::TestWithParam<SimdLevel> {
protected:
  const IntegerSimd &simd = integerSimd(GetParam());
};

TEST_P(IntegerSimdTest, RequantizesExactly) {
  Random random(10);
  for (int round = 0; round < 3000; ++round) {
    const DataType type = randomByteType(random);
    const auto count = static_cast<size_t>(pick(random, 1, 150));
    std::vector<int32_t> sums = randomSums(random, count);
    sums[0] = round % 2 == 0 ? INT32_MIN : INT32_MAX;
    RequantParams params;
    const bool isPerLane = pick(random, 0, 1) == 0;
    for (size_t i = 0; i < (isPerLane ? count : 1); ++i)
      params.factors.push_back(i == 0 || pick(random, 0, 3) == 0 ? randomFactor(random)
                                                                 : params.factors.back());
    params.zeroPoint = randomZero(random, type);
    params.range = integerRange(type);
    if (pick(random, 0, 2) == 0) {
      params.range.lowest = pick(random, params.range.lowest, params.zeroPoint);
      params.range.highest = static_cast<uint64_t>(
          pick(random, std::max(params.zeroPoint, 0), static_cast<int64_t>(params.range.highest)));
    }
    std::vector<uint8_t> results(count + 1, 77);
    const Requantizer requantizer(params, simd);
    if (isPerLane)
      requantizer.lanes(sums.data(), static_cast<int64_t>(count), 0, results.data());
    else
      requantizer.row(sums.data(), static_cast<int64_t>(count), 0, results.data());
    for (size_t i = 0; i < count; ++i)
      ASSERT_EQ(results[i], static_cast<uint8_t>(requantized(sums[i], params, i)))
          << simd.name << ": " << sums[i] << " * " << params.at(i).factor.multiplier << " >> "
          << params.at(i).factor.rshift << " + " << params.zeroPoint;
    ASSERT_EQ(results[count], 77) << "is behind the row";
  }
}

TEST_P(IntegerSimdTest, RequantizesRowsWithTheirFactors) {
  Random random(11);
  const std::vector<int32_t> sums = randomSums(random, 3 * 50);
  RequantParams params;
  params.factors = {{1 << 30, 40}, {1 << 30, 50}, {INT32_MAX, 62}};
  std::vector<uint8_t> results(3 * 60, 77);
  Requantizer(params, simd).rows({sums.data(), 50, 3, 49, results.data(), 60}, 0);
  for (size_t i = 0; i < results.size(); ++i)
    EXPECT_EQ(results[i], i % 60 < 49 ? static_cast<uint8_t>(
                                            requantized(sums[i / 60 * 50 + i % 60], params, i / 60))
                                      : 77);
}

TEST_P(IntegerSimdTest, RowsOfBytes) {
  Random random(12);
  for (int64_t count : {1, 15, 16, 17, 64, 65, 200}) {
    const Tensor a = randomBytes(random, randomByteType(random), {3 * count});
    const Tensor b = randomBytes(random, randomByteType(random), {count});
    const std::vector<int64_t> x = numbers(a);
    const std::vector<int64_t> y = numbers(b);
    const auto size = static_cast<size_t>(count);
    std::vector<int32_t> sums(size, 5);
    simd.addRow(byteRow(a, 0, 3), count, -70000, sums.data());
    for (size_t i = 0; i < size; ++i)
      EXPECT_EQ(sums[i], 5 - 70000 * (x[i] - 3));
    for (int64_t stride : {1, 2, 3}) {
      std::vector<uint8_t> results(size + 1, 77);
      simd.strideRow(bytesOf(a), stride, count, results.data());
      for (int64_t i = 0; i < count; ++i)
        EXPECT_EQ(results[static_cast<size_t>(i)], bytesOf(a)[i * stride]);
      EXPECT_EQ(results[size], 77);
    }
    simd.multiplyRows(byteRow(a, 0, 127), byteRow(b, 0, -128), count, sums.data());
    int64_t total = 0;
    for (size_t i = 0; i < size; ++i) {
      EXPECT_EQ(sums[i], (x[i] - 127) * (y[i] + 128));
      total += x[i] - 9;
    }
    EXPECT_EQ(simd.sumRow(byteRow(a, 0, 9), count), total);
    for (bool isMax : {false, true})
      for (uint8_t flip : {uint8_t(0), uint8_t(0x80)}) {
        std::vector<uint8_t> results(bytesOf(a), bytesOf(a) + count);
        simd.extremeRow(bytesOf(b), isMax, flip, count, results.data());
        for (int64_t i = 0; i < count; ++i) {
          const auto number = [&](const Tensor &from) -> int {
            const uint8_t byte = bytesOf(from)[i];
            return flip ? static_cast<int8_t>(byte) : byte;
          };
          const int expected =
              isMax ? std::max(number(a), number(b)) : std::min(number(a), number(b));
          EXPECT_EQ(results[static_cast<size_t>(i)], static_cast<uint8_t>(expected));
        }
      }
    std::vector<uint8_t> table(256);
    for (size_t i = 0; i < 256; ++i)
      table[i] = static_cast<uint8_t>(i * 7 + 3);
    std::vector<uint8_t> looked(size + 1, 99);
    simd.lookUpRow(bytesOf(a), table.data(), 0x80, count, looked.data());
    for (size_t i = 0; i < size; ++i)
      EXPECT_EQ(looked[i], table[bytesOf(a)[i] ^ 0x80]);
    EXPECT_EQ(looked[size], 99);
  }
}

TEST_P(IntegerSimdTest, QuantizesAsSupportDoes) {
  Random random(13);
  std::vector<float> values = {0.25F, 0.75F, -0.25F, -0.75F, 1e30F, -1e30F, std::nanf(""), 0};
  std::normal_distribution<float> normal(0, 30);
  for (int i = 0; i < 200; ++i)
    values.push_back(std::round(normal(random)) / 4);
  const QuantParams params{0.5, -7};
  for (RoundingMode mode : kAllRoundingModes) {
    std::vector<int32_t> results(values.size());
    simd.quantizeRow(values.data(), static_cast<int64_t>(values.size()), {0.5, -121, 134, -7}, mode,
                     results.data());
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_EQ(results[i], quantize(values[i], params, integerRange<int8_t>(), mode))
          << values[i] << ' ' << roundingModeName(mode);
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, IntegerSimdTest, testing::ValuesIn(integerLevels()),
                         [](const auto &info) {
                           return std::to_string(static_cast<int>(info.param));
                         });

} // namespace
