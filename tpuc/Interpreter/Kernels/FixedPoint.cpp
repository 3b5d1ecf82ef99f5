//===- FixedPoint.cpp - Ops on integers with a scale, in fixed point ------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/FixedPoint.h"
#include "tpuc/Interpreter/Kernels/WindowGeometry.h"
#include "tpuc/Support/Convert.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

using namespace tpuc;
using namespace tpuc::kernels;

/// Elements that a thread takes at a time.
static constexpr int64_t kPairGrain = 1 << 12;

MultiplierShift kernels::fixedPoint(double scale) {
  if (!(scale > 0))
    return {};
  int exponent = 0;
  auto multiplier = static_cast<int64_t>(std::round(std::frexp(scale, &exponent) * 0x1p31));
  if (multiplier == int64_t(1) << 31) {
    multiplier /= 2;
    ++exponent;
  }
  if (exponent < -31)
    return {};
  return {static_cast<int32_t>(multiplier), -exponent};
}

RequantMode kernels::fixedPointMode(bool shiftsLeft) {
  return shiftsLeft ? RequantMode::TFLite_LShift : RequantMode::TFLite;
}

static int32_t scaled(int32_t value, MultiplierShift factor) {
  return multiplyShiftTFLite(value, factor.multiplier, factor.rshift);
}

static int64_t stored(int64_t value, const FixedResult &result) {
  return std::clamp(value + result.params.zeroPoint, result.range.lowest,
                    static_cast<int64_t>(result.range.highest));
}

/// Calls `function` with a value of the type in which integers are stored.
template <typename Function> static void withInteger(DataType type, Function function) {
  switch (type) {
  case DataType::I8:
    return function(int8_t());
  case DataType::U8:
    return function(uint8_t());
  default:
    assert(type == DataType::I16 && "no type in which quantized values are stored");
    return function(int16_t());
  }
}

/// The distances, in elements, of neighbours along the dimensions of `shape` in a tensor that is
/// broadcast to it.
static std::vector<int64_t> broadcastSteps(const Shape &own, const Shape &shape) {
  std::vector<int64_t> steps(shape.rank(), 0);
  const Shape strides = own.strides();
  const size_t lead = shape.rank() - own.rank();
  for (size_t axis = 0; axis < own.rank(); ++axis)
    if (own[axis] != 1)
      steps[lead + axis] = strides[axis];
  return steps;
}

/// Writes `combine(left, right)` of integers less their zero points.
template <typename Combine>
static void forEachPair(const FixedOperand &left, const FixedOperand &right, Tensor &output,
                        ThreadPool &threads, Combine combine) {
  const Tensor first = convert(left.integers, DataType::I32);
  const Tensor second = convert(right.integers, DataType::I32);
  const int32_t *a = first.data<int32_t>().data();
  const int32_t *b = second.data<int32_t>().data();
  const auto aZero = static_cast<int32_t>(left.params.zeroPoint);
  const auto bZero = static_cast<int32_t>(right.params.zeroPoint);
  const Shape &shape = output.shape();
  const std::vector<int64_t> aSteps = broadcastSteps(first.shape(), shape);
  const std::vector<int64_t> bSteps = broadcastSteps(second.shape(), shape);
  withInteger(output.type(), [&]<typename T>(T) {
    T *out = output.mutableData<T>().data();
    threads.parallelFor(shape.numElements(), kPairGrain, [&](int64_t begin, int64_t end) {
      std::vector<int64_t> at(shape.rank(), 0);
      int64_t aAt = 0;
      int64_t bAt = 0;
      int64_t rest = begin;
      for (size_t axis = shape.rank(); axis-- > 0; rest /= shape[axis]) {
        at[axis] = rest % shape[axis];
        aAt += at[axis] * aSteps[axis];
        bAt += at[axis] * bSteps[axis];
      }
      for (int64_t index = begin; index < end; ++index) {
        out[index] = static_cast<T>(combine(a[aAt] - aZero, b[bAt] - bZero));
        for (size_t axis = shape.rank(); axis-- > 0;) {
          aAt += aSteps[axis];
          bAt += bSteps[axis];
          if (++at[axis] < shape[axis])
            break;
          aAt -= aSteps[axis] * shape[axis];
          bAt -= bSteps[axis] * shape[axis];
          at[axis] = 0;
        }
      }
    });
  });
}

