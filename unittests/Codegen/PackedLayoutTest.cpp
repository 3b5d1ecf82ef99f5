//===- PackedLayoutTest.cpp -------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Tile/PackedLayout.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>

using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// Pairs of rows side by side: packed[c][pair][column][row of the pair] = plain[row][c][column].
void checkPairs(int64_t pairs, int64_t channels, int64_t columns) {
  Tensor plain(DataType::I32, {2 * pairs, channels, columns});
  int32_t next = 0;
  for (int32_t &element : plain.mutableData<int32_t>())
    element = next++;
  const Tensor packed = pack(plain, {.shape = {channels, pairs, 2 * columns},
                                     .blocks = {channels, pairs, columns, 2},
                                     .order = {1, 3, 0, 2},
                                     .padded = {2 * pairs, channels, columns}});
  EXPECT_EQ(packed.shape(), Shape({channels, pairs, 2 * columns}));
  const std::span<const int32_t> elements = packed.data<int32_t>();
  int64_t wrong = 0;
  size_t at = 0;
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t pair = 0; pair < pairs; ++pair)
      for (int64_t column = 0; column < columns; ++column)
        for (int64_t row = 2 * pair; row < 2 * pair + 2; ++row)
          wrong += elements[at++] != (row * channels + c) * columns + column ? 1 : 0;
  EXPECT_EQ(wrong, 0);
}

TEST(PackedLayout, ReordersBlocks) { checkPairs(3, 2, 5); }

TEST(PackedLayout, ReordersLongTensorsInParts) {
  // Parts of two pairs, and one that is left.
  checkPairs(5, 5, 70000);
  // Of one each.
  checkPairs(2, 5, 300000);
}

TEST(PackedLayout, ParametersStandBehindAllBlocks) {
  Tensor plain(DataType::I8, {4, 2});
  std::ranges::copy(std::array<int8_t, 8>{1, 2, 3, 4, 5, 6, 7, 8},
                    plain.mutableData<int8_t>().begin());
  const Tensor packed = pack(plain, {.shape = {6, 2},
                                     .blocks = {2, 2, 2},
                                     .order = {1, 0, 2},
                                     .padded = {4, 2},
                                     .type = std::nullopt,
                                     .parameters = {{9, {9, 10}}}});
  const std::span<const int8_t> elements = packed.data<int8_t>();
  EXPECT_EQ(std::vector<int8_t>(elements.begin(), elements.end()),
            (std::vector<int8_t>{1, 2, 5, 6, 3, 4, 7, 8, 0, 9, 10, 0}));
}

} // namespace
