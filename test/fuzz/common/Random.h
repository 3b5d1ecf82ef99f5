//===- Random.h - Numbers by chance, the same everywhere --------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TEST_FUZZ_COMMON_RANDOM_H
#define TEST_FUZZ_COMMON_RANDOM_H

#include <cstdint>
#include <iterator>
#include <random>
#include <string>

namespace tpuc::fuzz {

/// Numbers that are the same on every machine for the same seed.
class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}

  uint64_t next() { return engine(); }
  /// From 0 to below `count`, which is positive.
  size_t below(size_t count) { return static_cast<size_t>(engine() % count); }
  bool oneIn(size_t count) { return below(count) == 0; }
  /// One of an array, a vector or a span that is not empty.
  const auto &of(const auto &values) { return values[below(std::size(values))]; }

private:
  std::mt19937_64 engine;
};

/// What a mutation did.
struct Change {
  /// Such as "Conv.strides[0] = 0"; empty if there was nothing to change.
  std::string text;
  /// What was changed, such as "an attribute".
  std::string kind;
};

} // namespace tpuc::fuzz

#endif // TEST_FUZZ_COMMON_RANDOM_H
