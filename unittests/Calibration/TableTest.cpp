//===- TableTest.cpp ------------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Calibration/CalibrationTable.h"

#include <gmock/gmock.h>

using namespace tpuc;
using testing::HasSubstr;

namespace {

const std::string kHead = "# histogram number: 2048\n# sample number: 100\n# tune number: 5\n###\n"
                          "# op_name    threshold    min      max\n";

std::string errorOf(const std::string &lines) {
  Expected<CalibrationTable> table = CalibrationTable::parse(kHead + lines, "t.cali");
  return table ? "accepted" : table.error().message();
}

TEST(CalibrationTable, IsTheManualsToTheByte) {
  CalibrationTable table;
  table.numSamples = 100;
  table.numTuned = 5;
  table.entries = {{"images", 1.000008, 0, 1.000008, 0},
                   {"122_Conv", 56.4281803, -102.5830231, 97.6811752, 0}};
  const std::string text = table.text(std::chrono::system_clock::now());
  EXPECT_THAT(text, testing::MatchesRegex("# generated time: [0-9]{4}-[0-9]{2}-[0-9]{2} "
                                          "[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6}\n(.|\n)*"));
  EXPECT_EQ(text.substr(text.find('\n') + 1), kHead +
                                                  "images 1.0000080 0.0000000 1.0000080\n"
                                                  "122_Conv 56.4281803 -102.5830231 97.6811752\n");
}

TEST(CalibrationTable, ComesBackFromItsText) {
  CalibrationTable table;
  table.numBins = 4096;
  table.numSamples = 3;
  table.workMode = "QAT_all_int8";
  table.entries = {{"two words", 0.25, -1, 1, 0},
                   {"#first", 3, 0, 3, 0},
                   {"100%", 3, 0, 3, 0},
                   {"a%20b", 1e-9, -1e-9, 1e-9, 0},
                   {"tab\tline\nend ", 1, 0, 0, 0},
                   {"\xC3\xA9/\xE4\xB8\xAD:0", 7.5, -7.5, 2, 0}};
  table.weightScales = {{"w", {0.1, 1e-7}, {}, 0}, {"v", {0.5, 0.25, 2}, {0, -3, 4}, 0}};
  Expected<CalibrationTable> read =
      CalibrationTable::parse(table.text(std::chrono::system_clock::now()), "t.cali");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->numBins, 4096);
  EXPECT_EQ(read->numSamples, 3);
  EXPECT_EQ(read->workMode, "QAT_all_int8");
  ASSERT_EQ(read->entries.size(), table.entries.size());
  for (size_t i = 0; i < table.entries.size(); ++i) {
    EXPECT_EQ(read->entries[i].name, table.entries[i].name);
    EXPECT_DOUBLE_EQ(read->entries[i].threshold, table.entries[i].threshold);
    EXPECT_DOUBLE_EQ(read->entries[i].min, table.entries[i].min);
    EXPECT_DOUBLE_EQ(read->entries[i].max, table.entries[i].max);
  }
  ASSERT_EQ(read->weightScales.size(), 2u);
  EXPECT_EQ(read->weightScales[0].scales, table.weightScales[0].scales);
  EXPECT_EQ(read->weightScales[1].zeroPoints, table.weightScales[1].zeroPoints);
}

TEST(CalibrationTable, ReadsWhatTrainingWrites) {
  Expected<CalibrationTable> table = CalibrationTable::parse(
      "# work_mode:QAT_all_int8 //Automatically generated, do not modify, work_mode choice:[x]\n"
      "# op_name    threshold   min      max\n"
      "data 4.7558303 -2.1247120 2.6311185\n"
      "472_Relu_weight 2 0.0015318460064008832 1.1920928955078125e-07 2 0 0\n"
      "472_Relu 4.0415673 -0.0000000 4.0415673\r\n",
      "t.cali");
  ASSERT_TRUE(table) << table.error().message();
  EXPECT_EQ(table->workMode, "QAT_all_int8");
  ASSERT_EQ(table->entries.size(), 2u);
  EXPECT_EQ(table->entries[1].line, 5);
  ASSERT_EQ(table->weightScales.size(), 1u);
  EXPECT_EQ(table->weightScales[0].scales[1], 1.1920928955078125e-07);
}

