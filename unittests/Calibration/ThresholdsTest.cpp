//===- ThresholdsTest.cpp -------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Calibration/Thresholds.h"
#include "tpuc/Support/Npz.h"

#include <cmath>
#include <gmock/gmock.h>

using namespace tpuc;

namespace {

// What test/golden/calibration/make_vectors.py writes.
const std::string kGolden = TPUC_GOLDEN_DIR "/vectors.npz";
constexpr int64_t kNumBins = 2048;

class Golden : public testing::TestWithParam<std::string> {
protected:
  Golden() : reader(*NpzReader::open(kGolden)) {
    values = read("");
    TensorRange range;
    range.add(values.data<float>());
    histogram = Histogram(range.absMax(), kNumBins);
    histogram.add(values.data<float>());
  }
  Tensor read(const std::string &what) { return *reader.read(GetParam() + what); }
  double number(const std::string &what) { return read(what).data<double>()[0]; }

  NpzReader reader;
  Tensor values;
  Histogram histogram{1, kNumBins};
};

TEST_P(Golden, HistogramIsNumpys) {
  const Tensor counts = read("_counts");
  EXPECT_THAT(histogram.counts(), testing::ElementsAreArray(counts.data<int64_t>()));
}

TEST_P(Golden, KlIsTheManuals) {
  EXPECT_NEAR(findThreshold(histogram, ThresholdMethod::Kl), number("_kl"),
              1e-12 * histogram.absMax());
}

TEST_P(Golden, PercentileIsNumpys) {
  EXPECT_NEAR(findThreshold(histogram, ThresholdMethod::Percentile), number("_percentile"),
              1e-12 * histogram.absMax());
}

/// The histogram knows values to a bin only: the choice is as good as the best within 3 %.
TEST_P(Golden, MseIsAsGoodAsTheBestOnTheValues) {
  const Tensor errors = read("_mse");
  const auto all = errors.data<double>();
  const double threshold = findThreshold(histogram, ThresholdMethod::Mse);
  const auto index = static_cast<size_t>(std::lround(threshold / histogram.absMax() * 128)) - 1;
  EXPECT_LE(all[index], 1.03 * *std::ranges::min_element(all) + 1e-12) << index;
}

TEST_P(Golden, AllAreAboveZeroAndAtMostTheLargest) {
  for (size_t method = 0; method < kThresholdMethodNames.size(); ++method) {
    const double threshold = findThreshold(histogram, static_cast<ThresholdMethod>(method));
    EXPECT_GT(threshold, 0) << kThresholdMethodNames[method];
    EXPECT_LE(threshold, histogram.absMax()) << kThresholdMethodNames[method];
  }
}

INSTANTIATE_TEST_SUITE_P(Distributions, Golden,
                         testing::Values("normal", "relu", "laplace", "outliers", "two_values",
                                         "uniform"),
                         [](const auto &info) { return info.param; });

TEST(Thresholds, CosineOfTheChoiceIsTheHighest) {
  std::vector<float> values;
  for (int i = 1; i < 4000; ++i)
    values.push_back(static_cast<float>(std::sin(i) * std::exp(-i % 97 / 20.0)));
  values.push_back(12);
  Histogram histogram(12, kNumBins);
  histogram.add(values);
  auto cosine = [&](double threshold) {
    std::vector<float> rounded(values.size());
    fakeQuantize(values, threshold, rounded);
    double ab = 0;
    double bb = 0;
    double aa = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      ab += double(values[i]) * double(rounded[i]);
      aa += double(values[i]) * double(values[i]);
      bb += double(rounded[i]) * double(rounded[i]);
    }
    return ab / std::sqrt(aa * bb);
  };
  double best = 0;
  for (int i = 1; i <= 128; ++i)
    best = std::max(best, cosine(12.0 * i / 128));
  EXPECT_GE(cosine(findThreshold(histogram, ThresholdMethod::Cosine)), best - 1e-4);
}

