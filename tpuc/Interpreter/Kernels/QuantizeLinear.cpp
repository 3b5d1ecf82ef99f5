//===- QuantizeLinear.cpp - Between floats and integers with a scale ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/QuantizeLinear.h"
#include "tpuc/Interpreter/Kernels/Elementwise.h"
#include "tpuc/Interpreter/Kernels/Reduce.h"
#include "tpuc/Support/Float.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tpuc::kernels {

namespace {

/// The input as [outer, blocks, positions of a block, inner], and the parameters broadcast to it.
struct Layout {
  Shape input;
  Shape parameters;
};

/// None where the last block is shorter.
std::optional<Layout> layoutOf(const Shape &input, const Shape &parameters,
                               const QuantizeLayout &layout) {
  const int64_t count = input.numElements();
  if (parameters.numElements() == 1)
    return Layout{Shape{count}, Shape{1}};
  const auto axis = static_cast<size_t>(layout.axis);
  int64_t outer = 1;
  int64_t inner = 1;
  for (size_t i = 0; i < input.rank(); ++i) {
    if (i < axis)
      outer *= input[i];
    if (i > axis)
      inner *= input[i];
  }
  if (layout.blockSize == 0)
    return Layout{Shape{outer, input[axis], inner}, Shape{1, input[axis], 1}};
  const int64_t numBlocks = parameters[axis];
  if (numBlocks * layout.blockSize != input[axis])
    return std::nullopt;
  return Layout{Shape{outer, numBlocks, layout.blockSize, inner},
                Shape{outer, numBlocks, 1, inner}};
}

/// The parameters with one entry per element of the input.
template <typename T>
Tensor expandBlocks(const Tensor &parameters, const Shape &input, const QuantizeLayout &layout) {
  const Tensor from = toWorking<T>(parameters);
  const auto axis = static_cast<size_t>(layout.axis);
  const int64_t inner = input.strides()[axis];
  Tensor result(from.type(), input);
  std::span<T> to = result.mutableData<T>();
  for (int64_t i = 0; i < static_cast<int64_t>(to.size()); ++i) {
    const int64_t line = i / inner / input[axis];
    const int64_t block = i / inner % input[axis] / layout.blockSize;
    to[static_cast<size_t>(i)] = from.data<T>()[static_cast<size_t>(
        (line * parameters.shape()[axis] + block) * inner + i % inner)];
  }
  return result;
}

template <typename T>
OperandReader<T> parameterReader(const Tensor &parameters, const Shape &input,
                                 const QuantizeLayout &layout) {
  if (std::optional<Layout> shapes = layoutOf(input, parameters.shape(), layout))
    return OperandReader<T>(parameters.reshaped(shapes->parameters), shapes->input);
  return OperandReader<T>(expandBlocks<T>(parameters, input, layout), input);
}

/// Zero points of 0 where there are none.
Tensor orZero(const Tensor *zeroPoint, DataType type) {
  return zeroPoint ? *zeroPoint : Tensor(type, Shape{1});
}

/// The bounds of a type as numbers that T holds exactly.
template <typename T> struct Bounds {
  T low;
  T high;

  explicit Bounds(DataType type) {
    if (isFloat(type)) {
      const double largest =
          detail::decodeToDouble(floatFormat(type), floatFormat(type).largestCode);
      low = static_cast<T>(-largest);
      high = static_cast<T>(largest);
    } else {
      const IntegerRange range = integerRange(type);
      low = static_cast<T>(range.lowest);
      high = static_cast<T>(range.highest);
    }
  }
  T operator()(T value) const {
    const T raised = value < low ? low : value;
    return raised > high ? high : raised;
  }
};

template <typename T>
void quantizeAs(const Tensor &input, const Tensor &scale, const Tensor &zeroPoint,
                const QuantizeLayout &layout, bool saturate, Tensor &output, ThreadPool &threads) {
  const OperandReader<T> values(input, input.shape());
  const OperandReader<T> scales = parameterReader<T>(scale, input.shape(), layout);
  const OperandReader<T> zeros = parameterReader<T>(zeroPoint, input.shape(), layout);
  const Bounds<T> bounds(output.type());
  const bool toFloat = isFloat(output.type());
  forEachBlock(threads, output.numElements(), 4, [&](int64_t first, int64_t count) {
    std::array<T, kBlockElements> valueBuffer;
    std::array<T, kBlockElements> scaleBuffer;
    std::array<T, kBlockElements> zeroBuffer;
    std::array<T, kBlockElements> results;
    const T *x = values.read(first, count, valueBuffer.data());
    const T *s = scales.read(first, count, scaleBuffer.data());
    const T *z = zeros.read(first, count, zeroBuffer.data());
    if (toFloat) {
      for (int64_t i = 0; i < count; ++i) {
        const T quotient = x[i] / s[i] + z[i];
        results[i] = saturate ? bounds(quotient) : quotient;
      }
    } else {
      for (int64_t i = 0; i < count; ++i) {
        const T quotient = x[i] / s[i];
        const T rounded =
            roundToIntegral(quotient != quotient ? T(0) : quotient, RoundingMode::HalfToEven);
        results[i] = bounds(rounded + z[i]);
      }
    }
    storeBlock<T>(std::span(results.data(), static_cast<size_t>(count)), output, first);
  });
}

/// left - right. Integers wrap: only damaged operands of 64 bits have such differences.
template <typename T> T difference(T left, T right) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(left) - static_cast<uint64_t>(right));
  else
    return left - right;
}

