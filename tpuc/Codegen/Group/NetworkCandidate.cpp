//===- NetworkCandidate.cpp - How long a network would run -------------------------- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Group/NetworkCandidate.h"
#include "tpuc/Codegen/Emit/NetworkEmitter.h"
#include "tpuc/Codegen/Place/AddressAssign.h"
#include "tpuc/Codegen/Schedule/NetworkSchedule.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::codegen;

double codegen::meanRatio(ArrayRef<int64_t> cycles, ArrayRef<int64_t> reference) {
  double sum = 0;
  for (auto [own, other] : llvm::zip_equal(cycles, reference))
    sum += static_cast<double>(own) / static_cast<double>(std::max<int64_t>(other, 1));
  return sum / static_cast<double>(reference.size());
}

bool codegen::isNowhereSlower(ArrayRef<int64_t> cycles, ArrayRef<int64_t> reference) {
  return llvm::all_of(llvm::zip_equal(cycles, reference), [](const auto &both) {
    const auto [own, other] = both;
    return own <= other;
  });
}

Expected<NetworkCandidate::Result> NetworkCandidate::run(std::vector<GroupPlan> groups,
                                                         const Limits &limits) const {
  Expected<NetworkSchedule> schedule =
      scheduleNetwork(layers, groups, backend, pool, heuristics, limits.fill, limits.work);
  if (!schedule)
    return propagate(schedule);
  SmallVector<const GroupPlan *> planned;
  for (const GroupPlan &group : groups)
    planned.push_back(&group);
  Expected<int64_t> bytes = plannedBytes(main, planned, backend);
  if (!bytes)
    return propagate(bytes);
  if (*bytes > limits.bytes)
    return makeError("module", std::to_string(*bytes) + " bytes of global memory",
                     "at most " + std::to_string(limits.bytes));
  int64_t commands = 0;
  Expected<SmallVector<int64_t>> cycles = backend.runCycles([&](Emitter &emitter) {
    Expected<void> emitted =
        emitPlanned(schedule->items, schedule->poolUnits, pool, backend, emitter);
    commands = emitter.numCommands();
    return emitted;
  });
  if (!cycles)
    return propagate(cycles);
  return Result{
      .cycles = std::move(*cycles), .fill = schedule->fill, .bytes = *bytes, .commands = commands};
}

Expected<int64_t> NetworkCandidate::estimate(ArrayRef<const GroupPlan *> groups,
                                             bool areAll) const {
  if (areAll || groups.empty())
    return estimateNetwork(areAll ? layers : ArrayRef<Operation *>(), groups, backend, pool,
                           heuristics);
  const auto placeOf = [&](Operation *op) {
    const auto *place =
        llvm::partition_point(layers, [&](Operation *other) { return other->isBeforeInBlock(op); });
    return static_cast<size_t>(place - layers.begin());
  };
  const size_t begin = placeOf(groups.front()->layers.front());
  const size_t end = placeOf(groups.back()->layers.back()) + 1;
  return estimateNetwork(layers.slice(begin, end - begin), groups, backend, pool, heuristics);
}
