//===- Binary.cpp - Element by element, several operands ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/Binary.h"
#include "tpuc/Interpreter/Kernels/Elementwise.h"
#include "tpuc/Support/Convert.h"

#include <cmath>
#include <limits>

namespace tpuc::kernels {

namespace {

/// The type in which integers may overflow.
template <typename T> using Wrapping = std::conditional_t<std::is_same_v<T, int64_t>, uint64_t, T>;

template <typename T> T divide(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a / b;
  else if constexpr (std::is_signed_v<T>)
    // The quotient by -1 alone can leave the range.
    return b == 0 ? 0 : (b == -1 ? static_cast<T>(uint64_t(0) - static_cast<uint64_t>(a)) : a / b);
  else
    return b == 0 ? 0 : a / b;
}

/// With the sign of the dividend.
template <typename T> T truncatedRemainder(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fmod(a, b);
  else if constexpr (std::is_signed_v<T>)
    return b == 0 || b == -1 ? 0 : a % b;
  else
    return b == 0 ? 0 : a % b;
}

/// With the sign of the divisor.
template <typename T> T flooredRemainder(T a, T b) {
  const T rest = truncatedRemainder(a, b);
  if (rest == T(0)) {
    // Floats: a zero has the divisor's sign.
    if constexpr (std::is_floating_point_v<T>)
      return std::copysign(rest, b);
    return rest;
  }
  return (rest < T(0)) != (b < T(0)) ? rest + b : rest;
}

/// x^y modulo 2^64 by squaring.
template <typename T> T integerPower(T base, T exponent) {
  if constexpr (std::is_signed_v<T>) {
    if (exponent < 0) {
      if (base == -1)
        return exponent % 2 == 0 ? 1 : -1;
      return base == 1 ? 1 : 0;
    }
  }
  uint64_t result = 1;
  auto square = static_cast<uint64_t>(base);
  for (auto rest = static_cast<uint64_t>(exponent); rest != 0; rest >>= 1) {
    if ((rest & 1) != 0)
      result *= square;
    square *= square;
  }
  return static_cast<T>(result);
}

template <typename T> T powerOf(T base, T exponent) {
  if constexpr (std::is_floating_point_v<T>) {
    if (exponent == T(2))
      return base * base;
    return std::pow(base, exponent);
  } else {
    return integerPower(base, exponent);
  }
}

/// output = function(in 0, in 1) and so on, with `finish(values, count)` applied to each block.
template <typename T, typename Function, typename Finish>
void foldBlocks(std::span<const Tensor> inputs, std::span<const T> coeff, Tensor &output,
                int64_t cost, ThreadPool &threads, Function function, Finish finish) {
  std::vector<OperandReader<T>> readers;
  readers.reserve(inputs.size());
  for (const Tensor &input : inputs)
    readers.emplace_back(input, output.shape());
  const BlockWriter<T> writer(output);
  const auto read = [&](size_t operand, int64_t first, int64_t count, T *buffer) {
    const T *values = readers[operand].read(first, count, buffer);
    if (coeff.empty() || coeff[operand] == T(1))
      return values;
    const auto factor = static_cast<Wrapping<T>>(coeff[operand]);
    for (int64_t i = 0; i < count; ++i)
      buffer[i] = static_cast<T>(static_cast<Wrapping<T>>(values[i]) * factor);
    return static_cast<const T *>(buffer);
  };
  cost *= static_cast<int64_t>(inputs.size());
  forEachBlock(threads, output.numElements(), cost, [&](int64_t first, int64_t count) {
    std::array<T, kBlockElements> lhsBuffer;
    std::array<T, kBlockElements> rhsBuffer;
    std::array<T, kBlockElements> outBuffer;
    T *out = writer.room(first, outBuffer.data());
    const T *lhs = read(0, first, count, lhsBuffer.data());
    if (inputs.size() == 1)
      std::copy_n(lhs, count, out);
    for (size_t operand = 1; operand < inputs.size(); ++operand) {
      const T *rhs = read(operand, first, count, rhsBuffer.data());
      for (int64_t i = 0; i < count; ++i)
        out[i] = function(lhs[i], rhs[i]);
      lhs = out;
    }
    finish(out, count);
    writer.finish(first, count, out);
  });
}

/// Scales, divides and limits a block of results.
template <typename T> struct Finisher {
  T factor;
  int64_t divisor;
  bool doRelu;
  T limit;

  explicit Finisher(const BinaryParams &params)
      : factor(1), divisor(params.divisor), doRelu(params.doRelu) {
    if constexpr (std::is_floating_point_v<T>)
      factor = static_cast<T>(params.factor);
    if constexpr (std::is_floating_point_v<T>)
      limit = params.reluLimit < 0 ? std::numeric_limits<T>::infinity()
                                   : static_cast<T>(params.reluLimit);
    else
      limit = params.reluLimit < 0 ? std::numeric_limits<T>::max()
                                   : toInteger<T>(params.reluLimit, RoundingMode::Down);
  }

  void operator()(T *values, int64_t count) const {
    if constexpr (std::is_floating_point_v<T>)
      if (factor != T(1))
        for (int64_t i = 0; i < count; ++i)
          values[i] *= factor;
    if (divisor != 1)
      for (int64_t i = 0; i < count; ++i)
        values[i] = divide(values[i], static_cast<T>(divisor));
    if (doRelu)
      for (int64_t i = 0; i < count; ++i) {
        const T raised = values[i] < T(0) ? T(0) : values[i];
        values[i] = raised > limit ? limit : raised;
      }
  }
};

template <typename T> struct Fold {
  std::span<const Tensor> inputs;
  std::vector<T> coeff;
  Finisher<T> finisher;
  Tensor &output;
  ThreadPool &threads;

  template <typename Function> void run(int64_t cost, Function function) const {
    foldBlocks<T>(inputs, coeff, output, cost, threads, function, finisher);
  }
};

template <typename T> void runInteger(BinaryOp op, const Fold<T> &fold) {
  switch (op) {
  case BinaryOp::And:
    return fold.run(1, [](T a, T b) { return static_cast<T>(a & b); });
  case BinaryOp::Or:
    return fold.run(1, [](T a, T b) { return static_cast<T>(a | b); });
  case BinaryOp::Xor:
    return fold.run(1, [](T a, T b) { return static_cast<T>(a ^ b); });
  case BinaryOp::ShiftLeft:
    return fold.run(1, [](T a, T b) {
      return static_cast<uint64_t>(b) > 63 ? T(0)
                                           : static_cast<T>(static_cast<uint64_t>(a) << (b & 63));
    });
  case BinaryOp::ShiftRight:
    return fold.run(1, [](T a, T b) {
      T sign = a < T(0) ? static_cast<T>(-1) : T(0);
      return static_cast<uint64_t>(b) > 63 ? sign : static_cast<T>(a >> (b & 63));
    });
  default:
    assert(false && "not an operation on bits");
  }
}

template <typename T> void runBinary(BinaryOp op, const Fold<T> &fold) {
  using W = Wrapping<T>;
  switch (op) {
  case BinaryOp::Add:
    return fold.run(1, [](T a, T b) { return static_cast<T>(W(a) + W(b)); });
  case BinaryOp::Sub:
    return fold.run(1, [](T a, T b) { return static_cast<T>(W(a) - W(b)); });
  case BinaryOp::Mul:
    return fold.run(1, [](T a, T b) { return static_cast<T>(W(a) * W(b)); });
  case BinaryOp::Div:
    return fold.run(2, [](T a, T b) { return divide(a, b); });
  case BinaryOp::Min:
    return fold.run(1, [](T a, T b) { return a <= b || a != a ? a : b; });
  case BinaryOp::Max:
    return fold.run(1, [](T a, T b) { return a >= b || a != a ? a : b; });
  case BinaryOp::Mod:
    return fold.run(20, [](T a, T b) { return flooredRemainder(a, b); });
  case BinaryOp::FMod:
    return fold.run(20, [](T a, T b) { return truncatedRemainder(a, b); });
  case BinaryOp::PRelu:
    return fold.run(1, [](T x, T slope) { return x < T(0) ? static_cast<T>(W(slope) * W(x)) : x; });
  default:
    if constexpr (std::is_integral_v<T>)
      return runInteger(op, fold);
    assert(false && "for integers only");
  }
}

template <typename T>
void compareAs(CompareOp op, const Tensor &lhs, const Tensor &rhs, Tensor &output,
               ThreadPool &threads) {
  const OperandReader<T> left(lhs, output.shape());
  const OperandReader<T> right(rhs, output.shape());
  const auto run = [&](auto function) {
    bool *results = output.mutableData<bool>().data();
    forEachBlock(threads, output.numElements(), 1, [&](int64_t first, int64_t count) {
      std::array<T, kBlockElements> leftBuffer;
      std::array<T, kBlockElements> rightBuffer;
      const T *a = left.read(first, count, leftBuffer.data());
      const T *b = right.read(first, count, rightBuffer.data());
      for (int64_t i = 0; i < count; ++i)
        results[first + i] = function(a[i], b[i]);
    });
  };
  switch (op) {
  case CompareOp::Equal:
    return run([](T a, T b) { return a == b; });
  case CompareOp::NotEqual:
    return run([](T a, T b) { return a != b; });
  case CompareOp::Less:
    return run([](T a, T b) { return a < b; });
  case CompareOp::LessOrEqual:
    return run([](T a, T b) { return a <= b; });
  case CompareOp::Greater:
  case CompareOp::GreaterOrEqual:
    assert(false && "operands were swapped");
  }
}

/// T: an unsigned integer as wide as an element.
template <typename T>
void whereAs(const Tensor &condition, const Tensor &x, const Tensor &y, Tensor &output,
             ThreadPool &threads) {
  // The bits of elements under an integer's name, so that readers leave them as they are.
  const auto bits = [](const Tensor &tensor) {
    return Tensor::borrow(dataTypeOf<T>(), tensor.shape(), tensor.rawBytes().data(),
                          std::make_shared<Tensor>(tensor));
  };
  const OperandReader<uint8_t> choices(
      Tensor::borrow(DataType::U8, condition.shape(), condition.rawBytes().data(), nullptr),
      output.shape());
  const OperandReader<T> lhs(bits(x), output.shape());
  const OperandReader<T> rhs(bits(y), output.shape());
  T *results = output.mutableData<T>().data();
  forEachBlock(threads, output.numElements(), 1, [&](int64_t first, int64_t count) {
    std::array<uint8_t, kBlockElements> choiceBuffer;
    std::array<T, kBlockElements> lhsBuffer;
    std::array<T, kBlockElements> rhsBuffer;
    const uint8_t *choice = choices.read(first, count, choiceBuffer.data());
    const T *a = lhs.read(first, count, lhsBuffer.data());
    const T *b = rhs.read(first, count, rhsBuffer.data());
    for (int64_t i = 0; i < count; ++i)
      results[first + i] = choice[i] != 0 ? a[i] : b[i];
  });
}

} // namespace

void binary(BinaryOp op, std::span<const Tensor> inputs, const BinaryParams &params, Tensor &output,
            ThreadPool &threads) {
  dispatchWorking(workingType(output.type()), [&]<typename T>(T) {
    std::vector<T> coeff;
    for (double value : params.coeff) {
      if constexpr (std::is_floating_point_v<T>)
        coeff.push_back(static_cast<T>(value));
      else
        coeff.push_back(static_cast<T>(toInteger<int64_t>(value)));
    }
    runBinary<T>(op, {inputs, std::move(coeff), Finisher<T>(params), output, threads});
  });
}

void power(const Tensor &base, const Tensor &exponent, Tensor &output, ThreadPool &threads) {
  DataType working = workingType(base.type());
  if (isFloat(base.type()) || isFloat(exponent.type())) {
    if (working != workingType(exponent.type()))
      working = DataType::F64;
  }
  const std::array inputs{base, exponent};
  dispatchWorking(working, [&]<typename T>(T) {
    foldBlocks<T>(
        inputs, {}, output, 20, threads, [](T x, T y) { return powerOf(x, y); },
        [](T *, int64_t) {});
  });
}

void compare(CompareOp op, const Tensor &lhs, const Tensor &rhs, Tensor &output,
             ThreadPool &threads) {
  if (op == CompareOp::Greater)
    return compare(CompareOp::Less, rhs, lhs, output, threads);
  if (op == CompareOp::GreaterOrEqual)
    return compare(CompareOp::LessOrEqual, rhs, lhs, output, threads);
  DataType working = workingType(lhs.type());
  if (working != workingType(rhs.type()))
    working = DataType::F64;
  dispatchWorking(working, [&]<typename T>(T) { compareAs<T>(op, lhs, rhs, output, threads); });
}

void where(const Tensor &condition, const Tensor &x, const Tensor &y, Tensor &output,
           ThreadPool &threads) {
  switch (bitWidth(output.type())) {
  case 8:
    return whereAs<uint8_t>(condition, x, y, output, threads);
  case 16:
    return whereAs<uint16_t>(condition, x, y, output, threads);
  case 32:
    return whereAs<uint32_t>(condition, x, y, output, threads);
  case 64:
    return whereAs<uint64_t>(condition, x, y, output, threads);
  default: {
    // 4 bits: through bytes.
    assert(bitWidth(output.type()) == 4);
    const DataType wide = isSigned(output.type()) ? DataType::I8 : DataType::U8;
    Tensor bytes(wide, output.shape());
    whereAs<uint8_t>(condition, convert(x, wide), convert(y, wide), bytes, threads);
    const Tensor packed = convert(bytes, output.type());
    std::copy(packed.rawBytes().begin(), packed.rawBytes().end(), output.mutableBytes().begin());
  }
  }
}

} // namespace tpuc::kernels
