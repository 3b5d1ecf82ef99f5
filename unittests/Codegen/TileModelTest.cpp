//===- TileModelTest.cpp ---------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Tile/TileModel.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Interpreter/Kernels/Movement.h"
#include "tpuc/Target/Registry.h"
#include "unittests/Codegen/Network.h"

using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// 64 lanes of 256 KiB.
const TargetInfo &target() { return **lookupTarget("bm1684x"); }

/// What a range of the result needs of an operand that has `extent` elements.
PaddedRange needed(const AxisMap &map, int64_t extent, Range output) {
  OperandModel operand{.isPresent = true, .extents = {1, 1, 1, extent, 1}};
  operand.maps[kAxisH] = map;
  return operand.padded(kAxisH, output);
}

TEST(AxisMap, EachReachedElementIsInTheRangeAndNoneBeside) {
  for (AxisMap::Kind kind : {AxisMap::Window, AxisMap::Transposed})
    for (int64_t stride = 1; stride <= 3; ++stride)
      for (int64_t window = 1; window <= 5; ++window)
        for (int64_t pad = 0; pad < window; ++pad) {
          const AxisMap map{.kind = kind, .stride = stride, .window = window, .pad = pad};
          constexpr int64_t kExtent = 11;
          const int64_t outputs = kind == AxisMap::Window
                                      ? (kExtent + 2 * pad - window) / stride + 1
                                      : (kExtent - 1) * stride + window - 2 * pad;
          for (int64_t begin = 0; begin < outputs; ++begin)
            for (int64_t size = 1; begin + size <= outputs; ++size) {
              // All pairs of an output and an input that one window brings together.
              int64_t first = kExtent;
              int64_t last = -1;
              for (int64_t out = begin; out < begin + size; ++out)
                for (int64_t in = 0; in < kExtent; ++in) {
                  const int64_t tap = kind == AxisMap::Window ? in - (out * stride - pad)
                                                              : out - (in * stride - pad);
                  if (tap < 0 || tap >= window)
                    continue;
                  first = std::min(first, in);
                  last = std::max(last, in);
                }
              if (last < 0)
                continue;
              const Range range = needed(map, kExtent, {begin, size}).range;
              ASSERT_LE(range.begin, first);
              ASSERT_GE(range.end(), last + 1);
              // With strides, a window may have no element at the border of the range.
              ASSERT_GE(range.begin, first - stride);
              ASSERT_LE(range.end(), last + 1 + stride);
            }
        }
}

TEST(AxisMap, WhatStandsAtTheEdgeIsInTheRangeAndNoneBeside) {
  constexpr int64_t kExtent = 7;
  for (auto [kind, mode] : {std::pair{AxisMap::Clamped, kernels::PadMode::Edge},
                            std::pair{AxisMap::Mirrored, kernels::PadMode::Reflect}})
    for (int64_t before = 0; before < kExtent; ++before)
      for (int64_t after = 0; after < kExtent; ++after) {
        const kernels::AxisSource sources = kernels::padSource(kExtent, before, after, mode);
        const auto outputs = static_cast<int64_t>(sources.size());
        for (int64_t begin = 0; begin < outputs; ++begin)
          for (int64_t size = 1; begin + size <= outputs; ++size) {
            const auto [first, last] =
                std::minmax_element(sources.begin() + begin, sources.begin() + begin + size);
            const Range range = needed({.kind = kind, .pad = before}, kExtent, {begin, size}).range;
            ASSERT_EQ(range, (Range{*first, *last - *first + 1}));
          }
      }
}

TEST(AxisMap, WindowsOverTheBorderSeePadding) {
  const AxisMap map{.kind = AxisMap::Window, .stride = 2, .window = 5, .pad = 2};
  const PaddedRange front = needed(map, 20, {0, 3});
  EXPECT_EQ(front.range, (Range{0, 7}));
  EXPECT_EQ(front.padBegin, 2);
  EXPECT_EQ(front.padEnd, 0);
  const PaddedRange back = needed(map, 20, {7, 3});
  EXPECT_EQ(back.range, (Range{12, 8}));
  EXPECT_EQ(back.padBegin, 0);
  EXPECT_EQ(back.padEnd, 1);
}

