//===- Transposes.h - Permutes that exchange rows and columns -------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_CODEGEN_PASSES_TRANSPOSES_H
#define TPUC_TARGET_BM1684X_CODEGEN_PASSES_TRANSPOSES_H

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"

#include <optional>

namespace tpuc::bm1684x::backend {

/// Dimensions [outer, rows, columns] that a permute turns to [outer, columns, rows].
struct TransposePlan {
  int64_t outer = 1, rows = 1, columns = 1;
};

/// None for permutes that do not exchange two neighbouring parts of the dimensions, the last one
/// among them.
std::optional<TransposePlan> transposePlan(tpu::PermuteOp op);

/// Whether `--fold-transpose-into-store` has the transfer do it that stores a convolution's result.
bool isFoldedIntoStore(tpu::PermuteOp op, const codegen::Backend &backend);

/// The cycles of a permute of a dense tensor by itself, in global memory, by each set of timing
/// parameters. Errors: what the chip does not move.
Expected<llvm::SmallVector<int64_t>> permuteCycles(mlir::RankedTensorType type,
                                                   llvm::ArrayRef<int64_t> order,
                                                   mlir::Location loc,
                                                   const codegen::Backend &backend);

/// Has norms and products over the last dimension of pictures [n, h, w, c], and what reads them
/// element by element, compute rows [n, h * w, c]. Others read these through reshapes.
void computeRowsOfPictures(mlir::Block &block, const codegen::Backend &backend);

} // namespace tpuc::bm1684x::backend

#endif // TPUC_TARGET_BM1684X_CODEGEN_PASSES_TRANSPOSES_H
