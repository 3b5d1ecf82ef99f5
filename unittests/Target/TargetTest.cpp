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

namespace {

std::string precisionError(std::string_view chip, Precision precision) {
  const auto result = checkPrecision(target(chip), precision);
  return result ? "" : result.error().message();
}

std::string quantizationError(const TargetInfo &chip, Quantization quantization) {
  const auto result = checkQuantization(chip, quantization);
  return result ? "" : result.error().message();
}

} // namespace

TEST(Precision, NamesRoundTrip) {
  for (Precision precision : kAllPrecisions)
    EXPECT_EQ(parsePrecision(precisionName(precision)), precision);
  EXPECT_EQ(parsePrecision("bf16"), Precision::BF16);
  EXPECT_EQ(parsePrecision("Int8"), Precision::INT8);
  EXPECT_EQ(parsePrecision("INT"), std::nullopt);
  EXPECT_EQ(parsePrecision(""), std::nullopt);
  EXPECT_EQ(storageType(Precision::BF16), DataType::BF16);
  EXPECT_EQ(storageType(Precision::INT8), DataType::I8);
}

// The table of chips and choices of --quantize.
TEST(Precision, RefusalsNameWhatExists) {
  EXPECT_EQ(precisionError("bm1684x", Precision::F16), "");
  EXPECT_EQ(precisionError("bm1684", Precision::F32), "");
  EXPECT_EQ(precisionError("bm1684", Precision::F16),
            "--chip bm1684: F16 does not exist; expected F32 or INT8");
  EXPECT_EQ(precisionError("bm1684", Precision::BF16),
            "--chip bm1684: BF16 does not exist; expected F32 or INT8");
  for (std::string name : {"cv183x", "cv182x", "cv181x", "cv180x"}) {
    EXPECT_EQ(precisionError(name, Precision::F16),
              "--chip " + name + ": F16 does not exist; expected BF16 or INT8");
    EXPECT_EQ(precisionError(name, Precision::F32),
              "--chip " + name + ": F32 does not exist; expected BF16 or INT8");
    EXPECT_EQ(precisionError(name, Precision::BF16), "");
    EXPECT_EQ(precisionError(name, Precision::INT8), "");
  }
  for (Precision precision : kAllPrecisions)
    EXPECT_EQ(precisionError("null", precision), "");
}

TEST(Precision, RefusalListsThree) {
  TargetInfo chip = target("null");
  chip.precisions.erase(Precision::BF16);
  EXPECT_EQ(checkPrecision(chip, Precision::BF16).error().message(),
            "--chip null: BF16 does not exist; expected F32, F16 or INT8");
}

TEST(Quantization, RefusalsNameWhatExists) {
  EXPECT_EQ(quantizationError(target("bm1684x"), Quantization::Asymmetric), "");
  EXPECT_EQ(quantizationError(target("cv180x"), Quantization::Symmetric), "");
  EXPECT_EQ(quantizationError(target("cv180x"), Quantization::Asymmetric),
            "--chip cv180x: asymmetric INT8 does not exist; expected symmetric INT8");
  TargetInfo chip = target("null");
  chip.precisions = {Precision::F32};
  EXPECT_EQ(quantizationError(chip, Quantization::Symmetric),
            "--chip null: INT8 does not exist; expected F32");
}

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
