//===- Thresholds.cpp - Where a tensor is clipped for 8 bits --------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Calibration/Thresholds.h"

#include <algorithm>
#include <cassert>
#include <cmath>

using namespace tpuc;

namespace {

//===----------------------------------------------------------------------===//
// Kullback-Leibler divergence (manual 7.3.1)
//===----------------------------------------------------------------------===//

/// The divergence of the first `cut` bins, with all above in the last of them, from what is left
/// of them at kNumLevels levels; infinite where a level without counts would have to hold some.
double divergence(std::span<const int64_t> bins, size_t cut) {
  int64_t inside = 0;
  for (size_t bin = 0; bin < cut; ++bin)
    inside += bins[bin];
  int64_t outliers = 0;
  for (size_t bin = cut; bin < bins.size(); ++bin)
    outliers += bins[bin];
  if (inside == 0)
    return std::numeric_limits<double>::infinity();
  const auto total = double(inside + outliers);
  const size_t width = cut / kNumLevels;
  double sum = 0;
  for (size_t begin = 0; begin < cut; begin += width) {
    // A level's counts are spread evenly over those of its bins that are not empty.
    int64_t inLevel = 0;
    int64_t occupied = 0;
    auto reference = [&](size_t bin) { return bins[bin] + (bin + 1 == cut ? outliers : 0); };
    for (size_t bin = begin; bin < begin + width; ++bin) {
      inLevel += bins[bin];
      occupied += reference(bin) > 0;
    }
    const double spread = occupied > 0 ? double(inLevel) / double(occupied) / double(inside) : 0;
    for (size_t bin = begin; bin < begin + width; ++bin) {
      if (reference(bin) == 0)
        continue;
      const double share = double(reference(bin)) / total;
      sum +=
          spread > 0 ? share * std::log(share / spread) : std::numeric_limits<double>::infinity();
    }
  }
  return sum;
}

double klThreshold(const Histogram &histogram) {
  const std::span<const int64_t> bins = histogram.counts();
  size_t best = bins.size();
  double least = std::numeric_limits<double>::infinity();
  for (size_t cut = kNumLevels; cut <= bins.size(); cut += kNumLevels)
    if (const double found = divergence(bins, cut); found < least) {
      least = found;
      best = cut;
    }
  return (double(best) + 0.5) * histogram.binWidth();
}

//===----------------------------------------------------------------------===//
// Percentile
//===----------------------------------------------------------------------===//

/// The upper edge of the bin below which 99.99 % of all values lie.
double percentileThreshold(const Histogram &histogram) {
  constexpr double kOutside = 1e-4;
  const std::span<const int64_t> bins = histogram.counts();
  const auto allowed = static_cast<int64_t>(kOutside * double(histogram.numValues()));
  int64_t outside = 0;
  size_t bin = bins.size();
  while (bin > 1 && outside + bins[bin - 1] <= allowed)
    outside += bins[--bin];
  return double(bin) * histogram.binWidth();
}

//===----------------------------------------------------------------------===//
// Errors of rounding and clipping, values within a bin taken as evenly distributed
//===----------------------------------------------------------------------===//

/// Integrals from 0 over magnitudes v of what a quantizer of scale `step` makes of them, Q(v).
class Quantizer {
public:
  explicit Quantizer(double threshold)
      : step(threshold / kNumLevels), top((kNumLevels - 1) * step), clip(top + step / 2) {}

  /// Of (v - Q(v))^2.
  double squaredError(double v) const {
    if (v > clip)
      return squaredError(clip) + (cube(v - top) - cube(clip - top)) / 3;
    const double cell = std::floor(v / step + 0.5);
    const double rest = v - cell * step;
    return cell * cube(step) / 12 + cube(rest) / 3;
  }

  /// Of Q(v)^2.
  double squaredResult(double v) const {
    if (v > clip)
      return squaredResult(clip) + (v - clip) * top * top;
    const double cell = std::floor(v / step + 0.5);
    const double below = (cell - 1) * cell * (2 * cell - 1) / 6;
    return cube(step) * below + cell * cell * step * step * (v - (cell - 0.5) * step);
  }

