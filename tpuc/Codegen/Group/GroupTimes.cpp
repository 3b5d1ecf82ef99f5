//===- GroupTimes.cpp - When a group reads and writes global memory ------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Group/GroupTimes.h"
#include "tpuc/Codegen/Group/GroupInfo.h"
#include "tpuc/Codegen/Group/PlanInfo.h"
#include "tpuc/Dialect/Tpu/ControlOps.h"

#include <algorithm>
#include <vector>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

/// The step of the last transfer. What is loaded whole is loaded once.
static int64_t lastStep(int64_t step, const Sections &axisTiles, bool isStored, int64_t tiles,
                        int64_t period) {
  const bool isTiled = llvm::any_of(axisTiles, [](const auto &parts) { return parts.size() > 1; });
  return step + (isStored || isTiled ? tiles - 1 : 0) * period;
}

GroupTimes::GroupTimes(std::vector<Transfer> inSteps) : all(std::move(inSteps)) {
  SmallVector<int64_t> steps;
  for (const Transfer &transfer : all)
    steps.append({transfer.first, transfer.last});
  llvm::sort(steps);
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  numTimes = static_cast<int64_t>(steps.size());
  const auto timeOf = [&](int64_t step) {
    return static_cast<int64_t>(llvm::lower_bound(steps, step) - steps.begin());
  };
  for (Transfer &transfer : all) {
    transfer.first = timeOf(transfer.first);
    transfer.last = timeOf(transfer.last);
  }
}

Expected<GroupTimes> GroupTimes::of(tpu::GroupOp group) {
  std::vector<std::pair<Operation *, GroupInfo>> moved;
  TileCounts counts{1, 1, 1, 1, 1};
  // The steps from one tile to the next.
  int64_t period = 0;
  Block &body = group.getBody().front();
  for (Operation &member : body.without_terminator()) {
    if (isa<tpu::UnpackOp>(member))
      continue;
    Expected<GroupInfo> info = GroupInfo::of(&member);
    if (!info)
      return propagate(info);
    if (isa<tpu::LoadOp, tpu::StoreOp>(member)) {
      moved.emplace_back(&member, std::move(*info));
      continue;
    }
    ++period;
    for (unsigned axis = 0; axis < kNumAxes; ++axis)
      counts[axis] = std::max(counts[axis], static_cast<unsigned>(info->axisTiles[axis].size()));
  }
  int64_t tiles = 1;
  for (unsigned count : counts)
    tiles *= count;

  // Stores are yielded in the order of the results.
  llvm::DenseMap<Operation *, Value> results;
  for (auto [stored, result] :
       llvm::zip_equal(body.getTerminator()->getOperands(), group.getResults()))
    results[stored.getDefiningOp()] = result;
  std::vector<Transfer> inSteps;
  for (const auto &[op, info] : moved) {
    const bool isStored = isa<tpu::StoreOp>(op);
    inSteps.push_back({.value = isStored ? results.lookup(op) : op->getOperand(0),
                       .first = info.step,
                       .last = lastStep(info.step, info.axisTiles, isStored, tiles, period),
                       .isStored = isStored});
  }
  return GroupTimes(std::move(inSteps));
}

GroupTimes GroupTimes::of(const GroupPlan &plan) {
  std::vector<Transfer> inSteps;
  for (const GroupTensor &tensor : plan.tensors)
    if (tensor.isLoaded() || tensor.isStored)
      inSteps.push_back({.value = tensor.isStored ? tensor.value : loadedValue(plan, tensor),
                         .first = tensor.transferStep,
                         .last = lastStep(tensor.transferStep, tensor.axisTiles, tensor.isStored,
                                          plan.numTiles(), plan.period()),
                         .isStored = tensor.isStored});
  return GroupTimes(std::move(inSteps));
}
