//===- DeployCodegen.cpp - The model file of a deployment -------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Codegen/Decompose/RefusedLayers.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Passes.h"
#include "tpuc/Conversion/TopToTpu/LowerPictureResize.h"
#include "tpuc/Conversion/TopToTpu/StoragePlan.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Driver/DeployRun.h"
#include "tpuc/Driver/LayerCycles.h"
#include "tpuc/Driver/WiderSearch.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace tpuc;

namespace {

/// Groups by estimate: costs are compared with these at most, whatever --opt says.
constexpr int kQuickOpt = 1;

/// The groups of least cost by estimate, without a search that takes as long as it may.
constexpr int kCompleteOpt = 2;

/// Networks with more bytes of weights than this are not divided: the weights are then most of what
/// is transferred, and would be in memory once more.
constexpr int64_t kMostDividedWeights = 16 << 20;

/// The layers of a module with addresses that the host computes.
std::vector<ModelDeploySummary::CpuLayer> cpuLayersOf(ModuleOp module) {
  std::vector<ModelDeploySummary::CpuLayer> layers;
  auto main = module.lookupSymbol<func::FuncOp>("main");
  for (Operation &op : main.front().without_terminator()) {
    if (!codegen::isOnCpu(&op))
      continue;
    const StringAttr reason = cast<tpu::SubNetInterface>(op).getSubnetReasonAttr();
    layers.push_back(
        {layerName(&op), op.getName().getStringRef().str(), reason ? reason.getValue().str() : ""});
  }
  return layers;
}

} // namespace

/// Lowers again, with layers on floats that nobody computes on integers; false if there are none.
Expected<bool> DeployRun::useFloats() {
  if (!lowering.scheme.isQuantized() || !floatLayers.empty())
    return false;
  std::set<std::string> names;
  top.module->walk([&](Operation *op) {
    if (!op->hasTrait<traits::Structural>())
      names.insert(layerName(op));
  });
  Expected<std::map<std::string, QuantScheme>> refused =
      codegen::layersRefusedOnIntegers(*lowered->module, names, options.codegen);
  if (!refused)
    return propagate(refused);
  if (refused->empty())
    return false;
  floatLayers = std::move(*refused);
  Expected<OutputFile> table = quantizeTableWith(floatLayers);
  if (!table)
    return propagate(table);
  floatTable.emplace(std::move(*table));
  lowering.quantizeTable = floatTable->temporaryPath();
  if (Expected<void> done = lowerAnew(); !done)
    return propagate(done);
  return true;
}

/// A copy of the lowered network with addresses: what went wrong in the lowered network is looked
/// for in that itself.
Expected<OwningOpRef<ModuleOp>> DeployRun::generated() {
  OwningOpRef<ModuleOp> module(lowered->module->clone());
  Expected<std::unique_ptr<codegen::Backend>> backend = codegen::backendOf(*module);
  if (!backend)
    return propagate(backend);
  Expected<void> run = runPasses(*module, [&](OpPassManager &manager) {
    codegen::addCodegen(manager, **backend, options.codegen);
  });
  if (run)
    return module;
  // It lives in the context of the network that may be replaced.
  module = {};
  Expected<bool> changed = useFloats();
  if (!changed)
    return propagate(changed);
  return *changed ? generated() : propagate(run);
}

