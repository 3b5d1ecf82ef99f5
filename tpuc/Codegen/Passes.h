//===- Passes.h - From a lowered network to a model file -------------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_PASSES_H
#define TPUC_CODEGEN_PASSES_H

#include "tpuc/Codegen/ConstantStorage.h"
#include "tpuc/Dialect/Tpu/TpuDialect.h"
#include "tpuc/Support/OutputFile.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tpuc::codegen {

class Backend;

#define GEN_PASS_DECL
#include "tpuc/Codegen/Passes.h.inc"

/// How the passes work that lead to a module with addresses.
struct GenerationOptions {
  /// As --layer-group has them.
  int opt = 1;
  int64_t searchSeconds = 0;
  /// 0: as many as the process may run on.
  unsigned numThreads = 0;
  /// The module is only measured: its places in global memory may take more of it.
  bool isMeasured = false;
  /// Layers are divided where that saves global memory (--divide-ops).
  bool dividesOps = false;
  /// What is left out, by name (Heuristics.h).
  std::vector<std::string> without = {};
};

/// Adds the passes that turn layers into such that the chip has kernels for: --fold-head-reshapes,
/// --decompose-attention, --decompose, and the target's own of `Stage::Divide`.
void addDivision(mlir::OpPassManager &manager, const Backend &backend,
                 const GenerationOptions &options);

/// Adds the passes that turn a lowered module into one with addresses: those of `addDivision`,
/// the target's own of `Stage::Refine`, --subnet-divide, --weight-reorder, --op-reorder,
/// --hoist-outputs, --divide-ops where it is asked for, --layer-group, --address-assign.
void addCodegen(mlir::OpPassManager &manager, const Backend &backend,
                const GenerationOptions &options);

/// Emits the commands of a module with addresses and writes the model file, which the caller
/// commits. Errors: a module that --address-assign has not seen; what the chip's kernels say; a
/// storage that the chip does not have.
Expected<OutputFile> writeModelFile(mlir::ModuleOp module, const std::string &path,
                                    const ConstantStorage &storage = {});

/// Errors (without `where`): the chip stores constants in one way only, or not behind those.
Expected<void> checkStorage(const Backend &backend, const ConstantStorage &storage);

/// Makes these passes, and the own ones of all targets that have some, known by their names.
void registerCodegen();

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_PASSES_H
