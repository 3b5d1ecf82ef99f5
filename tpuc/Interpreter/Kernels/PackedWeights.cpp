//===- PackedWeights.cpp - Constant factors in the order in which tiles read them -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Kernels/PackedWeights.h"

#include <algorithm>
#include <cstdlib>
#include <new>

using namespace tpuc;
using namespace tpuc::kernels;

std::vector<ColumnGroup> kernels::groupColumns(int64_t blocks, int64_t maxBlocks) {
  const int64_t count = (blocks + maxBlocks - 1) / maxBlocks;
  std::vector<ColumnGroup> groups;
  for (int64_t i = 0, first = 0; i < count; ++i) {
    const int64_t own = blocks / count + (i < blocks % count ? 1 : 0);
    groups.push_back({first, own});
    first += own;
  }
  return groups;
}

AlignedFloats::AlignedFloats(int64_t count) {
  const auto bytes = (static_cast<size_t>(count) * sizeof(float) + 63) / 64 * 64;
  memory.reset(static_cast<float *>(std::aligned_alloc(64, std::max<size_t>(bytes, 64))));
  if (!memory)
    throw std::bad_alloc();
}

void AlignedFloats::Free::operator()(float *block) const { std::free(block); }

PackedWeights::PackedWeights(int64_t columns, int64_t taps, int64_t terms)
    : taps(taps), terms(terms),
      groups(groupColumns((columns + kBlock - 1) / kBlock, simdKernels().maxBlocks)),
      floats((columns + kBlock - 1) / kBlock * kBlock * taps * terms) {}

std::vector<float> kernels::paddedBias(const Tensor *bias, int64_t columns) {
  std::vector<float> result(static_cast<size_t>((columns + kBlock - 1) / kBlock * kBlock), 0.0F);
  if (!bias)
    return result;
  const auto values = bias->data<float>();
  for (int64_t i = 0; i < columns; ++i)
    result[static_cast<size_t>(i)] = values[values.size() == 1 ? 0 : static_cast<size_t>(i)];
  return result;
}
