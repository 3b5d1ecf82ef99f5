//===- AttentionTest.cpp - Attention over rows-----------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Attention.h"
#include "tpuc/Interpreter/Kernels/Attention.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Target/BM1684X/Kernels/ShortWeights.h"
#include "unittests/BM1684X/Kernels/Bench.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <limits>

using namespace tpuc;
using namespace tpuc::bm1684x;
using testing::HasSubstr;

namespace {

struct AttentionCase {
  int64_t samples, rows, keys, heads, keyHeads, width, valueWidth;
};

/// A mask [samples, heads, rows, keys] of numbers, each of the first three 1 or as in the case.
/// Some are -inf, and all of the rows that `hides` names.
Tensor maskOf(DataType type, const Shape &shape, int64_t hides) {
  Tensor numbers = randomNumbers(DataType::F32, shape, 4, -3, 3);
  const int64_t keys = shape[3];
  const auto all = numbers.mutableData<float>();
  for (size_t i = 0; i < all.size(); ++i)
    if (i % 5 == 0 || static_cast<int64_t>(i) / keys % 7 == hides)
      all[i] = -std::numeric_limits<float>::infinity();
  return convert(numbers, type);
}

/// The mask as the kernel reads it: the same rows in every lane where it is for all queries.
AttentionMask loadMask(Bench &bench, const Tensor &mask) {
  const Shape &dims = mask.shape();
  AttentionMask made{.numbers = {}, .isForAllRows = dims[2] == 1, .heads = dims[1]};
  const int64_t matrices = dims[0] * dims[1];
  if (!made.isForAllRows) {
    made.numbers = bench.load(mask.reshaped({matrices, dims[2], 1, dims[3]}));
    return made;
  }
  Tensor lanes(mask.type(), Shape({matrices, kLanes, 1, dims[3]}));
  const size_t row = mask.byteSize() / static_cast<size_t>(matrices);
  for (int64_t matrix = 0; matrix < matrices; ++matrix)
    for (int64_t lane = 0; lane < kLanes; ++lane)
      std::ranges::copy(
          mask.rawBytes().subspan(static_cast<size_t>(matrix) * row, row),
          lanes.mutableBytes().subspan(static_cast<size_t>(matrix * kLanes + lane) * row).begin());
  made.numbers = bench.load(lanes);
  return made;
}

/// Rows [n,rows,1,w] as the interpreter has them.
Tensor asRows(const Tensor &tensor) {
  return tensor.reshaped({tensor.shape()[0], tensor.shape()[1], tensor.shape()[3]});
}

/// How many of the results are those of one rounding, as a share. Weights of one number change a
/// third.
double shareOfOneRounding(const Tensor &found, const Tensor &wanted) {
  const Tensor a = convert(found, DataType::F32);
  const Tensor b = convert(wanted, DataType::F32);
  size_t equal = 0;
  for (size_t i = 0; i < a.data<float>().size(); ++i)
    equal += a.data<float>()[i] == b.data<float>()[i] ? 1 : 0;
  return static_cast<double>(equal) / static_cast<double>(a.numElements());
}

void expectAttention(const AttentionCase &c, DataType type,
                     const std::optional<Tensor> &mask = std::nullopt,
                     bool hasShortWeights = false) {
  SCOPED_TRACE(dataTypeName(type));
  Tensor query = randomNumbers(type, {c.samples, c.rows, 1, c.heads * c.width}, 1, -2, 2);
  Tensor key = randomNumbers(type, {c.samples, c.keys, 1, c.keyHeads * c.width}, 2, -2, 2);
  Tensor value = randomNumbers(type, {c.samples, c.keys, 1, c.keyHeads * c.valueWidth}, 3);
  Bench bench;
  Attention attention;
  attention.query = bench.load(query);
  attention.key = bench.load(key);
  attention.value = bench.load(value);
  attention.output = bench.local(type, {c.samples, c.rows, 1, c.heads * c.valueWidth});
  attention.heads = c.heads;
  attention.keyHeads = c.keyHeads;
  attention.hasShortWeights = hasShortWeights;
  // Of 16 columns a power of 2.
  attention.scale = 1 / std::sqrt(static_cast<double>(c.width));
  if (mask)
    attention.mask = loadMask(bench, *mask);
  attention.scratch = bench.scratch(attentionScratch(attention));
  expectOk(emitAttention(bench.builder, attention));
  GlobalTensor stored = bench.store(attention.output);
  bench.run();
  Tensor rows = asRows(query);
  Tensor keys = asRows(key);
  Tensor values = asRows(value);
  Tensor wanted(type, {c.samples, c.rows, c.heads * c.valueWidth});
  ThreadPool threads(1);
  kernels::AttentionParams params;
  params.queryHeads = c.heads;
  params.keyHeads = c.keyHeads;
  params.scale = attention.scale;
  params.softmaxType = DataType::F32;
  kernels::attention({&rows, &keys, &values, mask ? &*mask : nullptr, nullptr, nullptr, nullptr},
                     params, {&wanted, nullptr, nullptr, nullptr}, threads);
  wanted = wanted.reshaped({c.samples, c.rows, 1, c.heads * c.valueWidth});
  const Tensor found = bench.get(stored);
  expectClose(found, wanted);
  if (hasShortWeights)
    EXPECT_LT(shareOfOneRounding(found, wanted), 0.9);
  else if (type != DataType::F32)
    EXPECT_GE(shareOfOneRounding(found, wanted), 0.95);
}

TEST(Attention, EveryType) {
  for (DataType type : kFloatTypes) {
    expectAttention({1, 70, 70, 3, 3, 64, 64}, type);
    // Fewer queries than keys, and heads that fill no line.
    expectAttention({2, 5, 90, 4, 4, 20, 12}, type);
    // Successive heads share keys; not all fit at once.
    expectAttention({1, 130, 197, 6, 2, 32, 32}, type);
    // Samples of one head, of which not all fit at once.
    expectAttention({7, 70, 197, 1, 1, 20, 12}, type);
    // Several samples of all their heads at once, but for the last ones.
    expectAttention({9, 49, 49, 3, 3, 32, 32}, type);
    expectAttention({9, 20, 30, 4, 2, 8, 8}, type);
  }
}

TEST(Attention, Masks) {
  const AttentionCase cases[] = {
      {2, 70, 90, 3, 3, 16, 12}, {9, 20, 30, 4, 2, 8, 8}, {7, 9, 40, 1, 1, 20, 12}};
  for (DataType type : kFloatTypes)
    for (const AttentionCase &c : cases)
      for (int shape = 0; shape < 8; ++shape)
        for (int64_t hides : {-1, 2, 0}) {
          const Shape dims({(shape & 1) != 0 ? c.samples : 1, (shape & 2) != 0 ? c.heads : 1,
                            (shape & 4) != 0 ? c.rows : 1, c.keys});
          SCOPED_TRACE(fmt::format("mask [{}], hidden {}", fmt::join(dims.dims(), ","), hides));
          expectAttention(c, type, maskOf(hides == 0 ? DataType::F32 : type, dims, hides));
        }
}

/// All weights are near the powers that they stand for, or as small as the least one.
TEST(ShortWeights, Rows) {
  for (const auto &[width, scale] : {std::pair{1, 1.0}, std::pair{70, 0.3}, std::pair{200, 1.0}}) {
    Tensor scores = randomNumbers(DataType::F32, {2, 70, 1, width}, 1, -30, 30);
    const auto all = scores.mutableData<float>();
    // The first row is hidden, and every seventh element of the others.
    for (int64_t i = 0; i < std::ssize(all); ++i)
      if (i < width || (i % 7 == 0 && i % width > 0))
        all[static_cast<size_t>(i)] = -std::numeric_limits<float>::infinity();
    Bench bench;
    ShortWeights weights{.scores = bench.load(scores),
                         .weights = bench.local(DataType::F16, {2, 70, 1, width}),
                         .scale = scale,
                         .scratch = {}};
    weights.scratch = bench.scratch(shortWeightsScratch(weights));
    addShortWeights(bench.builder, weights);
    const GlobalTensor stored = bench.store(weights.weights);
    bench.run();
    const Tensor found = convert(bench.get(stored), DataType::F32);
    for (int64_t row = 0; row < 140; ++row) {
      const auto of = [&](std::span<const float> tensor) {
        return tensor.subspan(static_cast<size_t>(row * width), static_cast<size_t>(width));
      };
      const float most = *std::ranges::max_element(of(all));
      for (int64_t i = 0; i < width; ++i) {
        const double weight = of(found.data<float>())[static_cast<size_t>(i)];
        const double wanted =
            row == 0 ? 0
                     : kLargestShortWeight *
                           std::exp(scale * (of(all)[static_cast<size_t>(i)] - double{most}));
        ASSERT_NEAR(weight, wanted, 0.0012 * wanted + 7e-5) << row << " " << i;
      }
    }
  }
}

/// One product with the values instead of two: what is rounded to bytes later wants no more.
TEST(Attention, ShortWeights) {
  const AttentionCase shape = {1, 130, 197, 6, 2, 32, 32};
  expectAttention(shape, DataType::F16, std::nullopt, true);
  for (int64_t rows : {int64_t{1}, shape.rows})
    expectAttention(shape, DataType::F16, maskOf(DataType::F16, Shape({1, 1, rows, shape.keys}), 2),
                    true);
}

TEST(Attention, RefusesByName) {
  Attention attention;
  attention.query = attention.output = localTensor(DataType::F16, {1, 4, 1, 24});
  attention.key = attention.value = localTensor(DataType::F16, {1, 9, 1, 16});
  attention.heads = 3;
  attention.keyHeads = 2;
  auto message = [&] {
    Expected<uint32_t> needed = attentionScratch(attention);
    return needed ? "accepted" : needed.error().message();
  };
  EXPECT_THAT(message(), HasSubstr("3 and 2 heads of [1,4,1,24]"));
  attention.keyHeads = 1;
  attention.key = attention.value = localTensor(DataType::F16, {1, 9, 1, 8});
  EXPECT_EQ(message(), "accepted");
  attention.value.type = DataType::F32;
  EXPECT_THAT(message(), HasSubstr("a tensor of f32"));
  attention.value.type = DataType::F16;
  attention.mask = {.numbers = localTensor(DataType::F16, {2, 4, 1, 9}), .heads = 2};
  EXPECT_THAT(message(), HasSubstr("a mask [2,4,1,9] f16 of 2 heads"));
  attention.mask = {.numbers = localTensor(DataType::F16, {1, 4, 1, 9}), .isForAllRows = true};
  EXPECT_THAT(message(), HasSubstr("[1 or 1,64,1,9] f16"));
  attention.mask->isForAllRows = false;
  EXPECT_EQ(message(), "accepted");
}

} // namespace
