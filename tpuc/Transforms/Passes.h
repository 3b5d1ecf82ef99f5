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
#include "tpuc/Transforms/PostprocessOptions.h"

#include "mlir/Pass/Pass.h"
#include <map>
#include <string>
#include <vector>

namespace tpuc {

#define GEN_PASS_DECL
#include "tpuc/Transforms/Passes.h.inc"

/// The names that `--top-fuse` knows its patterns by, in alphabetical order.
std::vector<std::string> fusionNames();

/// The detectors that `--add-postprocess` knows, in alphabetical order.
std::vector<std::string> detectorNames();

/// What --add-postprocess does. Gives a sentence on the heads that were found. Errors: as
/// findHeads; no input that is a picture; outputs of open shapes; options that do not fit the
/// heads.
Expected<std::string> addPostprocess(mlir::ModuleOp module, const std::string &version,
                                     const PostprocessOptions &options);

/// How often each pattern of `--top-fuse` was applied, by its name.
using FusionCounts = std::map<std::string, int64_t>;

/// Adds the passes that turn an imported module (`X_origin.mlir`) into the one that is calibrated
/// and lowered (`X.mlir`): --shape-infer, --canonicalize, --top-fuse without `disabledPatterns`,
/// and the first two again before --extra-optimize. An unknown pattern makes the manager fail.
/// What was applied is added to `counts` unless it is null.
void addTopOptimization(mlir::OpPassManager &manager,
                        const std::vector<std::string> &disabledPatterns = {},
                        FusionCounts *counts = nullptr);

/// Registers the passes, and with them the evaluators that they need in every context of
/// `registry`.
void registerTransforms(mlir::DialectRegistry &registry);

} // namespace tpuc

#endif // TPUC_TRANSFORMS_PASSES_H