  static double cube(double x) { return x * x * x; }

private:
  double step, top, clip;
};

/// Sums over the bins of a histogram; each is the integral over a bin times its density.
struct QuantizedSums {
  double error = 0;
  double result = 0;
  double original = 0;
};

QuantizedSums quantizedSums(const Histogram &histogram, double threshold) {
  const Quantizer quantizer(threshold);
  const std::span<const int64_t> bins = histogram.counts();
  const double width = histogram.binWidth();
  QuantizedSums sums;
  double error = 0;
  double result = 0;
  for (size_t bin = 0; bin < bins.size(); ++bin) {
    const double upper = double(bin + 1) * width;
    const double nextError = quantizer.squaredError(upper);
    const double nextResult = quantizer.squaredResult(upper);
    const double density = double(bins[bin]) / width;
    sums.error += density * (nextError - error);
    sums.result += density * (nextResult - result);
    sums.original += density * (Quantizer::cube(upper) - Quantizer::cube(double(bin) * width)) / 3;
    error = nextError;
    result = nextResult;
  }
  return sums;
}

double cosine(const QuantizedSums &sums) {
  const double product = (sums.original + sums.result - sums.error) / 2;
  const double norms = std::sqrt(sums.original * sums.result);
  return norms > 0 ? product / norms : 0;
}

/// Of kNumLevels candidates, the one with the largest `score`, the larger of equals.
template <typename Score> double bestThreshold(const Histogram &histogram, Score score) {
  double best = histogram.absMax();
  double highest = score(quantizedSums(histogram, best));
  for (int64_t i = kNumLevels - 1; i > 0; --i) {
    const double threshold = double(histogram.absMax()) * double(i) / kNumLevels;
    if (const double found = score(quantizedSums(histogram, threshold)); found > highest) {
      highest = found;
      best = threshold;
    }
  }
  return best;
}

//===----------------------------------------------------------------------===//
// ACIQ: the best threshold if the distribution is a normal one or Laplace's, centred at 0
//===----------------------------------------------------------------------===//

// Where the expected squared error of 256 values is least, in standard deviations and in mean
// magnitudes (Banner, Nahshan, Hoffer, Soudry: ACIQ, 2018, equations 5 and 8).
constexpr double kGaussFactor = 3.92403714;
constexpr double kLaplaceFactor = 9.89675982;

double rawThreshold(const Histogram &histogram, ThresholdMethod method) {
  switch (method) {
  case ThresholdMethod::Kl:
    return klThreshold(histogram);
  case ThresholdMethod::Max:
    return histogram.absMax();
  case ThresholdMethod::Percentile:
    return percentileThreshold(histogram);
  case ThresholdMethod::Mse:
    return bestThreshold(histogram, [](const QuantizedSums &sums) { return -sums.error; });
  case ThresholdMethod::Cosine:
    return bestThreshold(histogram, cosine);
  case ThresholdMethod::AciqGauss:
    return kGaussFactor * std::sqrt(histogram.meanSquare());
  case ThresholdMethod::AciqLaplace:
    return kLaplaceFactor * histogram.meanMagnitude();
  }
  return histogram.absMax();
}

} // namespace

double tpuc::roundingError(const Histogram &histogram, double threshold) {
  return quantizedSums(histogram, threshold).error;
}

std::string_view tpuc::thresholdMethodName(ThresholdMethod method) {
  return kThresholdMethodNames[static_cast<size_t>(method)];
}

std::optional<ThresholdMethod> tpuc::parseThresholdMethod(std::string_view name) {
  const auto found = std::ranges::find(kThresholdMethodNames, name);
  if (found == kThresholdMethodNames.end())
    return std::nullopt;
  return static_cast<ThresholdMethod>(found - kThresholdMethodNames.begin());
}

double tpuc::findThreshold(const Histogram &histogram, ThresholdMethod method) {
  assert(histogram.counts().size() % kNumLevels == 0);
  if (histogram.absMax() == 0)
    return 1;
  const double threshold = std::min<double>(rawThreshold(histogram, method), histogram.absMax());
  return threshold > 0 ? threshold : histogram.absMax();
}

void tpuc::fakeQuantize(std::span<const float> values, double threshold, std::span<float> result) {
  assert(values.size() == result.size());
  const double step = threshold / kNumLevels;
  const auto inverse =
      static_cast<float>(std::min(1 / step, double(std::numeric_limits<float>::max())));
  const auto scale = static_cast<float>(step);
  // Adding 1.5 * 2^23 leaves no room for digits behind the point.
  constexpr float kRounder = 12582912;
  for (size_t i = 0; i < values.size(); ++i) {
    const float scaled = values[i] * inverse;
    const float low = scaled > -128.0F ? scaled : -128.0F;
    const float clipped = low < 127.0F ? low : 127.0F;
    result[i] = (clipped + kRounder - kRounder) * scale;
  }
}
