//===- GroupPlanTest.cpp ----------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Group/GroupPlan.h"
#include "tpuc/Codegen/Schedule/NetworkSchedule.h"
#include "tpuc/Codegen/Tile/InPlaceConcat.h"
#include "tpuc/Codegen/Tile/Tiling.h"
#include "tpuc/Target/Registry.h"
#include "unittests/Codegen/Network.h"

using namespace tpuc;
using namespace tpuc::codegen;

namespace {

constexpr const char *kGrouped = R"(
  !x = tensor<1x64x64x64xf32>
  !j = tensor<1x128x64x64xf32>
  func.func @main(%0: !x) -> (!x, !j, tensor<1x80x64x64xf32>) {
    %1 = "tpu.MaxPool"(%0) {kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1]} : (!x) -> !x loc("a")
    %2 = "tpu.MaxPool"(%1) {kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1]} : (!x) -> !x loc("b")
    %3 = "tpu.Add"(%1, %2) : (!x, !x) -> !x loc("sum")
    %4 = "tpu.Concat"(%3, %2) {axis = 1} : (!x, !x) -> !j loc("join")
    %n = "top.None"() : () -> none
    %5 = "tpu.Slice"(%3, %n, %n, %n, %n) {offset = [0, 0, 0, 0], steps = [1, 1, 1, 1], ends = [1, 16, 64, 64], axes = [0, 1, 2, 3]} : (!x, none, none, none, none) -> tensor<1x16x64x64xf32> loc("few")
    %6 = "tpu.Concat"(%5, %3) {axis = 1} : (tensor<1x16x64x64xf32>, !x) -> tensor<1x80x64x64xf32> loc("shifted")
    return %3, %4, %6 : !x, !j, tensor<1x80x64x64xf32>
  })";

class GroupPlanTest : public testing::Test {
protected:
  GroupPlanTest() : network(kGrouped), backend(backendOf(**lookupTarget("bm1684x"))) {}

  Expected<GroupPlan> plan(std::initializer_list<const char *> names, unsigned parts,
                           int64_t capacity = 256 * 1024) {
    std::vector<mlir::Operation *> layers;
    for (const char *name : names)
      layers.push_back(network.layer(name));
    GroupPlanner planner(*backend, capacity, {});
    TileCounts counts{1, 1, 1, 1, 1};
    counts[kAxisH] = parts;
    return planner.together(layers, counts);
  }

  Network network;
  std::unique_ptr<Backend> backend;
};

TEST_F(GroupPlanTest, HalosGrowFromTheTail) {
  Expected<GroupPlan> group = plan({"a", "b", "sum"}, 2);
  ASSERT_TRUE(group) << group.error().message();
  // What the group loads, and the results of a, b and the sum: b is read from outside as well.
  ASSERT_EQ(group->tensors.size(), 4U);
  const auto rows = [&](size_t tensor) { return group->tensors[tensor].axisTiles[kAxisH]; };
  EXPECT_EQ(rows(3), (llvm::SmallVector<Range>{{0, 32}, {32, 32}}));
  EXPECT_EQ(rows(2), (llvm::SmallVector<Range>{{0, 32}, {32, 32}}));
  EXPECT_EQ(rows(1), (llvm::SmallVector<Range>{{0, 33}, {31, 33}}));
  EXPECT_EQ(rows(0), (llvm::SmallVector<Range>{{0, 34}, {30, 34}}));
  EXPECT_FALSE(group->tensors[1].isStored);
  EXPECT_TRUE(group->tensors[2].isStored);
  // The sum reads 32 of the 33 rows of a.
  const TiledOp sum = group->tiledOp(2, {0, 0, 0, 1, 0});
  EXPECT_EQ(sum.operands[0].tile[kAxisH], (Range{32, 32}));
  ASSERT_TRUE(sum.operands[0].held);
  EXPECT_EQ((*sum.operands[0].held)[kAxisH], (Range{31, 33}));
  EXPECT_FALSE(sum.operands[1].held);
}

TEST_F(GroupPlanTest, TooMuchOverlapIsRefused) {
  Expected<GroupPlan> group = plan({"a", "b", "sum"}, 16);
  ASSERT_FALSE(group);
  EXPECT_NE(group.error().message().find("repeat"), std::string::npos) << group.error().message();
}

