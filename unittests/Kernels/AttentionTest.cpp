//===- AttentionTest.cpp - Attention and what goes with it ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Attention.h"
#include "tpuc/Support/Convert.h"
#include "unittests/Kernels/TestTensors.h"

#include <cfloat>
#include <cmath>
#include <gmock/gmock.h>
#include <limits>

using namespace tpuc;
using namespace tpuc::kernels;
using testing::DoubleEq;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::FloatEq;
using testing::Pointwise;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

Tensor truths(Shape shape, const std::vector<int> &values) {
  Tensor tensor(DataType::Bool, shape);
  std::ranges::copy(values, tensor.mutableData<uint8_t>().begin());
  return tensor;
}

/// What queries that prefer no key see: the mean of the values 1 2 4 8 of the keys that are visible
/// to each of `queries` queries.
std::vector<double> means(int64_t queries, const AttentionParams &params, const Tensor *mask,
                          const Tensor *lengths = nullptr, const Tensor *pastKey = nullptr,
                          const Tensor *pastValue = nullptr) {
  ThreadPool threads(2);
  int64_t keys = pastKey ? 4 - pastKey->shape()[2] : 4;
  Tensor query(DataType::F64, {1, 1, queries, 2});
  Tensor key(DataType::F64, {1, 1, keys, 2});
  std::vector<double> all = {1, 2, 4, 8};
  Tensor value = Tensor::of<double>({1, 1, keys, 1}, std::span<const double>(all).last(keys));
  Tensor output(DataType::F64, {1, 1, queries, 1});
  attention({&query, &key, &value, mask, pastKey, pastValue, lengths}, params,
            {&output, nullptr, nullptr, nullptr}, threads);
  return doubles(output);
}

TEST(AttentionTest, HidesKeysByTheirPlace) {
  EXPECT_THAT(means(1, {}, nullptr), ElementsAre(3.75));
  EXPECT_THAT(means(3, {.isCausal = true}, nullptr),
              ElementsAre(1, 1.5, DoubleNear(7 / 3.0, 1e-9)));
  EXPECT_THAT(means(4, {.leftWindow = 1, .rightWindow = 0}, nullptr), ElementsAre(1, 1.5, 3, 6));
  EXPECT_THAT(means(2, {.rightWindow = 1}, nullptr), ElementsAre(1.5, DoubleNear(7 / 3.0, 1e-9)));
  EXPECT_THAT(means(4, {.isCausal = true, .leftWindow = 0, .rightWindow = 2}, nullptr),
              ElementsAre(1, 2, 4, 8));
}

TEST(AttentionTest, MasksHideOrAdd) {
  Tensor hides = truths({2, 4}, {1, 0, 0, 1, 0, 0, 0, 0});
  EXPECT_THAT(means(2, {}, &hides), ElementsAre(4.5, 0));
  // One that is shorter than the keys hides the others, whatever it is made of.
  Tensor shorter = truths({2}, {0, 1});
  EXPECT_THAT(means(2, {}, &shorter), ElementsAre(2, 2));
  Tensor adds = Tensor::of<double>({1, 1, 2, 3}, {0, 0, -kInf, -kInf, std::log(3.0), 0});
  EXPECT_THAT(means(2, {}, &adds), ElementsAre(1.5, DoubleNear(2.5, 1e-9)));
  EXPECT_THAT(means(2, {.isCausal = true}, &adds), ElementsAre(1, 2));
}

/// What two queries that prefer the first key see of the values 1 2 4 8, in `type`.
std::vector<double> seen(DataType type, const Tensor &mask) {
  ThreadPool threads(1);
  const auto in = [&](const Tensor &tensor) { return convert(tensor, type); };
  const Tensor query = in(Tensor::of<double>({1, 1, 2, 1}, {5, 5}));
  const Tensor key = in(Tensor::of<double>({1, 1, 4, 1}, {1, 0, 0, -1}));
  const Tensor value = in(Tensor::of<double>({1, 1, 4, 1}, {1, 2, 4, 8}));
  const Tensor added = in(mask);
  Tensor output(type, {1, 1, 2, 1});
  attention({&query, &key, &value, &added, nullptr, nullptr, nullptr}, {},
            {&output, nullptr, nullptr, nullptr}, threads);
  return doubles(output);
}

