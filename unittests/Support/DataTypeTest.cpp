//===- DataTypeTest.cpp ---------------------------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/DataType.h"

#include <gtest/gtest.h>

using namespace tpuc;

TEST(DataType, NamesRoundTrip) {
  for (DataType type : kAllDataTypes)
    EXPECT_EQ(parseDataType(dataTypeName(type)), type) << dataTypeName(type);
}

TEST(DataType, ReadsMlirSpellings) {
  EXPECT_EQ(parseDataType("ui8"), DataType::U8);
  EXPECT_EQ(parseDataType("ui4"), DataType::U4);
  EXPECT_EQ(parseDataType("i1"), DataType::Bool);
  for (const char *bad : {"", "u", "ui", "ui1", "ui128", "f", "bf8", "float32", "i8 ", "uu8"})
    EXPECT_EQ(parseDataType(bad), std::nullopt) << bad;
}

TEST(DataType, BytesOfPackedTypesRoundUp) {
  EXPECT_EQ(byteSize(DataType::I4, 0), 0);
  EXPECT_EQ(byteSize(DataType::I4, 1), 1);
  EXPECT_EQ(byteSize(DataType::U4, 2), 1);
  EXPECT_EQ(byteSize(DataType::U4, 3), 2);
  EXPECT_EQ(byteSize(DataType::F64, 3), 24);
  EXPECT_EQ(byteSize(DataType::F8E5M2, 3), 3);
}

TEST(DataType, KindsAreDisjoint) {
  for (DataType type : kAllDataTypes)
    EXPECT_EQ(isFloat(type) + isInteger(type) + (type == DataType::Bool), 1) << dataTypeName(type);
  EXPECT_TRUE(isSigned(DataType::I4));
  EXPECT_TRUE(isSigned(DataType::BF16));
  EXPECT_FALSE(isSigned(DataType::U64));
  EXPECT_FALSE(isSigned(DataType::Bool));
}