TEST_F(GroupPlanTest, MoreThanLocalMemoryIsRefused) {
  EXPECT_TRUE(plan({"a", "b", "sum"}, 1, 64 * 1024));
  EXPECT_FALSE(plan({"a", "b", "sum"}, 1, 48 * 1024 - 64));
  EXPECT_TRUE(plan({"a", "b", "sum"}, 2, 48 * 1024 - 64));
}

TEST_F(GroupPlanTest, JoinedTensorsLieInTheResult) {
  EXPECT_TRUE(isInPlaceConcat(network.layer("join"), *backend));
  Expected<GroupPlan> group = plan({"a", "b", "sum", "join"}, 2);
  ASSERT_TRUE(group) << group.error().message();
  const unsigned joined = group->results[3];
  for (unsigned layer : {1U, 2U}) {
    const GroupTensor &part = group->tensors[group->results[layer]];
    EXPECT_EQ(part.container, joined);
    EXPECT_EQ(group->ownBytes(part), 0);
    EXPECT_EQ(part.firstStep, group->tensors[joined].firstStep);
  }
  EXPECT_EQ(group->tensors[joined].firstStep, 1);
  EXPECT_EQ(concatOffset(network.layer("join"), *group->models[3], 1,
                         tileAt(group->tensors[joined].axisTiles, {})),
            32 * 64 * 4);
  // What is made in its place is not moved.
  EXPECT_EQ(group->cycles[3], 0);
}

TEST_F(GroupPlanTest, WhatBeginsInTheMiddleOfARoundIsMovedByTheJoin) {
  mlir::Operation *join = network.layer("shifted");
  ASSERT_TRUE(isInPlaceConcat(join, *backend));
  EXPECT_TRUE(liesInPlace(join, 0, *backend));
  // There are 16 channels in front.
  EXPECT_FALSE(liesInPlace(join, 1, *backend));
  Expected<GroupPlan> group = plan({"a", "shifted"}, 2);
  ASSERT_TRUE(group) << group.error().message();
  const auto tensorOf = [&](unsigned operand) {
    return group->tensors[static_cast<size_t>(group->operands[1][operand])];
  };
  EXPECT_EQ(tensorOf(0).container, group->results[1]);
  EXPECT_FALSE(tensorOf(1).container);
  EXPECT_GT(group->cycles[1], 0);
}

TEST_F(GroupPlanTest, ALayerAloneFitsItsMemory) {
  for (int64_t capacity : {256 * 1024, 40 * 1024, 8 * 1024}) {
    Expected<Tiling> tiles = planTiling(network.layer("a"), *backend, capacity);
    ASSERT_TRUE(tiles) << capacity;
    int64_t bytes = tiles->result.outBytes * tiles->result.buffers + tiles->result.scratchBytes;
    for (const auto &operand : tiles->operands)
      bytes += operand ? operand->outBytes * operand->buffers : 0;
    EXPECT_LE(bytes, capacity);
    int64_t rows = 0;
    for (Range range : tiles->result.axisTiles[kAxisH]) {
      EXPECT_EQ(range.begin, rows);
      rows = range.end();
    }
    EXPECT_EQ(rows, 64);
  }
  EXPECT_FALSE(planTiling(network.layer("a"), *backend, 64));
}

/// Fewer large tiles in one place each, or more small ones in two.
TEST_F(GroupPlanTest, WhereStepsCostLessThereAreMore) {
  const auto buffersAndSteps = [&](int64_t stepBytes) {
    Expected<Tiling> tiles =
        planTiling(network.layer("a"), *backend, 20 * 1024, {.stepBytes = stepBytes});
    EXPECT_TRUE(tiles);
    size_t steps = 1;
    for (const auto &along : tiles->result.axisTiles)
      steps *= along.size();
    return std::pair(tiles->result.buffers, steps);
  };
  const auto [fewBuffers, few] = buffersAndSteps(1 << 20);
  const auto [manyBuffers, many] = buffersAndSteps(64);
  EXPECT_EQ(fewBuffers, 1);
  EXPECT_EQ(manyBuffers, 2);
  EXPECT_LT(few, many);
}

