//===- SizesTest.cpp - Sizes that do not overflow -------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Sizes.h"
#include "tpuc/Support/Tensor.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

using namespace tpuc;
using testing::HasSubstr;

namespace {

constexpr int64_t kMost = Count::kMost;

TEST(Count, StaysAtTheEnds) {
  EXPECT_EQ(Count(kMost) + 1, kMost);
  EXPECT_EQ(Count(-kMost) - 2, -kMost);
  EXPECT_EQ(Count(kMost) - (-1), kMost);
  EXPECT_EQ(Count(-5) + -kMost, -kMost);
  EXPECT_EQ(Count(int64_t(1) << 32) * (int64_t(1) << 31), kMost);
  EXPECT_EQ(Count(int64_t(1) << 32) * -(int64_t(1) << 32), -kMost);
  EXPECT_EQ(Count(-(int64_t(1) << 40)) * -(int64_t(1) << 40), kMost);
  EXPECT_EQ(Count(0) * kMost, 0);
  EXPECT_TRUE(Count(kMost).isSaturated());
  EXPECT_FALSE(Count(kMost - 1).isSaturated());
}

TEST(Count, IsExactBelow) {
  const Count three = 3;
  EXPECT_EQ(2 * three + 1u - uint64_t(4), 3);
  EXPECT_EQ(7 - three, 4);
  EXPECT_EQ(Count(int64_t(1) << 31) * ((int64_t(1) << 31) - 1),
            (int64_t(1) << 31) * ((int64_t(1) << 31) - 1));
}

TEST(Sizes, ElementsAndBytes) {
  EXPECT_EQ(elementsOf(std::vector<int64_t>{}), 1);
  EXPECT_EQ(elementsOf(std::vector<int64_t>{2, 3, 4}), 24);
  EXPECT_EQ(elementsOf(std::vector<int64_t>{kMost, kMost, 0}), 0);
  EXPECT_TRUE(elementsOf(std::vector<int64_t>{kMost, 2}).isSaturated());
  EXPECT_EQ(tensorBytes(std::vector<int64_t>{3}, DataType::I4), 2);
  EXPECT_EQ(tensorBytes(std::vector<int64_t>{3}, DataType::F64), 24);
  EXPECT_TRUE(tensorBytes(std::vector<int64_t>{int64_t(1) << 60}, DataType::F32).isSaturated());
}

TEST(Sizes, TensorsThatCouldBe) {
  auto check = [](std::vector<int64_t> dims, DataType type = DataType::F32) {
    Expected<void> checked = checkTensorSize(dims, type);
    return checked ? "" : checked.error().message();
  };
  EXPECT_EQ(check({}), "");
  EXPECT_EQ(check({1 << 19, 1 << 19}), "");
  EXPECT_EQ(check({1 << 19, 1 << 19}, DataType::F64),
            "takes 2 TiB of memory; expected at most 1 TiB");
  EXPECT_EQ(check({-1, kMostExtent}), "");
  EXPECT_EQ(check({-1, kMostExtent + 1}),
            "has an extent of 1099511627777; expected at most 1099511627776");
  EXPECT_EQ(check({kMost}), "has an extent of 2^63 or more; expected at most 1099511627776");
  EXPECT_EQ(check({1, 1, 1, 1, 1, 1, 1, 1, 1}), "has 9 dimensions; expected at most 8");
}

TEST(Sizes, Text) {
  EXPECT_EQ(sizeText(0), "0 B");
  EXPECT_EQ(sizeText(1023), "1023 B");
  EXPECT_EQ(sizeText(1536), "1.5 KiB");
  EXPECT_EQ(sizeText(int64_t(16) << 30), "16 GiB");
  EXPECT_EQ(sizeText(Count(kMost) * 2), "at least 8 EiB");
}

TEST(Sizes, MemoryOfTheProcess) {
  const int64_t all = hostMemory();
  EXPECT_GT(all, int64_t(1) << 28);
  EXPECT_LT(all, int64_t(1) << 50);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit lower = before;
  lower.rlim_cur = int64_t(1) << 45;
  if (before.rlim_cur == RLIM_INFINITY && setrlimit(RLIMIT_AS, &lower) == 0) {
    EXPECT_LE(hostMemory(), int64_t(1) << 45);
    setrlimit(RLIMIT_AS, &before);
  }
}

TEST(Sizes, TensorsBeyondTheHostAreRefused) {
  // More than the machine has, though it would be granted.
  Expected<Tensor> made = Tensor::create(DataType::U8, std::vector<int64_t>{int64_t(1) << 52}, "t");
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message(), HasSubstr("not enough memory"));
  EXPECT_THROW(Tensor(DataType::F32, Shape{hostMemory() / 2}), std::bad_alloc);
}

} // namespace
