//===- ShapeInfer.cpp - Exact types, constants computed -----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/ShapeOps.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Interpreter/Evaluate.h"
#include "tpuc/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Iterators.h"

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
  bool isSmall(Value value) {
    int64_t elements = top::staticElements(value);
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.hasStaticShape() && elements <= maxFolded;
  }
};

/// Stands for any tensor of the shape of `value`: ops that read the shape alone take it.
std::optional<Tensor> shapeOnly(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || type.getRank() > int64_t(Shape::kMaxRank))
    return std::nullopt;
  std::optional<DataType> element = storageDataType(type);
  if (!element)
    return std::nullopt;
  llvm::ArrayRef<int64_t> dims = type.getShape();
  return Tensor::borrow(*element, Shape(std::span(dims.data(), dims.size())), nullptr, nullptr);
}

} // namespace

void ShapeInferPass::fold(Operation *op, ThreadPool &threads) {
  auto evaluator = dyn_cast<EvaluateInterface>(op);
  if (!evaluator || maxFolded == 0 || op->getNumRegions() > 0 || op->getNumOperands() == 0)
    return;
  bool readsShape = isa<top::ShapeOp, top::SizeOp>(op);
  std::vector<std::optional<Tensor>> operands;
  for (Value operand : op->getOperands()) {
    std::optional<Tensor> tensor;
    if (top::isPresent(operand)) {
      if (readsShape)
        tensor = shapeOnly(operand);
      else if (isSmall(operand))
        tensor = top::constantTensor(operand);
      if (!tensor)
        return;
    }
    operands.push_back(std::move(tensor));
  }
  for (Value result : op->getResults())
    if (auto type = dyn_cast<RankedTensorType>(result.getType());
        type && type.hasStaticShape() && !isSmall(result))
      return;
  auto allocate = [&](unsigned, DataType type, const Shape &shape) {
    return Tensor::create(type, shape.dims(), layerName(op));
  };
  auto noRegions = [](Region &, ArrayRef<Tensor>) -> Expected<SmallVector<Tensor>> {
    return makeError("", "has no regions");
  };
  EvalContext context(op, operands, allocate, noRegions, threads);
  // What cannot be computed here is told when the network is run.
  if (!evaluator.evaluate(context))
    return;
  OpBuilder builder(op);
  SmallVector<std::string> names = tensorNames(op);
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    if (!top::isPresent(result))
      result.replaceAllUsesWith(builder.create<top::NoneOp>(op->getLoc(), builder.getNoneType()));
    else
      result.replaceAllUsesWith(
          top::WeightOp::create(builder, getOperation(), names[index], context.results()[index])
              .getOutput());
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
  // Constants are small: threads would cost more than they give.
  ThreadPool threads(1);
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    if (failed(inferRegion(function.getBody(), threads)))
      return signalPassFailure();
    function.setType(
        FunctionType::get(&getContext(), function.getArgumentTypes(),
                          function.getBody().back().getTerminator()->getOperandTypes()));
  }
  getOperation().walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isa<top::WeightOp, top::NoneOp>(op) && op->use_empty())
      op->erase();
  });
}
