//===- MemoryLimitTest.cpp -----------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tpuc/Support/MemoryLimit.h"
#include "unittests/Support/Sanitized.h"

#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <vector>

using namespace tpuc;

TEST(MemoryLimit, SizesHaveUnits) {
  EXPECT_EQ(parseMemorySize("1500000").value(), 1500000U);
  EXPECT_EQ(parseMemorySize("3K").value(), 3072U);
  EXPECT_EQ(parseMemorySize("800M").value(), uint64_t(800) << 20);
  EXPECT_EQ(parseMemorySize("4G").value(), uint64_t(4) << 30);
  EXPECT_EQ(parseMemorySize("2T").value(), uint64_t(2) << 40);
  for (const char *text :
       {"", "G", "0", "0M", "4g", "-1", "1.5G", "4GB", "99999999999999999999", "9999999999T"})
    EXPECT_FALSE(parseMemorySize(text)) << text;
}

TEST(MemoryLimit, WrongSizesNameTheOption) {
  const Expected<void> limited = limitMemory("much", "tool");
  ASSERT_FALSE(limited);
  EXPECT_EQ(limited.error().message(),
            "--max_memory: found 'much'; expected a size such as 800M or 4G");
}

TEST(MemoryLimit, EndsTheProgramWithOneLine) {
  if (kIsSanitized)
    GTEST_SKIP() << "sanitizers have an operator new of their own";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto takeTooMuch = [] {
    if (limitMemory("256M", "tool"))
      std::fprintf(stderr, "%p", static_cast<void *>(std::vector<char>(size_t(1) << 30).data()));
    std::exit(2);
  };
  EXPECT_EXIT(takeTooMuch(), testing::ExitedWithCode(1),
              "^tool: error: more memory is needed than --max_memory 256M allows\n$");
}
