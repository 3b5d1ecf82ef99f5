//===- FixedPoint.cpp - Ops on integers with a scale, in fixed point ------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/FixedPoint.h"
#include "tpuc/Interpreter/Kernels/Fixed16.h"
#include "tpuc/Interpreter/Kernels/FixedPoint16.h"
#include "tpuc/Interpreter/Kernels/WindowGeometry.h"
#include "tpuc/Support/Convert.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
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

MultiplierShift kernels::productFactor(double left, double right, double output) {
  const float product = static_cast<float>(left) * static_cast<float>(right);
  return fixedPoint(static_cast<double>(product / static_cast<float>(output)));
}

MultiplierShift kernels::meanFactor(double scale, int64_t count) {
  MultiplierShift factor = fixedPoint(scale);
  if (count <= 1)
    return factor;
  // The division by the count is a part of the multiplier: as many bits as it leaves free.
  const int shift =
      std::min({63 - std::countl_zero(static_cast<uint64_t>(count)), 32, 31 - factor.rshift});
  factor.multiplier =
      static_cast<int32_t>((static_cast<int64_t>(factor.multiplier) << shift) / count);
  factor.rshift += shift;
  return factor;
}

MultiplierShift kernels::averageFactor(int64_t count) {
  assert(count >= 1 && count <= 1 << 20);
  const int shift = 30 + std::bit_width(static_cast<uint64_t>(count)) - 1;
  return {static_cast<int32_t>(((int64_t(1) << shift) + count - 1) / count), shift};
}

RequantMode kernels::fixedPointMode(bool shiftsLeft) {
  return shiftsLeft ? RequantMode::TFLite_LShift : RequantMode::TFLite;
}

static int32_t scaled(int32_t value, MultiplierShift factor) {
  return multiplyShiftTFLite(value, factor.multiplier, factor.rshift);
}

