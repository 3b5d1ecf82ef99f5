//===- IntegerWords.h - Operands of integer tiles ---------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_INTEGERWORDS_H
#define TPUC_INTERPRETER_KERNELS_INTEGERWORDS_H

#include "tpuc/Interpreter/Kernels/IntegerRequantizer.h"

#include <bit>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

namespace tpuc::kernels {

/// Elements that are not initialized, aligned to 64 bytes.
template <typename T> class Scratch {
public:
  explicit Scratch(int64_t count)
      : memory(static_cast<T *>(
            ::operator new(static_cast<size_t>(count) * sizeof(T), std::align_val_t(64)))) {}
  T *data() const { return memory.get(); }

private:
  struct Free {
    void operator()(T *block) const { ::operator delete(block, std::align_val_t(64)); }
  };
  std::unique_ptr<T, Free> memory;
};

/// A word of the terms of `kind`; each is cut to the bits that it has there.
inline uint32_t wordOf(WordKind kind, const std::array<int32_t, 4> &terms) {
  const auto count = static_cast<size_t>(termsOfWord(kind));
  const uint32_t bits = 32 / static_cast<uint32_t>(count);
  const uint32_t mask = (uint32_t(1) << bits) - 1;
  uint32_t word = 0;
  for (size_t i = 0; i < count; ++i)
    word |= (static_cast<uint32_t>(terms[i]) & mask) << (bits * i);
  return word;
}

/// Makes elements of the output of rows of sums: bytes, or without a requantizer the sums.
class RowFinisher {
public:
  explicit RowFinisher(const Requantizer *requantizer) : requantizer(requantizer) {}

  int64_t elementBytes() const { return requantizer ? 1 : 4; }
  /// Row r has the factor of channel + r; `toStep` is in bytes.
  void rows(const int32_t *sums, int64_t sumStep, int64_t rows, int64_t count, int64_t channel,
            std::byte *to, int64_t toStep) const {
    if (requantizer)
      return requantizer->rows(
          {sums, sumStep, rows, count, reinterpret_cast<uint8_t *>(to), toStep}, channel);
    for (int64_t r = 0; r < rows; ++r)
      std::memcpy(to + r * toStep, sums + r * sumStep,
                  static_cast<size_t>(count) * sizeof(int32_t));
  }

private:
  const Requantizer *requantizer;
};

/// Rows of a tile, and where they begin.
struct TileRows {
  int64_t first, rows;
};

/// `rows` rows in tiles that there are.
inline std::vector<TileRows> tileRows(int64_t rows, int64_t maxRows) {
  std::vector<TileRows> result;
  for (int64_t first = 0; first < rows;) {
    const auto left = static_cast<uint64_t>(rows - first);
    const auto size = std::min(maxRows, static_cast<int64_t>(std::bit_floor(left)));
    result.push_back({first, size});
    first += size;
  }
  return result;
}

/// Runs tiles over `vectors` vectors of lanes.
inline void runTiles(const IntegerSimd &simd, WordKind kind, int64_t rows, int64_t vectors,
                     WordTileArgs args) {
  const auto &byVectors =
      simd.tile[static_cast<size_t>(kind)][static_cast<size_t>(std::countr_zero(uint64_t(rows)))];
  for (int64_t size = simd.maxVectors; size > 0; --size) {
    args.repeats = vectors / size;
    if (args.repeats == 0)
      continue;
    byVectors[static_cast<size_t>(size - 1)](args);
    const int64_t done = args.repeats * size * kWordLanes;
    args.lanes += done;
    args.sums += done;
    if (args.laneBias)
      args.laneBias += done;
    vectors %= size;
  }
}

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_INTEGERWORDS_H