/// Goes on from the lowered network to the model file.
Expected<void> DeployRun::generate() {
  if (!compiles() || (summary.report && summary.report->numFailed() != 0))
    return {};
  Expected<OwningOpRef<ModuleOp>> made = generated();
  if (!made)
    return propagate(made);
  OwningOpRef<ModuleOp> module = std::move(*made);
  summary.cpuLayers = cpuLayersOf(*module);
  summary.final = paths->finalModule(lowering.chip, variant);
  Expected<std::vector<OutputFile>> written =
      writeWithWeights(*module, paths->finalWeights(lowering.chip, variant), summary.final);
  if (!written)
    return propagate(written);
  // The packed ones are not needed any more.
  if (Expected<void> read = readWritten(*lowered->module, files.front()); !read)
    return read;
  for (OutputFile &file : *written)
    files.push_back(std::move(file));
  Expected<OutputFile> file = codegen::writeModelFile(*module, options.model, storage);
  if (!file)
    return propagate(file);
  if (Expected<void> finished = file->finish(); !finished)
    return finished;
  Expected<ModelFileReport> report = checkModelFile({.path = file->temporaryPath(),
                                                     .lowered = *lowered->module,
                                                     .inputs = inputs,
                                                     .parts = outputParts(*top.module),
                                                     .numThreads = options.numThreads});
  if (!report)
    return propagate(report);
  summary.modelFile = std::move(*report);
  files.push_back(std::move(*file));
  return {};
}

/// What a model file of `module`, a lowered network, would take with `opt`.
Expected<MeasuredNetwork> DeployRun::measureWith(ModuleOp module, int opt) const {
  OwningOpRef<ModuleOp> copy(module.clone());
  Expected<std::unique_ptr<codegen::Backend>> backend = codegen::backendOf(*copy);
  if (!backend)
    return propagate(backend);
  codegen::GenerationOptions generation = options.codegen;
  generation.opt = opt;
  generation.isMeasured = true;
  // What becomes the file is checked; this goes away.
  const auto addPasses = [&](OpPassManager &manager) {
    codegen::addCodegen(manager, **backend, generation);
  };
  if (Expected<void> run = runPasses(*copy, addPasses, /*remarks=*/nullptr, /*verifies=*/false);
      !run)
    return propagate(run);
  Expected<OutputFile> file =
      codegen::writeModelFile(*copy, summary.lowered + ".measured", storage);
  if (!file)
    return propagate(file);
  if (Expected<void> finished = file->finish(); !finished)
    return propagate(finished);
  Expected<ModelFileReport> report = checkModelFile({.path = file->temporaryPath(),
                                                     .lowered = module,
                                                     .inputs = {},
                                                     .numThreads = options.numThreads});
  if (!report)
    return propagate(report);
  const double castCycles = castCyclesOf(module, *report);
  return MeasuredNetwork{std::move(*report), std::ssize(cpuLayersOf(*copy)), castCycles};
}

/// The network as it is. A search by time would be as long for each network that is compared.
Expected<MeasuredNetwork> DeployRun::measureMade(int opt) const {
  if (options.codegen.opt == opt)
    return MeasuredNetwork{*summary.modelFile, std::ssize(summary.cpuLayers),
                           castCyclesOf(*lowered->module, *summary.modelFile)};
  return measureWith(*lowered->module, opt);
}

/// What the lowered network takes with groups by estimate.
Expected<void> DeployRun::measureLowered() {
  if (auto tried = triedOnIntegers.find(lowering.onIntegers); tried != triedOnIntegers.end()) {
    quick = tried->second;
    return {};
  }
  Expected<MeasuredNetwork> measured = measureWith(*lowered->module, kQuickOpt);
  // What was packed for it is not needed any more.
  if (Expected<void> read = readWritten(*lowered->module, files.front()); !read)
    return read;
  if (!measured)
    return propagate(measured);
  quick.emplace(std::move(*measured));
  return {};
}

/// Interpolates pictures that are scaled by products, if that takes fewer cycles.
Expected<void> DeployRun::useFasterResize() {
  if (!summary.modelFile || options.codegen.opt <= kQuickOpt || !scalesPictures())
    return {};
  LoweringOptions other = lowering;
  other.withoutFolds.emplace_back(kResizeByProducts);
  const int opt = std::min(options.codegen.opt, kCompleteOpt);
  Expected<MeasuredNetwork> made = measureMade(opt);
  Expected<Network> network = lowerForCycles(other);
  if (!made || !network)
    return {};
  Expected<MeasuredNetwork> measured = measureWith(*network->module, opt);
  // What cannot be compiled is not faster.
  if (!measured || !measured->isFasterThan(*made))
    return {};
  return makeAnewIfClose(std::move(other));
}

