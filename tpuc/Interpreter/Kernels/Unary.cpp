//===- Unary.cpp - Element by element, one operand ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Unary.h"
#include "tpuc/Interpreter/Kernels/Elementwise.h"
#include "tpuc/Interpreter/Kernels/Simd.h"
#include "tpuc/Interpreter/Kernels/VectorMath.h"
#include "tpuc/Support/Convert.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace tpuc::kernels {

namespace {

/// About what a call of a function of libm costs.
constexpr int64_t kCallCost = 20;
/// About what the branch-free forms of VectorMath.h cost.
constexpr int64_t kVectorCost = 6;

struct Loop {
  const Tensor &input;
  Tensor &output;
  ThreadPool &threads;

  template <typename T, typename Function> void run(int64_t cost, Function function) const {
    mapElements<T>(input, output, cost, threads, function);
  }
};

/// Modulo 2^64 for integers.
template <typename T> T negate(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return -value;
  else
    return static_cast<T>(uint64_t(0) - static_cast<uint64_t>(value));
}

template <typename T> T signOf(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return value > 0 ? T(1) : (value < 0 ? T(-1) : value);
  else if constexpr (std::is_signed_v<T>)
    return static_cast<T>((value > 0) - (value < 0));
  else
    return value != 0 ? 1 : 0;
}

template <typename T> T absolute(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return std::abs(value);
  else if constexpr (std::is_signed_v<T>)
    return value < 0 ? negate(value) : value;
  else
    return value;
}

/// ln(1 + e^x) without overflow.
template <typename T> T softplus(T x) {
  return std::max(x, T(0)) + std::log1p(vectorExp(-std::abs(x)));
}

template <typename T> void runRounding(UnaryOp op, const Loop &loop) {
  const RoundingMode mode = op == UnaryOp::Floor  ? RoundingMode::Down
                            : op == UnaryOp::Ceil ? RoundingMode::Up
                                                  : RoundingMode::HalfToEven;
  loop.run<T>(4, [mode](T x) { return roundToIntegral(x, mode); });
}

template <typename T> void runTrigonometric(UnaryOp op, const Loop &loop) {
  switch (op) {
  case UnaryOp::Arccos:
    return loop.run<T>(kCallCost, [](T x) { return std::acos(x); });
  case UnaryOp::Arccosh:
    return loop.run<T>(kCallCost, [](T x) { return std::acosh(x); });
  case UnaryOp::Arcsin:
    return loop.run<T>(kCallCost, [](T x) { return std::asin(x); });
  case UnaryOp::Arcsinh:
    return loop.run<T>(kCallCost, [](T x) { return std::asinh(x); });
  case UnaryOp::Arctan:
    return loop.run<T>(kCallCost, [](T x) { return std::atan(x); });
  case UnaryOp::Arctanh:
    return loop.run<T>(kCallCost, [](T x) { return std::atanh(x); });
  case UnaryOp::Cos:
    return loop.run<T>(kCallCost, [](T x) { return std::cos(x); });
  case UnaryOp::Cosh:
    return loop.run<T>(kCallCost, [](T x) { return std::cosh(x); });
  case UnaryOp::Sin:
    return loop.run<T>(kCallCost, [](T x) { return std::sin(x); });
  case UnaryOp::Sinh:
    return loop.run<T>(kCallCost, [](T x) { return std::sinh(x); });
  case UnaryOp::Tan:
    return loop.run<T>(kCallCost, [](T x) { return std::tan(x); });
  default:
    assert(false && "not a trigonometric function");
  }
}

template <typename T> void runActivation(UnaryOp op, const UnaryParams &params, const Loop &loop) {
  const T a = static_cast<T>(params.a);
  const T b = static_cast<T>(params.b);
  switch (op) {
  case UnaryOp::HardSwish:
    return loop.run<T>(2, [](T x) { return hardSwish(x); });
  case UnaryOp::Mish:
    return loop.run<T>(kVectorCost, [](T x) { return mish(x); });
  case UnaryOp::Softplus:
    return loop.run<T>(kCallCost, [](T x) { return softplus(x); });
  case UnaryOp::Softsign:
    return loop.run<T>(1, [](T x) { return x / (T(1) + std::abs(x)); });
  case UnaryOp::LeakyRelu:
    return loop.run<T>(1, [a](T x) { return x < T(0) ? a * x : x; });
  case UnaryOp::Elu:
    return loop.run<T>(kCallCost, [a](T x) { return x < T(0) ? a * std::expm1(x) : x; });
  case UnaryOp::Celu:
    return loop.run<T>(kCallCost, [a](T x) {
      return (x > T(0) ? x : x * T(0)) + std::min(T(0), a * std::expm1(x / a));
    });
  case UnaryOp::Selu:
    return loop.run<T>(kCallCost, [a, b](T x) { return b * (x < T(0) ? a * std::expm1(x) : x); });
  case UnaryOp::ThresholdedRelu:
    return loop.run<T>(1, [a](T x) { return x > a ? x : T(0); });
  case UnaryOp::HardSigmoid:
    return loop.run<T>(1, [a, b](T x) { return hardSigmoid(x, a, b); });
  case UnaryOp::Sigmoid:
    if (params.a == 1 && params.b == 0)
      return loop.run<T>(kVectorCost, [](T x) { return sigmoid(x); });
    return loop.run<T>(kVectorCost, [a, b](T x) { return a * sigmoid(x) + b; });
  case UnaryOp::LogSigmoid:
    if (params.a == 1 && params.b == 0)
      return loop.run<T>(kCallCost, [](T x) { return -softplus(-x); });
    return loop.run<T>(kCallCost, [a, b](T x) { return std::log(a * sigmoid(x) + b); });
  case UnaryOp::Swish:
    return loop.run<T>(kVectorCost, [a](T x) { return x * sigmoid(a * x); });
  case UnaryOp::GeluErf:
    return loop.run<T>(kVectorCost, [](T x) { return geluErf(x); });
  case UnaryOp::GeluTanh:
    return loop.run<T>(kVectorCost, [](T x) { return geluTanh(x); });
  case UnaryOp::RoundF16:
    return loop.run<T>(kVectorCost,
                       [](T x) { return static_cast<T>(roundF16(static_cast<float>(x))); });
  case UnaryOp::RoundBF16:
    return loop.run<T>(kVectorCost,
                       [](T x) { return static_cast<T>(roundBF16(static_cast<float>(x))); });
  default:
    return runTrigonometric<T>(op, loop);
  }
}

template <typename T> void runFloat(UnaryOp op, const UnaryParams &params, const Loop &loop) {
  switch (op) {
  case UnaryOp::Ceil:
  case UnaryOp::Floor:
  case UnaryOp::Round:
    return runRounding<T>(op, loop);
  case UnaryOp::Erf:
    return loop.run<T>(kVectorCost, [](T x) { return vectorErf(x); });
  case UnaryOp::Exp:
    return loop.run<T>(kVectorCost, [](T x) { return vectorExp(x); });
  case UnaryOp::Log:
    return loop.run<T>(kCallCost, [](T x) { return std::log(x); });
  case UnaryOp::Reciprocal:
    return loop.run<T>(1, [](T x) { return T(1) / x; });
  case UnaryOp::Rsqrt:
    return loop.run<T>(2, [](T x) { return T(1) / std::sqrt(x); });
  case UnaryOp::Sqrt:
    return loop.run<T>(2, [](T x) { return std::sqrt(x); });
  case UnaryOp::Tanh:
    return loop.run<T>(kVectorCost, [](T x) { return vectorTanh(x); });
  default:
    return runActivation<T>(op, params, loop);
  }
}

template <typename T> void runNumber(UnaryOp op, const UnaryParams &params, const Loop &loop) {
  switch (op) {
  case UnaryOp::Abs:
    return loop.run<T>(1, [](T x) { return absolute(x); });
  case UnaryOp::Neg:
    return loop.run<T>(1, [](T x) { return negate(x); });
  case UnaryOp::Sign:
    return loop.run<T>(1, [](T x) { return signOf(x); });
  default:
    break;
  }
  if constexpr (std::is_floating_point_v<T>) {
    return runFloat<T>(op, params, loop);
  } else {
    assert((op == UnaryOp::BitwiseNot || op == UnaryOp::LogicalNot) && "for floats only");
    if (op == UnaryOp::LogicalNot)
      return loop.run<T>(1, [](T x) { return T(x == 0); });
    return loop.run<T>(1, [](T x) { return static_cast<T>(~x); });
  }
}

/// NaN passes both comparisons.
template <typename T> void clipTo(const Loop &loop, T low, T high) {
  loop.run<T>(1, [low, high](T x) {
    const T raised = x < low ? low : x;
    return raised > high ? high : raised;
  });
}

template <typename T> T lowestOf() {
  return std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity()
                                     : std::numeric_limits<T>::lowest();
}
template <typename T> T highestOf() {
  return std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity()
                                     : std::numeric_limits<T>::max();
}

/// f32 by the loops for this processor.
void unaryRows(UnaryOp op, const UnaryParams &params, const Tensor &input, Tensor &output,
               ThreadPool &threads) {
  const SimdKernels &simd = simdKernels();
  const float *from = input.data<float>().data();
  float *to = output.mutableData<float>().data();
  threads.parallelFor(output.numElements(), grainFor(2), [&](int64_t begin, int64_t end) {
    simd.unaryRow(op, static_cast<float>(params.a), static_cast<float>(params.b), from + begin,
                  to + begin, end - begin);
  });
}

template <typename T> T only(const Tensor &tensor) {
  std::array<T, 1> value;
  loadBlock<T>(tensor, 0, value);
  return value[0];
}

} // namespace

