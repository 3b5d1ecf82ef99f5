//===- FasterLayers.cpp - Layers that are faster in wider floats ------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/FasterLayers.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/OpTraits.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Driver/LayerCycles.h"

using namespace mlir;
using namespace tpuc;

/// A search tries much in networks of fewer commands, and may bring one more than another. Of what
/// it brought one network of more, another one may gain so many times as much, and this part
/// of the cycles beside.
static constexpr double kMoreGain = 2, kLeastGain = 0.002;
static constexpr int64_t kManyCommands = 12'000;
/// The same of networks of fewer commands, down to so many.
static constexpr double kMoreGainOfSome = 4, kLeastGainOfSome = 0.02;
static constexpr int64_t kSomeCommands = 2'000;
/// No search makes the engine that computes work for less than this part of what it does by
/// estimated groups.
static constexpr double kLeastWork = 0.97;
/// A division has to save this part of the cycles by the estimate, else it is not measured.
static constexpr double kLeastSaving = 0.01;
/// Casts of small tensors take longer for each element than others would: networks are also divided
/// as if a cast took this part of it.
static constexpr double kCheapCast = 0.25;
/// How often all layers are asked whether they change sides.
static constexpr int kMostRounds = 8;

/// How many elements a tensor has; 0 of what has no static shape.
static double elementsOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? double(type.getNumElements()) : 0;
}

double tpuc::castCyclesOf(ModuleOp lowered, const ModelFileReport &file) {
  Expected<func::FuncOp> main = top::mainFunction(lowered);
  if (!main)
    return 0;
  const LayerCycles cycles(*main, &file);
  double sum = 0, elements = 0;
  for (auto cast : main->getOps<tpu::CastOp>())
    if (const double count = elementsOf(cast.getOutput()); count > 0) {
      sum += double(cycles.of(cast));
      elements += count;
    }
  return elements > 0 ? sum / elements : 0;
}

namespace {

/// Which layers of a network are in wider floats, and what that takes.
class Division {
public:
  Division(func::FuncOp main, const std::set<std::string> &fixed, const ModelFileReport &made,
           const ModelFileReport &wide, double castCycles);

  /// Those that are, and the cycles that this saves by estimate.
  std::pair<std::vector<std::string>, double> best();

private:
  struct Layer {
    std::string name;
    /// The cycles that it takes less in wider floats.
    double gain = 0;
    bool isWide = false;
    /// What it reads of other layers and what they read of it: their numbers, and a cast's cycles.
    SmallVector<std::pair<size_t, double>> neighbours = {};
  };

  /// The cycles that are saved if `layer` changes sides.
  double savedByChange(const Layer &layer) const;
  void settle();
  double saved() const;

  std::vector<Layer> layers;
};

} // namespace

Division::Division(func::FuncOp main, const std::set<std::string> &fixed,
                   const ModelFileReport &made, const ModelFileReport &wide, double castCycles) {
  const LayerCycles before(main, &made), after(main, &wide);
  llvm::DenseMap<Operation *, size_t> places;
  for (Operation &op : main.front().without_terminator()) {
    if (op.hasTrait<traits::Structural>() || fixed.contains(layerName(&op)))
      continue;
    const size_t place = layers.size();
    places[&op] = place;
    layers.push_back({layerName(&op), double(before.of(&op) - after.of(&op))});
    for (Value operand : op.getOperands()) {
      auto maker = places.find(operand.getDefiningOp());
      if (!operand.getDefiningOp() || maker == places.end())
        continue;
      const double cast = castCycles * elementsOf(operand);
      layers[place].neighbours.push_back({maker->second, cast});
      layers[maker->second].neighbours.push_back({place, cast});
    }
  }
}

double Division::savedByChange(const Layer &layer) const {
  double saving = layer.isWide ? -layer.gain : layer.gain;
  for (auto [other, cast] : layer.neighbours)
    saving += layers[other].isWide == layer.isWide ? -cast : cast;
  return saving;
}

void Division::settle() {
  for (int round = 0; round < kMostRounds; ++round) {
    bool hasChanged = false;
    for (Layer &layer : layers)
      if (savedByChange(layer) > 0) {
        layer.isWide = !layer.isWide;
        hasChanged = true;
      }
    if (!hasChanged)
      return;
  }
}

double Division::saved() const {
  double sum = 0;
  for (const Layer &layer : layers) {
    if (!layer.isWide)
      continue;
    sum += layer.gain;
    for (auto [other, cast] : layer.neighbours)
      if (!layers[other].isWide)
        sum -= cast;
  }
  return sum;
}

std::pair<std::vector<std::string>, double> Division::best() {
  std::pair<std::vector<std::string>, double> found;
  for (const bool fromAll : {false, true}) {
    for (Layer &layer : layers)
      layer.isWide = fromAll || layer.gain > 0;
    settle();
    if (const double cycles = saved(); cycles > found.second) {
      found = {{}, cycles};
      for (const Layer &layer : layers)
        if (layer.isWide)
          found.first.push_back(layer.name);
    }
  }
  return found;
}

