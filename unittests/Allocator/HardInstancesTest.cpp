//===- HardInstancesTest.cpp - The minimalloc instances -------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The public minimalloc instances within their capacity. What limits the search here is work, so
// these tests say the same on every machine.
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Allocator/AllocationCsv.h"
#include "tpuc/Support/Allocator/AllocationValidator.h"
#include "tpuc/Support/Allocator/Allocator.h"

#include <gtest/gtest.h>

using namespace tpuc;
using namespace tpuc::alloc;

namespace {

constexpr int64_t kCapacity = 1048576;

AllocationProblem read(const std::string &name) {
  auto problem = readProblem(TPUC_ALLOCATOR_INSTANCES "/" + name + ".1048576.csv");
  if (!problem) {
    ADD_FAILURE() << problem.error().message();
    return {};
  }
  return *problem;
}

struct HardInstances : testing::TestWithParam<std::string> {};

} // namespace

TEST_P(HardInstances, MeetTheirCapacity) {
  AllocationProblem problem = read(GetParam());
  ASSERT_GT(problem.buffers.size(), 100U);
  AllocatorOptions options;
  options.capacity = kCapacity;
  auto result = allocate(problem, options);
  ASSERT_TRUE(result) << result.error().message();
  auto valid = validateAllocation(problem, result->offsets, kCapacity);
  ASSERT_TRUE(valid) << valid.error().message();
  EXPECT_EQ(*valid, result->height);
  EXPECT_GE(result->height, result->maxLoad);
}

INSTANTIATE_TEST_SUITE_P(MiniMalloc, HardInstances,
                         testing::Values("A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K"),
                         [](const auto &info) { return info.param; });

TEST(HardInstances, MinimizeC) {
  AllocationProblem problem = read("C");
  auto result = allocate(problem);
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(result->height, 1039360);
  EXPECT_EQ(result->maxLoad, 1039360);
  EXPECT_TRUE(result->isOptimal());
}

TEST(HardInstances, AreSolvedTheSameWayEveryTime) {
  AllocationProblem problem = read("D");
  AllocatorOptions options;
  options.workLimit = 30'000'000;
  auto first = allocate(problem, options);
  auto second = allocate(problem, options);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->offsets, second->offsets);
  EXPECT_EQ(first->work, second->work);
  EXPECT_LT(first->height, kCapacity);
}
