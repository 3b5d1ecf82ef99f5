//===- CalibrateTest.cpp --------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Calibration/Calibrate.h"
#include "tpuc/Calibration/ConsumerErrors.h"
#include "tpuc/Dialect/Top/TopDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <gmock/gmock.h>
#include <numeric>
#include <random>

using namespace tpuc;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

// A product with a weight, its ReLU, and a sum of that with itself; an index that is no float.
constexpr const char *kNetwork = R"(
  func.func @main(%0: tensor<4x8xf32>) -> (tensor<4x6xf32>, tensor<4x1xi64>) {
    %n = "top.None"() : () -> none
    %1 = "top.Input"(%0) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("x")
    %2 = "top.Weight"() : () -> tensor<8x6xf32> loc("w")
    %3 = "top.MatMul"(%1, %2, %n) : (tensor<4x8xf32>, tensor<8x6xf32>, none) -> tensor<4x6xf32> loc("product")
    %4 = "top.Relu"(%3) : (tensor<4x6xf32>) -> tensor<4x6xf32> loc("relu")
    %5 = "top.Add"(%4, %3) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32> loc("sum")
    %6, %7 = "top.Arg"(%5) {axis = 1, mode = "ArgMax"} : (tensor<4x6xf32>) -> (tensor<4x1xi64>, none) loc("index")
    return %5, %6 : tensor<4x6xf32>, tensor<4x1xi64>
  })";

class CalibrateTest : public testing::Test {
protected:
  CalibrateTest() : context(mlir::MLIRContext::Threading::DISABLED) {
    context.loadDialect<mlir::func::FuncDialect, top::TopDialect>();
    registerEvaluators(context);
    module = mlir::parseSourceString<mlir::ModuleOp>(kNetwork, &context);
    auto store = context.getLoadedDialect<top::TopDialect>()->weights(*module);
    (*store)->set("w", random({8, 6}, 99));
    for (unsigned i = 0; i < 12; ++i)
      samples.push_back(random({4, 8}, i));
  }

  /// Sums of uniform numbers, one of them far from the others.
  static Tensor random(const Shape &shape, unsigned seed) {
    std::mt19937 generator(seed);
    Tensor tensor(DataType::F32, shape);
    for (float &value : tensor.mutableData<float>())
      value = static_cast<float>(generator() % 2001) / 1000.0F - 1.0F;
    tensor.mutableData<float>()[seed % 8] *= 5;
    return tensor;
  }

