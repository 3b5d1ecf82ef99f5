//===- HeadViews.h - Heads as columns of rows --------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TRANSFORMS_HEADVIEWS_H
#define TPUC_TRANSFORMS_HEADVIEWS_H

#include "tpuc/Transforms/Matching.h"

namespace tpuc {

/// Heads that a reshape and a permutation make of columns of rows. One product often makes queries,
/// keys and values: [..., parts, H, D] of [..., parts * H * D], of which one part is picked behind
/// the permutation.
struct HeadView {
  mlir::Value rows; ///< [..., columns]
  int64_t begin;    ///< The first of H * D columns.
  top::Dims split;  ///< [..., H, D]
  top::Dims order;  ///< The permutation of `split` that gives the heads.

  int64_t width() const { return split[split.size() - 2] * split.back(); }
};

/// How `heads` are made of rows; none where they are made of something else.
std::optional<HeadView> viewOfHeads(mlir::Value heads);
/// The columns of the rows that `view` has, [..., H * D].
mlir::Value columnsOf(mlir::PatternRewriter &rewriter, mlir::Location loc, const HeadView &view);
/// `value` with its dimensions in another order.
mlir::Value permuted(mlir::PatternRewriter &rewriter, mlir::Location loc, mlir::Value value,
                     llvm::ArrayRef<int64_t> order);

} // namespace tpuc

#endif // TPUC_TRANSFORMS_HEADVIEWS_H