/// Layers that read one input: all of it, windows of it, and both results.
constexpr const char *kAround = R"(
  !x = tensor<1x64x64x8xf32>
  !p = tensor<1x64x1x1xf32>
  func.func @main(%0: !x) -> !x {
    %1 = "tpu.MaxPool"(%0) {kernel_shape = [64, 8], strides = [1, 1], pads = [0, 0, 0, 0]} : (!x) -> !p loc("all")
    %2 = "tpu.MaxPool"(%0) {kernel_shape = [5, 3], strides = [1, 1], pads = [2, 1, 2, 1]} : (!x) -> !x loc("near")
    %3 = "tpu.Add"(%2, %0) : (!x, !x) -> !x loc("sum")
    %4 = "tpu.Mul"(%3, %1) : (!x, !p) -> !x loc("scaled")
    return %4 : !x
  })";

/// What is planned of a group, but for when it happens.
void expectEqual(const GroupPlan &plan, const GroupPlan &wanted) {
  EXPECT_EQ(plan.counts, wanted.counts);
  EXPECT_EQ(plan.cycles, wanted.cycles);
  EXPECT_EQ(plan.scratchBytes, wanted.scratchBytes);
  EXPECT_EQ(plan.estimate, wanted.estimate);
  ASSERT_EQ(plan.tensors.size(), wanted.tensors.size());
  for (auto [tensor, other] : llvm::zip_equal(plan.tensors, wanted.tensors)) {
    EXPECT_EQ(tensor.axisTiles, other.axisTiles);
    EXPECT_EQ(tensor.bytes, other.bytes);
    EXPECT_EQ(tensor.cycles, other.cycles);
    EXPECT_EQ(tensor.numVersions, other.numVersions);
  }
}

TEST_F(GroupPlanTest, WhatIsKnownOfTheEndChangesNothing) {
  Network around(kAround);
  std::vector<mlir::Operation *> layers;
  for (const char *name : {"all", "near", "sum", "scaled"})
    layers.push_back(around.layer(name));
  bool isRefusedAtTheEnd = false;
  // Coarse cuts, and fine ones, of which most rows of what windows read are repeated.
  for (int64_t fewest : {1, 48}) {
    SuffixCache tails;
    GroupPlanner planner(*backend, 256 * 1024, {});
    for (size_t first = layers.size() - 1; first-- > 0;) {
      const llvm::ArrayRef<mlir::Operation *> members = llvm::ArrayRef(layers).drop_front(first);
      GroupPlanner fresh(*backend, 256 * 1024, {});
      auto wanted = fresh.cuts(members, fewest);
      auto cuts = planner.cuts(members, fewest, &tails);
      ASSERT_EQ(cuts.has_value(), wanted.has_value()) << first;
      isRefusedAtTheEnd |= first > 0 && !cuts;
      if (!cuts)
        continue;
      ASSERT_EQ(cuts->size(), wanted->size()) << first;
      for (auto [plan, other] : llvm::zip_equal(*cuts, *wanted))
        expectEqual(*plan, *other);
    }
    EXPECT_FALSE(tails.plans.empty());
  }
  EXPECT_TRUE(isRefusedAtTheEnd);
}

TEST_F(GroupPlanTest, MemoryIsFilledAsFarAsAllowed) {
  for (int64_t most : {kMostFill, int64_t{88}, int64_t{50}}) {
    std::vector<mlir::Operation *> layers;
    std::vector<GroupPlan> groups;
    GroupPlanner planner(*backend, 256 * 1024, {});
    for (const char *name : {"a", "b", "sum"}) {
      layers.push_back(network.layer(name));
      Expected<GroupPlan> group = planner.alone(layers.back());
      ASSERT_TRUE(group);
      groups.push_back(std::move(*group));
    }
    const ResidentConstants none;
    Expected<NetworkSchedule> schedule =
        scheduleNetwork(layers, groups, *backend, {.pool = none, .address = 256 * 1024}, {}, most);
    ASSERT_TRUE(schedule);
    EXPECT_EQ(schedule->fill, most);
    EXPECT_EQ(schedule->items.size(), 3U);
  }
}

} // namespace
