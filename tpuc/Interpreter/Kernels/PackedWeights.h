//===- PackedWeights.h - Constant factors in the order in which tiles read them -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_PACKEDWEIGHTS_H
#define TPUC_INTERPRETER_KERNELS_PACKEDWEIGHTS_H

#include "tpuc/Interpreter/Kernels/Simd.h"

#include <memory>
#include <vector>

namespace tpuc::kernels {

/// Blocks of 16 output columns that one tile computes together.
struct ColumnGroup {
  int64_t firstBlock, blocks;
};

/// `blocks` blocks in groups as large as tiles can be, of nearly the same size.
std::vector<ColumnGroup> groupColumns(int64_t blocks, int64_t maxBlocks);

/// Floats that are not initialized, aligned to 64 bytes; large ones in pages of their own.
class AlignedFloats {
public:
  AlignedFloats() = default;
  /// Throws std::bad_alloc.
  explicit AlignedFloats(int64_t count);
  float *data() const { return memory.get(); }

private:
  struct Free {
    void operator()(float *block) const;
  };
  std::unique_ptr<float[], Free> memory;
};

/// The factors of a sum over [taps][terms] for `columns` outputs: for each group of columns
/// [taps][terms][blocks of the group][16], columns beyond the last 0.
class PackedWeights {
public:
  /// `value(column, tap, term)` reads a factor; called column by column within a group.
  template <typename Value>
  PackedWeights(int64_t columns, int64_t taps, int64_t terms, Value &&value)
      : PackedWeights(columns, taps, terms) {
    for (const ColumnGroup &group : groups)
      for (int64_t i = 0; i < group.blocks * kBlock; ++i) {
        const int64_t column = group.firstBlock * kBlock + i;
        float *to = floats.data() + group.firstBlock * kBlock * taps * terms + i;
        for (int64_t tap = 0; tap < taps; ++tap)
          for (int64_t term = 0; term < terms; ++term, to += group.blocks * kBlock)
            *to = column < columns ? value(column, tap, term) : 0.0F;
      }
  }

  const std::vector<ColumnGroup> &columnGroups() const { return groups; }
  /// The factors of a group from `tap`, `term` on.
  const float *at(const ColumnGroup &group, int64_t tap, int64_t term) const {
    return floats.data() +
           (group.firstBlock * taps * terms + (tap * terms + term) * group.blocks) * kBlock;
  }

private:
  PackedWeights(int64_t columns, int64_t taps, int64_t terms);

  int64_t taps, terms;
  std::vector<ColumnGroup> groups;
  AlignedFloats floats;
};

/// `bias`, or zeros for null, padded to whole blocks; a bias of one element is that of all.
std::vector<float> paddedBias(const Tensor *bias, int64_t columns);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_PACKEDWEIGHTS_H