void kernels::fixedAdd(const FixedOperand &left, const FixedOperand &right, bool subtracts,
                       const FixedResult &result, Tensor &output, ThreadPool &threads) {
  const int leftShift = output.type() == DataType::I16 ? 15 : 20;
  const double unit = 2 * std::max(left.params.scale, right.params.scale);
  const MultiplierShift first = fixedPoint(left.params.scale / unit);
  const MultiplierShift second = fixedPoint(right.params.scale / unit);
  const MultiplierShift last =
      fixedPoint(unit / (std::ldexp(1.0, leftShift) * result.params.scale));
  forEachPair(left, right, output, threads, [&](int32_t a, int32_t b) {
    const int32_t x = scaled(a * (1 << leftShift), first);
    const int32_t y = scaled(b * (1 << leftShift), second);
    return stored(scaled(subtracts ? x - y : x + y, last), result);
  });
}

void kernels::fixedMul(const FixedOperand &left, const FixedOperand &right,
                       const FixedResult &result, Tensor &output, ThreadPool &threads) {
  const float product =
      static_cast<float>(left.params.scale) * static_cast<float>(right.params.scale);
  const MultiplierShift factor =
      fixedPoint(static_cast<double>(product / static_cast<float>(result.params.scale)));
  forEachPair(left, right, output, threads,
              [&](int32_t a, int32_t b) { return stored(scaled(a * b, factor), result); });
}

void kernels::fixedLeakyRelu(const FixedOperand &input, double alpha, const FixedResult &result,
                             Tensor &output, ThreadPool &threads) {
  const auto from = static_cast<float>(input.params.scale);
  const auto to = static_cast<float>(result.params.scale);
  const MultiplierShift negative = fixedPoint(from * static_cast<float>(alpha) / to);
  const MultiplierShift positive = fixedPoint(from / to);
  const auto zero = static_cast<int32_t>(input.params.zeroPoint);
  withInteger(output.type(), [&]<typename T>(T) {
    const T *in = input.integers.data<T>().data();
    T *out = output.mutableData<T>().data();
    threads.parallelFor(output.numElements(), kPairGrain, [&](int64_t begin, int64_t end) {
      for (int64_t index = begin; index < end; ++index) {
        const int32_t value = in[index] - zero;
        out[index] = static_cast<T>(stored(scaled(value, value < 0 ? negative : positive), result));
      }
    });
  });
}

void kernels::fixedPRelu(const FixedOperand &input, const FixedOperand &slope,
                         const FixedResult &result, Tensor &output, ThreadPool &threads) {
  const double scale = input.params.scale / result.params.scale;
  const MultiplierShift positive = fixedPoint(scale);
  const MultiplierShift negative = fixedPoint(scale * slope.params.scale);
  forEachPair(input, slope, output, threads, [&](int32_t a, int32_t b) {
    return stored(a >= 0 ? scaled(a, positive) : scaled(a * b, negative), result);
  });
}

/// a * b / 2^15, rounded half up; only -2^15 * -2^15 saturates.
static int16_t multiplyHigh16(int16_t a, int16_t b) {
  return saturateCast<int16_t>(roundingShiftRight(int32_t(a) * b, 15, RoundingMode::HalfUp));
}

/// The upper half of a multiplier of 31 bits, rounded.
static int16_t upperHalf(int32_t multiplier) {
  return saturateCast<int16_t>((int64_t(multiplier) + (1 << 15)) >> 16);
}

