//===- ExtraOptimize.cpp - What nobody reads, how much is computed -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Interpreter/Interpreter.h"
#include "tpuc/Support/Sizes.h"
#include "tpuc/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/PassManager.h"

namespace tpuc {
#define GEN_PASS_DEF_EXTRAOPTIMIZE
#include "tpuc/Transforms/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "tpuc/Transforms/Passes.h.inc"
} // namespace tpuc

using namespace mlir;
using namespace tpuc;

namespace {

struct ExtraOptimizePass : tpuc::impl::ExtraOptimizeBase<ExtraOptimizePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    // From the back, readers go before what they read.
    module.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (isOpTriviallyDead(op))
        op->erase();
    });
    Count flops = 0;
    if (auto main = module.lookupSymbol<func::FuncOp>("main"))
      main.walk([&](top::FlopsInterface op) { flops += op.flops(); });
    module->setAttr("module.FLOPs", Builder(&getContext()).getI64IntegerAttr(flops));
  }
};

} // namespace

void tpuc::registerTransforms(DialectRegistry &registry) {
  registerTpucPasses();
  PassPipelineRegistration<>("top-optimization",
                             "What model_transform does to an imported module: shape-infer, "
                             "canonicalize, top-fuse, both again, extra-optimize",
                             [](OpPassManager &manager) { addTopOptimization(manager); });
  registerEvaluators(registry);
}
