//===- ActivationsTest.cpp - Functions of one operand----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Kernels/Activations.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Target/BM1684X/Kernels/Series.h"
#include "unittests/BM1684X/Kernels/Bench.h"

#include <cmath>
#include <functional>
#include <gmock/gmock.h>

using namespace tpuc;
using namespace tpuc::bm1684x;
using testing::HasSubstr;

namespace {

struct Function {
  UnaryKind kind;
  std::function<double(double)> formula;
  double a = 0;
  double b = 0;
  double low = -12;
  double high = 12;
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

const Function kFunctions[] = {
    {UnaryKind::Relu, [](double x) { return std::max(x, 0.0); }, -1},
    {UnaryKind::Relu, [](double x) { return std::min(std::max(x, 0.0), 6.0); }, 6},
    {UnaryKind::Clip, [](double x) { return std::min(std::max(x, -1.0), 3.0); }, -1, 3},
    {UnaryKind::LeakyRelu, [](double x) { return x < 0 ? 0.125 * x : x; }, 0.125},
    {UnaryKind::LeakyRelu, [](double x) { return x < 0 ? 2 * x : x; }, 2},
    {UnaryKind::Abs, [](double x) { return std::abs(x); }},
    {UnaryKind::Neg, [](double x) { return -x; }},
    {UnaryKind::Square, [](double x) { return x * x; }},
    {UnaryKind::Sqrt, [](double x) { return std::sqrt(x); }, 0, 0, 0.01, 100},
    {UnaryKind::Rsqrt, [](double x) { return 1 / std::sqrt(x); }, 0, 0, 0.01, 100},
    {UnaryKind::Reciprocal, [](double x) { return 1 / x; }, 0, 0, -9, -0.1},
    {UnaryKind::Exp, [](double x) { return std::exp(x); }, 0, 0, -8, 8},
    {UnaryKind::Log, [](double x) { return std::log(x); }, 0, 0, 0.001, 100},
    {UnaryKind::Sigmoid, [](double x) { return sigmoid(2 * x + 1); }, 2, 1},
    {UnaryKind::Tanh, [](double x) { return std::tanh(x); }, 0, 0, -4, 4},
    {UnaryKind::Swish, [](double x) { return x * sigmoid(1.5 * x); }, 1.5},
    {UnaryKind::GeluErf, [](double x) { return 0.5 * x * (1 + std::erf(x * std::sqrt(0.5))); }},
    {UnaryKind::GeluTanh,
     [](double x) {
       return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
     }},
    {UnaryKind::Erf, [](double x) { return std::erf(x); }},
    {UnaryKind::HardSigmoid, [](double x) { return std::min(std::max(0.25 * x + 0.5, 0.0), 1.0); },
     0.25, 0.5},
    {UnaryKind::HardSwish, [](double x) { return x * std::min(std::max(x / 6 + 0.5, 0.0), 1.0); }},
    {UnaryKind::Elu, [](double x) { return x < 0 ? 0.5 * (std::exp(x) - 1) : x; }, 0.5},
    {UnaryKind::Softplus, [](double x) { return std::log1p(std::exp(x)); }},
    {UnaryKind::Mish, [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }},
    {UnaryKind::Floor, [](double x) { return std::floor(x); }},
    {UnaryKind::Ceil, [](double x) { return std::ceil(x); }},
    {UnaryKind::Round, [](double x) { return std::nearbyint(x); }},
    {UnaryKind::Affine, [](double x) { return 2 * x + 1; }, 2, 1},
    {UnaryKind::Sign, [](double x) { return x < 0   ? -1.0
                                            : x > 0 ? 1.0
                                                    : 0.0; }},
    {UnaryKind::Threshold, [](double x) { return x > 1.5 ? x : 0; }, 1.5},
    {UnaryKind::Shrink, [](double x) { return x < -2  ? x + 0.5
                                              : x > 2 ? x - 0.5
                                                      : 0; }, 2, 0.5},
    {UnaryKind::Softsign, [](double x) { return x / (1 + std::abs(x)); }},
    {UnaryKind::Selu, [](double x) { return 1.25 * (x < 0 ? 0.5 * (std::exp(x) - 1) : x); }, 0.5,
     1.25},
    {UnaryKind::Celu, [](double x) { return x < 0 ? 2 * (std::exp(x / 2) - 1) : x; }, 2},
    {UnaryKind::Sin, [](double x) { return std::sin(x); }, 0, 0, -100, 100},
    {UnaryKind::Cos, [](double x) { return std::cos(x); }, 0, 0, -100, 100},
    {UnaryKind::Sinh, [](double x) { return std::sinh(x); }, 0, 0, -8, 8},
    {UnaryKind::Cosh, [](double x) { return std::cosh(x); }, 0, 0, -8, 8},
};

/// `scratch`: 0 for what the kernel asks for.
void expectUnary(const Function &function, DataType type, const Shape &shape, bool inPlace,
                 uint32_t scratch = 0, uint32_t lane = 0) {
  Tensor input = randomNumbers(type, shape, 1, function.low, function.high);
  Bench bench;
  Unary unary;
  unary.kind = function.kind;
  unary.a = function.a;
  unary.b = function.b;
  unary.input = bench.load(input, Layout::Aligned, lane);
  unary.output = inPlace ? unary.input : bench.local(type, extents(input), Layout::Aligned, lane);
  unary.scratch =
      scratch > 0 ? Scratch{bench.bytes(scratch), scratch} : bench.scratch(unaryScratch(unary));
  expectOk(emitUnary(bench.builder, unary));
  GlobalTensor stored = bench.store(unary.output);
  bench.run();
  Tensor wanted = convert(input, DataType::F64).clone();
  for (double &value : wanted.mutableData<double>())
    value = function.formula(value);
  SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(function.kind) << " "
                                  << dataTypeName(type));
  expectClose(bench.get(stored), convert(wanted, type));
}

TEST(Unary, EveryFunction) {
  for (const Function &function : kFunctions)
    for (DataType type : kFloatTypes)
      for (bool inPlace : {false, true})
        expectUnary(function, type, {2, 70, 3, 5}, inPlace);
}

TEST(Unary, InPieces) {
  for (DataType type : kFloatTypes) {
    expectUnary(
        {UnaryKind::GeluErf, [](double x) { return 0.5 * x * (1 + std::erf(x * std::sqrt(0.5))); }},
        type, {1, 130, 20, 50}, true, kLeastUnaryScratch);
    expectUnary({UnaryKind::HardSwish,
                 [](double x) { return x * std::min(std::max(x / 6 + 0.5, 0.0), 1.0); }},
                type, {1, 70, 90, 50}, true, kLeastUnaryScratch, 5);
  }
}

/// The largest error of F32 functions, where the cosine sees little.
TEST(Unary, AccuracyInF32) {
  struct Bound {
    UnaryKind kind;
    std::function<double(double)> formula;
    double low, high, absolute, relative;
    double a = 0;
  };
  const Bound bounds[] = {
      {UnaryKind::Exp, [](double x) { return std::exp(x); }, -20, 20, 0, 3e-6},
      {UnaryKind::Exp, [](double x) { return std::exp(x); }, -1, 1, 0, 4e-7},
      {UnaryKind::Exp, [](double x) { return std::exp(x); }, 80, 88.7, 0, 1e-5},
      {UnaryKind::Log, [](double x) { return std::log(x); }, 1e-30, 1e-3, 0, 1e-6},
      {UnaryKind::Log, [](double x) { return std::log(x); }, 0.5, 2, 4e-7, 0},
      {UnaryKind::Erf, [](double x) { return std::erf(x); }, -5, 5, 2e-6, 0},
      {UnaryKind::Tanh, [](double x) { return std::tanh(x); }, -100, 100, 1e-6, 0},
      {UnaryKind::Sigmoid, sigmoid, -80, 0, 0, 8e-6, 1},
      {UnaryKind::Sigmoid, sigmoid, -2, 40, 0, 8e-7, 1},
      {UnaryKind::Swish, [](double x) { return x * sigmoid(x); }, -80, 2, 0, 8e-6, 1},
      {UnaryKind::Swish, [](double x) { return x * sigmoid(-2 * x); }, -2, 20, 0, 4e-6, -2},
      {UnaryKind::Swish, [](double x) { return x * sigmoid(x); }, -2, 1e30, 0, 8e-7, 1},
      {UnaryKind::Softplus, [](double x) { return std::log1p(std::exp(x)); }, -5, 90, 2e-6, 1e-6},
      {UnaryKind::Mish, [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }, -5, 90,
       2e-6, 2e-6},
      {UnaryKind::Sqrt, [](double x) { return std::sqrt(x); }, 0, 1e-6, 1e-9, 1e-6}};
  for (const Bound &bound : bounds) {
    Tensor input = randomNumbers(DataType::F32, {1, 64, 1, 64}, 1, bound.low, bound.high);
    input = input.clone();
    input.mutableData<float>()[0] = static_cast<float>(bound.low);
    Bench bench;
    Unary unary;
    unary.kind = bound.kind;
    unary.a = bound.a;
    unary.input = bench.load(input);
    unary.output = bench.local(DataType::F32, extents(input));
    unary.scratch = bench.scratch(unaryScratch(unary));
    expectOk(emitUnary(bench.builder, unary));
    GlobalTensor stored = bench.store(unary.output);
    bench.run();
    Tensor found = bench.get(stored);
    for (size_t i = 0; i < 64 * 64; ++i) {
      double wanted = bound.formula(static_cast<double>(input.data<float>()[i]));
      ASSERT_NEAR(static_cast<double>(found.data<float>()[i]), wanted,
                  bound.absolute + bound.relative * std::abs(wanted))
          << "kind " << static_cast<int>(bound.kind) << " of " << input.data<float>()[i];
    }
  }
}

/// Logarithms and roots at the end of what they are defined for, and beyond.
TEST(Unary, EdgesOfDomains) {
  for (const DataType type : {DataType::F32, DataType::F16, DataType::BF16})
    for (const UnaryKind kind : {UnaryKind::Log, UnaryKind::Sqrt}) {
      Tensor numbers = randomNumbers(DataType::F32, {1, 2, 1, 3}, 1, -2, -1);
      numbers.mutableData<float>()[0] = 0;
      numbers.mutableData<float>()[1] = -0.0F;
      numbers.mutableData<float>()[2] = 1;
      Bench bench;
      Unary unary;
      unary.kind = kind;
      unary.input = bench.load(convert(numbers, type));
      unary.output = bench.local(type, extents(numbers));
      unary.scratch = bench.scratch(unaryScratch(unary));
      expectOk(emitUnary(bench.builder, unary));
      GlobalTensor stored = bench.store(unary.output);
      bench.run();
      const Tensor made = convert(bench.get(stored), DataType::F32);
      const auto found = made.data<float>();
      const float atZero = kind == UnaryKind::Log ? -std::numeric_limits<float>::infinity() : 0;
      EXPECT_EQ(found[0], atZero);
      EXPECT_EQ(found[1], atZero);
      EXPECT_NEAR(found[2], kind == UnaryKind::Log ? 0 : 1, 1e-6);
      for (size_t i = 3; i < 6; ++i)
        EXPECT_TRUE(std::isnan(found[i])) << numbers.data<float>()[i];
    }
}

/// What lies beside a slice of channels stays as it is.
TEST(Unary, SlicesOfChannels) {
  Bench bench;
  Tensor input = randomNumbers(DataType::F32, {1, 200, 3, 3}, 1, -2, -1);
  LocalTensor whole = bench.load(input);
  Unary unary;
  unary.kind = UnaryKind::Abs;
  unary.input = unary.output = whole.slice(1, 30, 110);
  expectOk(emitUnary(bench.builder, unary));
  GlobalTensor stored = bench.store(whole);
  bench.run();
  Tensor found = bench.get(stored);
  for (size_t i = 0; i < 200 * 9; ++i) {
    float before = input.data<float>()[i];
    bool isInside = i / 9 >= 30 && i / 9 < 140;
    ASSERT_EQ(found.data<float>()[i], isInside ? -before : before);
  }
}

TEST(FlatParts, CoverTheTensorOnce) {
  EXPECT_EQ(flatParts(localTensor(DataType::F32, {3, 128, 3, 3}), 1 << 20).size(), 1u);
  EXPECT_EQ(
      flatParts(localTensor(DataType::F32, {3, 10, 3, 3}, 0, Layout::Aligned, 4), 1 << 20)[0].shape,
      (Extents{1, 10, 1, 48}));
  EXPECT_EQ(flatParts(localTensor(DataType::F32, {2, 200, 3, 3}), 1 << 20).size(), 4u);
  EXPECT_EQ(flatParts(localTensor(DataType::F32, {1, 64, 1, 200}), 128).size(), 2u);
}

TEST(Unary, RefusesByName) {
  Unary unary;
  unary.input = localTensor(DataType::F32, {1, 2, 3, 4});
  auto message = [](const Unary &u) {
    Expected<uint32_t> needed = unaryScratch(u);
    return needed ? "accepted" : needed.error().message();
  };
  EXPECT_THAT(message(unary), HasSubstr("[1,2,3,4] f32 to [1,1,1,1] f32"));
  unary.output = unary.input;
  unary.output.layout = Layout::Compact;
  unary.output.shape = unary.input.shape = {1, 80, 3, 3};
  EXPECT_THAT(message(unary), HasSubstr("output with gaps"));
  unary.output.layout = Layout::Aligned;
  unary.kind = UnaryKind::Exp;
  Builder builder;
  builder.beginLayer("act");
  Expected<void> emitted = emitUnary(builder, unary);
  ASSERT_FALSE(emitted);
  EXPECT_THAT(emitted.error().message(), HasSubstr("act: 0 bytes of scratch"));
}

/// `a` and `b` are what the function has of them; zeros have no sign.
void checkRoundsOnce(UnaryKind kind, double a, double b, float (*formula)(float)) {
  for (const DataType type : {DataType::F16, DataType::BF16})
    for (const bool isInPlace : {false, true}) {
      Tensor input = randomNumbers(type, {1, 70, 5, 6}, 1, -4, 4);
      Bench bench;
      Unary unary;
      unary.kind = kind;
      unary.a = a;
      unary.b = b;
      unary.input = bench.load(input);
      unary.output = isInPlace ? unary.input : bench.local(type, extents(input));
      unary.scratch = bench.scratch(unaryScratch(unary));
      expectOk(emitUnary(bench.builder, unary));
      GlobalTensor stored = bench.store(unary.output);
      bench.run();
      Tensor wanted = convert(input, DataType::F32).clone();
      for (float &x : wanted.mutableData<float>())
        x = formula(x) + 0.0F;
      expectSame(bench.get(stored), convert(wanted, type));
    }
}

/// In steps of 16 bits, 1 / 6 alone would be wrong by more than the last bit.
TEST(Activations, HardSwishRoundsOnce) {
  checkRoundsOnce(UnaryKind::HardSwish, 0, 0, [](float x) {
    return x * std::min(std::max(x * (1.0F / 6) + 0.5F, 0.0F), 1.0F);
  });
}
TEST(Activations, HardSigmoidRoundsOnce) {
  checkRoundsOnce(UnaryKind::HardSigmoid, 0.2, 0.5,
                  [](float x) { return std::min(std::max(x * 0.2F + 0.5F, 0.0F), 1.0F); });
}
TEST(Activations, LeakyReluRoundsOnce) {
  checkRoundsOnce(UnaryKind::LeakyRelu, 0.1, 0, [](float x) { return std::max(x * 0.1F, x); });
  checkRoundsOnce(UnaryKind::LeakyRelu, 1.7, 0, [](float x) { return std::min(x * 1.7F, x); });
}
TEST(Activations, AffineRoundsOnce) {
  checkRoundsOnce(UnaryKind::Affine, 0.3, 0.7, [](float x) { return x * 0.3F + 0.7F; });
}

} // namespace
