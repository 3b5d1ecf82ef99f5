//===- IntegerLstm.cpp - LSTM cells of integers ---------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/IntegerLstm.h"
#include "tpuc/Interpreter/Kernels/Fixed16.h"
#include "tpuc/Interpreter/Kernels/FixedPoint.h"

#include <algorithm>
#include <bit>
#include <cassert>

using namespace tpuc;
using namespace tpuc::kernels;

//===----------------------------------------------------------------------===//
// Functions in fixed point
//===----------------------------------------------------------------------===//

namespace {

/// A number of 16 bits. Which of them stand in front of the point is known where it is used: the
/// product of a and b has as many as both together.
using Fixed = int16_t;
constexpr Fixed kNearlyOne = 32767;

Fixed wrapped(int32_t value) { return static_cast<Fixed>(value); }

/// value / 2^bits, ties away from zero.
Fixed lowered(Fixed value, unsigned bits) {
  return static_cast<Fixed>(
      roundingShiftRight(int32_t(value), bits, RoundingMode::HalfAwayFromZero));
}
Fixed raised(Fixed value, unsigned bits) {
  return saturateCast<Fixed>(shiftLeftSaturating(int32_t(value), bits));
}

/// e^x for x = value / 2^15 from -1/4 to 0: four terms of Taylor's series around -1/8.
Fixed exponentialOfQuarter(Fixed value) {
  constexpr Fixed kAtMiddle = 28918; // e^(-1/8)
  constexpr Fixed kThird = 10923;
  const Fixed x = wrapped(value + (1 << 12));
  const Fixed square = multiplyHigh16(x, x);
  const Fixed cube = multiplyHigh16(square, x);
  const Fixed fourth = lowered(multiplyHigh16(square, square), 2);
  const Fixed inner = wrapped(multiplyHigh16(wrapped(fourth + cube), kThird) + square);
  return saturateCast<Fixed>(kAtMiddle + multiplyHigh16(kAtMiddle, wrapped(x + lowered(inner, 1))));
}

/// e^x for x = value / 2^(15 - bits), 0 or less: one factor for each binary digit of x above 1/4.
Fixed exponential(Fixed value, int bits) {
  // e^(-2^(k - 2)).
  static constexpr Fixed kFactors[] = {25520, 19875, 12055, 4435, 600, 11, 0};
  if (value == 0)
    return kNearlyOne;
  const int fraction = 15 - bits;
  if (bits > 5 && value < -(1 << (20 - bits)))
    return 0;
  const int quarter = 1 << (fraction - 2);
  const Fixed rest = wrapped((value & (quarter - 1)) - quarter);
  Fixed result = exponentialOfQuarter(raised(rest, static_cast<unsigned>(bits)));
  const Fixed digits = wrapped(rest - value);
  for (int exponent = -2; exponent < std::min(bits, 5); ++exponent)
    if ((digits & (1 << (fraction + exponent))) != 0)
      result = multiplyHigh16(result, kFactors[exponent + 2]);
  return result;
}

/// 1 / ((1 + value / 2^15) / 2) for a value of 0 or more, with 2 bits in front of the point: three
/// steps of Newton's method.
Fixed inverseOfHalf(Fixed value) {
  constexpr Fixed kFirst = 23130;   // 48/17
  constexpr Fixed kSecond = -15420; // -32/17
  const int32_t sum = int32_t(value) + kNearlyOne;
  const auto half = static_cast<Fixed>((sum + (sum >= 0 ? 1 : -1)) / 2);
  Fixed x = wrapped(kFirst + multiplyHigh16(half, kSecond));
  for (int step = 0; step < 3; ++step) {
    const Fixed error = wrapped((1 << 13) - multiplyHigh16(half, x));
    x = wrapped(x + raised(multiplyHigh16(x, error), 2));
  }
  return x;
}

} // namespace

int16_t kernels::fixedSigmoid(int16_t value) {
  if (value == 0)
    return 1 << 14;
  const Fixed below = value > 0 ? wrapped(-value) : value;
  const Fixed positive = raised(inverseOfHalf(exponential(below, 3)), 1);
  return value > 0 ? positive : wrapped(kNearlyOne - positive);
}

int16_t kernels::fixedTanh(int16_t value, int integerBits) {
  assert(integerBits >= 0 && integerBits <= 6);
  if (value == 0)
    return 0;
  const Fixed below = value < 0 ? value : wrapped(-value);
  // (1 - e^2x) / (1 + e^2x): twice the value is the same integer with one more bit in front.
  const Fixed inverse = inverseOfHalf(exponential(below, integerBits + 1));
  const Fixed positive = raised(wrapped(inverse - (1 << 13)), 2);
  return value < 0 ? wrapped(-positive) : positive;
}

