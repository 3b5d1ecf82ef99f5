//===- Attach.h - The evaluators of all ops -----------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_INTERPRETER_ATTACH_H
#define TPUC_INTERPRETER_ATTACH_H

#include "llvm/ADT/StringRef.h"

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace tpuc {

/// Attaches the evaluators of Ops/ to the ops of `dialect`, which must be loaded.
void attachOps(mlir::MLIRContext *context, llvm::StringRef dialect);

// Attaches what needs MLIR: ops with bodies.
void attachControl(mlir::MLIRContext *context);

// What ops of the tpu dialect compute that top has not, and those on stored integers.
void attachTpuCast(mlir::MLIRContext *context);
void attachTpuElementwise(mlir::MLIRContext *context);
void attachTpuGroup(mlir::MLIRContext *context);
void attachTpuNorms(mlir::MLIRContext *context);
void attachTpuPreprocess(mlir::MLIRContext *context);
void attachTpuProducts(mlir::MLIRContext *context);
void attachTpuResize(mlir::MLIRContext *context);
void attachTpuSums(mlir::MLIRContext *context);

} // namespace tpuc

#endif // TPUC_INTERPRETER_ATTACH_H
