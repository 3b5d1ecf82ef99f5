//===- OperandLayoutTest.cpp ------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Codegen/Tile/InPlaceConcat.h"
#include "tpuc/Target/Registry.h"
#include "unittests/Codegen/CompiledNetworks.h"
#include "unittests/Codegen/Network.h"

using namespace tpuc;
using namespace tpuc::codegen;

namespace {

constexpr const char *kEachKind = R"(
  !x = tensor<1x16x8x8xf32>
  !f = tensor<16x16x3x3xf32>
  module attributes {module.name = "net", module.weight_file = ""} {
  func.func @main(%x: !x, %y: tensor<4x32xf32>, %z: tensor<2x5x6xf32>) {
    %n = "top.None"() : () -> none
    %f = "top.Weight"() : () -> !f loc("filter")
    %g = "top.Weight"() : () -> !f loc("other_filter")
    %b = "top.Weight"() : () -> tensor<16xf32> loc("bias")
    %1 = "tpu.Conv"(%x, %f, %b) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (!x, !f, tensor<16xf32>) -> !x loc("conv")
    %2 = "tpu.Conv"(%1, %g, %n) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (!x, !f, none) -> !x loc("next")
    %3 = "tpu.Add"(%1, %2) : (!x, !x) -> !x loc("sum")
    %4 = "tpu.Concat"(%3, %2) {axis = 1} : (!x, !x) -> tensor<1x32x8x8xf32> loc("join")
    %5 = "tpu.MatMul"(%y, %y, %n) {left_transpose = true} : (tensor<4x32xf32>, tensor<4x32xf32>, none) -> tensor<32x32xf32> loc("product")
    %6 = "tpu.Softmax"(%z) {axis = 1 : i64} : (tensor<2x5x6xf32>) -> tensor<2x5x6xf32> loc("softmax")
    return
  }
  })";

class OperandLayoutTest : public testing::TestWithParam<std::string> {
protected:
  OperandLayoutTest() : network(kEachKind), backend(backendOf(**lookupTarget(GetParam()))) {}

  TileModel model(const char *layer) {
    Expected<TileModel> made = backend->modelOf(network.layer(layer), TileLayout::NCHW);
    EXPECT_TRUE(made) << made.error().message();
    return made ? *made : TileModel();
  }

  Network network;
  std::unique_ptr<Backend> backend;
};

TEST_P(OperandLayoutTest, ResultsLieAsTheirReadersNeedThem) {
  const TileModel conv = model("conv");
  const TileModel next = model("next");
  const TileModel sum = model("sum");
  EXPECT_TRUE(conv.layoutOf(3).liesLike(next.layoutOf(0)));
  EXPECT_TRUE(conv.layoutOf(3).liesLike(sum.layoutOf(0)));
  EXPECT_TRUE(next.layoutOf(0).liesLike(conv.layoutOf(3)));
  EXPECT_EQ(conv.layoutOf(3).type, DataType::F32);
}

TEST_P(OperandLayoutTest, RowsOfChannelsLieAsNothingElseDoes) {
  const TileModel conv = model("conv");
  const TileModel next = model("next");
  for (unsigned index : {1U, 2U}) {
    EXPECT_TRUE(conv.layoutOf(index).isLoaded);
    EXPECT_FALSE(conv.layoutOf(index).isAligned);
    EXPECT_TRUE(conv.layoutOf(index).residentAlignment);
    EXPECT_FALSE(conv.layoutOf(index).liesLike(conv.layoutOf(index)));
  }
  EXPECT_FALSE(conv.layoutOf(1).liesLike(next.layoutOf(1)));
  EXPECT_FALSE(conv.layoutOf(0).liesLike(conv.layoutOf(1)));
  EXPECT_FALSE(conv.layoutOf(0).residentAlignment);
  EXPECT_TRUE(conv.layoutOf(0).isAligned);
  // A bias that is left out.
  EXPECT_FALSE(next.layoutOf(2).isLoaded);
}

TEST_P(OperandLayoutTest, TransposedMatricesLieOtherwise) {
  // Both operands are the same matrix.
  const TileModel product = model("product");
  EXPECT_FALSE(product.layoutOf(0).liesLike(product.layoutOf(1)));
  const TileModel softmax = model("softmax");
  EXPECT_TRUE(softmax.layoutOf(0).liesLike(softmax.layoutOf(1)));
  EXPECT_FALSE(softmax.layoutOf(0).liesLike(model("sum").layoutOf(0)));
}

TEST_P(OperandLayoutTest, JoinsHaveALayout) {
  mlir::Operation *join = network.layer("join");
  ASSERT_TRUE(isInPlaceConcat(join, *backend));
  Expected<TileModel> made = inPlaceConcatModel(join, *backend);
  ASSERT_TRUE(made) << made.error().message();
  for (unsigned index : {0U, 1U}) {
    EXPECT_TRUE(made->layoutOf(index).isLoaded);
    EXPECT_TRUE(made->layoutOf(index).liesLike(made->layoutOf(2)));
  }
}

std::string chipName(const testing::TestParamInfo<std::string> &info) { return info.param; }
INSTANTIATE_TEST_SUITE_P(Chips, OperandLayoutTest, testing::ValuesIn(compiledChips()), chipName);

} // namespace
