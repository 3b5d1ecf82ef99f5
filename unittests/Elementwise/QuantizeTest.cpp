//===- QuantizeTest.cpp - Ops of quantized networks ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Elementwise/OpRunner.h"

#include <gtest/gtest.h>

using namespace tpuc;

namespace {

Tensor u8(const Shape &shape, const std::vector<double> &values) {
  return tensor(DataType::U8, shape, values);
}
Tensor i8(const Shape &shape, const std::vector<double> &values) {
  return tensor(DataType::I8, shape, values);
}

TEST(QuantizeTest, PerTensorRoundsTiesToEvenAndSaturates) {
  OpRunner run;
  EXPECT_EQ(run("QuantizeLinear", "",
                {f32({6}, {0, 2, 3, 1000, -254, -1000}), f32({}, {2}), u8({}, {128})}),
            "6xu8: 128 129 130 255 1 0");
  EXPECT_EQ(run("QuantizeLinear", "", {f32({3}, {1, 3, kNaN}), f32({}, {2}), std::nullopt}),
            "3xu8: 0 2 0");
  EXPECT_EQ(
      run("QuantizeLinear", "to = i4", {f32({3}, {-100, 3.5, 9}), f32({}, {1}), std::nullopt}),
      "3xi4: -8 4 7");
  EXPECT_EQ(run("QuantizeLinear", "to = i16",
                {Tensor::of<int32_t>({2}, {100001, -7}), f32({}, {4}), std::nullopt}),
            "2xi16: 25000 -2");
}

TEST(QuantizeTest, PerAxisAndPerBlock) {
  OpRunner run;
  const Tensor x = f32({1, 2, 3}, {2, 4, 6, 8, 10, 12});
  EXPECT_EQ(run("QuantizeLinear", "axis = 1 : i64", {x, f32({2}, {2, 4}), i8({2}, {0, -1})}),
            "1x2x3xi8: 1 2 3 1 1 2");
  EXPECT_EQ(run("QuantizeLinear", "axis = -1 : i64", {x, f32({3}, {1, 2, 3}), std::nullopt}),
            "1x2x3xu8: 2 2 2 8 5 4");
  // Blocks of two: the second of the last axis is short.
  EXPECT_EQ(run("QuantizeLinear", "axis = 2 : i64, block_size = 2 : i64",
                {x, f32({1, 2, 2}, {1, 2, 4, 6}), std::nullopt}),
            "1x2x3xu8: 2 4 3 2 2 2");
  EXPECT_EQ(run("DequantizeLinear", "axis = 0 : i64, block_size = 2 : i64",
                {i8({4, 1}, {1, 2, 3, 4}), f32({2, 1}, {0.5, 2}), i8({2, 1}, {0, 1})}),
            "4x1xf32: 0.5 1 4 6");
  EXPECT_EQ(
      run("QuantizeLinear", "axis = 1 : i64", {x, f32({3}, {2, 4, 1}), std::nullopt}),
      "'top.QuantizeLinear' op scale or zero point has shape [3]; expected one element or [2]");
}

TEST(QuantizeTest, EightBitFloats) {
  OpRunner run;
  const Tensor x = f32({3}, {1000, -3.3, 2});
  EXPECT_EQ(run("QuantizeLinear", "to = f8E4M3FN", {x, f32({}, {2}), std::nullopt}),
            "3xf8E4M3FN: 448 -1.625 1");
  EXPECT_EQ(
      run("QuantizeLinear", "to = f8E4M3FN, saturate = false", {x, f32({}, {2}), std::nullopt}),
      "3xf8E4M3FN: nan -1.625 1");
  EXPECT_EQ(run("DequantizeLinear", "",
                {tensor(DataType::F8E5M2, {2}, {0.5, -4}), f32({}, {3}), std::nullopt}),
            "2xf32: 1.5 -12");
}

TEST(QuantizeTest, DequantizesInTheTypeOfTheScale) {
  OpRunner run;
  EXPECT_EQ(run("DequantizeLinear", "",
                {u8({2}, {0, 255}), tensor(DataType::F16, {}, {0.5}), u8({}, {128})}),
            "2xf16: -64 63.5");
  // The difference needs 33 bits.
  EXPECT_EQ(run("DequantizeLinear", "to = f64",
                {Tensor::of<int32_t>({1}, {INT32_MAX}), f32({}, {1}),
                 Tensor::of<int32_t>({}, {INT32_MIN})}),
            "1xf64: 4294967295");
  EXPECT_EQ(
      run("DequantizeLinear", "",
          {tensor(DataType::U4, {3}, {0, 15, 7}), f32({}, {2}), tensor(DataType::U4, {}, {8})}),
      "3xf32: -16 14 -2");
}

TEST(QuantizeTest, DynamicRangeIncludesZero) {
  OpRunner run;
  EXPECT_EQ(run("DynamicQuantizeLinear", "", {f32({3}, {-51, 0, 204})}, {true, true, true}),
            "3xu8: 0 51 255 | f32: 1 | u8: 51");
  EXPECT_EQ(run("DynamicQuantizeLinear", "", {f32({2}, {102, 510})}, {true, true, true}),
            "2xu8: 51 255 | f32: 2 | u8: 0");
  EXPECT_EQ(run("DynamicQuantizeLinear", "", {f32({2}, {0, 0})}, {true, true, true}),
            "2xu8: 0 0 | f32: 1 | u8: 0");
}

/// 2.5 / 127 is the step of the first row, and -1.25 the tie at -63.5.
TEST(QuantizeTest, EachRowHasItsRange) {
  OpRunner run;
  const Tensor x = f32({3, 3}, {2.5F, -1.25F, .01F, 0, 0, 0, -508, 254, 2});
  EXPECT_EQ(run("DynamicQuantizeRows", "axis = 1", {x}, {true, true, true}),
            "3x3xi8: 127 -64 1 0 0 0 -127 64 1 | 3x1xf32: 0.01968504 1 4 | 3x1xi8: 0 0 0");
  const Tensor y = f32({2, 2}, {51, 204, -1, 254});
  EXPECT_EQ(run("DynamicQuantizeRows", "axis = 1, symmetric = false", {y}, {true, true, true}),
            "2x2xi8: -64 127 -128 127 | 2x1xf32: 0.8 1 | 2x1xi8: -128 -127");
  EXPECT_EQ(run("DynamicQuantizeRows", "axis = 0", {y}, {true, true, true}),
            "2x2xi8: 26 102 -1 127 | 1x1xf32: 2 | 1x1xi8: 0");
}

TEST(QuantizeTest, MatMulInteger) {
  OpRunner run;
  const Tensor a = u8({2, 2}, {11, 7, 10, 6});
  const Tensor b = u8({2, 2}, {1, 4, 2, 5});
  EXPECT_EQ(run("MatMulInteger", "", {a, b, std::nullopt, std::nullopt}), "2x2xi32: 25 79 22 70");
  // [[-1, -5], [0, -4]] . [[0, 3], [1, 4]]
  EXPECT_EQ(run("MatMulInteger", "", {a, b, u8({2}, {12, 10}), u8({}, {1})}),
            "2x2xi32: -5 -23 -4 -16");
  EXPECT_EQ(run("MatMulInteger", "", {a, b, std::nullopt, u8({2}, {1, 4})}), "2x2xi32: 7 7 6 6");
}

TEST(QuantizeTest, QLinearMatMulPerRowAndColumn) {
  OpRunner run;
  const Tensor a = u8({2, 2}, {11, 7, 10, 6});
  const Tensor b = i8({2, 2}, {1, -4, 2, 5});
  const Tensor one = f32({}, {1});
  // Sums: [[25, -9], [22, -10]].
  EXPECT_EQ(run("QLinearMatMul", "",
                {a, one, u8({}, {0}), b, one, i8({}, {0}), f32({}, {2}), u8({}, {10})}),
            "2x2xu8: 22 6 21 5");
  EXPECT_EQ(run("QLinearMatMul", "",
                {a, f32({2}, {1, 2}), u8({2}, {0, 0}), b, f32({2}, {1, 0.5}), i8({2}, {0, 0}), one,
                 i8({}, {0})}),
            "2x2xi8: 25 -4 44 -10");
}

TEST(QuantizeTest, Convolutions) {
  OpRunner run;
  const Tensor x = u8({1, 1, 3}, {2, 3, 4});
  // The padding counts as the zero point.
  EXPECT_EQ(run("ConvInteger", "kernel_shape = [2], pads = [1, 0]",
                {x, u8({1, 1, 2}, {1, 2}), u8({}, {1}), std::nullopt}),
            "1x1x3xi32: 2 5 8");
  EXPECT_EQ(run("ConvInteger", "kernel_shape = [1]",
                {x, u8({2, 1, 1}, {3, 5}), std::nullopt, u8({2}, {1, 2})}),
            "1x2x3xi32: 4 6 8 6 9 12");
  EXPECT_EQ(
      run("QLinearConv", "kernel_shape = [1]",
          {x, f32({}, {0.5}), u8({}, {1}), i8({2, 1, 1}, {3, -5}), f32({2}, {1, 2}),
           i8({2}, {0, 0}), f32({}, {0.25}), u8({}, {100}), Tensor::of<int32_t>({2}, {1, 0})}),
      "1x2x3xu8: 108 114 120 80 60 40");
  EXPECT_EQ(run.infer("ConvInteger", "kernel_shape = [2], auto_pad = \"SAME_UPPER\", strides = [2]",
                      {"tensor<1x1x5xui8>", "tensor<4x1x2xui8>", "none", "none"}),
            "tensor<1x4x3xi32>");
}

TEST(QuantizeTest, ErrorsOfEvaluationNameTheLayer) {
  OpRunner run;
  EXPECT_EQ(
      run("MatMulInteger", "",
          {u8({2, 2}, {1, 2, 3, 4}), u8({2, 2}, {1, 2, 3, 4}), u8({3}, {1, 2, 3}), std::nullopt}),
      "layer 'layer' (top.MatMulInteger): zero point has shape [3] for an operand of shape "
      "[2, 2]; expected one element, or one per row, column or output channel");
}

} // namespace
