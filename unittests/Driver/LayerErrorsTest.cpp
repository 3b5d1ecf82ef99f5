//===- LayerErrorsTest.cpp ------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/LayerErrors.h"
#include "tpuc/Driver/ModuleFile.h"
#include "tpuc/Driver/Validation.h"
#include "unittests/Support/TempFolder.h"

#include "mlir/Parser/Parser.h"

#include <gmock/gmock.h>

using namespace tpuc;
using testing::ElementsAre;
using testing::Pair;

namespace {

constexpr const char *kTop = R"(
  func.func @main(%0: tensor<4xf32>) -> tensor<4xf32> {
    %1 = "top.Input"(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("x")
    %2 = "top.Abs"(%1) : (tensor<4xf32>) -> tensor<4xf32> loc("a")
    %3 = "top.Neg"(%2) : (tensor<4xf32>) -> tensor<4xf32> loc("b")
    %4 = "top.Add"(%2, %3) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("y")
    return %4 : tensor<4xf32>
  })";

// The result of Abs is kept in steps of 1, from -8 to 7 in effect; y is cast to what `top` has.
constexpr const char *kLowered = R"(
  func.func @main(%0: tensor<4xf32>) -> tensor<4xf32> {
    %1 = "top.Input"(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("x")
    %2 = "tpu.Abs"(%1) : (tensor<4xf32>) -> tensor<4xf32> loc("a_f32")
    %3 = "tpu.Cast"(%2) : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 1.0>> loc("a")
    %4 = "tpu.Cast"(%3) : (tensor<4x!quant.uniform<i8:f32, 1.0>>) -> tensor<4xf32> loc("back")
    %5 = "tpu.Neg"(%4) : (tensor<4xf32>) -> tensor<4xf32> loc("b")
    %6 = "tpu.Add"(%4, %5) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("y")
    return %6 : tensor<4xf32>
  })";

class LayerErrorsTest : public testing::Test {
protected:
  mlir::OwningOpRef<mlir::ModuleOp> parse(const char *text) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, context.get());
    EXPECT_TRUE(module);
    return module;
  }

  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  TempFolder folder;
};

TEST_F(LayerErrorsTest, NamesOfTheReference) {
  EXPECT_THAT(referenceNames(*parse(kLowered), *parse(kTop)), ElementsAre(Pair("a_f32", "a")));
}

TEST_F(LayerErrorsTest, TellsOwnErrorsFromInherited) {
  auto top = parse(kTop);
  auto lowered = parse(kLowered);
  const TensorMap inputs = {{"x", Tensor::of<float>({4}, {0.4F, -1.4F, 2.3F, 3})}};
  Expected<OutputFile> floats = dumpTensors(*top, inputs, folder.path("top.npz"), 1);
  ASSERT_TRUE(floats) << floats.error().message();
  const NpzReader reference = *NpzReader::open(floats->temporaryPath());
  NpzWriter writer = *NpzWriter::create(folder.path("alone.npz"));
  Expected<std::vector<LayerError>> layers =
      measureLayers(*lowered, inputs, {}, reference, writer, 1);
  ASSERT_TRUE(layers) << layers.error().message();
  ASSERT_EQ(layers->size(), 3u);
  const LayerError &a = (*layers)[0];
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.type, DataType::I8);
  EXPECT_FALSE(a.alone.isEqual);
  EXPECT_EQ(a.whole.euclid, a.alone.euclid);
  const LayerError &b = (*layers)[1];
  EXPECT_EQ(b.op, "tpu.Neg");
  EXPECT_THAT(b.inputs, ElementsAre(0));
  // Its input is cast from a, which is replaced as integers.
  EXPECT_FALSE(b.whole.isEqual);
  EXPECT_EQ(b.whole.euclid, b.alone.euclid);
  // Of two inputs that cancel out, only b can be replaced with all its digits.
  EXPECT_TRUE((*layers)[2].whole.isEqual);
  EXPECT_FALSE((*layers)[2].alone.isEqual);

  Expected<OutputFile> file = writer.finish();
  ASSERT_TRUE(file);
  const NpzReader alone = *NpzReader::open(file->temporaryPath());
  EXPECT_EQ(alone.names().size(), 3u);
  std::vector<LayerError *> first = {&(*layers)[0], &(*layers)[1]};
  Expected<void> measured = measureEffects(*top, inputs, first, alone, reference, 1);
  ASSERT_TRUE(measured) << measured.error().message();
  // y is 0 in float: an error of b is all that there is; one of a is cancelled by b's.
  EXPECT_TRUE((*layers)[0].effect->isEqual);
  EXPECT_EQ((*layers)[1].effect->cosine, 0);
  EXPECT_FALSE((*layers)[2].effect);
}

