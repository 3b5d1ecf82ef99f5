//===- Choices.h - Bytes as a row of decisions ------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_FUZZ_MEANING_CHOICES_H
#define TEST_FUZZ_MEANING_CHOICES_H

#include <cstddef>
#include <cstdint>
#include <span>

namespace tpuc::fuzz {

/// Decisions by the bytes of a fuzzer's input, a number of bytes each. Behind the last byte all
/// decisions are the first choice.
class Choices {
public:
  explicit Choices(std::span<const uint8_t> bytes) : rest(bytes) {}

  bool isEmpty() const { return rest.empty(); }
  uint8_t byte() {
    if (rest.empty())
      return 0;
    const uint8_t value = rest.front();
    rest = rest.subspan(1);
    return value;
  }
  uint64_t word() {
    uint64_t value = 0;
    for (int i = 0; i < 8; ++i)
      value = value << 8 | byte();
    return value;
  }
  /// From 0 to below `count`, which is 1 to 65536.
  size_t below(size_t count) {
    return count <= 256 ? byte() % count : (size_t{byte()} << 8 | byte()) % count;
  }
  bool oneIn(size_t count) { return below(count) == count - 1; }
  /// One of an array, a vector or a span that is not empty.
  const auto &of(const auto &values) { return values[below(std::size(values))]; }

private:
  std::span<const uint8_t> rest;
};

} // namespace tpuc::fuzz

#endif // TEST_FUZZ_MEANING_CHOICES_H