/// Whether the network has pictures whose resizing may change (useFasterResize).
bool DeployRun::scalesPictures() {
  const auto isScaled = [&](top::InterpOp op) {
    return isPictureResize(op, *target) ? WalkResult::interrupt() : WalkResult::advance();
  };
  return !llvm::is_contained(lowering.withoutFolds, kResizeByProducts) &&
         top.module->walk(isScaled).wasInterrupted();
}

/// `isQuick`: files are those of groups by estimate.
void DeployRun::makeBudget(bool isQuick) {
  // Each network is measured behind its lowering.
  auto wanted = std::make_shared<LoweringOptions>();
  const auto measureWanted = [this, wanted](ModuleOp module) -> Expected<ModelFileReport> {
    Expected<MeasuredNetwork> measured =
        measureWith(module, std::min(options.codegen.opt, kQuickOpt));
    if (!measured)
      return propagate(measured);
    if (!wanted->strict)
      triedOnIntegers.insert_or_assign(wanted->onIntegers, *measured);
    return std::move(measured->file);
  };
  budget.emplace(FloatBudget::Request{.percent = options.floatBudget,
                                      .top = *top.module,
                                      .target = *target,
                                      .lower =
                                          [this, wanted](const LoweringOptions &other) {
                                            *wanted = other;
                                            return lowerForCycles(other);
                                          },
                                      .measure = measureWanted,
                                      .isQuick = isQuick});
}

/// Costs of floats by need are compared with groups by estimate. So they are before a search, and
/// only what is left of the floats is searched. What cannot be measured so is left to `keepBudget`.
Expected<void> DeployRun::keepBudgetFirst() {
  if (options.codegen.opt <= kQuickOpt || lowering.strict || !lowering.scheme.isQuantized() ||
      !compiles() || scalesPictures() ||
      !floatShare(*lowered->module, *top.module, *target, nullptr))
    return {};
  if (!measureLowered())
    return {};
  makeBudget(/*isQuick=*/true);
  while (quick && (!summary.report || summary.report->numFailed() == 0)) {
    Expected<std::optional<FloatStep>> step =
        budget->stepToGiveUp(*lowered->module, lowering, quick->file);
    if (!step)
      return propagate(step);
    if (!*step)
      return {};
    llvm::append_range(lowering.onIntegers, (*step)->layers);
    if (Expected<void> done = lowerAnew(); !done)
      return done;
    // What cannot be measured is left as it is.
    (void)measureLowered();
  }
  return {};
}

/// Floats by need may cost at most `floatBudget` of the cycles of integers throughout.
Expected<void> DeployRun::keepBudget() {
  if (lowering.strict || budget || areFloatsTried)
    return {};
  makeBudget(options.codegen.opt <= kQuickOpt);
  while (summary.modelFile) {
    Expected<std::optional<FloatStep>> step =
        budget->stepToGiveUp(*lowered->module, lowering, *summary.modelFile);
    if (!step)
      return propagate(step);
    if (!*step)
      return {};
    llvm::append_range(lowering.onIntegers, (*step)->layers);
    if (Expected<void> done = makeAnew(); !done)
      return done;
  }
  return {};
}

/// The layers that nobody computes on integers.
std::set<std::string> DeployRun::layersToKeep() const {
  std::set<std::string> kept;
  for (const auto &[name, scheme] : floatLayers)
    kept.insert(name);
  return kept;
}

/// The layers whose types the signal decides.
std::set<std::string> DeployRun::layersByNeed() const {
  std::set<std::string> needed;
  Expected<func::FuncOp> main = top::mainFunction(*lowered->module);
  Expected<func::FuncOp> source = top::mainFunction(*top.module);
  if (!main || !source)
    return needed;
  const std::set<std::string> names = layerNames(*source);
  for (Operation &op : main->front().without_terminator())
    if (op.hasAttr(kStorageStep))
      needed.insert(codegen::wholeOf(layerName(&op), names).value_or(layerName(&op)));
  return needed;
}

