//===- SideBySideTest.cpp - Folds whose steps need not wait for each other --===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/SideBySide.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

using namespace tpuc;

namespace {

TEST(SideBySide, CountsEveryTermOnce) {
  for (size_t count = 0; count < 30; ++count) {
    std::vector<int> asked(count, 0);
    const double sum = sumSideBySide(count, [&](size_t i) {
      ++asked[i];
      return double(i) + 1;
    });
    EXPECT_EQ(sum, double(count * (count + 1)) / 2);
    EXPECT_EQ(asked, std::vector<int>(count, 1));
  }
}

TEST(SideBySide, AddsEveryEighthTerm) {
  // 2^53 + 1 is no double: the ones come in where they are the first of their sum.
  const std::vector<double> terms = {0x1p53, 1, 0, 0, 0, 0, 0, 0, -0x1p53, 1};
  EXPECT_EQ(sumSideBySide(terms.size(), [&](size_t i) { return terms[i]; }), 2);
}

TEST(SideBySide, FoldsByAnyFunction) {
  for (size_t count : {1, 7, 8, 9, 100})
    for (size_t largest = 0; largest < count; ++largest) {
      const auto term = [&](size_t i) { return i == largest ? 7 : int(i % 5); };
      EXPECT_EQ(foldSideBySide(count, -1, term, [](int a, int b) { return std::max(a, b); }), 7);
    }
  EXPECT_EQ(foldSideBySide(0, 0, [](size_t) { return 3; }, std::plus<>()), 0);
}

} // namespace
