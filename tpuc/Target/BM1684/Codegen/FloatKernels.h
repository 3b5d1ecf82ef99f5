//===- FloatKernels.h - Kernels of floats for ops ------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_CODEGEN_FLOATKERNELS_H
#define TPUC_TARGET_BM1684_CODEGEN_FLOATKERNELS_H

#include "tpuc/Target/BM1684/Codegen/BM1684Layout.h"
#include "tpuc/Target/BM1684/Codegen/KernelTable.h"

namespace tpuc::bm1684::backend {

/// Convolutions, pools, products, norms, resizes, and what else is not element by element.
const KernelTable &layerKernels();
/// Element-wise functions of one and two operands.
const KernelTable &elementwiseKernels();
/// Ops that compare, choose, combine truth values or convert between element types, on elements of
/// 8 and 32 bits.
const KernelTable &selectKernels();

/// Operand `index` and the result of an op, in local memory.
LocalTensor operandOf(const codegen::TiledOp &tiled, unsigned index);
LocalTensor resultOf(const codegen::TiledOp &tiled);
Scratch scratchRoom(const codegen::TiledOp &tiled);
/// Whether operand `index` is given.
bool isPresent(mlir::Operation *op, unsigned index);
/// Types that no kernel of floats takes.
Expected<void> checkFloats(const codegen::TiledOp &tiled);

} // namespace tpuc::bm1684::backend

#endif // TPUC_TARGET_BM1684_CODEGEN_FLOATKERNELS_H