TEST_F(LayerErrorsTest, GivesExactInputsAsTheyAreStored) {
  auto top = parse(R"(
  func.func @main(%0: tensor<1xf32>) -> tensor<1xf32> {
    %1 = "top.Input"(%0) : (tensor<1xf32>) -> tensor<1xf32> loc("x")
    %2 = "top.Abs"(%1) : (tensor<1xf32>) -> tensor<1xf32> loc("a")
    %3 = "top.Floor"(%2) : (tensor<1xf32>) -> tensor<1xf32> loc("f")
    %4 = "top.Sub"(%2, %3) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32> loc("y")
    return %4 : tensor<1xf32>
  })");
  auto lowered = parse(R"(
  func.func @main(%0: tensor<1xf32>) -> tensor<1xf16> {
    %1 = "top.Input"(%0) : (tensor<1xf32>) -> tensor<1xf32> loc("x")
    %2 = "tpu.Cast"(%1) : (tensor<1xf32>) -> tensor<1xf16> loc("x_f16")
    %3 = "tpu.Abs"(%2) : (tensor<1xf16>) -> tensor<1xf16> loc("a")
    %4 = "tpu.Floor"(%3) : (tensor<1xf16>) -> tensor<1xf16> loc("f")
    %5 = "tpu.Sub"(%3, %4) : (tensor<1xf16>, tensor<1xf16>) -> tensor<1xf16> loc("y")
    return %5 : tensor<1xf16>
  })");
  const TensorMap inputs = {{"x", Tensor::of<float>({1}, {100.1F})}};
  Expected<OutputFile> floats = dumpTensors(*top, inputs, folder.path("top.npz"), 1);
  ASSERT_TRUE(floats) << floats.error().message();
  const NpzReader reference = *NpzReader::open(floats->temporaryPath());
  NpzWriter writer = *NpzWriter::create(folder.path("alone.npz"));
  Expected<std::vector<LayerError>> layers =
      measureLayers(*lowered, inputs, {}, reference, writer, 1);
  ASSERT_TRUE(layers) << layers.error().message();
  ASSERT_EQ(layers->size(), 3u);
  EXPECT_TRUE((*layers)[1].alone.isEqual);
  // In f16, 100.1 is 100.125.
  EXPECT_NEAR((*layers)[2].alone.maxDifference, 0.025, 1e-4);
}

TensorComparison figures(float x) {
  return compareTensors(Tensor::of<float>({2}, {1, x}), Tensor::of<float>({2}, {1, 0}));
}

LayerError layer(const char *name, float whole, float alone, std::vector<size_t> inputs = {}) {
  LayerError error;
  error.name = name;
  error.whole = figures(whole);
  error.alone = figures(alone);
  error.inputs = std::move(inputs);
  return error;
}

TEST(FindOrigin, IsTheFirstThatIsBelowByItself) {
  const std::vector<LayerError> layers = {layer("a", 0.1F, 0.1F), layer("b", 0.6F, 0.1F, {0}),
                                          layer("c", 0.7F, 0.6F, {1}), layer("d", 0.9F, 0.9F, {2})};
  EXPECT_EQ(findOrigin(layers, {0.9, 0.5})->name, "c");
}

TEST(FindOrigin, IsTheSteepestDropWhereErrorsOnlyAddUp) {
  const std::vector<LayerError> layers = {layer("a", 0.1F, 0.1F), layer("b", 0.4F, 0.3F, {0}),
                                          layer("c", 0.5F, 0.1F, {1}),
                                          layer("d", 0.6F, 0.1F, {2, 0})};
  EXPECT_EQ(findOrigin(layers, {0.9, 0.5})->name, "b");
  EXPECT_EQ(findOrigin(layers, {0.5, 0.1}), nullptr);
}

} // namespace
