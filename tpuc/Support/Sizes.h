//===- Sizes.h - Arithmetic of sizes that does not overflow -----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Extents, elements, bytes and operations of networks come from files of strangers. Whoever adds
// or multiplies them does it with Count, and refuses what is too large before asking for memory.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_SUPPORT_SIZES_H
#define TPUC_SUPPORT_SIZES_H

#include "tpuc/Support/DataType.h"
#include "tpuc/Support/Error.h"

#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

namespace tpuc {

/// An integer whose sums and products stay at an end, kMost or -kMost, instead of overflowing.
class Count {
public:
  static constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

  constexpr Count(int64_t number) : value(number) {}
  constexpr operator int64_t() const { return value; }

  /// Whether the true number may be larger, or smaller.
  constexpr bool isSaturated() const { return value == kMost || value <= -kMost; }

  constexpr Count &operator+=(Count other) {
    if (__builtin_add_overflow(value, other.value, &value))
      value = other.value > 0 ? kMost : -kMost;
    return *this;
  }
  constexpr Count &operator-=(Count other) {
    if (__builtin_sub_overflow(value, other.value, &value))
      value = other.value < 0 ? kMost : -kMost;
    return *this;
  }
  constexpr Count &operator*=(Count other) {
    const bool isNegative = (value < 0) != (other.value < 0);
    if (__builtin_mul_overflow(value, other.value, &value))
      value = isNegative ? -kMost : kMost;
    return *this;
  }

  // For plain integers too, so that neither side of `count * 2` is converted to something else.
  friend constexpr Count operator+(Count a, Count b) { return a += b; }
  friend constexpr Count operator-(Count a, Count b) { return a -= b; }
  friend constexpr Count operator*(Count a, Count b) { return a *= b; }
  template <std::integral T> friend constexpr Count operator+(Count a, T b) { return a += of(b); }
  template <std::integral T> friend constexpr Count operator-(Count a, T b) { return a -= of(b); }
  template <std::integral T> friend constexpr Count operator*(Count a, T b) { return a *= of(b); }
  template <std::integral T> friend constexpr Count operator+(T a, Count b) { return b += of(a); }
  template <std::integral T> friend constexpr Count operator-(T a, Count b) { return of(a) -= b; }
  template <std::integral T> friend constexpr Count operator*(T a, Count b) { return b *= of(a); }

private:
  template <std::integral T> static constexpr Count of(T number) {
    return {static_cast<int64_t>(number)};
  }

  int64_t value;
};

/// The most elements along one dimension of a tensor, and the most bytes of a tensor: what no
/// device and no host exceeds. Both are 2^40.
inline constexpr int64_t kMostExtent = int64_t(1) << 40;
inline constexpr int64_t kMostTensorBytes = int64_t(1) << 40;

/// The product of extents, at most Count::kMost. None may be negative.
Count elementsOf(std::span<const int64_t> dims);

/// The bytes of a tensor of these extents, at most Count::kMost. None may be negative.
Count tensorBytes(std::span<const int64_t> dims, DataType type);

/// Checks that a tensor of this shape could be: as many dimensions as Shape has, no extent above
/// kMostExtent, no more than kMostTensorBytes. Negative extents stand for such that are not known.
/// Errors (without `where`) say what is too large.
Expected<void> checkTensorSize(std::span<const int64_t> dims, DataType type);

/// A number of bytes as people read it: "512 B", "1.5 GiB", "at least 8 EiB".
std::string sizeText(Count bytes);

/// The bytes that this process can have: memory and swap space of the machine, or less where a
/// limit is set for the process. Count::kMost where the system does not say.
int64_t hostMemory();

} // namespace tpuc

#endif // TPUC_SUPPORT_SIZES_H