TEST(AxisMap, NoWindowReachesWhatStandsInForPadding) {
  const AxisMap map{.kind = AxisMap::Window, .window = 3, .pad = 20};
  for (int64_t begin : {0, 35}) {
    const PaddedRange outside = needed(map, 9, {begin, 12});
    EXPECT_EQ(outside.range, (Range{begin == 0 ? 0 : 8, 1}));
    EXPECT_GE(outside.padBegin, 12 - 1 + map.window);
    EXPECT_EQ(outside.padEnd, 0);
  }
}

constexpr const char *kModelled = R"(
  !x = tensor<1x8x40x60xf32>
  !t = tensor<2x3x17x40xf32>
  func.func @main(%0: !x, %1: tensor<6x20xf32>, %2: tensor<20x30xf32>, %t: !t, %r: tensor<2x17x120xf32>) {
    %none = "top.None"() : () -> none
    %3 = "tpu.Relu"(%0) : (!x) -> !x loc("relu")
    %4 = "tpu.MaxPool"(%3) {kernel_shape = [3, 2], strides = [2, 1], pads = [1, 0, 0, 1]} : (!x) -> tensor<1x8x20x60xf32> loc("pool")
    %5 = "tpu.MatMul"(%1, %2, %none) : (tensor<6x20xf32>, tensor<20x30xf32>, none) -> tensor<6x30xf32> loc("product")
    %6 = "tpu.MatMul"(%t, %t, %none) {right_transpose = true} : (!t, !t, none) -> tensor<2x3x17x17xf32> loc("scores")
    %7 = "tpu.Softmax"(%6) {axis = 3 : i64} : (tensor<2x3x17x17xf32>) -> tensor<2x3x17x17xf32> loc("softmax")
    %8 = "tpu.MulConst"(%7) {const_val = 2.0 : f64} : (tensor<2x3x17x17xf32>) -> tensor<2x3x17x17xf32> loc("twice")
    %9 = "tpu.Slice"(%r, %none, %none, %none, %none) {axes = [-1], offset = [40], ends = [80], steps = [1]} : (tensor<2x17x120xf32>, none, none, none, none) -> tensor<2x17x40xf32> loc("columns")
    %10:4 = "tpu.ScaleDotProductAttention"(%r, %r, %9, %none, %none, %none, %none) {q_num_heads = 3 : i64, kv_num_heads = 3 : i64} : (tensor<2x17x120xf32>, tensor<2x17x120xf32>, tensor<2x17x40xf32>, none, none, none, none) -> (tensor<2x17x40xf32>, none, none, none) loc("attention")
    %12 = "tpu.Concat"(%9, %r) {axis = -1 : i64} : (tensor<2x17x40xf32>, tensor<2x17x120xf32>) -> tensor<2x17x160xf32> loc("joined")
    %13 = "tpu.Concat"(%9, %9) {axis = 1 : i64} : (tensor<2x17x40xf32>, tensor<2x17x40xf32>) -> tensor<2x34x40xf32> loc("stacked")
    %11 = "tpu.Cast"(%8) : (tensor<2x3x17x17xf32>) -> tensor<2x3x17x17xf16> loc("cast")
    return
  })";

TEST(TileModel, ColumnsThatAreJoinedNeedWholeRows) {
  Network network(kModelled);
  Expected<TileModel> model = tileModel(network.layer("joined"), target());
  ASSERT_TRUE(model);
  EXPECT_EQ(model->result, (AxisExtents{2, 17, 1, 1, 160}));
  Tile output = wholeTile(model->result);
  output[kAxisC] = {5, 10};
  const Tile input = model->operands[0].slice(output);
  EXPECT_EQ(input[kAxisC], (Range{5, 10}));
  EXPECT_EQ(input[kAxisW], (Range{0, 40}));
  EXPECT_FALSE(model->isTileable[kAxisW]);
  EXPECT_FALSE(tileModel(network.layer("stacked"), target()));
}

TEST(TileModel, PoolsHaveWindowsAlongHAndW) {
  Network network(kModelled);
  Expected<TileModel> model = tileModel(network.layer("pool"), target());
  ASSERT_TRUE(model);
  EXPECT_EQ(model->result, (AxisExtents{1, 8, 1, 20, 60}));
  Tile output = wholeTile(model->result);
  output[kAxisH] = {5, 10};
  const Tile input = model->operands[0].slice(output);
  EXPECT_EQ(input[kAxisH], (Range{9, 21}));
  EXPECT_EQ(input[kAxisW], (Range{0, 60}));
  EXPECT_EQ(input[kAxisC], (Range{0, 8}));
}

