//===- NestingTest.cpp - Texts that are nested too deep -------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Nesting.h"

#include <gtest/gtest.h>

using namespace tpuc;

namespace {

std::string check(std::string_view text, size_t most = 3) {
  Expected<void> checked = checkNesting(text, "m.mlir", most);
  return checked ? "" : checked.error().message();
}

constexpr const char *kDeep = "m.mlir:1: is nested too deep; expected at most 3 brackets within "
                              "each other";

TEST(Nesting, CountsOpenBrackets) {
  EXPECT_EQ(check("([{}])"), "");
  EXPECT_EQ(check("([{<>}])"), kDeep);
  EXPECT_EQ(check("(((("), kDeep);
  EXPECT_EQ(check("()()()()()[][]<><>"), "");
  EXPECT_EQ(check("))))((("), "");
}

TEST(Nesting, NamesTheLine) {
  EXPECT_EQ(check("(\n(\n(\n  ("), "m.mlir:4: is nested too deep; expected at most 3 brackets "
                                   "within each other");
}

TEST(Nesting, SkipsStringsCommentsAndArrows) {
  EXPECT_EQ(check("((\"((((\"))"), "");
  EXPECT_EQ(check("((\"\\\"((((\"))"), "");
  EXPECT_EQ(check("(( // ((((\n))"), "");
  EXPECT_EQ(check("(((\"no end\n("), "m.mlir:2: is nested too deep; expected at most 3 brackets "
                                     "within each other");
  // Neither closes nor opens one.
  EXPECT_EQ(check("(-> ((-> (-> ("), kDeep);
  EXPECT_EQ(check("(>= ((>= (>= ("), kDeep);
  EXPECT_EQ(check("(<= <= <= <= <= )"), "");
}

TEST(Nesting, CountsSignsInARow) {
  EXPECT_EQ(check("- - -1"), "");
  EXPECT_EQ(check("- -\n- -1"), "m.mlir:2: is nested too deep; expected at most 3 brackets within "
                                "each other");
  EXPECT_EQ(check("-1 -1 -1 -1 -1"), "");
}

} // namespace
