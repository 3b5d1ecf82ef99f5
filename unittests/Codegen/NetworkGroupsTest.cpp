//===- NetworkGroupsTest.cpp ------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Group/NetworkGroups.h"
#include "tpuc/Codegen/Followers.h"
#include "tpuc/Codegen/Group/GroupMemory.h"
#include "tpuc/Codegen/Group/KnownGroups.h"
#include "tpuc/Codegen/Group/NetworkCandidate.h"
#include "tpuc/Codegen/Place/AddressAssign.h"
#include "tpuc/Target/Registry.h"
#include "unittests/Codegen/Network.h"

#include <fmt/format.h>

#include <thread>

using namespace tpuc;
using namespace tpuc::codegen;

namespace {

TEST(NetworkGroupsTest, TheLeastMemoryMayTakeAPercentOfCycles) {
  EXPECT_EQ(leastMemory({{1, 100}, {1.0099, 90}, {1.0101, 80}}), 1U);
  // Wherever the fastest stands, and whatever run ratios are counted from.
  EXPECT_EQ(leastMemory({{2.0202, 80}, {2.0198, 90}, {2, 100}}), 1U);
  EXPECT_EQ(leastMemory({{1.0101, 80}, {1, 100}}), 1U);
  // The first of several.
  EXPECT_EQ(leastMemory({{1, 90}, {1.005, 90}}), 0U);
  EXPECT_EQ(leastMemory({{1.5, 90}}), 0U);
}

/// Pools of a picture in a chain, and the first one's result joined with the last one's.
std::string chain(int64_t channels, int64_t height, int64_t width, int64_t window) {
  return fmt::format(R"(
  !x = tensor<1x{0}x{2}x{3}xf32>
  !y = tensor<1x{1}x{2}x{3}xf32>
  func.func @main(%0: !x) -> !y {{
    %1 = "tpu.MaxPool"(%0) {{kernel_shape = [{4}, {4}], strides = [1, 1], pads = [{5}, {5}, {5}, {5}]}} : (!x) -> !x loc("a")
    %2 = "tpu.MaxPool"(%1) {{kernel_shape = [{4}, {4}], strides = [1, 1], pads = [{5}, {5}, {5}, {5}]}} : (!x) -> !x loc("b")
    %3 = "tpu.MaxPool"(%2) {{kernel_shape = [{4}, {4}], strides = [1, 1], pads = [{5}, {5}, {5}, {5}]}} : (!x) -> !x loc("c")
    %4 = "tpu.Concat"(%3, %1) {{axis = 1}} : (!x, !x) -> !y loc("both")
    return %4 : !y
  }})",
                     channels, 2 * channels, height, width, window, window / 2);
}

TEST(NetworkGroupsTest, FollowersSeeWhatThoseInFrontDid) {
  constexpr unsigned kNumbers = 50, kThreads = 3;
  Followers threads(kThreads, kNumbers);
  // Each adds one where the one in front did.
  std::vector<unsigned> visits(kNumbers, 0);
  std::vector<unsigned> late(kThreads, 0);
  const auto go = [&](unsigned own) {
    for (unsigned number = kNumbers; number-- > 0; threads.leave(own, number)) {
      if (own > 0)
        threads.await(own - 1, number);
      else
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      late[own] += visits[number]++ == own ? 0 : 1;
    }
  };
  {
    std::vector<std::jthread> running;
    for (unsigned own = kThreads; own-- > 0;)
      running.emplace_back(go, own);
  }
  EXPECT_EQ(visits, std::vector<unsigned>(kNumbers, kThreads));
  EXPECT_EQ(late, std::vector<unsigned>(kThreads, 0));
}

/// Pools one after the other, each joined with the one before it.
std::string ladder(int count, int extent) {
  std::string ops = fmt::format(R"(
  !x = tensor<1x64x{0}x{0}xf32>
  func.func @main(%0: !x) -> !x {{
)",
                                extent);
  for (int i = 0; i < count; ++i)
    ops += fmt::format(R"(
    %p{1} = "tpu.MaxPool"(%{0}) {{kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1]}} : (!x) -> !x loc("pool{1}")
    %{1} = "tpu.Add"(%p{1}, %{0}) : (!x, !x) -> !x loc("add{1}"))",
                       i, i + 1);
  return ops + fmt::format("\n    return %{} : !x\n  }}", count);
}

