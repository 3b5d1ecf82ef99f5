//===- LayerKernels.h - Kernels of convolutions, products, norms and moves -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_CODEGEN_LAYERKERNELS_H
#define TPUC_TARGET_BM1684X_CODEGEN_LAYERKERNELS_H

#include "tpuc/Target/BM1684X/Codegen/KernelTable.h"

namespace tpuc::bm1684x::backend {

/// Of ops on floats that are not element by element or change the type, and of moves of any type.
const KernelTable &layerKernels();

/// Pixels that are repeated, of any type.
Kernels upsampleKernels(const codegen::TiledOp &tiled);

} // namespace tpuc::bm1684x::backend

#endif // TPUC_TARGET_BM1684X_CODEGEN_LAYERKERNELS_H
