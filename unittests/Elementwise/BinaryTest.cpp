//===- BinaryTest.cpp - Ops of several operands ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Elementwise/OpRunner.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tpuc;

namespace {

TEST(BinaryTest, Broadcasts) {
  OpRunner run;
  const Tensor x = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(run("Add", "", {x, x}), "2x3xf32: 2 4 6 8 10 12");
  EXPECT_EQ(run("Add", "", {x, f32({}, {10})}), "2x3xf32: 11 12 13 14 15 16");
  EXPECT_EQ(run("Sub", "", {f32({3}, {10, 20, 30}), x}), "2x3xf32: 9 18 27 6 15 24");
  EXPECT_EQ(run("Add", "", {x, f32({2, 1}, {10, 20})}), "2x3xf32: 11 12 13 24 25 26");
  EXPECT_EQ(run("Add", "", {f32({1, 3}, {1, 2, 3}), f32({2, 1}, {10, 20})}),
            "2x3xf32: 11 12 13 21 22 23");
  EXPECT_EQ(run("Add", "", {f32({2, 1, 2}, {1, 2, 3, 4}), f32({2, 1}, {10, 20})}),
            "2x2x2xf32: 11 12 21 22 13 14 23 24");
  EXPECT_EQ(run("Add", "", {f32({0, 3}, {}), f32({3}, {1, 2, 3})}), "0x3xf32:");
  EXPECT_EQ(run("Add", "", {x, f32({2}, {1, 2})}),
            "'top.Add' op operands cannot be broadcast together: 'tensor<2x3xf32>' "
            "'tensor<2xf32>'");
}

/// Against index arithmetic, with more elements than a block and every kind of joined dimensions.
TEST(BinaryTest, BroadcastsLargeTensors) {
  OpRunner run;
  const Shape full{3, 5, 7, 11};
  const Shape shapes[] = {{3, 5, 7, 11}, {5, 1, 11}, {3, 1, 1, 11},
                          {1, 5, 7, 1},  {7, 1},     {3, 5, 1, 1}};
  std::vector<double> base(static_cast<size_t>(full.numElements()));
  for (size_t i = 0; i < base.size(); ++i)
    base[i] = static_cast<double>(10000 * i);
  for (DataType type : {DataType::F64, DataType::I32}) {
    for (const Shape &shape : shapes) {
      std::vector<double> values(static_cast<size_t>(shape.numElements()));
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<double>(i);
      std::string error;
      const std::vector<Tensor> results = run.run(
          "Add", "", {tensor(type, full, base), tensor(type, shape, values)}, {true}, error);
      ASSERT_EQ(error, "");
      std::vector<double> expected = base;
      for (int64_t i = 0; i < full.numElements(); ++i) {
        int64_t rest = i;
        int64_t offset = 0;
        int64_t stride = 1;
        for (size_t back = 1; back <= 4; ++back) {
          const int64_t coordinate = rest % full[4 - back];
          rest /= full[4 - back];
          if (back > shape.rank())
            continue;
          const int64_t extent = shape[shape.rank() - back];
          offset += extent == 1 ? 0 : coordinate * stride;
          stride *= extent;
        }
        expected[static_cast<size_t>(i)] += static_cast<double>(offset);
      }
      EXPECT_EQ(text(results[0]), text(tensor(type, full, expected))) << shape.str();
    }
  }
}

TEST(BinaryTest, SumsTakeCoefficientsAndRelu) {
  OpRunner run;
  const Tensor x = f32({3}, {1, -2, 3});
  EXPECT_EQ(run("Add", "coeff = [2.0, -1.0, 0.5]", {x, f32({3}, {1, 1, 1}), f32({}, {4})}),
            "3xf32: 3 -3 7");
  EXPECT_EQ(run("Sub", "coeff = [2.0, 3.0]", {x, f32({}, {1})}), "3xf32: -1 -7 3");
  EXPECT_EQ(run("Add", "do_relu = true, relu_limit = 3.5 : f64", {x, f32({}, {1})}),
            "3xf32: 2 0 3.5");
  EXPECT_EQ(run("Add", "coeff = [2.0]", {x, x}),
            "'top.Add' op attribute 'coeff' has 1 elements; expected one per operand: 2");
  EXPECT_EQ(run("Mul", "multiplier = 3 : i64, rshift = 1 : i64", {x, x}), "3xf32: 1.5 6 13.5");
  EXPECT_EQ(run("Mean", "", {x, f32({}, {4}), f32({}, {1})}), "3xf32: 2 1 2.6666667");
  EXPECT_EQ(run("Add", "", {x}), "3xf32: 1 -2 3");
}

TEST(BinaryTest, HalvesAreRoundedOnce) {
  OpRunner run;
  // 2048 + 1 + 1 is 2050, but 2048 + 1 rounded to f16 is 2048.
  EXPECT_EQ(run("Add", "",
                {tensor(DataType::F16, {1}, {2048}), tensor(DataType::F16, {1}, {1}),
                 tensor(DataType::F16, {1}, {1})}),
            "1xf16: 2050");
}

TEST(BinaryTest, IntegersWrapAndKeepAllDigits) {
  OpRunner run;
  EXPECT_EQ(run("Add", "", {Tensor::of<int64_t>({1}, {INT64_MAX}), Tensor::of<int64_t>({1}, {2})}),
            "1xi64: -9223372036854775807");
  EXPECT_EQ(run("Mul", "",
                {Tensor::of<int64_t>({1}, {3037000501}), Tensor::of<int64_t>({1}, {3037000499})}),
            "1xi64: -9223372036709301617");
  EXPECT_EQ(run("Mul", "", {Tensor::of<uint8_t>({1}, {200}), Tensor::of<uint8_t>({1}, {3})}),
            "1xu8: 88");
  EXPECT_EQ(
      run("Max", "", {Tensor::of<uint64_t>({1}, {UINT64_MAX}), Tensor::of<uint64_t>({1}, {1})}),
      "1xu64: 18446744073709551615");
}

TEST(BinaryTest, IntegerDivisionTruncatesAndNeverTraps) {
  OpRunner run;
  EXPECT_EQ(run("Div", "",
                {Tensor::of<int32_t>({4}, {7, -7, 5, INT32_MIN}),
                 Tensor::of<int32_t>({4}, {2, 2, 0, -1})}),
            "4xi32: 3 -3 0 -2147483648");
  EXPECT_EQ(
      run("Div", "", {Tensor::of<int64_t>({2}, {INT64_MIN, 9}), Tensor::of<int64_t>({2}, {-1, 0})}),
      "2xi64: -9223372036854775808 0");
  EXPECT_EQ(run("Div", "", {f32({3}, {1, -1, 0}), f32({}, {0})}), "3xf32: inf -inf nan");
}

TEST(BinaryTest, RemaindersHaveTheRightSign) {
  OpRunner run;
  const Tensor a = Tensor::of<int32_t>({6}, {-4, 7, 5, 4, -7, 8});
  const Tensor b = Tensor::of<int32_t>({6}, {2, -3, 8, -2, 3, 5});
  EXPECT_EQ(run("Mod", "", {a, b}), "6xi32: 0 -2 5 0 2 3");
  EXPECT_EQ(run("Mod", "fmod = true", {a, b}), "6xi32: 0 1 5 0 -1 3");
  EXPECT_EQ(run("Mod", "fmod = true", {f32({3}, {-4.5, 7.25, -7}), f32({3}, {2, -3, 3})}),
            "3xf32: -0.5 1.25 -1");
  EXPECT_EQ(run("Mod", "", {f32({3}, {-4.5, 7.25, -7}), f32({3}, {2, -3, 3})}),
            "3xf32: 1.5 -1.75 2");
  EXPECT_EQ(
      run("Mod", "", {Tensor::of<int64_t>({2}, {INT64_MIN, 3}), Tensor::of<int64_t>({2}, {-1, 0})}),
      "2xi64: 0 0");
}

TEST(BinaryTest, ExtremesPassNaNOn) {
  OpRunner run;
  EXPECT_EQ(run("Max", "", {f32({3}, {1, kNaN, 2}), f32({3}, {kNaN, 3, 1})}), "3xf32: nan nan 2");
  EXPECT_EQ(run("Min", "", {f32({3}, {1, kNaN, 2}), f32({3}, {0, 3, kNaN})}), "3xf32: 0 nan nan");
}

TEST(BinaryTest, PowersOfMixedTypes) {
  OpRunner run;
  EXPECT_EQ(run("Pow", "", {f32({3}, {1, 2, 3}), Tensor::of<int64_t>({}, {3})}), "3xf32: 1 8 27");
  EXPECT_EQ(run("Pow", "",
                {Tensor::of<int64_t>({3}, {3, -1, 2}), Tensor::of<int32_t>({3}, {39, -3, -1})}),
            "3xi64: 4052555153018976267 -1 0");
  EXPECT_EQ(run("Pow", "", {Tensor::of<int32_t>({2}, {2, 9}), f32({2}, {-1, 0.5})}), "2xi32: 0 3");
  EXPECT_EQ(run("Pow", "", {f32({3}, {-2, 4, 0}), f32({3}, {0.5, 0.5, -1})}), "3xf32: nan 2 inf");
  EXPECT_EQ(run("PowConst", "const_val = 2.0 : f64", {f32({2}, {-3, 1.5})}), "2xf32: 9 2.25");
  EXPECT_EQ(run("PowConst", "const_val = 3.0 : f64", {Tensor::of<int64_t>({1}, {2097151})}),
            "1xi64: 9223358842721533951");
  EXPECT_EQ(run("PowConst", "const_val = 0.5 : f64", {Tensor::of<int32_t>({1}, {17})}), "1xi32: 4");
  EXPECT_EQ(run("Pow2", "const_val = 2.0 : f64", {Tensor::of<int32_t>({2}, {5, 30})}),
            "2xi32: 32 1073741824");
}

TEST(BinaryTest, Constants) {
  OpRunner run;
  const Tensor x = f32({3}, {-1, 2, 4});
  EXPECT_EQ(run("AddConst", "const_val = 1.5 : f64", {x}), "3xf32: 0.5 3.5 5.5");
  EXPECT_EQ(run("SubConst", "const_val = 1.0 : f64", {x}), "3xf32: -2 1 3");
  EXPECT_EQ(run("SubConst", "const_val = 1.0 : f64, is_reverse = true, do_relu = true", {x}),
            "3xf32: 2 0 0");
  EXPECT_EQ(run("MulConst", "const_val = 2.0 : f64, do_relu = true, relu_limit = 6.0 : f64", {x}),
            "3xf32: 0 4 6");
  EXPECT_EQ(run("DivConst", "const_val = 8.0 : f64, is_reverse = true", {x}), "3xf32: -8 4 2");
  EXPECT_EQ(run("DivConst", "const_val = 0.0 : f64", {Tensor::of<int32_t>({1}, {3})}), "1xi32: 0");
  EXPECT_EQ(run("MinConst", "const_val = 3.0 : f64", {x}), "3xf32: -1 2 3");
  EXPECT_EQ(run("MaxConst", "const_val = 0.0 : f64", {x}), "3xf32: 0 2 4");
}

TEST(BinaryTest, Comparisons) {
  OpRunner run;
  const Tensor x = f32({3}, {1, 2, kNaN});
  const Tensor y = f32({3}, {1, 3, kNaN});
  const auto compare = [&](const char *mode) {
    return run("Compare", std::string("mode = \"") + mode + "\"", {x, y});
  };
  EXPECT_EQ(compare("Equal"), "3xbool: true false false");
  EXPECT_EQ(compare("NotEqual"), "3xbool: false true true");
  EXPECT_EQ(compare("Less"), "3xbool: false true false");
  EXPECT_EQ(compare("LessOrEqual"), "3xbool: true true false");
  EXPECT_EQ(compare("Greater"), "3xbool: false false false");
  EXPECT_EQ(compare("GreaterOrEqual"), "3xbool: true false false");
  EXPECT_EQ(compare("equal"), "'top.Compare' op attribute 'mode' is 'equal'; expected Equal, "
                              "NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual");
  EXPECT_EQ(run("Compare", "mode = \"Equal\"",
                {Tensor::of<int64_t>({1}, {9007199254740993}),
                 Tensor::of<int64_t>({1}, {9007199254740992})}),
            "1xbool: false");
  EXPECT_EQ(run("Compare", "mode = \"Less\"",
                {Tensor::of<uint64_t>({1}, {1}), Tensor::of<uint64_t>({1}, {UINT64_MAX})}),
            "1xbool: true");
  EXPECT_EQ(run("CompareConst", "mode = \"Greater\", const_val = 1.5 : f64",
                {Tensor::of<int32_t>({2}, {1, 2})}),
            "2xbool: false true");
  EXPECT_EQ(run("CompareConst", "mode = \"Greater\", const_val = 2.0 : f64, inversed = true", {x}),
            "3xbool: true false false");
}

TEST(BinaryTest, BitsAndBooleans) {
  OpRunner run;
  const Tensor t = tensor(DataType::Bool, {2}, {1, 0});
  EXPECT_EQ(run("LogicalBinary", "mode = \"And\"", {t, tensor(DataType::Bool, {}, {1})}),
            "2xbool: true false");
  EXPECT_EQ(run("LogicalBinary", "mode = \"Xor\"", {t, tensor(DataType::Bool, {}, {1})}),
            "2xbool: false true");
  EXPECT_EQ(run("BitwiseBinary", "mode = \"Or\"",
                {Tensor::of<int16_t>({2}, {-2, 5}), Tensor::of<int16_t>({}, {1})}),
            "2xi16: -1 5");
  EXPECT_EQ(run("BitShift", "direction = \"LEFT\"",
                {Tensor::of<uint8_t>({3}, {200, 1, 1}), Tensor::of<uint8_t>({3}, {1, 7, 200})}),
            "3xu8: 144 128 0");
  EXPECT_EQ(run("BitShift", "direction = \"RIGHT\"",
                {Tensor::of<uint64_t>({2}, {UINT64_MAX, 8}), Tensor::of<uint64_t>({2}, {63, 64})}),
            "2xu64: 1 0");
  // Signed: the sign fills from the left; an amount out of range takes all bits.
  EXPECT_EQ(run("BitShift", "direction = \"RIGHT\"",
                {Tensor::of<int8_t>({5}, {-8, 7, -8, 7, -1}),
                 Tensor::of<int8_t>({5}, {1, 1, 8, 100, -1})}),
            "5xi8: -4 3 -1 0 -1");
  EXPECT_EQ(
      run("BitShift", "direction = \"LEFT\"",
          {Tensor::of<int32_t>({4}, {3, 1, -1, 1}), Tensor::of<int32_t>({4}, {30, 31, 32, -1})}),
      "4xi32: -1073741824 -2147483648 0 0");
}

TEST(BinaryTest, WhereChoosesElementsOfAnyType) {
  OpRunner run;
  const Tensor condition = tensor(DataType::Bool, {2, 1}, {1, 0});
  for (DataType type : kAllDataTypes) {
    const Tensor x = tensor(type, {3}, {1, 0, 1});
    const Tensor y = tensor(type, {}, {0});
    EXPECT_EQ(run("Where", "", {condition, x, y}), text(tensor(type, {2, 3}, {1, 0, 1, 0, 0, 0})));
  }
  EXPECT_EQ(run("Where", "", {condition, f32({2}, {1, 2}), f32({2}, {kNaN, kInf})}),
            "2x2xf32: 1 2 nan inf");
}

TEST(BinaryTest, PReluBroadcastsItsSlopeOnly) {
  OpRunner run;
  EXPECT_EQ(run("PRelu", "", {f32({1, 2, 2}, {-1, 2, -3, 4}), f32({2, 1}, {0.5, 2})}),
            "1x2x2xf32: -0.5 2 -6 4");
  EXPECT_EQ(run("PRelu", "", {f32({2}, {-1, 2}), f32({2, 1}, {0.5, 2})}),
            "'top.PRelu' op slope is 'tensor<2x1xf32>'; expected one that broadcasts to the input, "
            "'tensor<2xf32>'");
}

TEST(BinaryTest, InfersTypes) {
  OpRunner run;
  EXPECT_EQ(run.infer("Add", "", {"tensor<?x3xf32>", "tensor<1xf32>"}), "tensor<?x3xf32>");
  EXPECT_EQ(run.infer("Add", "", {"tensor<?x3xf16>", "tensor<*xf16>"}), "tensor<*xf16>");
  EXPECT_EQ(run.infer("Compare", "mode = \"Less\"", {"tensor<?xf32>", "tensor<4xf32>"}),
            "tensor<4xi1>");
  EXPECT_EQ(run.infer("Where", "", {"tensor<2xi1>", "tensor<1xi64>", "tensor<3x1xi64>"}),
            "tensor<3x2xi64>");
  EXPECT_EQ(run.infer("Pow", "", {"tensor<2xi32>", "tensor<3x1xf32>"}), "tensor<3x2xi32>");
  EXPECT_EQ(run.infer("Add", "", {"tensor<2xi32>", "tensor<2xf32>"}),
            "'top.Add' op operands have element types 'i32' and 'f32'; expected one type");
}

} // namespace