  std::unique_ptr<SampleRunner> makeRunner(unsigned numThreads) {
    SampleSource source;
    source.count = std::ssize(samples);
    source.name = [](int64_t sample) { return "s" + std::to_string(sample); };
    reads.resize(samples.size(), 0);
    source.read = [this](int64_t sample) -> Expected<TensorMap> {
      ++reads[size_t(sample)];
      return TensorMap{{"x", samples[size_t(sample)]}};
    };
    auto runner = SampleRunner::create(*module, std::move(source), numThreads);
    EXPECT_TRUE(runner) << runner.error().message();
    return std::move(*runner);
  }
  static std::vector<int64_t> firstSamples(int64_t count) {
    std::vector<int64_t> numbers(static_cast<size_t>(count));
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
  }
  Expected<std::vector<CalibratedTensor>> run(CalibrationOptions options, unsigned numThreads = 1) {
    auto runner = makeRunner(numThreads);
    return calibrate(*module, *runner, options);
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<Tensor> samples;
  /// How often each was read; only with one thread.
  std::vector<int> reads;
};

std::vector<std::string> namesOf(const std::vector<CalibratedTensor> &tensors) {
  std::vector<std::string> names;
  for (const CalibratedTensor &tensor : tensors)
    names.push_back(tensor.name);
  return names;
}

TEST_F(CalibrateTest, MaxIsTheRangeOfAllSamples) {
  auto tensors = run({.method = ThresholdMethod::Max});
  ASSERT_TRUE(tensors) << tensors.error().message();
  EXPECT_THAT(namesOf(*tensors), ElementsAre("x", "product", "relu", "sum"));
  float low = 0;
  float high = 0;
  for (const Tensor &sample : samples)
    for (float value : sample.data<float>()) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  EXPECT_EQ((*tensors)[0].range.min(), low);
  EXPECT_EQ((*tensors)[0].range.max(), high);
  EXPECT_EQ((*tensors)[0].threshold, std::max(-low, high));
  EXPECT_EQ((*tensors)[2].range.min(), 0);
  EXPECT_EQ((*tensors)[2].range.max(), (*tensors)[1].range.max());
}

TEST_F(CalibrateTest, IsTheSameWithAnyNumberOfThreads) {
  for (std::optional<ThresholdMethod> method :
       {std::optional(ThresholdMethod::Kl), std::optional(ThresholdMethod::AciqLaplace),
        std::optional<ThresholdMethod>()}) {
    auto first = run({.method = method, .tuneNum = 7});
    ASSERT_TRUE(first) << first.error().message();
    for (unsigned threads : {2U, 5U}) {
      auto other = run({.method = method, .tuneNum = 7}, threads);
      ASSERT_TRUE(other) << other.error().message();
      for (size_t i = 0; i < first->size(); ++i) {
        EXPECT_EQ((*first)[i].range, (*other)[i].range);
        EXPECT_EQ((*first)[i].threshold, (*other)[i].threshold) << (*first)[i].name;
        EXPECT_EQ((*first)[i].method, (*other)[i].method);
      }
    }
  }
}

TEST_F(CalibrateTest, StatisticsOfPartsCombineToThoseOfAll) {
  auto runner = makeRunner(2);
  StatisticsPass pass(*calibratedNames(*module), *runner);
  const auto all = *pass.ranges(0, 12);
  auto merged = *pass.ranges(9, 12);
  const std::vector<std::pair<int, int>> parts = {{0, 2}, {2, 9}};
  for (auto [begin, end] : parts) {
    const auto part = *pass.ranges(begin, end);
    for (size_t i = 0; i < all.size(); ++i)
      merged[i].merge(part[i]);
  }
  EXPECT_EQ(merged, all);
  const auto histograms = *pass.histograms(all, 256, 0, 12);
  auto mergedHistograms = *pass.histograms(all, 256, 2, 9);
  const std::vector<std::pair<int, int>> rest = {{9, 12}, {0, 2}};
  for (auto [begin, end] : rest) {
    const auto part = *pass.histograms(all, 256, begin, end);
    for (size_t i = 0; i < all.size(); ++i)
      mergedHistograms[i].merge(part[i]);
  }
  EXPECT_EQ(mergedHistograms, histograms);
}

TEST_F(CalibrateTest, FindsTheFiguresOfWhatProductsRead) {
  auto tensors = run({.method = ThresholdMethod::Max});
  ASSERT_TRUE(tensors);
  std::vector<double> means(8, 0);
  std::vector<float> lowest(8, 1e9F);
  std::vector<float> highest(8, -1e9F);
  for (const Tensor &sample : samples)
    for (size_t i = 0; i < 32; ++i) {
      const float value = sample.data<float>()[i];
      means[i % 8] += double(value) / (4.0 * double(samples.size()));
      lowest[i % 8] = std::min(lowest[i % 8], value);
      highest[i % 8] = std::max(highest[i % 8], value);
    }
  EXPECT_EQ((*tensors)[0].channels.lowest, lowest);
  EXPECT_EQ((*tensors)[0].channels.highest, highest);
  ASSERT_EQ((*tensors)[0].channels.means.size(), 8U);
  for (size_t channel = 0; channel < 8; ++channel)
    EXPECT_NEAR((*tensors)[0].channels.means[channel], means[channel], 1e-6);
  ASSERT_EQ((*tensors)[0].channels.covariances.size(), 36U);
  for (size_t c = 0; c < 8; ++c)
    for (size_t d = 0; d <= c; ++d) {
      double covariance = 0;
      for (const Tensor &sample : samples)
        for (size_t row = 0; row < 32; row += 8)
          covariance += (double(sample.data<float>()[row + c]) - means[c]) *
                        (double(sample.data<float>()[row + d]) - means[d]) /
                        (4.0 * double(samples.size()));
      EXPECT_NEAR((*tensors)[0].channels.covariances[pairIndex(c, d)], covariance, 1e-5);
    }
  // Nobody else is multiplied with a filter.
  for (size_t i = 1; i < tensors->size(); ++i)
    EXPECT_TRUE((*tensors)[i].channels.means.empty()) << (*tensors)[i].name;
}

TEST_F(CalibrateTest, ChannelsOfPartsCombineToThoseOfAll) {
  ChannelStatistics whole(*module);
  ChannelStatistics last(*module);
  ChannelStatistics first(*module);
  for (size_t i = 0; i < samples.size(); ++i) {
    whole.add("x", samples[i]);
    (i < 5 ? first : last).add("x", samples[i]);
  }
  last.merge(first);
  EXPECT_EQ(last.of("x"), whole.of("x"));
  EXPECT_FALSE(last.of("x").means.empty());
  EXPECT_FALSE(last.of("x").covariances.empty());
  EXPECT_TRUE(last.of("relu").means.empty());
}

/// Channels with runs of 11 elements, some of which are far from 0.
TEST_F(CalibrateTest, FindsTheFiguresOfPictures) {
  auto pictures = mlir::parseSourceString<mlir::ModuleOp>(R"(
    func.func @main(%0: tensor<1x3x1x11xf32>) -> tensor<1x1x1x11xf32> {
      %n = "top.None"() : () -> none
      %1 = "top.Input"(%0) : (tensor<1x3x1x11xf32>) -> tensor<1x3x1x11xf32> loc("x")
      %2 = "top.Weight"() : () -> tensor<1x3x1x1xf32> loc("w")
      %3 = "top.Conv"(%1, %2, %n) {kernel_shape = [1, 1]} : (tensor<1x3x1x11xf32>, tensor<1x3x1x1xf32>, none) -> tensor<1x1x1x11xf32> loc("c")
      return %3 : tensor<1x1x1x11xf32>
    })",
                                                          &context);
  const Tensor values = random({3, 11}, 5);
  Tensor sample(DataType::F32, {1, 3, 1, 11});
  constexpr std::array<float, 3> kSizes = {0.01F, 1, 1000};
  std::array<double, 3> means = {};
  for (size_t i = 0; i < 33; ++i) {
    sample.mutableData<float>()[i] = values.data<float>()[i] * kSizes[i / 11] + kSizes[i / 11];
    means[i / 11] += double(sample.data<float>()[i]) / 11;
  }
  ChannelStatistics statistics(*pictures);
  statistics.add("x", sample);
  const ChannelFigures figures = statistics.of("x");
  ASSERT_EQ(figures.means.size(), 3U);
  ASSERT_EQ(figures.covariances.size(), 6U);
  for (size_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(figures.means[c], means[c], 1e-6 * double(kSizes[c]));
    for (size_t d = 0; d <= c; ++d) {
      double covariance = 0;
      for (size_t i = 0; i < 11; ++i)
        covariance += (double(sample.data<float>()[11 * c + i]) - means[c]) *
                      (double(sample.data<float>()[11 * d + i]) - means[d]) / 11;
      EXPECT_NEAR(figures.covariances[pairIndex(c, d)], covariance,
                  1e-6 * double(kSizes[c] * kSizes[d]));
    }
  }
}

