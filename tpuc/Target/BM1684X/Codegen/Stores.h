//===- Stores.h - From tiles of results to tensors --------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_CODEGEN_STORES_H
#define TPUC_TARGET_BM1684X_CODEGEN_STORES_H

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Target/BM1684X/Kernels/Builder.h"

namespace tpuc::bm1684x::backend {

/// Whether a permute makes [N, C, D, H, W] of planes [N, D, C, H, W].
bool putsPlanesBehindChannels(tpu::PermuteOp op);

/// Stores the tile of its result that `tiled` has made in the tensor that begins at `address`, or
/// where the op says that its parts lie (`stored_rows`, `stored_turned`).
Expected<void> storeResult(Builder &builder, const codegen::TiledOp &tiled, int64_t address);

} // namespace tpuc::bm1684x::backend

#endif // TPUC_TARGET_BM1684X_CODEGEN_STORES_H
