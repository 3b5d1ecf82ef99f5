//===- KnownPlacesTest.cpp - Tests of places that were found before ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Place/KnownPlaces.h"

#include <gtest/gtest.h>
#include <random>

using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// Buffers that hardly fit the largest load, so that orders do not place them.
alloc::AllocationProblem problemOf(unsigned seed) {
  std::mt19937 random(seed);
  alloc::AllocationProblem problem;
  for (int number = 0; number < 24; ++number) {
    alloc::Buffer buffer;
    buffer.lower = static_cast<int64_t>(random() % 16);
    buffer.upper = buffer.lower + 1 + static_cast<int64_t>(random() % 6);
    buffer.size = 1 + static_cast<int64_t>(random() % 40);
    problem.buffers.push_back(std::move(buffer));
  }
  return problem;
}

int64_t maxLoad(const alloc::AllocationProblem &problem) {
  return alloc::allocate(problem, {.workLimit = 0, .heuristics = {}})->maxLoad;
}

TEST(KnownPlacesTest, GivesWhatTheAllocatorGivesWithEachLimit) {
  constexpr uint64_t kLimits[] = {1'000, 20, 300'000, 1, 5'000, 0, 1'000};
  size_t numShared = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    KnownCosts known;
    const alloc::AllocationProblem problem = problemOf(seed);
    std::set<const alloc::Allocation *> made;
    for (const int64_t more : {0, 1})
      for (const uint64_t limit : kLimits) {
        const alloc::AllocatorOptions options = {
            .capacity = maxLoad(problem) + more, .workLimit = limit, .heuristics = {}};
        const auto found = allocateOnce(problem, options, known);
        ASSERT_TRUE(found);
        const auto expected = alloc::allocate(problem, options);
        EXPECT_EQ((*found)->offsets, expected->offsets) << seed << " " << limit;
        EXPECT_EQ((*found)->height, expected->height);
        EXPECT_EQ(allocateOnce(problem, options, known)->get(), found->get());
        made.insert(found->get());
      }
    numShared += 2 * std::size(kLimits) - made.size();
  }
  // Two of the limits are equal, and many more make no difference.
  EXPECT_GT(numShared, 40U * 4);
}

TEST(KnownPlacesTest, OtherBuffersAreOtherProblems) {
  KnownCosts known;
  alloc::AllocationProblem problem = problemOf(1);
  const alloc::AllocatorOptions options = {.capacity = 4 * maxLoad(problem), .heuristics = {}};
  const auto first = allocateOnce(problem, options, known);
  const auto isNew = [&] { return *allocateOnce(problem, options, known) != *first; };
  EXPECT_FALSE(isNew());
  problem.subBuffers.push_back({.buffer = 1, .container = 0, .offset = 0});
  problem.buffers[0].size = problem.buffers[1].size;
  EXPECT_TRUE(isNew());
  problem = problemOf(1);
  problem.buffers[3].alignment = 64;
  EXPECT_TRUE(isNew());
  problem = problemOf(1);
  problem.buffers[3].upper += 1;
  EXPECT_TRUE(isNew());
}

} // namespace
