//===- Moves.h - Ops that only move data in global memory -----------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_CODEGEN_MOVES_H
#define TPUC_TARGET_BM1684X_CODEGEN_MOVES_H

#include "tpuc/Target/BM1684X/Kernels/Builder.h"
#include "tpuc/Target/BM168x/Codegen/Moves.h"

namespace tpuc::bm1684x::backend {

using bm168x::backend::isMove;
using bm168x::backend::keepsBits;

/// Errors (without `where`) say which form of the op is not known.
Expected<void> checkMove(mlir::Operation *op);
/// The transfers of `op`, whose tensors have addresses as encodings.
Expected<void> emitMove(Builder &builder, mlir::Operation *op);

} // namespace tpuc::bm1684x::backend

#endif // TPUC_TARGET_BM1684X_CODEGEN_MOVES_H
