//===- EnumSet.h - A set of enumerators, as a constant ----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_ENUMSET_H
#define TPUC_TARGET_ENUMSET_H

#include <bit>
#include <cstdint>
#include <initializer_list>

namespace tpuc {

/// A set of values of `E`, an enumeration whose values are 0 to 31. A literal type, so that a table
/// of constants can hold it.
template <typename E> class EnumSet {
public:
  constexpr EnumSet() = default;
  constexpr EnumSet(std::initializer_list<E> values) {
    for (E value : values)
      bits |= mask(value);
  }

  constexpr bool contains(E value) const { return (bits & mask(value)) != 0; }
  constexpr bool empty() const { return bits == 0; }
  constexpr int size() const { return std::popcount(bits); }
  constexpr void insert(E value) { bits |= mask(value); }
  constexpr void erase(E value) { bits &= ~mask(value); }
  constexpr bool operator==(const EnumSet &) const = default;

private:
  static constexpr uint32_t mask(E value) { return uint32_t{1} << static_cast<unsigned>(value); }
  uint32_t bits = 0;
};

} // namespace tpuc

#endif // TPUC_TARGET_ENUMSET_H