TEST(TileModel, ElementsKeepTheirPlacesInCompany) {
  Network network(kModelled);
  Expected<TileModel> alone = tileModel(network.layer("relu"), target(), TileLayout::Flat);
  Expected<TileModel> inGroup = tileModel(network.layer("relu"), target(), TileLayout::NCHW);
  ASSERT_TRUE(alone && inGroup);
  EXPECT_EQ(alone->result[kAxisC] % 64, 0);
  EXPECT_EQ(inGroup->result, (AxisExtents{1, 8, 1, 40, 60}));
}

/// Two element-wise ops that follow each other, one beside a pool, and one that repeats an operand.
constexpr const char *kSeparate = R"(
func.func @main(%a: tensor<1x1x64x64xf32>, %b: tensor<1x8x40x60xf32>) -> (tensor<1x1x64x64xf32>, tensor<1x8x40x60xf32>, tensor<1x8x40x60xf32>) {
  %x = "top.Input"(%a) : (tensor<1x1x64x64xf32>) -> tensor<1x1x64x64xf32> loc("x")
  %y = "top.Input"(%b) : (tensor<1x8x40x60xf32>) -> tensor<1x8x40x60xf32> loc("y")
  %0 = "tpu.Sigmoid"(%x) : (tensor<1x1x64x64xf32>) -> tensor<1x1x64x64xf32> loc("first")
  %1 = "tpu.Abs"(%0) : (tensor<1x1x64x64xf32>) -> tensor<1x1x64x64xf32> loc("second")
  %2 = "tpu.MaxPool"(%y) {kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1]} : (tensor<1x8x40x60xf32>) -> tensor<1x8x40x60xf32> loc("pool")
  %3 = "tpu.Abs"(%2) : (tensor<1x8x40x60xf32>) -> tensor<1x8x40x60xf32> loc("pooled")
  %4 = "tpu.Abs"(%y) : (tensor<1x8x40x60xf32>) -> tensor<1x8x40x60xf32> loc("beside")
  return %1, %3, %4 : tensor<1x1x64x64xf32>, tensor<1x8x40x60xf32>, tensor<1x8x40x60xf32>
})";

TEST(TileModel, WhatNoOtherLayerReadsIsAloneInItsCompany) {
  Network network(kSeparate);
  const auto layers = [&](std::initializer_list<const char *> names) {
    std::vector<mlir::Operation *> found;
    for (const char *name : names)
      found.push_back(network.layer(name));
    return found;
  };
  using TileLayouts = llvm::SmallVector<TileLayout>;
  const auto tileLayoutsOf = [&](std::initializer_list<const char *> names) {
    return codegen::tileLayoutsOf(layers(names),
                                  [](mlir::Operation *op) { return takesAnyOrder(op, target()); });
  };
  EXPECT_EQ(tileLayoutsOf({"first", "second"}), TileLayouts(2, TileLayout::Flat));
  EXPECT_EQ(tileLayoutsOf({"pool", "pooled"}), TileLayouts(2, TileLayout::NCHW));
  EXPECT_EQ(tileLayoutsOf({"first", "pool", "second", "pooled", "beside"}),
            (TileLayouts{TileLayout::Flat, TileLayout::NCHW, TileLayout::Flat, TileLayout::NCHW,
                         TileLayout::Flat}));
  EXPECT_TRUE(takesAnyOrder(network.layer("first"), target()));
  EXPECT_FALSE(takesAnyOrder(network.layer("pool"), target()));
  // Its rows are stored as channels.
  mlir::cast<tpu::StoredRowsInterface>(network.layer("beside"))
      .setStoredRowsAttr(mlir::Builder(network.layer("beside")->getContext()).getI64IntegerAttr(2));
  EXPECT_FALSE(takesAnyOrder(network.layer("beside"), target()));
}

