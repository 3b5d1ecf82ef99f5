//===- FirstFitTest.cpp ---------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Allocator/FirstFit.h"
#include "unittests/Allocator/Problems.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

using namespace tpuc;
using namespace tpuc::alloc;

namespace {

/// The lowest offset beside those that are placed (not negative), by trying one after the other.
int64_t lowestOffset(const AllocationProblem &problem, const std::vector<int64_t> &offsets,
                     size_t index) {
  const Buffer &buffer = problem.buffers[index];
  const auto isFree = [&](int64_t offset) {
    for (size_t other = 0; other < offsets.size(); ++other) {
      const Buffer &placed = problem.buffers[other];
      if (offsets[other] >= 0 && buffer.lower < placed.upper && placed.lower < buffer.upper &&
          offset < offsets[other] + placed.size && offsets[other] < offset + buffer.size)
        return false;
    }
    return true;
  };
  int64_t offset = 0;
  while (offset % buffer.alignment != 0 || !isFree(offset))
    ++offset;
  return offset;
}

class FirstFitTest : public testing::Test {
protected:
  FirstFitTest() : problem(drawProblem(random, 40, 30)) {
    for (Buffer &buffer : problem.buffers)
      buffer.alignment = draw(random, 1, 4);
    order.resize(problem.buffers.size());
    std::iota(order.begin(), order.end(), size_t(0));
  }

  std::mt19937_64 random{7};
  AllocationProblem problem;
  std::vector<size_t> order;
};

TEST_F(FirstFitTest, EachItemLiesAtTheLowestFreeOffset) {
  Expected<ItemSet> set = ItemSet::build(problem);
  ASSERT_TRUE(set);
  FirstFit placer(*set);
  for (int round = 0; round < 20; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    ASSERT_TRUE(placer.place(order));
    std::vector<int64_t> wanted(order.size(), -1);
    for (size_t item : order)
      wanted[item] = lowestOffset(problem, wanted, item);
    EXPECT_EQ(placer.offsets(), wanted);
  }
}

TEST_F(FirstFitTest, StopsWhereTheMostIsExceeded) {
  Expected<ItemSet> set = ItemSet::build(problem);
  ASSERT_TRUE(set);
  FirstFit placer(*set);
  ASSERT_TRUE(placer.place(order));
  const int64_t height = placer.height();
  const std::vector<int64_t> offsets = placer.offsets();
  EXPECT_FALSE(placer.place(order, height - 1));
  EXPECT_TRUE(placer.place(order, height));
  EXPECT_EQ(placer.offsets(), offsets);
}

TEST_F(FirstFitTest, WorkDoesNotDependOnWhatIsRememberedOrCutShort) {
  Expected<ItemSet> set = ItemSet::build(problem);
  ASSERT_TRUE(set);
  FirstFit placer(*set);
  ASSERT_TRUE(placer.place(order));
  const uint64_t first = placer.work();
  EXPECT_GT(first, 32 * order.size());
  ASSERT_TRUE(placer.place(order));
  EXPECT_EQ(placer.work(), 2 * first);
  EXPECT_FALSE(placer.place(order, 0));
  EXPECT_EQ(placer.work(), 3 * first);
}

TEST_F(FirstFitTest, OnlyWhatTouchesHoldsThePeakUp) {
  // Two stacks that never live together; the lower one does not hold up the peak.
  problem.buffers = {makeBuffer(0, 2, 4), makeBuffer(0, 2, 3), makeBuffer(2, 4, 5)};
  Expected<ItemSet> set = ItemSet::build(problem);
  ASSERT_TRUE(set);
  FirstFit placer(*set);
  ASSERT_TRUE(placer.place({0, 1, 2}));
  EXPECT_EQ(placer.itemsUnderThePeak(), (std::vector<size_t>{0, 1}));
}

} // namespace
