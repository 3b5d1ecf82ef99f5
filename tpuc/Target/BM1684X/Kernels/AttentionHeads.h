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
#include <functional>
#include <optional>

namespace tpuc::bm1684x {

/// What is added to the scores of queries. Finite or -inf, F32 or of the type of the queries.
struct AttentionMask {
  /// [m,Q,1,K] Aligned from lane 0, rows over lanes; where it is the same for all queries
  /// [m,64,1,K], the same in every lane. m is `heads` for one or all samples, or for each of them.
  LocalTensor numbers;
  bool isForAllRows = false;
  /// 1 for all heads, or as many as there are of queries.
  int64_t heads = 1;
};

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
  std::optional<AttentionMask> mask;
};

struct HeadSizes {
  int64_t rows, keys, width, valueWidth;
};
HeadSizes headSizes(const AttentionOperands &attention);

/// Errors unless the operands lie as they should and their shapes fit.
Expected<void> checkHeads(const std::string &where, const AttentionOperands &attention);

/// Matrices of scores, each of a head of a sample, whose F32 fits side by side in what they may
/// take of a lane.
int64_t headsAtOnce(const AttentionOperands &attention);

/// The operands of samples [first, first + count) alone.
AttentionOperands samplesOf(const AttentionOperands &attention, int64_t first, int64_t count);

/// Calls `emit` with operands of some samples, the first of their heads that are computed together,
/// and how many these are, until all are done. Tensors [n,...] of them are those of each head, and
/// within it of each sample.
template <typename Emit> Expected<void> forHeads(const AttentionOperands &attention, Emit emit) {
  const int64_t step = headsAtOnce(attention);
  const int64_t heads = std::min(step, attention.heads);
  const int64_t samples = std::max<int64_t>(step / attention.heads, 1);
  for (int64_t sample = 0; sample < attention.query.shape[0]; sample += samples) {
    const AttentionOperands operands =
        samplesOf(attention, sample, std::min(samples, attention.query.shape[0] - sample));
    for (int64_t first = 0; first < attention.heads; first += heads)
      if (Expected<void> done = emit(operands, first, std::min(heads, attention.heads - first));
          !done)
        return done;
  }
  return {};
}

/// Calls `emit(to, from)` for the parts `from` of rows that hold `heads` heads: heads [first,
/// first + count), n the head and within it the sample. `to` is the first n of the part.
template <typename Emit>
void forHeadsOfRows(const LocalTensor &rows, int64_t heads, int64_t first, int64_t count,
                    Emit emit) {
  const int64_t samples = rows.shape[0];
  const int64_t width = rows.shape[3] / heads;
  for (int64_t head = 0; head < count; ++head) {
    LocalTensor view = rows.slice(3, (first + head) * width, width);
    if (samples > 1 || count == 1) {
      emit(head * samples, view);
      continue;
    }
    // All heads of one sample.
    view.explicitStride = view.strides();
    view.layout = Layout::Explicit;
    view.shape[0] = count;
    view.explicitStride[0] = width;
    return emit(int64_t{0}, view);
  }
}

/// The same for the keys or values that heads [first, first + count) of queries read.
template <typename Emit>
void forSharedHeads(const AttentionOperands &attention, const LocalTensor &rows, int64_t first,
                    int64_t count, Emit emit) {
  const int64_t shared = attention.heads / attention.keyHeads;
  if (shared == 1)
    return forHeadsOfRows(rows, attention.heads, first, count, emit);
  for (int64_t head = 0; head < count; ++head)
    forHeadsOfRows(
        rows, attention.keyHeads, (first + head) / shared, 1,
        [&](int64_t /*to*/, const LocalTensor &from) { emit(head * from.shape[0], from); });
}

/// Calls `emit(to, from)` for the parts `from` of what is added to the scores of heads [first,
/// first + count), repeated where heads, samples or queries share it. There must be a mask.
void forMasks(const AttentionOperands &attention, int64_t first, int64_t count,
              const std::function<void(int64_t, const LocalTensor &)> &emit);

} // namespace tpuc::bm1684x

#endif // TPUC_TARGET_BM1684X_KERNELS_ATTENTIONHEADS_H
