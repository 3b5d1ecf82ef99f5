//===- AttentionHeads.h - Rows that hold the heads of attention -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_KERNELS_ATTENTIONHEADS_H
#define TPUC_TARGET_BM1684X_KERNELS_ATTENTIONHEADS_H

#include "tpuc/Support/Error.h"
#include "tpuc/Target/BM1684X/Kernels/LocalTensor.h"

#include <algorithm>

namespace tpuc::bm1684x {

/// query [n,Q,1,heads*D], key [n,K,1,keyHeads*D], value [n,K,1,keyHeads*E], output
/// [n,Q,1,heads*E], all Aligned from lane 0, rows over lanes; heads is a multiple of keyHeads, and
/// successive heads of queries share one of keys.
struct AttentionOperands {
  LocalTensor query;
  LocalTensor key;
  LocalTensor value;
  LocalTensor output;
  int64_t heads = 1;
  int64_t keyHeads = 1;
};

struct HeadSizes {
  int64_t rows, keys, width, valueWidth;
};
HeadSizes headSizes(const AttentionOperands &attention);

/// Errors unless the operands lie as they should and their shapes fit.
Expected<void> checkHeads(const std::string &where, const AttentionOperands &attention);

/// Heads (samples of one head) whose scores in F32 fit side by side in what they may take of a
/// lane.
int64_t headsAtOnce(const AttentionOperands &attention);

/// Heads [first, first + count) of rows that hold `heads` of them, n the head; where they hold one,
/// of so many samples.
LocalTensor headsOfRows(const LocalTensor &rows, int64_t heads, int64_t first, int64_t count);

/// The operands of sample `index` alone.
AttentionOperands sampleOf(const AttentionOperands &attention, int64_t index);

/// Calls `emit` with operands, the first of their heads (samples of one head) that are computed
/// together, and how many these are, until all are done.
template <typename Emit> Expected<void> forHeads(const AttentionOperands &attention, Emit emit) {
  const int64_t step = headsAtOnce(attention);
  const auto forAll = [&](const AttentionOperands &operands, int64_t count) -> Expected<void> {
    for (int64_t first = 0; first < count; first += step)
      if (Expected<void> done = emit(operands, first, std::min(step, count - first)); !done)
        return done;
    return {};
  };
  const int64_t samples = attention.query.shape[0];
  if (attention.heads == 1)
    return forAll(attention, samples);
  for (int64_t sample = 0; sample < samples; ++sample)
    if (Expected<void> done = forAll(sampleOf(attention, sample), attention.heads); !done)
      return done;
  return {};
}

/// The keys and values that heads [first, first + count) of queries read: `emit` with the head of
/// keys and, among `count`, the first head and the number of heads that share it.
template <typename Emit>
void forSharedHeads(const AttentionOperands &attention, int64_t first, int64_t count, Emit emit) {
  const int64_t shared = attention.heads / attention.keyHeads;
  if (shared == 1)
    return emit(first, int64_t{0}, count);
  for (int64_t head = 0; head < count; ++head)
    emit((first + head) / shared, head, int64_t{1});
}

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_ATTENTIONHEADS_H