/// The same of sums that may have more than 32 bits, which are rounded once, half away from zero.
static int64_t scaledLong(int64_t sum, MultiplierShift factor) {
  if (std::in_range<int32_t>(sum))
    return scaled(static_cast<int32_t>(sum), factor);
  return static_cast<int64_t>(saturate(
      multiplyShift(sum, factor.multiplier, 31 + factor.rshift, RoundingMode::HalfAwayFromZero),
      integerRange<int32_t>()));
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

/// The shift of fixedDifference.
static constexpr int kDifferenceShift = 7;

double kernels::differenceUnit(double left, double right) {
  return std::ldexp(std::max(left, right), 1 - kDifferenceShift);
}

void kernels::fixedDifference(const FixedOperand &left, const FixedOperand &right, Tensor &output,
                              ThreadPool &threads) {
  const double largest = 2 * std::max(left.params.scale, right.params.scale);
  const MultiplierShift first = fixedPoint(left.params.scale / largest);
  const MultiplierShift second = fixedPoint(right.params.scale / largest);
  forEachPair(left, right, output, threads, [&](int32_t a, int32_t b) {
    return scaled(a * (1 << kDifferenceShift), first) - scaled(b * (1 << kDifferenceShift), second);
  });
}

void kernels::fixedSquare(const Tensor &differences, double unit, const FixedResult &result,
                          Tensor &output, ThreadPool &threads) {
  const MultiplierShift factor = fixedPoint(unit * unit / result.params.scale);
  const FixedOperand operand{differences, {unit, 0}};
  forEachPair(operand, operand, output, threads,
              [&](int32_t a, int32_t b) { return stored(scaled(a * b, factor), result); });
}

void kernels::fixedMul(const FixedOperand &left, const FixedOperand &right,
                       const FixedResult &result, Tensor &output, ThreadPool &threads) {
  const MultiplierShift factor =
      productFactor(left.params.scale, right.params.scale, result.params.scale);
  forEachPair(left, right, output, threads,
              [&](int32_t a, int32_t b) { return stored(scaled(a * b, factor), result); });
}

/// a * b / 2^31, rounded half up.
static int32_t highProduct(int32_t a, int32_t b) { return multiplyShiftTFLite(a, b, 0); }

/// 1 / (1 + x) in units of 2^-31, for `x` of 0 to 1 in the same. With d = (1 + x) / 2, Newton's
/// method begins at 48 / 17 - 32 / 17 * d; its numbers have two bits in front of the point.
static int32_t reciprocalOfOneAnd(int32_t x) {
  constexpr int64_t kOne = INT32_MAX;
  constexpr auto k48Over17 = static_cast<int32_t>(1515870810);
  constexpr auto k32Over17 = static_cast<int32_t>(-1010580540);
  constexpr int32_t kUnit = 1 << 29;
  const auto half = static_cast<int32_t>((x + kOne + 1) / 2);
  int32_t guess = k48Over17 + highProduct(half, k32Over17);
  for (int step = 0; step < 3; ++step) {
    const int32_t rest = kUnit - highProduct(half, guess);
    guess += saturateCast<int32_t>(int64_t(highProduct(guess, rest)) * 4);
  }
  return saturateCast<int32_t>(int64_t(guess) * 2);
}

void kernels::fixedDiv(const FixedOperand &left, const FixedOperand &right,
                       const FixedResult &result, Tensor &output, ThreadPool &threads) {
  // In f64, the product of both scales in f32.
  const float units =
      static_cast<float>(right.params.scale) * static_cast<float>(result.params.scale);
  const MultiplierShift factor =
      fixedPoint(static_cast<double>(static_cast<float>(left.params.scale) / units));
  forEachPair(left, right, output, threads, [&](int32_t a, int32_t b) {
    if (b == 0)
      return a == 0  ? stored(0, result)
             : a < 0 ? result.range.lowest
                     : static_cast<int64_t>(result.range.highest);
    const int32_t dividend = b < 0 ? -a : a;
    const auto divisor = static_cast<uint32_t>(std::abs(b));
    const int zeros = std::countl_zero(divisor);
    const uint32_t rest = (divisor << zeros) - (uint32_t(1) << 31);
    const int32_t reciprocal = reciprocalOfOneAnd(static_cast<int32_t>(rest));
    const int headroom =
        std::countl_zero(static_cast<uint32_t>(dividend < 0 ? ~dividend : dividend)) - 1;
    const int32_t quotient =
        highProduct(static_cast<int32_t>(static_cast<uint32_t>(dividend) << headroom), reciprocal);
    const int shift = factor.rshift + (31 - zeros) + headroom;
    // What is less than half of an integer is none. LiteRT shifts by more than 31 bits there, which
    // C++ leaves open: its results near 0 are any integers then (0 / 130 * 20 is 1 in 2.3.0).
    return stored(shift > 31 ? 0 : multiplyShiftTFLite(quotient, factor.multiplier, shift), result);
  });
}

void kernels::fixedSqrt(const FixedOperand &input, const FixedResult &result, Tensor &output,
                        ThreadPool &threads) {
  const auto from = static_cast<float>(input.params.scale);
  const auto to = static_cast<float>(result.params.scale);
  const auto zero = static_cast<int32_t>(input.params.zeroPoint);
  const auto most = static_cast<float>(result.range.highest) * 2;
  withInteger(output.type(), [&]<typename T>(T) {
    const T *in = input.integers.data<T>().data();
    T *out = output.mutableData<T>().data();
    threads.parallelFor(output.numElements(), kPairGrain, [&](int64_t begin, int64_t end) {
      for (int64_t index = begin; index < end; ++index) {
        const float number = from * static_cast<float>(std::max(in[index] - zero, 0));
        const float root = std::min(std::sqrt(number) / to, most);
        out[index] = static_cast<T>(stored(static_cast<int64_t>(root), result));
      }
    });
  });
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

/// Calls `combine(place, integer less its zero point)` for the elements of `input` in their order;
/// `place` is that of the element of a result without the dimensions `axes`. Returns how many
/// elements have one place.
template <typename Combine>
static int64_t forEachReduced(const FixedOperand &input, std::span<const int64_t> axes,
                              Combine combine) {
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
  std::vector<int64_t> at(shape.rank(), 0);
  int64_t place = 0;
  for (int32_t value : whole.data<int32_t>()) {
    combine(static_cast<size_t>(place), value - input.params.zeroPoint);
    for (size_t axis = shape.rank(); axis-- > 0;) {
      place += steps[axis];
      if (++at[axis] < shape[axis])
        break;
      place -= steps[axis] * shape[axis];
      at[axis] = 0;
    }
  }
  return count;
}

void kernels::fixedSum(const FixedOperand &input, std::span<const int64_t> axes, bool isMean,
                       const FixedResult &result, Tensor &output) {
  std::vector<int64_t> sums(static_cast<size_t>(output.numElements()), 0);
  const int64_t count =
      forEachReduced(input, axes, [&](size_t place, int64_t value) { sums[place] += value; });
  const MultiplierShift factor =
      meanFactor(input.params.scale / result.params.scale, isMean ? count : 1);
  withInteger(output.type(), [&]<typename T>(T) {
    const std::span<T> out = output.mutableData<T>();
    for (size_t index = 0; index < sums.size(); ++index)
      out[index] = static_cast<T>(stored(scaledLong(sums[index], factor), result));
  });
}

void kernels::fixedProd(const FixedOperand &input, std::span<const int64_t> axes,
                        const FixedResult &result, Tensor &output) {
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= input.integers.shape()[static_cast<size_t>(axis)];
  const double root = std::pow(result.params.scale, 1.0 / static_cast<double>(count));
  const MultiplierShift factor = fixedPoint(input.params.scale / root);
  std::vector<int32_t> products(static_cast<size_t>(output.numElements()));
  std::vector<bool> begun(products.size(), false);
  forEachReduced(input, axes, [&](size_t place, int64_t value) {
    products[place] =
        static_cast<int32_t>(begun[place] ? scaledWide(products[place] * value, factor) : value);
    begun[place] = true;
  });
  withInteger(output.type(), [&]<typename T>(T) {
    const std::span<T> out = output.mutableData<T>();
    for (size_t index = 0; index < products.size(); ++index)
      out[index] = static_cast<T>(stored(scaled(products[index], factor), result));
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

/// The same in f32.
struct RealTap {
  int64_t low, high;
  float part;
};

} // namespace

/// How many elements lie between the ends of a dimension of `extent`, as its scale counts them.
static int64_t spanOf(int64_t extent, int64_t to, FixedResize how) {
  return how == FixedResize::AlignCorners && to > 1 ? extent - 1 : extent;
}

std::vector<FixedTap> kernels::fixedTaps(int64_t from, int64_t to, FixedResize how) {
  constexpr int64_t kOne = 1 << 10;
  const int64_t inner = spanOf(from, to, how);
  const int64_t outer = spanOf(to, to, how);
  const int64_t step = (kOne * inner + outer / 2) / outer;
  std::vector<FixedTap> taps;
  for (int64_t at = 0; at < to; ++at) {
    const int64_t fixed =
        how == FixedResize::HalfPixel ? at * step + step / 2 - kOne / 2 : at * step;
    const int64_t below = fixed / kOne;
    // A rounded step leads beyond the last element, the farther the longer the output is.
    if (below >= from - 1) {
      taps.push_back({from - 1, from - 1, 0});
      continue;
    }
    const int64_t low = std::max<int64_t>(below, 0);
    const int64_t above = (fixed + kOne - 1) / kOne;
    taps.push_back({low, std::min(above, from - 1), static_cast<int32_t>(fixed - kOne * low)});
  }
  return taps;
}

static std::vector<RealTap> realTaps(int64_t from, int64_t to, FixedResize how) {
  const float scale =
      static_cast<float>(spanOf(from, to, how)) / static_cast<float>(spanOf(to, to, how));
  std::vector<RealTap> taps;
  for (int64_t at = 0; at < to; ++at) {
    const auto position = static_cast<float>(at);
    const float real =
        how == FixedResize::HalfPixel ? (position + 0.5F) * scale - 0.5F : position * scale;
    const auto below = static_cast<int64_t>(std::floor(real));
    if (below >= from - 1) {
      taps.push_back({from - 1, from - 1, 0});
      continue;
    }
    const int64_t low = std::max<int64_t>(below, 0);
    const auto above = static_cast<int64_t>(std::ceil(real));
    taps.push_back({low, std::min(above, from - 1), real - static_cast<float>(low)});
  }
  return taps;
}

template <typename T> static T blended(T a, T b, T c, T d, const RealTap &y, const RealTap &x) {
  const float sum = static_cast<float>(a) * (1 - y.part) * (1 - x.part) +
                    static_cast<float>(c) * y.part * (1 - x.part) +
                    static_cast<float>(b) * (1 - y.part) * x.part +
                    static_cast<float>(d) * y.part * x.part;
  return static_cast<T>(sum + 0.5F);
}

/// What lies between `a` and `b` of one row, and `c` and `d` of the next.
template <typename T> static T blended(T a, T b, T c, T d, const FixedTap &y, const FixedTap &x) {
  constexpr int64_t kOne = 1 << 10;
  const int64_t sum = a * (kOne - y.weight) * (kOne - x.weight) + b * (kOne - y.weight) * x.weight +
                      c * int64_t(y.weight) * (kOne - x.weight) + d * int64_t(y.weight) * x.weight;
  const int64_t half = sum > 0 ? 1 << 19 : -(1 << 19);
  return static_cast<T>((sum + half) / (1 << 20));
}

/// The last two dimensions of a tensor with elements of T, as taps say.
template <typename T, typename Tap>
static void resizePlanes(const Tensor &input, const std::vector<Tap> &rows,
                         const std::vector<Tap> &columns, Tensor &output, ThreadPool &threads) {
  const Shape &shape = input.shape();
  const int64_t width = shape[shape.rank() - 1];
  const int64_t inner = shape[shape.rank() - 2] * width;
  const int64_t outer = std::ssize(rows) * std::ssize(columns);
  const T *in = input.data<T>().data();
  T *out = output.mutableData<T>().data();
  threads.parallelFor(output.numElements() / outer, 1, [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      const T *from = in + plane * inner;
      T *to = out + plane * outer;
      for (const Tap &y : rows) {
        const T *low = from + y.low * width;
        const T *high = from + y.high * width;
        for (const Tap &x : columns)
          *to++ = blended(low[x.low], low[x.high], high[x.low], high[x.high], y, x);
      }
    }
  });
}

void kernels::fixedResize(const Tensor &input, FixedResize how, Tensor &output,
                          ThreadPool &threads) {
  const Shape &shape = output.shape();
  if (shape.numElements() == 0)
    return;
  const size_t rank = shape.rank();
  const auto taps = [&](auto make, size_t axis) {
    return make(input.shape()[axis], shape[axis], how);
  };
  withInteger(output.type(), [&]<typename T>(T) {
    if constexpr (std::is_unsigned_v<T>)
      resizePlanes<T>(input, taps(realTaps, rank - 2), taps(realTaps, rank - 1), output, threads);
    else
      resizePlanes<T>(input, taps(fixedTaps, rank - 2), taps(fixedTaps, rank - 1), output, threads);
  });
}