/// `Stored`: the working type of the input. `T`: that of the output.
template <typename Stored, typename T>
void dequantizeAs(const Tensor &input, const Tensor &scale, const Tensor &zeroPoint,
                  const QuantizeLayout &layout, Tensor &output, ThreadPool &threads) {
  const OperandReader<Stored> values(input, input.shape());
  const OperandReader<T> scales = parameterReader<T>(scale, input.shape(), layout);
  const OperandReader<Stored> zeros = parameterReader<Stored>(zeroPoint, input.shape(), layout);
  const BlockWriter<T> writer(output);
  forEachBlock(threads, output.numElements(), 2, [&](int64_t first, int64_t count) {
    std::array<Stored, kBlockElements> valueBuffer;
    std::array<T, kBlockElements> scaleBuffer;
    std::array<Stored, kBlockElements> zeroBuffer;
    std::array<T, kBlockElements> resultBuffer;
    const Stored *x = values.read(first, count, valueBuffer.data());
    const T *s = scales.read(first, count, scaleBuffer.data());
    const Stored *z = zeros.read(first, count, zeroBuffer.data());
    T *results = writer.room(first, resultBuffer.data());
    for (int64_t i = 0; i < count; ++i)
      results[i] = static_cast<T>(difference(x[i], z[i])) * s[i];
    writer.finish(first, count, results);
  });
}

} // namespace

std::optional<Error> checkLayout(const Shape &input, const Shape &parameters,
                                 const QuantizeLayout &layout) {
  const auto error = [&](std::string expected) {
    return Error{"",
                 "scale or zero point has shape " + parameters.str() + " for an input of shape " +
                     input.str(),
                 std::move(expected)};
  };
  if (parameters.numElements() == 1 && layout.blockSize == 0)
    return std::nullopt;
  const auto axis = static_cast<size_t>(layout.axis);
  if (axis >= input.rank())
    return error("one element");
  if (layout.blockSize == 0) {
    if (parameters.rank() != 1 || parameters[0] != input[axis])
      return error("one element, or one for each of " + std::to_string(input[axis]) +
                   " along axis " + std::to_string(axis));
    return std::nullopt;
  }
  Shape expected = input;
  expected[axis] = (input[axis] + layout.blockSize - 1) / layout.blockSize;
  if (!(parameters == expected))
    return error(expected.str() + " for blocks of " + std::to_string(layout.blockSize));
  return std::nullopt;
}

void quantizeLinear(const Tensor &input, const Tensor &scale, const Tensor *zeroPoint,
                    const QuantizeLayout &layout, bool saturate, Tensor &output,
                    ThreadPool &threads) {
  const Tensor zero = orZero(zeroPoint, output.type());
  if (input.type() == DataType::F64 || input.type() == DataType::I32)
    return quantizeAs<double>(input, scale, zero, layout, saturate, output, threads);
  quantizeAs<float>(input, scale, zero, layout, saturate, output, threads);
}

void dequantizeLinear(const Tensor &input, const Tensor &scale, const Tensor *zeroPoint,
                      const QuantizeLayout &layout, Tensor &output, ThreadPool &threads) {
  const Tensor zero = orZero(zeroPoint, input.type());
  const auto run = [&]<typename T>(T) {
    if (isFloat(input.type()))
      return dequantizeAs<T, T>(input, scale, zero, layout, output, threads);
    dequantizeAs<int64_t, T>(input, scale, zero, layout, output, threads);
  };
  return output.type() == DataType::F64 ? run(double()) : run(float());
}

void dynamicQuantizeLinear(const Tensor &input, Tensor &output, Tensor &scale, Tensor &zeroPoint,
                           ThreadPool &threads) {
  Tensor extreme(DataType::F32, Shape{1});
  std::vector<int64_t> axes(input.shape().rank());
  for (size_t axis = 0; axis < axes.size(); ++axis)
    axes[axis] = static_cast<int64_t>(axis);
  reduce(ReduceOp::Max, input, axes, extreme, threads);
  const float high = std::max(extreme.data<float>()[0], 0.0F);
  reduce(ReduceOp::Min, input, axes, extreme, threads);
  const float low = std::min(extreme.data<float>()[0], 0.0F);
  const float step = high == low ? 1.0F : (high - low) / 255.0F;
  const float zero =
      Bounds<float>(DataType::U8)(roundToIntegral(-low / step, RoundingMode::HalfToEven));
  scale.mutableData<float>()[0] = step;
  zeroPoint.mutableData<uint8_t>()[0] = toInteger<uint8_t>(zero);
  quantizeLinear(input, scale, &zeroPoint, {}, true, output, threads);
}

