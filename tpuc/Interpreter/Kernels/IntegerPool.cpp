//===- IntegerPool.cpp - Means and sums of 8-bit tensors ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/IntegerPool.h"
#include "tpuc/Interpreter/Kernels/IntegerRequantizer.h"
#include "tpuc/Interpreter/Kernels/Parallel.h"
#include "tpuc/Interpreter/Kernels/WindowGeometry.h"

#include <algorithm>
#include <map>

using namespace tpuc;
using namespace tpuc::kernels;

namespace {

/// The factors of the elements of an output row, by the product of the counts of the outer axes.
using RowFactors = std::map<int64_t, RequantParams>;

RowFactors rowFactors(const Geometry &g, const std::array<std::vector<int64_t>, 3> &counts,
                      const RequantParams &requant) {
  RowFactors result;
  for (int64_t deep : counts[0])
    for (int64_t high : counts[1]) {
      auto [entry, isNew] = result.try_emplace(deep * high, requant);
      if (!isNew)
        continue;
      std::vector<MultiplierShift> factors;
      for (int64_t wide : counts[2])
        factors.push_back(requant.at(static_cast<size_t>(deep * high * wide)).factor);
      const bool areSame = std::ranges::all_of(
          factors, [&](MultiplierShift factor) { return factor == factors.front(); });
      if (areSame)
        factors.resize(1);
      entry->second.factors = std::move(factors);
    }
  return result;
}

/// The rows of an average pool.
class AverageRows {
public:
  AverageRows(const Tensor &input, int32_t zero, const Geometry &g,
              const std::array<std::vector<int64_t>, 3> &counts, const RowFactors &factors,
              Tensor &output)
      : input(byteRow(input, 0, zero)), stride(g.strides[2]), counts(counts),
        column(static_cast<size_t>(g.large[2])), sums(static_cast<size_t>(g.small[2])),
        to(bytesOf(output)) {
    for (const auto &[count, requant] : factors)
      requantizers.emplace(count, Requantizer(requant, simd));
  }

  void begin() {
    std::ranges::fill(column, 0);
    std::ranges::fill(sums, 0);
  }
  void down(int64_t row) {
    simd.addRow({input.data + row, input.flip, input.zero}, static_cast<int64_t>(column.size()), 1,
                column.data());
  }
  void across(int64_t from, int64_t first, int64_t count) {
    const int32_t *values = column.data() + from;
    int32_t *results = sums.data() + first;
    if (stride == 1) {
      for (int64_t i = 0; i < count; ++i)
        results[i] += values[i];
      return;
    }
    for (int64_t i = 0; i < count; ++i)
      results[i] += values[i * stride];
  }
  void end(int64_t row, int64_t d, int64_t h) {
    const int64_t count = counts[0][static_cast<size_t>(d)] * counts[1][static_cast<size_t>(h)];
    requantizers.at(count).lanes(sums.data(), static_cast<int64_t>(sums.size()), 0, to + row);
  }

private:
  const IntegerSimd &simd = integerSimd();
  ByteRow input;
  int64_t stride;
  const std::array<std::vector<int64_t>, 3> &counts;
  std::map<int64_t, Requantizer> requantizers;
  std::vector<int32_t> column, sums;
  uint8_t *to;
};

/// The rows of a maximum pool.
class MaximumRows {
public:
  MaximumRows(const Tensor &input, const Geometry &g, Tensor &output)
      : from(bytesOf(input)), flip(flipOf(input.type())), stride(g.strides[2]),
        column(static_cast<size_t>(g.large[2])), taps(static_cast<size_t>(g.small[2])),
        results(static_cast<size_t>(g.small[2])), to(bytesOf(output)) {}

