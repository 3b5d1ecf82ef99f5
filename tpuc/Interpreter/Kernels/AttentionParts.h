//===- AttentionParts.h - Heads and masks of attention ----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_KERNELS_ATTENTIONPARTS_H
#define TPUC_INTERPRETER_KERNELS_ATTENTIONPARTS_H

#include "tpuc/Interpreter/Kernels/Attention.h"
#include "tpuc/Interpreter/Kernels/ComputeType.h"
#include "tpuc/Support/Convert.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace tpuc::kernels {

/// Where the rows of a head of an operand are: [B, H, S, D], or [B, S, H * D].
struct HeadLayout {
  int64_t heads, rows, size;
  bool isPacked;

  HeadLayout(const Shape &shape, int64_t packedHeads) : isPacked(packedHeads > 0) {
    heads = isPacked ? packedHeads : shape[1];
    rows = isPacked ? shape[1] : shape[2];
    size = isPacked ? shape[2] / packedHeads : shape[3];
  }
  int64_t rowStep() const { return isPacked ? heads * size : size; }
  int64_t begin(int64_t batch, int64_t head) const {
    return isPacked ? (batch * rows * heads + head) * size : (batch * heads + head) * rows * size;
  }
};

/// What the mask adds to the scores: 0, -inf, or its numbers.
template <typename T> class Mask {
public:
  /// `scores`: the extents [B, H, Q, T] to which the mask broadcasts.
  Mask(const Tensor *mask, const Shape &scores) {
    if (!mask)
      return;
    bool isBool = mask->type() == DataType::Bool;
    Tensor wide = convert(*mask, dataTypeOf<T>());
    values.assign(wide.template data<T>().begin(), wide.template data<T>().end());
    if (isBool)
      for (T &value : values)
        value = value != T(0) ? T(0) : kHidden;
    const Shape &shape = mask->shape();
    Shape strides = shape.strides();
    end = shape[shape.rank() - 1];
    for (size_t back = 2; back <= shape.rank(); ++back)
      if (shape[shape.rank() - back] == scores[4 - back])
        steps[4 - back] = strides[shape.rank() - back];
  }

  /// The keys that the mask has something to say about; those behind them are hidden.
  int64_t numKeys(int64_t total) const { return end < 0 ? total : std::min(end, total); }
  /// What is added to the scores of a query; null if that is nothing.
  const T *row(int64_t batch, int64_t head, int64_t query) const {
    return values.empty() ? nullptr
                          : values.data() + batch * steps[0] + head * steps[1] + query * steps[2];
  }
  T at(int64_t batch, int64_t head, int64_t query, int64_t key) const {
    if (end >= 0 && key >= end)
      return kHidden;
    const T *added = row(batch, head, query);
    return added ? added[key] : T(0);
  }

private:
  static constexpr T kHidden = -std::numeric_limits<T>::infinity();
  std::vector<T> values;
  int64_t steps[3] = {0, 0, 0};
  int64_t end = -1; ///< Keys from here on are hidden; negative: there is no mask.
};

/// Whether `attendFloats` can compute it: f32 throughout, no rows to join, no scores to show.
bool canAttendFloats(const AttentionTensors &tensors, const AttentionParams &params,
                     const AttentionResults &results);
/// The same as `attention`: a piece of the queries goes through all steps while its scores are in
/// the cache.
void attendFloats(const AttentionTensors &tensors, const AttentionParams &params, Tensor &output,
                  ThreadPool &threads);

} // namespace tpuc::kernels

#endif // TPUC_INTERPRETER_KERNELS_ATTENTIONPARTS_H
