//===- IntegerResize.cpp - Resampling of 8-bit tensors --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/IntegerResize.h"
#include "tpuc/Interpreter/Kernels/FixedPoint.h"
#include "tpuc/Interpreter/Kernels/IntegerRequantizer.h"
#include "tpuc/Interpreter/Kernels/Parallel.h"
#include "tpuc/Interpreter/Kernels/ResizeTaps.h"

#include <algorithm>
#include <numeric>

using namespace tpuc;
using namespace tpuc::kernels;

namespace {

constexpr int32_t kOne = 1 << kResizeWeightBits;

/// An axis that stays as it is.
IntegerTaps identityTaps(int64_t extent) {
  IntegerTaps taps;
  taps.positions.resize(static_cast<size_t>(extent));
  std::iota(taps.positions.begin(), taps.positions.end(), int64_t(0));
  taps.weights.assign(static_cast<size_t>(extent), kOne);
  return taps;
}

IntegerTaps tapsOf(const ResizeParams &params, const Shape &input, const Shape &output,
                   size_t back) {
  if (input.rank() < back)
    return identityTaps(1);
  const size_t axis = input.rank() - back;
  const bool stays = params.scales[axis] == 1 && input[axis] == output[axis] &&
                     params.coordinates != CoordinateMode::TfCropAndResize;
  return stays ? identityTaps(input[axis]) : integerTaps(params, axis, input[axis], output[axis]);
}

/// sums[x] = the weighted sum of the taps of x.
void blend(const IntegerTaps &taps, const int32_t *from, std::span<int32_t> sums) {
  const int64_t *positions = taps.positions.data();
  const int32_t *weights = taps.weights.data();
  if (taps.perOutput == 2) {
    for (size_t x = 0; x < sums.size(); ++x, positions += 2, weights += 2)
      sums[x] = from[positions[0]] * weights[0] + from[positions[1]] * weights[1];
    return;
  }
  for (int32_t &sum : sums) {
    sum = 0;
    for (int64_t tap = 0; tap < taps.perOutput; ++tap)
      sum += from[*positions++] * *weights++;
  }
}

} // namespace

/// Two taps for each position, of one element where both are the same.
static IntegerTaps fixedPointTaps(CoordinateMode coordinates, int64_t in, int64_t out) {
  const FixedResize how = coordinates == CoordinateMode::HalfPixel      ? FixedResize::HalfPixel
                          : coordinates == CoordinateMode::AlignCorners ? FixedResize::AlignCorners
                                                                        : FixedResize::Asymmetric;
  IntegerTaps taps{2, {}, {}, {}};
  for (const FixedTap &tap : fixedTaps(in, out, how)) {
    const int32_t second = tap.low == tap.high ? 0 : 2 * tap.weight;
    taps.positions.insert(taps.positions.end(), {tap.low, tap.high});
    taps.weights.insert(taps.weights.end(), {kOne - second, second});
  }
  return taps;
}

IntegerTaps kernels::integerTaps(const ResizeParams &params, size_t axis, int64_t in, int64_t out) {
  if (params.fixedPoint)
    return fixedPointTaps(params.coordinates, in, out);
  Taps taps = tapsAlong(params, axis, in, out);
  IntegerTaps result{taps.perOutput, std::move(taps.positions), {}, std::move(taps.outside)};
  for (auto row = taps.weights.begin(); row != taps.weights.end(); row += taps.perOutput) {
    const auto largest = std::max_element(row, row + taps.perOutput) - row;
    const size_t first = result.weights.size();
    int32_t missing = kOne;
    for (int64_t i = 0; i < taps.perOutput; ++i) {
      result.weights.push_back(toInteger<int32_t>(row[i] * kOne, RoundingMode::HalfAwayFromZero));
      missing -= result.weights.back();
    }
    result.weights[first + static_cast<size_t>(largest)] += missing;
  }
  return result;
}

void kernels::integerResizeLinear(const Tensor &input, const ResizeParams &params,
                                  int32_t inputZero, const RequantParams &requant, Tensor &output,
                                  ThreadPool &threads) {
  if (output.numElements() == 0)
    return;
  const IntegerSimd &simd = integerSimd();
  const Requantizer requantizer(requant, simd);
  const IntegerTaps down = tapsOf(params, input.shape(), output.shape(), 2);
  const IntegerTaps across = tapsOf(params, input.shape(), output.shape(), 1);
  const size_t rank = input.shape().rank();
  const int64_t inWidth = input.shape()[rank - 1];
  const int64_t inHeight = rank > 1 ? input.shape()[rank - 2] : 1;
  const int64_t width = output.shape()[rank - 1];
  const int64_t height = rank > 1 ? output.shape()[rank - 2] : 1;
  const int32_t outside =
      toInteger<int32_t>(params.extrapolation, RoundingMode::HalfAwayFromZero) * kOne * kOne;
  uint8_t *to = bytesOf(output);
  threads.parallelFor(
      output.numElements() / width,
      grainFor(inWidth * down.perOutput + width * across.perOutput * 2),
      [&](int64_t begin, int64_t end) {
        std::vector<int32_t> column(static_cast<size_t>(inWidth));
        std::vector<int32_t> sums(static_cast<size_t>(width));
        for (int64_t row = begin; row < end; ++row) {
          const auto y = static_cast<size_t>(row % height);
          std::ranges::fill(column, 0);
          for (size_t tap = 0; tap < static_cast<size_t>(down.perOutput); ++tap) {
            const size_t at = y * static_cast<size_t>(down.perOutput) + tap;
            simd.addRow(
                byteRow(input, (row / height * inHeight + down.positions[at]) * inWidth, inputZero),
                inWidth, down.weights[at], column.data());
          }
          blend(across, column.data(), sums);
          const bool isOutside = !down.outside.empty() && down.outside[y];
          for (size_t x = 0; x < sums.size(); ++x)
            if (isOutside || (!across.outside.empty() && across.outside[x]))
              sums[x] = outside;
          requantizer.row(sums.data(), width, 0, to + row * width);
        }
      });
}