TEST_F(CalibrateTest, TuningNeverLowersKl) {
  for (unsigned i = 12; i < 400; ++i)
    samples.push_back(random({4, 8}, i));
  auto plain = run({.method = ThresholdMethod::Kl, .numBins = 512, .tuneNum = 0});
  auto tuned = run({.method = ThresholdMethod::Kl, .numBins = 512, .tuneNum = 12});
  ASSERT_TRUE(plain && tuned);
  bool isHigher = false;
  for (size_t i = 0; i < plain->size(); ++i) {
    EXPECT_GE((*tuned)[i].threshold, (*plain)[i].threshold);
    EXPECT_LE((*tuned)[i].threshold, (*tuned)[i].range.absMax() * (1 + 1e-12));
    isHigher |= (*tuned)[i].threshold > (*plain)[i].threshold;
  }
  EXPECT_TRUE(isHigher);
}

/// |x - y|^2 / |y|^2 of the sum, whose operand `relu` alone is rounded.
TEST_F(CalibrateTest, MeasuresWhatConsumersCompute) {
  samples.resize(1);
  auto runner = makeRunner(1);
  const std::vector<ThresholdCandidates> candidates = {{"relu", {0.5, 2.0}}, {"x", {1.0}}};
  auto errors = measureConsumers(*module, *runner, firstSamples(1), candidates);
  ASSERT_TRUE(errors) << errors.error().message();
  auto interpreter = Interpreter::create(*module, {.numThreads = 1, .keepAll = true});
  const TensorMap tensors = *(*interpreter)->run(TensorMap{{"x", samples[0]}});
  const auto relu = tensors.at("relu").data<float>();
  const auto sum = tensors.at("sum").data<float>();
  std::vector<double> expected;
  for (double threshold : candidates[0].thresholds) {
    std::vector<float> rounded(relu.size());
    fakeQuantize(relu, threshold, rounded);
    double error = 0;
    double norm = 0;
    for (size_t i = 0; i < relu.size(); ++i) {
      error += std::pow(double(rounded[i]) - double(relu[i]), 2);
      norm += std::pow(double(sum[i]), 2);
    }
    expected.push_back(error / norm);
  }
  ASSERT_EQ((*errors)[0].relative.size(), 1u);
  EXPECT_THAT((*errors)[0].relative[0], ElementsAre(testing::DoubleNear(expected[0], 1e-6),
                                                    testing::DoubleNear(expected[1], 1e-6)));
  EXPECT_TRUE((*errors)[1].relative.empty());
}

