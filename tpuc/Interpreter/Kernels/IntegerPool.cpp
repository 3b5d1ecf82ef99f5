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

/// One window that takes all of the input, and nothing else.
bool isGlobal(const Geometry &g) {
  bool result = g.smallSize == 1;
  for (size_t axis = 0; axis < 3; ++axis)
    result =
        result && g.kernel[axis] >= g.large[axis] && g.pads[axis] == 0 && g.dilations[axis] == 1;
  return result;
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
  const IntegerSimd &simd = integerSimd();
  const RowFactors factors = rowFactors(g, counts, params.requant);
  uint8_t *to = bytesOf(output);
  threads.parallelFor(g.batch * g.smallChannels, grainFor(g.smallSize * g.kernelSize),
                      [&](int64_t begin, int64_t end) {
                        std::vector<int32_t> sums(static_cast<size_t>(g.smallSize));
                        for (int64_t plane = begin; plane < end; ++plane) {
                          const ByteRow from =
                              byteRow(input, plane * g.largeSize, params.inputZero);
                          std::ranges::fill(sums, 0);
                          for (int64_t tap = 0; tap < g.kernelSize; ++tap)
                            forEachRow(g, tap, [&](int64_t small, int64_t large, int64_t count) {
                              simd.addStrided({from.data + large, from.flip, from.zero}, count,
                                              g.strides[2], sums.data() + small);
                            });
                          for (int64_t row = 0; row < g.small[0] * g.small[1]; ++row) {
                            const int64_t count = counts[0][static_cast<size_t>(row / g.small[1])] *
                                                  counts[1][static_cast<size_t>(row % g.small[1])];
                            Requantizer(factors.at(count), simd)
                                .lanes(sums.data() + row * g.small[2], g.small[2], 0,
                                       to + plane * g.smallSize + row * g.small[2]);
                          }
                        }
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
