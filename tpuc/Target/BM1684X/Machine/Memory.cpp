//===- Memory.cpp - The memories of the simulated chip --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Machine/Memory.h"

#include "tpuc/Support/Float.h"

#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <new>
#include <numbers>

namespace tpuc::bm1684x {

namespace {
constexpr std::align_val_t kPage{4096};
} // namespace

void Memory::Free::operator()(uint8_t *bytes) const { ::operator delete(bytes, kPage); }

Memory::Memory()
    : localBytes(static_cast<uint8_t *>(::operator new(kLocalBytes, kPage))),
      staticBytes(kStaticBytes), l2Bytes(kL2Bytes) {
  constexpr uint8_t kPattern[] = {0xef, 0xbe, 0xad, 0xde};
  for (size_t i = 0; i < kLocalBytes; i += sizeof kPattern)
    std::memcpy(localBytes.get() + i, kPattern, sizeof kPattern);
  fillStaticTables(staticBytes);
}

Expected<void> Memory::map(Region region) {
  auto text = [](const Region &r) {
    return fmt::format("{:#x} to {:#x}", r.address, r.address + r.size);
  };
  if (region.address < kGlobalBase || region.address + region.size < region.address)
    return makeError("global memory", text(region),
                     fmt::format("addresses from {:#x}", kGlobalBase));
  for (const Region &other : regions)
    if (region.address < other.address + other.size && other.address < region.address + region.size)
      return makeError("global memory", fmt::format("{}, mapped to {}", text(region), text(other)),
                       "regions that do not overlap");
  regions.push_back(region);
  return {};
}

Expected<void> Memory::mapGlobal(uint64_t address, std::span<uint8_t> bytes) {
  return map({address, bytes.size(), bytes.data(), true});
}

Expected<void> Memory::mapGlobalReadOnly(uint64_t address, std::span<const uint8_t> bytes) {
  // `resolve` hands it out for reading only.
  return map({address, bytes.size(), const_cast<uint8_t *>(bytes.data()), false});
}

uint8_t *Memory::resolve(uint64_t address, uint64_t size, bool forWriting) {
  auto within = [&](uint64_t base, uint64_t length) {
    return address >= base && size <= length && address - base <= length - size;
  };
  for (const Region &region : regions)
    if (within(region.address, region.size))
      return forWriting && !region.isWritable ? nullptr : region.bytes + (address - region.address);
  if (within(kLocalBase, kLocalBytes))
    return localBytes.get() + (address - kLocalBase);
  if (within(kStaticBase, kStaticBytes))
    return staticBytes.data() + (address - kStaticBase);
  if (within(kL2Base, kL2Bytes))
    return l2Bytes.data() + (address - kL2Base);
  return nullptr;
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
