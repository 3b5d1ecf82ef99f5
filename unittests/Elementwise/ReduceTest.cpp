//===- ReduceTest.cpp - Reductions and searches ---*- C++ -*-===//
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

std::string mode(const char *name, const char *more = "") {
  return std::string("mode = \"Reduce") + name + "\"" + more;
}

TEST(ReduceTest, Modes) {
  OpRunner run;
  const Tensor x = f32({2, 3}, {1, -2, 3, 4, 0, -6});
  const auto reduce = [&](const char *name) {
    return run("Reduce", mode(name, ", axes = [1], keepdims = false"), {x, std::nullopt});
  };
  EXPECT_EQ(reduce("Sum"), "2xf32: 2 -2");
  EXPECT_EQ(reduce("Mean"), "2xf32: 0.6666667 -0.6666667");
  EXPECT_EQ(reduce("Prod"), "2xf32: -6 -0");
  EXPECT_EQ(reduce("Max"), "2xf32: 3 4");
  EXPECT_EQ(reduce("Min"), "2xf32: -2 -6");
  EXPECT_EQ(reduce("L1"), "2xf32: 6 10");
  EXPECT_EQ(reduce("SumSquare"), "2xf32: 14 52");
  EXPECT_EQ(run("Reduce", mode("L2"), {f32({2}, {3, 4}), std::nullopt}), "1xf32: 5");
  EXPECT_EQ(run("Reduce", mode("LogSum"), {f32({2}, {0.25, 0.75}), std::nullopt}), "1xf32: 0");
  // e^1000 is beyond every float.
  EXPECT_EQ(run("Reduce", mode("LogSumExp"), {f32({2}, {1000, -1000}), std::nullopt}),
            "1xf32: 1000");
  EXPECT_EQ(run("Reduce", mode("LogSumExp"), {f32({2}, {-kInf, -kInf}), std::nullopt}),
            "1xf32: -inf");
}

