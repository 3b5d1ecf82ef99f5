//===- OutputPartsTest.cpp ------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/OutputParts.h"
#include "tpuc/Driver/ModuleFile.h"

#include "mlir/Parser/Parser.h"

#include <cmath>
#include <gmock/gmock.h>

using namespace tpuc;
using testing::HasSubstr;

namespace {

TEST(OutputParts, AreThoseOfConcatenationsAlongOneAxis) {
  const std::unique_ptr<mlir::MLIRContext> context = makeContext();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
  func.func @main(%0: tensor<1x4x3xf32>) -> (tensor<1x12x3xf32>, tensor<1x4x3xf32>) {
    %1 = "top.Input"(%0) : (tensor<1x4x3xf32>) -> tensor<1x4x3xf32> loc("x")
    %2 = "top.Abs"(%1) : (tensor<1x4x3xf32>) -> tensor<1x4x3xf32> loc("a")
    %4 = "top.Neg"(%2) : (tensor<1x4x3xf32>) -> tensor<1x4x3xf32> loc("c")
    %5 = "top.Concat"(%1, %2) {axis = 1 : i64} : (tensor<1x4x3xf32>, tensor<1x4x3xf32>) -> tensor<1x8x3xf32> loc("d")
    %6 = "top.Concat"(%5, %4) {axis = -2 : i64} : (tensor<1x8x3xf32>, tensor<1x4x3xf32>) -> tensor<1x12x3xf32> loc("y")
    return %6, %2 : tensor<1x12x3xf32>, tensor<1x4x3xf32>
  })",
                                                        context.get());
  ASSERT_TRUE(module);
  const auto parts = outputParts(*module);
  ASSERT_EQ(parts.size(), 1u);
  const std::vector<OutputPart> &of = parts.at("y");
  ASSERT_EQ(of.size(), 3u);
  const char *names[] = {"x", "a", "c"};
  const int64_t ends[] = {4, 8, 12};
  for (size_t i = 0; i < of.size(); ++i) {
    EXPECT_EQ(of[i].name, names[i]);
    EXPECT_EQ(of[i].axis, 1);
    EXPECT_EQ(of[i].begin, i == 0 ? 0 : ends[i - 1]);
    EXPECT_EQ(of[i].end, ends[i]);
  }
}

/// [2, 3, 8]: boxes in rows 0 and 1, scores in row 2.
Tensor output(float boxes, float scores, float offset = 0) {
  Tensor tensor(DataType::F32, Shape{2, 3, 8});
  auto at = tensor.mutableData<float>().begin();
  for (int batch = 0; batch < 2; ++batch)
    for (int row = 0; row < 3; ++row)
      for (int i = 0; i < 8; ++i)
        *at++ = row < 2 ? boxes * float(i + row) : offset + scores * float((i * 5 + batch) % 7);
  return tensor;
}

TEST(LostPart, IsFoundBesideLargerNumbers) {
  const std::vector<OutputPart> parts = {{"boxes", 1, 0, 2}, {"scores", 1, 2, 3}};
  const Tensor wanted = output(50, 0.1F);
  EXPECT_EQ(lostPart(wanted, wanted, parts), "");
  EXPECT_EQ(lostPart(output(50.5F, 0.08F), wanted, parts), "");
  EXPECT_THAT(
      lostPart(output(50, 0), wanted, parts),
      HasSubstr("part 'scores', 2 to 2 along axis 1, has lost its signal: 0 to 0 instead of "
                "0 to 0.6"));
  EXPECT_THAT(lostPart(output(50, -0.1F), wanted, parts), HasSubstr("correlation -1.000"));
  EXPECT_THAT(lostPart(output(0, 0.1F), wanted, parts), HasSubstr("'boxes'"));
  // Where the reference hardly changes, nothing is lost; infinities are no signal.
  EXPECT_EQ(lostPart(output(50, 0, 1), output(50, 0.0001F, 1), parts), "");
  Tensor infinite = wanted.clone();
  infinite.mutableData<float>()[20] = INFINITY;
  EXPECT_EQ(lostPart(infinite, infinite, parts), "");
  // Of another shape.
  EXPECT_EQ(lostPart(output(50, 0).reshaped({6, 8}), wanted, parts), "");
}

TEST(LostSignal, IsThatOfAWholeOutput) {
  const auto made = [&](auto change) {
    Tensor tensor(DataType::F32, {2, 24});
    for (size_t i = 0; i < 48; ++i)
      tensor.mutableData<float>()[i] = change(i, 0.125F * static_cast<float>(i * 7 % 17) - 1);
    return tensor;
  };
  const Tensor wanted = made([](size_t, float x) { return x; });
  EXPECT_EQ(lostSignal(wanted, wanted, "y"), "");
  // Far off, but of the same signal.
  EXPECT_EQ(lostSignal(made([](size_t, float x) { return 3 * x + 1; }), wanted, "y"), "");
  const Tensor noisy = made([](size_t i, float x) { return x + (i % 2 == 0 ? 0.4F : -0.4F); });
  EXPECT_EQ(lostSignal(noisy, wanted, "y"), "");
  EXPECT_THAT(lostSignal(made([](size_t, float) { return 0.0F; }), wanted, "y"),
              HasSubstr("part 'y', 0 to 1 along axis 0, has lost its signal: 0 to 0 instead of "
                        "-1 to 1"));
  EXPECT_THAT(lostSignal(made([](size_t, float x) { return -x; }), wanted, "y"),
              HasSubstr("correlation -1.000"));
  // Of another shape, or a single number.
  EXPECT_EQ(lostSignal(wanted.reshaped({24, 2}), wanted, "y"), "");
  const Tensor number(DataType::F32, Shape());
  EXPECT_EQ(lostSignal(number, number, "y"), "");
}

} // namespace
