//===- Moves.h - Ops that only move data in global memory ----- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_CODEGEN_MOVES_H
#define TPUC_TARGET_CV18XX_CODEGEN_MOVES_H

#include "tpuc/Target/CV18xx/Kernels/Builder.h"

#include "mlir/IR/Operation.h"

namespace tpuc::cv18xx::backend {

/// Of a move that passes the lanes: its `LanePlan`.
inline constexpr llvm::StringLiteral kLanePlan = "lane_plan";

/// Whether ops of this kind are transfers, in some form.
bool isMove(mlir::Operation *op);

/// Errors (without `where`): steps backwards, parameters that are computed.
Expected<void> checkMove(mlir::Operation *op);

/// Marks a move that takes less time through the lanes, with the plan for that.
void planMove(const Chip &chip, mlir::Operation *op);
/// Whether a move is marked so: it takes all of local memory.
bool isThroughLanes(mlir::Operation *op);

/// An op whose tensors have addresses. Elements of any type are moved as bytes.
Expected<void> emitMove(Builder &builder, mlir::Operation *op);

} // namespace tpuc::cv18xx::backend

#endif // TPUC_TARGET_CV18XX_CODEGEN_MOVES_H
