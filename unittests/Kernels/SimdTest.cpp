//===- SimdTest.cpp - The inner loops agree on all instruction sets ------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Simd.h"
#include "tpuc/Interpreter/Kernels/PackedMatMul.h"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <random>

using namespace tpuc;
using namespace tpuc::kernels;

namespace {

std::vector<SimdLevel> levels() {
  std::vector<SimdLevel> result;
  for (SimdLevel level : {SimdLevel::Generic, SimdLevel::Avx2, SimdLevel::Avx512})
    if (level <= bestSimdLevel())
      result.push_back(level);
  return result;
}

/// Whether products are added with one rounding at `level`: of these all give the same bits.
bool isFused(SimdLevel level) { return level >= SimdLevel::Avx2; }

/// Expects the bits of `values` at each call for a level of which isFused holds.
class SameBits {
public:
  void expect(SimdLevel level, const std::vector<float> &values) {
    if (!isFused(level))
      return;
    std::vector<uint32_t> bits;
    for (float value : values)
      bits.push_back(std::bit_cast<uint32_t>(value));
    if (first.empty())
      first = bits;
    EXPECT_EQ(bits, first) << simdKernels(level).name;
  }

private:
  std::vector<uint32_t> first;
};

std::vector<float> randomFloats(size_t count, unsigned seed, float range = 1) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> values(-range, range);
  std::vector<float> result(count);
  for (float &value : result)
    value = values(generator);
  return result;
}

constexpr float kFloatInf = std::numeric_limits<float>::infinity();
constexpr float kFloatNaN = std::numeric_limits<float>::quiet_NaN();

TEST(SimdTest, EachLevelHasTheSameUnaryRows) {
  EXPECT_TRUE(hasUnaryRow(UnaryOp::Abs));
  EXPECT_FALSE(hasUnaryRow(UnaryOp::Sign));
  for (int number = 0; number <= static_cast<int>(UnaryOp::RoundBF16); ++number) {
    const auto op = static_cast<UnaryOp>(number);
    for (SimdLevel level : levels()) {
      const float in = 0.75F;
      float out = -8;
      EXPECT_EQ(simdKernels(level).unaryRow(op, 1, 0, &in, &out, 1), hasUnaryRow(op)) << number;
      EXPECT_EQ(out != -8, hasUnaryRow(op)) << number;
    }
  }
}

TEST(SimdTest, UnaryRowsAreTheSameEverywhere) {
  std::vector<float> in = randomFloats(1003, 1, 12);
  const std::vector<float> special = {0,     -0.0F,  kFloatInf, -kFloatInf, kFloatNaN,
                                      1e30F, -1e30F, 1e-40F,    88,         -104};
  in.insert(in.end(), special.begin(), special.end());
  for (int number = 0; number <= static_cast<int>(UnaryOp::RoundBF16); ++number) {
    const auto op = static_cast<UnaryOp>(number);
    if (!hasUnaryRow(op))
      continue;
    std::vector<float> expected(in.size());
    simdKernels(SimdLevel::Generic)
        .unaryRow(op, 0.7F, 0.3F, in.data(), expected.data(), static_cast<int64_t>(in.size()));
    for (SimdLevel level : levels()) {
      std::vector<float> out = in;
      simdKernels(level).unaryRow(op, 0.7F, 0.3F, out.data(), out.data(),
                                  static_cast<int64_t>(in.size()));
      for (size_t i = 0; i < in.size(); ++i)
        EXPECT_TRUE(out[i] == expected[i] || (std::isnan(out[i]) && std::isnan(expected[i])))
            << simdKernels(level).name << ", op " << number << " of " << in[i] << ": " << out[i]
            << ", not " << expected[i];
    }
  }
}

TEST(SimdTest, ErrorFunctionsAreNearTheTrueOnes) {
  std::vector<float> in;
  for (float x = -9; x < 9; x += 0.0037F)
    in.push_back(x);
  std::vector<float> erf(in.size());
  std::vector<float> gelu(in.size());
  const auto count = static_cast<int64_t>(in.size());
  simdKernels().unaryRow(UnaryOp::Erf, 0, 0, in.data(), erf.data(), count);
  simdKernels().unaryRow(UnaryOp::GeluErf, 0, 0, in.data(), gelu.data(), count);
  for (size_t i = 0; i < in.size(); ++i) {
    const double x = in[i];
    EXPECT_NEAR(erf[i], std::erf(x), 4e-7) << x;
    const double expected = 0.5 * x * std::erfc(-x / std::sqrt(2.0));
    EXPECT_NEAR(gelu[i], expected, 1e-5 * std::abs(expected) + 1e-38) << x;
  }
}

