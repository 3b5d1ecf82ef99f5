//===- ErrorTest.cpp ------------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Error.h"

#include <gtest/gtest.h>

using namespace tpuc;

TEST(Error, MessageNamesWhatWhereExpected) {
  EXPECT_EQ((Error{"in.npz", "no tensor 'x'", "one of a, b"}.message()),
            "in.npz: no tensor 'x'; expected one of a, b");
  EXPECT_EQ((Error{"", "empty file", ""}.message()), "empty file");
  EXPECT_EQ((Error{"--chip", "", "a name"}.message()), "--chip; expected a name");
}

TEST(Error, MessageIsOneLine) {
  EXPECT_EQ((Error{"a\nb", "c\td\x7f", "\x1b[0m"}.message()),
            "a\\x0ab: c\\x09d\\x7f; expected \\x1b[0m");
}

TEST(Error, NonAsciiNamesStayAsTheyAre) {
  EXPECT_EQ((Error{"größe", "層", ""}.message()), "größe: 層");
}
