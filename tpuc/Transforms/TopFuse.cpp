//===- TopFuse.cpp - Makes one op of several ----------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Transforms/Fusions.h"
#include "tpuc/Transforms/Passes.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tpuc {
#define GEN_PASS_DEF_TOPFUSE
#include "tpuc/Transforms/Passes.h.inc"
} // namespace tpuc

using namespace mlir;
using namespace tpuc;

ArrayRef<StringRef> tpuc::fusionNames() {
  static constexpr StringRef kNames[] = {
      "add-into-conv",    "add-into-matmul", "batchnorm-to-scale", "clip-to-relu",
      "mul-to-hardswish", "mul-to-silu",     "relu-into-producer", "scale-into-conv",
  };
  return kNames;
}

namespace {

struct TopFusePass : tpuc::impl::TopFuseBase<TopFusePass> {
  using TopFuseBase::TopFuseBase;

  LogicalResult initialize(MLIRContext *context) override {
    for (const std::string &name : disabled)
      if (!llvm::is_contained(fusionNames(), name))
        return emitError(UnknownLoc::get(context))
               << "--top-fuse: there is no pattern '" << name << "'; expected one of "
               << llvm::join(fusionNames(), ", ");
    RewritePatternSet all(context);
    addConvolutionFusions(all);
    addActivationFusions(all);
    patterns = FrozenRewritePatternSet(std::move(all), disabled);
    return success();
  }

  void runOnOperation() override {
    if (failed(applyPatternsAndFoldGreedily(getOperation(), patterns)))
      signalPassFailure();
  }

  FrozenRewritePatternSet patterns;
};

} // namespace
