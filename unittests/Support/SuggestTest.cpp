//===- SuggestTest.cpp ----------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Suggest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

using namespace tpuc;

TEST(EditDistance, CountsEachKindOfEdit) {
  EXPECT_EQ(editDistance("", ""), 0u);
  EXPECT_EQ(editDistance("", "abc"), 3u);
  EXPECT_EQ(editDistance("abc", ""), 3u);
  EXPECT_EQ(editDistance("chip", "chips"), 1u);
  EXPECT_EQ(editDistance("chip", "hip"), 1u);
  EXPECT_EQ(editDistance("chip", "ship"), 1u);
  EXPECT_EQ(editDistance("chip", "cihp"), 1u);
  EXPECT_EQ(editDistance("kitten", "sitting"), 3u);
  // Alignment, not the unrestricted distance (2): a swapped pair is not edited again.
  EXPECT_EQ(editDistance("ca", "abc"), 3u);
}

TEST(EditDistance, IgnoresTheCaseOfAsciiOnly) {
  EXPECT_EQ(editDistance("INT8", "int8"), 0u);
  EXPECT_EQ(editDistance("Ab", "bA"), 1u);
  EXPECT_EQ(editDistance("[", "{"), 1u);
}

TEST(EditDistance, IsSymmetricAndBounded) {
  std::mt19937 random(7);
  const auto word = [&] {
    std::string text(random() % 9, ' ');
    for (char &c : text)
      c = static_cast<char>('a' + random() % 3);
    return text;
  };
  for (int i = 0; i < 2000; ++i) {
    const std::string a = word(), b = word();
    const size_t distance = editDistance(a, b);
    EXPECT_EQ(distance, editDistance(b, a)) << a << " " << b;
    EXPECT_LE(distance, std::max(a.size(), b.size()));
    EXPECT_GE(distance, std::max(a.size(), b.size()) - std::min(a.size(), b.size()));
    EXPECT_EQ(distance == 0, a == b);
  }
}

TEST(ClosestMatch, FindsTheNearest) {
  const std::vector<std::string_view> options = {"--quantize", "--calibration_table", "--chip",
                                                 "--model", "--mlir"};
  EXPECT_EQ(closestMatch("--quantise", options), "--quantize");
  EXPECT_EQ(closestMatch("--CHIP", options), "--chip");
  EXPECT_EQ(closestMatch("--chpi", options), "--chip");
  EXPECT_EQ(closestMatch("--calibration-table", options), "--calibration_table");
}

TEST(ClosestMatch, TakesTheFirstOfEquals) {
  const std::array<std::string_view, 3> names = {"aaab", "aaac", "aaad"};
  EXPECT_EQ(closestMatch("aaax", names), "aaab");
  EXPECT_EQ(closestMatch("aaad", names), "aaad");
}

TEST(ClosestMatch, IsSilentWhereNothingIsNear) {
  const std::array<std::string_view, 3> names = {"--quantize", "ab", "x"};
  EXPECT_EQ(closestMatch("banana", names), std::nullopt);
  EXPECT_EQ(closestMatch("", names), std::nullopt);
  EXPECT_EQ(closestMatch("y", names), std::nullopt);
  EXPECT_EQ(closestMatch("ac", names), "ab");
  EXPECT_EQ(closestMatch("cc", names), std::nullopt);
  EXPECT_EQ(closestMatch("ab", {}), std::nullopt);
}

TEST(ClosestMatch, CompletesAnUnambiguousBeginning) {
  const std::array<std::string_view, 3> names = {"--test_input", "--test_reference", "--tolerance"};
  EXPECT_EQ(closestMatch("--TOL", names), "--tolerance");
  EXPECT_EQ(closestMatch("--test", names), std::nullopt);
  EXPECT_EQ(closestMatch("--", std::array<std::string_view, 1>{"--tolerance"}), std::nullopt);
}
