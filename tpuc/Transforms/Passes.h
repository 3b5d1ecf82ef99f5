//===- Passes.h - Passes from Top to Top ------------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TRANSFORMS_PASSES_H
#define TPUC_TRANSFORMS_PASSES_H

#include "tpuc/Dialect/Top/TopDialect.h"

#include "mlir/Pass/Pass.h"
#include <map>
#include <string>
#include <vector>

namespace tpuc {

#define GEN_PASS_DECL
#include "tpuc/Transforms/Passes.h.inc"

/// Registers the passes, and with them the evaluators that they need in every context of
/// `registry`.
void registerTransforms(mlir::DialectRegistry &registry);

/// The optimizations of Top, in their order: shapes, fusions but those of `disabledPatterns` (names
/// of `--top-fuse`), what is unused. Adds to `fired` how often each pattern did something; it must
/// outlive the run.
void addTopOptimization(mlir::OpPassManager &manager,
                        std::vector<std::string> disabledPatterns = {},
                        std::map<std::string, int64_t> *fired = nullptr);

} // namespace tpuc

#endif // TPUC_TRANSFORMS_PASSES_H
