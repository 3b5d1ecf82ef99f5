//===- ShapeInfer.cpp - Exact types, constants computed -----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Interpreter/Fold.h"
#include "tpuc/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Iterators.h"
#include <set>

namespace tpuc {
#define GEN_PASS_DEF_SHAPEINFER
#include "tpuc/Transforms/Passes.h.inc"
} // namespace tpuc

using namespace mlir;
using namespace tpuc;

namespace {

struct ShapeInferPass : tpuc::impl::ShapeInferBase<ShapeInferPass> {
  using ShapeInferBase::ShapeInferBase;

  void runOnOperation() override;

private:
  LogicalResult inferRegion(Region &region, ThreadPool &threads);
  /// Replaces `op` by weights if its results are constant.
  void fold(Operation *op, ThreadPool &threads);

  /// The weights that came to be.
  std::set<std::string> made;
};

} // namespace

void ShapeInferPass::fold(Operation *op, ThreadPool &threads) {
  std::optional<SmallVector<Tensor>> tensors =
      foldConstant(op, {.maxElements = maxFolded, .ifNotGrowing = true}, threads);
  if (!tensors)
    return;
  OpBuilder builder(op);
  SmallVector<std::string> names = tensorNames(op);
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    if (!top::isPresent(result)) {
      result.replaceAllUsesWith(builder.create<top::NoneOp>(op->getLoc(), builder.getNoneType()));
      continue;
    }
    auto weight = top::WeightOp::create(builder, getOperation(), names[index], (*tensors)[index]);
    made.insert(weight.name());
    result.replaceAllUsesWith(weight.getOutput());
  }
  op->erase();
}

LogicalResult ShapeInferPass::inferRegion(Region &region, ThreadPool &threads) {
  for (Block &block : region)
    for (Operation &op : llvm::make_early_inc_range(block)) {
      for (Region &inner : op.getRegions())
        if (failed(inferRegion(inner, threads)))
          return failure();
      auto inference = dyn_cast<top::InferShapeInterface>(op);
      if (inference && failed(inference.inferShape()))
        return failure();
      if (auto input = dyn_cast<top::InputOp>(op))
        input.getOutput().setType(cast<TensorType>(input.getInput().getType()));
      fold(&op, threads);
    }
  return success();
}

void ShapeInferPass::runOnOperation() {
  made.clear();
  // Constants are small: threads would cost more than they give.
  ThreadPool threads(1);
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    if (failed(inferRegion(function.getBody(), threads)))
      return signalPassFailure();
    top::updateFunctionType(function);
  }
  auto store = getContext().getLoadedDialect<top::TopDialect>()->weights(getOperation());
  getOperation().walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
    if (!op->hasTrait<traits::Parameter>() || !op->use_empty())
      return;
    // What others were computed from is not needed any more.
    if (auto weight = dyn_cast<top::WeightOp>(op); weight && store && made.erase(weight.name()))
      (*store)->forget(weight.name());
    op->erase();
  });
}