TEST(CalibrationTable, NamesTheLineOfWhatIsWrong) {
  EXPECT_THAT(errorOf("a 1 -1 1\nb 2 3\n"),
              HasSubstr("t.cali:7: 3 fields; expected a name, a threshold, a minimum"));
  EXPECT_THAT(errorOf("a 1.5 -1 1 5\n"), HasSubstr("t.cali:6: 5 fields"));
  EXPECT_THAT(errorOf("a one -1 1\n"), HasSubstr("t.cali:6: 'one'; expected a finite number"));
  EXPECT_THAT(errorOf("a nan nan nan\n"), HasSubstr("t.cali:6: 'nan'"));
  EXPECT_THAT(errorOf("a 1 -inf 1\n"), HasSubstr("t.cali:6: '-inf'"));
  EXPECT_THAT(errorOf("a 1 5 -5\n"), HasSubstr("t.cali:6: 'a' has the minimum 5 above"));
  EXPECT_THAT(errorOf("a 0 -1 1\n"), HasSubstr("t.cali:6: 'a' has the threshold 0"));
  EXPECT_THAT(errorOf("a -3 -1 1\n"), HasSubstr("t.cali:6: 'a' has the threshold -3"));
  EXPECT_THAT(errorOf("a 1 -1 1\n\na 2 -1 1\n"), HasSubstr("t.cali:8: 'a' stands in line 6"));
  EXPECT_THAT(errorOf("w 3 0.1 0 0.1\n"), HasSubstr("t.cali:6: weight 'w' has the scale 0"));
  const Expected<CalibrationTable> nothing = CalibrationTable::parse("###\n", "t.cali");
  ASSERT_FALSE(nothing);
  EXPECT_THAT(nothing.error().message(), HasSubstr("t.cali: holds no tensor's threshold"));
  EXPECT_THAT(errorOf("It was a dark and stormy night\n"), HasSubstr("t.cali:6: 7 fields"));
}

TEST(CalibrationTable, HasNoLinesForANetworkWithoutFloats) {
  const Expected<CalibrationTable> table = CalibrationTable::parse(kHead, "t.cali");
  ASSERT_TRUE(table) << table.error().message();
  EXPECT_TRUE(table->checkNames({}, "t.cali"));
  const std::vector<std::string> names = {"conv1"};
  const Expected<void> checked = table->checkNames(names, "t.cali");
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message(),
              HasSubstr("t.cali: has no lines; expected the table of a network with 'conv1'"));
}

TEST(CalibrationTable, IsCheckedAgainstANetwork) {
  CalibrationTable table = *CalibrationTable::parse("conv1 1 -1 1\nrelu 1 0 1\n", "t.cali");
  auto check = [&](std::vector<std::string> names) {
    Expected<void> checked = table.checkNames(names, "t.cali");
    return checked ? "right" : checked.error().message();
  };
  EXPECT_EQ(check({"relu", "conv1"}), "right");
  EXPECT_THAT(check({"relu", "conv1", "x", "y"}),
              HasSubstr("t.cali: the calibration table has no line for 'x' and 1 more; expected"));
  EXPECT_THAT(check({"relu", "conv2"}),
              HasSubstr("t.cali:1: the network has no tensor 'conv1'; expected one of its tensors; "
                        "did you mean 'conv2'?"));
  EXPECT_THAT(check({"a", "b"}), HasSubstr("for no tensor of this network"));
}

TEST(CalibrationTable, FitsTheNamesOfOtherToolsAndPartsOfNetworks) {
  const auto fit = [](const std::string &text, const std::vector<std::string> &names,
                      CalibrationTable &table) {
    table = *CalibrationTable::parse(text, "t");
    Expected<std::string> note = table.fit(names, "t");
    return note ? *note : "error: " + note.error().message();
  };
  CalibrationTable table;
  EXPECT_EQ(fit("x 1 0 1\n1_Conv 2 0 1\n2_Relu 3 0 1\n", {"x", "1", "2"}, table),
            "'1_Conv' is taken for '1', and 1 more likewise");
  ASSERT_EQ(table.entries.size(), 3u);
  EXPECT_EQ(table.entries[2].name, "2");
  EXPECT_EQ(table.entries[2].threshold, 3);
  // A name of the network's own is not mapped, nor one that has a line.
  EXPECT_EQ(fit("x_Conv 1 0 1\nx 2 0 1\n", {"x", "x_Conv"}, table), "");
  EXPECT_EQ(fit("x_Conv 1 0 1\nx 2 0 1\n", {"x"}, table),
            "1 line is for what the network has not, such as 'x_Conv'");
  ASSERT_EQ(table.entries.size(), 1u);
  EXPECT_EQ(table.entries[0].threshold, 2);
  // What is missing is an error, and so is a table of another network.
  EXPECT_EQ(fit("x 1 0 1\ny_Conv 2 0 1\n", {"x", "z"}, table).substr(0, 6), "error:");
  EXPECT_EQ(fit("a 1 0 1\n", {"x"}, table).substr(0, 6), "error:");
}

} // namespace
