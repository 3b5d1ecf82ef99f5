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

/// A network that takes so many times the cycles by estimated groups becomes no faster.
static constexpr double kCloseEnough = 1.1;
/// In networks of less than so many commands a look takes no time. There some layers may be faster
/// in F32 though none are in F16.
static constexpr int64_t kCheapLookCommands = 1'000;
/// Networks of less than so many cycles may take more. Waits are most of what these take, and still
/// wider floats for some layers may spare many.
static constexpr int64_t kFewCycles = 50'000;
static constexpr double kCloseOfFew = 1.3;
/// Layers that are needed on integers make a network in wider floats so many times faster at most.
static constexpr double kNeededBeside = 1.05;
/// No search makes the engine that computes work for less than this part of what it does by
/// estimated groups.
static constexpr double kLeastWork = 0.97;

namespace {

/// Of what a search brought one network, it may bring another one so many times as much, and this
/// part of the cycles beside.
struct MoreGain {
  double times = 0, beside = 0;
};

} // namespace

/// A search tries less in networks of more commands, and brings one about as much as another.
static MoreGain moreGainOf(const MeasuredNetwork &network) {
  constexpr int64_t kSomeCommands = 2'000, kManyCommands = 12'000;
  if (network.file.commands < kSomeCommands)
    return {2, 0.02};
  return network.file.commands < kManyCommands ? MoreGain{4, 0.02} : MoreGain{2, 0.002};
}

namespace {

/// Layers in one wider type.
using WiderLayers = std::vector<std::string> LoweringOptions::*;

/// A way to lower the network, and what it takes with groups by estimate.
struct Found {
  LoweringOptions lowering;
  MeasuredNetwork quick;
};

/// What was measured: layers in F16 and in F32, and whether groups are by estimate.
using Key = std::tuple<std::vector<std::string>, std::vector<std::string>, bool>;

class WiderSearch {
public:
  explicit WiderSearch(const WiderSearchRequest &request);
  std::optional<LoweringOptions> run();

private:
  using Needed = std::set<std::string>;

  Expected<MeasuredNetwork> measure(const LoweringOptions &lowering, bool isQuick);
  Expected<MeasuredNetwork> measure(const LoweringOptions &lowering, WiderLayers wider,
                                    const std::vector<std::string> &names);
  int64_t cyclesOf(const Found &found) const;
  bool mayBecomeFaster(const Found &other, const Found &than);
  bool isFaster(const Found &other, const Found &than, bool byAllParameters);
  Found best(const Found &start, size_t level, const Needed &needed, const Found *rival);
  Found divided(const Found &start, size_t level, const Needed &needed);
  std::optional<Found> whole(const Found &start, size_t level, const Found &reached,
                             const Needed &needed);
  double leastCycles(WiderLayers wider) const;

  const WiderSearchRequest &request;
  /// From the narrowest on.
  SmallVector<WiderLayers> levels;
  std::map<Key, MeasuredNetwork> known;
};

} // namespace

static QuantScheme schemeOf(WiderLayers wider) {
  return wider == &LoweringOptions::fasterInF16 ? schemes::kF16 : schemes::kF32;
}

static Key keyOf(const LoweringOptions &lowering, bool isQuick) {
  return {lowering.fasterInF16, lowering.fasterInF32, isQuick};
}

WiderSearch::WiderSearch(const WiderSearchRequest &request) : request(request) {
  for (WiderLayers wider : {&LoweringOptions::fasterInF16, &LoweringOptions::fasterInF32}) {
    const QuantScheme scheme = schemeOf(wider);
    const bool isWider = scheme == schemes::kF32 || request.lowering.scheme.isQuantized();
    if (isWider && request.target.schemes.contains(scheme))
      levels.push_back(wider);
  }
  if (request.made)
    known.emplace(keyOf(request.lowering, /*isQuick=*/false), *request.made);
}

Expected<MeasuredNetwork> WiderSearch::measure(const LoweringOptions &lowering, bool isQuick) {
  auto key = keyOf(lowering, isQuick);
  if (auto found = known.find(key); found != known.end())
    return found->second;
  Expected<MeasuredNetwork> measured = request.measure(lowering, isQuick);
  if (measured)
    known.emplace(std::move(key), *measured);
  return measured;
}

/// The same with `names` in wider floats, and groups by estimate.
Expected<MeasuredNetwork> WiderSearch::measure(const LoweringOptions &lowering, WiderLayers wider,
                                               const std::vector<std::string> &names) {
  LoweringOptions changed = lowering;
  changed.*wider = names;
  return measure(changed, /*isQuick=*/true);
}

/// The cycles as far as they are known: a search makes them fewer.
int64_t WiderSearch::cyclesOf(const Found &found) const {
  auto searched = known.find(keyOf(found.lowering, /*isQuick=*/false));
  return (searched == known.end() ? found.quick : searched->second).file.cycles;
}

/// Whether a search may bring `cycles` below `least`, as it brought `than` its cycles.
static bool mayFallBelow(double least, int64_t cycles, const Found &than,
                         const MeasuredNetwork &searched) {
  const MoreGain more = moreGainOf(searched);
  const double gain = double(than.quick.file.cycles) / double(searched.file.cycles) - 1;
  return double(cycles) < least * (1 + more.beside + more.times * std::max(gain, 0.0));
}

/// Whether a search may make `other` take fewer cycles than `than`, which is searched. What cannot
/// be searched does not count.
bool WiderSearch::mayBecomeFaster(const Found &other, const Found &than) {
  const ModelFileReport &quick = other.quick.file;
  if (double(quick.cycles) >= kCloseEnough * double(than.quick.file.cycles))
    return false;
  Expected<MeasuredNetwork> searched = measure(than.lowering, /*isQuick=*/false);
  if (!searched)
    return true;
  const auto least = double(searched->file.cycles);
  return double(quick.cycles) * quick.computeBusy * kLeastWork < least &&
         mayFallBelow(least, quick.cycles, than, *searched);
}

