//===- DeployLowering.cpp - The lowered network of a deployment -------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Codegen/Passes.h"
#include "tpuc/Conversion/TopToTpu/QuantizeTable.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Driver/DeployRun.h"
#include "tpuc/Driver/ModuleChecks.h"
#include "tpuc/Driver/WideFloats.h"
#include "tpuc/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace mlir;
using namespace tpuc;

namespace {

constexpr StringLiteral kWeightFile = "module.weight_file";

/// The names of the tensors that `main` gives.
std::set<std::string> outputNames(ModuleOp module) {
  std::set<std::string> names;
  if (auto main = module.lookupSymbol<func::FuncOp>("main"))
    for (Value value : main.front().getTerminator()->getOperands())
      if (auto result = dyn_cast<OpResult>(value))
        names.insert(tensorNames(result.getOwner())[result.getResultNumber()]);
  return names;
}

/// What the weights of `module` take as the chip stores them. Their npz file holds types that numpy
/// has not, such as bf16, in wider ones.
int64_t weightBytes(ModuleOp module) {
  std::set<std::string> seen;
  int64_t bits = 0;
  module->walk([&](top::WeightOp op) {
    auto type = dyn_cast<RankedTensorType>(op.getOutput().getType());
    const std::optional<DataType> stored = type ? storageDataType(type) : std::nullopt;
    if (stored && type.hasStaticShape() && seen.insert(op.name()).second)
      bits += type.getNumElements() * static_cast<int64_t>(bitWidth(*stored));
  });
  return (bits + 7) / 8;
}

} // namespace

StringRef tpuc::weightFile(ModuleOp module) {
  auto file = module->getAttrOfType<StringAttr>(kWeightFile);
  return file ? file.getValue() : StringRef();
}

Expected<void> tpuc::readWritten(ModuleOp module, const OutputFile &weights) {
  if (weights.temporaryPath().empty())
    return {};
  Expected<std::shared_ptr<top::WeightStore>> store =
      top::WeightStore::openWritten(weights.temporaryPath());
  if (!store)
    return propagate(store);
  module.getContext()->getLoadedDialect<top::TopDialect>()->setWeights(weightFile(module),
                                                                       std::move(*store));
  return {};
}

Expected<std::vector<OutputFile>>
tpuc::writeWithWeights(ModuleOp module, const std::string &weights, const std::string &path) {
  auto *dialect = module.getContext()->getLoadedDialect<top::TopDialect>();
  auto store = dialect->weights(module);
  if (!store)
    return propagate(store);
  dialect->setWeights(weights, *store);
  module->setAttr(kWeightFile, StringAttr::get(module.getContext(), weights));
  Expected<std::vector<OutputFile>> written = writeModule(module, path);
  if (written)
    if (Expected<void> read = readWritten(module, written->front()); !read)
      return propagate(read);
  return written;
}

/// The pass that has the network take pictures, where that is asked for.
void DeployRun::addFusion(OpPassManager &manager) const {
  if (!options.fusePreprocess)
    return;
  const PictureAlignment alignment =
      options.alignedInput ? target->frames.value_or(PictureAlignment()) : PictureAlignment();
  manager.addPass(
      createFusePreprocess({options.customizationFormat, options.yuvRange == "video",
                            llvm::to_vector(options.fuseResize), alignment.row, alignment.plane}));
}

Expected<Network> DeployRun::lowerAs(const LoweringOptions &wanted,
                                     std::vector<std::string> *remarks) const {
  Network network;
  codegen::shareKnownCosts(*top.context, *network.context);
  Expected<OwningOpRef<ModuleOp>> read =
      readModule(*network.context, options.mlir, options.allowOutside);
  if (!read)
    return propagate(read);
  network.module = std::move(*read);
  if (Expected<void> widened = widenFloats(*network.module, widensDoubles(), options.mlir);
      !widened)
    return propagate(widened);
  const auto addPasses = [&](OpPassManager &manager) {
    addFusion(manager);
    addLowering(manager, wanted);
  };
  // What becomes the file is checked; networks that are only measured go away.
  Expected<void> run = runPasses(*network.module, addPasses, remarks, !wanted.forCycles);
  if (run)
    return network;
  // What is said about the whole module names the file that it is about.
  if (run.error().where == "module")
    run.error().where.clear();
  return propagate(run);
}

