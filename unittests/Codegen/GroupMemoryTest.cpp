//===- GroupMemoryTest.cpp --------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Group/GroupMemory.h"
#include "tpuc/Codegen/Group/NetworkCandidate.h"
#include "tpuc/Codegen/Place/AddressAssign.h"
#include "tpuc/Target/Registry.h"
#include "unittests/Codegen/Network.h"

using namespace tpuc;
using namespace tpuc::codegen;

namespace {

constexpr const char *kChain = R"(
  !x = tensor<1x64x128x64xf32>
  !y = tensor<1x128x128x64xf32>
  func.func @main(%0: !x) -> !y {
    %1 = "tpu.MaxPool"(%0) {kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1]} : (!x) -> !x loc("a")
    %2 = "tpu.MaxPool"(%1) {kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1]} : (!x) -> !x loc("b")
    %3 = "tpu.MaxPool"(%2) {kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1]} : (!x) -> !x loc("c")
    %4 = "tpu.Concat"(%3, %1) {axis = 1} : (!x, !x) -> !y loc("both")
    return %4 : !y
  })";
constexpr int64_t kTensor = int64_t{2} << 20;

class GroupMemoryTest : public testing::Test {
protected:
  GroupMemoryTest()
      : network(kChain), backend(backendOf(**lookupTarget("bm1684x"))),
        planner(*backend, 256 * 1024, {}) {
    for (const char *name : {"a", "b", "c", "both"})
      ops.push_back(network.layer(name));
    layers = llvm::ArrayRef(ops).take_front(3);
    table.emplace(layers, planner, *backend);
    EXPECT_TRUE(table->fill(threads));
  }

  static GroupChoice group(unsigned first, unsigned count, unsigned parts) {
    return {.first = first, .count = count, .counts = {1, 1, 1, parts, 1}};
  }
  MemoryPeak peak(const Partition &partition) {
    return memoryPeak(ops, *table, partition, *backend);
  }

  /// The same of plans, as addresses would be given to them.
  int64_t planned(const Partition &partition) {
    Expected<std::vector<GroupPlan>> plans = table->plans(partition);
    EXPECT_TRUE(plans);
    llvm::SmallVector<const GroupPlan *> groups;
    for (const GroupPlan &plan : *plans)
      groups.push_back(&plan);
    Expected<int64_t> bytes = plannedBytes(network.main(), groups, *backend);
    EXPECT_TRUE(bytes);
    return *bytes;
  }

  Network network;
  std::unique_ptr<Backend> backend;
  GroupPlanner planner;
  ThreadPool threads{2};
  std::vector<mlir::Operation *> ops;
  llvm::ArrayRef<mlir::Operation *> layers;
  std::optional<GroupTable> table;
};

TEST_F(GroupMemoryTest, ResultsTakeThePlaceOfWhatIsLoadedBefore) {
  // The group stores a and c. Many tiles are stored beside an input that is not yet loaded.
  EXPECT_EQ(peak({group(0, 3, 8)}).bytes, 3 * kTensor);
  EXPECT_EQ(peak({group(0, 3, 8)}).group, 0U);
  EXPECT_EQ(peak({group(0, 3, 1)}).bytes, 2 * kTensor);
}

TEST_F(GroupMemoryTest, WhatIsReadLaterStays) {
  // While b and c run, a is kept; c does not take its place.
  EXPECT_EQ(peak({group(0, 1, 1), group(1, 2, 1)}).bytes, 2 * kTensor);
  EXPECT_EQ(peak({group(0, 1, 1), group(1, 1, 1), group(2, 1, 8)}).bytes, 3 * kTensor);
  EXPECT_EQ(peak({group(0, 1, 1), group(1, 1, 1), group(2, 1, 8)}).group, 2U);
}

TEST_F(GroupMemoryTest, LessIsFoundWhereItCostsLittle) {
  const std::vector<GroupTable::Option> cuts = table->known(0, 3);
  const auto tiled = llvm::find_if(cuts, [&](const GroupTable::Option &option) {
    return peak({option.choice}).bytes > 2 * kTensor;
  });
  ASSERT_NE(tiled, cuts.end());
  const Partition partition = withLessMemory(ops, *table, {tiled->choice}, *backend);
  EXPECT_EQ(peak(partition).bytes, 2 * kTensor);
  // What needs little already stays as it is.
  EXPECT_EQ(withLessMemory(ops, *table, partition, *backend), partition);
}

