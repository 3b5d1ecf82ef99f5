//===- FloatShare.cpp - What layers on floats by need take ------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/FloatShare.h"
#include "tpuc/Codegen/Decompose/RefusedLayers.h"
#include "tpuc/Conversion/TopToTpu/FirstLayers.h"
#include "tpuc/Conversion/TopToTpu/FloatsByNeed.h"
#include "tpuc/Conversion/TopToTpu/StoragePlan.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Driver/LayerCycles.h"
#include "tpuc/Support/Counted.h"

#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

using namespace mlir;
using namespace tpuc;

/// How many layers the sentence names.
static constexpr size_t kNamed = 3;

/// Why `op` is on floats, where integers would lose its signal; empty of all others.
static StringRef needOf(Operation *op) {
  auto reason = op->getAttrOfType<StringAttr>("storage_reason");
  return reason && reason.getValue().starts_with(kByNeed)
             ? reason.getValue().drop_front(kByNeed.size())
             : StringRef();
}

/// Whether `cast` is there for layers that `isInFloats` says: one of them makes what it reads, or
/// they are all that reads it.
static bool servesFloats(tpu::CastOp cast, llvm::function_ref<bool(Operation *)> isInFloats) {
  if (Operation *maker = cast.getInput().getDefiningOp(); maker && isInFloats(maker))
    return true;
  return !cast->use_empty() && llvm::all_of(cast->getUsers(), isInFloats);
}

/// What `op` of a lowered network is called in its source, of which `names` are: the name of an
/// output belongs to the cast that gives it.
static std::string sourceName(Operation *op, const std::set<std::string> &names) {
  return codegen::wholeOf(layerName(op), names).value_or(layerName(op));
}

/// Whether the network gives what `op` makes, perhaps in other dimensions.
static bool givesOutput(Operation &op) {
  return op.getNumResults() == 1 && llvm::any_of(op.getResult(0).getUsers(), [](Operation *user) {
           return user->hasTrait<OpTrait::IsTerminator>() ||
                  (isa<tpu::ReshapeOp>(user) && givesOutput(*user));
         });
}

/// What a layer on floats takes at least on integers: `macs` multiplications of 8 bits, or for its
/// constants in 8 bits. What it gives as an output is stored in floats then, too.
static double leastOnIntegers(Operation &op, double macs, const TargetInfo &target) {
  double least = 0;
  if (const std::optional<uint32_t> peak = target.peakMacs.of(schemes::kInt8))
    least = macs / double(*peak);
  const double rate = target.timing ? target.timing->peakGlobalBytesPerCycle : 0;
  if (rate <= 0)
    return least;
  double bits = 0;
  const auto add = [&](Value value, unsigned mostBits) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    const std::optional<DataType> stored = type ? storageDataType(type) : std::nullopt;
    if (stored && type.hasStaticShape())
      bits += double(type.getNumElements()) * double(std::min(bitWidth(*stored), mostBits));
  };
  for (Value operand : op.getOperands())
    if (macs > 0 && operand.getDefiningOp<top::WeightOp>())
      add(operand, 8);
  if (givesOutput(op))
    add(op.getResult(0), 32);
  return std::max(least, bits / 8 / rate);
}

