//===- Loads.h - From tensors to tiles of operands --------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_CODEGEN_LOADS_H
#define TPUC_TARGET_BM1684X_CODEGEN_LOADS_H

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Target/BM1684X/Kernels/Builder.h"

namespace tpuc::bm1684x::backend {

/// Brings the tile of operand `index` of `tiled`, with the parameters that it carries, from the
/// tensor that begins at `address`.
Expected<void> loadOperand(Builder &builder, const codegen::TiledOp &tiled, unsigned index,
                           int64_t address);

} // namespace tpuc::bm1684x::backend

#endif // TPUC_TARGET_BM1684X_CODEGEN_LOADS_H
