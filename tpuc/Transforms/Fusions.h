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

/// When a pattern runs: `Finish` once no pattern of `Fuse` applies any more.
enum class FusionStage : uint8_t { Fuse, Finish };

/// A pattern and the name that `--top-fuse` knows it by. Several may share a name.
struct Fusion {
  llvm::StringRef name;
  FusionStage stage;
  /// Adds the pattern, with its name as debug name.
  void (*add)(mlir::RewritePatternSet &patterns, llvm::StringRef name);
};

// One table in each file of patterns.
llvm::ArrayRef<Fusion> activationFusions();
llvm::ArrayRef<Fusion> attentionFusions();
llvm::ArrayRef<Fusion> constantFusions();
llvm::ArrayRef<Fusion> convolutionFusions();
llvm::ArrayRef<Fusion> einsumFusions();
llvm::ArrayRef<Fusion> gatherFusions();
llvm::ArrayRef<Fusion> headFusions();
llvm::ArrayRef<Fusion> linearAttentionFusions();
llvm::ArrayRef<Fusion> mixedHeadFusions();
llvm::ArrayRef<Fusion> movementFusions();
llvm::ArrayRef<Fusion> normFusions();
llvm::ArrayRef<Fusion> padFusions();
llvm::ArrayRef<Fusion> rearrangeFusions();
llvm::ArrayRef<Fusion> recurrentFusions();
llvm::ArrayRef<Fusion> ropeFusions();
llvm::ArrayRef<Fusion> scatterFusions();
llvm::ArrayRef<Fusion> sequenceFusions();
llvm::ArrayRef<Fusion> sumFusions();
llvm::ArrayRef<Fusion> unfoldFusions();

namespace detail {

/// A rewrite of ops of any class.
struct AnyOpFusion : mlir::RewritePattern {
  using Rewrite = llvm::LogicalResult (*)(mlir::Operation *, mlir::PatternRewriter &);
  AnyOpFusion(mlir::MLIRContext *context, unsigned benefit, Rewrite rewrite)
      : RewritePattern(MatchAnyOpTypeTag(), benefit, context), rewrite(rewrite) {}
  llvm::LogicalResult matchAndRewrite(mlir::Operation *op,
                                      mlir::PatternRewriter &rewriter) const override {
    return rewrite(op, rewriter);
  }
  Rewrite rewrite;
};

template <typename Op>
void addRewrite(mlir::RewritePatternSet &patterns, unsigned benefit,
                llvm::LogicalResult (*rewrite)(Op, mlir::PatternRewriter &)) {
  if constexpr (std::is_same_v<Op, mlir::Operation *>)
    patterns.add<AnyOpFusion>(patterns.getContext(), benefit, rewrite);
  else
    patterns.add(rewrite, benefit);
}

} // namespace detail

/// A row for `rewrite(Op, PatternRewriter &)`, or `rewrite(Operation *, ...)` for ops of any class.
/// Of several that fit an op, that of the highest benefit is tried first.
template <auto rewrite, unsigned benefit = 1>
constexpr Fusion fusion(llvm::StringLiteral name, FusionStage stage = FusionStage::Fuse) {
  return {name, stage, [](mlir::RewritePatternSet &patterns, llvm::StringRef debugName) {
            detail::addRewrite(patterns, benefit, rewrite);
            patterns.getNativePatterns().back()->setDebugName(debugName);
          }};
}

} // namespace tpuc

#endif // TPUC_TRANSFORMS_FUSIONS_H