TEST(AttentionTest, TheLowestNumberIsAddedLikeOthers) {
  // Sums with it are all the same, so it hides keys beside others, and none where it is everywhere:
  // by the definition of ONNX, where only -inf leaves 0.
  for (const auto &[type, low] :
       {std::pair(DataType::F32, -double(FLT_MAX)), std::pair(DataType::F64, -DBL_MAX),
        std::pair(DataType::F16, -65504.0)}) {
    const Tensor partly = Tensor::of<double>({2, 4}, {low, 0, low, low, low, low, low, low});
    EXPECT_THAT(seen(type, partly), ElementsAre(2, 3.75));
    const Tensor none = Tensor::of<double>({2, 4}, {low, 0, low, low, -kInf, -kInf, -kInf, -kInf});
    EXPECT_THAT(seen(type, none), ElementsAre(2, 0));
  }
}

TEST(AttentionTest, LengthsEndTheKeysAndPlaceTheQueries) {
  Tensor three = Tensor::of<int64_t>({1}, {3});
  EXPECT_THAT(means(1, {}, nullptr, &three), ElementsAre(DoubleNear(7 / 3.0, 1e-9)));
  EXPECT_THAT(means(2, {.isCausal = true}, nullptr, &three),
              ElementsAre(1.5, DoubleNear(7 / 3.0, 1e-9)));
  // More queries than keys: the first see none.
  Tensor one = Tensor::of<int64_t>({1}, {1});
  EXPECT_THAT(means(3, {.isCausal = true}, nullptr, &one), ElementsAre(0, 0, 1));
}

TEST(AttentionTest, PastKeysComeFirst) {
  Tensor pastKey(DataType::F64, {1, 1, 3, 2});
  Tensor pastValue = Tensor::of<double>({1, 1, 3, 1}, {1, 2, 4});
  EXPECT_THAT(means(1, {.isCausal = true}, nullptr, nullptr, &pastKey, &pastValue),
              ElementsAre(3.75));
  EXPECT_THAT(means(1, {.leftWindow = 1}, nullptr, nullptr, &pastKey, &pastValue), ElementsAre(6));
}

TEST(AttentionTest, PresentIsPastAndNew) {
  ThreadPool threads(1);
  Tensor query(DataType::F32, {1, 1, 4});
  Tensor key = Tensor::of<float>({1, 1, 4}, {5, 6, 7, 8});
  Tensor past = Tensor::of<float>({1, 2, 1, 2}, {1, 2, 3, 4});
  Tensor output(DataType::F32, {1, 1, 4});
  Tensor presentKey(DataType::F32, {1, 2, 2, 2}), presentValue(DataType::F32, {1, 2, 2, 2});
  attention({&query, &key, &key, nullptr, &past, &past, nullptr},
            {.queryHeads = 2, .keyHeads = 2, .scale = 9.0},
            {&output, &presentKey, &presentValue, nullptr}, threads);
  EXPECT_THAT(doubles(presentKey), ElementsAre(1, 2, 5, 6, 3, 4, 7, 8));
  EXPECT_THAT(doubles(presentValue), doubles(presentKey));
  EXPECT_THAT(doubles(output), ElementsAre(3, 4, 5, 6));
}

/// The scores of one query 2 on keys 1 and -1, scaled by 4, in the stage that is asked for.
std::vector<double> scores(AttentionScores stage, double softcap) {
  ThreadPool threads(1);
  Tensor query = Tensor::of<double>({1, 1, 1, 1}, {2});
  Tensor key = Tensor::of<double>({1, 1, 2, 1}, {1, -1});
  Tensor mask = Tensor::of<double>({1, 2}, {0.5, 1});
  Tensor output(DataType::F64, {1, 1, 1, 1}), result(DataType::F64, {1, 1, 1, 2});
  attention({&query, &key, &key, &mask, nullptr, nullptr, nullptr},
            {.scale = 4.0, .softcap = softcap, .scores = stage},
            {&output, nullptr, nullptr, &result}, threads);
  return doubles(result);
}