void unary(UnaryOp op, const UnaryParams &params, const Tensor &input, Tensor &output,
           ThreadPool &threads) {
  const Loop loop{input, output, threads};
  if (input.type() == DataType::F32 && hasUnaryRow(op))
    return unaryRows(op, params, input, output, threads);
  if (op == UnaryOp::Relu)
    return clip(input, 0.0, params.a < 0 ? std::numeric_limits<double>::infinity() : params.a,
                output, threads);
  if (op == UnaryOp::Shrink) {
    // Integers go through f64: bias and lambd are floats.
    const auto run = [&]<typename T>(T) {
      loop.run<T>(1, [bias = static_cast<T>(params.a), lambd = static_cast<T>(params.b)](T x) {
        return x < -lambd ? x + bias : (x > lambd ? x - bias : T(0));
      });
    };
    return workingType(input.type()) == DataType::F32 ? run(float()) : run(double());
  }
  dispatchWorking(workingType(input.type()),
                  [&]<typename T>(T) { runNumber<T>(op, params, loop); });
}

void clip(const Tensor &input, const Tensor *low, const Tensor *high, Tensor &output,
          ThreadPool &threads) {
  dispatchWorking(workingType(input.type()), [&]<typename T>(T) {
    clipTo<T>({input, output, threads}, low ? only<T>(*low) : lowestOf<T>(),
              high ? only<T>(*high) : highestOf<T>());
  });
}

