//===- Statistics.h - What is counted of a tensor over many samples -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All of it is mergeable: counts and sums are integers, so partial results of disjoint sets of
// samples give the same bits in whichever order they are added.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CALIBRATION_STATISTICS_H
#define TPUC_CALIBRATION_STATISTICS_H

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace tpuc {

/// The smallest and largest value. Infinities and NaN are counted and enter nothing else.
class TensorRange {
public:
  void add(std::span<const float> values);
  void merge(const TensorRange &other);

  /// 0 where no finite value was seen; never -0.
  float min() const { return finiteCount == 0 ? 0 : smallest + 0.0F; }
  float max() const { return finiteCount == 0 ? 0 : largest + 0.0F; }
  /// The largest magnitude.
  float absMax() const;
  int64_t numFinite() const { return finiteCount; }
  int64_t numInfinite() const { return infiniteCount; }
  int64_t numNan() const { return nanCount; }

  friend bool operator==(const TensorRange &, const TensorRange &) = default;

private:
  void addOneByOne(std::span<const float> values);

  float smallest = std::numeric_limits<float>::infinity();
  float largest = -std::numeric_limits<float>::infinity();
  int64_t finiteCount = 0;
  int64_t infiniteCount = 0;
  int64_t nanCount = 0;
};

/// How the magnitudes of a tensor are distributed over equal bins between 0 and its absMax. Exact
/// zeros are counted beside the bins: a quantized tensor holds them without an error.
class Histogram {
public:
  /// `absMax` is that of all samples together, as the pass before has found it.
  Histogram(float absMax, int64_t numBins);

  /// Values that are not finite are left out; magnitudes above absMax count as absMax.
  void add(std::span<const float> values);
  /// `other` must have the same absMax and number of bins.
  void merge(const Histogram &other);

  float absMax() const { return limit; }
  double binWidth() const { return double(limit) / double(bins.size()); }
  std::span<const int64_t> counts() const { return bins; }
  int64_t numZeros() const { return zeros; }
  /// All values, zeros too.
  int64_t numValues() const;
  /// The mean of |x| and of x * x over all values, to a millionth of absMax.
  double meanMagnitude() const;
  double meanSquare() const;

  friend bool operator==(const Histogram &, const Histogram &) = default;

private:
  __extension__ using Sum = unsigned __int128;

  float limit;
  std::vector<int64_t> bins;
  int64_t zeros = 0;
  /// Of magnitudes in units of absMax / kUnits.
  Sum sum = 0;
  Sum sumOfSquares = 0;
};

} // namespace tpuc

#endif // TPUC_CALIBRATION_STATISTICS_H
