//===- FloatBudget.cpp - What floats by need may cost ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/FloatBudget.h"

using namespace mlir;
using namespace tpuc;

/// How many steps the budget tries to do without before it gives one up.
static constexpr size_t kMostTriedSteps = 8;

Expected<void> FloatBudget::measureStrict(const LoweringOptions &lowering) {
  LoweringOptions integers = lowering;
  integers.strict = true;
  Expected<Network> network = request.lower(integers);
  if (!network)
    return propagate(network);
  if (Expected<ModelFileReport> report = request.measure(*network->module))
    strict = std::move(*report);
  else
    hasStrict = false;
  return {};
}

/// The step without which the budget is kept and the most floats stay; where none does it alone,
/// the one that takes the most cycles. None where all take none.
Expected<std::optional<FloatStep>> FloatBudget::cheapest(ModuleOp lowered,
                                                         const LoweringOptions &lowering,
                                                         const ModelFileReport &made) const {
  std::vector<FloatStep> steps = dispensableSteps(lowered, request.top, made, *strict);
  steps.resize(std::min(steps.size(), kMostTriedSteps));
  std::optional<FloatStep> best;
  std::pair<bool, int64_t> bestRank;
  for (FloatStep &step : steps) {
    LoweringOptions without = lowering;
    llvm::append_range(without.onIntegers, step.layers);
    Expected<Network> network = request.lower(without);
    if (!network)
      return propagate(network);
    Expected<ModelFileReport> report = request.measure(*network->module);
    if (!report)
      return propagate(report);
    step.cost = double(made.cycles - report->cycles) / double(strict->cycles);
    const bool fits = 100 * costOf(*report) <= request.percent;
    const std::pair<bool, int64_t> rank = {fits, fits ? report->cycles : -report->cycles};
    if (step.cost > 0 && (!best || rank > bestRank)) {
      best = std::move(step);
      bestRank = rank;
    }
  }
  return best;
}

Expected<std::optional<FloatStep>> FloatBudget::stepToGiveUp(ModuleOp lowered,
                                                             const LoweringOptions &lowering,
                                                             const ModelFileReport &file) {
  const std::optional<FloatShare> share = floatShare(lowered, request.top, &file);
  if (!hasStrict || (!share && !strict))
    return std::nullopt;
  if (!strict) {
    // Integers take at least nothing in place of the floats.
    if (100 * *share->mostCost() <= request.percent)
      return std::nullopt;
    if (Expected<void> measured = measureStrict(lowering); !measured)
      return propagate(measured);
    if (!strict)
      return std::nullopt;
  }
  Expected<ModelFileReport> made =
      request.isQuick ? Expected<ModelFileReport>(file) : request.measure(lowered);
  if (!made)
    return propagate(made);
  cost = costOf(*made);
  excess = excessCycles(lowered, *made, *strict);
  if (!share || 100 * *cost <= request.percent)
    return std::nullopt;
  Expected<std::optional<FloatStep>> step = cheapest(lowered, lowering, *made);
  if (step && *step)
    leftOut.push_back(**step);
  return step;
}

void FloatBudget::describe(std::optional<FloatShare> &share) const {
  if (!leftOut.empty() && !share)
    share.emplace();
  if (!share)
    return;
  share->cost = cost;
  share->excessCycles = excess;
  share->leftOut = leftOut;
}