void kernels::fixedHardSwish(const FixedOperand &input, const FixedResult &result, Tensor &output,
                             ThreadPool &threads) {
  constexpr RoundingMode kAway = RoundingMode::HalfAwayFromZero;
  const float fine = (1.0F / 128.0F) * static_cast<float>(input.params.scale);
  const MultiplierShift last = fixedPoint(fine / static_cast<float>(result.params.scale));
  const MultiplierShift gate = fixedPoint(fine / (3.0F / 32768.0F));
  const auto zero = static_cast<int32_t>(input.params.zeroPoint);
  const auto swish = [&](int32_t integer) {
    const auto value = static_cast<int16_t>((integer - zero) * (1 << 7));
    const int16_t scaledValue = multiplyHigh16(value, upperHalf(last.multiplier));
    int16_t factor = value;
    if (gate.rshift < 0)
      factor = saturateCast<int16_t>(
          shiftLeftSaturating(int32_t(factor), static_cast<unsigned>(-gate.rshift - 1)));
    factor = multiplyHigh16(factor, upperHalf(gate.multiplier));
    if (gate.rshift < 0)
      factor = saturateCast<int16_t>(int32_t(factor) * 2);
    if (gate.rshift > 0)
      factor = static_cast<int16_t>(
          roundingShiftRight(int32_t(factor), static_cast<unsigned>(gate.rshift), kAway));
    factor = static_cast<int16_t>((factor + (1 << 15)) >> 1);
    const int32_t product = int32_t(factor) * scaledValue / (1 << 15);
    return stored(roundingShift(int64_t(product), last.rshift, kAway), result);
  };
  withInteger(output.type(), [&]<typename T>(T) {
    const T *in = input.integers.data<T>().data();
    T *out = output.mutableData<T>().data();
    threads.parallelFor(output.numElements(), kPairGrain, [&](int64_t begin, int64_t end) {
      for (int64_t index = begin; index < end; ++index)
        out[index] = static_cast<T>(swish(in[index]));
    });
  });
}

/// sum / count, ties away from zero.
static int64_t divided(int64_t sum, int64_t count) {
  return sum > 0 ? (sum + count / 2) / count : (sum - count / 2) / count;
}

void kernels::fixedAveragePool(const Tensor &input, const WindowParams &window,
                               const FixedResult &result, Tensor &output, ThreadPool &threads) {
  const Geometry g = geometryOf(output.shape(), input.shape(), window);
  // The integers themselves are averaged: the zero point is none of them.
  FixedResult plain = result;
  plain.params.zeroPoint = 0;
  withInteger(input.type(), [&]<typename T>(T) {
    const T *in = input.data<T>().data();
    T *out = output.mutableData<T>().data();
    threads.parallelFor(g.batch * g.smallChannels, 1, [&](int64_t begin, int64_t end) {
      std::vector<int64_t> sums(static_cast<size_t>(g.smallSize));
      std::vector<int64_t> counts(static_cast<size_t>(g.smallSize));
      for (int64_t plane = begin; plane < end; ++plane) {
        std::ranges::fill(sums, 0);
        std::ranges::fill(counts, 0);
        const T *from = in + plane * g.largeSize;
        for (int64_t tap = 0; tap < g.kernelSize; ++tap)
          forEachRow(g, tap, [&](int64_t small, int64_t large, int64_t count) {
            for (int64_t i = 0; i < count; ++i) {
              sums[static_cast<size_t>(small + i)] += from[large + i * g.strides[2]];
              ++counts[static_cast<size_t>(small + i)];
            }
          });
        for (size_t i = 0; i < sums.size(); ++i)
          out[plane * g.smallSize + static_cast<int64_t>(i)] =
              static_cast<T>(stored(divided(sums[i], std::max<int64_t>(counts[i], 1)), plain));
      }
    });
  });
}