void clip(const Tensor &input, double low, double high, Tensor &output, ThreadPool &threads) {
  dispatchWorking(workingType(input.type()), [&]<typename T>(T) {
    if constexpr (std::is_floating_point_v<T>)
      clipTo<T>({input, output, threads}, static_cast<T>(low), static_cast<T>(high));
    else
      clipTo<T>({input, output, threads}, toInteger<T>(low, RoundingMode::Up),
                toInteger<T>(high, RoundingMode::Down));
  });
}

void isNaN(const Tensor &input, Tensor &output, ThreadPool &threads) {
  const Loop loop{input, output, threads};
  if (input.type() == DataType::F64)
    return loop.run<double>(1, [](double x) { return x != x; });
  loop.run<float>(1, [](float x) { return x != x; });
}

void isInf(const Tensor &input, bool negative, bool positive, Tensor &output, ThreadPool &threads) {
  const Loop loop{input, output, threads};
  const auto run = [&]<typename T>(T) {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    loop.run<T>(1, [negative, positive](T x) {
      return (positive && x == kInfinity) || (negative && x == -kInfinity);
    });
  };
  return input.type() == DataType::F64 ? run(double()) : run(float());
}

void cast(const Tensor &input, bool saturate, Tensor &output, ThreadPool &threads) {
  ConvertOptions options{.integerOverflow = IntegerOverflow::Wrap};
  if (saturate && isFloat(output.type()) && bitWidth(output.type()) == 8)
    options.floatOverflow = Overflow::Saturate;
  // Pieces start at whole bytes of 4-bit types and stay aligned for all others.
  constexpr int64_t kPiece = 16384;
  const int64_t count = output.numElements();
  const int64_t inBits = bitWidth(input.type());
  const int64_t outBits = bitWidth(output.type());
  threads.parallelFor((count + kPiece - 1) / kPiece, 1, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t first = piece * kPiece;
      const Tensor part = Tensor::borrow(input.type(), Shape{std::min(kPiece, count - first)},
                                         input.rawBytes().data() + first * inBits / 8, nullptr);
      // Floats become 4-bit integers by the low bits of the truncated value.
      const bool takesLowBits = outBits == 4 && isFloat(input.type());
      const Tensor converted =
          convert(takesLowBits ? convert(part, DataType::I64) : part, output.type(), options);
      std::memcpy(output.mutableBytes().data() + first * outBits / 8, converted.rawBytes().data(),
                  converted.rawBytes().size());
    }
  });
}

