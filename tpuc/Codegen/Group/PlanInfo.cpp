//===- PlanInfo.cpp - What the ops of a group say of its plan ------------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Group/PlanInfo.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

SmallVector<const GroupTensor *> codegen::loadsInOrder(const GroupPlan &plan) {
  SmallVector<const GroupTensor *> loaded;
  for (const GroupTensor &tensor : plan.tensors)
    if (!tensor.producer)
      loaded.push_back(&tensor);
  llvm::stable_sort(loaded, [](const GroupTensor *a, const GroupTensor *b) {
    return std::tuple(a->transferStep, a->users.front().layer, !a->isConstant) <
           std::tuple(b->transferStep, b->users.front().layer, !b->isConstant);
  });
  return loaded;
}

Value codegen::loadedValue(const GroupPlan &plan, const GroupTensor &tensor) {
  const GroupTensor::User &user = tensor.users.front();
  Value value = plan.layers[user.layer]->getOperand(user.operand);
  auto unpack = value.getDefiningOp<tpu::UnpackOp>();
  return unpack ? unpack.getInput() : value;
}

static GroupInfo infoOf(const GroupPlan &plan, const GroupTensor &tensor) {
  GroupInfo info;
  info.outAddress = tensor.address;
  info.outBytes = tensor.bytes;
  info.buffers = tensor.buffers;
  info.axisTiles = tensor.axisTiles;
  info.order = plan.order;
  info.step = tensor.transferStep;
  info.firstStep = tensor.earlyStep.value_or(info.step);
  const unsigned carrier = tensor.producer ? *tensor.producer : tensor.users.front().layer;
  info.isAligned = plan.models[carrier]->layoutOf(plan.carrierIndex(tensor)).isAligned ? 1 : 0;
  return info;
}

GroupInfo codegen::loadInfo(const GroupPlan &plan, const GroupTensor &tensor,
                            const PoolPlace &place) {
  GroupInfo info = infoOf(plan, tensor);
  if (!tensor.isResident)
    return info;
  const Value packed = loadedValue(plan, tensor);
  info.resident = 1;
  info.outAddress = place.address + place.pool.offsets.lookup(packed);
  info.outBytes =
      globalBytes(packed.getType()) / cast<RankedTensorType>(packed.getType()).getShape().front();
  return info;
}

GroupInfo codegen::layerInfo(const GroupPlan &plan, unsigned layer) {
  GroupInfo info = infoOf(plan, plan.tensors[plan.results[layer]]);
  info.step = info.firstStep = static_cast<int64_t>(layer);
  info.stage = 1;
  info.scratchAddress = plan.scratchAddresses[layer];
  info.scratchBytes = plan.scratchBytes[layer];
  for (const GroupPlan::PartMove &move : plan.moves)
    if (move.layer == layer && move.isEarly()) {
      info.partSteps.resize(plan.operands[layer].size(), GroupInfo::kAtOnce);
      info.partSteps[move.operand] = move.step;
    }
  return info;
}

GroupInfo codegen::storeInfo(const GroupPlan &plan, const GroupTensor &tensor) {
  GroupInfo info = infoOf(plan, tensor);
  info.stage = 2;
  return info;
}
