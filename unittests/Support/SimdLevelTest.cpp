//===- SimdLevelTest.cpp - What TPUC_CPU selects --------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/SimdLevel.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <string>

using namespace tpuc;

namespace {

TEST(SimdLevelTest, TheLowerOfBothLevels) {
  for (SimdLevel processor : kSimdLevels) {
    EXPECT_EQ(limitedSimdLevel(processor, nullptr).value(), processor);
    EXPECT_EQ(limitedSimdLevel(processor, "").value(), processor);
    for (SimdLevel limit : kSimdLevels)
      EXPECT_EQ(limitedSimdLevel(processor, std::string(simdLevelName(limit)).c_str()).value(),
                std::min(processor, limit));
  }
}

TEST(SimdLevelTest, OtherNamesAreErrorsThatListTheLevels) {
  for (const char *name : {"AVX2", "avx", "sse9", " avx2"}) {
    Expected<SimdLevel> level = limitedSimdLevel(SimdLevel::Avx512, name);
    ASSERT_FALSE(level) << name;
    const std::string lowest(simdLevelName(SimdLevel::Generic));
    EXPECT_EQ(level.error().message(), "TPUC_CPU: unknown processor level '" + std::string(name) +
                                           "'; expected one of " + lowest +
                                           ", avx2, avx512, avx512_vnni, avx512_bf16");
  }
}

TEST(SimdLevelTest, TheEnvironmentDecides) {
  const char *value = std::getenv("TPUC_CPU");
  ASSERT_TRUE(checkSimdLevel());
  EXPECT_EQ(bestSimdLevel(), limitedSimdLevel(processorSimdLevel(), value).value());
}

} // namespace