void integerPart(const Tensor &input, int64_t firstBit, Tensor &output) {
  const size_t size = bitWidth(input.type()) / 8;
  const size_t kept = bitWidth(output.type()) / 8;
  // Bytes of a number lie from the lowest to the highest one in all files and on all machines here.
  static_assert(std::endian::native == std::endian::little);
  const std::byte *from = input.rawBytes().data() + firstBit / 8;
  std::byte *to = output.mutableBytes().data();
  for (int64_t i = 0; i < output.numElements(); ++i, from += size, to += kept)
    std::memcpy(to, from, kept);
}

static double determinantOf(std::span<double> matrix, int64_t size) {
  const auto row = [&](int64_t index) { return matrix.data() + index * size; };
  double result = 1;
  for (int64_t column = 0; column < size; ++column) {
    int64_t pivot = column;
    for (int64_t i = column + 1; i < size; ++i)
      if (std::abs(row(i)[column]) > std::abs(row(pivot)[column]))
        pivot = i;
    if (row(pivot)[column] == 0)
      return 0;
    if (pivot != column) {
      std::swap_ranges(row(pivot), row(pivot) + size, row(column));
      result = -result;
    }
    result *= row(column)[column];
    for (int64_t i = column + 1; i < size; ++i) {
      const double factor = row(i)[column] / row(column)[column];
      for (int64_t j = column + 1; j < size; ++j)
        row(i)[j] -= factor * row(column)[j];
    }
  }
  return result;
}

void determinant(const Tensor &input, Tensor &output, ThreadPool &threads) {
  const int64_t size = input.shape()[input.shape().rank() - 1];
  const Tensor matrices = toWorking<double>(input);
  std::vector<double> results(static_cast<size_t>(output.numElements()));
  threads.parallelFor(
      output.numElements(), grainFor(size * size * size), [&](int64_t begin, int64_t end) {
        std::vector<double> matrix;
        for (int64_t i = begin; i < end; ++i) {
          const auto from = matrices.data<double>().subspan(static_cast<size_t>(i * size * size),
                                                            static_cast<size_t>(size * size));
          matrix.assign(from.begin(), from.end());
          results[static_cast<size_t>(i)] = determinantOf(matrix, size);
        }
      });
  storeBlock<double>(results, output, 0);
}

} // namespace tpuc::kernels