void kernels::fixedSum(const FixedOperand &input, std::span<const int64_t> axes, bool isMean,
                       const FixedResult &result, Tensor &output) {
  const Tensor whole = convert(input.integers, DataType::I32);
  const Shape &shape = whole.shape();
  std::vector<int64_t> steps(shape.rank(), 0);
  int64_t count = 1;
  int64_t step = 1;
  for (size_t axis = shape.rank(); axis-- > 0;) {
    if (std::ranges::find(axes, static_cast<int64_t>(axis)) != axes.end()) {
      count *= shape[axis];
      continue;
    }
    steps[axis] = step;
    step *= shape[axis];
  }
  std::vector<int64_t> sums(static_cast<size_t>(output.numElements()), 0);
  std::vector<int64_t> at(shape.rank(), 0);
  int64_t place = 0;
  for (int32_t value : whole.data<int32_t>()) {
    sums[static_cast<size_t>(place)] += value - input.params.zeroPoint;
    for (size_t axis = shape.rank(); axis-- > 0;) {
      place += steps[axis];
      if (++at[axis] < shape[axis])
        break;
      place -= steps[axis] * shape[axis];
      at[axis] = 0;
    }
  }
  MultiplierShift factor = fixedPoint(input.params.scale / result.params.scale);
  if (isMean && count > 0) {
    // The division by the count is a part of the multiplier: as many bits as it leaves free.
    int shift =
        std::min({63 - std::countl_zero(static_cast<uint64_t>(count)), 32, 31 - factor.rshift});
    factor.multiplier =
        static_cast<int32_t>((static_cast<int64_t>(factor.multiplier) << shift) / count);
    factor.rshift += shift;
  }
  withInteger(output.type(), [&]<typename T>(T) {
    const std::span<T> out = output.mutableData<T>();
    for (size_t index = 0; index < sums.size(); ++index) {
      out[index] =
          static_cast<T>(stored(scaled(static_cast<int32_t>(sums[index]), factor), result));
    }
  });
}

void kernels::fixedSoftmax(const FixedOperand &input, int64_t axis, double beta,
                           const FixedResult &result, Tensor &output, ThreadPool &threads) {
  const Shape &shape = input.integers.shape();
  const int64_t length = shape[static_cast<size_t>(axis)];
  const int64_t inner = shape.strides()[static_cast<size_t>(axis)];
  const int64_t rows = length == 0 ? 0 : shape.numElements() / length;
  // e^(scale * beta * -d) for differences d from the largest integer of a row.
  std::vector<float> table(256);
  const float unit = -static_cast<float>(input.params.scale) * static_cast<float>(beta);
  for (size_t difference = 0; difference < table.size(); ++difference)
    table[difference] = std::exp(unit * static_cast<float>(difference));
  const auto outputScale = static_cast<float>(result.params.scale);
  withInteger(output.type(), [&]<typename T>(T) {
    const T *in = input.integers.data<T>().data();
    T *out = output.mutableData<T>().data();
    threads.parallelFor(rows, 16, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t base = row / inner * inner * length + row % inner;
        int32_t largest = std::numeric_limits<T>::min();
        for (int64_t i = 0; i < length; ++i)
          largest = std::max<int32_t>(largest, in[base + i * inner]);
        float sum = 0;
        for (int64_t i = 0; i < length; ++i)
          sum += table[static_cast<size_t>(largest - in[base + i * inner])];
        const float inverse = 1.0F / (sum * outputScale);
        for (int64_t i = 0; i < length; ++i) {
          const float share = table[static_cast<size_t>(largest - in[base + i * inner])] * inverse;
          out[base + i * inner] =
              static_cast<T>(stored(static_cast<int64_t>(std::round(share)), result));
        }
      }
    });
  });
}

namespace {

/// Where one position of a resized dimension reads: from `low` and `high`, the latter with `weight`
/// of 10 bits, or as a number.
struct FixedTap {
  int64_t low, high;
  int32_t weight;
  float part;
};

} // namespace