  void begin() {
    std::ranges::fill(column, flip);
    std::ranges::fill(results, flip);
  }
  void down(int64_t row) {
    simd.extremeRow(from + row, true, flip, static_cast<int64_t>(column.size()), column.data());
  }
  void across(int64_t first, int64_t output, int64_t count) {
    const uint8_t *values = column.data() + first;
    if (stride != 1) {
      simd.strideRow(values, stride, count, taps.data());
      values = taps.data();
    }
    simd.extremeRow(values, true, flip, count, results.data() + output);
  }
  void end(int64_t row, int64_t, int64_t) { std::ranges::copy(results, to + row); }

private:
  const IntegerSimd &simd = integerSimd();
  const uint8_t *from;
  uint8_t flip; ///< Also the lowest number's byte.
  int64_t stride;
  std::vector<uint8_t> column, taps, results;
  uint8_t *to;
};

int64_t poolGrain(const Geometry &g) {
  const int64_t perRow = g.large[2] * g.kernel[0] * g.kernel[1] + g.small[2] * g.kernel[2];
  return grainFor(g.small[0] * g.small[1] * (perRow / 8 + 8));
}

/// One window that takes all of the input, and nothing else.
bool isGlobal(const Geometry &g) {
  bool result = g.smallSize == 1;
  for (size_t axis = 0; axis < 3; ++axis)
    result =
        result && g.kernel[axis] >= g.large[axis] && g.pads[axis] == 0 && g.dilations[axis] == 1;
  return result;
}

/// Feeds `body` with the rows of an output plane: `begin()`, then `down(row)` for each input row
/// (the offset of its first element) under the window, then `across(column, first, count)` for each
/// tap along the row: that of output `first` is at `column`, those of the `count` outputs are a
/// stride apart; and `end(row, d, h)` with the offset of the output row.
template <typename Body> void forEachPoolRow(const Geometry &g, int64_t plane, Body &body) {
  const auto at = [&](size_t axis, int64_t position, int64_t tap) {
    return position * g.strides[axis] + tap * g.dilations[axis] - g.pads[axis];
  };
  for (int64_t d = 0; d < g.small[0]; ++d)
    for (int64_t h = 0; h < g.small[1]; ++h) {
      body.begin();
      for (int64_t a = 0; a < g.kernel[0]; ++a)
        for (int64_t b = 0; b < g.kernel[1]; ++b) {
          const int64_t z = at(0, d, a);
          const int64_t y = at(1, h, b);
          if (z >= 0 && z < g.large[0] && y >= 0 && y < g.large[1])
            body.down(((plane * g.large[0] + z) * g.large[1] + y) * g.large[2]);
        }
      for (int64_t c = 0; c < g.kernel[2]; ++c) {
        const auto [first, last] = g.inside(2, c);
        if (first < last)
          body.across(at(2, first, c), first, last - first);
      }
      body.end(((plane * g.small[0] + d) * g.small[1] + h) * g.small[2], d, h);
    }
}

std::vector<int64_t> spatialAxes(const Shape &shape) {
  std::vector<int64_t> axes;
  for (size_t axis = 2; axis < shape.rank(); ++axis)
    axes.push_back(static_cast<int64_t>(axis));
  return axes;
}

} // namespace

int64_t kernels::largestPoolCount(const Shape &input, const Shape &output,
                                  const IntegerPoolParams &params) {
  const Geometry g = geometryOf(output, input, params.window);
  int64_t result = 1;
  for (const std::vector<int64_t> &counts : tapCounts(g, params.window, params.countIncludePad))
    result *= counts.empty() ? 1 : *std::ranges::max_element(counts);
  return result;
}

void kernels::integerAveragePool(const Tensor &input, const IntegerPoolParams &params,
                                 Tensor &output, ThreadPool &threads) {
  if (output.numElements() == 0)
    return;
  const Geometry g = geometryOf(output.shape(), input.shape(), params.window);
  const auto counts = tapCounts(g, params.window, params.countIncludePad);
  if (isGlobal(g)) {
    RequantParams requant = params.requant;
    const int64_t count = counts[0][0] * counts[1][0] * counts[2][0];
    requant.factors = {params.requant.at(static_cast<size_t>(count)).factor};
    return integerReduceSum(input, spatialAxes(input.shape()), params.inputZero, requant, output,
                            threads);
  }
  const RowFactors factors = rowFactors(g, counts, params.requant);
  threads.parallelFor(g.batch * g.smallChannels, poolGrain(g), [&](int64_t begin, int64_t end) {
    AverageRows rows(input, params.inputZero, g, counts, factors, output);
    for (int64_t plane = begin; plane < end; ++plane)
      forEachPoolRow(g, plane, rows);
  });
}

