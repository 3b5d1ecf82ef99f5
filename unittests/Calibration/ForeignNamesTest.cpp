//===- ForeignNamesTest.cpp -----------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Calibration/ForeignNames.h"

#include <gmock/gmock.h>

using namespace tpuc;
using testing::ElementsAre;

namespace {

constexpr std::string_view kModule = R"(#loc = loc(unknown)
module @net attributes {module.chip = "ALL"} {
  func.func @main(%arg0: tensor<1x3x8x8xf32> loc(unknown)) -> tensor<1x8x8x8xf32> {
    %0 = "top.Input"(%arg0) {scale = [1.0]} : (tensor<1xf32>) -> tensor<1xf32> loc(#loc1)
    %1 = "top.Weight"() : () -> tensor<8x3x1x1xf32> loc(#loc2)
    %2 = "top.Conv"(%0, %1) {name = "x = y"} : (tensor<1xf32>) -> tensor<1xf32> loc(#loc4)
    %3:2 = "top.Split"(%2) : (tensor<1xf32>) -> (tensor<1xf32>, tensor<1xf32>) loc(#loc7)
    %4 = "top.Add"(%3#0, %3#1) : (tensor<1xf32>) -> tensor<1xf32> loc("a \"b\"\\c_Add")
    return %4 : tensor<1xf32> loc("net.py":3:4)
  } loc(#loc)
} loc(#loc)
#loc1 = loc("images")
#loc2 = loc("w")
#loc4 = loc("122_Conv")
#loc5 = loc("s0_Split")
#loc6 = loc("s1_Split")
#loc7 = loc(fused[#loc5, #loc6])
)";

TEST(ForeignNamesTest, ReadsTheNamesOfOps) {
  const auto names = readForeignNames(kModule, "net.mlir");
  ASSERT_TRUE(names) << names.error().message();
  EXPECT_THAT(*names, ElementsAre("images", "122_Conv", "s0_Split", "s1_Split", "a \"b\"\\c_Add"));
}

TEST(ForeignNamesTest, RefusesWhatHasNone) {
  // An alias of itself, a string without an end, a place in a file.
  for (std::string_view text : {"", "\xff\xfe", "%0 = \"top.Conv\"(%1) loc(#a)\n#a = loc(#a)",
                                "%0 = \"top.Conv\"(%1) loc(\"x)", "%0 = \"", "%0 = \"a",
                                "%0 = \"top.Conv\"(%1) loc(\"x.py\":3:4)"}) {
    const auto names = readForeignNames(text, "net.mlir");
    ASSERT_FALSE(names) << text;
    EXPECT_EQ(names.error().where, "net.mlir");
  }
}

TEST(ForeignNamesTest, RenamesEntries) {
  CalibrationTable table;
  table.entries = {{"images", 1, -1, 1},
                   {"122", 2, -2, 2},
                   {"s1", 3, -3, 3},
                   {"x_Relu", 4, 0, 4},
                   {"x", 5, 0, 5}};
  const std::vector<std::string> names = {"images", "122_Conv", "s1_Split", "x_Relu", "z_Add"};
  const Expected<std::string> note = renameEntries(table, names, "net.mlir");
  ASSERT_TRUE(note) << note.error().message();
  EXPECT_EQ(*note, "there is no line for 1 of its 5 tensors, such as 'z_Add'; it has no tensor for "
                   "1 of 5 lines, which are left out");
  ASSERT_EQ(table.entries.size(), 4u);
  EXPECT_EQ(table.entries[1].name, "122_Conv");
  EXPECT_EQ(table.entries[1].threshold, 2);
  // The network's own name goes before what it may be without an op.
  EXPECT_EQ(table.entries[3].threshold, 4);
}

TEST(ForeignNamesTest, RefusesAnotherNetwork) {
  CalibrationTable table;
  table.entries = {{"a", 1, -1, 1}};
  const Expected<std::string> note = renameEntries(table, std::vector<std::string>{"b_Conv"}, "n");
  ASSERT_FALSE(note);
  EXPECT_EQ(note.error().message(),
            "n: has 'b_Conv' and 0 more tensors, but none of this network; expected the same "
            "network, with 'a'");
}

} // namespace
