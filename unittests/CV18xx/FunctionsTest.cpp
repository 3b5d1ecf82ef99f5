//===- FunctionsTest.cpp - Functions of BF16 on the machine ---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Kernels/Functions.h"
#include "tpuc/Target/CV18xx/Machine/Numbers.h"
#include "tpuc/Target/CV18xx/Machine/Simulator.h"

#include <cstring>
#include <fmt/format.h>
#include <functional>
#include <gtest/gtest.h>
#include <iostream>

using namespace tpuc;
using namespace tpuc::cv18xx;

namespace {

using Emit = std::function<Expected<void>(Builder &, const FunctionOperands &)>;
using Exact = std::function<double(double)>;

/// What the machine makes of `inputs`, which it has in all lanes.
std::vector<uint16_t> compute(const Chip &chip, std::span<const uint16_t> inputs,
                              const Emit &emit) {
  std::vector<uint16_t> results(inputs.size());
  const uint32_t width = 64;
  const Extents shape = {1, chip.lanes, 1, width};
  const size_t step = size_t{chip.lanes} * width;
  Builder builder(chip);
  const LocalTensor input = alignedTensor(chip, 0, shape, true);
  const LocalTensor result = alignedTensor(chip, alignedBytes(chip, shape, true), shape, true);
  const uint32_t scratch = 2 * alignedBytes(chip, shape, true);
  EXPECT_LE(scratch + functionScratch(chip, shape), kLaneBytes);
  const auto done = emit(builder, {result, input, scratch});
  EXPECT_TRUE(done) << done.error().message();
  const CommandStream stream = builder.finish();
  std::vector<uint8_t> global(stream.constants.size() * 2);
  std::memcpy(global.data(), stream.constants.data(), global.size());
  Memory memory(chip, global);
  memory.bases[kConstantBase] = 0 - kKeptConstants;
  for (size_t first = 0; first < inputs.size(); first += step) {
    const auto place = [&](const LocalTensor &tensor, size_t i) {
      return &memory.local()[i / width * kLaneBytes + tensor.address + i % width * 2];
    };
    const size_t count = std::min(step, inputs.size() - first);
    for (size_t i = 0; i < count; ++i)
      std::memcpy(place(input, i), &inputs[first + i], 2);
    for (const Command &command : stream.commands) {
      const auto ran = runCommand(memory, command, "here");
      EXPECT_TRUE(ran) << ran.error().message();
    }
    for (size_t i = 0; i < count; ++i)
      std::memcpy(&results[first + i], place(result, i), 2);
  }
  return results;
}

/// The distance from the number's BF16 to the next one.
double unitOf(double number) { return std::ldexp(1, std::max(std::ilogb(number), -126) - 7); }

struct Errors {
  /// In units in the last place, or in `least` where units are less.
  double units = 0;
  double at = 0;
};

/// Of all BF16 inputs from `first` to `last` whose result is within the normal range, or 0.
Errors errorsOf(const Chip &chip, const Emit &emit, const Exact &exact, double first, double last,
                double least) {
  constexpr double kSmallest = 0x1p-126, kLargestResult = 0x1.fep127;
  std::vector<uint16_t> inputs;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto input = static_cast<uint16_t>(bits);
    const auto number = std::bit_cast<float>(bits << 16);
    const bool isNormal = std::isnormal(number) || bits == 0;
    if (isNormal && number >= first && number <= last)
      inputs.push_back(input);
  }
  const std::vector<uint16_t> results = compute(chip, inputs, emit);
  Errors worst;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const double input = fromBf16(inputs[i]), wanted = exact(input), made = fromBf16(results[i]);
    if (std::fabs(wanted) > kLargestResult || (std::fabs(wanted) < kSmallest && made == 0))
      continue;
    const double units = std::fabs(made - wanted) / std::max(least, unitOf(wanted));
    if (!(units <= worst.units))
      worst = {units, input};
  }
  return worst;
}

struct Case {
  const char *name;
  Emit emit;
  Exact exact;
  double first = -INFINITY, last = INFINITY;
  /// Errors count in units of at least this, and are at most so many.
  double least = 0x1p-126;
  double most = 2;
};

