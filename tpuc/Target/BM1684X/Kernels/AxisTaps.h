//===- AxisTaps.h - Weighted sums of two elements of an axis ----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_AXISTAPS_H
#define TPUC_TARGET_BM1684X_KERNELS_AXISTAPS_H

#include "tpuc/Target/BM1684X/Kernels/Builder.h"
#include "tpuc/Target/BM1684X/Kernels/Resize.h"
#include "tpuc/Target/BM1684X/Kernels/ScratchAllocator.h"

#include <map>
#include <vector>

namespace tpuc::bm1684x {

/// Output elements of an axis that a few commands compute: `count` times `weights.size()` of them.
/// The element (i, k) lies at to + i * toStep + k. Its taps lie at from + i * fromStep and
/// `toSecond` behind it, where the second weighs weights[k].
struct TapBlock {
  int64_t to = 0, toStep = 1;
  int64_t from = 0, fromStep = 1;
  int64_t toSecond = 0;
  int64_t count = 0;
  std::vector<double> weights;

  auto width() const { return static_cast<int64_t>(weights.size()); }
  /// Whether all elements are copies.
  bool copies() const;
};

/// The blocks of an axis in the form that takes the fewest cycles by estimate. Elements of equal
/// weights are a block where they lie at equal distances. Elements between the same two inputs are
/// one, too, with a tensor of weights.
///
/// `shape` is the output's, of the type `sums`; axis is 2 or 3.
std::vector<TapBlock> tapBlocks(std::vector<ResizeTap> taps, unsigned axis, const Extents &shape);

/// Tensors of weights, the same in all lanes, which commands fill in number by number: once for all
/// blocks with the same weights.
class TapWeights {
public:
  /// Products with them are added up in `sums`: I32 has weights of I16, floats have their own.
  explicit TapWeights(DataType sums) : sums(sums) {}

  /// Takes the places of what the blocks need.
  void plan(const std::vector<TapBlock> &blocks, ScratchAllocator &space);
  /// [1, 64, 1, width] for first and for second elements.
  std::array<LocalTensor, 2> of(Builder &builder, const TapBlock &block);

private:
  struct Pair {
    std::array<uint32_t, 2> places;
    bool isFilled = false;
  };
  DataType sums;
  std::map<std::vector<double>, Pair> pairs;
};

/// output = the blocks of `axis`. `products` has space for as many elements as the output.
void addBlocks(Builder &builder, const LocalTensor &output, const LocalTensor &input, unsigned axis,
               const std::vector<TapBlock> &blocks, TapWeights &weights, uint32_t products);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_AXISTAPS_H
