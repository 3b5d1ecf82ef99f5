//===- AttentionMasks.h - What hides keys as numbers to add -----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_DECOMPOSE_ATTENTIONMASKS_H
#define TPUC_CODEGEN_DECOMPOSE_ATTENTIONMASKS_H

#include "tpuc/Codegen/Decompose/OpMaker.h"
#include "tpuc/Dialect/Tpu/AttentionOps.h"

#include <limits>
#include <map>
#include <tuple>

namespace tpuc::codegen {

/// How many queries and keys an attention on rows or heads of static shapes has. `place` is that of
/// the first query: the number of keys of the past.
struct AttentionSizes {
  int64_t samples, heads, keyHeads, rows, keys, place;
};
AttentionSizes attentionSizes(tpu::ScaleDotProductAttentionOp op);

/// What is added to the scores of a hidden key.
inline constexpr float kHidden = -std::numeric_limits<float>::infinity();
/// The same on chips that tell infinite numbers by no sign: sums of two, and of a score, are
/// finite, and e to the power of their distance to any score is 0.
inline constexpr float kFiniteHidden = -0x1p100F;

/// The mask of `op` as numbers of type `element` for all keys: `hidden` where a key is hidden.
/// There must be a mask, of booleans or numbers; constant ones are at least `hidden`.
mlir::Value maskNumbers(OpMaker &maker, tpu::ScaleDotProductAttentionOp op, mlir::Type element,
                        float hidden = kHidden);

/// 0, or `hidden` where a key is hidden from a query by their places: F32 [Q, T]. None where
/// nothing is.
std::optional<Tensor> hiddenPlaces(tpu::ScaleDotProductAttentionOp op, float hidden = kHidden);

/// Whether all elements of a row of numbers to add may be `hidden`.
bool mayHideRows(mlir::Value numbers, float hidden = kHidden);
bool hidesRows(const Tensor &numbers, float hidden = kHidden);

/// Whether an attention has static shapes and nothing but queries, keys, values and what hides
/// keys: a mask of booleans or floats, or their places. Its softmax rounds no steps. On stored
/// integers nothing is hidden.
bool isAttentionAlone(tpu::ScaleDotProductAttentionOp op);

/// Lets `op` add `numbers` (null: nothing) to its scores; their places hide no keys any more.
void addBiases(tpu::ScaleDotProductAttentionOp op, mlir::Value numbers);

/// Whether the chip computes an attention on rows, of which a tile fits local memory. Where not, it
/// is erased with what was made for it alone, but for its mask.
bool isFitting(tpu::ScaleDotProductAttentionOp made, const Backend &backend);

/// Makes the numbers that attentions of one network add to their scores, those of equal ones once.
class AttentionBiases {
public:
  /// Mask and hidden places of `op` in one, in F32 as the mask or of the type of its queries, in
  /// front of `op`: [B or 1, H or 1, Q or 1, T] or its last dimensions; null where nothing is
  /// hidden or added.
  mlir::Value of(OpMaker &maker, tpu::ScaleDotProductAttentionOp op);
  /// Erases what nobody took.
  void eraseUnused();

private:
  using Key = std::tuple<void *, const void *, bool, int64_t, int64_t, int64_t, int64_t, int64_t>;
  std::map<Key, mlir::Value> made;
};

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_DECOMPOSE_ATTENTIONMASKS_H
