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
    %5 = "top.Permute"(%4) {order = [0]} : (tensor<1xf32>) -> tensor<1xf32> loc("p_r_new")
    return %5 : tensor<1xf32> loc("net.py":3:4)
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
  using testing::FieldsAre;
  EXPECT_THAT(*names, ElementsAre(FieldsAre("images", "tensor<1xf32>", ""),
                                  FieldsAre("122_Conv", "tensor<1xf32>", ""),
                                  FieldsAre("s0_Split", "", ""), FieldsAre("s1_Split", "", ""),
                                  FieldsAre("a \"b\"\\c_Add", "tensor<1xf32>", ""),
                                  FieldsAre("p_r_new", "tensor<1xf32>", "a \"b\"\\c_Add")));
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
  const std::vector<ForeignTensor> names = {
      {"images", ""}, {"122_Conv", ""}, {"s1_Split", ""}, {"x_Relu", ""}, {"z_Add", ""}};
  const Expected<std::string> note = renameEntries(table, names, {}, "net.mlir");
  ASSERT_TRUE(note) << note.error().message();
  EXPECT_EQ(*note, "there is no line for 1 of its 5 tensors, such as 'z_Add' (NAME_origin.mlir "
                   "may have one); it has no tensor for 1 of 5 lines, which are left out");
  ASSERT_EQ(table.entries.size(), 4u);
  EXPECT_EQ(table.entries[1].name, "122_Conv");
  EXPECT_EQ(table.entries[1].threshold, 2);
  // The network's own name goes before what it may be without an op.
  EXPECT_EQ(table.entries[3].threshold, 4);
}

TEST(ForeignNamesTest, GivesMovedTensorsTheEntriesOfWhatIsMoved) {
  CalibrationTable table;
  table.entries = {{"x", 1, -1, 1}, {"y", 2, -2, 2}};
  const std::vector<ForeignTensor> names = {
      {"x", ""}, {"x_slice", "", "x"}, {"x_turned", "", "x_slice"}, {"y", "", "x"}, {"z", ""}};
  const Expected<std::string> note = renameEntries(table, names, {}, "net.mlir");
  ASSERT_TRUE(note) << note.error().message();
  ASSERT_EQ(table.entries.size(), 4u);
  EXPECT_EQ(table.entries[2].name, "x_turned");
  EXPECT_EQ(table.entries[2].threshold, 1);
  // One of its own goes before that.
  EXPECT_EQ(table.entries[3].threshold, 2);
}

TEST(ForeignNamesTest, FindsTensorsByTheirNeighboursAndTypes) {
  const auto tableOf = [] {
    CalibrationTable table;
    table.entries = {{"x", 1, -1, 1},     {"norm0", 2, -2, 2}, {"norm1", 3, -3, 3}, {"a", 4, -4, 4},
                     {"norm2", 5, -5, 5}, {"b", 6, -6, 6},     {"norm3", 7, -7, 7}};
    return table;
  };
  const std::unordered_map<std::string, std::string> types = {{"norm0", "tensor<1x8xf32>"},
                                                              {"norm1", "tensor<1x4xf32>"},
                                                              {"norm2", "tensor<1x2xf32>"},
                                                              {"norm3", "tensor<1x9xf32>"}};
  // Two between x and a, one of another type between a and b, one at the end.
  const std::vector<ForeignTensor> tensors = {
      {"x", "tensor<1x3xf32>"},      {"c0_Conv", "tensor<1x8xf32>"}, {"c1_Conv", "tensor<1x4xf32>"},
      {"a_Relu", "tensor<1x4xf32>"}, {"c2_Conv", "tensor<1x6xf32>"}, {"b_Relu", "tensor<1x6xf32>"},
      {"c3_Conv", "tensor<1x9xf32>"}};
  CalibrationTable table = tableOf();
  const Expected<std::string> note = renameEntries(table, tensors, types, "n");
  ASSERT_TRUE(note) << note.error().message();
  EXPECT_EQ(*note, "there is no line for 1 of its 7 tensors, such as 'c2_Conv' (NAME_origin.mlir "
                   "may have one); it has no tensor for 1 of 7 lines, which are left out");
  ASSERT_EQ(table.entries.size(), 6u);
  EXPECT_EQ(table.entries[1].name, "c0_Conv");
  EXPECT_EQ(table.entries[1].threshold, 2);
  EXPECT_EQ(table.entries[2].name, "c1_Conv");
  EXPECT_EQ(table.entries[2].threshold, 3);
  EXPECT_EQ(table.entries[5].name, "c3_Conv");
  EXPECT_EQ(table.entries[5].threshold, 7);
  // One tensor more than entries between the same neighbours: none of them is found.
  std::vector<ForeignTensor> more = tensors;
  more.insert(more.begin() + 2, {"p_Pad", "tensor<1x8xf32>"});
  table = tableOf();
  ASSERT_TRUE(renameEntries(table, more, types, "n"));
  EXPECT_EQ(table.entries.size(), 4u);
}

TEST(ForeignNamesTest, RefusesAnotherNetwork) {
  CalibrationTable table;
  table.entries = {{"a", 1, -1, 1}};
  const Expected<std::string> note =
      renameEntries(table, std::vector<ForeignTensor>{{"b_Conv", ""}}, {}, "n");
  ASSERT_FALSE(note);
  EXPECT_EQ(note.error().message(),
            "n: has 'b_Conv' and 0 more tensors, but none of this network; expected the same "
            "network, with 'a'");
}

} // namespace
