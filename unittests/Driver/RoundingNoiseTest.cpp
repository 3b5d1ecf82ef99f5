//===- RoundingNoiseTest.cpp ----------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/RoundingNoise.h"
#include "tpuc/Driver/ModuleFile.h"
#include "tpuc/Driver/Validation.h"
#include "tpuc/Support/Convert.h"

#include "mlir/Parser/Parser.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <gmock/gmock.h>

using namespace tpuc;

namespace {

constexpr int64_t kElements = 64;

/// y = log(|x| - 1): of x = 1 it is -infinity, and roundings of |x| or of the difference may make
/// NaN.
constexpr const char *kLogarithms = R"(
  func.func @main(%0: tensor<1x64xf16>) -> tensor<1x64xf16> {
    %1 = "top.Input"(%0) : (tensor<1x64xf16>) -> tensor<1x64xf16> loc("x")
    %2 = "tpu.Abs"(%1) : (tensor<1x64xf16>) -> tensor<1x64xf16> loc("a")
    %3 = "tpu.AddConst"(%2) {const_val = -1.0 : f64} : (tensor<1x64xf16>) -> tensor<1x64xf16> loc("d")
    %4 = "tpu.Log"(%3) : (tensor<1x64xf16>) -> tensor<1x64xf16> loc("y")
    return %4 : tensor<1x64xf16>
  })";

/// What the network gives of `x`, and how roundings move it.
struct Measured {
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  Tensor plain;
  std::optional<RoundingNoise> noise;
};

Measured measure(const char *text, float first, float step) {
  Measured measured;
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, measured.context.get());
  EXPECT_TRUE(module);
  Tensor x(DataType::F32, Shape{1, kElements});
  for (size_t i = 0; i < kElements; ++i)
    x.mutableData<float>()[i] = first + step * static_cast<float>(i);
  const TensorMap inputs = {{"x", x}};
  TensorMap outputs;
  Expected<void> run =
      runNetwork(*module, inputs, 1, [&](const std::string &name, const Tensor &tensor) {
        if (name == "y")
          outputs.insert_or_assign(name, tensor.clone());
        return Expected<void>();
      });
  EXPECT_TRUE(run) << run.error().message();
  measured.plain = outputs.at("y");
  Expected<RoundingNoise> noise = RoundingNoise::measure(*module, inputs, outputs, 1);
  EXPECT_TRUE(noise) << noise.error().message();
  measured.noise.emplace(std::move(*noise));
  return measured;
}

Tensor floatsOf(const Tensor &tensor) { return convert(tensor, DataType::F32).clone(); }

TEST(RoundingNoise, OfFiniteNumbersIsSmallAndFindsLargerErrors) {
  const Measured of = measure(kLogarithms, 2, 0.25F);
  const double moved = of.noise->moved("y");
  EXPECT_GT(moved, 0);
  EXPECT_LT(moved, 0x1p-9);
  const double limit = of.noise->limit("y");
  EXPECT_DOUBLE_EQ(of.noise->tolerance("y").euclid, 1 - limit);
  EXPECT_DOUBLE_EQ(of.noise->tolerance("y").cosine, 1 / std::sqrt(1 + limit * limit));
  EXPECT_EQ(of.noise->faultOf("y", of.plain, {}), "");
  Tensor wrong = floatsOf(of.plain);
  for (float &value : wrong.mutableData<float>())
    value += 0.25F;
  EXPECT_THAT(of.noise->faultOf("y", wrong, {}), testing::HasSubstr("where roundings move it by"));
}

TEST(RoundingNoise, LetsOnlyElementsBeAnythingThatRoundingsMakeInfinite) {
  // The second element is 2^-10 above 1, which a rounding makes 1 or less.
  const Measured of = measure(kLogarithms, 1, 0x1p-10F);
  const Tensor plain = floatsOf(of.plain);
  const std::span<const float> values = plain.data<float>();
  EXPECT_EQ(values[0], -INFINITY);
  EXPECT_TRUE(std::isfinite(values[1]));
  // An infinity where the network has one adds nothing to the norm.
  EXPECT_TRUE(std::isfinite(of.noise->moved("y")));
  EXPECT_TRUE(std::isfinite(of.noise->limit("y")));
  EXPECT_EQ(of.noise->faultOf("y", plain, {}), "");
  // Where a run has made an infinity, another number may stand; one that is far larger may not.
  Tensor another = plain.clone();
  another.mutableData<float>()[1] = 0;
  EXPECT_EQ(of.noise->faultOf("y", another, {}), "");
  another.mutableData<float>()[1] = 100;
  EXPECT_NE(of.noise->faultOf("y", another, {}), "");
  // Finite elements far from the border stay bound, whatever becomes of the first.
  Tensor wrong = plain.clone();
  for (float &value : wrong.mutableData<float>().subspan(32))
    value = 0;
  EXPECT_NE(of.noise->faultOf("y", wrong, {}), "");
}

