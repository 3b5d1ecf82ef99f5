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

/// Networks of so many commands are looked at less: each look takes long.
static constexpr int64_t kManyCommands = 12'000;
/// Those of fewer than so many are looked at more: a few layers are most of them.
static constexpr int64_t kFewCommands = 600;
/// What takes so many times the cycles of the fastest becomes no faster with needed layers, too.
static constexpr double kFar = 1.15;
/// Where a division takes so many times these cycles, no other one takes fewer.
static constexpr double kFarDivision = 1.08;
/// A division has to save this part of the cycles by the estimate, else it is not measured.
static constexpr double kLeastSaving = 0.01;
/// And it has to take less than this part of the cycles then: a search makes up for what is nearer.
static constexpr double kWorthCasts = 0.995;
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

namespace {

/// Ways to divide a network between types, and which of them is the best.
class LayerSearch {
public:
  LayerSearch(const FasterLayersRequest &request, func::FuncOp main);

  Expected<FasterLayers> run();

private:
  using Names = std::vector<std::string>;

  Expected<void> look(Names names);
  /// How many times as long it takes as the fastest.
  double behind(const MeasuredNetwork &network) const;
  Expected<void> lookAtDivisions();
  Expected<void> lookAtOthers();
  FasterLayers best();

  const FasterLayersRequest &request;
  func::FuncOp main;
  std::set<std::string> kept;
  /// Layers that may be in wider floats: without those that are needed, and with them.
  Names all, whole;
  /// What the network takes with layers in wider floats; at first with `all`.
  std::vector<FasterLayers> looks;
};

} // namespace

LayerSearch::LayerSearch(const FasterLayersRequest &request, func::FuncOp main)
    : request(request), main(main), kept(request.fixed) {
  kept.insert(request.needed.begin(), request.needed.end());
  for (const std::string &name : layerNames(main)) {
    if (!request.fixed.contains(name))
      whole.push_back(name);
    if (!kept.contains(name))
      all.push_back(name);
  }
}

Expected<void> LayerSearch::look(Names names) {
  Expected<MeasuredNetwork> measured = request.measure(names);
  if (!measured)
    return propagate(measured);
  looks.push_back({std::move(names), std::move(*measured)});
  return {};
}

double LayerSearch::behind(const MeasuredNetwork &network) const {
  int64_t least = request.made.file.cycles;
  for (const FasterLayers &each : looks)
    least = std::min(least, each.network.file.cycles);
  return double(network.file.cycles) / double(least);
}

Expected<void> LayerSearch::lookAtDivisions() {
  const ModelFileReport &made = request.made.file;
  const auto castCycles = {1.0, kCheapCast};
  for (const double part : ArrayRef(castCycles).take_front(made.commands < kManyCommands ? 2 : 1)) {
    Division division(main, kept, made, looks.front().network.file, part * request.made.castCycles);
    auto [some, saving] = division.best();
    if (saving <= kLeastSaving * double(made.cycles) || some.size() >= all.size() ||
        some == looks.back().names)
      continue;
    if (Expected<void> done = look(std::move(some)); !done)
      return done;
    if (made.commands >= kFewCommands && behind(looks.back().network) >= kFarDivision)
      break;
  }
  return {};
}

/// What is needed together with all others, and the lighter ones by themselves.
Expected<void> LayerSearch::lookAtOthers() {
  Names lighter;
  if (request.triesLighter)
    lighter = lighterLayers(main, kept, request.made.file, looks.front().network.file);
  if (whole.size() > all.size() && behind(looks.front().network) < kFar)
    if (Expected<void> done = look(whole); !done)
      return done;
  if (lighter.empty() || lighter.size() >= all.size())
    return {};
  return look(std::move(lighter));
}

/// Of what takes fewer cycles than the network as it is, by both sets of parameters if there is
/// any.
FasterLayers LayerSearch::best() {
  FasterLayers best{{}, request.made};
  bool isFaster = false;
  for (FasterLayers &each : looks) {
    const ModelFileReport &made = request.made.file;
    const double worth = made.commands < kFewCommands ? 1 : kWorthCasts;
    if (double(each.network.file.cycles) >= worth * double(made.cycles))
      continue;
    const bool isSure = each.network.isFasterThan(request.made);
    if ((isSure && !isFaster) ||
        (isSure == isFaster && each.network.takesFewerCyclesThan(best.network)))
      best = std::move(each);
    isFaster |= isSure;
  }
  return best;
}

Expected<FasterLayers> LayerSearch::run() {
  if (Expected<void> done = look(all); !done)
    return propagate(done);
  for (auto step : {&LayerSearch::lookAtDivisions, &LayerSearch::lookAtOthers})
    if (Expected<void> done = (this->*step)(); !done)
      return propagate(done);
  return best();
}

Expected<FasterLayers> tpuc::fasterLayers(const FasterLayersRequest &request) {
  Expected<func::FuncOp> main = top::mainFunction(request.top);
  if (!main)
    return FasterLayers{{}, request.made};
  return LayerSearch(request, *main).run();
}
