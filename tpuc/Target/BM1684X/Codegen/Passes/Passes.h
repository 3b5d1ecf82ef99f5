//===- Passes.h - What only BM1684X gains by ------------------------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_CODEGEN_PASSES_PASSES_H
#define TPUC_TARGET_BM1684X_CODEGEN_PASSES_PASSES_H

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Dialect/Tpu/TpuDialect.h"

#include "mlir/Pass/Pass.h"

namespace tpuc::bm1684x::backend {

#define GEN_PASS_DECL
#include "tpuc/Target/BM1684X/Codegen/Passes/Passes.h.inc"

/// All passes of this folder, in the order in which they run.
llvm::ArrayRef<codegen::OptionalPass> ownPasses();

// What the passes do to a module for this chip (see Passes.td). Errors: constants that cannot be
// read.
Expected<void> sumsToConv(mlir::ModuleOp module, const codegen::Backend &backend);
Expected<void> mergeGroups(mlir::ModuleOp module, const codegen::Backend &backend);
Expected<void> gemvToConv(mlir::ModuleOp module, const codegen::Backend &backend);
Expected<void> lutToArith(mlir::ModuleOp module, const codegen::Backend &backend);
Expected<void> packRows(mlir::ModuleOp module, const codegen::Backend &backend);
Expected<void> transposeInGroups(mlir::ModuleOp module, const codegen::Backend &backend);
Expected<void> foldTransposeIntoStore(mlir::ModuleOp module, const codegen::Backend &backend);
Expected<void> gatherRows(mlir::ModuleOp module, const codegen::Backend &backend);
Expected<void> permuteByTransposes(mlir::ModuleOp module, const codegen::Backend &backend);

} // namespace tpuc::bm1684x::backend

#endif // TPUC_TARGET_BM1684X_CODEGEN_PASSES_PASSES_H
