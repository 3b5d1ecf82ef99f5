//===- Statistics.cpp - What is counted of a tensor over many samples -----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Calibration/Statistics.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>

using namespace tpuc;

namespace {

constexpr size_t kBlock = 1024;
/// Sums are taken of magnitudes in this many steps below absMax.
constexpr int32_t kUnits = 1 << 20;

/// Calls `function` for pieces of at most kBlock values.
template <typename Function> void forBlocks(std::span<const float> values, Function function) {
  for (size_t begin = 0; begin < values.size(); begin += kBlock)
    function(values.subspan(begin, std::min(kBlock, values.size() - begin)));
}

/// An integer that is ordered as the float is; its own inverse on bits.
int32_t orderedBits(int32_t bits) { return bits ^ ((bits >> 31) & 0x7FFFFFFF); }

} // namespace

void TensorRange::add(std::span<const float> values) {
  forBlocks(values, [&](std::span<const float> block) {
    int32_t low = std::numeric_limits<int32_t>::max();
    int32_t high = std::numeric_limits<int32_t>::min();
    // Integers, because minima of floats that may be NaN are not computed side by side.
    for (float value : block) {
      const int32_t key = orderedBits(std::bit_cast<int32_t>(value));
      low = std::min(low, key);
      high = std::max(high, key);
    }
    const auto lowest = std::bit_cast<float>(orderedBits(low));
    const auto highest = std::bit_cast<float>(orderedBits(high));
    if (!std::isfinite(lowest) || !std::isfinite(highest))
      return addOneByOne(block);
    smallest = std::min(smallest, lowest);
    largest = std::max(largest, highest);
    finiteCount += static_cast<int64_t>(block.size());
  });
}

void TensorRange::addOneByOne(std::span<const float> values) {
  for (float value : values) {
    if (std::isnan(value)) {
      ++nanCount;
    } else if (std::isinf(value)) {
      ++infiniteCount;
    } else {
      ++finiteCount;
      smallest = std::min(smallest, value);
      largest = std::max(largest, value);
    }
  }
}

void TensorRange::merge(const TensorRange &other) {
  smallest = std::min(smallest, other.smallest);
  largest = std::max(largest, other.largest);
  finiteCount += other.finiteCount;
  infiniteCount += other.infiniteCount;
  nanCount += other.nanCount;
}

float TensorRange::absMax() const { return std::max(std::abs(min()), std::abs(max())); }

Histogram::Histogram(float absMax, int64_t numBins)
    : limit(absMax), bins(static_cast<size_t>(numBins)) {
  assert(std::isfinite(absMax) && absMax >= 0 && numBins > 0);
}

/// `count / limit`, finite for the smallest limits, too.
static float perUnit(float count, float limit) {
  return limit > 0 ? std::min(count / limit, std::numeric_limits<float>::max()) : 0;
}

void Histogram::add(std::span<const float> values) {
  const float toBin = perUnit(static_cast<float>(bins.size()), limit);
  const float toUnit = perUnit(kUnits, limit);
  const auto last = static_cast<float>(bins.size() - 1);
  // Slot 0 is for zeros, one past the bins for what is not finite. Two tables, so that equal
  // values one after the other do not wait for each other.
  const size_t numSlots = bins.size() + 2;
  std::vector<uint32_t> tables(2 * numSlots);
  std::array<int32_t, kBlock> slots;
  forBlocks(values, [&](std::span<const float> block) {
    uint64_t blockSum = 0;
    uint64_t blockSquares = 0;
    for (size_t i = 0; i < block.size(); ++i) {
      const float magnitude = std::abs(block[i]);
      const bool isFinite = magnitude <= std::numeric_limits<float>::max();
      const float held = isFinite ? std::min(magnitude, limit) : 0.0F;
      const auto bin = static_cast<int32_t>(std::min(held * toBin, last));
      const auto units = static_cast<uint32_t>(static_cast<int32_t>(held * toUnit));
      blockSum += units;
      blockSquares += uint64_t(units) * units;
      slots[i] = !isFinite ? static_cast<int32_t>(numSlots - 1) : held > 0 ? bin + 1 : 0;
    }
    sum += blockSum;
    sumOfSquares += blockSquares;
    for (size_t i = 0; i < block.size(); ++i)
      ++tables[(i % 2) * numSlots + static_cast<size_t>(slots[i])];
  });
  zeros += int64_t(tables[0]) + tables[numSlots];
  for (size_t bin = 0; bin < bins.size(); ++bin)
    bins[bin] += int64_t(tables[bin + 1]) + tables[numSlots + bin + 1];
}

void Histogram::merge(const Histogram &other) {
  assert(limit == other.limit && bins.size() == other.bins.size());
  std::ranges::transform(bins, other.bins, bins.begin(), std::plus<>());
  zeros += other.zeros;
  sum += other.sum;
  sumOfSquares += other.sumOfSquares;
}

int64_t Histogram::numValues() const {
  int64_t count = zeros;
  for (int64_t inBin : bins)
    count += inBin;
  return count;
}

double Histogram::meanMagnitude() const {
  const int64_t count = numValues();
  return count == 0 ? 0 : double(sum) / double(count) / kUnits * limit;
}

double Histogram::meanSquare() const {
  const int64_t count = numValues();
  const double unit = double(limit) / kUnits;
  return count == 0 ? 0 : double(sumOfSquares) / double(count) * unit * unit;
}
