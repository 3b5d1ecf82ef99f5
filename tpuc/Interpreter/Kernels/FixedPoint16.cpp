//===- FixedPoint16.cpp - Ops on 16-bit integers with a scale -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/FixedPoint16.h"
#include "tpuc/Interpreter/Kernels/WindowGeometry.h"
#include "tpuc/Support/Convert.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

using namespace tpuc;
using namespace tpuc::kernels;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

int64_t kernels::scaledWide(int64_t sum, MultiplierShift factor) {
  const int32_t multiplier =
      factor.multiplier < 0x7FFF0000 ? (factor.multiplier + (1 << 15)) >> 16 : 0x7FFF;
  return static_cast<int64_t>(
      roundingShift(Int128(sum) * multiplier, 15 + factor.rshift, RoundingMode::HalfUp));
}

static int16_t storedWide(int64_t sum, const WideRequant &requant, int64_t channel) {
  const auto [multiplier, rshift] =
      requant.factors[requant.factors.size() == 1 ? 0 : static_cast<size_t>(channel)];
  int64_t value = 0;
  switch (requant.rounding) {
  case SumRounding::Wide:
    value = scaledWide(sum, {multiplier, rshift});
    break;
  case SumRounding::Once:
    value = static_cast<int64_t>(multiplyShift(sum, multiplier, rshift + 31, RoundingMode::HalfUp));
    break;
  case SumRounding::Twice:
    value = multiplyShiftTFLite(static_cast<int32_t>(sum), multiplier, rshift);
    break;
  }
  return static_cast<int16_t>(std::clamp(value + requant.zeroPoint, requant.range.lowest,
                                         static_cast<int64_t>(requant.range.highest)));
}

/// The integers less their zero point, in 16 bits.
static Tensor centred(const FixedOperand &operand) {
  Tensor made = convert(operand.integers, DataType::I16);
  if (operand.params.zeroPoint == 0)
    return made;
  made = made.clone();
  for (int16_t &value : made.mutableData<int16_t>())
    value = static_cast<int16_t>(value - operand.params.zeroPoint);
  return made;
}

static int64_t biasOf(const Tensor *bias, int64_t channel) {
  return bias ? bias->data<int64_t>()[static_cast<size_t>(channel)] : 0;
}

void kernels::wideConvolve(const Tensor &input, const Tensor &filter, const Tensor *bias,
                           const WindowParams &window, int64_t group, const WideRequant &requant,
                           Tensor &output, ThreadPool &threads) {
  const Geometry g = geometryOf(output.shape(), input.shape(), window);
  const int64_t channels = filter.shape()[1];
  const int64_t each = g.smallChannels / std::max<int64_t>(group, 1);
  const int16_t *in = input.data<int16_t>().data();
  const int8_t *weights = filter.data<int8_t>().data();
  int16_t *out = output.mutableData<int16_t>().data();
  threads.parallelFor(g.batch * g.smallChannels, 1, [&](int64_t begin, int64_t end) {
    std::vector<int64_t> sums(static_cast<size_t>(g.smallSize));
    for (int64_t plane = begin; plane < end; ++plane) {
      const int64_t channel = plane % g.smallChannels;
      std::ranges::fill(sums, biasOf(bias, channel));
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t from = plane / g.smallChannels * g.largeChannels + channel / each * channels;
        const int16_t *row = in + (from + c) * g.largeSize;
        for (int64_t tap = 0; tap < g.kernelSize; ++tap) {
          const int64_t weight = weights[(channel * channels + c) * g.kernelSize + tap];
          forEachRow(g, tap, [&](int64_t small, int64_t large, int64_t count) {
            for (int64_t i = 0; i < count; ++i)
              sums[static_cast<size_t>(small + i)] += weight * row[large + i * g.strides[2]];
          });
        }
      }
      for (int64_t i = 0; i < g.smallSize; ++i)
        out[plane * g.smallSize + i] = storedWide(sums[static_cast<size_t>(i)], requant, channel);
    }
  });
}