TEST_F(GroupMemoryTest, NeighboursBecomeOneGroup) {
  // Two tensors do not fit: c is stored beside b and a, unless b is not stored at all.
  GroupPlanner small(*backend, 24 * 1024, {});
  table.emplace(layers, small, *backend);
  ASSERT_TRUE(table->fill(threads));
  Partition apart;
  for (unsigned layer : {0U, 1U, 2U})
    apart.push_back(table->known(layer, 1).front().choice);
  EXPECT_EQ(peak(apart).bytes, 3 * kTensor);
  const Partition partition = withLessMemory(ops, *table, apart, *backend);
  EXPECT_LT(partition.size(), apart.size());
  EXPECT_EQ(peak(partition).bytes, 2 * kTensor);
}

TEST_F(GroupMemoryTest, WhereSeveralGroupsNeedMostAllOfThemChange) {
  // Sums of what is three layers apart: no change reaches all of the blocks.
  constexpr unsigned kBlocks = 3;
  std::string text = "!x = tensor<1x64x128x64xf32>\nfunc.func @main(%s0: !x) -> !x {\n";
  const auto addPool = [&](const std::string &from, const std::string &to) {
    text += "%" + to + " = \"tpu.MaxPool\"(%" + from +
            ") {kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1]} : (!x) -> !x loc(\"" +
            to + "\")\n";
  };
  std::vector<std::string> names;
  for (unsigned block = 0; block < kBlocks; ++block) {
    const std::string from = "s" + std::to_string(block), to = "s" + std::to_string(block + 1);
    const std::string first = "b" + std::to_string(block), second = "c" + std::to_string(block);
    addPool(from, first);
    addPool(first, second);
    text += "%" + to + " = \"tpu.Add\"(%" + second + ", %" + from + ") : (!x, !x) -> !x loc(\"" +
            to + "\")\n";
    names.insert(names.end(), {first, second, to});
  }
  text += "return %s" + std::to_string(kBlocks) + " : !x\n}";
  Network blocks(text);
  ops.clear();
  for (const std::string &name : names)
    ops.push_back(blocks.layer(name));
  GroupPlanner small(*backend, 24 * 1024, {});
  table.emplace(ops, small, *backend);
  ASSERT_TRUE(table->fill(threads));
  Partition apart;
  for (unsigned layer = 0; layer < ops.size(); ++layer)
    apart.push_back(table->known(layer, 1).front().choice);
  // Beside the second layer and the sum.
  EXPECT_EQ(peak(apart).bytes, 3 * kTensor);
  EXPECT_EQ(peak(apart).times, 2 * kBlocks);
  EXPECT_EQ(peak(withLessMemory(ops, *table, apart, *backend)).bytes, 2 * kTensor);
}

TEST_F(GroupMemoryTest, PlannedGroupsAreGivenAddressesByTheirTimes) {
  // What is stored lies in the result of the concatenation.
  EXPECT_EQ(planned({group(0, 3, 8)}), 3 * kTensor);
  EXPECT_EQ(planned({group(0, 3, 1)}), 2 * kTensor);
  // b cannot lie where x was, as c would be there before b is read.
  EXPECT_EQ(planned({group(0, 1, 1), group(1, 2, 1)}), 2 * kTensor);
  EXPECT_EQ(planned({group(0, 1, 1), group(1, 1, 1), group(2, 1, 8)}), 3 * kTensor);
}

TEST_F(GroupMemoryTest, TrialsKeepToTheMemoryThatIsAllowed) {
  ASSERT_TRUE(assignTrialAddresses(network.main(), *backend));
  const ResidentConstants none;
  const PoolPlace place = {.pool = none, .address = 256 * 1024};
  const NetworkCandidate candidate(network.main(), ops, place, *backend, {});
  Expected<std::vector<GroupPlan>> plans = table->plans({group(0, 3, 8)});
  ASSERT_TRUE(plans);
  Expected<NetworkCandidate::Result> free = candidate.run(*plans, {});
  ASSERT_TRUE(free);
  EXPECT_EQ(free->bytes, 3 * kTensor);
  EXPECT_TRUE(candidate.run(*plans, {.bytes = free->bytes}));
  Expected<NetworkCandidate::Result> limited = candidate.run(*plans, {.bytes = free->bytes - 1});
  ASSERT_FALSE(limited);
  EXPECT_EQ(limited.error().message(),
            "module: 6291456 bytes of global memory; expected at most 6291455");
}

} // namespace
