//===- FloatBudget.cpp - What floats by need may cost ---------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/FloatBudget.h"
#include "tpuc/Conversion/TopToTpu/StoragePlan.h"

#include <cmath>
#include <tuple>

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

std::optional<size_t> tpuc::stepToMiss(ArrayRef<TriedStep> steps) {
  // Lower is better to miss.
  using Rank = std::tuple<bool, double, double>;
  const auto rankOf = [](const TriedStep &tried) -> Rank {
    const auto &[step, fits] = tried;
    return fits ? Rank{false, step.gain, -step.cost} : Rank{true, step.gain / step.cost, 0};
  };
  std::optional<size_t> best;
  for (size_t i = 0; i < steps.size(); ++i)
    if (steps[i].step.cost > 0 && (!best || rankOf(steps[i]) < rankOf(steps[*best])))
      best = i;
  return best;
}

double tpuc::gainMissed(ArrayRef<FloatStep> steps, const std::set<std::string> &left) {
  double squares = 0;
  for (const FloatStep &step : steps)
    if (!left.contains(step.name))
      squares += step.gain * step.gain;
  return std::sqrt(squares);
}

/// The steps of a lowered network.
static std::set<std::string> stepNames(ModuleOp lowered) {
  std::set<std::string> names;
  lowered.walk([&](Operation *op) {
    if (auto name = op->getAttrOfType<StringAttr>(kStorageStep))
      names.insert(name.str());
  });
  return names;
}

/// Those of slight gain as one step, so that one trial run tells what they cost; none if there are
/// none.
static std::vector<FloatStep> slightOnes(std::vector<FloatStep> steps) {
  std::erase_if(steps, [](const FloatStep &step) { return !isSlightGain(step.gain); });
  for (size_t i = 1; i < steps.size(); ++i) {
    llvm::append_range(steps.front().layers, steps[i].layers);
    steps.front().gain = std::max(steps.front().gain, steps[i].gain);
  }
  steps.resize(std::min<size_t>(steps.size(), 1));
  return steps;
}

/// The step of `stepToMiss`, by the cycles of the network without it; perhaps only of slight gain.
Expected<std::optional<FloatStep>> FloatBudget::leastMissed(ModuleOp lowered,
                                                            const LoweringOptions &lowering,
                                                            const ModelFileReport &made,
                                                            double percent, bool onlySlight) const {
  std::vector<FloatStep> steps = dispensableSteps(lowered, request.top, made, *strict);
  const std::vector<FloatStep> all = steps;
  if (onlySlight)
    steps = slightOnes(std::move(steps));
  steps.resize(std::min(steps.size(), kMostTriedSteps));
  std::vector<TriedStep> tried;
  for (FloatStep &step : steps) {
    LoweringOptions without = lowering;
    llvm::append_range(without.onIntegers, step.layers);
    Expected<Network> network = request.lower(without);
    if (!network)
      return propagate(network);
    Expected<ModelFileReport> report = request.measure(*network->module);
    if (!report)
      return propagate(report);
    // A step that others need takes these with it.
    step.gain = gainMissed(all, stepNames(*network->module));
    step.cost = double(made.cycles - report->cycles) / double(strict->cycles);
    tried.push_back({std::move(step), 100 * costOf(*report) <= percent});
  }
  const std::optional<size_t> missed = stepToMiss(tried);
  return missed ? std::optional(std::move(tried[*missed].step)) : std::nullopt;
}

Expected<std::optional<FloatStep>> FloatBudget::stepToGiveUp(ModuleOp lowered,
                                                             const LoweringOptions &lowering,
                                                             const ModelFileReport &file) {
  const std::optional<FloatShare> share = floatShare(lowered, request.top, request.target, &file);
  if (!hasStrict || (!share && !strict))
    return std::nullopt;
  const double percent = request.percent * (areOnlyOutputs(lowered) ? kPartForOutputs : 1);
  // What spares little may not make the run longer.
  const double unquestioned = hasSlightGains(lowered) ? 0 : percent;
  if (!strict) {
    // What integers take at least in place of the floats may say enough.
    if (100 * *share->mostCost() <= unquestioned)
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
  if (!share || 100 * *cost <= unquestioned)
    return std::nullopt;
  Expected<std::optional<FloatStep>> step = std::optional<FloatStep>();
  if (hasSlightGains(lowered))
    step = leastMissed(lowered, lowering, *made, percent, true);
  if (step && !*step && 100 * *cost > percent)
    step = leastMissed(lowered, lowering, *made, percent, false);
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
