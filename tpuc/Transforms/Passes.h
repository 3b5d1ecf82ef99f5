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

namespace tpuc {

#define GEN_PASS_DECL
#include "tpuc/Transforms/Passes.h.inc"

/// Registers the passes, and with them the evaluators that they need in every context of
/// `registry`.
void registerTransforms(mlir::DialectRegistry &registry);

} // namespace tpuc

#endif // TPUC_TRANSFORMS_PASSES_H
