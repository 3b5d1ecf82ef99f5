//===- TimingTest.cpp - Cycles against the hardware description -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/DNNWeaver/Machine/Timing.h"
#include "tpuc/Target/DNNWeaver/Machine/Simulator.h"
#include "tpuc/Target/DNNWeaver/Mapping/Reference.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace tpuc;
using namespace tpuc::dnnweaver;

namespace {

/// Each layer within 3 % of what the public hardware description took, for all orders of loops.
TEST(DNNWeaverTiming, LayersTakeWhatTheHardwareDescriptionTook) {
  const Parameters machine = *parametersNamed("public", "");
  for (const ReferenceOrder order :
       {ReferenceOrder::AsCompiled, ReferenceOrder::Collapsed, ReferenceOrder::Reordered}) {
    uint64_t sum = 0, measured = 0;
    for (const ReferenceLayer &layer : referenceLayers()) {
      const Expected<Block> block = referenceBlock(machine, layer, order);
      ASSERT_TRUE(block) << block.error().message();
      const Expected<void> checked = checkBlock(machine, *block, std::string(layer.name));
      ASSERT_TRUE(checked) << checked.error().message();
      const auto cycles = static_cast<double>(blockCycles(machine, *block).total);
      const auto expected = static_cast<double>(referenceCycles(layer, order));
      EXPECT_NEAR(cycles / expected, 1, 0.03) << layer.name << " order " << static_cast<int>(order);
      sum += static_cast<uint64_t>(cycles);
      measured += referenceCycles(layer, order);
    }
    EXPECT_NEAR(static_cast<double>(sum) / static_cast<double>(measured), 1, 0.005);
  }
}

/// Two tiles of one buffer are loaded one after the other, and the array works on one at a time.
TEST(DNNWeaverTiming, UnitsDoOneThingAtATime) {
  const Parameters machine = *parametersNamed("public", "");
  const Expected<Block> block =
      referenceBlock(machine, referenceLayers()[2], ReferenceOrder::Reordered);
  ASSERT_TRUE(block);
  std::vector<Interval> intervals;
  const BlockCycles cycles = blockCycles(machine, *block, &intervals);
  std::array<uint64_t, kUnitNames.size()> ends = {};
  std::array<uint64_t, kUnitNames.size()> counts = {};
  std::stable_sort(intervals.begin(), intervals.end(),
                   [](const Interval &a, const Interval &b) { return a.begin < b.begin; });
  for (const Interval &interval : intervals) {
    const auto unit = static_cast<size_t>(interval.unit);
    EXPECT_GE(interval.begin, ends[unit]) << kUnitNames[unit];
    EXPECT_LT(interval.begin, interval.end);
    EXPECT_LE(interval.end, cycles.total);
    ends[unit] = interval.end;
    ++counts[unit];
  }
  EXPECT_EQ(counts[static_cast<size_t>(Interval::Unit::Array)], cycles.tiles);
  EXPECT_EQ(counts[static_cast<size_t>(Interval::Unit::Alu)], cycles.tiles);
  // The weights fit into one tile.
  EXPECT_EQ(counts[static_cast<size_t>(Interval::Unit::LoadWeight)], 1u);
}

/// conv5 keeps the ALU busy for longer than the array takes for a tile of inputs.
TEST(DNNWeaverTiming, LateTilesNeedPriming) {
  const Parameters machine = *parametersNamed("public", "");
  for (const size_t layer : {0u, 5u, 6u}) {
    const Expected<Block> block =
        referenceBlock(machine, referenceLayers()[layer], ReferenceOrder::Reordered);
    ASSERT_TRUE(block);
    EXPECT_EQ(blockCycles(machine, *block).needsPriming, layer == 5) << layer;
  }
  for (const std::string_view name : {"public", "patent"}) {
    const Parameters any = *parametersNamed(name, "");
    const Block primer = primingBlock(any, 4096);
    const Expected<void> checked = checkBlock(any, primer, "primer");
    ASSERT_TRUE(checked) << checked.error().message();
    EXPECT_FALSE(blockCycles(any, primer).needsPriming);
    EXPECT_LT(blockCycles(any, primer).total, 3000u);
    std::vector<uint8_t> memory(4096 + primingBytes(any), 3);
    const Expected<void> done = runBlocks(any, {&primer, 1}, memory, "primer");
    ASSERT_TRUE(done) << done.error().message();
    // Nothing in front of its scratch is written.
    EXPECT_EQ(std::count(memory.begin(), memory.begin() + 4096, 3), 4096);
  }
}

TEST(DNNWeaverTiming, SlowMemoryTakesLonger) {
  Parameters machine = *parametersNamed("public", "");
  const Expected<Block> block =
      referenceBlock(machine, referenceLayers()[8], ReferenceOrder::Reordered);
  ASSERT_TRUE(block);
  const uint64_t fast = blockCycles(machine, *block).total;
  machine.readLatency = 200;
  EXPECT_GT(blockCycles(machine, *block).total, fast + 169 * 100);
}

} // namespace