Expected<Network> DeployRun::lowerForCycles(LoweringOptions wanted) const {
  wanted.forCycles = true;
  return lowerAs(wanted);
}

Expected<void> DeployRun::lower() {
  std::vector<std::string> remarks;
  Expected<Network> network = lowerAs(lowering, &remarks);
  if (!network)
    return propagate(network);
  summary.tableNote = fmt::format("{}", fmt::join(remarks, "; "));
  if (Expected<void> checked = checkTensorsFit(*network->module, *target); !checked)
    return checked;
  lowered.emplace(std::move(*network));
  lowered->module->walk([&](Operation *op) {
    if (floatLayers.contains(layerName(op)) && !isa<tpu::CastOp>(op))
      op->setAttr(
          "storage_reason",
          StringAttr::get(op->getContext(), summary.chip + " cannot compute it on integers"));
  });
  count();
  return {};
}

void DeployRun::count() {
  summary.numCasts = summary.numOps = 0;
  summary.storage.clear();
  summary.exceptions.clear();
  for (auto main : lowered->module->getOps<func::FuncOp>())
    for (Operation &op : main.front().without_terminator()) {
      if (op.hasTrait<traits::Structural>())
        continue;
      if (isa<tpu::CastOp, tpu::RequantIntOp>(op)) {
        ++summary.numCasts;
        continue;
      }
      ++summary.numOps;
      std::optional<DataType> type =
          op.getNumResults() > 0 ? storageDataType(op.getResult(0).getType()) : std::nullopt;
      const std::string name(type ? dataTypeName(*type) : "none");
      ++summary.storage[name];
      if (auto reason = op.getAttrOfType<StringAttr>("storage_reason"))
        ++summary.exceptions[{name, reason.getValue().str()}];
    }
}

Expected<void> DeployRun::write() {
  const std::string before = weightFile(*lowered->module).str();
  const std::string weights = paths->loweredWeights(lowering.chip, variant);
  Expected<std::vector<OutputFile>> made =
      writeWithWeights(*lowered->module, weights, summary.lowered);
  if (!made)
    return propagate(made);
  // No module of this context names the files that they were in before.
  for (const std::string &name : {weightFile(*top.module).str(), before})
    if (name != weights)
      lowered->context->getLoadedDialect<top::TopDialect>()->setWeights(name, nullptr);
  summary.weightBytes = weightBytes(*lowered->module);
  files = std::move(*made);
  return {};
}

Expected<NpzReader> DeployRun::topTensors() {
  if (!topOutputs) {
    Expected<OutputFile> made =
        dumpTensors(*top.module, inputs, summary.lowered + ".top.npz", options.numThreads);
    if (!made)
      return propagate(made);
    topOutputs.emplace(std::move(*made));
  }
  return NpzReader::open(topOutputs->temporaryPath());
}

Expected<NpzReader> DeployRun::reference() {
  if (options.testReference.empty()) {
    summary.reference = "the network in float";
    return topTensors();
  }
  summary.reference = options.testReference;
  return NpzReader::open(options.testReference);
}

/// The mode's, but for fused networks in F32: these normalize by other roundings than the module,
/// (x - mean) * scale as x * scale - mean * scale, or as a part of the first products.
static Tolerance toleranceOf(const ModelDeployOptions &options, const QuantScheme &scheme) {
  constexpr Tolerance kFusedF32 = {0.9999, 0.999};
  const bool isFused = options.fusePreprocess && scheme == schemes::kF32;
  return options.tolerance.value_or(isFused ? kFusedF32 : defaultTolerance(scheme));
}