TEST(RoundingNoise, IsNothingWhereAllIsInfinite) {
  // log(|0| - 1) is NaN throughout: nothing can be moved, and nothing is allowed.
  const Measured of = measure(kLogarithms, 0, 0);
  EXPECT_TRUE(std::isnan(floatsOf(of.plain).data<float>()[0]));
  EXPECT_EQ(of.noise->moved("y"), 0);
  const Tolerance tolerance = of.noise->tolerance("y");
  EXPECT_EQ(tolerance.cosine, 1);
  EXPECT_EQ(tolerance.euclid, 1);
}

/// 16 boxes beside each other whose scores of one class are nearly the same.
TEST(RoundingNoise, MovesDetectionsAsASet) {
  const auto context = makeContext();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
  func.func @main(%0: tensor<1x32xf16>, %1: tensor<1x64xf32>, %2: tensor<1x2x64xf32>) -> tensor<1x1x16x7xf32> {
    %3 = "top.Input"(%0) : (tensor<1x32xf16>) -> tensor<1x32xf16> loc("scores")
    %4 = "top.Input"(%1) : (tensor<1x64xf32>) -> tensor<1x64xf32> loc("places")
    %5 = "top.Input"(%2) : (tensor<1x2x64xf32>) -> tensor<1x2x64xf32> loc("priors")
    %6 = "tpu.AddConst"(%3) {const_val = 0.25 : f64} : (tensor<1x32xf16>) -> tensor<1x32xf16> loc("sum")
    %7 = "tpu.Cast"(%6) : (tensor<1x32xf16>) -> tensor<1x32xf32> loc("sum_f32")
    %8 = "tpu.DetectionOutput"(%4, %7, %5) {keep_top_k = 16 : i64, num_classes = 2 : i64} : (tensor<1x64xf32>, tensor<1x32xf32>, tensor<1x2x64xf32>) -> tensor<1x1x16x7xf32> loc("boxes")
    return %8 : tensor<1x1x16x7xf32>
  })",
                                                        context.get());
  ASSERT_TRUE(module);
  Tensor scores(DataType::F32, Shape{1, 32});
  Tensor places(DataType::F32, Shape{1, 64});
  Tensor priors(DataType::F32, Shape{1, 2, 64});
  std::ranges::fill(places.mutableData<float>(), 0.0F);
  std::ranges::fill(priors.mutableData<float>(), 1.0F);
  for (size_t i = 0; i < 16; ++i) {
    scores.mutableData<float>()[2 * i] = 0;
    scores.mutableData<float>()[2 * i + 1] = 0.25F + static_cast<float>(i % 2) * 0x1p-11F;
    const auto left = static_cast<float>(i) / 16;
    std::ranges::copy(std::array{left, 0.0F, left + 1.0F / 16, 0.5F},
                      priors.mutableData<float>().begin() + static_cast<ptrdiff_t>(4 * i));
  }
  const TensorMap inputs = {
      {"scores", convert(scores, DataType::F16)}, {"places", places}, {"priors", priors}};
  TensorMap outputs;
  Expected<void> run =
      runNetwork(*module, inputs, 1, [&](const std::string &name, const Tensor &tensor) {
        if (name == "boxes")
          outputs.insert_or_assign(name, tensor.clone());
        return Expected<void>();
      });
  ASSERT_TRUE(run) << run.error().message();
  Expected<RoundingNoise> noise = RoundingNoise::measure(*module, inputs, outputs, 1);
  ASSERT_TRUE(noise) << noise.error().message();
  EXPECT_GT(noise->moved("boxes"), 0);
  EXPECT_LT(noise->moved("boxes"), 0x1p-9);
  EXPECT_EQ(noise->mostLost("boxes"), 0);
  // A box that is lost is more than that.
  Tensor made = outputs.at("boxes").clone();
  std::ranges::fill(made.mutableData<float>().first(7), 0.0F);
  EXPECT_THAT(noise->faultOf("boxes", made, {}), testing::HasSubstr("where roundings move it by"));
}

} // namespace