std::optional<FloatShare> tpuc::floatShare(ModuleOp lowered, ModuleOp top, const TargetInfo &target,
                                           const ModelFileReport *file) {
  Expected<func::FuncOp> network = top::mainFunction(lowered);
  Expected<func::FuncOp> source = top::mainFunction(top);
  if (!network || !source)
    return std::nullopt;
  FloatShare share;
  const LayerCycles cycles(*network, file);
  if (file) {
    share.allCycles = cycles.total();
    share.fileCycles = file->cycles;
  }
  const std::set<std::string> names = layerNames(*source);
  std::map<std::string, double> macs;
  for (Operation &op : source->front().without_terminator())
    if (const double count = multiplicationsOf(&op); count > 0) {
      macs[layerName(&op)] = count;
      share.allMacs += count;
    }
  const auto isInFloats = [](Operation *op) { return !needOf(op).empty(); };
  for (Operation &op : network->front().without_terminator()) {
    if (auto cast = dyn_cast<tpu::CastOp>(op); cast && servesFloats(cast, isInFloats))
      share.castCycles += cycles.of(cast);
    if (!isInFloats(&op))
      continue;
    const std::string name = sourceName(&op, names);
    // Products on integers that give floats are none on floats.
    const bool multiplies = macs.contains(name) && !tpu::isQuantized(op.getOperand(0));
    const auto least =
        static_cast<int64_t>(leastOnIntegers(op, macs.contains(name) ? macs[name] : 0, target));
    share.layers.push_back({.name = name,
                            .reason = needOf(&op).str(),
                            .macs = multiplies ? macs[name] : 0,
                            .cycles = cycles.of(&op),
                            .leastCycles = std::min(least, cycles.of(&op))});
  }
  if (share.layers.empty())
    return std::nullopt;
  return share;
}

int64_t tpuc::excessCycles(ModuleOp lowered, const ModelFileReport &file,
                           const ModelFileReport &strict) {
  Expected<func::FuncOp> network = top::mainFunction(lowered);
  if (!network)
    return 0;
  const LayerCycles cycles(*network, &file);
  const LayerCycles before(*network, &strict);
  const auto isInFloats = [](Operation *op) { return !needOf(op).empty(); };
  int64_t excess = 0;
  for (Operation &op : network->front().without_terminator())
    if (auto cast = dyn_cast<tpu::CastOp>(op); cast && servesFloats(cast, isInFloats))
      excess += cycles.of(cast);
    else if (isInFloats(&op))
      excess += cycles.of(&op) - before.of(&op);
  return excess;
}

/// What floats spare the step of `op`; 0 where it has none.
static double gainOf(Operation &op) {
  auto gain = op.getAttrOfType<FloatAttr>(kStorageGain);
  return gain ? gain.getValueAsDouble() : 0;
}

bool tpuc::hasSlightGains(ModuleOp lowered) {
  Expected<func::FuncOp> network = top::mainFunction(lowered);
  return network && llvm::any_of(network->front().without_terminator(),
                                 [](Operation &op) { return isSlightGain(gainOf(op)); });
}

bool tpuc::areOnlyOutputs(ModuleOp lowered) {
  Expected<func::FuncOp> network = top::mainFunction(lowered);
  return network && llvm::none_of(network->front().without_terminator(), [](Operation &op) {
           return !needOf(&op).empty() && needOf(&op) != kGivesOutput;
         });
}

std::vector<FloatStep> tpuc::dispensableSteps(ModuleOp lowered, ModuleOp top,
                                              const ModelFileReport &file,
                                              const ModelFileReport &strict) {
  Expected<func::FuncOp> network = top::mainFunction(lowered);
  Expected<func::FuncOp> source = top::mainFunction(top);
  if (!network || !source)
    return {};
  const LayerCycles cycles(*network, &file);
  const LayerCycles before(*network, &strict);
  const std::set<std::string> names = layerNames(*source);
  std::map<std::string, FloatStep> steps;
  for (Operation &op : network->front().without_terminator()) {
    auto name = op.getAttrOfType<StringAttr>(kStorageStep);
    if (!name || name.getValue() == kTailStep)
      continue;
    FloatStep &step = steps[name.str()];
    step.name = name.str();
    step.layers.push_back(sourceName(&op, names));
    if (step.reason.empty() || step.layers.back() == step.name)
      step.reason = needOf(&op);
    step.gain = std::max(step.gain, gainOf(op));
    step.cost += double(cycles.of(&op) - before.of(&op)) / double(strict.cycles);
    // Casts belong to the step that they lead to or from.
    for (Operation *user : op.getUsers())
      if (isa<tpu::CastOp>(user))
        step.cost += double(cycles.of(user)) / double(strict.cycles);
    for (Value operand : op.getOperands())
      if (auto cast = operand.getDefiningOp<tpu::CastOp>(); cast)
        step.cost += double(cycles.of(cast)) / double(strict.cycles);
  }
  std::vector<FloatStep> ordered;
  for (auto &[name, step] : steps)
    ordered.push_back(std::move(step));
  std::ranges::stable_sort(ordered, std::ranges::greater(), &FloatStep::cost);
  return ordered;
}

