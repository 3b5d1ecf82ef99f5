//===- GroupBuilder.cpp - The ops of a planned group ------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Group/GroupBuilder.h"
#include "tpuc/Dialect/Tpu/ControlOps.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

namespace {

/// Makes the ops of a group from its plan.
class GroupBuilder {
public:
  GroupBuilder(const GroupPlan &plan, const PoolPlace &pool) : plan(plan), pool(pool) {}

  tpu::GroupOp build();

private:
  void set(tpu::TiledInterface op, GroupInfo info);
  tpu::GroupOp createGroup();
  void addLoads(OpBuilder &builder);
  Value load(OpBuilder &builder, const GroupTensor &tensor);

  const GroupPlan &plan;
  const PoolPlace &pool;
  int64_t nextId = 0;
};

void GroupBuilder::set(tpu::TiledInterface op, GroupInfo info) {
  info.id = nextId++;
  op.setGinfoAttr(info.attribute(op->getContext()));
}

/// A group in the place of its last layer, which reads and gives what its layers do together.
tpu::GroupOp GroupBuilder::createGroup() {
  OpBuilder builder(plan.layers.back());
  SmallVector<Value> inputs;
  SmallVector<Location> names;
  SmallVector<Type> types;
  for (const GroupTensor &tensor : plan.tensors) {
    if (!tensor.producer && !tensor.isConstant) {
      const Value input = loadedValue(plan, tensor);
      if (!llvm::is_contained(inputs, input))
        inputs.push_back(input);
    }
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
  const GroupTensor::User &user = tensor.users.front();
  auto unpack = plan.layers[user.layer]->getOperand(user.operand).getDefiningOp<tpu::UnpackOp>();
  const Value source = loadedValue(plan, tensor);
  auto made = builder.create<tpu::LoadOp>(source.getLoc(), source.getType(), source);
  set(made, loadInfo(plan, tensor, pool));
  if (!unpack)
    return made.getOutput();
  return builder
      .create<tpu::UnpackOp>(unpack.getLoc(), unpack.getOutput().getType(), made.getOutput(),
                             unpack.getBlocks(), unpack.getOrder(), unpack.getPadded())
      .getOutput();
}

void GroupBuilder::addLoads(OpBuilder &builder) {
  for (const GroupTensor *tensor : loadsInOrder(plan)) {
    Value made = load(builder, *tensor);
    for (const GroupTensor::User &user : tensor->users)
      plan.layers[user.layer]->setOperand(user.operand, made);
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
    set(cast<tpu::TiledInterface>(layer), layerInfo(plan, static_cast<unsigned>(index)));
  }
  builder.setInsertionPointToEnd(&body);
  SmallVector<Value> stored;
  for (const GroupTensor &tensor : plan.tensors) {
    if (!tensor.isStored)
      continue;
    auto store =
        builder.create<tpu::StoreOp>(tensor.value.getLoc(), tensor.value.getType(), tensor.value);
    set(store, storeInfo(plan, tensor));
    stored.push_back(store.getOutput());
  }
  builder.create<tpu::YieldOp>(group.getLoc(), stored);
  return group;
}

} // namespace

tpu::GroupOp codegen::buildGroup(const GroupPlan &plan, const PoolPlace &pool) {
  return GroupBuilder(plan, pool).build();
}
