//===- UnaryTest.cpp - Ops of one operand ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Convert.h"
#include "unittests/Elementwise/OpRunner.h"

#include <cmath>
#include <gtest/gtest.h>
#include <numbers>

using namespace tpuc;

namespace {

struct Function {
  const char *name;
  const char *attributes;
  double (*reference)(double);
  double low;
  double high;
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

const Function kFunctions[] = {
    {"Arccos", "", std::acos, -1, 1},
    {"Arccosh", "", std::acosh, 1, 90},
    {"Arcsin", "", std::asin, -1, 1},
    {"Arcsinh", "", std::asinh, -50, 50},
    {"Arctan", "", std::atan, -50, 50},
    {"Arctanh", "", std::atanh, -0.99, 0.99},
    {"Cos", "", std::cos, -9, 9},
    {"Cosh", "", std::cosh, -20, 20},
    {"Erf", "", std::erf, -5, 5},
    {"Exp", "", std::exp, -103, 88.5},
    {"Log", "", std::log, 0.001, 1e6},
    {"Sin", "", std::sin, -9, 9},
    {"Sinh", "", std::sinh, -20, 20},
    {"Softplus", "", [](double x) { return std::log1p(std::exp(x)); }, -80, 80},
    {"Softsign", "", [](double x) { return x / (1 + std::abs(x)); }, -9, 9},
    {"Sqrt", "", std::sqrt, 0, 1e6},
    {"Rsqrt", "", [](double x) { return 1 / std::sqrt(x); }, 0.01, 1e6},
    {"Reciprocal", "", [](double x) { return 1 / x; }, 0.01, 1e6},
    {"Tan", "", std::tan, -1.5, 1.5},
    {"Tanh", "", std::tanh, -12, 12},
    {"HardSwish", "", [](double x) { return x * std::max(0.0, std::min(1.0, x / 6 + 0.5)); }, -9,
     9},
    {"Mish", "", [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }, -20, 40},
    {"SiLU", "", [](double x) { return x * sigmoid(x); }, -20, 40},
    {"Swish", "beta = 2.0 : f64", [](double x) { return x * sigmoid(2 * x); }, -20, 40},
    {"Sigmoid", "", sigmoid, -80, 40},
    {"Sigmoid", "scale = 2.0 : f64, bias = 0.5 : f64",
     [](double x) { return 2 * sigmoid(x) + 0.5; }, -20, 40},
    {"Sigmoid", "log = true", [](double x) { return -std::log1p(std::exp(-x)); }, -80, 40},
    {"LeakyRelu", "alpha = 0.25 : f64", [](double x) { return x < 0 ? x / 4 : x; }, -9, 9},
    {"Elu", "alpha = 2.0 : f64", [](double x) { return x < 0 ? 2 * std::expm1(x) : x; }, -9, 9},
    {"Celu", "alpha = 2.0 : f64", [](double x) { return x < 0 ? 2 * std::expm1(x / 2) : x; }, -9,
     9},
    {"Selu", "alpha = 2.0 : f64, gamma = 0.5 : f64",
     [](double x) { return 0.5 * (x < 0 ? 2 * std::expm1(x) : x); }, -9, 9},
    {"HardSigmoid", "alpha = 0.25 : f64, beta = 0.5 : f64",
     [](double x) { return std::max(0.0, std::min(1.0, x / 4 + 0.5)); }, -9, 9},
    {"GELU", "", [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }, -5, 9},
    {"GELU", "approx_mode = \"tanh\"",
     [](double x) {
       return x * sigmoid(2 * std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x));
     },
     -4, 9},
};

TEST(UnaryTest, FunctionsAgreeWithDoubles) {
  OpRunner run;
  // Not a multiple of a block.
  constexpr int64_t kCount = 1301;
  for (const Function &function : kFunctions) {
    std::vector<double> x;
    for (int64_t i = 0; i < kCount; ++i)
      x.push_back(function.low + (function.high - function.low) * static_cast<double>(i) /
                                     static_cast<double>(kCount - 1));
    for (auto [type, tolerance] :
         {std::pair(DataType::F64, 1e-14), std::pair(DataType::F32, 2e-6),
          std::pair(DataType::F16, 1e-3), std::pair(DataType::BF16, 8e-3)}) {
      const Tensor input = tensor(type, {kCount}, x);
      std::string error;
      const std::vector<Tensor> results =
          run.run(function.name, function.attributes, {input}, {true}, error);
      ASSERT_EQ(error, "") << function.name;
      ASSERT_EQ(results[0].type(), type);
      const Tensor in = convert(input, DataType::F64);
      const Tensor out = convert(results[0], DataType::F64);
      for (size_t i = 0; i < static_cast<size_t>(kCount); ++i) {
        const double expected =
            convert(tensor(type, {1}, {function.reference(in.data<double>()[i])}), DataType::F64)
                .data<double>()[0];
        const double actual = out.data<double>()[i];
        if (expected == actual)
          continue;
        // Near the functions' zeros and below the smallest normal number, digits are lost.
        const double floor = type == DataType::F64 ? 1e-15 : 2e-7;
        ASSERT_LE(std::abs(actual - expected), tolerance * std::abs(expected) + floor)
            << function.name << " " << dataTypeName(type) << " " << in.data<double>()[i];
      }
    }
  }
}

TEST(UnaryTest, ExpKeepsItsEnds) {
  OpRunner run;
  EXPECT_EQ(run("Exp", "", {f32({5}, {-kInf, kInf, kNaN, 0, 89})}), "5xf32: 0 inf nan 1 inf");
  std::string error;
  // A subnormal result.
  const Tensor small = run.run("Exp", "", {f32({1}, {-100})}, {true}, error)[0];
  EXPECT_NEAR(small.data<float>()[0] / std::exp(-100.0), 1, 0.02);
  EXPECT_EQ(run("Tanh", "", {f32({5}, {-kInf, kInf, kNaN, 100, -100})}), "5xf32: -1 1 nan 1 -1");
}

TEST(UnaryTest, RoundsTiesToEven) {
  OpRunner run;
  const Tensor x = f32({8}, {-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.4, -2.6});
  EXPECT_EQ(run("Round", "", {x}), "8xf32: -2 -2 -0 0 2 2 2 -3");
  EXPECT_EQ(run("Floor", "", {x}), "8xf32: -3 -2 -1 0 1 2 2 -3");
  EXPECT_EQ(run("Ceil", "", {x}), "8xf32: -2 -1 -0 1 2 3 3 -2");
}

TEST(UnaryTest, IntegersAreExact) {
  OpRunner run;
  const Tensor wide = Tensor::of<int64_t>({3}, {INT64_MIN, -9007199254740993, 5});
  EXPECT_EQ(run("Neg", "", {wide}), "3xi64: -9223372036854775808 9007199254740993 -5");
  EXPECT_EQ(run("Abs", "", {wide}), "3xi64: -9223372036854775808 9007199254740993 5");
  EXPECT_EQ(run("Sign", "", {wide}), "3xi64: -1 -1 1");
  EXPECT_EQ(run("Abs", "", {Tensor::of<int8_t>({2}, {-128, -3})}), "2xi8: -128 3");
  EXPECT_EQ(run("BitwiseNot", "", {Tensor::of<uint8_t>({2}, {0, 200})}), "2xu8: 255 55");
  EXPECT_EQ(run("BitwiseNot", "", {Tensor::of<uint64_t>({1}, {1})}), "1xu64: 18446744073709551614");
  EXPECT_EQ(run("Sign", "", {f32({3}, {-2, 0, kNaN})}), "3xf32: -1 0 nan");
  EXPECT_EQ(run("LogicalNot", "", {tensor(DataType::Bool, {2}, {1, 0})}), "2xbool: false true");
}

TEST(UnaryTest, ClipTakesTheUpperBoundLast) {
  OpRunner run;
  const Tensor x = f32({4}, {-2, 1, 9, kNaN});
  EXPECT_EQ(run("Clip", "min = 0.0 : f64, max = 6.0 : f64", {x}), "4xf32: 0 1 6 nan");
  EXPECT_EQ(run("ClipTensor", "", {x, f32({}, {3}), f32({}, {2})}), "4xf32: 2 2 2 nan");
  EXPECT_EQ(run("ClipTensor", "", {x, std::nullopt, f32({}, {2})}), "4xf32: -2 1 2 nan");
  EXPECT_EQ(run("ClipTensor", "", {x, std::nullopt, std::nullopt}), "4xf32: -2 1 9 nan");
  EXPECT_EQ(run("Clip", "min = -1.5 : f64, max = 2.5 : f64", {Tensor::of<int8_t>({3}, {-9, 0, 9})}),
            "3xi8: -1 0 2");
  EXPECT_EQ(run("Relu", "", {x}), "4xf32: 0 1 9 nan");
  EXPECT_EQ(run("Relu", "relu_limit = 6.0 : f64", {Tensor::of<int32_t>({3}, {-9, 3, 9})}),
            "3xi32: 0 3 6");
  EXPECT_EQ(run("ClipTensor", "", {x, f32({2}, {1, 2}), std::nullopt}),
            "'top.ClipTensor' op has a bound of type 'tensor<2xf32>'; expected a tensor of one "
            "element");
}

TEST(UnaryTest, ShrinksAndThresholds) {
  OpRunner run;
  EXPECT_EQ(run("Shrink", "bias = 1.0 : f64, lambd = 1.5 : f64", {f32({4}, {-2, -1, 1.5, 2})}),
            "4xf32: -1 0 0 1");
  EXPECT_EQ(
      run("Shrink", "bias = 1.0 : f64, lambd = 1.5 : f64", {Tensor::of<uint8_t>({3}, {0, 1, 200})}),
      "3xu8: 0 0 199");
  EXPECT_EQ(run("ThresholdedRelu", "alpha = 2.0 : f64", {f32({3}, {-3, 2, 2.5})}),
            "3xf32: 0 0 2.5");
}

TEST(UnaryTest, TellsInfinitiesAndNaN) {
  OpRunner run;
  const Tensor x = tensor(DataType::F16, {4}, {kInf, -kInf, kNaN, 1});
  EXPECT_EQ(run("IsNaN", "", {x}), "4xbool: false false true false");
  EXPECT_EQ(run("IsInf", "", {x}), "4xbool: true true false false");
  EXPECT_EQ(run("IsInf", "detect_negative = false", {x}), "4xbool: true false false false");
}

TEST(UnaryTest, CastsBetweenAllTypes) {
  OpRunner run;
  const auto cast = [&](const char *to, const Tensor &x, const char *more = "") {
    return run("Cast", std::string("to = ") + to + more, {x});
  };
  EXPECT_EQ(cast("i8", f32({4}, {-1.9, 300, -300, kNaN})), "4xi8: -1 127 -128 0");
  EXPECT_EQ(cast("i8", Tensor::of<int32_t>({2}, {300, -129})), "2xi8: 44 127");
  EXPECT_EQ(cast("i4", f32({5}, {-9, -8, 3.7, 7, 8})), "5xi4: 7 -8 3 7 -8");
  EXPECT_EQ(cast("ui4", Tensor::of<int8_t>({3}, {-1, 15, 17})), "3xu4: 15 15 1");
  EXPECT_EQ(cast("f32", tensor(DataType::I4, {3}, {-8, 7, -1})), "3xf32: -8 7 -1");
  EXPECT_EQ(cast("i1", f32({4}, {0, -0.0, 0.1, kNaN})), "4xbool: false false true true");
  EXPECT_EQ(cast("f32", tensor(DataType::Bool, {2}, {1, 0})), "2xf32: 1 0");
  EXPECT_EQ(cast("f8E4M3FN", f32({3}, {1000, -kInf, 1.1})), "3xf8E4M3FN: 448 -448 1.125");
  EXPECT_EQ(cast("f8E4M3FN", f32({2}, {1000, -1000}), ", saturate = false"), "2xf8E4M3FN: nan nan");
  EXPECT_EQ(cast("f8E5M2", f32({2}, {1e6, kInf}), ", saturate = false"), "2xf8E5M2: inf inf");
  EXPECT_EQ(cast("f16", f32({2}, {1e6, 2049})), "2xf16: inf 2048");
  EXPECT_EQ(cast("f64", Tensor::of<int64_t>({1}, {9007199254740993})), "1xf64: 9007199254740992");
  EXPECT_EQ(cast("ui64", Tensor::of<int64_t>({1}, {-1})), "1xu64: 18446744073709551615");
  // Several pieces of a loop.
  const Tensor many = tensor(DataType::I4, {40001}, std::vector<double>(40001, -3));
  std::string error;
  const Tensor wide = run.run("Cast", "to = i16", {many}, {true}, error)[0];
  EXPECT_EQ(std::ranges::count(wide.data<int16_t>(), -3), 40001);
  EXPECT_EQ(run("Cast", "to = complex<f32>", {f32({1}, {1})}),
            "'top.Cast' op attribute 'to' is 'complex<f32>'; expected an element type of tensors");
}

TEST(UnaryTest, TakesPartsOfIntegers) {
  OpRunner run;
  const Tensor x = Tensor::of<int64_t>({2}, {-3, (int64_t(5) << 32) + 7});
  EXPECT_EQ(run("Cast", "to = i32, from_bit = 32 : i64", {x}), "2xi32: -1 5");
  EXPECT_EQ(run("Cast", "to = ui32, from_bit = 0 : i64", {x}), "2xu32: 4294967293 7");
  EXPECT_EQ(run("Cast", "to = ui8, from_bit = 8 : i64", {Tensor::of<int16_t>({1}, {0x1234})}),
            "1xu8: 18");
  for (const auto &[to, bit] : {std::pair("i32", 16), {"i32", 56}, {"f32", 32}, {"i64", 32}})
    EXPECT_EQ(run("Cast", fmt::format("to = {}, from_bit = {} : i64", to, bit), {x}),
              fmt::format("'top.Cast' op takes '{}' from bit {} of 'i64'; expected bit 0, or the "
                          "beginning of another part of a wider integer",
                          to, bit));
  EXPECT_EQ(run("Cast", "to = i8, from_bit = 8 : i64", {f32({1}, {1})}),
            "'top.Cast' op takes 'i8' from bit 8 of 'f32'; expected bit 0, or the beginning of "
            "another part of a wider integer");
}

TEST(UnaryTest, ReadsBitsAsAnotherType) {
  OpRunner run;
  EXPECT_EQ(run("BitCast", "to = i32", {f32({2}, {1, -0.0})}), "2xi32: 1065353216 -2147483648");
  EXPECT_EQ(run("BitCast", "to = f32", {Tensor::of<int32_t>({1}, {1065353216})}), "1xf32: 1");
  EXPECT_EQ(run("BitCast", "to = ui8", {Tensor::of<int8_t>({}, {-1})}), "u8: 255");
  EXPECT_EQ(run("BitCast", "to = i64", {tensor(DataType::F64, {0}, {})}), "0xi64:");
  EXPECT_EQ(run("BitCast", "to = i16", {f32({1}, {1})}),
            "'top.BitCast' op reads 'f32' as 'i16'; expected types of as many bits");
}

TEST(UnaryTest, Determinants) {
  OpRunner run;
  EXPECT_EQ(run("Det", "", {f32({2, 2, 2}, {0, 2, 3, 4, 1, 2, 2, 4})}), "2xf32: -6 0");
  EXPECT_EQ(run("Det", "", {f32({3, 3}, {2, 0, 0, 1, 3, 0, 5, 6, 4})}), "f32: 24");
  EXPECT_EQ(run.infer("Det", "", {"tensor<?x2x3xf32>"}),
            "'top.Det' op input has matrices of 2 x 3; expected square ones");
  EXPECT_EQ(run.infer("Det", "", {"tensor<?x?x3xf32>"}), "tensor<?xf32>");
}

TEST(UnaryTest, InfersTypes) {
  OpRunner run;
  EXPECT_EQ(run.infer("Exp", "", {"tensor<2x?xf16>"}), "tensor<2x?xf16>");
  EXPECT_EQ(run.infer("Exp", "", {"tensor<*xbf16>"}), "tensor<*xbf16>");
  EXPECT_EQ(run.infer("IsNaN", "", {"tensor<*xbf16>"}), "tensor<*xi1>");
  EXPECT_EQ(run.infer("Cast", "to = i4", {"tensor<?xf32>"}), "tensor<?xi4>");
  EXPECT_EQ(run.infer("Exp", "", {"tensor<2xi32>"}),
            "'top.Exp' op operand #0 must be tensor of floating-point values, but got "
            "'tensor<2xi32>'");
}

} // namespace
