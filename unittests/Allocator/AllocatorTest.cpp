//===- AllocatorTest.cpp --------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Allocator/Allocator.h"
#include "Problems.h"
#include "tpuc/Support/Allocator/AllocationValidator.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

using namespace tpuc;
using namespace tpuc::alloc;
using testing::HasSubstr;

namespace {

/// The smallest offset at which a buffer can lie beside those that are placed (offset >= 0), by
/// trying one after the other.
int64_t findOffset(const AllocationProblem &problem, const std::vector<int64_t> &offsets,
                   size_t index) {
  const Buffer &buffer = problem.buffers[index];
  auto isFree = [&](int64_t offset) {
    int64_t end = offset + buffer.size;
    if (offset % buffer.alignment != 0 ||
        (problem.bankSize > 0 && offset / problem.bankSize != (end - 1) / problem.bankSize))
      return false;
    for (size_t other = 0; other < offsets.size(); ++other) {
      const Buffer &placed = problem.buffers[other];
      if (offsets[other] >= 0 && buffer.lower < placed.upper && placed.lower < buffer.upper &&
          offset < offsets[other] + placed.size && offsets[other] < end)
        return false;
    }
    return true;
  };
  int64_t offset = buffer.fixedOffset.value_or(0);
  while (!isFree(offset))
    ++offset;
  return offset;
}

/// The smallest height there is: some order of placing at the lowest free offset gives it (that of
/// the offsets of a best allocation in which no buffer can sink). For problems without aliases.
int64_t findBestHeight(const AllocationProblem &problem) {
  std::vector<size_t> order(problem.buffers.size());
  std::iota(order.begin(), order.end(), size_t(0));
  int64_t best = INT64_MAX;
  do {
    std::vector<int64_t> offsets(order.size(), -1);
    for (size_t i = 0; i < order.size(); ++i)
      if (problem.buffers[i].fixedOffset)
        offsets[i] = *problem.buffers[i].fixedOffset;
    int64_t height = 0;
    for (size_t i : order) {
      if (offsets[i] < 0)
        offsets[i] = findOffset(problem, offsets, i);
      height = std::max(height, offsets[i] + problem.buffers[i].size);
    }
    best = std::min(best, height);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

Allocation allocateOrFail(const AllocationProblem &problem, const AllocatorOptions &options = {}) {
  auto result = allocate(problem, options);
  if (!result) {
    ADD_FAILURE() << result.error().message();
    return {};
  }
  auto valid = validateAllocation(problem, result->offsets);
  EXPECT_TRUE(valid) << valid.error().message();
  EXPECT_EQ(valid.value_or(-1), result->height);
  EXPECT_LE(result->maxLoad, result->lowerBound);
  EXPECT_LE(result->lowerBound, result->height);
  return *result;
}

/// The problem's buffers as a message.
std::string show(const AllocationProblem &problem) {
  std::string text;
  for (const Buffer &b : problem.buffers)
    text += fmt::format("[{}, {}) size {} alignment {} fixed {}\n", b.lower, b.upper, b.size,
                        b.alignment, b.fixedOffset.value_or(-1));
  return text;
}

/// Problems of 1 to `most` buffers, each given to `change`, are solved and proven as the oracle
/// says. The rest of the options is for the search.
void expectOptimal(uint64_t seed, int rounds, int64_t most,
                   const std::function<void(AllocationProblem &, std::mt19937_64 &)> &change,
                   const AllocatorOptions &options = {}) {
  std::mt19937_64 random(seed);
  for (int round = 0; round < rounds; ++round) {
    AllocationProblem problem = drawProblem(random, draw(random, 1, most), draw(random, 1, 8));
    change(problem, random);
    Allocation result = allocateOrFail(problem, options);
    ASSERT_EQ(result.height, findBestHeight(problem)) << show(problem);
    ASSERT_TRUE(result.isOptimal()) << show(problem);
  }
}

/// Every heuristic off, but the search itself.
AllocatorHeuristics onlySearch() {
  AllocatorHeuristics off;
  off.placeBySize = off.placeByArea = off.placeByLifetime = off.placeByStart = false;
  off.search = {false, false, false, false};
  off.varyOrders = off.improveOrder = false;
  return off;
}

} // namespace

TEST(Allocator, NothingTakesNothing) {
  Allocation result = allocateOrFail({});
  EXPECT_EQ(result.height, 0);
  EXPECT_TRUE(result.isOptimal());
}

TEST(Allocator, EmptyBuffersTakeNothing) {
  AllocationProblem problem;
  problem.buffers = {makeBuffer(0, 2, 0, 16), makeBuffer(0, 2, 5), makeBuffer(1, 2, 0)};
  EXPECT_EQ(allocateOrFail(problem).height, 5);
}

TEST(Allocator, IsOptimalForSmallProblems) {
  expectOptimal(1, 150, 7, [](AllocationProblem &, std::mt19937_64 &) {});
}

TEST(Allocator, IsOptimalWithAlignments) {
  expectOptimal(2, 150, 6, [](AllocationProblem &problem, std::mt19937_64 &random) {
    for (Buffer &buffer : problem.buffers)
      buffer.alignment = draw(random, 1, 6);
  });
}

TEST(Allocator, IsOptimalWithBanks) {
  expectOptimal(3, 150, 6, [](AllocationProblem &problem, std::mt19937_64 &random) {
    problem.bankSize = draw(random, 9, 14);
    for (Buffer &buffer : problem.buffers)
      buffer.alignment = draw(random, 1, 3);
  });
}

TEST(Allocator, IsOptimalWithFixedOffsets) {
  expectOptimal(4, 150, 6, [](AllocationProblem &problem, std::mt19937_64 &random) {
    problem.buffers[0].fixedOffset = draw(random, 0, 12);
    if (problem.buffers.size() > 1)
      problem.buffers[1].fixedOffset = 21 + draw(random, 0, 5);
  });
}

TEST(Allocator, IsOptimalWithTheBareSearch) {
  AllocatorOptions options;
  options.heuristics = onlySearch();
  expectOptimal(5, 100, 6, [](AllocationProblem &, std::mt19937_64 &) {}, options);
}

TEST(Allocator, IsOptimalWithEachHeuristicOff) {
  using Switch = std::function<bool &(AllocatorHeuristics &)>;
  std::vector<Switch> switches = {
      [](auto &h) -> bool & { return h.placeBySize; },
      [](auto &h) -> bool & { return h.placeByArea; },
      [](auto &h) -> bool & { return h.placeByLifetime; },
      [](auto &h) -> bool & { return h.placeByStart; },
      [](auto &h) -> bool & { return h.search.inferFloors; },
      [](auto &h) -> bool & { return h.search.decompose; },
      [](auto &h) -> bool & { return h.search.rememberFailures; },
      [](auto &h) -> bool & { return h.search.skipTwins; },
      [](auto &h) -> bool & { return h.varyOrders; },
      [](auto &h) -> bool & { return h.improveOrder; },
  };
  for (size_t i = 0; i < switches.size(); ++i) {
    SCOPED_TRACE(i);
    AllocatorOptions without, with;
    switches[i](without.heuristics) = false;
    with.heuristics = onlySearch();
    switches[i](with.heuristics) = true;
    auto mixUp = [](AllocationProblem &problem, std::mt19937_64 &random) {
      for (Buffer &buffer : problem.buffers)
        buffer.alignment = draw(random, 1, 2);
      problem.buffers.back() = problem.buffers.front();
    };
    expectOptimal(10 + i, 30, 6, mixUp, without);
    expectOptimal(30 + i, 30, 6, mixUp, with);
  }
}

TEST(Allocator, WithoutTheSearchStillIsValid) {
  std::mt19937_64 random(6);
  AllocatorOptions options;
  options.heuristics.skylineSearch = false;
  options.workLimit = 20000;
  AllocatorOptions fast;
  fast.workLimit = 0;
  for (int round = 0; round < 30; ++round) {
    AllocationProblem problem = drawProblem(random, 30, 20);
    EXPECT_LE(allocateOrFail(problem, options).height, allocateOrFail(problem, fast).height);
  }
}

TEST(Allocator, BetterOrdersAreFoundWithoutTheSearch) {
  std::mt19937_64 random(7);
  AllocatorOptions options, fast;
  options.heuristics.skylineSearch = false;
  options.workLimit = 2'000'000;
  fast.workLimit = 0;
  int64_t with = 0, without = 0;
  for (int round = 0; round < 10; ++round) {
    AllocationProblem problem = drawProblem(random, 40, 20);
    with += allocateOrFail(problem, options).height;
    without += allocateOrFail(problem, fast).height;
  }
  EXPECT_LT(with, without);
}

TEST(Allocator, StopsAtTheCapacity) {
  AllocationProblem problem;
  problem.buffers = {makeBuffer(0, 4, 5), makeBuffer(2, 6, 5), makeBuffer(5, 9, 7)};
  AllocatorOptions options;
  options.capacity = 100;
  Allocation result = allocateOrFail(problem, options);
  EXPECT_TRUE(result.fits(100));
  EXPECT_EQ(result.work, 0U);
}

TEST(Allocator, SaysWhenACapacityCannotBeMet) {
  std::mt19937_64 random(8);
  for (int round = 0; round < 30; ++round) {
    AllocationProblem problem = drawProblem(random, 6, 6);
    AllocatorOptions options;
    options.capacity = std::max<int64_t>(1, findBestHeight(problem) - 1);
    Allocation result = allocateOrFail(problem, options);
    EXPECT_EQ(result.fits(options.capacity), result.lowerBound <= options.capacity);
  }
}

TEST(Allocator, ProvesAHeightAboveTheLargestLoad) {
  // Rare without alignments: this is the only one of 20,000 drawn.
  AllocationProblem problem;
  problem.buffers = {makeBuffer(3, 6, 1), makeBuffer(1, 3, 3), makeBuffer(5, 9, 3),
                     makeBuffer(0, 2, 3), makeBuffer(2, 6, 1), makeBuffer(2, 5, 2),
                     makeBuffer(6, 9, 3)};
  ASSERT_EQ(findBestHeight(problem), 7);
  Allocation result = allocateOrFail(problem);
  EXPECT_EQ(result.height, 7);
  EXPECT_EQ(result.maxLoad, 6);
  EXPECT_TRUE(result.isOptimal());
  AllocatorOptions options;
  options.capacity = 6;
  result = allocateOrFail(problem, options);
  EXPECT_FALSE(result.fits(6));
  EXPECT_EQ(result.lowerBound, 7);
  // Out of work before a proof, nothing is claimed.
  options.workLimit = 1;
  EXPECT_EQ(allocateOrFail(problem, options).lowerBound, 6);
}

TEST(Allocator, ToleratesAGap) {
  std::mt19937_64 random(9);
  AllocationProblem problem = drawProblem(random, 60, 30);
  AllocatorOptions options;
  options.tolerance = 1000;
  EXPECT_EQ(allocateOrFail(problem, options).work, 0U);
  options.tolerance = -1;
  EXPECT_FALSE(allocate(problem, options));
}

TEST(Allocator, RefusesFixedBuffersInEachOthersWay) {
  AllocationProblem problem;
  problem.buffers = {makeBuffer(0, 4, 5), makeBuffer(2, 6, 5)};
  problem.buffers[0].fixedOffset = 3;
  problem.buffers[1].fixedOffset = 7;
  auto result = allocate(problem);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message(), HasSubstr("fits no offset beside the buffers"));
  problem.buffers[1].fixedOffset = 8;
  EXPECT_EQ(allocateOrFail(problem).height, 13);
}

//===----------------------------------------------------------------------===//
// Aliases
//===----------------------------------------------------------------------===//

TEST(AllocatorAliases, AChainInPlaceTakesOneBuffer) {
  AllocationProblem problem;
  problem.buffers = {makeBuffer(0, 2, 64), makeBuffer(1, 4, 64), makeBuffer(3, 5, 64)};
  EXPECT_EQ(allocateOrFail(problem).height, 128);
  problem.subBuffers = {{1, 0, 0}, {2, 1, 0}};
  Allocation result = allocateOrFail(problem);
  EXPECT_EQ(result.height, 64);
  EXPECT_TRUE(result.isOptimal());
}

TEST(AllocatorAliases, AConcatenationLetsOthersUseWhatIsNotYetWritten) {
  // Two halves of a result: the second half is free until its operand comes to life.
  AllocationProblem problem;
  problem.buffers = {makeBuffer(4, 6, 16), makeBuffer(0, 5, 8), makeBuffer(2, 5, 8),
                     makeBuffer(0, 2, 8)};
  problem.subBuffers = {{1, 0, 0}, {2, 0, 8}};
  Allocation result = allocateOrFail(problem);
  EXPECT_EQ(result.offsets[2], result.offsets[1] + 8);
  EXPECT_EQ(result.height, 16);
  EXPECT_TRUE(result.isOptimal());
}

TEST(AllocatorAliases, InnerAlignmentsMoveTheContainer) {
  AllocationProblem problem;
  problem.buffers = {makeBuffer(0, 2, 16, 2), makeBuffer(1, 4, 4, 5), makeBuffer(0, 2, 4, 3)};
  problem.subBuffers = {{1, 0, 3}, {2, 0, 8}};
  Allocation result = allocateOrFail(problem);
  // offset = 0 mod 2, = 2 mod 5, = 1 mod 3
  EXPECT_EQ(result.offsets[0], 22);
}

TEST(AllocatorAliases, ContradictionsAreErrors) {
  AllocationProblem problem;
  problem.buffers = {makeBuffer(0, 2, 16, 4), makeBuffer(0, 2, 4, 4)};
  problem.subBuffers = {{1, 0, 2}};
  auto result = allocate(problem);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message(), HasSubstr("buffer #1: at 2 inside buffer #0 cannot be"));
  problem.buffers[1].alignment = 1;
  problem.buffers[0].fixedOffset = 8;
  problem.buffers[1].fixedOffset = 9;
  result = allocate(problem);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message(), HasSubstr("its container can follow"));
  problem.buffers[1].fixedOffset = 10;
  EXPECT_EQ(allocateOrFail(problem).height, 24);
}