TEST(SimdTest, BinaryRowsReadTheirOperands) {
  const std::vector<float> x = randomFloats(160, 2);
  const std::vector<float> y = randomFloats(160, 3);
  for (SimdLevel level : levels())
    for (RowOperand kind : {RowOperand::Same, RowOperand::Scalar, RowOperand::Channel})
      for (bool isReversed : {false, true}) {
        std::vector<float> out = x;
        simdKernels(level).binaryRow(BinaryOp::Sub, isReversed, out.data(), y.data(), kind,
                                     out.data(), 160);
        for (size_t i = 0; i < 160; ++i) {
          const float other =
              y[kind == RowOperand::Same ? i : (kind == RowOperand::Scalar ? 0 : i % 16)];
          EXPECT_EQ(out[i], isReversed ? other - x[i] : x[i] - other);
        }
      }
  // NaN wins.
  for (BinaryOp op : {BinaryOp::Min, BinaryOp::Max}) {
    const float a[] = {kFloatNaN, 1, 2, -1};
    const float b[] = {1, kFloatNaN, -2, 3};
    float out[4];
    simdKernels().binaryRow(op, false, a, b, RowOperand::Same, out, 4);
    EXPECT_TRUE(std::isnan(out[0]) && std::isnan(out[1]));
    EXPECT_EQ(out[2], op == BinaryOp::Min ? -2 : 2);
    EXPECT_EQ(out[3], op == BinaryOp::Min ? -1 : 3);
  }
}

TEST(SimdTest, ClipKeepsNaN) {
  for (SimdLevel level : levels()) {
    std::vector<float> values(40, 7);
    values[3] = kFloatNaN;
    values[5] = -kFloatInf;
    values[17] = 0.5F;
    simdKernels(level).clipRow(0, 6, values.data(), values.data(), 40);
    EXPECT_TRUE(std::isnan(values[3]));
    EXPECT_EQ(values[5], 0);
    EXPECT_EQ(values[17], 0.5F);
    EXPECT_EQ(values[39], 6);
  }
}

/// Every tile that there is, against sums in double.
TEST(SimdTest, TilesAreSumsOfProducts) {
  constexpr int64_t kTaps = 2;
  constexpr int64_t kTermBlocks = 2;
  constexpr int64_t kLastTerms = 5;
  constexpr int64_t kTerms = 16 + kLastTerms;
  constexpr int64_t kColumns = 11;
  const std::vector<float> source = randomFloats(12 * 64, 4);
  std::map<std::pair<int64_t, int64_t>, SameBits> sameBits;
  for (SimdLevel level : levels()) {
    const SimdKernels &simd = simdKernels(level);
    for (int64_t blocks = 1; blocks <= simd.maxBlocks; ++blocks)
      for (int64_t pixels = 1; pixels <= 12; ++pixels) {
        TileFunction tile =
            simd.tile[static_cast<size_t>(blocks - 1)][static_cast<size_t>(pixels - 1)];
        if (!tile)
          continue;
        const auto width = static_cast<size_t>(blocks * 16);
        const std::vector<float> weights = randomFloats(kTaps * kTerms * width, 5);
        const std::vector<float> bias = randomFloats(width, 6);
        std::vector<float> out(static_cast<size_t>(pixels) * width, 100);
        std::vector<const float *> sources;
        std::vector<float *> outputs;
        std::vector<int64_t> steps(static_cast<size_t>(pixels), 32);
        for (int64_t tap = 0; tap < kTaps; ++tap)
          for (int64_t p = 0; p < pixels; ++p)
            sources.push_back(source.data() + p * 64 + tap);
        for (int64_t p = 0; p < pixels; ++p)
          outputs.push_back(out.data() + static_cast<size_t>(p) * width);
        tile({.sources = sources.data(),
              .steps = steps.data(),
              .stepsPerTap = 0,
              .taps = kTaps,
              .blocks = kTermBlocks,
              .lastTerms = kLastTerms,
              .weights = weights.data(),
              .bias = bias.data(),
              .outputs = outputs.data(),
              .outputStep = 16,
              .lastColumns = kColumns,
              .clamp = true,
              .low = -0.5F,
              .high = 2});
        for (int64_t p = 0; p < pixels; ++p)
          for (size_t c = 0; c < width; ++c) {
            const float is = out[static_cast<size_t>(p) * width + c];
            if (c >= width - 16 + kColumns) {
              EXPECT_EQ(is, 100) << "is no column";
              continue;
            }
            double sum = bias[c];
            for (int64_t tap = 0; tap < kTaps; ++tap)
              for (int64_t k = 0; k < kTerms; ++k)
                sum += source[static_cast<size_t>(p * 64 + tap + k / 16 * 32 + k % 16)] *
                       weights[static_cast<size_t>(tap * kTerms + k) * width + c];
            EXPECT_NEAR(is, std::clamp(sum, -0.5, 2.0), 1e-5) << blocks << " x " << pixels;
          }
        sameBits[{blocks, pixels}].expect(level, out);
      }
  }
}

