//===- ShortList.h - A list that a table of constants can hold --*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_SHORTLIST_H
#define TPUC_TARGET_SHORTLIST_H

#include <array>
#include <cstddef>
#include <initializer_list>

namespace tpuc {

/// At most `N` elements in their order. A literal type; a constant with more does not compile.
template <typename T, size_t N> class ShortList {
public:
  constexpr ShortList() = default;
  constexpr ShortList(std::initializer_list<T> values) {
    for (const T &value : values)
      elements.at(count++) = value;
  }

  constexpr size_t size() const { return count; }
  constexpr bool empty() const { return count == 0; }
  constexpr T &operator[](size_t index) { return elements[index]; }
  constexpr const T &operator[](size_t index) const { return elements[index]; }
  constexpr const T &front() const { return elements.front(); }
  constexpr const T *begin() const { return elements.data(); }
  constexpr const T *end() const { return elements.data() + count; }

private:
  std::array<T, N> elements = {};
  size_t count = 0;
};

} // namespace tpuc

#endif // TPUC_TARGET_SHORTLIST_H
