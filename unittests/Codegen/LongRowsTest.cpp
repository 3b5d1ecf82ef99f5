//===- LongRowsTest.cpp -----------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Decompose/LongRows.h"

#include "gtest/gtest.h"

#include <random>

using namespace tpuc::codegen;

namespace {

/// Every element of a row is in one part, and no part is longer than a lane holds.
void expectWhole(llvm::ArrayRef<RowPiece> pieces, const AxisSpan &span, int64_t mostElements) {
  int64_t end = 0;
  for (const RowPiece &piece : pieces) {
    EXPECT_EQ(piece.begin, end);
    EXPECT_GT(piece.parts, 0);
    EXPECT_GT(piece.size, 0);
    EXPECT_LE(piece.size * span.inner, mostElements);
    end += piece.parts * piece.size;
  }
  EXPECT_EQ(end, span.extent);
}

TEST(LongRows, CoversRowsOfAnyLength) {
  std::mt19937 random(4);
  const auto between = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  for (int round = 0; round < 2000; ++round) {
    const AxisSpan span{between(1, 70), between(1, round % 2 ? 3000 : 2'000'000), between(1, 9)};
    const int64_t lanes = int64_t(4) << between(0, 4);
    const int64_t mostElements = between(span.inner, 4096);
    SCOPED_TRACE(testing::Message()
                 << "[" << span.outer << ", " << span.extent << ", " << span.inner << "] on "
                 << lanes << " lanes of " << mostElements << " elements");
    for (const bool ownsImages : {false, true})
      expectWhole(cutRows(span, lanes, mostElements, ownsImages), span, mostElements);
  }
}

TEST(LongRows, FillsAllLanes) {
  // A length with divisors is cut evenly, as the picture in the header shows.
  const llvm::SmallVector<RowPiece> even = cutRows({1, 1 << 20, 1}, 64, 4096, false);
  ASSERT_EQ(even.size(), 1U);
  EXPECT_EQ(even[0].parts % 64, 0);
  // A prime leaves one element or a few.
  const llvm::SmallVector<RowPiece> prime = cutRows({1, 1'000'003, 1}, 64, 4096, false);
  ASSERT_GE(prime.size(), 2U);
  EXPECT_EQ(prime[0].parts % 64, 0);
  EXPECT_GT(prime[0].parts * prime[0].size, 990'000);
}

TEST(LongRows, HasNoPartsWhereWhatLiesInsideIsTooLong) {
  EXPECT_TRUE(cutRows({1, 100, 4097}, 64, 4096, false).empty());
}

} // namespace