double FloatShare::macShare() const {
  double sum = 0;
  for (const Layer &layer : layers)
    sum += layer.macs;
  return allMacs > 0 ? sum / allMacs : 0;
}

int64_t FloatShare::ownCycles() const {
  int64_t sum = castCycles;
  for (const Layer &layer : layers)
    sum += layer.cycles;
  return sum;
}

std::optional<double> FloatShare::cycleShare() const {
  if (!allCycles)
    return std::nullopt;
  return *allCycles > 0 ? double(ownCycles()) / double(*allCycles) : 0;
}

std::optional<double> FloatShare::mostCost() const {
  if (!fileCycles)
    return std::nullopt;
  int64_t more = ownCycles();
  for (const Layer &layer : layers)
    more -= layer.leastCycles;
  const int64_t rest = *fileCycles - more;
  return rest > 0 ? double(more) / double(rest) : std::numeric_limits<double>::infinity();
}

/// The most expensive of `layers`, each with its part of `all` cycles, in brackets; nothing where
/// they take none.
static std::string mostExpensive(std::vector<FloatShare::Layer> layers, int64_t all) {
  std::ranges::stable_sort(layers, std::ranges::greater(), &FloatShare::Layer::cycles);
  layers.resize(std::min(layers.size(), kNamed));
  std::vector<std::string> named;
  for (const FloatShare::Layer &layer : layers)
    if (layer.cycles > 0)
      named.push_back(
          fmt::format("'{}' {:.1f} %", layer.name, 100 * double(layer.cycles) / double(all)));
  return named.empty() ? "" : fmt::format(" ({})", fmt::join(named, ", "));
}

std::string FloatShare::text() const {
  std::string text = fmt::format("{}, {:.1f} % of the multiplications",
                                 counted(std::ssize(layers), "layer"), 100 * macShare());
  if (std::optional<double> share = cycleShare())
    text += fmt::format(" and, with their casts, {:.1f} % of the estimated cycles of layers{}",
                        100 * *share, mostExpensive(layers, *allCycles));
  if (excessCycles && allCycles && *allCycles > 0)
    text += fmt::format("; on integers they would take {:.1f} %",
                        100 * double(ownCycles() - *excessCycles) / double(*allCycles));
  if (cost)
    text += fmt::format("; {:.1f} % {} cycles than with --strict_int8", 100 * std::abs(*cost),
                        *cost < 0 ? "fewer" : "more");
  else if (std::optional<double> most = mostCost(); most && std::isfinite(*most))
    text += fmt::format("; at most {:.1f} % more cycles than with --strict_int8", 100 * *most);
  return text;
}

nlohmann::ordered_json FloatShare::toJson() const {
  nlohmann::ordered_json json = {{"layers", nlohmann::ordered_json::array()},
                                 {"multiplication_share", macShare()},
                                 {"cycle_share", nullptr},
                                 {"cast_cycles", castCycles},
                                 {"excess_cycles", nullptr},
                                 {"cost", nullptr},
                                 {"left_out", nlohmann::ordered_json::array()}};
  if (excessCycles)
    json["excess_cycles"] = *excessCycles;
  if (cost)
    json["cost"] = *cost;
  for (const FloatStep &step : leftOut)
    json["left_out"].push_back({{"step", step.name},
                                {"reason", step.reason},
                                {"layers", step.layers},
                                {"gain", step.gain},
                                {"cost", step.cost}});
  if (std::optional<double> cycles = cycleShare())
    json["cycle_share"] = *cycles;
  for (const Layer &layer : layers)
    json["layers"].push_back({{"name", layer.name},
                              {"reason", layer.reason},
                              {"multiplications", layer.macs},
                              {"cycles", layer.cycles}});
  return json;
}
