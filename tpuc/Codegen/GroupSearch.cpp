//===- GroupSearch.cpp - Which layers run together ----------------------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/GroupSearch.h"
#include "tpuc/Codegen/Joins.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Interpreter/Evaluate.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

Expected<std::vector<Operation *>> codegen::localLayers(Block &block, const Backend &backend,
                                                        bool withJoins) {
  std::vector<Operation *> layers;
  for (Operation &op : block.without_terminator()) {
    if (!isLayer(&op) || isa<tpu::GroupOp>(op))
      continue;
    Expected<Place> place = backend.placeOf(&op);
    if (!place)
      return makeError("layer '" + layerName(&op) + "'", place.error().message());
    if (*place == Place::Local || (withJoins && isJoin(&op, backend)))
      layers.push_back(&op);
  }
  return layers;
}

bool codegen::standsTogether(ArrayRef<Operation *> layers) {
  const llvm::DenseSet<Operation *> members(layers.begin(), layers.end());
  for (Operation *layer : layers.drop_back())
    for (Operation *user : layer->getUsers())
      if (!members.contains(user) && user->isBeforeInBlock(layers.back()))
        return false;
  return true;
}

static tl::unexpected<Error> named(Operation *layer, Error error) {
  if (error.where.empty())
    error.where = "layer '" + layerName(layer) + "'";
  return tl::unexpected<Error>(std::move(error));
}

Expected<std::vector<GroupPlan>> codegen::separateGroups(ArrayRef<Operation *> layers,
                                                         GroupPlanner &planner) {
  std::vector<GroupPlan> groups;
  for (Operation *layer : layers) {
    Expected<GroupPlan> group = planner.alone(layer);
    if (!group)
      return named(layer, group.error());
    groups.push_back(std::move(*group));
  }
  return groups;
}

/// How many groups in a row may be impossible before longer ones are given up.
static constexpr unsigned kMaxFailures = 3;

/// Long groups of rows differ little from each other, and take long to plan: beyond the fine
/// length, only those of some lengths are looked at.
static constexpr size_t kFineLength = 24, kCoarseStep = 12;

static bool isPassedOver(ArrayRef<Operation *> members, bool isTail) {
  return members.size() > kFineLength && members.size() % kCoarseStep != 0 && !isTail &&
         companyOf(members) == Company::InRows;
}

Expected<std::vector<GroupPlan>>
codegen::bestGroups(ArrayRef<Operation *> layers, GroupPlanner &planner, const Backend &backend) {
  const size_t count = layers.size();
  std::vector<int64_t> cycles(count + 1, 0);
  std::vector<std::optional<GroupPlan>> choice(count);
  for (size_t first = count; first-- > 0;) {
    // By itself, a concatenation moves data or nothing at all.
    cycles[first] = cycles[first + 1];
    if (!isJoin(layers[first], backend)) {
      Expected<GroupPlan> alone = planner.alone(layers[first]);
      if (!alone)
        return named(layers[first], alone.error());
      cycles[first] += alone->estimate;
      choice[first] = std::move(*alone);
    }
    unsigned failures = 0;
    for (size_t end = first + 2; end <= count && failures < kMaxFailures; ++end) {
      const ArrayRef<Operation *> members = layers.slice(first, end - first);
      if (!standsTogether(members))
        break;
      if (isPassedOver(members, end == count))
        continue;
      Expected<GroupPlan> group = planner.best(members);
      if (!group) {
        ++failures;
        continue;
      }
      failures = 0;
      if (group->estimate + cycles[end] < cycles[first]) {
        cycles[first] = group->estimate + cycles[end];
        choice[first] = std::move(*group);
      }
    }
  }
  std::vector<GroupPlan> groups;
  for (size_t first = 0; first < count;) {
    if (!choice[first]) {
      ++first;
      continue;
    }
    groups.push_back(std::move(*choice[first]));
    first += groups.back().layers.size();
  }
  return groups;
}
