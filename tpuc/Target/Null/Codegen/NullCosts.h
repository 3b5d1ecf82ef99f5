//===- NullCosts.h - What commands of null take -----------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_NULL_CODEGEN_NULLCOSTS_H
#define TPUC_TARGET_NULL_CODEGEN_NULLCOSTS_H

#include "tpuc/Codegen/Backend.h"

namespace tpuc::Null {

// Cycles by the target's timing parameters, which are chosen, not measured.

/// A transfer between both memories of `bytes` that lie in so many rows.
int64_t transferCost(const TargetInfo &target, int64_t bytes, int64_t rows);
/// That of a tile of operand `index`, or of the result.
int64_t transferCost(const TargetInfo &target, const codegen::TiledOp &tiled, unsigned index);
/// An op that moves data in global memory.
int64_t moveCost(const TargetInfo &target, mlir::Operation *op);
/// An op on a tile: each lane works on its channels.
int64_t computeCost(const TargetInfo &target, const codegen::TiledOp &tiled);

} // namespace tpuc::Null

#endif // TPUC_TARGET_NULL_CODEGEN_NULLCOSTS_H