TEST(TileModel, PicturesAreReducedAsTheyLieInCompany) {
  Network network(R"(
    func.func @main(%0: tensor<2x8x40x60xf32>) -> tensor<2x8xf32> {
      %1 = "top.None"() : () -> none
      %2 = "tpu.Reduce"(%0, %1) {mode = "ReduceMean", axes = [2, -1], keepdims = false} : (tensor<2x8x40x60xf32>, none) -> tensor<2x8xf32> loc("mean")
      return %2 : tensor<2x8xf32>
    })");
  Expected<TileModel> alone = tileModel(network.layer("mean"), target(), TileLayout::Flat);
  Expected<TileModel> inGroup = tileModel(network.layer("mean"), target(), TileLayout::NCHW);
  ASSERT_TRUE(alone && inGroup);
  EXPECT_EQ(alone->operands[0].extents, (AxisExtents{1, 16, 1, 1, 2400}));
  EXPECT_EQ(inGroup->operands[0].extents, (AxisExtents{2, 8, 1, 40, 60}));
  EXPECT_EQ(inGroup->result, (AxisExtents{2, 8, 1, 1, 1}));
  Tile output = wholeTile(inGroup->result);
  output[kAxisC] = {3, 2};
  const Tile input = inGroup->operands[0].slice(output);
  EXPECT_EQ(input[kAxisC], (Range{3, 2}));
  EXPECT_EQ(input[kAxisH], (Range{0, 40}));
}

TEST(TileModel, SequencesAreReducedAsTheyLieInCompany) {
  Network network(R"(
    func.func @main(%0: tensor<2x256x777xf32>) -> (tensor<2x256xf32>, tensor<2x777xf32>) {
      %1 = "top.None"() : () -> none
      %2 = "tpu.Reduce"(%0, %1) {mode = "ReduceMax", axes = [2], keepdims = false} : (tensor<2x256x777xf32>, none) -> tensor<2x256xf32> loc("along")
      %3 = "tpu.Reduce"(%0, %1) {mode = "ReduceMax", axes = [1], keepdims = false} : (tensor<2x256x777xf32>, none) -> tensor<2x777xf32> loc("across")
      return %2, %3 : tensor<2x256xf32>, tensor<2x777xf32>
    })");
  Expected<TileModel> along = tileModel(network.layer("along"), target(), TileLayout::NCHW);
  ASSERT_TRUE(along);
  EXPECT_EQ(along->operands[0].extents, (AxisExtents{2, 256, 1, 1, 777}));
  EXPECT_EQ(along->result, (AxisExtents{2, 256, 1, 1, 1}));
  Expected<TileModel> across = tileModel(network.layer("across"), target(), TileLayout::NCHW);
  EXPECT_TRUE(!across || across->result != (AxisExtents{2, 256, 1, 1, 1}));
}

TEST(TileModel, ColumnsOfAProductNeedAllRowsOfTheRightMatrix) {
  Network network(kModelled);
  Expected<TileModel> model = tileModel(network.layer("product"), target());
  ASSERT_TRUE(model);
  Tile output = wholeTile(model->result);
  output[kAxisW] = {10, 5};
  output[kAxisC] = {2, 3};
  const Tile left = model->operands[0].slice(output);
  const Tile right = model->operands[1].slice(output);
  EXPECT_EQ(left[kAxisC], (Range{2, 3}));
  EXPECT_EQ(left[kAxisW], (Range{0, 20}));
  EXPECT_EQ(right[kAxisW], (Range{10, 5}));
  EXPECT_EQ(right[kAxisC], (Range{0, 20}));
}

TEST(TileModel, RowsOfMatricesKeepTheirPlacesInTheirCompany) {
  Network network(kModelled);
  std::vector<mlir::Operation *> layers;
  for (const char *name : {"scores", "softmax", "twice"})
    layers.push_back(network.layer(name));
  ASSERT_EQ(tileLayoutOf(layers), TileLayout::Matrix);
  for (mlir::Operation *layer : layers) {
    Expected<TileModel> model = tileModel(layer, target(), TileLayout::Matrix);
    ASSERT_TRUE(model);
    EXPECT_EQ(model->result, (AxisExtents{6, 17, 1, 1, 17}));
  }
  // Alone, the rows of all matrices follow each other.
  EXPECT_EQ(tileModel(layers[1], target())->result, (AxisExtents{1, 102, 1, 1, 17}));
  layers.push_back(network.layer("pool"));
  EXPECT_EQ(tileLayoutOf(layers), TileLayout::NCHW);
  EXPECT_EQ(tileLayoutOf(layers.front()), TileLayout::Flat);
}