/// Whether layers are to be in wider floats where they take fewer cycles so: the code generator
/// may search, and they were not tried before.
bool DeployRun::mayUseFloats() const {
  return compiles() && !areFloatsTried && options.codegen.opt > kQuickOpt && !lowering.strict &&
         lowering.scheme.activation != DataType::F32 &&
         (!summary.report || summary.report->numFailed() == 0);
}

/// How the network is lowered so that it takes fewer cycles; none if it takes the fewest as it is,
/// `made` if that is known.
std::optional<LoweringOptions>
DeployRun::fasterLowering(std::optional<MeasuredNetwork> made) const {
  const int opt = std::min(options.codegen.opt, kCompleteOpt);
  const auto measureThese = [&](const LoweringOptions &wanted,
                                bool isQuick) -> Expected<MeasuredNetwork> {
    if (isQuick && quick && wanted.fasterInF16.empty() && wanted.fasterInF32.empty())
      return *quick;
    Expected<Network> network = lowerForCycles(wanted);
    if (!network)
      return propagate(network);
    return measureWith(*network->module, isQuick ? kQuickOpt : opt);
  };
  return searchWiderFloats({.top = *top.module,
                            .target = *target,
                            .lowering = lowering,
                            .made = std::move(made),
                            .kept = layersToKeep(),
                            .needed = layersByNeed(),
                            .measure = measureThese,
                            .mayDivide = summary.weightBytes <= kMostDividedWeights});
}

/// Layers that take fewer cycles in wider floats are in these before groups are searched, where
/// nothing has to be known of the file for that: neither what resizes pictures faster nor which
/// floats are needed is open, and the network compiles as it is. With many bytes of weights, bounds
/// of what the file takes mostly say that wider floats are slower. Floats are searched as they are
/// first, since wider ones seldom are faster.
Expected<void> DeployRun::useFasterLayersFirst() {
  const bool isOpen = !lowering.scheme.isQuantized() || scalesPictures() ||
                      summary.weightBytes > kMostDividedWeights ||
                      (!budget && floatShare(*lowered->module, *top.module, *target, nullptr));
  if (!mayUseFloats() || isOpen || (!quick && !measureLowered()))
    return {};
  areFloatsTried = true;
  std::optional<LoweringOptions> found = fasterLowering(/*made=*/std::nullopt);
  if (!found)
    return {};
  std::swap(lowering, *found);
  if (Expected<void> done = lowerAnew(); !done)
    return done;
  if (!summary.report || summary.report->numFailed() == 0)
    return {};
  // It is below the tolerance so.
  std::swap(lowering, *found);
  return lowerAnew();
}

/// The same behind what is decided by the file.
Expected<void> DeployRun::useFasterLayers() {
  if (!mayUseFloats() || !summary.modelFile)
    return {};
  areFloatsTried = true;
  Expected<MeasuredNetwork> made = measureMade(std::min(options.codegen.opt, kCompleteOpt));
  if (!made)
    return propagate(made);
  std::optional<LoweringOptions> found = fasterLowering(std::move(*made));
  return found ? makeAnewIfClose(std::move(*found)) : Expected<void>();
}

/// Lowers and compiles with other options than before.
Expected<void> DeployRun::makeAnew() {
  if (Expected<void> done = lowerAnew(); !done)
    return done;
  summary.modelFile.reset();
  return generate();
}

/// The same with `other`, or with those from before where what it gives is below the tolerance.
Expected<void> DeployRun::makeAnewIfClose(LoweringOptions other) {
  std::swap(lowering, other);
  if (Expected<void> done = makeAnew(); !done || summary.modelFile)
    return done;
  std::swap(lowering, other);
  return makeAnew();
}