/// The factors are where the expected squared error of each distribution has its minimum.
TEST(Thresholds, AciqMinimizesTheExpectedError) {
  const auto gauss = [](double a, double cells) {
    return (1 + a * a) * std::erfc(a / std::sqrt(2)) -
           std::sqrt(2 / M_PI) * a * std::exp(-a * a / 2) + a * a / cells;
  };
  const auto laplace = [](double a, double cells) { return 2 * std::exp(-a) + a * a / cells; };
  for (DataType type : {DataType::I4, DataType::I8, DataType::I16}) {
    const double cells = 3 * std::pow(4.0, bitWidth(type));
    // Mean magnitude 1, mean square 1.
    Histogram histogram(64, 2048);
    histogram.add(std::vector<float>(64, 1.0F));
    const double g = findThreshold(histogram, ThresholdMethod::AciqGauss, type);
    const double l = findThreshold(histogram, ThresholdMethod::AciqLaplace, type);
    EXPECT_DOUBLE_EQ(g, aciqFactor(ThresholdMethod::AciqGauss, type));
    for (double step : {-0.05, 0.05}) {
      EXPECT_LT(gauss(g, cells), gauss(g + step, cells)) << dataTypeName(type);
      EXPECT_LT(laplace(l, cells), laplace(l + step, cells)) << dataTypeName(type);
    }
  }
}

/// Of an exponential distribution, fewer levels cut off more, and 16 bits nothing.
TEST(Thresholds, FollowTheLevelsOfTheType) {
  EXPECT_EQ(numHistogramLevels(DataType::I4), 8);
  EXPECT_EQ(numHistogramLevels(DataType::I8), 128);
  EXPECT_EQ(numHistogramLevels(DataType::I16), 2048);
  std::vector<float> values;
  for (int i = 1; i < 20000; ++i)
    values.push_back(static_cast<float>(-std::log(i / 20000.0)));
  TensorRange range;
  range.add(values);
  Histogram histogram(range.absMax(), kNumBins);
  histogram.add(values);
  for (ThresholdMethod method : {ThresholdMethod::Kl, ThresholdMethod::Mse})
    EXPECT_DOUBLE_EQ(findThreshold(histogram, method, DataType::I16), histogram.absMax());
  const double narrow = findThreshold(histogram, ThresholdMethod::Mse, DataType::I4);
  const double wide = findThreshold(histogram, ThresholdMethod::Mse, DataType::I8);
  EXPECT_LT(narrow, wide);
  EXPECT_LT(roundingError(histogram, narrow, DataType::I4),
            roundingError(histogram, wide, DataType::I4));
  EXPECT_GT(roundingError(histogram, narrow), roundingError(histogram, wide));
  EXPECT_GT(roundingError(histogram, histogram.absMax(), DataType::I4),
            200 * roundingError(histogram, histogram.absMax(), DataType::I8));
}

TEST(Thresholds, IsOneWhereAllIsZero) {
  Histogram histogram(0, 128);
  histogram.add(std::vector<float>(9));
  for (size_t method = 0; method < kThresholdMethodNames.size(); ++method)
    EXPECT_EQ(findThreshold(histogram, static_cast<ThresholdMethod>(method)), 1);
}

TEST(FakeQuantize, RoundsAndClips) {
  std::vector<float> result(6);
  fakeQuantize(std::vector<float>{0.4F, 0.6F, -0.6F, 200, -200, 127}, 128, result);
  EXPECT_THAT(result, testing::ElementsAre(0, 1, -1, 127, -128, 127));
  fakeQuantize(std::vector<float>{0.4F, 0.6F, -0.6F, 200, -200, 7}, 8, result, DataType::I4);
  EXPECT_THAT(result, testing::ElementsAre(0, 1, -1, 7, -8, 7));
  fakeQuantize(std::vector<float>{0.4F, 0.6F, -0.6F, 200, -200, 32768}, 32768, result,
               DataType::I16);
  EXPECT_THAT(result, testing::ElementsAre(0, 1, -1, 200, -200, 32767));
}

} // namespace