/// Positions in f32, or with 10 fractional bits.
static std::vector<FixedTap> tapsOf(int64_t from, int64_t to, FixedResize how, bool isReal) {
  constexpr int64_t kOne = 1 << 10;
  const bool aligns = how == FixedResize::AlignCorners && to > 1;
  const int64_t inner = aligns ? from - 1 : from;
  const int64_t outer = aligns ? to - 1 : to;
  const int64_t step = (kOne * inner + outer / 2) / outer;
  const float scale = static_cast<float>(inner) / static_cast<float>(outer);
  std::vector<FixedTap> taps;
  for (int64_t at = 0; at < to; ++at) {
    const bool isHalf = how == FixedResize::HalfPixel;
    const int64_t fixed = isHalf ? at * step + step / 2 - kOne / 2 : at * step;
    const float real =
        isHalf ? (static_cast<float>(at) + 0.5F) * scale - 0.5F : static_cast<float>(at) * scale;
    const int64_t below = isReal ? static_cast<int64_t>(std::floor(real)) : fixed / kOne;
    const int64_t above =
        isReal ? static_cast<int64_t>(std::ceil(real)) : (fixed + kOne - 1) / kOne;
    // A rounded step leads beyond the last element, the farther the longer the output is.
    if (below >= from - 1) {
      taps.push_back({from - 1, from - 1, 0, 0});
      continue;
    }
    const int64_t low = std::max<int64_t>(below, 0);
    taps.push_back({low, std::min(above, from - 1), static_cast<int32_t>(fixed - kOne * low),
                    real - static_cast<float>(low)});
  }
  return taps;
}

/// What lies between `a` and `b` of one row, and `c` and `d` of the next.
template <typename T> static T blended(T a, T b, T c, T d, const FixedTap &y, const FixedTap &x) {
  if constexpr (std::is_unsigned_v<T>) {
    const float sum = static_cast<float>(a) * (1 - y.part) * (1 - x.part) +
                      static_cast<float>(c) * y.part * (1 - x.part) +
                      static_cast<float>(b) * (1 - y.part) * x.part +
                      static_cast<float>(d) * y.part * x.part;
    return static_cast<T>(sum + 0.5F);
  }
  constexpr int64_t kOne = 1 << 10;
  const int64_t sum = a * (kOne - y.weight) * (kOne - x.weight) + b * (kOne - y.weight) * x.weight +
                      c * int64_t(y.weight) * (kOne - x.weight) + d * int64_t(y.weight) * x.weight;
  const int64_t half = sum > 0 ? 1 << 19 : -(1 << 19);
  return static_cast<T>((sum + half) / (1 << 20));
}

void kernels::fixedResize(const Tensor &input, FixedResize how, Tensor &output,
                          ThreadPool &threads) {
  const Shape &shape = output.shape();
  if (shape.numElements() == 0)
    return;
  const size_t rank = shape.rank();
  const int64_t height = input.shape()[rank - 2];
  const int64_t width = input.shape()[rank - 1];
  const bool isReal = input.type() == DataType::U8;
  const std::vector<FixedTap> rows = tapsOf(height, shape[rank - 2], how, isReal);
  const std::vector<FixedTap> columns = tapsOf(width, shape[rank - 1], how, isReal);
  const int64_t size = shape[rank - 2] * shape[rank - 1];
  withInteger(output.type(), [&]<typename T>(T) {
    const T *in = input.data<T>().data();
    T *out = output.mutableData<T>().data();
    const int64_t planes = shape.numElements() / std::max<int64_t>(size, 1);
    threads.parallelFor(planes, 1, [&](int64_t begin, int64_t end) {
      for (int64_t plane = begin; plane < end; ++plane) {
        const T *from = in + plane * height * width;
        T *to = out + plane * size;
        for (const FixedTap &y : rows) {
          const T *low = from + y.low * width;
          const T *high = from + y.high * width;
          for (const FixedTap &x : columns)
            *to++ = blended(low[x.low], low[x.high], high[x.low], high[x.high], y, x);
        }
      }
    });
  });
}
