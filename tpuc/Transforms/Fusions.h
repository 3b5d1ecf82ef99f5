//===- Fusions.h - The patterns of --top-fuse --------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TRANSFORMS_FUSIONS_H
#define TPUC_TRANSFORMS_FUSIONS_H

#include "mlir/IR/PatternMatch.h"

namespace tpuc {

/// The names that `--top-fuse` knows its patterns by.
llvm::ArrayRef<llvm::StringRef> fusionNames();

/// Each pattern has its name as debug name.
void addConvolutionFusions(mlir::RewritePatternSet &patterns);
void addActivationFusions(mlir::RewritePatternSet &patterns);

template <typename Op>
void addFusion(mlir::RewritePatternSet &patterns, llvm::StringLiteral name,
               llvm::LogicalResult (*rewrite)(Op, mlir::PatternRewriter &)) {
  patterns.add(rewrite, /*benefit=*/1);
  patterns.getNativePatterns().back()->setDebugName(name);
}

} // namespace tpuc

#endif // TPUC_TRANSFORMS_FUSIONS_H
