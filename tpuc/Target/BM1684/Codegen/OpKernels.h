//===- OpKernels.h - The kernels that compute an op on the BM1684 -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_CODEGEN_OPKERNELS_H
#define TPUC_TARGET_BM1684_CODEGEN_OPKERNELS_H

#include "tpuc/Target/BM1684/Codegen/KernelTable.h"

namespace tpuc::bm1684::backend {

/// The kernels that compute `tiled`, to be run one after the other; all share its scratch. Errors
/// (without `where`) say what none of them can do.
Kernels kernelsOf(const codegen::TiledOp &tiled);

/// Whether `kernelsOf` has a rule for the op.
bool hasKernel(mlir::Operation *op);

} // namespace tpuc::bm1684::backend

#endif // TPUC_TARGET_BM1684_CODEGEN_OPKERNELS_H
