//===- LayerGroup.cpp - Layers in slices that fit local memory ----------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/ConstantPool.h"
#include "tpuc/Codegen/GroupFile.h"
#include "tpuc/Codegen/GroupSearch.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/ModelContents.h"
#include "tpuc/Codegen/NetworkSchedule.h"
#include "tpuc/Codegen/Passes.h"
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

/// Makes the ops of a group from its plan.
class GroupBuilder {
public:
  GroupBuilder(const GroupPlan &plan, const ConstantPool &pool, int64_t poolAddress,
               const Backend &backend)
      : plan(plan), pool(pool), poolAddress(poolAddress), backend(backend) {}

  tpu::GroupOp build();

private:
  /// What is loaded: since the plan was made, groups have taken the place of layers.
  Value sourceOf(const GroupTensor &tensor) const {
    const GroupTensor::Reader &reader = tensor.readers.front();
    return plan.layers[reader.layer]->getOperand(reader.operand);
  }
  GroupInfo infoOf(const GroupTensor &tensor) const;
  void set(Operation *op, GroupInfo info);
  tpu::GroupOp createGroup();
  void addLoads(OpBuilder &builder);
  Value load(OpBuilder &builder, const GroupTensor &tensor);

  const GroupPlan &plan;
  const ConstantPool &pool;
  int64_t poolAddress;
  const Backend &backend;
  int64_t nextId = 0;
};

GroupInfo GroupBuilder::infoOf(const GroupTensor &tensor) const {
  GroupInfo info;
  info.outAddress = tensor.address;
  info.outBytes = tensor.bytes;
  info.buffers = tensor.buffers;
  info.sections = tensor.sections;
  info.step = tensor.transferStep;
  const unsigned carrier = tensor.maker ? *tensor.maker : tensor.readers.front().layer;
  info.isAligned = backend.isAligned(plan.layers[carrier], plan.carrierIndex(tensor)) ? 1 : 0;
  return info;
}

void GroupBuilder::set(Operation *op, GroupInfo info) {
  info.id = nextId++;
  op->setAttr(kGroupInfo, info.attribute(op->getContext()));
}

/// A group in the place of its last layer, which reads and gives what its layers do together.
tpu::GroupOp GroupBuilder::createGroup() {
  OpBuilder builder(plan.layers.back());
  SmallVector<Value> inputs;
  SmallVector<Location> names;
  SmallVector<Type> types;
  for (const GroupTensor &tensor : plan.tensors) {
    if (!tensor.maker && !tensor.isConstant && !llvm::is_contained(inputs, sourceOf(tensor)))
      inputs.push_back(sourceOf(tensor));
    if (!tensor.isStored)
      continue;
    types.push_back(tensor.value.getType());
    names.push_back(tensor.value.getLoc());
  }
  const Location loc = names.size() == 1 ? names.front() : builder.getFusedLoc(names);
  return builder.create<tpu::GroupOp>(loc, types, inputs);
}

/// A load of a tensor, packed where it is a constant, and what it means.
Value GroupBuilder::load(OpBuilder &builder, const GroupTensor &tensor) {
  Value value = sourceOf(tensor);
  auto unpack = value.getDefiningOp<tpu::UnpackOp>();
  Value source = unpack ? unpack.getInput() : value;
  auto made = builder.create<tpu::LoadOp>(source.getLoc(), source.getType(), source);
  GroupInfo info = infoOf(tensor);
  if (tensor.isPooled) {
    info.pooled = 1;
    info.outAddress = poolAddress + pool.offsets.lookup(source);
    info.outBytes =
        globalBytes(source.getType()) / cast<RankedTensorType>(source.getType()).getShape().front();
  }
  set(made, info);
  if (!unpack)
    return made.getOutput();
  return builder
      .create<tpu::UnpackOp>(unpack.getLoc(), unpack.getOutput().getType(), made.getOutput(),
                             unpack.getBlocks(), unpack.getOrder(), unpack.getPadded())
      .getOutput();
}

/// In the order in which they are due.
void GroupBuilder::addLoads(OpBuilder &builder) {
  SmallVector<const GroupTensor *> loaded;
  for (const GroupTensor &tensor : plan.tensors)
    if (!tensor.maker)
      loaded.push_back(&tensor);
  llvm::stable_sort(loaded, [](const GroupTensor *a, const GroupTensor *b) {
    return std::pair(a->transferStep, a->readers.front().layer) <
           std::pair(b->transferStep, b->readers.front().layer);
  });
  for (const GroupTensor *tensor : loaded) {
    Value made = load(builder, *tensor);
    for (const GroupTensor::Reader &reader : tensor->readers)
      plan.layers[reader.layer]->setOperand(reader.operand, made);
  }
}

