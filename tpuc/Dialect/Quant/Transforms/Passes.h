//===- Passes.h - Passes that take quantized types away ----------------*- C++ -* -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_QUANT_TRANSFORMS_PASSES_H
#define TPUC_DIALECT_QUANT_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"

namespace tpuc::quant {

#define GEN_PASS_DECL
#include "tpuc/Dialect/Quant/Transforms/Passes.h.inc"

struct QuantWorkflowOptions : mlir::PassPipelineOptions<QuantWorkflowOptions> {
  Option<bool> fallback{*this, "fallback",
                        llvm::cl::desc("Compute on floats what has no integer form"),
                        llvm::cl::init(true)};
  Option<bool> saturate{*this, "saturate",
                        llvm::cl::desc("Round to nearest even and saturate when quantizing"),
                        llvm::cl::init(false)};
};

/// From ops on quantized values to a module without any: the fallback (if it is on), `convertOps`
/// (the caller's conversion of its ops to arithmetic on floats and on `quant.scast` integers; may
/// be null when there are none), the canceling of cast pairs and common casts, the lowering of the
/// casts, the stripping of signatures, the canceling of what that leaves, and a check that fails
/// with a diagnostic where a quantized type or a quant op is left.
void buildQuantWorkflow(mlir::OpPassManager &manager, const QuantWorkflowOptions &options,
                        llvm::function_ref<void(mlir::OpPassManager &)> convertOps = nullptr);

/// Registers the passes, and the workflow without `convertOps` as --quant-workflow.
void registerQuantTransforms();

} // namespace tpuc::quant

#endif // TPUC_DIALECT_QUANT_TRANSFORMS_PASSES_H
