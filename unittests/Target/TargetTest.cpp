//===- TargetTest.cpp -----------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Target/FindTarget.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

using namespace tpuc;

TEST(Layout, WeightIndexFollowsTheFormulas) {
  // 70 channels in blocks of 64: channel 65 stands in the second block.
  const TargetInfo &blocks = target("bm1684x");
  EXPECT_EQ(blocks.weightIndex(DataType::I8, 70, 3, 3, 65, 1, 2), 64u * 9 + 5 * 64 + 1);
  EXPECT_EQ(blocks.weightsPerChannel(DataType::I8, 70, 3, 3), 128u * 9);
  EXPECT_EQ(blocks.weightIndex(DataType::F32, 70, 3, 3, 65, 1, 2), 65u * 9 + 5);
  // 5 channels padded to 8 in int8, to 6 in float32.
  const TargetInfo &kernelFirst = target("bm1684");
  EXPECT_EQ(kernelFirst.weightIndex(DataType::I8, 5, 3, 3, 4, 1, 2), 5u * 8 + 4);
  EXPECT_EQ(kernelFirst.weightIndex(DataType::F32, 5, 3, 3, 4, 1, 2), 5u * 6 + 4);
  EXPECT_EQ(kernelFirst.weightsPerChannel(DataType::F32, 5, 3, 3), 6u * 9);
  EXPECT_EQ(kernelFirst.weightsPerChannel(DataType::F16, 5, 3, 3), std::nullopt);
}

TEST(Layout, WeightIndexIsOneToOne) {
  for (const TargetInfo *t : knownTargets()) {
    for (DataType type : {DataType::I8, DataType::F16, DataType::F32}) {
      const auto size = t->weightsPerChannel(type, 67, 2, 3);
      if (!size)
        continue;
      std::set<uint64_t> seen;
      for (uint32_t ic = 0; ic < 67; ++ic)
        for (uint32_t y = 0; y < 2; ++y)
          for (uint32_t x = 0; x < 3; ++x)
            seen.insert(t->weightIndex(type, 67, 2, 3, ic, y, x));
      EXPECT_EQ(seen.size(), 67u * 6) << t->name;
      EXPECT_LT(*seen.rbegin(), *size) << t->name;
    }
  }
}

TEST(EnumSet, Basics) {
  DataTypeSet set = {DataType::F32, DataType::Bool};
  EXPECT_TRUE(set.contains(DataType::Bool));
  EXPECT_FALSE(set.contains(DataType::F64));
  EXPECT_EQ(set.size(), 2);
  set.erase(DataType::F32);
  set.insert(DataType::I4);
  EXPECT_EQ(set, (DataTypeSet{DataType::I4, DataType::Bool}));
  EXPECT_TRUE(DataTypeSet().empty());
}