Expected<void> DeployRun::compare() {
  if (inputs.empty())
    return {};
  validation.tolerance = toleranceOf(options, lowering.scheme);
  validation.excepts = options.excepts;
  validation.numThreads = options.numThreads;
  validation.referenceNames = referenceNames(*lowered->module, *top.module);
  validation.parts = outputParts(*top.module);
  if (!options.compareAll)
    validation.counting = outputNames(*top.module);
  Expected<NpzReader> wanted = reference();
  if (!wanted)
    return propagate(wanted);
  summary.report.emplace(validation.tolerance);
  std::optional<NpzWriter> dump;
  if (options.debug) {
    Expected<NpzWriter> writer = NpzWriter::create(paths->loweredOutputs(lowering.chip, variant));
    if (!writer)
      return propagate(writer);
    dump.emplace(std::move(*writer));
  }
  if (Expected<void> compared = validate(*lowered->module, inputs, *wanted, validation,
                                         *summary.report, dump ? &*dump : nullptr);
      !compared)
    return compared;
  if (!dump)
    return {};
  Expected<OutputFile> file = dump->finish();
  if (!file)
    return propagate(file);
  files.push_back(std::move(*file));
  return {};
}

/// Lowers with other options than before.
Expected<void> DeployRun::lowerAnew() {
  summary.report.reset();
  files.clear();
  quick.reset();
  for (auto step : {&DeployRun::lower, &DeployRun::write, &DeployRun::compare})
    if (Expected<void> done = (this->*step)(); !done)
      return propagate(done);
  return {};
}

Expected<OutputFile>
DeployRun::quantizeTableWith(const std::map<std::string, QuantScheme> &layers) const {
  std::string text;
  if (!lowering.quantizeTable.empty()) {
    Expected<QuantizeTable> given = QuantizeTable::read(lowering.quantizeTable);
    if (!given)
      return propagate(given);
    for (const QuantizeTable::Entry &entry : given->entries)
      if (!layers.contains(entry.name))
        text += quantizeTableLine(entry.name, entry.mode) + "\n";
  }
  for (const auto &[layer, scheme] : layers)
    text += quantizeTableLine(layer, scheme) + "\n";
  Expected<OutputFile> file = OutputFile::create(summary.lowered + ".qtable");
  if (!file)
    return file;
  if (Expected<void> written = file->write(text); !written)
    return propagate(written);
  if (Expected<void> finished = file->finish(); !finished)
    return propagate(finished);
  return file;
}

Expected<Network> DeployRun::lowerWith(std::span<const std::string> layers,
                                       const QuantScheme &scheme) const {
  std::map<std::string, QuantScheme> schemes;
  for (const std::string &layer : layers)
    schemes.emplace(layer, scheme);
  Expected<OutputFile> table = quantizeTableWith(schemes);
  if (!table)
    return propagate(table);
  LoweringOptions changed = lowering;
  changed.quantizeTable = table->temporaryPath();
  return lowerAs(changed);
}

Expected<Network> DeployRun::lowerAll(const QuantScheme &scheme) const {
  LoweringOptions changed = lowering;
  changed.scheme = scheme;
  changed.quantizeTable.clear();
  return lowerAs(changed);
}

Expected<void> DeployRun::diagnose() {
  if (!summary.report || summary.report->numFailed() == 0)
    return {};
  Expected<NpzReader> floats = topTensors();
  if (!floats)
    return propagate(floats);
  Expected<NpzReader> wanted = reference();
  if (!wanted)
    return propagate(wanted);
  const DiagnosisRequest request = {
      .top = *top.module,
      .lowered = *lowered->module,
      .inputs = inputs,
      .floats = *floats,
      .reference = *wanted,
      .validation = validation,
      .report = *summary.report,
      .target = *target,
      .scheme = lowering.scheme,
      .scratch = summary.lowered,
      .lowerWith = [this](std::span<const std::string> layers,
                          const QuantScheme &scheme) { return lowerWith(layers, scheme); },
      .lowerAll = [this](const QuantScheme &scheme) { return lowerAll(scheme); }};
  Expected<DeployDiagnosis> diagnosis = tpuc::diagnose(request);
  if (!diagnosis)
    return propagate(diagnosis);
  summary.diagnosis = std::move(*diagnosis);
  return {};
}