/// Why a chip with these engines gets no groups.
std::string refusal(void (*change)(Engines &)) {
  TargetInfo target = **lookupTarget("null");
  change(target.engines);
  Network network(chain(8, 16, 16, 3));
  Expected<NetworkGroups> made = chooseGroups(network.main(), {.opt = 1}, *backendOf(target));
  return made ? "" : made.error().message();
}

TEST(NetworkGroupsTest, GroupsAreForTwoEnginesInOrder) {
  EXPECT_EQ(refusal([](Engines &) {}), "");
  EXPECT_EQ(refusal([](Engines &engines) { engines[1].inOrder = false; }),
            "target null: 2 engines, not all of them in order; expected one that computes and one "
            "that moves data, both in order");
  EXPECT_EQ(refusal([](Engines &engines) { engines = {engines[0], engines[1], engines[1]}; }),
            "target null: 3 engines; expected one that computes and one that moves data, both in "
            "order");
}

TEST(NetworkGroupsTest, ThreadsFillTheSameTable) {
  Network network(ladder(16, 56));
  // Each knows nothing of those before.
  std::vector<std::unique_ptr<Backend>> backends;
  const auto choose = [&](unsigned numThreads) {
    backends.push_back(backendOf(**lookupTarget("bm1684x")));
    Expected<NetworkGroups> made =
        chooseGroups(network.main(), {.opt = 1, .numThreads = numThreads}, *backends.back());
    EXPECT_TRUE(made);
    return std::move(made->parts.front().table);
  };
  const auto sole = choose(1);
  EXPECT_FALSE(network.main().getContext()->isMultithreadingEnabled());
  for (int run = 0; run < 4; ++run) {
    const auto shared = choose(4);
    EXPECT_FALSE(network.main().getContext()->isMultithreadingEnabled());
    size_t options = 0;
    for (unsigned first = 0; first < sole->numLayers(); ++first)
      for (unsigned count = 1; first + count <= sole->numLayers(); ++count) {
        const auto one = sole->known(first, count);
        const auto other = shared->known(first, count);
        ASSERT_EQ(one.size(), other.size());
        for (auto [a, b] : llvm::zip_equal(one, other)) {
          EXPECT_EQ(a.choice, b.choice);
          EXPECT_EQ(std::tie(a.estimate, a.compute, a.transfers),
                    std::tie(b.estimate, b.compute, b.transfers));
        }
        options += one.size();
      }
    EXPECT_GT(options, 500U);
  }
}

TEST(NetworkGroupsTest, ThreadsSearchTheSameWay) {
  Network network(ladder(12, 340));
  const auto choose = [&](int64_t opt, unsigned numThreads) {
    // It knows nothing of what others have found.
    const auto backend = backendOf(**lookupTarget("bm1684x"));
    Expected<NetworkGroups> made =
        chooseGroups(network.main(), {.opt = opt, .numThreads = numThreads}, *backend);
    EXPECT_TRUE(made);
    return made->parts.front().partition;
  };
  const Partition sole = choose(2, 1);
  EXPECT_NE(sole, choose(1, 1));
  for (unsigned numThreads = 2; numThreads <= 4; ++numThreads)
    EXPECT_EQ(sole, choose(2, numThreads));
}