TEST(TileModel, APixelThatLiesAsARowIsNoRowOfMatrices) {
  Network network(kModelled);
  const std::vector<mlir::Operation *> layers = {network.layer("softmax"), network.layer("cast")};
  ASSERT_EQ(tileLayoutOf(layers), TileLayout::Matrix);
  mlir::cast<tpu::CastOp>(layers.back()).setInRow(true);
  EXPECT_EQ(tileLayoutOf(layers), TileLayout::NCHW);
}

TEST(TileModel, AComputedMatrixIsTakenAsItLies) {
  Network network(kModelled);
  Expected<TileModel> model = tileModel(network.layer("scores"), target());
  ASSERT_TRUE(model);
  EXPECT_EQ(model->operands[1].extents, (AxisExtents{6, 17, 1, 1, 40}));
  EXPECT_FALSE(model->isTileable[kAxisW]);
}

TEST(TileModel, MatricesOfOthersAreSpreadOrTakenByRows) {
  Network network(R"(
func.func @main(%a: tensor<128x96xf32>, %b: tensor<7x3001xf32>) -> (tensor<128x96xf32>, tensor<7x3001xf32>) {
  %x = "top.Input"(%a) : (tensor<128x96xf32>) -> tensor<128x96xf32> loc("x")
  %y = "top.Input"(%b) : (tensor<7x3001xf32>) -> tensor<7x3001xf32> loc("y")
  %0 = "tpu.Abs"(%x) : (tensor<128x96xf32>) -> tensor<128x96xf32> loc("even")
  %1 = "tpu.Abs"(%y) : (tensor<7x3001xf32>) -> tensor<7x3001xf32> loc("odd")
  return %0, %1 : tensor<128x96xf32>, tensor<7x3001xf32>
})");
  // Channels of single elements would be moved one by one.
  EXPECT_EQ(tileModel(network.layer("even"), target())->result, (AxisExtents{1, 64, 1, 1, 192}));
  EXPECT_EQ(tileModel(network.layer("odd"), target())->result, (AxisExtents{1, 7, 1, 1, 3001}));
  EXPECT_EQ(tileModel(network.layer("odd"), target(), TileLayout::NCHW)->result,
            (AxisExtents{7, 3001, 1, 1, 1}));
}

TEST(TileModel, ElementsInAnyOrderAreSharedOutOverTheLanesOfTheChip) {
  Network network(kSeparate);
  const TargetInfo &null = **lookupTarget("null");
  EXPECT_EQ(tileModel(network.layer("first"), target())->result, (AxisExtents{1, 64, 1, 1, 64}));
  // A lane holds four such rows in 32 bits.
  EXPECT_EQ(tileModel(network.layer("first"), null)->result, (AxisExtents{1, 4, 1, 1, 1024}));
  // Channels that fill the lanes of null stay what they are.
  EXPECT_NE(tileModel(network.layer("beside"), target())->result, (AxisExtents{1, 8, 1, 40, 60}));
  EXPECT_EQ(tileModel(network.layer("beside"), null)->result, (AxisExtents{1, 8, 1, 40, 60}));
}

