//===- ComparisonReportTest.cpp - Tests of the report on many tensors -----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/ComparisonReport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>

using namespace tpuc;
using testing::HasSubstr;

namespace {

TensorComparison compared(std::initializer_list<float> x, std::initializer_list<float> y) {
  return compareTensors(Tensor::of<float>({static_cast<int64_t>(x.size())}, x),
                        Tensor::of<float>({static_cast<int64_t>(y.size())}, y));
}

ComparisonReport sample() {
  ComparisonReport report({0.9, 0.5});
  report.add("input", compared({1, 2}, {1, 2}));
  report.add("conv1", compared({3, 4}, {4, 2}));
  report.add("relu", compared({1, -4}, {4, 2}));
  report.add("fc", compared({1, 2}, {1, 2.01F}));
  report.addMissing("lost", ComparisonReport::Side::Target);
  report.addMissing("extra", ComparisonReport::Side::Reference);
  report.addExcept("softmax");
  return report;
}

TEST(ComparisonReport, NamesFirstFailingAndWorst) {
  ComparisonReport report = sample();
  EXPECT_FALSE(report.passes());
  EXPECT_EQ(report.numFailed(), 2u);
  EXPECT_EQ(report.firstFailing()->name, "conv1");
  EXPECT_EQ(report.worst()->name, "relu");
  EXPECT_EQ(report.failureMessage(),
            "2 of 4 tensors fail, first 'conv1' (cosine 0.894427 below 0.9), worst 'relu' (cosine "
            "-0.216931 below 0.9, euclid -1.491365 below 0.5)");
}

TEST(ComparisonReport, OneTensorMayHaveToBeCloser) {
  ComparisonReport report({0.9, 0.5});
  report.add("close", compared({1, 2}, {1, 2.01F}));
  EXPECT_TRUE(report.passes());
  report.add("exact", compared({1, 2}, {1, 2.01F}), /*counts=*/true, Tolerance{1, 1});
  EXPECT_EQ(report.numFailed(), 1u);
  EXPECT_EQ(report.firstFailing()->name, "exact");
  EXPECT_THAT(report.failureMessage(), HasSubstr("'exact' (cosine 0.999998 below 1"));
  EXPECT_THAT(report.json()["tensors"][1].value("failure", ""), HasSubstr("below 1"));
}

TEST(ComparisonReport, MismatchesAreWorstOfAll) {
  ComparisonReport report({0.9, 0.5});
  report.add("opposite", compared({1}, {-1}));
  report.add("nan", compared({std::numeric_limits<float>::quiet_NaN()}, {-1}));
  EXPECT_EQ(report.worst()->name, "nan");
  report.add("shape", compared({1, 2}, {-1}));
  EXPECT_EQ(report.worst()->name, "shape");
}

TEST(ComparisonReport, PassesOnlyIfSomethingWasCompared) {
  ComparisonReport report({0.9, 0.5});
  EXPECT_FALSE(report.passes());
  EXPECT_EQ(report.failureMessage(), "no tensor was compared");
  report.add("a", compared({1, 2}, {1, 2}));
  EXPECT_TRUE(report.passes());
  EXPECT_EQ(report.failureMessage(), "");
}

TEST(ComparisonReport, Table) {
  std::string text = sample().table();
  EXPECT_THAT(text, HasSubstr("conv1    f32   0.894427   0.514928    6.02           2   FAILED\n"));
  EXPECT_THAT(text, HasSubstr("input    f32   1.000000   1.000000     inf           0    equal\n"));
  EXPECT_THAT(text, HasSubstr("only in the reference: lost\nonly in the target: extra\n"
                              "4 compared: 1 equal, 1 similar, 2 failed (tolerance 0.9,0.5)\n"
                              "worst: relu, cosine -0.216931, euclid -1.491365\n"
                              "first failing: conv1: cosine 0.894427 below 0.9\n"));
  EXPECT_THAT(sample().table(true), HasSubstr("[2]  [1]      -4          2\n"));
}

TEST(ComparisonReport, WhatDoesNotCountDoesNotFail) {
  ComparisonReport report({0.9, 0.5});
  report.add("inner", compared({3, 4}, {4, 2}), /*counts=*/false);
  EXPECT_FALSE(report.passes());
  EXPECT_EQ(report.failureMessage(), "no tensor was compared");
  report.add("output", compared({1, 2}, {1, 2.01F}));
  EXPECT_TRUE(report.passes());
  EXPECT_EQ(report.numFailed(), 0u);
  EXPECT_EQ(report.worst()->name, "inner");
  EXPECT_THAT(report.table(), HasSubstr("6.02           2    below\n"));
  report.add("other", compared({1, 2}, {2, 1}));
  EXPECT_EQ(
      report.failureMessage(),
      "1 of 2 tensors fails, first 'other' (cosine 0.799999 below 0.9, euclid 0.333333 below 0.5)");
}

TEST(ComparisonReport, WorstTable) {
  std::string text = sample().worstTable(2);
  EXPECT_THAT(text, testing::MatchesRegex("tensor [^\n]*\nrelu  [^\n]*FAILED\nconv1 [^\n]*FAILED\n"
                                          "1 more is more alike\n1 is equal\n"));
  EXPECT_THAT(sample().worstTable(9), Not(HasSubstr("more alike")));
  ComparisonReport report({0.9, 0.5});
  report.add("inner", compared({3, 4}, {4, 2}), /*counts=*/false);
  report.add("output", compared({1, 2}, {1, 2.01F}));
  EXPECT_THAT(report.worstTable(1),
              testing::MatchesRegex("tensor [^\n]*\noutput [^\n]*similar\ninner [^\n]*below\n"));
}

TEST(ComparisonReport, Json) {
  nlohmann::json json = sample().json();
  EXPECT_EQ(json["passed"], false);
  EXPECT_EQ(json["first_failing"], "conv1");
  EXPECT_EQ(json["worst"], "relu");
  EXPECT_EQ(json["missing_in_target"], nlohmann::json({"lost"}));
  EXPECT_EQ(json["missing_in_reference"], nlohmann::json({"extra"}));
  EXPECT_EQ(json["excepted"], nlohmann::json({"softmax"}));
  EXPECT_EQ(json["tensors"][0]["result"], "equal");
  EXPECT_EQ(json["tensors"][0]["snr"], "inf");
  EXPECT_EQ(json["tensors"][1]["max_index"], 1);
  EXPECT_EQ(json["tensors"][1]["failure"], "cosine 0.894427 below 0.9");
  EXPECT_EQ(json["tensors"][3]["target"]["shape"], nlohmann::json({2}));
}

TEST(ComparisonReport, CsvQuotesNames) {
  ComparisonReport report({0.9, 0.5});
  report.add("a\"b,c", compared({1}, {1}));
  EXPECT_EQ(report.csv(), "name,result,cosine,euclid,snr,max_difference\n"
                          "\"a\"\"b,c\",equal,1,1,inf,0\n");
}

} // namespace