/// The layers that compute in fewer cycles in wider floats, whatever transfers and casts take.
static std::vector<std::string> lighterLayers(func::FuncOp main, const std::set<std::string> &fixed,
                                              const ModelFileReport &made,
                                              const ModelFileReport &wide) {
  const LayerCycles before(main, &made), after(main, &wide);
  std::vector<std::string> lighter;
  for (Operation &op : main.front().without_terminator())
    if (!op.hasTrait<traits::Structural>() && !fixed.contains(layerName(&op)) &&
        after.computeOf(&op) < before.computeOf(&op))
      lighter.push_back(layerName(&op));
  return lighter;
}

bool Prospects::isLong() const { return measureQuickly && made.commands >= kManyCommands; }

bool Prospects::isLimited() const { return measureQuickly && made.commands >= kSomeCommands; }

Expected<bool> Prospects::mayBeFaster(const ModelFileReport &quick, double close) {
  const auto cycles = double(made.cycles);
  const double ratio = double(quick.cycles) / cycles;
  if (ratio * quick.computeBusy * kLeastWork >= 1)
    return false;
  if (ratio < 1 || ratio >= close || !isLimited())
    return ratio < close;
  if (!limit) {
    Expected<MeasuredNetwork> own = measureQuickly();
    if (!own)
      return propagate(own);
    const double gain = double(own->file.cycles) / cycles - 1;
    limit = 1 + (isLong() ? kLeastGain : kLeastGainOfSome) +
            (isLong() ? kMoreGain : kMoreGainOfSome) * std::max(gain, 0.0);
  }
  return ratio < std::min(close, *limit);
}

Expected<FasterLayers> tpuc::fasterLayers(const FasterLayersRequest &request) {
  Expected<func::FuncOp> main = top::mainFunction(request.top);
  if (!main)
    return FasterLayers{{}, request.made};
  const ModelFileReport &made = request.made.file;
  std::set<std::string> kept = request.fixed;
  kept.insert(request.needed.begin(), request.needed.end());
  std::vector<std::string> all, whole;
  for (const std::string &name : layerNames(*main)) {
    if (!request.fixed.contains(name))
      whole.push_back(name);
    if (!kept.contains(name))
      all.push_back(name);
  }
  Expected<MeasuredNetwork> wide = request.measure(all, /*isQuick=*/true);
  if (!wide)
    return propagate(wide);
  Prospects prospects(made, request.measureQuickly);
  std::vector<std::vector<std::string>> divisions;
  for (const double part : {1.0, kCheapCast}) {
    if (prospects.isLong() && part != 1)
      continue;
    Division division(*main, kept, made, wide->file, part * request.made.castCycles);
    auto [some, saving] = division.best();
    if (saving > kLeastSaving * double(made.cycles) && some.size() < all.size() &&
        !llvm::is_contained(divisions, some))
      divisions.push_back(std::move(some));
  }
  Expected<bool> isWideClose = prospects.mayBeFaster(wide->file);
  if (!isWideClose)
    return propagate(isWideClose);
  std::vector<const std::vector<std::string> *> tried;
  for (const std::vector<std::string> &some : divisions)
    tried.push_back(&some);
  if (*isWideClose)
    tried.push_back(&all);
  if (*isWideClose && whole.size() > all.size())
    tried.push_back(&whole);
  const std::vector<std::string> lighter = request.triesLighter
                                               ? lighterLayers(*main, kept, made, wide->file)
                                               : std::vector<std::string>();
  if (!lighter.empty() && lighter.size() < all.size())
    tried.push_back(&lighter);
  FasterLayers best{{}, request.made};
  FasterLayers promising = best;
  for (const std::vector<std::string> *layers : tried) {
    if (layers != &all && prospects.isLimited()) {
      Expected<MeasuredNetwork> quick = request.measure(*layers, /*isQuick=*/true);
      Expected<bool> isClose = quick ? prospects.mayBeFaster(quick->file) : propagate(quick);
      if (!isClose)
        return propagate(isClose);
      if (!*isClose)
        continue;
    }
    // What is faster with groups by estimate is so with better ones, too.
    const bool isKnown = request.isLast && layers == &all && wide->isFasterThan(best.network);
    Expected<MeasuredNetwork> measured =
        isKnown ? wide : request.measure(*layers, /*isQuick=*/false);
    if (!measured)
      return propagate(measured);
    if (measured->isFasterThan(best.network))
      best = {*layers, std::move(*measured)};
    else if (measured->takesFewerCyclesThan(promising.network))
      promising = {*layers, std::move(*measured)};
  }
  return best.names.empty() && !request.isLast ? promising : best;
}
