//===- SlicedOperands.h - What kernels are told of a tiled op -------- -*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_CODEGEN_SLICEDOPERANDS_H
#define TPUC_TARGET_BM1684X_CODEGEN_SLICEDOPERANDS_H

#include "tpuc/Target/BM1684X/Codegen/BM1684XLayout.h"
#include "tpuc/Target/BM1684X/Kernels/Convolution.h"

namespace tpuc::bm1684x::backend {

/// Operand `index` and the result of an op, in local memory.
LocalTensor operandOf(const codegen::TiledOp &tiled, unsigned index);
LocalTensor resultOf(const codegen::TiledOp &tiled);
uint32_t addressOf(const codegen::TiledOp &tiled, unsigned index);
/// Where the parameters lie that operand 1 carries.
uint32_t parametersOf(const codegen::TiledOp &tiled);
Scratch scratchRoom(const codegen::TiledOp &tiled);

/// Whether operand `index` is given.
bool isPresent(mlir::Operation *op, unsigned index);
/// The fused ReLU.
Activation activationOf(mlir::Operation *op);

/// The groups of a convolution: of a tile of a depthwise one as many as it has channels.
int64_t groupOf(const codegen::TiledOp &tiled);

} // namespace tpuc::bm1684x::backend

#endif // TPUC_TARGET_BM1684X_CODEGEN_SLICEDOPERANDS_H
