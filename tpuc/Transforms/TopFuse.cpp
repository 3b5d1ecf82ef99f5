//===- TopFuse.cpp - Makes one op of several ----------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Transforms/Fusions.h"
#include "tpuc/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

#include <set>

namespace tpuc {
#define GEN_PASS_DEF_TOPFUSE
#include "tpuc/Transforms/Passes.h.inc"
} // namespace tpuc

using namespace mlir;
using namespace tpuc;

template <typename Visit> static void forEachFusion(Visit &&visit) {
  for (ArrayRef<Fusion> table :
       {activationFusions(), attentionFusions(), constantFusions(), convolutionFusions(),
        einsumFusions(), gatherFusions(), headFusions(), linearAttentionFusions(),
        mixedHeadFusions(), movementFusions(), normFusions(), padFusions(), rearrangeFusions(),
        recurrentFusions(), ropeFusions(), scatterFusions(), sequenceFusions(), sumFusions(),
        unfoldFusions()})
    for (const Fusion &each : table)
      visit(each);
}

std::vector<std::string> tpuc::fusionNames() {
  std::set<std::string> names;
  forEachFusion([&](const Fusion &each) { names.insert(each.name.str()); });
  return {names.begin(), names.end()};
}

namespace {

/// Counts the patterns that applied, by their names, and drops constants that one pattern made and
/// another replaced.
struct Watcher : RewriterBase::Listener {
  Watcher(FusionCounts &counts, top::WeightStore &store) : counts(counts), store(store) {}

  void notifyPatternEnd(const Pattern &pattern, LogicalResult status) override {
    if (succeeded(status) && !pattern.getDebugName().empty())
      ++counts[pattern.getDebugName().str()];
  }
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    if (auto weight = dyn_cast<top::WeightOp>(op))
      made.insert(weight.name());
  }
  void notifyOperationErased(Operation *op) override {
    if (auto weight = dyn_cast<top::WeightOp>(op); weight && made.erase(weight.name()))
      store.forget(weight.name());
  }

  FusionCounts &counts;
  top::WeightStore &store;
  std::set<std::string> made;
};

struct TopFusePass : tpuc::impl::TopFuseBase<TopFusePass> {
  using TopFuseBase::TopFuseBase;
  TopFusePass(TopFuseOptions options, FusionCounts *counts)
      : TopFuseBase(options), counts(counts) {}

  LogicalResult initialize(MLIRContext *context) override {
    std::vector<std::string> known = fusionNames();
    for (const std::string &name : disabled)
      if (!llvm::is_contained(known, name))
        return emitError(UnknownLoc::get(context))
               << "--top-fuse: there is no pattern '" << name << "'; expected one of "
               << llvm::join(known, ", ");
    stages.clear();
    for (FusionStage stage : {FusionStage::Fuse, FusionStage::Finish}) {
      RewritePatternSet patterns(context);
      forEachFusion([&](const Fusion &each) {
        if (each.stage == stage)
          each.add(patterns, each.name);
      });
      stages.emplace_back(std::move(patterns), disabled);
    }
    return success();
  }

  void runOnOperation() override {
    auto store = getContext().getLoadedDialect<top::TopDialect>()->weights(getOperation());
    if (!store) {
      getOperation()->emitError() << store.error().message();
      return signalPassFailure();
    }
    FusionCounts applied;
    Watcher watcher(applied, **store);
    GreedyRewriteConfig config;
    config.listener = &watcher;
    // The first operation makes the way free for the next one: top down, and as long as it takes.
    config.useTopDownTraversal = true;
    config.maxIterations = GreedyRewriteConfig::kNoLimit;
    for (const FrozenRewritePatternSet &patterns : stages)
      if (failed(applyPatternsAndFoldGreedily(getOperation(), patterns, config)))
        return signalPassFailure();
    if (!counts)
      return;
    for (const auto &[name, times] : applied)
      (*counts)[name] += times;
  }

  std::vector<FrozenRewritePatternSet> stages;
  FusionCounts *counts = nullptr;
};

} // namespace

void tpuc::addTopOptimization(OpPassManager &manager,
                              const std::vector<std::string> &disabledPatterns,
                              FusionCounts *counts) {
  manager.addPass(createShapeInfer());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(std::make_unique<TopFusePass>(TopFuseOptions{disabledPatterns}, counts));
  // Shapes that a fused op knows may be constants now.
  manager.addPass(createShapeInfer());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createExtraOptimize());
}