TEST(ReduceTest, AxesFromAttributeOperandOrNone) {
  OpRunner run;
  const Tensor x = f32({2, 1, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(run("Reduce", mode("Sum", ", axes = [-1, 0]"), {x, std::nullopt}),
            "1x1x2x1xf32: 14 22");
  EXPECT_EQ(run("Reduce", mode("Sum", ", axes = [2], keepdims = false"), {x, std::nullopt}),
            "2x1x2xf32: 4 6 12 14");
  EXPECT_EQ(run("Reduce", mode("Sum", ", keepdims = true"), {x, Tensor::of<int64_t>({2}, {0, 2})}),
            "1x1x1x2xf32: 16 20");
  EXPECT_EQ(run("Reduce", mode("Sum"), {x, std::nullopt}), "1x1x1x1xf32: 36");
  EXPECT_EQ(run("Reduce", mode("Sum", ", keepdims = false"), {x, std::nullopt}), "f32: 36");
  EXPECT_EQ(run("Reduce", mode("Sum", ", noop_with_empty_axes = true"), {x, std::nullopt}),
            "2x1x2x2xf32: 1 2 3 4 5 6 7 8");
  EXPECT_EQ(run("Reduce", mode("Sum", ", axes = [4]"), {x, std::nullopt}),
            "'top.Reduce' op axis 4 does not exist; expected -4 to 3");
  EXPECT_EQ(run("Reduce", mode("Sum", ", axes = [1, -3]"), {x, std::nullopt}),
            "'top.Reduce' op reduces axis -3 twice; expected each axis once");
  EXPECT_EQ(run("Reduce", mode("Sum"), {x, Tensor::of<int64_t>({1}, {4})}),
            "layer 'layer' (top.Reduce): axis 4 of shape [2, 1, 2, 2]; expected -4 to 3");
}

TEST(ReduceTest, EmptySets) {
  OpRunner run;
  const Tensor x(DataType::F32, {2, 0});
  const auto reduce = [&](const char *name) {
    return run("Reduce", mode(name, ", axes = [1], keepdims = false"), {x, std::nullopt});
  };
  EXPECT_EQ(reduce("Sum"), "2xf32: 0 0");
  EXPECT_EQ(reduce("Prod"), "2xf32: 1 1");
  EXPECT_EQ(reduce("Max"), "2xf32: -inf -inf");
  EXPECT_EQ(reduce("Min"), "2xf32: inf inf");
  EXPECT_EQ(reduce("LogSum"), "2xf32: -inf -inf");
  EXPECT_EQ(reduce("LogSumExp"), "2xf32: -inf -inf");
  EXPECT_EQ(run("Reduce", mode("Max", ", axes = [0], keepdims = false"),
                {Tensor(DataType::I8, {0}), std::nullopt}),
            "i8: -128");
}

TEST(ReduceTest, TypesAndNaN) {
  OpRunner run;
  EXPECT_EQ(
      run("Reduce", mode("Sum"), {Tensor::of<int64_t>({2}, {9007199254740993, 2}), std::nullopt}),
      "1xi64: 9007199254740995");
  EXPECT_EQ(run("Reduce", mode("Mean"), {Tensor::of<int32_t>({2}, {-4, -3}), std::nullopt}),
            "1xi32: -3");
  EXPECT_EQ(run("Reduce", mode("Max"), {f32({3}, {1, kNaN, 2}), std::nullopt}), "1xf32: nan");
  EXPECT_EQ(run("Reduce", mode("Max"), {tensor(DataType::Bool, {2}, {0, 1}), std::nullopt}),
            "1xbool: true");
  EXPECT_EQ(run("Reduce", mode("Max"), {Tensor::of<uint64_t>({2}, {UINT64_MAX, 1}), std::nullopt}),
            "1xu64: 18446744073709551615");
  // 4096 ones and 0.5: f16 holds no sum on the way exactly.
  std::vector<double> many(4097, 1);
  many.back() = 4;
  EXPECT_EQ(run("Reduce", mode("Sum"), {tensor(DataType::F16, {4097}, many), std::nullopt}),
            "1xf16: 4100");
}

/// Against sums by index arithmetic, over both kinds of innermost dimensions.
TEST(ReduceTest, LargeTensors) {
  OpRunner run;
  const Shape shape{3, 5, 7, 101};
  std::vector<double> values(static_cast<size_t>(shape.numElements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<double>(i % 1009);
  for (unsigned mask = 1; mask < 16; ++mask) {
    std::string axes;
    std::vector<int64_t> dims;
    for (size_t axis = 0; axis < 4; ++axis)
      if ((mask >> axis & 1) != 0)
        axes += (axes.empty() ? "" : ", ") + std::to_string(axis);
      else
        dims.push_back(shape[axis]);
    std::vector<double> expected(static_cast<size_t>(Shape(dims).numElements()));
    for (int64_t i = 0; i < shape.numElements(); ++i) {
      int64_t at = 0;
      for (size_t axis = 0; axis < 4; ++axis)
        if ((mask >> axis & 1) == 0)
          at = at * shape[axis] + i / shape.strides()[axis] % shape[axis];
      expected[static_cast<size_t>(at)] += values[static_cast<size_t>(i)];
    }
    EXPECT_EQ(run("Reduce", mode("Sum", (", keepdims = false, axes = [" + axes + "]").c_str()),
                  {f32(shape, values), std::nullopt}),
              text(f32(Shape(dims), expected)))
        << axes;
  }
}

TEST(ReduceTest, ArgTakesTheFirstOrTheLast) {
  OpRunner run;
  const Tensor x = f32({2, 3}, {2, 7, 7, 1, 1, 5});
  EXPECT_EQ(run("Arg", "mode = \"ArgMax\", axis = 1 : i64", {x}, {true, true}),
            "2x1xi64: 1 2 | 2x1xf32: 7 5");
  EXPECT_EQ(
      run("Arg", "mode = \"ArgMax\", axis = 1 : i64, select_last_index = true", {x}, {true, false}),
      "2x1xi64: 2 2");
  EXPECT_EQ(run("Arg", "mode = \"ArgMin\", axis = -2 : i64, keepdims = false", {x}, {true, false}),
            "3xi64: 1 1 1");
  EXPECT_EQ(run("Arg", "mode = \"ArgMin\", axis = 0 : i64, keepdims = false",
                {f32({3}, {1, kNaN, kNaN})}, {true, false}),
            "i64: 1");
  EXPECT_EQ(run.infer("Arg", "mode = \"ArgMin\", axis = 0 : i64", {"tensor<0x2xf32>"}, 2),
            "'top.Arg' op searches axis 0 of extent 0; expected an element");
}

TEST(ReduceTest, TopKOrdersTiesByIndex) {
  OpRunner run;
  const Tensor x = f32({6}, {1, 3, kNaN, 3, -1, 2});
  EXPECT_EQ(run("TopK", "k = 4 : i64", {x, std::nullopt}, {true, true}),
            "4xf32: nan 3 3 2 | 4xi64: 2 1 3 5");
  EXPECT_EQ(run("TopK", "largest = false", {x, Tensor::of<int64_t>({1}, {2})}, {true, true}),
            "2xf32: -1 1 | 2xi64: 4 0");
  EXPECT_EQ(
      run("TopK", "axis = 0 : i64, k = 1 : i64",
          {Tensor::of<int64_t>({2, 2}, {1, 9007199254740993, 2, 9007199254740992}), std::nullopt},
          {true, true}),
      "1x2xi64: 2 9007199254740993 | 1x2xi64: 1 0");
  EXPECT_EQ(run("TopK", "k = 7 : i64", {x, std::nullopt}, {true, true}),
            "'top.TopK' op takes 7 elements of axis -1; expected at most its extent, 6");
  EXPECT_EQ(run("TopK", "", {x, std::nullopt}, {true, true}),
            "'top.TopK' op has k as neither attribute nor operand; expected one of both");
}

TEST(ReduceTest, RunningSums) {
  OpRunner run;
  const Tensor x = Tensor::of<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto sum = [&](const char *attributes) {
    return run("CumSum", attributes, {x, std::nullopt});
  };
  EXPECT_EQ(sum("axis = 1 : i64"), "2x3xi32: 1 3 6 4 9 15");
  EXPECT_EQ(sum("axis = 0 : i64"), "2x3xi32: 1 2 3 5 7 9");
  EXPECT_EQ(sum("axis = -1 : i64, exclusive = true"), "2x3xi32: 0 1 3 0 4 9");
  EXPECT_EQ(sum("axis = 1 : i64, reverse = true"), "2x3xi32: 6 5 3 15 11 6");
  EXPECT_EQ(sum("axis = 1 : i64, reverse = true, exclusive = true"), "2x3xi32: 5 3 0 11 6 0");
  EXPECT_EQ(run("CumSum", "", {x, Tensor::of<int32_t>({}, {0})}), "2x3xi32: 1 2 3 5 7 9");
}

TEST(ReduceTest, RunningProducts) {
  OpRunner run;
  const Tensor x = Tensor::of<int8_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto product = [&](const char *attributes) {
    return run("CumProd", attributes, {x, std::nullopt});
  };
  // 4 * 5 * 6 = 120; 120 * 4 is beyond int8.
  EXPECT_EQ(product("axis = 1 : i64"), "2x3xi8: 1 2 6 4 20 120");
  EXPECT_EQ(product("axis = -1 : i64, exclusive = true, reverse = true"), "2x3xi8: 6 3 1 30 6 1");
  EXPECT_EQ(run("CumProd", "", {Tensor::of<int8_t>({2}, {120, 4}), Tensor::of<int64_t>({}, {0})}),
            "2xi8: 120 -32");
  EXPECT_EQ(run("CumProd", "axis = 0 : i64", {f32({3}, {0.5, -4, 3}), std::nullopt}),
            "3xf32: 0.5 -2 -6");
}

TEST(ReduceTest, NonZeroGivesCoordinates) {
  OpRunner run;
  EXPECT_EQ(run("NonZero", "", {tensor(DataType::Bool, {2, 2}, {1, 0, 1, 1})}),
            "2x3xi64: 0 1 1 0 0 1");
  EXPECT_EQ(run("NonZero", "", {f32({2}, {0, 0})}), "1x0xi64:");
}

TEST(ReduceTest, UniqueElementsAndSlices) {
  OpRunner run;
  const Tensor x = f32({6}, {2, 1, 1, 3, 4, 3});
  const std::vector<bool> all(4, true);
  EXPECT_EQ(run("Unique", "", {x}, all),
            "4xf32: 1 2 3 4 | 4xi64: 1 0 3 4 | 6xi64: 1 0 0 2 3 2 | 4xi64: 2 1 2 1");
  EXPECT_EQ(run("Unique", "sorted = false", {x}, all),
            "4xf32: 2 1 3 4 | 4xi64: 0 1 3 4 | 6xi64: 0 1 1 2 3 2 | 4xi64: 1 2 2 1");
  EXPECT_EQ(run("Unique", "axis = 0 : i64", {f32({3, 2}, {1, 0, 1, 0, 0, 3})}, all),
            "2x2xf32: 0 3 1 0 | 2xi64: 2 0 | 3xi64: 1 1 0 | 2xi64: 1 2");
  EXPECT_EQ(run("Unique", "axis = -1 : i64", {f32({2, 3}, {1, 1, 2, 0, 0, 3})},
                {true, false, true, false}),
            "2x2xf32: 1 2 0 3 | 3xi64: 0 0 1");
}

TEST(ReduceTest, NmsKeepsTheBestOfOverlappingBoxes) {
  OpRunner run;
  // Boxes 0, 1 and 2 overlap by 0.9 / 1.1 and more, 3 lies apart; 1 has its corners swapped.
  const Tensor boxes = f32({1, 4, 4}, {0, 0, 1, 1, 1, 1.1, 0, 0.1, 0, -0.1, 1, 0.9, 0, 10, 1, 11});
  const Tensor scores = f32({1, 1, 4}, {0.9, 0.75, 0.6, 0.95});
  const Tensor three = Tensor::of<int64_t>({1}, {3});
  EXPECT_EQ(run("Nms", "", {boxes, scores, three, f32({1}, {0.5}), std::nullopt}),
            "2x3xi64: 0 0 3 0 0 0");
  EXPECT_EQ(run("Nms", "", {boxes, scores, three, f32({1}, {0.99}), f32({1}, {0.75})}),
            "2x3xi64: 0 0 3 0 0 0");
  EXPECT_EQ(
      run("Nms", "", {boxes, scores, Tensor::of<int64_t>({}, {1}), f32({}, {0.5}), std::nullopt}),
      "1x3xi64: 0 0 3");
  EXPECT_EQ(run("Nms", "", {boxes, scores, std::nullopt, std::nullopt, std::nullopt}), "0x3xi64:");
  const Tensor centers = f32({1, 2, 4}, {5, 5, 2, 4, 5, 5, 2, 3});
  EXPECT_EQ(run("Nms", "center_point_box = 1 : i64",
                {centers, f32({1, 1, 2}, {0.5, 0.6}), three, f32({1}, {0.76}), std::nullopt}),
            "2x3xi64: 0 0 1 0 0 0");
}

TEST(ReduceTest, InfersTypes) {
  OpRunner run;
  EXPECT_EQ(run.infer("Reduce", mode("Sum", ", axes = [0]"), {"tensor<?x3xf32>", "none"}),
            "tensor<1x3xf32>");
  EXPECT_EQ(run.infer("Reduce", mode("Sum"), {"tensor<?x3xf32>", "tensor<1xi64>"}),
            "tensor<?x?xf32>");
  EXPECT_EQ(
      run.infer("Reduce", mode("Sum", ", keepdims = false"), {"tensor<?x3xf32>", "tensor<1xi64>"}),
      "tensor<*xf32>");
  EXPECT_EQ(run.infer("TopK", "", {"tensor<2x3xf32>", "tensor<1xi64>"}, 2),
            "tensor<2x?xf32> tensor<2x?xi64>");
  EXPECT_EQ(run.infer("NonZero", "", {"tensor<*xf32>"}), "tensor<?x?xi64>");
  EXPECT_EQ(run.infer("Unique", "axis = 1 : i64", {"tensor<2x3xf32>"}, 4),
            "tensor<2x?xf32> tensor<?xi64> tensor<3xi64> tensor<?xi64>");
  EXPECT_EQ(run.infer("Reduce", "mode = \"Sum\"", {"tensor<2xf32>", "none"}),
            "'top.Reduce' op attribute 'mode' is 'Sum'; expected ReduceSum, ReduceMean, "
            "ReduceProd, ReduceMax, ReduceMin, ReduceL1, ReduceL2, ReduceSumSquare, ReduceLogSum, "
            "ReduceLogSumExp");
}

} // namespace