tpu::GroupOp GroupBuilder::build() {
  tpu::GroupOp group = createGroup();
  Block &body = group.getBody().emplaceBlock();
  OpBuilder builder = OpBuilder::atBlockEnd(&body);
  unsigned number = 0;
  for (const GroupTensor &tensor : plan.tensors)
    if (tensor.isStored)
      Value(tensor.value).replaceUsesWithIf(group.getResult(number++), [&](OpOperand &use) {
        return !llvm::is_contained(plan.layers, use.getOwner());
      });
  addLoads(builder);
  for (auto [index, layer] : llvm::enumerate(plan.layers)) {
    layer->moveBefore(&body, body.end());
    GroupInfo info = infoOf(plan.tensors[plan.results[index]]);
    info.step = static_cast<int64_t>(index);
    info.stage = 1;
    info.scratchAddress = plan.scratchAddresses[index];
    info.scratchBytes = plan.scratchBytes[index];
    set(layer, info);
  }
  builder.setInsertionPointToEnd(&body);
  SmallVector<Value> stored;
  for (const GroupTensor &tensor : plan.tensors) {
    if (!tensor.isStored)
      continue;
    auto store =
        builder.create<tpu::StoreOp>(tensor.value.getLoc(), tensor.value.getType(), tensor.value);
    GroupInfo info = infoOf(tensor);
    info.stage = 2;
    set(store, info);
    stored.push_back(store.getOutput());
  }
  builder.create<tpu::YieldOp>(group.getLoc(), stored);
  return group;
}

struct LayerGroupPass : codegen::impl::LayerGroupBase<LayerGroupPass> {
  using Base::Base;

  Expected<std::vector<GroupPlan>> choose(ArrayRef<Operation *> layers, GroupPlanner &planner,
                                          const Backend &backend) {
    if (!loadGroups.empty())
      return readGroups(loadGroups, layers, planner, backend);
    return opt == 0 ? separateGroups(layers, planner) : bestGroups(layers, planner, backend);
  }

  Expected<void> save(ArrayRef<GroupPlan> groups) {
    if (saveGroups.empty())
      return {};
    Expected<OutputFile> file = writeGroups(groups, saveGroups);
    return file ? file->commit() : propagate(file);
  }

  /// Groups, their times and places. Where what the groups need does not find its place, the groups
  /// are chosen again for a smaller memory.
  Expected<void> group(Block &block, const Backend &backend) {
    Expected<std::vector<Operation *>> layers =
        localLayers(block, backend, /*withJoins=*/opt != 0 || !loadGroups.empty());
    if (!layers)
      return propagate(layers);
    const ConstantPool pool = poolConstants(*layers, backend);
    const int64_t capacity = int64_t{backend.info().memory.localBytesPerLane} - pool.bytes;
    std::optional<Error> failure;
    for (int64_t percent : {100, 90, 75, 50}) {
      GroupPlanner planner(backend, capacity * percent / 100, pool.operands);
      Expected<std::vector<GroupPlan>> groups = choose(*layers, planner, backend);
      Expected<std::vector<ScheduleItem>> items =
          groups ? scheduleNetwork(block, *groups, backend, capacity) : propagate(groups);
      if (items) {
        if (Expected<void> saved = save(*groups); !saved)
          return saved;
        build(*items, pool, capacity, backend);
        return {};
      }
      if (!failure)
        failure = items.error();
    }
    return tl::unexpected<Error>(*failure);
  }

  void build(ArrayRef<ScheduleItem> items, const ConstantPool &pool, int64_t poolAddress,
             const Backend &backend) {
    Builder builder(&getContext());
    for (const ScheduleItem &item : items) {
      Operation *op = item.move;
      if (item.group)
        op = GroupBuilder(*item.group, pool, poolAddress, backend).build();
      op->setAttr(kTime, builder.getI64IntegerAttr(item.start));
    }
    if (pool.bytes == 0)
      return;
    getOperation()->setAttr(kPoolLocal, builder.getI64IntegerAttr(poolAddress));
    getOperation()->setAttr(kPoolBytes, builder.getI64IntegerAttr(pool.bytes));
  }

  LogicalResult run() {
    ModuleOp module = getOperation();
    if (opt != 0 && opt != 1)
      return module.emitError() << "--layer-group: opt=" << opt.getValue() << "; expected 0 or 1";
    Expected<std::unique_ptr<Backend>> backend = backendOf(module);
    if (!backend)
      return module.emitError(backend.error().message());
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal())
      return module.emitError("has no function 'main'");
    if (Expected<void> grouped = group(main.front(), **backend); !grouped)
      return module.emitError(grouped.error().message());
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
