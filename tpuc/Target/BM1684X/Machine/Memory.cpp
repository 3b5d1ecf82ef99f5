//===- Memory.cpp - The memories of the simulated chip --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Machine/Memory.h"

#include "tpuc/Support/Float.h"

#include <cassert>
#include <cmath>
#include <cstring>
#include <numbers>

namespace tpuc::bm1684x {

namespace {
constexpr bm168x::ChipMemory kOtherMemories[] = {{kStaticBase, kStaticBytes}, {kL2Base, kL2Bytes}};
} // namespace

Memory::Memory() : bm168x::Memory(kLocalMemory, kOtherMemories, kGlobalBase) {
  fillStaticTables(staticMemory());
}

namespace {

/// Writes tables by word offset.
struct TableWriter {
  std::span<uint8_t> bytes;

  void word(size_t index, uint32_t value) { std::memcpy(&bytes[index * 4], &value, 4); }
  /// Half words follow each other without gaps, as commands read them.
  void half(size_t index, size_t number, uint16_t value) {
    std::memcpy(&bytes[index * 4 + number * 2], &value, 2);
  }
  void number(size_t index, double value) { word(index, encodeFloat<DataType::F32>(value)); }
};

} // namespace

// The tables follow each other as the firmware of the chip has them; each is given by its series.
void fillStaticTables(std::span<uint8_t> bytes) {
  assert(bytes.size() == kStaticBytes);
  std::memset(bytes.data(), 0, bytes.size());
  TableWriter table{bytes};
  for (int i = 0; i < 192; ++i)
    table.number(static_cast<size_t>(i), std::exp(i - 103));
  std::array<double, 66> factorial{};
  factorial[0] = 1;
  for (size_t k = 1; k < factorial.size(); ++k)
    factorial[k] = factorial[k - 1] * static_cast<double>(k);
  constexpr double kErf[] = {-1.26551223, 1.00002368,  .37409196,  .09678418,  -.18628806,
                             .27886807,   -1.13520398, 1.48851587, -.82215223, .17087277};
  constexpr double kTau = 2 * std::numbers::pi;
  double arcsin = 1; // C(2k, k) / 4^k
  for (size_t k = 0; k < 64; ++k) {
    double sign = k % 2 == 0 ? 1 : -1;
    double n = static_cast<double>(k);
    double log = k == 0 ? 0 : -sign / n;
    table.number(288 + k, log);
    table.word(368 + k, static_cast<uint32_t>(k));
    table.number(496 + k, arcsin / (2 * n + 1));
    arcsin *= (2 * n + 1) / (2 * n + 2);
    if (k < 32) {
      table.number(256 + k, 1 / factorial[k]);
      table.number(432 + k, sign * std::pow(kTau, 2 * n + 1) / factorial[2 * k + 1]);
      table.number(464 + k, sign * std::pow(kTau, 2 * n) / factorial[2 * k]);
    }
    if (k < 10) {
      table.number(352 + k, kErf[k]);
      table.half(592, k, encodeFloat<DataType::F16>(1 / factorial[k]));
      table.half(608, k, encodeFloat<DataType::BF16>(1 / factorial[k]));
    }
    if (k < 16) {
      table.half(624, k, encodeFloat<DataType::F16>(log));
      table.half(640, k, encodeFloat<DataType::BF16>(log));
    }
  }
}

} // namespace tpuc::bm1684x
