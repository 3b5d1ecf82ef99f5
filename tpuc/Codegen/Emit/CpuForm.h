//===- CpuForm.h - Layers as the host computes them ------------------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_EMIT_CPUFORM_H
#define TPUC_CODEGEN_EMIT_CPUFORM_H

#include "tpuc/Model/CpuProgram/CpuProgram.h"
#include "tpuc/Support/Error.h"

#include "mlir/IR/Operation.h"

namespace tpuc::codegen {

/// Whether the host can compute `op` without MLIR. Errors (without `where`) say what keeps it from
/// that: regions, requantization, types that tensors cannot hold.
Expected<void> checkCpuForm(mlir::Operation *op);

/// What the host computes for `layers`, a sub-network: the ops that the interpreter runs for them,
/// so that floats of 16 bits are computed in f32 and rounded. Tensors from outside, weights and
/// what others read have addresses. Errors name the layer.
Expected<cpu::Program> cpuProgramOf(llvm::ArrayRef<mlir::Operation *> layers);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_EMIT_CPUFORM_H