void kernels::integerMaxPool(const Tensor &input, const WindowParams &window, Tensor &output,
                             ThreadPool &threads) {
  if (output.numElements() == 0)
    return;
  const Geometry g = geometryOf(output.shape(), input.shape(), window);
  threads.parallelFor(g.batch * g.smallChannels, poolGrain(g), [&](int64_t begin, int64_t end) {
    MaximumRows rows(input, g, output);
    for (int64_t plane = begin; plane < end; ++plane)
      forEachPoolRow(g, plane, rows);
  });
}

namespace {

/// A tensor's dimensions, those of the same fate joined, as loops of kept and reduced ones.
struct SumLoops {
  /// Offsets of the kept dimensions outside of the innermost run, and of the reduced ones.
  std::vector<int64_t> kept{0};
  std::vector<int64_t> reduced{0};
  /// The innermost dimension: kept (then `isKept`) or reduced.
  int64_t run = 1;
  bool isKept = true;

  SumLoops(const Shape &shape, std::span<const int64_t> axes) {
    int64_t stride = 1;
    size_t axis = shape.rank();
    const auto isReduced = [&](size_t which) {
      return std::ranges::count(axes, static_cast<int64_t>(which)) != 0;
    };
    // Dimensions of one element have no fate.
    bool isOpen = true;
    for (; axis > 0; --axis) {
      const int64_t extent = shape[axis - 1];
      if (extent == 1)
        continue;
      if (!isOpen && isReduced(axis - 1) == isKept)
        break;
      isKept = !isReduced(axis - 1);
      isOpen = false;
      run *= extent;
    }
    stride = run;
    for (; axis > 0; --axis) {
      const int64_t extent = shape[axis - 1];
      std::vector<int64_t> &offsets = isReduced(axis - 1) ? reduced : kept;
      std::vector<int64_t> next;
      for (int64_t i = 0; i < extent; ++i)
        for (int64_t offset : offsets)
          next.push_back(i * stride + offset);
      offsets = std::move(next);
      stride *= extent;
    }
  }
};

} // namespace

void kernels::integerReduceSum(const Tensor &input, std::span<const int64_t> axes,
                               int32_t inputZero, const RequantParams &requant, Tensor &output,
                               ThreadPool &threads) {
  if (output.numElements() == 0)
    return;
  const IntegerSimd &simd = integerSimd();
  const Requantizer requantizer(requant, simd);
  const SumLoops loops(input.shape(), axes);
  const int64_t perStep = loops.isKept ? loops.run : 1;
  const ByteRow from = byteRow(input, 0, inputZero);
  const auto at = [&](int64_t offset) { return ByteRow{from.data + offset, from.flip, from.zero}; };
  uint8_t *to = bytesOf(output);
  const auto steps = static_cast<int64_t>(loops.kept.size());
  const auto cost = static_cast<int64_t>(loops.reduced.size()) * loops.run / 4 + perStep;
  threads.parallelFor(steps, grainFor(cost), [&](int64_t begin, int64_t end) {
    std::vector<int32_t> sums(static_cast<size_t>((end - begin) * perStep));
    for (int64_t step = begin; step < end; ++step) {
      const int64_t base = loops.kept[static_cast<size_t>(step)];
      int32_t *own = sums.data() + (step - begin) * perStep;
      for (int64_t offset : loops.reduced)
        if (loops.isKept)
          simd.addRow(at(base + offset), loops.run, 1, own);
        else
          *own += simd.sumRow(at(base + offset), loops.run);
    }
    requantizer.row(sums.data(), static_cast<int64_t>(sums.size()), 0, to + begin * perStep);
  });
}
