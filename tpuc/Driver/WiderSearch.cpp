//===- WiderSearch.cpp - Networks that are faster in wider floats ---------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/WiderSearch.h"
#include "tpuc/Conversion/TopToTpu/FirstLayers.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Driver/LayerCycles.h"

using namespace mlir;
using namespace tpuc;

/// A network of less than so many commands may take so many times the cycles by estimated groups:
/// its search takes no time, and still wider floats for some layers may bring much.
static constexpr int64_t kFewCommands = 2'000;
static constexpr double kCloseOfFew = 1.3;

namespace {

/// Layers in one wider type.
using WiderLayers = std::vector<std::string> LoweringOptions::*;

/// A way to lower the network, and what it takes.
struct Found {
  LoweringOptions lowering;
  MeasuredNetwork network;
};

class WiderSearch {
public:
  explicit WiderSearch(const WiderSearchRequest &request);
  std::optional<LoweringOptions> run();

private:
  using Needed = std::set<std::string>;

  Expected<MeasuredNetwork> measure(const LoweringOptions &lowering, bool isQuick);
  Expected<MeasuredNetwork> measure(const LoweringOptions &lowering, WiderLayers wider,
                                    const std::vector<std::string> &names, bool isQuick);
  Found best(const Found &start, size_t level, const Needed &needed);
  Found divided(const Found &start, size_t level, const Needed &needed);
  std::optional<Found> whole(const Found &start, size_t level, const Found &reached,
                             const Needed &needed);
  double leastCycles(WiderLayers wider) const;

  const WiderSearchRequest &request;
  /// From the narrowest on.
  SmallVector<WiderLayers> levels;
  /// What was measured: layers in F16 and in F32, and whether groups are by estimate.
  std::map<std::tuple<std::vector<std::string>, std::vector<std::string>, bool>, MeasuredNetwork>
      known;
};

} // namespace

static QuantScheme schemeOf(WiderLayers wider) {
  return wider == &LoweringOptions::fasterInF16 ? schemes::kF16 : schemes::kF32;
}

WiderSearch::WiderSearch(const WiderSearchRequest &request) : request(request) {
  for (WiderLayers wider : {&LoweringOptions::fasterInF16, &LoweringOptions::fasterInF32}) {
    const QuantScheme scheme = schemeOf(wider);
    const bool isWider = scheme == schemes::kF32 || request.lowering.scheme.isQuantized();
    if (isWider && request.target.schemes.contains(scheme))
      levels.push_back(wider);
  }
}

Expected<MeasuredNetwork> WiderSearch::measure(const LoweringOptions &lowering, bool isQuick) {
  std::tuple key(lowering.fasterInF16, lowering.fasterInF32, isQuick);
  if (auto found = known.find(key); found != known.end())
    return found->second;
  Expected<MeasuredNetwork> measured = request.measure(lowering, isQuick);
  if (measured)
    known.emplace(std::move(key), *measured);
  return measured;
}

/// The same with `names` in wider floats.
Expected<MeasuredNetwork> WiderSearch::measure(const LoweringOptions &lowering, WiderLayers wider,
                                               const std::vector<std::string> &names,
                                               bool isQuick) {
  LoweringOptions changed = lowering;
  changed.*wider = names;
  return measure(changed, isQuick);
}

/// Layers in one wider type after the other, where the network takes fewer cycles so by both sets
/// of parameters.
Found WiderSearch::divided(const Found &start, size_t level, const Needed &needed) {
  Found reached = start;
  bool isFaster = true;
  for (; level < levels.size(); ++level) {
    const WiderLayers wider = levels[level];
    const bool isF16 = schemeOf(wider) == schemes::kF16;
    std::set<std::string> fixed = request.kept;
    if (!isF16)
      fixed.insert(needed.begin(), needed.end());
    const LoweringOptions before = reached.lowering;
    Expected<FasterLayers> found = fasterLayers(
        {.top = request.top,
         .made = reached.network,
         .fixed = std::move(fixed),
         .needed = isF16 ? needed : Needed(),
         .measure = [&](const std::vector<std::string> &names,
                        bool isQuick) { return measure(before, wider, names, isQuick); },
         .measureQuickly = [&] { return measure(before, /*isQuick=*/true); },
         .isLast = level + 1 == levels.size(),
         .triesLighter = !isFaster});
    if (!found || found->names.empty())
      break;
    reached.lowering.*wider = std::move(found->names);
    reached.network = std::move(found->network);
    isFaster = reached.network.isFasterThan(start.network);
  }
  return isFaster ? reached : start;
}

