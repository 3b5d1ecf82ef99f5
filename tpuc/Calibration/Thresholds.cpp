//===- Thresholds.cpp - Where a tensor is clipped for integers ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Calibration/Thresholds.h"
#include "tpuc/Support/Rounding.h"
#include "tpuc/Target/QuantScheme.h"

#include <algorithm>
#include <cassert>
#include <cmath>

using namespace tpuc;

namespace {

//===----------------------------------------------------------------------===//
// Kullback-Leibler divergence (manual 7.3.1)
//===----------------------------------------------------------------------===//

/// The divergence of the first `cut` bins, with all above in the last of them, from what is left
/// of them at `levels` levels; infinite where a level without counts would have to hold some.
double divergence(std::span<const int64_t> bins, size_t cut, size_t levels) {
  int64_t inside = 0;
  for (size_t bin = 0; bin < cut; ++bin)
    inside += bins[bin];
  int64_t outliers = 0;
  for (size_t bin = cut; bin < bins.size(); ++bin)
    outliers += bins[bin];
  if (inside == 0)
    return std::numeric_limits<double>::infinity();
  const auto total = double(inside + outliers);
  const size_t width = cut / levels;
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

double klThreshold(const Histogram &histogram, DataType type) {
  const std::span<const int64_t> bins = histogram.counts();
  const auto levels = static_cast<size_t>(numHistogramLevels(type));
  size_t best = bins.size();
  double least = std::numeric_limits<double>::infinity();
  for (size_t cut = levels; cut <= bins.size(); cut += levels)
    if (const double found = divergence(bins, cut, levels); found < least) {
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
  Quantizer(double threshold, double levels)
      : step(threshold / levels), top((levels - 1) * step), clip(top + step / 2) {}

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

QuantizedSums quantizedSums(const Histogram &histogram, double threshold, DataType type) {
  const Quantizer quantizer(threshold, double(numLevels(type)));
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

/// Of some candidates, the one with the largest `score`, the larger of equals.
template <typename Score>
double bestThreshold(const Histogram &histogram, DataType type, Score score) {
  constexpr int kCandidates = 128;
  double best = histogram.absMax();
  double highest = score(quantizedSums(histogram, best, type));
  for (int i = kCandidates - 1; i > 0; --i) {
    const double threshold = double(histogram.absMax()) * double(i) / kCandidates;
    if (const double found = score(quantizedSums(histogram, threshold, type)); found > highest) {
      highest = found;
      best = threshold;
    }
  }
  return best;
}

//===----------------------------------------------------------------------===//
// ACIQ: the best threshold if the distribution is a normal one or Laplace's, centred at 0
//===----------------------------------------------------------------------===//

/// By the bits of a type, from 2 to 16, where the expected squared error is least, in standard
/// deviations and in mean magnitudes (Banner, Nahshan, Hoffer, Soudry: ACIQ, 2018, equations 5
/// and 8). Those of 8 bits are as published.
struct AciqFactors {
  double gauss, laplace;
};
constexpr unsigned kFewestBits = 2;
constexpr std::array<AciqFactors, 15> kAciqFactors = {{
    {1.71063517, 2.83068299},
    {2.15159274, 3.89722946},
    {2.55913646, 5.02864014},
    {2.93620061, 6.20476633},
    {3.28691422, 7.41312621},
    {3.61511422, 8.64561998},
    {3.92403714, 9.89675982},
    {4.21632983, 11.16268502},
    {4.49416053, 12.44059128},
    {4.75929976, 13.72838470},
    {5.01321047, 15.02446477},
    {5.25711121, 16.32758309},
    {5.49202628, 17.63674863},
    {5.71882430, 18.95116243},
    {5.93824808, 20.27017164},
}};

double rawThreshold(const Histogram &histogram, ThresholdMethod method, DataType type) {
  switch (method) {
  case ThresholdMethod::Kl:
    return klThreshold(histogram, type);
  case ThresholdMethod::Max:
    return histogram.absMax();
  case ThresholdMethod::Percentile:
    return percentileThreshold(histogram);
  case ThresholdMethod::Mse:
    return bestThreshold(histogram, type, [](const QuantizedSums &sums) { return -sums.error; });
  case ThresholdMethod::Cosine:
    return bestThreshold(histogram, type, cosine);
  case ThresholdMethod::AciqGauss:
    return aciqFactor(method, type) * std::sqrt(histogram.meanSquare());
  case ThresholdMethod::AciqLaplace:
    return aciqFactor(method, type) * histogram.meanMagnitude();
  }
  return histogram.absMax();
}

} // namespace

double tpuc::aciqFactor(ThresholdMethod method, DataType type) {
  assert(method == ThresholdMethod::AciqGauss || method == ThresholdMethod::AciqLaplace);
  assert(bitWidth(type) - kFewestBits < kAciqFactors.size());
  const AciqFactors &factors = kAciqFactors[bitWidth(type) - kFewestBits];
  return method == ThresholdMethod::AciqGauss ? factors.gauss : factors.laplace;
}

int64_t tpuc::numHistogramLevels(DataType type) {
  constexpr int64_t kMostLevels = 2048;
  return std::min(numLevels(type), kMostLevels);
}

double tpuc::roundingError(const Histogram &histogram, double threshold, DataType type) {
  return quantizedSums(histogram, threshold, type).error;
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

double tpuc::findThreshold(const Histogram &histogram, ThresholdMethod method, DataType type) {
  assert(std::ssize(histogram.counts()) % numHistogramLevels(type) == 0);
  if (histogram.absMax() == 0)
    return 1;
  const double threshold =
      std::min<double>(rawThreshold(histogram, method, type), histogram.absMax());
  return threshold > 0 ? threshold : histogram.absMax();
}

void tpuc::fakeQuantize(std::span<const float> values, double threshold, std::span<float> result,
                        DataType type) {
  assert(values.size() == result.size());
  const double step = threshold / double(numLevels(type));
  const auto inverse =
      static_cast<float>(std::min(1 / step, double(std::numeric_limits<float>::max())));
  const auto scale = static_cast<float>(step);
  // Adding 1.5 * 2^23 leaves no room for digits behind the point.
  constexpr float kRounder = 12582912;
  const IntegerRange range = integerRange(type);
  const auto lowest = static_cast<float>(range.lowest);
  const auto highest = static_cast<float>(range.highest);
  for (size_t i = 0; i < values.size(); ++i) {
    const float scaled = values[i] * inverse;
    const float low = scaled > lowest ? scaled : lowest;
    const float clipped = low < highest ? low : highest;
    result[i] = (clipped + kRounder - kRounder) * scale;
  }
}