TEST_F(CalibrateTest, AutoIsTheBestOfAllMethods) {
  auto chosen = run({.method = std::nullopt, .tuneNum = 12});
  ASSERT_TRUE(chosen) << chosen.error().message();
  auto runner = makeRunner(1);
  for (size_t method = 0; method < kThresholdMethodNames.size(); ++method) {
    auto other = run({.method = static_cast<ThresholdMethod>(method), .tuneNum = 0});
    std::vector<ThresholdCandidates> candidates;
    for (size_t i = 0; i < chosen->size(); ++i)
      candidates.push_back({(*chosen)[i].name, {(*chosen)[i].threshold, (*other)[i].threshold}});
    auto errors = measureConsumers(*module, *runner, firstSamples(12), candidates);
    ASSERT_TRUE(errors) << errors.error().message();
    for (size_t i = 0; i < chosen->size(); ++i) {
      double difference = 0;
      for (const auto &relative : (*errors)[i].relative)
        difference += relative[1] - relative[0];
      EXPECT_GE(difference, 0) << (*chosen)[i].name << " " << kThresholdMethodNames[method];
    }
  }
}

TEST_F(CalibrateTest, ChoosesSamplesThatHoldExtremes) {
  std::vector<Extremes> tensors(4);
  for (int64_t sample = 0; sample < 8; ++sample)
    for (size_t tensor = 0; tensor < tensors.size(); ++tensor) {
      const std::vector<int64_t> holders = {6, 5, 6, 1};
      const float magnitude = sample == holders[tensor] ? 9 : 1;
      TensorRange range;
      // One holds its largest magnitude below 0.
      range.add(std::array{tensor == 2 ? -magnitude : magnitude});
      tensors[tensor].add(range, sample);
    }
  EXPECT_EQ(tensors[2].sample(), 6);
  EXPECT_THAT(samplesWithExtremes(tensors, 8, 4), ElementsAre(0, 1, 5, 6));
  EXPECT_THAT(samplesWithExtremes(tensors, 8, 3), ElementsAre(0, 1, 6));
  EXPECT_THAT(samplesWithExtremes(tensors, 8, 1), ElementsAre(0));
  EXPECT_THAT(samplesWithExtremes(tensors, 2, 10), ElementsAre(0, 1));
}

