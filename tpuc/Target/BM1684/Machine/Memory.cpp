//===- Memory.cpp - The memories of the simulated chip --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684/Machine/Memory.h"

#include "tpuc/Support/Float.h"

#include <cassert>
#include <cmath>
#include <cstring>
#include <numbers>

namespace tpuc::bm1684 {

namespace {
constexpr bm168x::ChipMemory kOtherMemories[] = {{kL2Base, kL2Bytes}};

/// The nearest value that 32 bits hold, denormals included.
double roundedToFloat(double value) {
  constexpr double kLeastNormal = 0x1p-126, kLeast = 0x1p-149;
  if (value >= kLeastNormal)
    return static_cast<float>(value);
  return std::nearbyint(value / kLeast) * kLeast;
}
} // namespace

Memory::Memory() : bm168x::Memory(kLocalMemory, kOtherMemories, kGlobalBase) { fillTables(l2()); }

// Each table is given by its series. Table look-ups index the first ones with bytes.
void fillTables(std::span<uint8_t> l2) {
  assert(l2.size() == kL2Bytes);
  const auto put = [&](uint32_t offset, int index, double value) {
    // By integers: threads may flush denormals.
    const uint32_t bits = encodeFloat<DataType::F32>(value);
    std::memcpy(&l2[kTablesOffset + offset + static_cast<uint32_t>(index) * 4], &bits, 4);
  };
  for (int i = 0; i < 256; ++i) {
    const int number = i < 128 ? i : i - 256;
    // Exponentials that 32 bits hold, and their exponents.
    if (const int power = i < 153 ? i : i - 256; power <= 88) {
      put(0x000, i, power);
      put(0x400, i, std::exp(power));
    }
    put(0x800, i, (i - 127) * std::numbers::ln2);
    put(0xF00, i, i);
    put(0x1300, i, number);
  }
  // Coefficients of exp(x) - 1 and of the sine, rounded at each step down to denormals, and of
  // log(1 + x).
  double factorial = 1;
  for (int i = 0; i < 64; ++i) {
    factorial = roundedToFloat(factorial / (i + 1));
    put(0xC00, i, factorial);
    if (i % 2 == 0)
      put(0x1700, i, i % 4 == 0 ? factorial : -factorial);
    put(0xD00, i, (i % 2 == 0 ? 1.0 : -1.0) / (i + 1));
  }
  for (int i = 0; i < 2048; ++i)
    put(0x1800, i, i);
}

} // namespace tpuc::bm1684
