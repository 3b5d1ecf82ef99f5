//===- ValueOrderTest.cpp - Values stand before their uses ----------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/ValueOrder.h"

#include <gtest/gtest.h>

using namespace tpuc;

namespace {

/// Where and what it finds.
std::string check(std::string_view text) {
  Expected<void> checked = checkValueOrder(text, "m.mlir");
  return checked ? "" : checked.error().where + ": " + checked.error().found;
}

TEST(ValueOrder, TakesModules) {
  EXPECT_EQ(check(R"(
    module @net attributes {module.name = "%9"} {
      // %9
      func.func @main(%arg0: tensor<1xf32> {a = "%9"} loc("x"), %arg1: none) -> (none {b = 1 : i64})
          attributes {c = "d"} {
        %0:2 = "top.If"(%arg0) ({
          %1 = "top.None"() : () -> none loc("%1")
          "top.Yield"(%arg1, %1) : (none, none) -> ()
        }, {
        ^bb0(%arg2: none, %arg3: none):
          %1 = "top.None"() : () -> none
          "top.Yield"(%1, %arg3) : (none, none) -> ()
        }) {s = "}"} : (tensor<1xf32>) -> (none, none)
        %1, %2 = "top.Split"(%0#0, %0#1) <{p = [->]}> : (none, none) -> (none, none)
        return %1, %2 : none, none
      }
      func.func @"main 2"(%arg0: none) -> none {
        %0 = "top.Relu"(%arg0) : (none) -> none
        func.return %0 : none
      }
      func.func private @outside(none)
    })"),
            "");
}

TEST(ValueOrder, FindsUsesAheadOfDefinitions) {
  const std::string found = "m.mlir:2: '%8' is used before it is defined";
  EXPECT_EQ(check("module {\n\"a\"(%8) : (none) -> ()\nfunc.func @f() { %8 = \"b\"()"), found);
  EXPECT_EQ(check("func.func @f() {\nreturn %8 : none\n%8 = \"b\"()"), found);
  EXPECT_EQ(check("%1 = \"a\"() ({\n%2 = \"b\"(%1, %8)"), found);
  EXPECT_EQ(check("%1 = \"a\"() ({ %8 = \"b\"() })\n%2 = \"b\"(%8)"), found);
  // Arguments are those of the function's body alone.
  EXPECT_EQ(check("func.func @f(%8: none) { }\n\"a\"(%8)"), found);
  EXPECT_EQ(check("func.func @f(%8: none)\n\"a\"(%8)"), found);
  EXPECT_EQ(check("func.func @f(%8: none) attributes { }\n\"a\"(%8)"), found);
  EXPECT_EQ(check("func.func @f(%8: none) func.func @g() {\n\"a\"(%8)"), found);
  EXPECT_EQ(check("\"a\"() ({ ^bb0(%8: none): \"b\"() })\n\"a\"(%8)"), found);
}

TEST(ValueOrder, FindsWhatIsDefinedAgain) {
  const std::string found = "m.mlir:2: '%1' is defined already";
  // A use in the inner region is ahead of the inner definition, since the outer one is not there.
  EXPECT_EQ(check("%1 = \"a\"() ({ \"b\"(%1); \"c\"() ({\n%1 = \"d\"()"), found);
  EXPECT_EQ(check("%1 = \"a\"() ({ \"b\"(%1); \"c\"() ({\n%1 // no\n = \"d\"()"),
            "m.mlir:2: '%1' is defined already");
  EXPECT_EQ(check("func.func @f(%1: none) {\n%1 = \"d\"()"), found);
  EXPECT_EQ(check("\n%0:2, %1, %1 = \"d\"()"), found);
}

TEST(ValueOrder, TakesAnyText) {
  for (const char *text : {"", "%", "}}}", "))(", "\"", "@\"", "%1 =", "\"\\", "{ % = % }", "//"})
    check(text);
}

TEST(ValueOrder, TakesLongLists) {
  std::string text = "%0 = \"a\"()\n return %0";
  for (int i = 0; i < 200000; ++i)
    text += ", %0";
  EXPECT_EQ(check(text), "");
}

} // namespace
