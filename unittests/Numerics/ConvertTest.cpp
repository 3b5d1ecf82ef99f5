//===- ConvertTest.cpp - Tests of tensor conversion ------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Support/Convert.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <vector>

using namespace tpuc;

namespace {

/// What a tensor's element is, read one by one: independent of the block loops.
double elementOf(const Tensor &tensor, size_t index) {
  const std::byte *raw = tensor.rawBytes().data();
  switch (tensor.type()) {
  case DataType::F64:
    return loadElement<double>(raw, index);
  case DataType::F32:
    return static_cast<double>(loadElement<float>(raw, index));
  case DataType::F16:
    return decodeToDouble<DataType::F16>(loadElement<uint16_t>(raw, index));
  case DataType::BF16:
    return decodeToDouble<DataType::BF16>(loadElement<uint16_t>(raw, index));
  case DataType::F8E4M3FN:
    return decodeToDouble<DataType::F8E4M3FN>(loadElement<uint8_t>(raw, index));
  case DataType::F8E5M2:
    return decodeToDouble<DataType::F8E5M2>(loadElement<uint8_t>(raw, index));
  case DataType::F8E4M3FNUZ:
    return decodeToDouble<DataType::F8E4M3FNUZ>(loadElement<uint8_t>(raw, index));
  case DataType::F8E5M2FNUZ:
    return decodeToDouble<DataType::F8E5M2FNUZ>(loadElement<uint8_t>(raw, index));
  case DataType::I4: {
    const int nibble = static_cast<int>(raw[index / 2] >> (index % 2 * 4)) & 15;
    return nibble >= 8 ? nibble - 16 : nibble;
  }
  case DataType::U4:
    return static_cast<int>(raw[index / 2] >> (index % 2 * 4)) & 15;
  case DataType::I8:
    return loadElement<int8_t>(raw, index);
  case DataType::I16:
    return loadElement<int16_t>(raw, index);
  case DataType::U16:
    return loadElement<uint16_t>(raw, index);
  case DataType::I32:
    return loadElement<int32_t>(raw, index);
  case DataType::U32:
    return loadElement<uint32_t>(raw, index);
  case DataType::I64:
    return static_cast<double>(loadElement<int64_t>(raw, index));
  case DataType::U64:
    return static_cast<double>(loadElement<uint64_t>(raw, index));
  case DataType::U8:
  case DataType::Bool:
    return loadElement<uint8_t>(raw, index);
  }
  return 0;
}

template <DataType Type> double rounded(double value) {
  return decodeToDouble<Type>(encodeFloat<Type>(value));
}

double expectedElement(double value, DataType to) {
  switch (to) {
  case DataType::F64:
    return value;
  case DataType::F32:
    return static_cast<double>(static_cast<float>(value));
  case DataType::F16:
    return rounded<DataType::F16>(value);
  case DataType::BF16:
    return rounded<DataType::BF16>(value);
  case DataType::F8E4M3FN:
    return rounded<DataType::F8E4M3FN>(value);
  case DataType::F8E5M2:
    return rounded<DataType::F8E5M2>(value);
  case DataType::F8E4M3FNUZ:
    return rounded<DataType::F8E4M3FNUZ>(value);
  case DataType::F8E5M2FNUZ:
    return rounded<DataType::F8E5M2FNUZ>(value);
  case DataType::Bool:
    return value != 0 ? 1 : 0;
  default:
    break;
  }
  if (std::isnan(value))
    return 0;
  const IntegerRange range = integerRange(to);
  return std::clamp(std::trunc(value), static_cast<double>(range.lowest),
                    static_cast<double>(range.highest));
}

std::vector<double> sourceValues() {
  std::vector<double> values = {0.5,       -0.5, 1.5,   -1.5,  0.999, NAN,    INFINITY,
                                -INFINITY, 1e10, -1e10, 1e-10, 65520, 0x1p31, 0x1p32};
  for (int i = -300; i <= 300; ++i)
    values.push_back(i);
  for (int i = -70000; i <= 70000; i += 331)
    values.push_back(i);
  return values;
}

TEST(Convert, AllPairsOfTypes) {
  const std::vector<double> values = sourceValues();
  const Tensor source =
      Tensor::of<double>({static_cast<int64_t>(values.size())}, std::span<const double>(values));
  for (DataType from : kAllDataTypes) {
    const Tensor typed = convert(source, from);
    ASSERT_EQ(typed.type(), from);
    for (size_t i = 0; i < values.size(); ++i) {
      const double expected = expectedElement(values[i], from);
      const double found = elementOf(typed, i);
      ASSERT_TRUE(found == expected || (std::isnan(found) && std::isnan(expected)))
          << values[i] << " as " << dataTypeName(from) << ": " << found;
    }
    for (DataType to : kAllDataTypes) {
      const Tensor result = convert(typed, to);
      ASSERT_EQ(result.type(), to);
      ASSERT_EQ(result.shape(), source.shape());
      for (size_t i = 0; i < values.size(); ++i) {
        const double expected = expectedElement(elementOf(typed, i), to);
        const double found = elementOf(result, i);
        ASSERT_TRUE(found == expected || (std::isnan(found) && std::isnan(expected)))
            << elementOf(typed, i) << ", " << dataTypeName(from) << " to " << dataTypeName(to)
            << ": " << found;
      }
    }
  }
}

TEST(Convert, WideIntegersKeepEveryBit) {
  const Tensor wide = Tensor::of<int64_t>(
      {5}, {INT64_MIN, INT64_MAX, (int64_t(1) << 53) + 1, -1, (int64_t(1) << 32) + 5});
  const Tensor saturated = convert(wide, DataType::U64);
  EXPECT_EQ(saturated.data<uint64_t>()[0], 0U);
  EXPECT_EQ(saturated.data<uint64_t>()[1], uint64_t(INT64_MAX));
  EXPECT_EQ(saturated.data<uint64_t>()[2], (uint64_t(1) << 53) + 1);
  const Tensor wrapped = convert(wide, DataType::U64, {.integerOverflow = IntegerOverflow::Wrap});
  EXPECT_EQ(wrapped.data<uint64_t>()[0], uint64_t(1) << 63);
  EXPECT_EQ(wrapped.data<uint64_t>()[3], UINT64_MAX);
  const Tensor back = convert(wrapped, DataType::I64);
  EXPECT_EQ(back.data<int64_t>()[3], INT64_MAX);
  const Tensor low = convert(wide, DataType::I32, {.integerOverflow = IntegerOverflow::Wrap});
  EXPECT_EQ(low.data<int32_t>()[2], 1);
  EXPECT_EQ(low.data<int32_t>()[4], 5);
  // Straight to 24 bits; through double the sticky bit would be lost.
  const Tensor up = convert(Tensor::of<int64_t>({1}, {(int64_t(1) << 62) + 1}), DataType::F32,
                            {.floatRounding = RoundingMode::Up});
  EXPECT_EQ(up.data<float>()[0], 0x1.000002p62F);
}

TEST(Convert, OptionsReachEveryKind) {
  const Tensor floats = Tensor::of<float>({6}, {2.5F, -2.5F, 1e9F, -1e9F, 0.0625F, NAN});
  const Tensor nearest = convert(floats, DataType::I8, {.integerRounding = RoundingMode::HalfUp});
  EXPECT_EQ(std::vector<int8_t>(nearest.data<int8_t>().begin(), nearest.data<int8_t>().end()),
            (std::vector<int8_t>{3, -2, 127, -128, 0, 0}));
  const Tensor saturated = convert(floats, DataType::F16, {.floatOverflow = Overflow::Saturate});
  EXPECT_EQ(saturated.data<uint16_t>()[2], 0x7BFF);
  EXPECT_EQ(saturated.data<uint16_t>()[3], 0xFBFF);
  const Tensor down = convert(Tensor::of<float>({2}, {1.001F, -1.001F}), DataType::F8E5M2,
                              {.floatRounding = RoundingMode::Down});
  EXPECT_EQ(down.data<uint8_t>()[0], 0x3C);
  EXPECT_EQ(down.data<uint8_t>()[1], 0xBD);
  // Wrapping is for integers; a float out of range saturates all the same.
  const ConvertOptions wrap{.integerOverflow = IntegerOverflow::Wrap};
  EXPECT_EQ(convert(floats, DataType::I8, wrap).data<int8_t>()[2], 127);
  const Tensor nibbles = convert(Tensor::of<int16_t>({3}, {9, -9, 0x123}), DataType::I4, wrap);
  EXPECT_EQ(elementOf(nibbles, 0), -7);
  EXPECT_EQ(elementOf(nibbles, 1), 7);
  EXPECT_EQ(elementOf(nibbles, 2), 3);
  EXPECT_EQ(elementOf(convert(floats, DataType::U4, wrap), 2), 15);
}

TEST(Convert, SizesAroundTheBlocks) {
  for (int64_t count : {0, 1, 2, 511, 512, 513, 1024, 1025, 3001})
    for (DataType to : {DataType::I4, DataType::U4, DataType::F16, DataType::I8, DataType::F64}) {
      Tensor source(DataType::I32, {count});
      for (int64_t i = 0; i < count; ++i)
        source.mutableData<int32_t>()[static_cast<size_t>(i)] = static_cast<int32_t>(i % 8);
      const Tensor there = convert(source, to);
      const Tensor back = convert(there, DataType::I32);
      ASSERT_TRUE(std::ranges::equal(back.data<int32_t>(), source.data<int32_t>()))
          << count << " " << dataTypeName(to);
    }
}

TEST(Convert, SameTypeSharesTheElements) {
  const Tensor tensor = Tensor::of<float>({2}, {1, 2});
  EXPECT_EQ(convert(tensor, DataType::F32).rawBytes().data(), tensor.rawBytes().data());
}

TEST(Convert, UnalignedBorrowedElements) {
  std::vector<std::byte> bytes(4 * 100 + 1);
  for (size_t i = 0; i < 100; ++i)
    storeElement(bytes.data() + 1, i, static_cast<float>(i));
  const Tensor tensor = Tensor::borrow(DataType::F32, {100}, bytes.data() + 1, nullptr);
  for (DataType to : {DataType::F16, DataType::BF16, DataType::I32, DataType::F64}) {
    const Tensor result = convert(tensor, to);
    for (size_t i = 0; i < 100; ++i)
      ASSERT_EQ(elementOf(result, i), static_cast<double>(i));
  }
}

TEST(Convert, AnyByteButZeroIsTrue) {
  const Tensor bools = Tensor::borrow(DataType::Bool, {3}, "\x00\x02\xFF", nullptr);
  const Tensor numbers = convert(bools, DataType::I32);
  EXPECT_EQ(numbers.data<int32_t>()[0], 0);
  EXPECT_EQ(numbers.data<int32_t>()[1], 1);
  EXPECT_EQ(numbers.data<int32_t>()[2], 1);
}

TEST(Convert, PackingFourBits) {
  const std::vector<int8_t> values = {1, -1, -8, 7, 3};
  std::vector<uint8_t> packed(3);
  pack4(values, packed);
  EXPECT_EQ(packed, (std::vector<uint8_t>{0xF1, 0x78, 0x03}));
  std::vector<int8_t> signedBack(5);
  unpack4(packed, signedBack);
  EXPECT_EQ(signedBack, values);
  std::vector<uint8_t> unsignedBack(5);
  unpack4(packed, unsignedBack);
  EXPECT_EQ(unsignedBack, (std::vector<uint8_t>{1, 15, 8, 7, 3}));
  std::vector<uint8_t> none;
  pack4(none, none);
}

} // namespace