namespace {

/// `value`, ties away from zero, from `low` to 127; what is no number becomes `low`.
int8_t storedRow(float value, float low) {
  const float rounded = std::round(value);
  return static_cast<int8_t>(rounded > low ? std::min(rounded, 127.0F) : low);
}

void quantizeRowSymmetric(std::span<const float> row, int8_t *output, float &scale,
                          int8_t &zeroPoint) {
  constexpr float kSteps = 127;
  float high = 0;
  for (float value : row)
    high = std::max(high, std::abs(value));
  zeroPoint = 0;
  scale = high == 0 ? 1 : high / kSteps;
  const float inverse = high == 0 ? 0 : kSteps / high;
  for (size_t i = 0; i < row.size(); ++i)
    output[i] = storedRow(row[i] * inverse, -kSteps);
}

void quantizeRowAsymmetric(std::span<const float> row, int8_t *output, float &scale,
                           int8_t &zeroPoint) {
  constexpr double kLowest = -128;
  constexpr double kHighest = 127;
  double low = 0;
  double high = 0;
  for (float value : row) {
    low = std::min(low, static_cast<double>(value));
    high = std::max(high, static_cast<double>(value));
  }
  if (low == high) {
    std::fill_n(output, row.size(), int8_t(0));
    scale = 1;
    zeroPoint = 0;
    return;
  }
  const double step = (high - low) / (kHighest - kLowest);
  const bool fromLow =
      std::abs(kLowest) + std::abs(low / step) < std::abs(kHighest) + std::abs(high / step);
  const double zero = fromLow ? kLowest - low / step : kHighest - high / step;
  scale = static_cast<float>(step);
  // Of a range that is not finite it is no number.
  const double rounded = std::round(zero);
  zeroPoint = static_cast<int8_t>(rounded > kLowest ? std::min(rounded, kHighest) : kLowest);
  const float inverse = scale == 0 ? 0 : static_cast<float>(1.0 / static_cast<double>(scale));
  for (size_t i = 0; i < row.size(); ++i) {
    const float scaled = row[i] * inverse;
    output[i] = storedRow(static_cast<float>(zeroPoint) + scaled, static_cast<float>(kLowest));
  }
}

} // namespace

void dynamicQuantizeRows(const Tensor &input, bool symmetric, Tensor &output, Tensor &scale,
                         Tensor &zeroPoint, ThreadPool &threads) {
  const int64_t rows = scale.numElements();
  const int64_t extent = rows == 0 ? 0 : input.numElements() / rows;
  const std::span<const float> from = input.data<float>();
  int8_t *to = output.mutableData<int8_t>().data();
  const std::span<float> scales = scale.mutableData<float>();
  const std::span<int8_t> zeros = zeroPoint.mutableData<int8_t>();
  threads.parallelFor(rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const auto at = static_cast<size_t>(row);
      const auto values =
          from.subspan(static_cast<size_t>(row * extent), static_cast<size_t>(extent));
      const auto quantize = symmetric ? quantizeRowSymmetric : quantizeRowAsymmetric;
      quantize(values, to + row * extent, scales[at], zeros[at]);
    }
  });
}

Tensor subtractZeroPoint(const Tensor &input, const Tensor *zeroPoint, ThreadPool &threads) {
  Tensor result(DataType::I32, input.shape());
  const OperandReader<int64_t> values(input, input.shape());
  const OperandReader<int64_t> zeros(orZero(zeroPoint, input.type()), input.shape());
  int32_t *to = result.mutableData<int32_t>().data();
  forEachBlock(threads, result.numElements(), 2, [&](int64_t first, int64_t count) {
    std::array<int64_t, kBlockElements> valueBuffer;
    std::array<int64_t, kBlockElements> zeroBuffer;
    const int64_t *x = values.read(first, count, valueBuffer.data());
    const int64_t *z = zeros.read(first, count, zeroBuffer.data());
    for (int64_t i = 0; i < count; ++i)
      to[first + i] = static_cast<int32_t>(difference(x[i], z[i]));
  });
  return result;
}

void requantize(const Tensor &sums, const Tensor &factor, int64_t zeroPoint, Tensor &output,
                ThreadPool &threads) {
  const OperandReader<float> values(sums, output.shape());
  const OperandReader<float> factors(factor, output.shape());
  const Bounds<float> bounds(output.type());
  const auto zero = static_cast<float>(zeroPoint);
  forEachBlock(threads, output.numElements(), 4, [&](int64_t first, int64_t count) {
    std::array<float, kBlockElements> valueBuffer;
    std::array<float, kBlockElements> factorBuffer;
    std::array<float, kBlockElements> results;
    const float *x = values.read(first, count, valueBuffer.data());
    const float *f = factors.read(first, count, factorBuffer.data());
    for (int64_t i = 0; i < count; ++i)
      results[i] = bounds(roundToIntegral(x[i] * f[i], RoundingMode::HalfToEven) + zero);
    storeBlock<float>(std::span(results.data(), static_cast<size_t>(count)), output, first);
  });
}

} // namespace tpuc::kernels