/// The cycles that the network takes at least with its products in a wider type.
double WiderSearch::leastCycles(WiderLayers wider) const {
  Expected<func::FuncOp> main = top::mainFunction(request.top);
  if (!main)
    return 0;
  const QuantScheme scheme = schemeOf(wider);
  double products = 0, bits = 0;
  llvm::DenseSet<Value> seen;
  for (Operation &op : main->front().without_terminator()) {
    const double count = multiplicationsOf(&op);
    products += count;
    for (Value operand : op.getOperands())
      if (count > 0 && operand.getDefiningOp<top::WeightOp>() && seen.insert(operand).second)
        bits += double(cast<RankedTensorType>(operand.getType()).getNumElements()) *
                double(bitWidth(scheme.weight));
  }
  double least = 0;
  if (const std::optional<uint32_t> peak = request.target.peakMacs.of(scheme))
    least = products / double(*peak);
  const auto &timing = request.target.timing;
  if (timing && timing->peakGlobalBytesPerCycle > 0)
    least = std::max(least, bits / 8 / timing->peakGlobalBytesPerCycle);
  return least;
}

/// The network with all layers in one wider type, unless it cannot be faster than `reached`.
std::optional<Found> WiderSearch::whole(const Found &start, size_t level, const Found &reached,
                                        const Needed &needed) {
  const WiderLayers wider = levels[level];
  Expected<func::FuncOp> main = top::mainFunction(request.top);
  if (!main || leastCycles(wider) >= double(reached.network.file.cycles))
    return std::nullopt;
  Found found = start;
  std::vector<std::string> dispensable;
  for (const std::string &name : layerNames(*main))
    if (!request.kept.contains(name)) {
      (found.lowering.*wider).push_back(name);
      if (!needed.contains(name))
        dispensable.push_back(name);
    }
  // Nothing is searched in this one in turn.
  if (level + 1 == levels.size() && reached.lowering.*wider == found.lowering.*wider)
    return std::nullopt;
  const std::function<Expected<MeasuredNetwork>()> measureQuickly = [&] {
    return measure(reached.lowering, /*isQuick=*/true);
  };
  Prospects prospects(reached.network.file, measureQuickly);
  const double close = request.made.file.commands < kFewCommands ? kCloseOfFew : kCloseEnough;
  // Where a search takes long, what was measured without the layers that are needed says enough.
  const bool isMeasured = prospects.isLong() && request.mayDivide;
  for (const std::vector<std::string> &names :
       {isMeasured ? dispensable : found.lowering.*wider, found.lowering.*wider}) {
    Expected<MeasuredNetwork> quick = measure(start.lowering, wider, names, /*isQuick=*/true);
    Expected<bool> isClose =
        quick ? prospects.mayBeFaster(quick->file, close) : Expected<bool>(false);
    if (!isClose || !*isClose)
      return std::nullopt;
  }
  Expected<MeasuredNetwork> measured = measure(found.lowering, /*isQuick=*/false);
  if (!measured)
    return std::nullopt;
  found.network = std::move(*measured);
  return found;
}

/// What takes the fewest cycles from `start` on, with layers in the types from `level` on.
Found WiderSearch::best(const Found &start, size_t level, const Needed &needed) {
  Found reached = request.mayDivide ? divided(start, level, needed) : start;
  if (level == levels.size())
    return reached;
  const std::optional<Found> wider = whole(start, level, reached, needed);
  if (!wider)
    return reached;
  // What is needed on integers is in the same floats as all others.
  Found twin = best(*wider, level + 1, {});
  return twin.network.takesFewerCyclesThan(reached.network) ? twin : reached;
}

std::optional<LoweringOptions> WiderSearch::run() {
  const Found start{request.lowering, request.made};
  Found found = best(start, 0, request.needed);
  if (!found.network.takesFewerCyclesThan(request.made))
    return std::nullopt;
  return std::move(found.lowering);
}

std::optional<LoweringOptions> tpuc::searchWiderFloats(const WiderSearchRequest &request) {
  return WiderSearch(request).run();
}