Emit of(Curve curve) {
  return [curve](Builder &builder, const FunctionOperands &operands) {
    return emitCurve(builder, curve, operands);
  };
}
Emit of(Power power) {
  return [power](Builder &builder, const FunctionOperands &operands) {
    return emitPower(builder, power, operands);
  };
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

const std::vector<Case> &cases() {
  static const std::vector<Case> kCases = {
      {"sigmoid", of(Curve::Sigmoid), sigmoid, -15.9},
      {"sigmoid, everywhere", of(Curve::Sigmoid), sigmoid, -INFINITY, INFINITY, 0x1p-20},
      {"SiLU", of(Curve::SiLU), [](double x) { return x * sigmoid(x); }, -15.9},
      {"SiLU, everywhere", of(Curve::SiLU), [](double x) { return x * sigmoid(x); }, -INFINITY,
       INFINITY, 0x1p-18},
      {"GELU", of(Curve::GELU), [](double x) { return x / 2 * std::erfc(-x / std::sqrt(2)); }, -4},
      {"GELU, everywhere", of(Curve::GELU),
       [](double x) { return x / 2 * std::erfc(-x / std::sqrt(2)); }, -INFINITY, INFINITY, 0x1p-17},
      {"GELU by tanh", of(Curve::TanhGELU),
       [](double x) {
         return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
       },
       -INFINITY, INFINITY, 0x1p-17},
      {"Mish", of(Curve::Mish), [](double x) { return x * std::tanh(std::log1p(std::exp(x))); },
       -15.9},
      {"Mish, everywhere", of(Curve::Mish),
       [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }, -INFINITY, INFINITY,
       0x1p-18},
      {"tanh", of(Curve::Tanh), [](double x) { return std::tanh(x); }},
      {"erf", of(Curve::Erf), [](double x) { return std::erf(x); }},
      {"e^x - 1", of(Curve::Elu), [](double x) { return std::expm1(x); }, -INFINITY, 0},
      {"ln(1 + e^x)", of(Curve::Softplus), [](double x) { return std::log1p(std::exp(x)); }, -15.9,
       0},
      {"1 / x", of(Power::Reciprocal), [](double x) { return 1 / x; }, -INFINITY, -0x1p-125, 0,
       0.5},
      {"1 / x, above 0", of(Power::Reciprocal), [](double x) { return 1 / x; }, 0x1p-125, INFINITY,
       0, 0.5},
      {"sqrt(x)", of(Power::Root), [](double x) { return std::sqrt(x); }, 0x1p-125, INFINITY, 0,
       0.5},
      {"1 / sqrt(x)", of(Power::ReciprocalRoot), [](double x) { return 1 / std::sqrt(x); },
       0x1p-125, INFINITY, 0, 0.5},
      {"e^x", emitExponential, [](double x) { return std::exp(x); }, -86, 88.5},
      {"ln(x)", emitLogarithm, [](double x) { return std::log(x); }, 0x1p-125, INFINITY}};
  return kCases;
}

TEST(Functions, ErrorsOfAllInputs) {
  for (const Case &one : cases()) {
    const Errors errors =
        errorsOf(*findChip("cv183x"), one.emit, one.exact, one.first, one.last, one.least);
    EXPECT_LE(errors.units, one.most) << one.name << " at " << errors.at;
    // What docs/cv18xx.md states.
    std::cout << fmt::format("{}: {:.2f} units at {:g}\n", one.name, errors.units, errors.at);
  }
}

TEST(Functions, ChipsAgree) {
  std::vector<uint16_t> inputs;
  for (uint32_t bits = 0; bits < 0x10000; bits += 7)
    if ((bits & 0x7F80) != 0x7F80)
      inputs.push_back(static_cast<uint16_t>(bits));
  const std::vector<uint16_t> wanted = compute(*findChip("cv183x"), inputs, of(Curve::GELU));
  for (const Chip &chip : allChips())
    EXPECT_EQ(compute(chip, inputs, of(Curve::GELU)), wanted) << chip.name;
}

TEST(Functions, RestsOfPowers) {
  const Chip &chip = *findChip("cv182x");
  std::vector<uint16_t> inputs;
  for (uint16_t bits = bf16Bits(0x1p-100); bits < bf16Bits(0x1p+100); ++bits)
    inputs.push_back(bits);
  for (const Power power : {Power::Reciprocal, Power::Root, Power::ReciprocalRoot}) {
    const auto rest = [power](Builder &builder, const FunctionOperands &operands) {
      const uint32_t bytes = alignedBytes(builder.chip(), operands.result.shape, true);
      FunctionOperands shifted = operands;
      shifted.result.address = operands.scratch;
      shifted.scratch += bytes;
      return emitPowerWithRest(builder, power, shifted, operands.result);
    };
    const std::vector<uint16_t> powers = compute(chip, inputs, of(power));
    const std::vector<uint16_t> rests = compute(chip, inputs, rest);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const double x = fromBf16(inputs[i]);
      const double exact = power == Power::Reciprocal ? 1 / x
                           : power == Power::Root     ? std::sqrt(x)
                                                      : 1 / std::sqrt(x);
      ASSERT_NEAR(fromBf16(powers[i]) + double{fromBf16(rests[i])}, exact, exact * 0x1p-16) << x;
    }
  }
}

TEST(Functions, EndsOfTheRange) {
  const Chip &chip = *findChip("cv181x");
  const uint16_t inputs[] = {0, 0x8000, bf16Bits(-200), bf16Bits(200), bf16Bits(88.5)};
  const auto results = [&](const Emit &emit) { return compute(chip, inputs, emit); };
  EXPECT_EQ(results(of(Power::Reciprocal))[0], kLargestBf16);
  EXPECT_EQ(results(of(Power::Reciprocal))[1], kLargestBf16);
  EXPECT_EQ(results(of(Power::Root))[0], 0);
  EXPECT_EQ(results(of(Power::ReciprocalRoot))[0], kLargestBf16);
  const std::vector<uint16_t> powers = results(emitExponential);
  EXPECT_EQ(powers[0], bf16Bits(1));
  EXPECT_EQ(powers[2], bf16Bits(std::exp(-86)));
  EXPECT_EQ(powers[3], bf16Bits(std::exp(88.5)));
  EXPECT_EQ(powers[4], powers[3]);
  EXPECT_LT(results(emitLogarithm)[0], 0xFF80);
  EXPECT_EQ(results(of(Curve::SiLU))[2], 0);
  EXPECT_EQ(results(of(Curve::SiLU))[3], bf16Bits(200));
  EXPECT_EQ(results(of(Curve::Tanh))[2], bf16Bits(-1));
}

} // namespace