void kernels::wideDeconvolve(const Tensor &input, const Tensor &filter, const Tensor *bias,
                             const WindowParams &window, const WideRequant &requant, Tensor &output,
                             ThreadPool &threads) {
  const Geometry g = geometryOf(input.shape(), output.shape(), window);
  const int16_t *in = input.data<int16_t>().data();
  const int8_t *weights = filter.data<int8_t>().data();
  int16_t *out = output.mutableData<int16_t>().data();
  threads.parallelFor(g.batch * g.largeChannels, 1, [&](int64_t begin, int64_t end) {
    std::vector<int64_t> sums(static_cast<size_t>(g.largeSize));
    for (int64_t plane = begin; plane < end; ++plane) {
      const int64_t channel = plane % g.largeChannels;
      std::ranges::fill(sums, biasOf(bias, channel));
      for (int64_t c = 0; c < g.smallChannels; ++c) {
        const int16_t *row = in + (plane / g.largeChannels * g.smallChannels + c) * g.smallSize;
        for (int64_t tap = 0; tap < g.kernelSize; ++tap) {
          const int64_t weight = weights[(c * g.largeChannels + channel) * g.kernelSize + tap];
          forEachRow(g, tap, [&](int64_t small, int64_t large, int64_t count) {
            for (int64_t i = 0; i < count; ++i)
              sums[static_cast<size_t>(large + i * g.strides[2])] += weight * row[small + i];
          });
        }
      }
      for (int64_t i = 0; i < g.largeSize; ++i)
        out[plane * g.largeSize + i] = storedWide(sums[static_cast<size_t>(i)], requant, channel);
    }
  });
}

/// Where matrix `batch` of the result, whose dimensions in front are those of `shape`, begins in a
/// tensor whose own are broadcast to them; counted in matrices.
static int64_t broadcastMatrix(const Shape &own, const Shape &shape, int64_t batch) {
  int64_t place = 0;
  int64_t step = 1;
  for (size_t back = 3; back <= shape.rank(); ++back) {
    const int64_t extent = shape[shape.rank() - back];
    const int64_t at = batch % extent;
    batch /= extent;
    if (back > own.rank())
      break;
    const int64_t mine = own[own.rank() - back];
    place += mine == 1 ? 0 : at * step;
    step *= mine;
  }
  return place;
}

void kernels::wideMatMul(const FixedOperand &leftOperand, const FixedOperand &rightOperand,
                         const Tensor *bias, const WideMatMul &params, const WideRequant &requant,
                         Tensor &output, ThreadPool &threads) {
  const Tensor left = centred(leftOperand);
  const Tensor right = centred(rightOperand);
  const Shape &shape = output.shape();
  const int64_t rows = shape[shape.rank() - 2];
  const int64_t columns = shape[shape.rank() - 1];
  const Shape &own = left.shape();
  const int64_t inner = own[own.rank() - (params.leftTransposed ? 2 : 1)];
  const int16_t *a = left.data<int16_t>().data();
  const int16_t *b = right.data<int16_t>().data();
  const int64_t aRow = params.leftTransposed ? 1 : inner;
  const int64_t aStep = params.leftTransposed ? rows : 1;
  const int64_t bColumn = params.rightTransposed ? inner : 1;
  const int64_t bStep = params.rightTransposed ? 1 : columns;
  Tensor wide = output.type() == DataType::I16 ? output : Tensor(DataType::I16, shape);
  int16_t *out = wide.mutableData<int16_t>().data();
  const int64_t count = rows * columns == 0 ? 0 : shape.numElements() / columns;
  threads.parallelFor(count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int16_t *from =
          a + broadcastMatrix(own, shape, row / rows) * rows * inner + row % rows * aRow;
      const int16_t *to = b + broadcastMatrix(right.shape(), shape, row / rows) * inner * columns;
      for (int64_t column = 0; column < columns; ++column) {
        int64_t sum = biasOf(bias, column);
        for (int64_t k = 0; k < inner; ++k)
          sum += int64_t(from[k * aStep]) * to[column * bColumn + k * bStep];
        out[row * columns + column] = storedWide(sum, requant, column);
      }
    }
  });
  if (output.type() != DataType::I16) {
    const Tensor narrow = convert(wide, output.type());
    std::ranges::copy(narrow.rawBytes(), output.mutableBytes().begin());
  }
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// The sigmoid of i / 24 with 16 bits, moved by half of what a line to the next one is too low in
/// the middle. The last one is 1, as far as 16 bits go.
static const std::array<uint16_t, 256> &sigmoidTable() {
  static const std::array<uint16_t, 256> kTable = [] {
    const auto sigmoid = [](double i) { return 0x1p16 / (1 + std::exp(-i / 24)); };
    std::array<uint16_t, 256> table{};
    for (size_t i = 0; i < table.size(); ++i) {
      const auto at = static_cast<double>(i);
      const double low = sigmoid(at + 0.5) - (sigmoid(at) + sigmoid(at + 1)) / 2;
      table[i] = static_cast<uint16_t>(std::round(sigmoid(at) + low / 2));
    }
    table.back() = 65535;
    return table;
  }();
  return kTable;
}