TEST(TileModel, ElementsThatLanesCannotShareEvenlyFillNearlyAllOfThem) {
  Network network(R"(
func.func @main(%a: tensor<1x3x270x360xf32>, %b: tensor<1x3x419x421xf32>, %c: tensor<1x62x5x11xf32>, %d: tensor<1x1000xf32>) -> (tensor<1x3x270x360xf32>, tensor<1x3x419x421xf32>, tensor<1x62x5x11xf32>, tensor<1x1000xf32>) {
  %x = "top.Input"(%a) : (tensor<1x3x270x360xf32>) -> tensor<1x3x270x360xf32> loc("x")
  %y = "top.Input"(%b) : (tensor<1x3x419x421xf32>) -> tensor<1x3x419x421xf32> loc("y")
  %z = "top.Input"(%c) : (tensor<1x62x5x11xf32>) -> tensor<1x62x5x11xf32> loc("z")
  %u = "top.Input"(%d) : (tensor<1x1000xf32>) -> tensor<1x1000xf32> loc("u")
  %0 = "tpu.Abs"(%x) : (tensor<1x3x270x360xf32>) -> tensor<1x3x270x360xf32> loc("picture")
  %1 = "tpu.Abs"(%y) : (tensor<1x3x419x421xf32>) -> tensor<1x3x419x421xf32> loc("primes")
  %2 = "tpu.Abs"(%z) : (tensor<1x62x5x11xf32>) -> tensor<1x62x5x11xf32> loc("full")
  %3 = "tpu.Abs"(%u) : (tensor<1x1000xf32>) -> tensor<1x1000xf32> loc("row")
  return %0, %1, %2, %3 : tensor<1x3x270x360xf32>, tensor<1x3x419x421xf32>, tensor<1x62x5x11xf32>, tensor<1x1000xf32>
})");
  EXPECT_EQ(tileModel(network.layer("picture"), target())->result,
            (AxisExtents{1, 60, 1, 1, 4860}));
  // Of 3, 419, 421, 1257 and 1263 rows; 419 are 7 rounds of 1263 elements.
  EXPECT_EQ(tileModel(network.layer("primes"), target())->result,
            (AxisExtents{1, 419, 1, 1, 1263}));
  // Lanes that are full enough keep the places of their elements.
  EXPECT_EQ(tileModel(network.layer("full"), target())->result, (AxisExtents{1, 62, 1, 5, 11}));
  // Rows are not so short that their transfers cost more.
  EXPECT_EQ(tileModel(network.layer("row"), target())->result, (AxisExtents{1, 25, 1, 1, 40}));
}

TEST(TileModel, ShortRowsOfFullLanesBecomeLonger) {
  Network network(R"(
func.func @main(%a: tensor<1x2100x20xf32>, %b: tensor<1x128x8x8xf32>, %c: tensor<1x8x2x4xf32>) -> (tensor<1x2100x20xf32>, tensor<1x128x8x8xf32>, tensor<1x8x2x4xf32>) {
  %x = "top.Input"(%a) : (tensor<1x2100x20xf32>) -> tensor<1x2100x20xf32> loc("x")
  %y = "top.Input"(%b) : (tensor<1x128x8x8xf32>) -> tensor<1x128x8x8xf32> loc("y")
  %z = "top.Input"(%c) : (tensor<1x8x2x4xf32>) -> tensor<1x8x2x4xf32> loc("z")
  %0 = "tpu.Abs"(%x) : (tensor<1x2100x20xf32>) -> tensor<1x2100x20xf32> loc("short")
  %1 = "tpu.Abs"(%y) : (tensor<1x128x8x8xf32>) -> tensor<1x128x8x8xf32> loc("long")
  %2 = "tpu.Abs"(%z) : (tensor<1x8x2x4xf32>) -> tensor<1x8x2x4xf32> loc("idle")
  return %0, %1, %2 : tensor<1x2100x20xf32>, tensor<1x128x8x8xf32>, tensor<1x8x2x4xf32>
})");
  EXPECT_EQ(tileModel(network.layer("short"), target())->result, (AxisExtents{1, 60, 1, 1, 700}));
  EXPECT_EQ(tileModel(network.layer("long"), target())->result, (AxisExtents{1, 128, 1, 8, 8}));
  // Idle lanes are filled as far as rows stay long enough for their transfers.
  EXPECT_EQ(tileModel(network.layer("idle"), target())->result, (AxisExtents{1, 2, 1, 1, 32}));
}

TEST(TileModel, ColumnsAreAWindow) {
  Network network(kModelled);
  Expected<TileModel> model = tileModel(network.layer("columns"), target(), TileLayout::Matrix);
  ASSERT_TRUE(model);
  const Tile input = model->operands[0].slice(wholeTile(model->result));
  EXPECT_EQ(input[kAxisW], (Range{40, 40}));
  EXPECT_EQ(input[kAxisC], (Range{0, 17}));
}

TEST(TileModel, QueriesNeedAllKeysAndValues) {
  Network network(kModelled);
  Expected<TileModel> model = tileModel(network.layer("attention"), target(), TileLayout::Matrix);
  ASSERT_TRUE(model);
  Tile output = wholeTile(model->result);
  output[kAxisC] = {5, 4};
  EXPECT_EQ(model->operands[0].slice(output)[kAxisC], (Range{5, 4}));
  EXPECT_EQ(model->operands[1].slice(output)[kAxisC], (Range{0, 17}));
  EXPECT_EQ(model->operands[2].slice(output)[kAxisC], (Range{0, 17}));
}

} // namespace
