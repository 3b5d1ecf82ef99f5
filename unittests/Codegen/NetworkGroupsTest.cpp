//===- NetworkGroupsTest.cpp ------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/NetworkGroups.h"
#include "tpuc/Codegen/AddressAssign.h"
#include "tpuc/Codegen/GroupMemory.h"
#include "tpuc/Codegen/NetworkTrial.h"
#include "tpuc/Target/Registry.h"
#include "unittests/Codegen/Network.h"

#include <fmt/format.h>

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
  NetworkTrial::Result run(const Division &division) const {
    const PoolPlace place = chosen.place();
    const NetworkTrial trial(network.main(), part().subNet.layers, place, *backend, {});
    Expected<std::vector<GroupPlan>> plans = part().table->plans(division);
    EXPECT_TRUE(plans);
    Expected<NetworkTrial::Result> result = trial.run(std::move(*plans), {});
    EXPECT_TRUE(result);
    return *result;
  }

  mutable Network network;
  std::unique_ptr<Backend> backend;
  NetworkGroups chosen;
  Division fastest, smaller;
};

TEST(NetworkGroupsTest, LessMemoryIsTakenForAFewCycles) {
  const ChainGroups groups(128, 192, 100, 15);
  const NetworkTrial::Result fast = groups.run(groups.fastest);
  const NetworkTrial::Result small = groups.run(groups.smaller);
  ASSERT_LT(small.bytes, fast.bytes);
  const double ratio = meanRatio(small.cycles, fast.cycles);
  ASSERT_GT(ratio, 1.001);
  ASSERT_LT(ratio, 1.01);
  EXPECT_EQ(groups.part().division, groups.smaller);
}

TEST(NetworkGroupsTest, LessMemoryIsNotTakenForMany) {
  const ChainGroups groups(128, 160, 128, 15);
  const NetworkTrial::Result fast = groups.run(groups.fastest);
  const NetworkTrial::Result small = groups.run(groups.smaller);
  ASSERT_LT(small.bytes, fast.bytes);
  const double ratio = meanRatio(small.cycles, fast.cycles);
  ASSERT_GT(ratio, 1.01);
  ASSERT_LT(ratio, 1.02);
  EXPECT_EQ(groups.part().division, groups.fastest);
}

} // namespace