MultiplierShift kernels::fixedInverseRoot(int32_t value) {
  if (value <= 1)
    return {std::numeric_limits<int32_t>::max(), 0};
  int shift = 11;
  for (; value >= 1 << 29; ++shift)
    value /= 4;
  const int pairs = (std::countl_zero(static_cast<uint32_t>(value)) - 1) / 2 - 1;
  shift -= pairs;
  value <<= 2 * pairs;
  // Numbers with 3 bits in front of the point.
  const int32_t input = value >> 1;
  const int32_t half = roundingShiftRight(input, 1, RoundingMode::HalfAwayFromZero);
  constexpr int32_t kHalfThree = (1 << 28) + (1 << 27);
  int32_t x = 1 << 28;
  for (int step = 0; step < 5; ++step) {
    const int32_t cube = shiftLeftSaturating(multiplyHigh(multiplyHigh(x, x), x), 6);
    x = shiftLeftSaturating(
        static_cast<int32_t>(multiplyHigh(kHalfThree, x) - multiplyHigh(half, cube)), 3);
  }
  constexpr int32_t kHalfRootTwo = 1518500250;
  x = multiplyHigh(x, kHalfRootTwo);
  if (shift < 0)
    return {shiftLeftWrapping(x, static_cast<unsigned>(-shift)), 0};
  return {x, shift};
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

static int32_t rescaled(int32_t value, MultiplierShift factor) {
  return multiplyShiftTFLite(value, factor.multiplier, factor.rshift);
}

namespace {

/// A matrix that products go through: one bias and one row of weights for each result.
struct Product {
  const int8_t *weights;
  std::vector<int32_t> bias;
  MultiplierShift factor;
  int64_t elements;
};

/// `bias` (null: zeros) plus `zero` times the sum of each row of `weights`, modulo 2^32.
Product product(const int8_t *weights, const int32_t *bias, int32_t zero, int64_t rows,
                int64_t elements, double factor) {
  Product made{weights, std::vector<int32_t>(static_cast<size_t>(rows)), fixedPoint(factor),
               elements};
  for (int64_t row = 0; row < rows; ++row) {
    uint32_t sum = 0;
    for (int64_t element = 0; element < elements; ++element)
      sum += static_cast<uint32_t>(weights[row * elements + element]);
    made.bias[static_cast<size_t>(row)] = static_cast<int32_t>(
        (bias ? static_cast<uint32_t>(bias[row]) : 0) + sum * static_cast<uint32_t>(zero));
  }
  return made;
}

/// to[row] += the scaled product of `vector` with each row, plus `zero`, cut off to the type.
template <typename T>
void accumulate(const Product &product, const int8_t *vector, int32_t zero, T *to) {
  for (size_t row = 0; row < product.bias.size(); ++row) {
    const int8_t *weights = product.weights + static_cast<int64_t>(row) * product.elements;
    auto sum = static_cast<uint32_t>(product.bias[row]);
    for (int64_t element = 0; element < product.elements; ++element)
      sum += static_cast<uint32_t>(vector[element] * weights[element]);
    to[row] = saturateCast<T>(int64_t(rescaled(static_cast<int32_t>(sum), product.factor)) + zero +
                              to[row]);
  }
}

struct Gate {
  Product ofInput, ofOutput;
  const int16_t *peephole = nullptr;
  MultiplierShift peepholeFactor;
  const int16_t *norm = nullptr;
  const int32_t *normBias = nullptr;
  MultiplierShift normFactor;
  int32_t leastVariance = 1;
};

class IntegerCell {
public:
  IntegerCell(const IntegerLstmTensors &tensors, const IntegerLstmParams &params);

  /// One step of `rows` samples behind each other: `output` is read as the last one, and written.
  void step(const int8_t *input, int64_t rows, int16_t *content, int8_t *output) const;

  int64_t units, outputs, elements;

private:
  std::vector<int16_t> open(const Gate &gate, const int8_t *input, const int8_t *output,
                            const int16_t *content, int64_t rows) const;
  void normalize(const Gate &gate, int16_t *row) const;
  void update(const std::vector<int16_t> &in, const std::vector<int16_t> &forget,
              const std::vector<int16_t> &candidate, int16_t *content) const;
  void show(const std::vector<int16_t> &out, const int16_t *content, int64_t rows,
            int8_t *output) const;

  const IntegerLstmParams &params;
  bool coupled;
  std::vector<Gate> gates;
  std::optional<Product> projection;
  MultiplierShift hiddenFactor;
};

IntegerCell::IntegerCell(const IntegerLstmTensors &tensors, const IntegerLstmParams &params)
    : outputs(tensors.recurrence.shape()[1]), elements(tensors.filter.shape()[1]), params(params),
      coupled(params.inputFactors.size() == 3), hiddenFactor(fixedPoint(params.hiddenFactor)) {
  units = tensors.filter.shape()[0] / static_cast<int64_t>(params.inputFactors.size());
  const int32_t *biases = tensors.bias.data<int32_t>().data();
  size_t peephole = 0;
  for (size_t index = 0; index < params.inputFactors.size(); ++index) {
    const int64_t first = static_cast<int64_t>(index) * units;
    const int32_t *bias = biases + first;
    Gate gate;
    gate.ofInput = product(tensors.filter.data<int8_t>().data() + first * elements,
                           tensors.norm ? nullptr : bias, -params.inputZeroPoint, units, elements,
                           params.inputFactors[index]);
    gate.ofOutput =
        product(tensors.recurrence.data<int8_t>().data() + first * outputs, nullptr,
                -params.outputZeroPoint, units, outputs, params.recurrentFactors[index]);
    const bool isCandidate = index + 2 == params.inputFactors.size();
    if (tensors.peephole && !isCandidate) {
      gate.peephole =
          tensors.peephole->data<int16_t>().data() + static_cast<int64_t>(peephole) * units;
      gate.peepholeFactor = fixedPoint(params.peepholeFactors[peephole++]);
    }
    if (tensors.norm) {
      gate.norm = tensors.norm->data<int16_t>().data() + first;
      gate.normBias = bias;
      gate.normFactor = fixedPoint(params.normScales[index]);
      gate.normFactor.rshift -= 12;
      const float least = 10000 * static_cast<float>(params.normScales[index]);
      gate.leastVariance = std::max(1, toInteger<int32_t>(static_cast<double>(least)));
    }
    gates.push_back(std::move(gate));
  }
  if (tensors.projection)
    projection =
        product(tensors.projection->data<int8_t>().data(),
                tensors.projectionBias ? tensors.projectionBias->data<int32_t>().data() : nullptr,
                params.hiddenZeroPoint, outputs, units, params.projectionFactor);
}

/// The row less its mean by its standard deviation, with 10 fractional bits, times coefficients.
void IntegerCell::normalize(const Gate &gate, int16_t *row) const {
  constexpr int64_t kUnit = 1 << 20;
  int64_t sum = 0;
  int64_t squares = 0;
  for (int64_t unit = 0; unit < units; ++unit) {
    sum += row[unit];
    squares += int32_t(row[unit]) * row[unit];
  }
  const auto mean = static_cast<int32_t>(sum * 1024 / units);
  // The kernel has it so: exact where the number of units is a power of two.
  const int64_t part = kUnit / units;
  auto variance =
      static_cast<int32_t>((squares * part - static_cast<int64_t>(mean) * mean) / kUnit);
  if (variance < 1)
    variance = gate.leastVariance;
  const MultiplierShift inverse = fixedInverseRoot(variance);
  for (int64_t unit = 0; unit < units; ++unit) {
    const int32_t normal = rescaled(1024 * row[unit] - mean, inverse);
    const auto weighted = static_cast<int32_t>(static_cast<uint32_t>(normal) *
                                                   static_cast<uint32_t>(int32_t(gate.norm[unit])) +
                                               static_cast<uint32_t>(gate.normBias[unit]));
    const int64_t wide = weighted;
    const auto shifted = static_cast<int32_t>((wide > 0 ? wide + 512 : wide - 512) / 1024);
    row[unit] = saturateCast<int16_t>(rescaled(shifted, gate.normFactor));
  }
}

/// Gate `gate` of all samples, before its function.
std::vector<int16_t> IntegerCell::open(const Gate &gate, const int8_t *input, const int8_t *output,
                                       const int16_t *content, int64_t rows) const {
  std::vector<int16_t> made(static_cast<size_t>(rows * units), 0);
  for (int64_t row = 0; row < rows; ++row) {
    accumulate(gate.ofInput, input + row * elements, 0, made.data() + row * units);
    accumulate(gate.ofOutput, output + row * outputs, 0, made.data() + row * units);
  }
  if (gate.peephole)
    for (int64_t place = 0; place < rows * outputs; ++place) {
      int16_t &value = made[static_cast<size_t>(place)];
      value = saturateCast<int16_t>(
          int64_t(value) +
          rescaled(int32_t(gate.peephole[place % outputs]) * content[place], gate.peepholeFactor));
    }
  if (gate.norm)
    for (int64_t row = 0; row < rows; ++row)
      normalize(gate, made.data() + row * units);
  return made;
}

static int16_t cellProduct(int16_t a, int16_t b, int shift) {
  return static_cast<int16_t>(roundingShiftRight(int32_t(a) * b, static_cast<unsigned>(shift),
                                                 RoundingMode::HalfAwayFromZero));
}

void IntegerCell::update(const std::vector<int16_t> &in, const std::vector<int16_t> &forget,
                         const std::vector<int16_t> &candidate, int16_t *content) const {
  for (size_t at = 0; at < forget.size(); ++at) {
    const auto taken = coupled ? static_cast<int16_t>(kNearlyOne - forget[at]) : in[at];
    const int16_t kept = cellProduct(forget[at], content[at], 15);
    const int16_t added = cellProduct(taken, candidate[at], 15 + params.contentBits);
    content[at] = saturateCast<int16_t>(int32_t(kept) + added);
    if (params.contentLimit > 0)
      content[at] = static_cast<int16_t>(
          std::clamp<int32_t>(content[at], -params.contentLimit, params.contentLimit));
  }
}

void IntegerCell::show(const std::vector<int16_t> &out, const int16_t *content, int64_t rows,
                       int8_t *output) const {
  std::vector<int8_t> hidden(out.size());
  const int32_t zero = projection ? -params.hiddenZeroPoint : params.hiddenZeroPoint;
  for (size_t at = 0; at < out.size(); ++at) {
    const int32_t shown = int32_t(out[at]) * fixedTanh(content[at], params.contentBits);
    hidden[at] = saturateCast<int8_t>(int64_t(rescaled(shown, hiddenFactor)) + zero);
  }
  if (!projection) {
    std::ranges::copy(hidden, output);
    return;
  }
  std::fill_n(output, rows * outputs, int8_t(0));
  for (int64_t row = 0; row < rows; ++row)
    accumulate(*projection, hidden.data() + row * units, params.outputZeroPoint,
               output + row * outputs);
  if (params.outputLimit > 0)
    for (int64_t at = 0; at < rows * outputs; ++at)
      output[at] = static_cast<int8_t>(
          std::clamp<int32_t>(output[at], -params.outputLimit, params.outputLimit));
}

void IntegerCell::step(const int8_t *input, int64_t rows, int16_t *content, int8_t *output) const {
  const auto opened = [&](size_t index) {
    return open(gates[index], input, output, content, rows);
  };
  const auto sigmoid = [&](size_t index) {
    std::vector<int16_t> gate = opened(index);
    std::ranges::transform(gate, gate.begin(), fixedSigmoid);
    return gate;
  };
  const size_t first = coupled ? 0 : 1;
  const std::vector<int16_t> in = coupled ? std::vector<int16_t>() : sigmoid(0);
  const std::vector<int16_t> forget = sigmoid(first);
  std::vector<int16_t> candidate = opened(first + 1);
  for (int16_t &value : candidate)
    value = fixedTanh(value, 3);
  update(in, forget, candidate, content);
  show(sigmoid(first + 2), content, rows, output);
}

} // namespace

void kernels::integerLstm(const IntegerLstmTensors &tensors, const IntegerLstmParams &params,
                          Tensor &output, ThreadPool &threads) {
  const IntegerCell cell(tensors, params);
  const Shape &shape = tensors.input.shape();
  const int64_t steps = shape[params.batchFirst ? 1 : 0];
  const int64_t samples = shape[params.batchFirst ? 0 : 1];
  const int64_t rows = params.batchFirst ? 1 : samples;
  const int8_t *in = tensors.input.data<int8_t>().data();
  int8_t *out = output.mutableData<int8_t>().data();
  threads.parallelFor(params.batchFirst ? samples : 1, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      std::vector<int16_t> content(static_cast<size_t>(rows * cell.units), 0);
      std::vector<int8_t> state(static_cast<size_t>(rows * cell.outputs),
                                static_cast<int8_t>(params.outputZeroPoint));
      for (int64_t step = 0; step < steps; ++step) {
        const int64_t at = (part * steps + step) * rows;
        cell.step(in + at * cell.elements, rows, content.data(), state.data());
        std::ranges::copy(state, out + at * cell.outputs);
      }
    }
  });
}