TEST(AllocatorAliases, GroupsMayOverlap) {
  AllocationProblem problem;
  problem.buffers = {makeBuffer(0, 3, 10), makeBuffer(0, 3, 6), makeBuffer(1, 2, 5)};
  EXPECT_EQ(allocateOrFail(problem).height, 21);
  problem.mayOverlap = {{0, 1}};
  Allocation result = allocateOrFail(problem);
  EXPECT_EQ(result.height, 15);
  EXPECT_TRUE(result.isOptimal());
  problem.mayOverlap = {{0, 1, 2}};
  EXPECT_EQ(allocateOrFail(problem).height, 10);
}

TEST(AllocatorAliases, GroupsAreNotTransitive) {
  AllocationProblem problem;
  problem.buffers = {makeBuffer(0, 3, 4), makeBuffer(0, 3, 9), makeBuffer(0, 3, 4)};
  problem.mayOverlap = {{0, 1}, {1, 2}};
  Allocation result = allocateOrFail(problem);
  EXPECT_EQ(result.height, 9);
  EXPECT_NE(result.offsets[0], result.offsets[2]);
}

TEST(AllocatorAliases, RandomProblemsAreValid) {
  std::mt19937_64 random(11);
  AllocatorOptions options;
  options.workLimit = 100'000;
  for (int round = 0; round < 100; ++round) {
    AllocationProblem problem = drawProblem(random, 25, 12);
    for (size_t i = 1; i < problem.buffers.size(); i += 2) {
      auto container = static_cast<size_t>(draw(random, 0, static_cast<int64_t>(i) - 1));
      int64_t room = problem.buffers[container].size - problem.buffers[i].size;
      if (room >= 0)
        problem.subBuffers.push_back({i, container, draw(random, 0, room)});
    }
    for (int group = 0; group < 4; ++group)
      problem.mayOverlap.push_back(
          {static_cast<size_t>(draw(random, 0, 24)), static_cast<size_t>(draw(random, 0, 24))});
    problem.bankSize = round % 2 == 0 ? 0 : 32;
    options.capacity = round % 3 == 0 ? 40 : 0;
    Allocation result = allocateOrFail(problem, options);
    AllocatorOptions fast;
    fast.workLimit = 0;
    EXPECT_LE(result.height, allocateOrFail(problem, fast).height);
  }
}

//===----------------------------------------------------------------------===//
// Large problems
//===----------------------------------------------------------------------===//

TEST(Allocator, TakesThousandsOfBuffersWithoutASearch) {
  std::mt19937_64 random(12);
  AllocationProblem problem;
  for (int64_t i = 0; i < 5000; ++i) {
    int64_t life = draw(random, 0, 15) == 0 ? draw(random, 2, 200) : draw(random, 2, 5);
    problem.buffers.push_back(makeBuffer(i, i + life, 64 * draw(random, 1, 4096), 64));
  }
  AllocatorOptions options;
  options.workLimit = 0;
  Allocation result = allocateOrFail(problem, options);
  EXPECT_EQ(result.work, 0U);
  EXPECT_LE(static_cast<double>(result.height), 1.1 * static_cast<double>(result.maxLoad));
}
