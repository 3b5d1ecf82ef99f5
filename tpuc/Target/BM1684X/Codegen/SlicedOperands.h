//===- SlicedOperands.h - What kernels are told of a tiled op -------- -*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_CODEGEN_SLICEDOPERANDS_H
#define TPUC_TARGET_BM1684X_CODEGEN_SLICEDOPERANDS_H

#include "tpuc/Dialect/Tpu/AttentionOps.h"
#include "tpuc/Dialect/Tpu/ResizeOps.h"
#include "tpuc/Target/BM1684X/Codegen/BM1684XLayout.h"
#include "tpuc/Target/BM1684X/Kernels/AttentionHeads.h"
#include "tpuc/Target/BM1684X/Kernels/Convolution.h"
#include "tpuc/Target/BM1684X/Kernels/Resize.h"

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

/// Types that no kernel of floats takes.
Expected<void> checkFloats(const codegen::TiledOp &tiled);

/// The matrices of one product of a batch.
struct MatrixOperands {
  LocalTensor left, right, output;
};
std::vector<MatrixOperands> matricesOf(const codegen::TiledOp &tiled);

/// The taps of the rows and columns of a tile, counted in the tile of the input.
struct ResizeTaps {
  std::vector<ResizeTap> rows, columns;
};
Expected<ResizeTaps> resizeTapsOf(tpu::InterpOp op, const codegen::TiledOp &tiled);

/// Tells `attention` its operands and heads; gives the factor of the scores. Errors: what is more
/// than attention alone.
Expected<double> setHeads(AttentionOperands &attention, tpu::ScaleDotProductAttentionOp op,
                          const codegen::TiledOp &tiled);

} // namespace tpuc::bm1684x::backend

#endif // TPUC_TARGET_BM1684X_CODEGEN_SLICEDOPERANDS_H