TEST(SimdTest, SoftmaxAndLayerNormRows) {
  const std::vector<float> in = randomFloats(37, 7, 5);
  const std::vector<float> weight = randomFloats(37, 8);
  double sum = 0;
  double mean = 0;
  for (float x : in) {
    sum += std::exp(2.0 * x);
    mean += x / 37.0;
  }
  double variance = 0;
  for (float x : in)
    variance += (x - mean) * (x - mean) / 37;
  SameBits softmaxBits;
  SameBits normBits;
  for (SimdLevel level : levels()) {
    std::vector<float> softmax(37);
    std::vector<float> norm(37);
    simdKernels(level).softmaxRow(in.data(), 2, softmax.data(), 37);
    simdKernels(level).layerNormRow(in.data(), weight.data(), nullptr, 1e-5F, norm.data(), 37);
    for (size_t i = 0; i < in.size(); ++i) {
      EXPECT_NEAR(softmax[i], std::exp(2.0 * in[i]) / sum, 1e-6);
      EXPECT_NEAR(norm[i], (in[i] - mean) / std::sqrt(variance + 1e-5) * weight[i], 1e-5);
    }
    softmaxBits.expect(level, softmax);
    normBits.expect(level, norm);
  }
}

TEST(SimdTest, WindowRowsHaveTheSameBits) {
  const std::vector<float> input = randomFloats(3 * 21 * 16, 12);
  const std::vector<float> weights = randomFloats(3 * 3 * 16, 13);
  const std::vector<float> bias = randomFloats(16, 14);
  const float *rows[] = {input.data(), input.data() + 21 * 16, nullptr};
  SameBits sums;
  SameBits largest;
  SameBits plain;
  SameBits means;
  for (SimdLevel level : levels()) {
    const SimdKernels &simd = simdKernels(level);
    std::vector<float> out(21 * 16);
    WindowRowArgs args{.rows = rows,
                       .kernelHeight = 3,
                       .kernelWidth = 3,
                       .inputWidth = 21,
                       .outputWidth = 21,
                       .stride = 1,
                       .dilation = 1,
                       .pad = 1,
                       .weights = weights.data(),
                       .bias = bias.data(),
                       .output = out.data(),
                       .clamp = false,
                       .low = 0,
                       .high = 0};
    simd.depthwiseRow(args);
    sums.expect(level, out);
    double centre = bias[5];
    for (int64_t y = 0; y < 2; ++y)
      for (int64_t x = 0; x < 3; ++x)
        centre += static_cast<double>(rows[y][(9 + x) * 16 + 5]) *
                  weights[static_cast<size_t>((y * 3 + x) * 16 + 5)];
    EXPECT_NEAR(out[10 * 16 + 5], centre, 1e-6) << simd.name;
    simd.maximumRow(args);
    largest.expect(level, out);
    simd.sumRow(args);
    plain.expect(level, out);
    simd.meanPixels(input.data(), 63, out.data());
    means.expect(level, out);
  }
}

TEST(SimdTest, PackedProducts) {
  ThreadPool threads(2);
  for (bool transposed : {false, true})
    for (int64_t columns : {7, 16, 150})
      for (int64_t rows : {1, 13, 70}) {
        constexpr int64_t kTerms = 530;
        std::vector<float> left = randomFloats(static_cast<size_t>(rows * kTerms), 9);
        std::vector<float> right = randomFloats(static_cast<size_t>(columns * kTerms), 10);
        std::vector<float> bias = randomFloats(static_cast<size_t>(columns), 11);
        Tensor matrix =
            Tensor::of<float>(transposed ? Shape{columns, kTerms} : Shape{kTerms, columns}, right);
        Tensor offsets = Tensor::of<float>({columns}, bias);
        std::vector<float> packed(static_cast<size_t>(rows * columns));
        std::vector<float> batched(packed.size());
        const float *operands[] = {left.data()};
        makeMatMul(rows, kTerms, columns, matrix, transposed, &offsets)
            ->run(operands, packed.data(), threads);
        multiplyBatch({1, rows, kTerms, columns, transposed, [&](int64_t) { return left.data(); },
                       [&](int64_t) { return right.data(); }},
                      batched.data(), threads);
        for (int64_t i = 0; i < rows * columns; ++i) {
          double sum = 0;
          for (int64_t k = 0; k < kTerms; ++k)
            sum += left[static_cast<size_t>(i / columns * kTerms + k)] *
                   right[static_cast<size_t>(transposed ? i % columns * kTerms + k
                                                        : k * columns + i % columns)];
          EXPECT_NEAR(batched[static_cast<size_t>(i)], sum, 1e-4);
          EXPECT_NEAR(packed[static_cast<size_t>(i)], sum + bias[static_cast<size_t>(i % columns)],
                      1e-4);
        }
      }
}

} // namespace