TEST(AttentionTest, ShowsItsScores) {
  EXPECT_THAT(scores(AttentionScores::Product, 2), ElementsAre(8, -8));
  double capped = 2 * std::tanh(4.0);
  EXPECT_THAT(scores(AttentionScores::Capped, 2), ElementsAre(capped, -capped));
  EXPECT_THAT(scores(AttentionScores::Capped, 0), ElementsAre(8, -8));
  EXPECT_THAT(scores(AttentionScores::Biased, 2), ElementsAre(capped + 0.5, -capped + 1));
  double other = std::exp(-16 + 0.5);
  EXPECT_THAT(
      scores(AttentionScores::Softmax, 0),
      ElementsAre(DoubleNear(1 / (1 + other), 1e-12), DoubleNear(other / (1 + other), 1e-12)));
}

// Three heads of queries share one of keys; heads beside each other are the same as in a dimension.
TEST(AttentionTest, HeadsShareKeys) {
  ThreadPool threads(2);
  std::vector<float> numbers(2 * 6 * 2 * 3);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = std::sin(static_cast<float>(i));
  // [B, S, H, D] and [B, H, S, D].
  Tensor packed = Tensor::of<float>({2, 2, 18}, std::span<const float>(numbers));
  Tensor split(DataType::F32, {2, 6, 2, 3});
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t s = 0; s < 2; ++s)
      for (int64_t h = 0; h < 6; ++h)
        for (int64_t d = 0; d < 3; ++d)
          split.mutableData<float>()[((b * 6 + h) * 2 + s) * 3 + d] =
              numbers[((b * 2 + s) * 6 + h) * 3 + d];
  Tensor packedKey = Tensor::of<float>({2, 1, 6}, std::span<const float>(numbers).first(12));
  Tensor splitKey = packedKey.reshaped({2, 2, 1, 3});
  Tensor packedOutput(DataType::F32, {2, 2, 18}), splitOutput(DataType::F32, {2, 6, 2, 3});
  attention({&packed, &packedKey, &packedKey, nullptr, nullptr, nullptr, nullptr},
            {.queryHeads = 6, .keyHeads = 2}, {&packedOutput, nullptr, nullptr, nullptr}, threads);
  attention({&split, &splitKey, &splitKey, nullptr, nullptr, nullptr, nullptr}, {},
            {&splitOutput, nullptr, nullptr, nullptr}, threads);
  // There is one key, so each head is the value of its group.
  for (int64_t h = 0; h < 6; ++h)
    for (int64_t d = 0; d < 3; ++d) {
      EXPECT_EQ(splitOutput.data<float>()[h * 6 + d], numbers[h / 3 * 3 + d]);
      EXPECT_EQ(packedOutput.data<float>()[h * 3 + d], numbers[h / 3 * 3 + d]);
    }
}

Tensor waves(DataType type, Shape shape, double phase) {
  Tensor tensor(DataType::F64, shape);
  for (int64_t i = 0; i < tensor.numElements(); ++i)
    tensor.mutableData<double>()[i] = 2 * std::sin(phase + 1.7 * static_cast<double>(i));
  return convert(tensor, type);
}

/// Four heads of 50 queries on two heads of 37 keys, in `type`.
std::vector<double> waveAttention(DataType type, const AttentionParams &params, const Tensor *mask,
                                  const Tensor *lengths) {
  ThreadPool threads(2);
  bool isPacked = params.queryHeads > 0;
  Tensor query = waves(type, isPacked ? Shape{2, 50, 4 * 19} : Shape{2, 4, 50, 19}, 0);
  Tensor key = waves(type, isPacked ? Shape{2, 37, 2 * 19} : Shape{2, 2, 37, 19}, 1);
  Tensor value = waves(type, isPacked ? Shape{2, 37, 2 * 21} : Shape{2, 2, 37, 21}, 2);
  Tensor output(type, isPacked ? Shape{2, 50, 4 * 21} : Shape{2, 4, 50, 21});
  attention({&query, &key, &value, mask, nullptr, nullptr, lengths}, params,
            {&output, nullptr, nullptr, nullptr}, threads);
  return doubles(output);
}