/// Every sample is read for ranges and for histograms, and those that choose once more.
TEST_F(CalibrateTest, AutoAsksTheSampleOfExtremes) {
  for (float &value : samples[9].mutableData<float>())
    value *= 12;
  ASSERT_TRUE(run({.method = std::nullopt, .tuneNum = 2}));
  EXPECT_THAT(reads, ElementsAre(3, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 2));
  // Kl is tuned on the first ones.
  reads.assign(samples.size(), 0);
  ASSERT_TRUE(run({.method = ThresholdMethod::Kl, .tuneNum = 2}));
  EXPECT_THAT(reads, ElementsAre(3, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2));
}

/// Fewer bits disturb readers more, and thresholds are found for the bits that are asked for.
TEST_F(CalibrateTest, FollowsTheIntegersOfTheScheme) {
  const QuantScheme w4a4 = {DataType::I4, DataType::I4, DataType::I32, Granularity::PerChannel};
  const QuantScheme w8a16 = {DataType::I8, DataType::I16, DataType::I64, Granularity::PerChannel};
  auto narrow = run({.method = ThresholdMethod::Mse, .tuneNum = 0, .scheme = w4a4});
  auto bytes = run({.method = ThresholdMethod::Mse, .tuneNum = 0});
  auto wide = run({.method = ThresholdMethod::Mse, .tuneNum = 0, .scheme = w8a16});
  ASSERT_TRUE(narrow && bytes && wide);
  for (size_t i = 0; i < bytes->size(); ++i) {
    EXPECT_LT((*narrow)[i].threshold, (*bytes)[i].threshold) << (*bytes)[i].name;
    EXPECT_LE((*bytes)[i].threshold, (*wide)[i].threshold) << (*bytes)[i].name;
  }
  auto runner = makeRunner(1);
  const std::vector<ThresholdCandidates> candidates = {{"x", {5.0, 4.0}}};
  std::vector<double> errors;
  for (const QuantScheme &scheme : {w4a4, schemes::kInt8, w8a16}) {
    auto measured = measureConsumers(*module, *runner, firstSamples(12), candidates, scheme);
    ASSERT_TRUE(measured) << measured.error().message();
    errors.push_back((*measured)[0].relative[0][0]);
  }
  EXPECT_GT(errors[0], 20 * errors[1]);
  EXPECT_GT(errors[1], errors[2]);
}

TEST_F(CalibrateTest, NamesTheFirstBadSample) {
  samples[9] = Tensor::of<float>({1}, {0});
  samples[4].mutableData<float>()[3] = std::numeric_limits<float>::quiet_NaN();
  for (unsigned threads : {1U, 4U}) {
    auto tensors = run({.method = ThresholdMethod::Max}, threads);
    ASSERT_FALSE(tensors);
    EXPECT_THAT(tensors.error().message(),
                HasSubstr("s4: input 'x' holds nan; expected finite values"));
  }
}

TEST(FakeQuantizeWeight, HasAScaleForEachChannel) {
  const Tensor weight = Tensor::of<float>({2, 2}, {127, 0.6F, 1.27F, 0.006F});
  auto rows = fakeQuantizeWeight(weight, 0);
  EXPECT_THAT(rows.data<float>(),
              testing::Pointwise(testing::FloatNear(1e-6F), {127.0F, 1.0F, 1.27F, 0.01F}));
  QuantScheme scheme = schemes::kInt8;
  scheme.granularity = Granularity::PerTensor;
  EXPECT_THAT(fakeQuantizeWeight(weight, 0, scheme).data<float>(),
              testing::ElementsAre(127, 1, 1, 0));
  scheme = {DataType::I4, DataType::I8, DataType::I32, Granularity::PerChannel};
  EXPECT_THAT(fakeQuantizeWeight(Tensor::of<float>({2, 2}, {7, 2.6F, 1.4F, 0.31F}), 0, scheme)
                  .data<float>(),
              testing::Pointwise(testing::FloatNear(1e-6F), {7.0F, 3.0F, 1.4F, 0.4F}));
  auto columns = fakeQuantizeWeight(weight, 1);
  EXPECT_THAT(columns.data<float>(),
              testing::Pointwise(testing::FloatNear(1e-6F), {127.0F, 0.6F, 1.0F, 0.6F / 127}));
}

} // namespace
