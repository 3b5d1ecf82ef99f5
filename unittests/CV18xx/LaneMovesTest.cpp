//===- LaneMovesTest.cpp - Copies that pass the lanes ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/CV18xx/Kernels/LaneMoves.h"
#include "tpuc/Target/CV18xx/Machine/Simulator.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <random>

using namespace tpuc;
using namespace tpuc::cv18xx;

namespace {

/// A permutation of a dense tensor, whose bytes are the last axis.
struct Permutation {
  std::vector<CopyAxis> axes;
  int64_t bytes = 1;

  Permutation(const std::vector<int64_t> &dims, const std::vector<size_t> &order,
              int64_t elementBytes)
      : bytes(elementBytes) {
    std::vector<int64_t> from(dims.size());
    for (size_t i = dims.size(); i-- > 0; bytes *= dims[i])
      from[i] = bytes;
    int64_t to = elementBytes;
    for (size_t i = dims.size(); i-- > 0; to *= dims[order[i]])
      axes.insert(axes.begin(), {dims[order[i]], from[order[i]], to});
    axes.push_back({elementBytes, 1, 1});
  }

  /// Calls `each` with the bytes that a byte is copied from and to.
  void forEach(const std::function<void(int64_t, int64_t)> &each, size_t axis = 0, int64_t from = 0,
               int64_t to = 0) const {
    if (axis == axes.size()) {
      each(from, to);
      return;
    }
    for (int64_t i = 0; i < axes[axis].extent; ++i)
      forEach(each, axis + 1, from + i * axes[axis].from, to + i * axes[axis].to);
  }
};

/// What the machine leaves of random bytes, the copy behind them.
void expectCopied(const Chip &chip, const Permutation &permutation, const Exchange &exchange,
                  const LanePlan &plan, std::mt19937 &random) {
  constexpr int64_t kGap = 37;
  std::vector<uint8_t> memory(static_cast<size_t>(2 * permutation.bytes + 2 * kGap));
  for (uint8_t &byte : memory)
    byte = static_cast<uint8_t>(random());
  std::vector<uint8_t> wanted = memory;
  const int64_t target = permutation.bytes + kGap;
  permutation.forEach([&](int64_t from, int64_t to) {
    wanted[static_cast<size_t>(target + to)] = memory[static_cast<size_t>(from)];
  });
  Builder builder(chip);
  const GlobalTensor from;
  const GlobalTensor to{.offset = static_cast<uint64_t>(target)};
  const auto emitted = emitThroughLanes(builder, exchange, plan, from, to);
  ASSERT_TRUE(emitted) << emitted.error().message();
  Memory machine(chip, memory);
  for (const Command &command : builder.finish().commands) {
    const auto ran = runCommand(machine, command, "here");
    ASSERT_TRUE(ran) << ran.error().message();
  }
  EXPECT_EQ(memory, wanted) << "plan " << plan.lanes << ", " << plan.rows << ", " << plan.columns;
}

TEST(LaneMoves, RandomPermutationsWithBestAndRandomPlans) {
  std::mt19937 random(1);
  const auto below = [&](int64_t most) { return 1 + static_cast<int64_t>(random() % most); };
  const std::array<double, kNumTimingSets> anyTime = {1e18, 1e18, 1e18};
  int numRun = 0;
  for (const char *name : {"cv183x", "cv182x", "cv181x", "cv180x"}) {
    const Chip &chip = *findChip(name);
    for (int repeat = 0; repeat < 30; ++repeat) {
      const size_t rank = 2 + random() % 3;
      std::vector<int64_t> dims(rank);
      std::vector<size_t> order(rank);
      for (size_t i = 0; i < rank; ++i) {
        dims[i] = below(rank == 2 ? 300 : rank == 3 ? 40 : 15);
        order[i] = i;
      }
      std::ranges::shuffle(order, random);
      const Permutation permutation(dims, order, below(2));
      const std::optional<Exchange> exchange = exchangeOf(permutation.axes);
      if (!exchange)
        continue;
      const std::optional<LanePlan> best = bestPlan(chip, *exchange, anyTime);
      ASSERT_TRUE(best);
      EXPECT_TRUE(isPlanOf(*exchange, *best));
      expectCopied(chip, permutation, *exchange, *best, random);
      const LanePlan other = {static_cast<int64_t>(random() % exchange->axes.size()), below(60),
                              below(60)};
      if (isPlanOf(*exchange, other))
        expectCopied(chip, permutation, *exchange, other, random);
      ++numRun;
    }
  }
  EXPECT_GE(numRun, 40);
}

TEST(LaneMoves, OnlyWhatExchangesRuns) {
  // The same order, and a part of rows whose elements have gaps.
  EXPECT_FALSE(exchangeOf(std::vector<CopyAxis>{{4, 10, 10}, {10, 1, 1}}));
  EXPECT_FALSE(exchangeOf(std::vector<CopyAxis>{{4, 20, 10}, {10, 2, 1}, {1, 1, 1}}));
  // Repeated rows of a tensor are not exchanged.
  EXPECT_FALSE(exchangeOf(std::vector<CopyAxis>{{10, 1, 4}, {4, 0, 1}, {1, 1, 1}}));
  // Runs that fit no lane.
  EXPECT_FALSE(
      exchangeOf(std::vector<CopyAxis>{{4, 60000, 20000}, {3, 20000, 80000}, {20000, 1, 1}}));
  const auto exchange =
      exchangeOf(std::vector<CopyAxis>{{1, 7, 9}, {10, 2, 8}, {4, 20, 2}, {2, 1, 1}});
  ASSERT_TRUE(exchange);
  EXPECT_EQ(exchange->run, 2);
  EXPECT_EQ(exchange->axes.size(), 2u);
  EXPECT_EQ(exchange->source, 0u);
  EXPECT_EQ(exchange->target, 1u);
  EXPECT_FALSE(isPlanOf(*exchange, {2, 1, 1}));
  EXPECT_FALSE(isPlanOf(*exchange, {0, 0, 1}));
  EXPECT_FALSE(isPlanOf(*exchange, {0, 64, 65}));
  EXPECT_TRUE(isPlanOf(*exchange, {0, 64, 64}));
}

/// The heads of a detector: two dense transfers take 98 % of the time.
TEST(LaneMoves, HeadsMoveAsFastAsMemory) {
  const Chip &chip = *findChip("cv181x");
  const Permutation heads({3, 85, 1600}, {0, 2, 1}, 1);
  const std::optional<Exchange> exchange = exchangeOf(heads.axes);
  ASSERT_TRUE(exchange);
  const std::optional<LanePlan> plan =
      bestPlan(chip, *exchange, std::array<double, kNumTimingSets>{1e18, 1e18, 1e18});
  ASSERT_TRUE(plan);
  Builder builder(chip);
  ASSERT_TRUE(emitThroughLanes(builder, *exchange, *plan, {}, {.offset = 1 << 20}));
  const CommandStream stream = builder.finish();
  const TimingParameters silicon = timingSets(chip).front();
  const double dense = 2 * static_cast<double>(heads.bytes) * 1000 / silicon.megabytesPerSecond;
  EXPECT_LE(runNanoseconds(chip, stream.commands, silicon), 1.05 * dense);
  // Nothing is planned where the transfer itself takes less.
  EXPECT_FALSE(bestPlan(chip, *exchange, std::array<double, kNumTimingSets>{1e18, 1, 1e18}));
}

} // namespace