namespace {

/// Brings integers of a scale to steps of 1 / (3 * 2^12). A power of two is exact; another one
/// is a multiplier of at most 15 bits with a shift behind it.
struct TableStep {
  explicit TableStep(double scale) {
    int exponent = 0;
    if (std::frexp(scale, &exponent) == 0.5 && exponent >= -11 && exponent <= -10) {
      multiplier = 3 << (exponent + 11);
      return;
    }
    double factor = scale * 4096 * 3;
    for (; factor <= 32767.0 / 2 && shift <= 30; ++shift)
      factor *= 2;
    multiplier = static_cast<int32_t>(std::min(factor, kBeyond));
  }
  int32_t operator()(int16_t value) const {
    const int64_t half = shift > 0 ? int64_t(1) << (shift - 1) : 0;
    const int64_t steps = (int64_t(value) * multiplier + half) >> shift;
    constexpr auto kMost = static_cast<int64_t>(kBeyond);
    return static_cast<int32_t>(std::clamp(steps, -kMost, kMost));
  }

  /// More steps than the tables have.
  static constexpr double kBeyond = 0x1p17;

  int32_t multiplier = 0;
  int32_t shift = 0;
};

} // namespace

/// The table at `steps`, whose last `bits` bits lie between two entries, times 2^bits; `most`
/// beyond the end.
static int32_t tableAt(uint32_t steps, unsigned bits, int32_t most) {
  const std::array<uint16_t, 256> &table = sigmoidTable();
  const uint32_t index = steps >> bits;
  if (index >= 255)
    return most;
  const int32_t low = table[index];
  return (low << bits) +
         static_cast<int32_t>(steps & ((1U << bits) - 1)) * (table[index + 1] - low);
}

template <typename Function>
static void forEach16(const FixedOperand &input, Tensor &output, ThreadPool &threads,
                      Function function) {
  const int16_t *in = input.integers.data<int16_t>().data();
  int16_t *out = output.mutableData<int16_t>().data();
  const TableStep toSteps(input.params.scale);
  threads.parallelFor(output.numElements(), 1 << 12, [&](int64_t begin, int64_t end) {
    for (int64_t index = begin; index < end; ++index)
      out[index] = function(toSteps(in[index]));
  });
}

void kernels::wideSigmoid(const FixedOperand &input, Tensor &output, ThreadPool &threads) {
  forEach16(input, output, threads, [](int32_t steps) {
    const int32_t size = tableAt(static_cast<uint32_t>(std::abs(steps)), 9, 0x7FFF << 10);
    const int32_t value = steps >= 0 ? size + (1 << 9) : (1 << 25) - size + (1 << 9) - 1;
    return static_cast<int16_t>(value >> 10);
  });
}

