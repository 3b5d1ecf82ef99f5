//===- Replay.cpp - A whole model on both machines, command by command ----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/conformance/bm168x/Replay.h"

bool tpuc::bm168x::conformance::compareMemory(const char *what, std::span<uint8_t> ours,
                                              const uint8_t *vendor) {
  if (std::memcmp(ours.data(), vendor, ours.size()) == 0)
    return true;
  size_t count = 0;
  size_t first = ours.size();
  for (size_t i = 0; i < ours.size(); ++i)
    if (ours[i] != vendor[i]) {
      first = std::min(first, i);
      ++count;
    }
  const auto wordOf = [word = first / 4 * 4](const uint8_t *bytes) {
    uint32_t value = 0;
    std::memcpy(&value, bytes + word, sizeof value);
    return value;
  };
  fmt::print("  {}: {} bytes differ, first at 0x{:X}: 0x{:08X}, vendor 0x{:08X}\n", what, count,
             first, wordOf(ours.data()), wordOf(vendor));
  std::copy_n(vendor, ours.size(), ours.data());
  return false;
}
