//===- LayerGroup.cpp - Layers in slices that fit local memory ----------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Passes.h"
#include "tpuc/Codegen/SlicePlan.h"
#include "tpuc/Dialect/Tpu/ControlOps.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"

namespace tpuc::codegen {
#define GEN_PASS_DEF_LAYERGROUP
#include "tpuc/Codegen/Passes.h.inc"
} // namespace tpuc::codegen

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

struct LayerGroupPass : codegen::impl::LayerGroupBase<LayerGroupPass> {
  using Base::Base;

  void set(Operation *op, GroupInfo info, int64_t id, int64_t stage) {
    info.id = id;
    info.stage = stage;
    op->setAttr(kGroupInfo, info.attribute(&getContext()));
  }

  /// A load of `value`, packed where it is a constant, and what it means.
  Value load(OpBuilder &builder, Value value, const GroupInfo &info, int64_t id) {
    auto unpack = value.getDefiningOp<tpu::UnpackOp>();
    Value source = unpack ? unpack.getInput() : value;
    auto made = builder.create<tpu::LoadOp>(source.getLoc(), source.getType(), source);
    set(made, info, id, 0);
    if (!unpack)
      return made.getOutput();
    return builder
        .create<tpu::UnpackOp>(unpack.getLoc(), unpack.getOutput().getType(), made.getOutput(),
                               unpack.getBlocks(), unpack.getOrder(), unpack.getPadded())
        .getOutput();
  }

  /// Puts `op` into a group of its own.
  void group(Operation *op, const SlicePlan &plan) {
    OpBuilder builder(op);
    SmallVector<Value> inputs;
    for (Value operand : op->getOperands())
      if (!isa<NoneType>(operand.getType()) &&
          !(operand.getDefiningOp() && isConstant(operand.getDefiningOp())) &&
          !llvm::is_contained(inputs, operand))
        inputs.push_back(operand);
    auto made = builder.create<tpu::GroupOp>(op->getLoc(), op->getResult(0).getType(), inputs);
    op->getResult(0).replaceAllUsesWith(made.getResult(0));
    builder.createBlock(&made.getBody());
    int64_t id = 0;
    for (auto [operand, info] : llvm::zip_equal(op->getOpOperands(), plan.operands))
      if (info)
        operand.set(load(builder, operand.get(), *info, id++));
    op->moveBefore(&made.getBody().front(), made.getBody().front().end());
    builder.setInsertionPointToEnd(&made.getBody().front());
    set(op, plan.result, id++, 1);
    auto store =
        builder.create<tpu::StoreOp>(op->getLoc(), op->getResult(0).getType(), op->getResult(0));
    GroupInfo stored = plan.result;
    stored.scratchAddress = stored.scratchBytes = 0;
    set(store, stored, id, 2);
    builder.create<tpu::YieldOp>(op->getLoc(), store.getOutput());
  }

  LogicalResult run() {
    ModuleOp module = getOperation();
    if (opt != 0)
      return module.emitError() << "--layer-group: opt=" << opt.getValue() << "; expected 0";
    Expected<std::unique_ptr<Backend>> backend = backendOf(module);
    if (!backend)
      return module.emitError(backend.error().message());
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal())
      return module.emitError("has no function 'main'");
    for (Operation &op : llvm::make_early_inc_range(main.front().without_terminator())) {
      if (!isLayer(&op) || isa<tpu::GroupOp>(op))
        continue;
      Expected<Place> place = (*backend)->placeOf(&op);
      if (!place)
        return op.emitError() << op.getName() << ": " << place.error().message();
      if (*place != Place::Local)
        continue;
      Expected<SlicePlan> plan = planSlices(&op, **backend);
      if (!plan)
        return op.emitError() << op.getName() << ": " << plan.error().message();
      group(&op, *plan);
    }
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(main.front())))
      if (isConstant(&op) && op.use_empty())
        op.erase();
    module->setAttr("module.state", StringAttr::get(&getContext(), "TPU_GROUPED"));
    return success();
  }

  void runOnOperation() override {
    if (failed(run()))
      signalPassFailure();
  }
};

} // namespace