/// Whether `other` takes fewer cycles than `than`, perhaps no more by the conservative parameters.
/// The one that takes fewer by estimate is searched first: mostly that decides it.
bool WiderSearch::isFaster(const Found &other, const Found &than, bool byAllParameters) {
  if (other.quick.hostLayers > than.quick.hostLayers)
    return false;
  const bool isAhead = other.quick.file.cycles < than.quick.file.cycles;
  if (!isAhead && !mayBecomeFaster(other, than))
    return false;
  Expected<MeasuredNetwork> searched = measure(other.lowering, /*isQuick=*/false);
  if (!searched)
    return false;
  const int64_t conservative = searched->file.conservativeCycles;
  const bool isSure =
      isAhead && !mayBecomeFaster(than, other) &&
      (!byAllParameters ||
       !mayFallBelow(double(conservative), than.quick.file.conservativeCycles, other, *searched));
  if (isSure)
    return true;
  Expected<MeasuredNetwork> before = measure(than.lowering, /*isQuick=*/false);
  if (!before)
    return true;
  return byAllParameters ? searched->isFasterThan(*before)
                         : searched->takesFewerCyclesThan(*before);
}

/// Layers in one wider type after the other, where the network takes fewer cycles so by both sets
/// of parameters.
Found WiderSearch::divided(const Found &start, size_t level, const Needed &needed) {
  Found reached = start;
  bool isFaster = true;
  for (; level < levels.size(); ++level) {
    const WiderLayers wider = levels[level];
    const bool isF16 = schemeOf(wider) == schemes::kF16;
    // What is needed is in F16 where all others are, and may then be in F32, too.
    const bool isNeeded = !llvm::all_of(needed, [&](const std::string &name) {
      return llvm::is_contained(reached.lowering.fasterInF16, name);
    });
    std::set<std::string> fixed = request.kept;
    if (!isF16 && isNeeded)
      fixed.insert(needed.begin(), needed.end());
    const LoweringOptions before = reached.lowering;
    Expected<FasterLayers> found = fasterLayers(
        {.top = request.top,
         .made = reached.quick,
         .fixed = std::move(fixed),
         .needed = isF16 ? needed : Needed(),
         .measure =
             [&](const std::vector<std::string> &names) { return measure(before, wider, names); },
         .triesLighter = !isFaster});
    if (!found)
      break;
    if (found->names.empty()) {
      if (reached.quick.file.commands >= kCheapLookCommands)
        break;
      continue;
    }
    reached.lowering.*wider = std::move(found->names);
    reached.quick = std::move(found->network);
    isFaster = reached.quick.isFasterThan(start.quick);
  }
  return reached;
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
  const auto most = double(cyclesOf(reached));
  if (!main || leastCycles(wider) >= most)
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
  const double close = reached.quick.file.cycles < kFewCycles ? kCloseOfFew : kCloseEnough;
  // What a division has measured, without the layers that are needed, mostly says enough.
  if (request.mayDivide && !dispensable.empty()) {
    Expected<MeasuredNetwork> quick = measure(start.lowering, wider, dispensable);
    if (!quick || double(quick->file.cycles) >= close * kNeededBeside * most)
      return std::nullopt;
  }
  Expected<MeasuredNetwork> quick = measure(found.lowering, /*isQuick=*/true);
  if (!quick || double(quick->file.cycles) >= close * most)
    return std::nullopt;
  found.quick = std::move(*quick);
  return found;
}

/// What takes the fewest cycles from `start` on, with layers in the types from `level` on. Nothing
/// is searched for it that is far behind `rival`, if there is one.
Found WiderSearch::best(const Found &start, size_t level, const Needed &needed,
                        const Found *rival) {
  Found reached = request.mayDivide ? divided(start, level, needed) : start;
  const bool isOther = keyOf(reached.lowering, true) != keyOf(start.lowering, true);
  if (rival && !mayBecomeFaster(start, *rival) && !mayBecomeFaster(reached, *rival))
    return start;
  if (isOther && !isFaster(reached, start, /*byAllParameters=*/true))
    reached = start;
  if (level == levels.size())
    return reached;
  const std::optional<Found> wider = whole(start, level, reached, needed);
  if (!wider)
    return reached;
  // What is needed on integers is in the same floats as all others.
  Found twin = best(*wider, level + 1, {}, &reached);
  return isFaster(twin, reached, /*byAllParameters=*/false) ? twin : reached;
}

std::optional<LoweringOptions> WiderSearch::run() {
  if (levels.empty())
    return std::nullopt;
  // Where computation and weights alone take longer in all of them, nothing need be measured.
  const auto isPossible = [&](WiderLayers wider) {
    return leastCycles(wider) < double(request.made->file.cycles);
  };
  if (!request.mayDivide && request.made && llvm::none_of(levels, isPossible))
    return std::nullopt;
  // What is divided after its search is compared with what that has brought.
  Expected<MeasuredNetwork> quick = request.made && request.mayDivide
                                        ? *request.made
                                        : measure(request.lowering, /*isQuick=*/true);
  if (!quick)
    return std::nullopt;
  const Found start{request.lowering, std::move(*quick)};
  Found found = best(start, 0, request.needed, /*rival=*/nullptr);
  if (keyOf(found.lowering, true) == keyOf(start.lowering, true))
    return std::nullopt;
  return std::move(found.lowering);
}

std::optional<LoweringOptions> tpuc::searchWiderFloats(const WiderSearchRequest &request) {
  return WiderSearch(request).run();
}