// f32 has a way of its own, f64 goes step by step.
TEST(AttentionTest, PiecesGiveTheSame) {
  Tensor adds = waves(DataType::F32, {2, 4, 50, 37}, 3);
  Tensor perQuery = waves(DataType::F32, {50, 37}, 4);
  Tensor perSample = waves(DataType::F32, {2, 1, 1, 30}, 5);
  Tensor hides = truths({1, 37}, std::vector<int>(37, 0));
  hides.mutableData<uint8_t>()[3] = 1;
  hides.mutableData<uint8_t>()[20] = 1;
  Tensor hidesAll = truths({1, 1}, {0});
  Tensor lengths = Tensor::of<int64_t>({2}, {36, 5});
  AttentionParams packed{.queryHeads = 4, .keyHeads = 2, .scale = 0.3};
  AttentionParams causal{.isCausal = true};
  AttentionParams window{.leftWindow = 4, .rightWindow = 2};
  for (const AttentionParams &params : {AttentionParams{}, packed, causal, window})
    for (const Tensor *mask : std::initializer_list<const Tensor *>{nullptr, &adds, &perQuery,
                                                                    &perSample, &hides, &hidesAll})
      for (const Tensor *length : std::initializer_list<const Tensor *>{nullptr, &lengths})
        EXPECT_THAT(
            waveAttention(DataType::F32, params, mask, length),
            Pointwise(DoubleNear(2e-5), waveAttention(DataType::F64, params, mask, length)));
}

// In bf16 2 + 1/256 is 2: the product is rounded before the mask is added.
TEST(AttentionTest, RoundsEachStep) {
  ThreadPool threads(1);
  auto bf16 = [](Shape shape, std::initializer_list<float> values) {
    return convert(Tensor::of<float>(shape, values), DataType::BF16);
  };
  Tensor query = bf16({1, 1, 1, 2}, {2, 0.0625});
  Tensor key = bf16({1, 1, 1, 2}, {1, 0.0625});
  Tensor mask = bf16({1, 1}, {-2});
  Tensor output(DataType::BF16, {1, 1, 1, 2}), result(DataType::BF16, {1, 1, 1, 1});
  attention({&query, &key, &key, &mask, nullptr, nullptr, nullptr},
            {.scale = 1.0, .scores = AttentionScores::Biased}, {&output, nullptr, nullptr, &result},
            threads);
  EXPECT_THAT(doubles(result), ElementsAre(0));
}

TEST(RopeTest, TurnsPairs) {
  ThreadPool threads(2);
  // One position by 90 degrees, then by 0; two elements of three pairs stay.
  Tensor input = Tensor::of<float>({1, 2, 6}, {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6});
  Tensor cos = Tensor::of<float>({1, 2, 2}, {0, 0, 1, 1});
  Tensor sin = Tensor::of<float>({1, 2, 2}, {1, 1, 0, 0});
  Tensor output(DataType::F32, {1, 2, 6});
  ASSERT_TRUE(rope(input, cos, sin, nullptr, {false, 1, 4}, output, threads));
  EXPECT_THAT(doubles(output), ElementsAre(-3, -4, 1, 2, 5, 6, 1, 2, 3, 4, 5, 6));
  ASSERT_TRUE(rope(input, cos, sin, nullptr, {true, 1, 4}, output, threads));
  EXPECT_THAT(doubles(output), ElementsAre(-2, 1, -4, 3, 5, 6, 1, 2, 3, 4, 5, 6));
}

