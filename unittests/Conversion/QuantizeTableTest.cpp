//===- QuantizeTableTest.cpp ------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Conversion/TopToTpu/QuantizeTable.h"

#include <gmock/gmock.h>

using namespace tpuc;
using testing::ElementsAre;
using testing::Pair;

namespace {

std::string errorOf(const std::string &text) {
  Expected<QuantizeTable> table = QuantizeTable::parse(text, "q.txt");
  return table ? "accepted" : table.error().message();
}

std::map<std::string, QuantScheme> modesOf(const std::string &text,
                                           const std::vector<std::string> &names) {
  Expected<QuantizeTable> table = QuantizeTable::parse(text, "q.txt");
  EXPECT_TRUE(table) << table.error().message();
  Expected<std::map<std::string, QuantScheme>> modes = table->modes(names, {}, "q.txt");
  EXPECT_TRUE(modes) << modes.error().message();
  return *modes;
}

TEST(QuantizeTable, NamesLayersAndModes) {
  EXPECT_THAT(modesOf("# op_name quantize_mode\n\nconv F16\n  act\tBF16  # why\nlast F32",
                      {"act", "conv", "last", "other"}),
              ElementsAre(Pair("act", schemes::kBF16), Pair("conv", schemes::kF16),
                          Pair("last", schemes::kF32)));
}

TEST(QuantizeTable, MayBeEmptyOrRepeatItself) {
  EXPECT_THAT(modesOf("", {"a"}), testing::IsEmpty());
  EXPECT_THAT(modesOf("# nothing\n", {"a"}), testing::IsEmpty());
  EXPECT_THAT(modesOf("a INT8\na INT8\n", {"a"}), ElementsAre(Pair("a", schemes::kInt8)));
  EXPECT_THAT(modesOf("a F32\r\n", {"a"}), ElementsAre(Pair("a", schemes::kF32)));
}

TEST(QuantizeTable, ReadsItsOwnLines) {
  for (const std::string name : {"plain", "two words", "#first", "100%", "a%20b"})
    EXPECT_THAT(modesOf(quantizeTableLine(name, schemes::kF16) + "\n", {name}),
                ElementsAre(Pair(name, schemes::kF16)));
}

TEST(QuantizeTable, NamesTheLineOfWhatIsWrong) {
  EXPECT_EQ(errorOf("a F32\n\nb\n"),
            "q.txt:3: has 1 field; expected a layer's name and F32, F16, BF16, INT8 or INT16");
  EXPECT_EQ(errorOf("two words F32\n"),
            "q.txt:1: has 3 fields; expected a layer's name and F32, F16, BF16, INT8 or INT16");
  EXPECT_EQ(errorOf("# c\na F8\n"), "q.txt:2: mode 'F8'; expected F32, F16, BF16, INT8 or INT16");
  EXPECT_EQ(errorOf("a FP16\n"),
            "q.txt:1: mode 'FP16'; did you mean 'F16'?; expected F32, F16, BF16, INT8 or INT16");
  EXPECT_EQ(errorOf("a F32\nb F32\na F16\n"),
            "q.txt:3: layer 'a' stands here a second time; expected one mode for each layer");
}

TEST(QuantizeTable, KnowsTheNetwork) {
  Expected<QuantizeTable> table = QuantizeTable::parse("conv F16\nrelu_2 F16\n", "q.txt");
  ASSERT_TRUE(table);
  auto near = table->modes({"conv", "relu_1"}, {}, "q.txt");
  ASSERT_FALSE(near);
  EXPECT_EQ(near.error().message(), "q.txt:2: the network has no layer 'relu_2'; expected a layer "
                                    "of it; did you mean 'relu_1'?");
  auto far = table->modes({"conv", "something_else"}, {}, "q.txt");
  ASSERT_FALSE(far);
  EXPECT_EQ(far.error().message(),
            "q.txt:2: the network has no layer 'relu_2'; expected a layer of it");
}

TEST(QuantizeTable, PassesOverInputs) {
  Expected<QuantizeTable> table = QuantizeTable::parse("x F16\nconv F16\n", "q.txt");
  ASSERT_TRUE(table);
  auto modes = table->modes({"conv"}, {"x"}, "q.txt");
  ASSERT_TRUE(modes) << modes.error().message();
  EXPECT_THAT(*modes, ElementsAre(Pair("conv", schemes::kF16)));
  auto unknown = table->modes({"conv"}, {"y"}, "q.txt");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message(),
            "q.txt:1: the network has no layer 'x'; expected a layer of it");
}

TEST(QuantizeTable, SaysWhichFileIsMissing) {
  Expected<QuantizeTable> table = QuantizeTable::read("/none/q.txt");
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().message(), "/none/q.txt: cannot be read: No such file or directory");
}

} // namespace