void kernels::wideTanh(const FixedOperand &input, Tensor &output, ThreadPool &threads) {
  forEach16(input, output, threads, [](int32_t steps) {
    const int32_t size = tableAt(static_cast<uint32_t>(std::abs(steps)), 8, 0xFFFF << 8);
    const int32_t value =
        steps >= 0 ? size - (1 << 23) + (1 << 7) : -size + (1 << 23) + (1 << 7) - 1;
    return static_cast<int16_t>(value >> 8);
  });
}

namespace {

/// 513 values of a function of [low, high] with 15 fractional bits, moved so that lines between
/// them are nearest at their ends and in the middle.
class LineTable {
public:
  template <typename Function> LineTable(float low, float high, Function function) {
    constexpr int kSteps = 512;
    const float step = (high - low) / kSteps;
    const auto entry = [](float value) {
      return static_cast<int16_t>(std::clamp(value, -32768.0F, 32767.0F));
    };
    for (int i = 0; i < kSteps; ++i) {
      const float at = low + static_cast<float>(i) * step;
      const float value = std::round(function(at) * kUnit);
      const float next = function(low + static_cast<float>(i + 1) * step) * kUnit;
      const float middle = std::round(function(at + step / 2) * kUnit);
      const float error = std::round((next + value) / 2) - middle;
      values[static_cast<size_t>(i)] = entry(value - std::round(error / 2));
    }
    values[kSteps] = entry(std::round(function(high) * kUnit));
  }

  int16_t at(int32_t place) const {
    const auto value = std::clamp(place, -32768, 32767);
    const auto index = static_cast<size_t>(256 + (value >> 7));
    const int32_t slope = values[index + 1] - values[index];
    return static_cast<int16_t>(values[index] + ((slope * (value & 0x7f) + 64) >> 7));
  }

private:
  static constexpr float kUnit = 32768.0F;
  std::array<int16_t, 513> values{};
};

} // namespace

void kernels::wideSoftmax(const FixedOperand &input, double beta, Tensor &output,
                          ThreadPool &threads) {
  static const LineTable kExp(-10.0F, 0.0F, [](float x) { return std::exp(x); });
  static const LineTable kInverse(0.0F, 1.0F, [](float x) { return 1.0F / (1.0F + x); });
  const Shape &shape = output.shape();
  const int64_t length = shape.rank() == 0 ? 1 : shape[shape.rank() - 1];
  const MultiplierShift factor = fixedPoint(input.params.scale * beta / (10.0 / 65535.0));
  const int16_t *in = input.integers.data<int16_t>().data();
  int16_t *out = output.mutableData<int16_t>().data();
  threads.parallelFor(
      length == 0 ? 0 : shape.numElements() / length, 16, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          const int16_t *from = in + row * length;
          int16_t *to = out + row * length;
          const int32_t largest = *std::max_element(from, from + length);
          int32_t sum = 0;
          for (int64_t i = 0; i < length; ++i) {
            to[i] = kExp.at(
                multiplyShiftTFLite(from[i] - largest, factor.multiplier, factor.rshift) + 32767);
            sum += to[i];
          }
          // sum = 2^(31 - headroom) * (1 + x), of which x gets 16 bits.
          const int headroom = std::countl_zero(static_cast<uint32_t>(sum));
          const auto shifted = static_cast<int32_t>(
              ((static_cast<int64_t>(sum) << (headroom - 1)) + (1 << 13)) >> 14);
          const int16_t inverse = kInverse.at(shifted - ((1 << 15) + (1 << 16)));
          const int shift = 31 - headroom;
          for (int64_t i = 0; i < length; ++i) {
            const int64_t share = (int64_t(to[i]) * inverse + (int64_t(1) << (shift - 1))) >> shift;
            to[i] = static_cast<int16_t>(std::clamp<int64_t>(share, 0, 32767));
          }
        }
      });
}
