//===- AluUnitTest.cpp - The ALU and pairs of products --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/DNNWeaver/Machine/AluUnit.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tpuc;
using namespace tpuc::dnnweaver;

namespace {

TEST(DNNWeaverAlu, OneMultiplicationGivesBothProducts) {
  for (int a = -128; a < 128; ++a)
    for (int b = -128; b < 128; ++b)
      for (int c = -128; c < 128; ++c) {
        const PairOfProducts products =
            multiplyPair(packPair(static_cast<int8_t>(a), static_cast<int8_t>(b)), c);
        if (products.low != a * c || products.high != b * c)
          FAIL() << a << " " << b << " times " << c << ": " << products.low << " " << products.high;
      }
}

TEST(DNNWeaverAlu, ShiftsRoundTiesAwayFromZero) {
  for (int64_t value = -4096; value <= 4096; ++value)
    for (unsigned shift = 0; shift < 12; ++shift) {
      const double exact = std::ldexp(static_cast<double>(value), -static_cast<int>(shift));
      ASSERT_EQ(shiftRight(value, shift, true), static_cast<int64_t>(std::round(exact)));
      ASSERT_EQ(shiftRight(value, shift, false), static_cast<int64_t>(std::floor(exact)));
    }
}

TEST(DNNWeaverAlu, ThePublicMachineSeesSixteenBits) {
  const Parameters machine = *parametersNamed("public", "");
  EXPECT_EQ(computeAlu(machine, AluFunction::Add, 0x18000, 1), -32767);
  EXPECT_EQ(computeAlu(machine, AluFunction::Mul, -32768, -32768), int64_t{1} << 30);
  EXPECT_EQ(computeAlu(machine, AluFunction::Max, 0x10005, 3), 5);
  EXPECT_EQ(computeAlu(machine, AluFunction::Min, 0x10005, 3), 3);
  EXPECT_EQ(computeAlu(machine, AluFunction::Move, 0x10005, 3), 0x10005);
  EXPECT_EQ(computeAlu(machine, AluFunction::MoveHigh, 0, 3), 0);
  // The shift sees all bits, takes five bits of the amount, and saturates.
  EXPECT_EQ(computeAlu(machine, AluFunction::Shift, int64_t{1} << 40, 30), 1024);
  EXPECT_EQ(computeAlu(machine, AluFunction::Shift, -(int64_t{1} << 60), 33), -32768);
  EXPECT_EQ(computeAlu(machine, AluFunction::Shift, -3, 1), -2);
  EXPECT_EQ(storedValue(machine, 0x18001, 16), -32767);
}

TEST(DNNWeaverAlu, ThePatentsMachineSeesWholeSums) {
  const Parameters machine = *parametersNamed("patent", "");
  EXPECT_EQ(computeAlu(machine, AluFunction::Add, 0x18000, 1), 0x18001);
  EXPECT_EQ(computeAlu(machine, AluFunction::Mul, -(int64_t{1} << 40), 32767),
            -(int64_t{1} << 40) * 32767);
  // The low 64 bits of the product.
  EXPECT_EQ(computeAlu(machine, AluFunction::Mul, (int64_t{1} << 40) + 3, (int64_t{1} << 40) + 1),
            (int64_t{1} << 42) + 3);
  EXPECT_EQ(computeAlu(machine, AluFunction::Add, int64_t{1} << 48, 1), (int64_t{1} << 48) + 1);
  // Sums beyond 64 bits lose their upper ones, as an adder does.
  EXPECT_EQ(computeAlu(machine, AluFunction::Sub, INT64_MIN, 1), INT64_MAX);
  EXPECT_EQ(computeAlu(machine, AluFunction::MoveHigh, 0, 3), 3 << 16);
  EXPECT_EQ(computeAlu(machine, AluFunction::Shift, -3, 1), -2);
  EXPECT_EQ(computeAlu(machine, AluFunction::Shift, 5, 1), 3);
  EXPECT_EQ(storedValue(machine, 300, 8), 127);
  EXPECT_EQ(storedValue(machine, -300, 8), -128);
}

} // namespace
