//===- OptionValueTest.cpp - Tests of the values of options ---------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/OptionValue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tpuc;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

namespace {

template <typename T> std::optional<T> read(std::string_view text) {
  T value{};
  if (!readValue(text, value))
    return std::nullopt;
  return value;
}

TEST(OptionValue, Integers) {
  EXPECT_EQ(read<int64_t>("-9223372036854775808"), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(read<int64_t>("+12"), 12);
  EXPECT_EQ(read<int>(" 7 "), 7);
  for (const char *bad : {"", "-", "+", "+-1", "1x", "1.5", "0x10", "9223372036854775808"})
    EXPECT_FALSE(read<int64_t>(bad)) << bad;
  EXPECT_FALSE(read<int>("2147483648"));
}

TEST(OptionValue, Numbers) {
  EXPECT_EQ(read<double>("-.5"), -0.5);
  EXPECT_EQ(read<double>("1e-3"), 1e-3);
  EXPECT_EQ(read<double>("+2"), 2);
  for (const char *bad : {"", "nan", "inf", "-inf", "1e999", "1,2", "one", "."})
    EXPECT_FALSE(read<double>(bad)) << bad;
}

TEST(OptionValue, Lists) {
  EXPECT_THAT(*read<std::vector<std::string>>("a, b,c"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(*read<std::vector<std::string>>(""), IsEmpty());
  EXPECT_THAT(*read<std::vector<double>>("123.675,116.28,103.53"),
              ElementsAre(123.675, 116.28, 103.53));
  EXPECT_THAT(*read<std::vector<int64_t>>("256,-1"), ElementsAre(256, -1));
  for (const char *bad : {",", "1,", ",1", "1,,2"}) {
    EXPECT_FALSE(read<std::vector<int64_t>>(bad)) << bad;
    EXPECT_FALSE(read<std::vector<std::string>>(bad)) << bad;
  }
}

TEST(OptionValue, Shapes) {
  using Dims = std::vector<int64_t>;
  EXPECT_THAT(*read<ShapeList>("[[1,3,224,224],[10]]"),
              ElementsAre(Dims{1, 3, 224, 224}, Dims{10}));
  EXPECT_THAT(*read<ShapeList>(" [ [1, 3] , [] ] "), ElementsAre(Dims{1, 3}, Dims{}));
  EXPECT_THAT(*read<ShapeList>("[1,3]"), ElementsAre(Dims{1, 3}));
  EXPECT_THAT(*read<ShapeList>("[1,3],[4]"), ElementsAre(Dims{1, 3}, Dims{4}));
  EXPECT_THAT(*read<ShapeList>("[]"), ElementsAre(Dims{}));
  for (const char *bad : {"", "1,3", "[[1,3]", "[1,3]]", "[[1,-3]]", "[[1,3][4]]", "[[1,3],]",
                          "[[a]]", "[[[1]]]", "[[1,,3]]"})
    EXPECT_FALSE(read<ShapeList>(bad)) << bad;
  EXPECT_EQ(showValue(ShapeList{{1, 3}, {}}), "[[1,3],[]]");
}

TEST(OptionValue, NamedShapes) {
  using Dims = std::vector<int64_t>;
  EXPECT_THAT(*read<NamedShapes>("rois=[300,5], a/b = [1, 3]"),
              ElementsAre(Pair("a/b", Dims{1, 3}), Pair("rois", Dims{300, 5})));
  EXPECT_THAT(*read<NamedShapes>("x=[]"), ElementsAre(Pair("x", Dims{})));
  EXPECT_THAT(*read<NamedShapes>(""), IsEmpty());
  for (const char *bad :
       {"[1]", "=[1]", "x=1", "x=[1", "x=[-1]", "x=[1],", "x=[1] y=[2]", "x=[1],x=[2]", "x=[[1]]"})
    EXPECT_FALSE(read<NamedShapes>(bad)) << bad;
  EXPECT_EQ(showValue(NamedShapes{{"x", {1, 3}}, {"y", {}}}), "x=[1,3],y=[]");
}

TEST(OptionValue, Tolerances) {
  Tolerance both = *read<Tolerance>("0.99,0.5");
  EXPECT_EQ(both.cosine, 0.99);
  EXPECT_EQ(both.euclid, 0.5);
  Tolerance one = *read<Tolerance>("0.9");
  EXPECT_EQ(one.cosine, 0.9);
  EXPECT_EQ(one.euclid, 0.9);
  EXPECT_EQ(read<Tolerance>("-0.36,-1.1")->euclid, -1.1);
  for (const char *bad : {"", "1.01,0.9", "0.9,0.9,0.9", "x"})
    EXPECT_FALSE(read<Tolerance>(bad)) << bad;
}

TEST(OptionValue, OptionalHoldsOnlyWhatWasGiven) {
  std::optional<double> value;
  EXPECT_EQ(showValue(value), "");
  ASSERT_TRUE(readValue("2.5", value));
  EXPECT_EQ(value, 2.5);
}

} // namespace