TEST(RopeTest, OneSampleOfAnglesIsForAll) {
  ThreadPool threads(1);
  Tensor input = Tensor::of<float>({2, 1, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  Tensor cos = Tensor::of<float>({1, 2, 1}, {1, 0});
  Tensor sin = Tensor::of<float>({1, 2, 1}, {0, 1});
  Tensor output(DataType::F32, {2, 1, 2, 2});
  ASSERT_TRUE(rope(input, cos, sin, nullptr, {}, output, threads));
  EXPECT_THAT(doubles(output), ElementsAre(1, 2, -4, 3, 5, 6, -8, 7));
}

TEST(RopeTest, PositionsNameRows) {
  ThreadPool threads(1);
  Tensor input = Tensor::of<float>({1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  Tensor cos = Tensor::of<float>({3, 1}, {1, 0, -1});
  Tensor sin = Tensor::of<float>({3, 1}, {0, 1, 0});
  Tensor positions = Tensor::of<int64_t>({1, 2}, {2, 1});
  Tensor output(DataType::F32, {1, 2, 2, 2});
  ASSERT_TRUE(rope(input, cos, sin, &positions, {}, output, threads));
  EXPECT_THAT(doubles(output), ElementsAre(-1, -2, -4, 3, -5, -6, -8, 7));
  positions = Tensor::of<int64_t>({1, 2}, {0, 3});
  Expected<void> done = rope(input, cos, sin, &positions, {}, output, threads);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message(), "position 3; expected 0 to 2");
}

/// Two steps of one head with keys and queries of one element and values of two.
struct LinearCase {
  Tensor query = Tensor::of<float>({1, 2, 1}, {2, 1});
  Tensor key = Tensor::of<float>({1, 2, 1}, {1, 3});
  Tensor value = Tensor::of<float>({1, 2, 2}, {1, 2, 3, 4});
  Tensor past = Tensor::of<float>({1, 1, 1, 2}, {10, 20});
  Tensor decay = Tensor::of<float>({1, 2, 1}, {0, std::log(0.5F)});
  Tensor beta = Tensor::of<float>({1, 2, 1}, {0.5F, 1});

  std::vector<double> run(bool hasPast, bool decays, bool hasBeta) {
    ThreadPool threads(1);
    Tensor output(DataType::F32, {1, 2, 2}), state(DataType::F32, {1, 1, 1, 2});
    linearAttention({&query, &key, &value, hasPast ? &past : nullptr, decays ? &decay : nullptr,
                     hasBeta ? &beta : nullptr},
                    1, 1, 1.0, output, &state, threads);
    std::vector<double> all = doubles(output);
    for (double each : doubles(state))
      all.push_back(each);
    return all;
  }
};

TEST(LinearAttentionTest, FollowsItsRule) {
  LinearCase test;
  EXPECT_THAT(test.run(false, false, false), ElementsAre(2, 4, 10, 14, 10, 14));
  EXPECT_THAT(test.run(true, false, false), ElementsAre(22, 44, 20, 34, 20, 34));
  // The state halves before the second step.
  EXPECT_THAT(test.run(true, true, false),
              Pointwise(DoubleNear(1e-5), std::vector<double>{22, 44, 14.5, 23, 14.5, 23}));
  // Half of 1 - 10, then all of 3 - 3 * 5.5.
  EXPECT_THAT(test.run(true, false, true), ElementsAre(11, 22, -35, -76, -35, -76));
}

TEST(CausalConvTest, LooksBack) {
  ThreadPool threads(2);
  Tensor input = Tensor::of<float>({1, 2, 2}, {1, 2, 3, 4});
  Tensor filter = Tensor::of<float>({2, 1, 3}, {1, 10, 100, 0, 0, 1});
  Tensor bias = Tensor::of<float>({2}, {0, -4});
  Tensor past = Tensor::of<float>({1, 2, 2}, {7, 8, 9, 9});
  Tensor output(DataType::F32, {1, 2, 2}), state(DataType::F32, {1, 2, 2});
  causalConv(input, filter, nullptr, nullptr, false, output, &state, threads);
  EXPECT_THAT(doubles(output), ElementsAre(100, 210, 3, 4));
  EXPECT_THAT(doubles(state), ElementsAre(1, 2, 3, 4));
  Tensor one = Tensor::of<float>({1, 2, 1}, {1, 3});
  Tensor last(DataType::F32, {1, 2, 1});
  causalConv(one, filter, &bias, &past, true, last, &state, threads);
  EXPECT_THAT(doubles(last), ElementsAre(187, DoubleNear(-1 / (1 + std::exp(1.0)), 1e-6)));
  EXPECT_THAT(doubles(state), ElementsAre(8, 1, 9, 3));
}

} // namespace
