//===- ModelContents.h - What a model file says besides commands ----*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_EMIT_MODELCONTENTS_H
#define TPUC_CODEGEN_EMIT_MODELCONTENTS_H

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Codegen/Place/ResidentConstants.h"

namespace tpuc::codegen {

/// The pool of a module and where it is, by the attributes `module.pool_*`; of no bytes where there
/// is none.
struct PoolSite {
  int64_t global = 0, local = 0;
  PoolRows rows;
};
PoolSite poolOf(mlir::ModuleOp module);

/// The network of a module with addresses, and what the host computes of it. The sub-networks of
/// the chip have no commands yet: `Emitter::finish`. Errors: a module without addresses, types that
/// model files cannot state.
Expected<model::CompiledModel> readModelContents(mlir::ModuleOp module, const TargetInfo &target);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_EMIT_MODELCONTENTS_H