TEST(NetworkGroupsTest, NetworksOfAKindGetTheGroupsThatWereChosen) {
  const GroupOptions options = {.opt = 2, .numThreads = 1};
  const auto backend = backendOf(**lookupTarget("bm1684x"));
  const auto choose = [&] {
    // Its names and its context are its own.
    Network network(ladder(6, 340));
    Expected<NetworkGroups> made = chooseGroups(network.main(), options, *backend);
    EXPECT_TRUE(made);
    const SubNetGroups &part = made->parts.front();
    return std::tuple(part.partition, part.fill, part.items.size(), part.items.back().start);
  };
  const auto chosen = choose();
  EXPECT_EQ(choose(), chosen);
  Network network(ladder(6, 340));
  const KnownCosts::Key key = networkKey(network.main(), options, *backend);
  const auto known = backend->known()->groups.find(key);
  ASSERT_TRUE(known);
  EXPECT_EQ((*known)->parts.front().partition, std::get<Partition>(chosen));
  // What is known is taken, whatever it is.
  KnownGroups apart = **known;
  Partition &layers = apart.parts.front().partition;
  layers.clear();
  for (unsigned first = 0; first < 12; ++first)
    layers.push_back({.first = first, .isAlone = true});
  apart.parts.front().order = LoadOrder::EachBehindUrgent;
  backend->known()->groups.clear();
  backend->known()->groups.add(key, std::make_shared<const KnownGroups>(apart));
  Network same(ladder(6, 340));
  Expected<NetworkGroups> again = chooseGroups(same.main(), options, *backend);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->parts.front().partition, layers);
  EXPECT_EQ(again->parts.front().order, LoadOrder::EachBehindUrgent);
  // Others are of another kind.
  Network longer(ladder(7, 340)), smaller(ladder(6, 338));
  EXPECT_NE(networkKey(longer.main(), options, *backend), key);
  EXPECT_NE(networkKey(smaller.main(), options, *backend), key);
  EXPECT_NE(networkKey(network.main(), {.opt = 1}, *backend), key);
}

/// What is chosen for such a chain, and what could be: the fastest groups by estimate, and those
/// that need less memory.
class ChainGroups {
public:
  ChainGroups(int64_t channels, int64_t height, int64_t width, int64_t window)
      : network(chain(channels, height, width, window)),
        backend(backendOf(**lookupTarget("bm1684x"))) {
    Expected<NetworkGroups> made = chooseGroups(network.main(), {}, *backend);
    EXPECT_TRUE(made);
    EXPECT_TRUE(assignTrialAddresses(network.main(), *backend));
    chosen = std::move(*made);
    fastest = part().table->best({});
    smaller = withLessMemory(part().subNet.layers, *part().table, fastest, *backend);
  }

  const SubNetGroups &part() const { return chosen.parts.front(); }
  NetworkCandidate::Result run(const Partition &partition) const {
    const PoolPlace place = chosen.place();
    const NetworkCandidate candidate(network.main(), part().subNet.layers, place, *backend, {});
    Expected<std::vector<GroupPlan>> plans = part().table->plans(partition);
    EXPECT_TRUE(plans);
    Expected<NetworkCandidate::Result> result = candidate.run(std::move(*plans), {});
    EXPECT_TRUE(result);
    return *result;
  }

  mutable Network network;
  std::unique_ptr<Backend> backend;
  NetworkGroups chosen;
  Partition fastest, smaller;
};

TEST(NetworkGroupsTest, LessMemoryIsTakenForAFewCycles) {
  const ChainGroups groups(128, 192, 100, 15);
  const NetworkCandidate::Result fast = groups.run(groups.fastest);
  const NetworkCandidate::Result small = groups.run(groups.smaller);
  ASSERT_LT(small.bytes, fast.bytes);
  const double ratio = meanRatio(small.cycles, fast.cycles);
  ASSERT_GT(ratio, 1.001);
  ASSERT_LT(ratio, 1.01);
  EXPECT_EQ(groups.part().partition, groups.smaller);
}

TEST(NetworkGroupsTest, LessMemoryIsNotTakenForMany) {
  const ChainGroups groups(128, 160, 128, 15);
  const NetworkCandidate::Result fast = groups.run(groups.fastest);
  const NetworkCandidate::Result small = groups.run(groups.smaller);
  ASSERT_LT(small.bytes, fast.bytes);
  const double ratio = meanRatio(small.cycles, fast.cycles);
  ASSERT_GT(ratio, 1.01);
  ASSERT_LT(ratio, 1.02);
  EXPECT_EQ(groups.part().partition, groups.fastest);
}

} // namespace
