//===- ModelDeploy.cpp - From a Top module to what a chip computes --------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/ModelDeploy.h"
#include "tpuc/Calibration/ChannelStatistics.h"
#include "tpuc/Codegen/Backend.h"
#include "tpuc/Codegen/Decompose/RefusedLayers.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/NetworkCompiler.h"
#include "tpuc/Codegen/Passes.h"
#include "tpuc/Conversion/TopToTpu/QuantizeTable.h"
#include "tpuc/Conversion/TopToTpu/StoragePlan.h"
#include "tpuc/Dialect/Top/MainFunction.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/QuantizeOps.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Driver/FasterLayers.h"
#include "tpuc/Driver/FloatBudget.h"
#include "tpuc/Driver/LayerCycles.h"
#include "tpuc/Driver/ModelFiles.h"
#include "tpuc/Driver/ModuleChecks.h"
#include "tpuc/Driver/NetworkInputs.h"
#include "tpuc/Driver/WholeNetwork.h"
#include "tpuc/Support/RunFiles.h"
#include "tpuc/Target/Registry.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

using namespace mlir;
using namespace tpuc;

namespace {

class ModelDeploy {
public:
  explicit ModelDeploy(const ModelDeployOptions &options)
      : options(options), lowering(options.lowering) {
    lowering.floatOutputs = true;
  }
  Expected<ModelDeploySummary> run();

private:
  Expected<void> checkOptions();
  Expected<void> checkTarget();
  Expected<void> checkFiles();
  Expected<void> readTop();
  Expected<std::vector<InputSpec>> inputSpecs() const;
  Expected<void> checkInputs();
  Expected<void> readTestInput();
  Expected<void> lower();
  Expected<void> write();
  Expected<void> compare();
  bool compiles() const;
  Expected<void> generate();
  Expected<OwningOpRef<ModuleOp>> generated();
  Expected<bool> useFloats();
  Expected<void> lowerAnew();
  Expected<void> makeAnew();
  Expected<ModelFileReport> measure(ModuleOp module) const;
  Expected<MeasuredNetwork> measureWith(ModuleOp module, int opt) const;
  Expected<void> keepBudget();
  std::set<std::string> layersToKeep() const;
  Expected<void> useFasterLayers();
  Expected<void> commit();
  Expected<void> diagnose();
  bool compilesWhole() const { return codegen::networkCompilerOf(*target) != nullptr; }
  Expected<void> checkWhole() const;
  Expected<void> compileWhole();

  Expected<Network> lowerAs(const LoweringOptions &wanted,
                            std::vector<std::string> *remarks = nullptr) const;
  void count();
  Expected<NpzReader> reference();
  Expected<NpzReader> topTensors();
  /// The same lowering with these layers in another scheme.
  Expected<Network> lowerWith(std::span<const std::string> layers, const QuantScheme &scheme) const;
  Expected<Network> lowerAll(const QuantScheme &scheme) const;
  Expected<OutputFile> quantizeTableWith(const std::map<std::string, QuantScheme> &layers) const;

  const ModelDeployOptions &options;
  RunFiles runFiles;
  LoweringOptions lowering;
  const TargetInfo *target = nullptr;
  std::string mode;
  /// What files are named after besides the chip: the mode and the user's quantize table.
  std::string variant;
  ModelDeploySummary summary;
  std::optional<ModelFiles> paths;
  Network top;
  std::optional<Network> lowered;
  /// Layers that are on floats as the chip cannot compute them on integers, and the table that says
  /// so.
  std::map<std::string, QuantScheme> floatLayers;
  std::optional<OutputFile> floatTable;
  std::optional<FloatBudget> budget;
  TensorMap inputs;
  ValidationOptions validation;
  /// Every tensor of the Top module, once they were needed.
  std::optional<OutputFile> topOutputs;
  std::vector<OutputFile> files;
};

/// Groups by estimate: costs are compared with these at most, whatever --opt says.
constexpr int kQuickOpt = 1;
/// The groups of least cost by estimate, without a search that takes as long as it may.
constexpr int kCompleteOpt = 2;
/// Networks with more bytes of weights than this are not tried in wider floats: the weights are
/// then most of what is transferred, and would be in memory once more.
constexpr int64_t kMostTriedWeights = 16 << 20;

constexpr StringLiteral kWeightFile = "module.weight_file";

StringRef weightFile(ModuleOp module) {
  auto file = module->getAttrOfType<StringAttr>(kWeightFile);
  return file ? file.getValue() : StringRef();
}

/// The names of the tensors that `main` gives.
std::set<std::string> outputNames(ModuleOp module) {
  std::set<std::string> names;
  if (auto main = module.lookupSymbol<func::FuncOp>("main"))
    for (Value value : main.front().getTerminator()->getOperands())
      if (auto result = dyn_cast<OpResult>(value))
        names.insert(tensorNames(result.getOwner())[result.getResultNumber()]);
  return names;
}

/// Whether the source has stated how it is quantized.
bool isQuantized(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        return isa<top::QuantizeLinearOp, top::DequantizeLinearOp, top::QLinearConvOp,
                   top::QLinearMatMulOp>(op) ||
                       llvm::any_of(op->getResults(), tpu::isQuantized)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

bool canCompile(const TargetInfo &target, const QuantScheme &scheme) {
  if (!target.hasCodeGenerator)
    return false;
  if (const std::unique_ptr<codegen::NetworkCompiler> compiler = codegen::networkCompilerOf(target))
    return compiler->schemes().contains(scheme);
  std::unique_ptr<codegen::Backend> backend = codegen::backendOf(target);
  return backend && backend->schemes().contains(scheme);
}

/// A model file that nobody can write is told before the work begins. Chips without a file format,
/// which exist for tests, have none to miss.
Expected<void> checkCodeGenerator(const TargetInfo &target, const QuantScheme &scheme) {
  if (target.container.empty() || canCompile(target, scheme))
    return {};
  const std::string mode = target.hasCodeGenerator ? schemeName(scheme) + " on " : "";
  return makeError(
      fmt::format("--chip {}", target.name),
      fmt::format("there is no code generator for {}{} yet, so --model cannot be written", mode,
                  target.name),
      "--not_gen_model, which ends with the lowered network");
}

Expected<void> ModelDeploy::checkTarget() {
  Expected<const TargetInfo *> found = lookupTarget(lowering.chip);
  if (!found)
    return propagate(found);
  target = *found;
  lowering.chip = target->name;
  if (options.opDivide && target->hasCodeGenerator)
    return makeError("--op_divide", fmt::format("is of no use with --chip {}, whose layers are cut "
                                                "to what fits in any case",
                                                target->name));
  const QuantScheme &scheme = lowering.scheme;
  if (Expected<void> checked = checkScheme(*target, scheme); !checked)
    return checked;
  if (scheme.zeroPoint && !scheme.isQuantized())
    return makeError("--asymmetric",
                     fmt::format("is of no use with --quantize {}", schemeName(scheme)),
                     fmt::format("--quantize {}", schemeName(schemes::kInt8)));
  if (compilesWhole())
    if (Expected<void> checked = checkWhole(); !checked)
      return checked;
  return options.notGenModel ? Expected<void>() : checkCodeGenerator(*target, scheme);
}

Expected<void> ModelDeploy::checkOptions() {
  if (Expected<void> checked = checkTarget(); !checked)
    return checked;
  const std::pair<const char *, bool> needInput[] = {
      {"--test_reference", !options.testReference.empty()},
      {"--excepts", !options.excepts.empty()},
      {"--compare_all", options.compareAll}};
  for (auto [option, given] : needInput)
    if (given && options.testInput.empty())
      return makeError(option, "is of no use without --test_input");
  mode = modeName(lowering.scheme);
  variant = variantName(mode, lowering.quantizeTable);
  paths.emplace(options.model, std::filesystem::path(options.mlir).stem().string());
  summary.chip = lowering.chip;
  summary.mode = mode;
  summary.lowered = paths->loweredModule(lowering.chip, variant);
  if (Expected<void> checked = checkFiles(); !checked)
    return checked;
  // A folder that cannot be written is told before the work begins.
  if (Expected<OutputFile> probe = OutputFile::create(summary.lowered); !probe)
    return propagate(probe);
  return {};
}

/// Before anything is read: none of the files to write is one of those to read.
Expected<void> ModelDeploy::checkFiles() {
  runFiles.reads("--mlir", options.mlir);
  runFiles.reads("--calibration_table", lowering.calibrationTable);
  if (!lowering.calibrationTable.empty())
    runFiles.reads("--calibration_table", channelFile(lowering.calibrationTable));
  runFiles.reads("--quantize_table", lowering.quantizeTable);
  runFiles.reads("--test_input", options.testInput);
  runFiles.reads("--test_reference", options.testReference);
  runFiles.writes("--model", options.model);
  const std::filesystem::path folder = std::filesystem::path(options.model).parent_path();
  const std::string what = "the folder of --model";
  runFiles.writes(what, summary.lowered);
  runFiles.writes(what, (folder / paths->loweredWeights(lowering.chip, variant)).string());
  runFiles.writes(what, paths->finalModule(lowering.chip, variant));
  runFiles.writes(what, (folder / paths->finalWeights(lowering.chip, variant)).string());
  if (options.debug)
    runFiles.writes(what, paths->loweredOutputs(lowering.chip, variant));
  runFiles.writes("--json", options.report);
  return runFiles.check();
}

Expected<void> ModelDeploy::readTop() {
  Expected<OwningOpRef<ModuleOp>> read =
      readModule(*top.context, options.mlir, options.allowOutside);
  if (!read)
    return propagate(read);
  top.module = std::move(*read);
  runFiles.reads("--mlir", weightFileOf(*top.module, options.mlir));
  if (Expected<void> checked = runFiles.check(); !checked)
    return checked;
  if (Expected<void> checked = checkIsTop(*top.module, options.mlir); !checked)
    return checked;
  if (Expected<void> checked = checkTypes(*top.module, options.mlir); !checked)
    return checked;
  if (lowering.scheme.isQuantized() && lowering.calibrationTable.empty() &&
      !isQuantized(*top.module))
    return makeError("--quantize " + schemeName(lowering.scheme), "needs the ranges of the tensors",
                     "--calibration_table with what run_calibration wrote");
  return {};
}

Expected<std::vector<InputSpec>> ModelDeploy::inputSpecs() const {
  Expected<std::vector<InputSpec>> specs = networkInputs(*top.module);
  if (!specs)
    return makeError(options.mlir + ": " + specs.error().where, specs.error().found,
                     specs.error().expected);
  return specs;
}

/// Commands are made for inputs of known shapes.
Expected<void> ModelDeploy::checkInputs() {
  Expected<std::vector<InputSpec>> specs = inputSpecs();
  if (!specs)
    return propagate(specs);
  if (auto checked = checkExtents(*specs, options.mlir); !checked)
    return checked;
  if (!compiles())
    return {};
  for (const InputSpec &spec : *specs)
    if (llvm::any_of(spec.dims, [](int64_t extent) { return extent < 0; }))
      return makeError(
          options.mlir + ": input '" + spec.name + "'",
          fmt::format("has the shape [{}], of which -1 is not known", fmt::join(spec.dims, ", ")),
          "the one that model_transform --input_shapes gives it");
  return {};
}

Expected<void> ModelDeploy::readTestInput() {
  if (options.testInput.empty() || options.skipValidation)
    return {};
  Expected<std::vector<InputSpec>> specs = inputSpecs();
  if (!specs)
    return propagate(specs);
  Expected<NamedTensors> sample = readSample(options.testInput, *specs, &summary.inputNote);
  if (!sample)
    return propagate(sample);
  inputs = TensorMap(sample->begin(), sample->end());
  return {};
}

Expected<Network> ModelDeploy::lowerAs(const LoweringOptions &wanted,
                                       std::vector<std::string> *remarks) const {
  Network network;
  Expected<OwningOpRef<ModuleOp>> read =
      readModule(*network.context, options.mlir, options.allowOutside);
  if (!read)
    return propagate(read);
  network.module = std::move(*read);
  Expected<void> run = runPasses(
      *network.module, [&](OpPassManager &manager) { addLowering(manager, wanted); }, remarks);
  if (run)
    return network;
  // What is said about the whole module names the file that it is about.
  if (run.error().where == "module")
    run.error().where.clear();
  return propagate(run);
}

Expected<void> ModelDeploy::lower() {
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

void ModelDeploy::count() {
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

/// The weights of `module` are those of their written file from now on, mapped; what is no regular
/// file cannot be.
Expected<void> readWritten(ModuleOp module, const OutputFile &weights) {
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

/// Writes `module`, and its weights to the file `weights`, first of those that are given. What
/// passes have made of them leaves memory once no module names the file that they were in before.
Expected<std::vector<OutputFile>> writeWithWeights(ModuleOp module, const std::string &weights,
                                                   const std::string &path) {
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

Expected<void> ModelDeploy::write() {
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

Expected<NpzReader> ModelDeploy::topTensors() {
  if (!topOutputs) {
    Expected<OutputFile> made =
        dumpTensors(*top.module, inputs, summary.lowered + ".top.npz", options.numThreads);
    if (!made)
      return propagate(made);
    topOutputs.emplace(std::move(*made));
  }
  return NpzReader::open(topOutputs->temporaryPath());
}

Expected<NpzReader> ModelDeploy::reference() {
  if (options.testReference.empty()) {
    summary.reference = "the network in float";
    return topTensors();
  }
  summary.reference = options.testReference;
  return NpzReader::open(options.testReference);
}

Expected<void> ModelDeploy::compare() {
  if (inputs.empty())
    return {};
  validation.tolerance = options.tolerance.value_or(defaultTolerance(lowering.scheme));
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

/// Lowers again, with layers on floats that nobody computes on integers; false if there are none.
Expected<bool> ModelDeploy::useFloats() {
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

/// Lowers with other options than before.
Expected<void> ModelDeploy::lowerAnew() {
  summary.report.reset();
  files.clear();
  for (auto step : {&ModelDeploy::lower, &ModelDeploy::write, &ModelDeploy::compare})
    if (Expected<void> done = (this->*step)(); !done)
      return propagate(done);
  return {};
}

/// A copy of the lowered network with addresses: what went wrong in the lowered network is looked
/// for in that itself.
Expected<OwningOpRef<ModuleOp>> ModelDeploy::generated() {
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
Expected<void> ModelDeploy::generate() {
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
  Expected<OutputFile> file = codegen::writeModelFile(*module, options.model);
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

/// What a model file of `module`, a lowered network, would take; with groups by estimate.
Expected<ModelFileReport> ModelDeploy::measure(ModuleOp module) const {
  Expected<MeasuredNetwork> measured =
      measureWith(module, std::min(options.codegen.opt, kQuickOpt));
  if (!measured)
    return propagate(measured);
  return std::move(measured->file);
}

/// What a model file of `module`, a lowered network, would take with `opt`.
Expected<MeasuredNetwork> ModelDeploy::measureWith(ModuleOp module, int opt) const {
  OwningOpRef<ModuleOp> copy(module.clone());
  Expected<std::unique_ptr<codegen::Backend>> backend = codegen::backendOf(*copy);
  if (!backend)
    return propagate(backend);
  codegen::GenerationOptions generation = options.codegen;
  generation.opt = opt;
  if (Expected<void> run = runPasses(
          *copy,
          [&](OpPassManager &manager) { codegen::addCodegen(manager, **backend, generation); });
      !run)
    return propagate(run);
  Expected<OutputFile> file = codegen::writeModelFile(*copy, summary.lowered + ".measured");
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
  return MeasuredNetwork{std::move(*report), std::ssize(cpuLayersOf(*copy))};
}

/// Floats by need may cost at most `floatBudget` of the cycles of integers throughout.
Expected<void> ModelDeploy::keepBudget() {
  if (lowering.strict)
    return {};
  budget.emplace(FloatBudget::Request{
      .percent = options.floatBudget,
      .top = *top.module,
      .lower = [this](const LoweringOptions &wanted) { return lowerAs(wanted); },
      .measure = [this](ModuleOp module) { return measure(module); },
      .isQuick = options.codegen.opt <= kQuickOpt});
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

/// The layers whose types the user, the chip or the signal decides.
std::set<std::string> ModelDeploy::layersToKeep() const {
  std::set<std::string> kept;
  for (const auto &[name, scheme] : floatLayers)
    kept.insert(name);
  Expected<func::FuncOp> main = top::mainFunction(*lowered->module);
  Expected<func::FuncOp> source = top::mainFunction(*top.module);
  if (!main || !source)
    return kept;
  const std::set<std::string> names = layerNames(*source);
  for (Operation &op : main->front().without_terminator())
    if (op.hasAttr(kStorageStep))
      kept.insert(codegen::wholeOf(layerName(&op), names).value_or(layerName(&op)));
  return kept;
}

/// Where the code generator may search, layers that take fewer cycles in wider floats are in these:
/// those of a network on integers in F16; where any are, and in a network of 16 bits, in F32.
Expected<void> ModelDeploy::useFasterLayers() {
  if (!summary.modelFile || options.codegen.opt <= kQuickOpt || lowering.strict ||
      lowering.scheme.activation == DataType::F32 || summary.weightBytes > kMostTriedWeights)
    return {};
  // A search by time would be as long for each network that is compared.
  const int opt = std::min(options.codegen.opt, kCompleteOpt);
  Expected<MeasuredNetwork> made =
      options.codegen.opt == opt
          ? Expected<MeasuredNetwork>({*summary.modelFile, std::ssize(summary.cpuLayers)})
          : measureWith(*lowered->module, opt);
  if (!made)
    return propagate(made);
  LoweringOptions best = lowering;
  for (auto wider : {&LoweringOptions::fasterInF16, &LoweringOptions::fasterInF32}) {
    if (wider == &LoweringOptions::fasterInF16 && !lowering.scheme.isQuantized())
      continue;
    const auto measureThese = [&](const std::vector<std::string> &names,
                                  bool isQuick) -> Expected<MeasuredNetwork> {
      LoweringOptions changed = best;
      changed.*wider = names;
      Expected<Network> network = lowerAs(changed);
      if (!network)
        return propagate(network);
      return measureWith(*network->module, isQuick ? kQuickOpt : opt);
    };
    Expected<FasterLayers> found = fasterLayers({.top = *top.module,
                                                 .lowered = *lowered->module,
                                                 .made = *made,
                                                 .fixed = layersToKeep(),
                                                 .measure = measureThese});
    // What cannot be compiled is not faster.
    if (!found || found->names.empty())
      break;
    best.*wider = std::move(found->names);
    made = std::move(found->network);
  }
  if (best.fasterInF16.empty() && best.fasterInF32.empty())
    return {};
  std::swap(lowering, best);
  if (Expected<void> done = makeAnew(); !done || summary.modelFile)
    return done;
  // It is below the tolerance so.
  std::swap(lowering, best);
  return makeAnew();
}

/// Lowers and compiles with other options than before.
Expected<void> ModelDeploy::makeAnew() {
  if (Expected<void> done = lowerAnew(); !done)
    return done;
  summary.modelFile.reset();
  return generate();
}

/// Whether a file is to be written for the chip in this mode.
bool ModelDeploy::compiles() const {
  return !options.notGenModel && canCompile(*target, lowering.scheme);
}

Expected<void> ModelDeploy::commit() {
  summary.floatsByNeed =
      floatShare(*lowered->module, *top.module, summary.modelFile ? &*summary.modelFile : nullptr);
  if (budget)
    budget->describe(summary.floatsByNeed);
  for (const OutputFile &file : files)
    summary.files.push_back(file.path());
  if (target->container.empty())
    summary.note = fmt::format("{} is not written: there is no file format for {}", options.model,
                               target->name);
  else if (options.notGenModel)
    summary.note = fmt::format("{} is not written: --not_gen_model", options.model);
  else if (!summary.modelFile)
    summary.note =
        fmt::format("{} is not written: the lowered network is below the tolerance", options.model);
  return commitAll(std::move(files));
}

Expected<OutputFile>
ModelDeploy::quantizeTableWith(const std::map<std::string, QuantScheme> &layers) const {
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

Expected<Network> ModelDeploy::lowerWith(std::span<const std::string> layers,
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

Expected<Network> ModelDeploy::lowerAll(const QuantScheme &scheme) const {
  LoweringOptions changed = lowering;
  changed.scheme = scheme;
  changed.quantizeTable.clear();
  return lowerAs(changed);
}

Expected<void> ModelDeploy::diagnose() {
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

/// Chips that compile whole networks have no lowered module.
Expected<void> ModelDeploy::checkWhole() const {
  const std::pair<const char *, bool> useless[] = {
      {"--not_gen_model", options.notGenModel},
      {"--quantize_table", !lowering.quantizeTable.empty()},
      {"--quant_input", lowering.quantInput},
      {"--quant_output", lowering.quantOutput},
      {"--compare_all", options.compareAll},
      {"--debug", options.debug}};
  for (auto [option, given] : useless)
    if (given)
      return makeError(
          option,
          fmt::format("is of no use with --chip {}, which has no lowered module", target->name));
  return {};
}

Expected<void> ModelDeploy::compileWhole() {
  const WholeNetworkRequest request = {.top = *top.module,
                                       .target = *target,
                                       .scheme = lowering.scheme,
                                       .calibrationTable = lowering.calibrationTable,
                                       .without = options.codegen.without,
                                       .model = options.model,
                                       .numThreads = options.numThreads};
  Expected<WholeNetwork> made = compileWholeNetwork(request);
  if (!made)
    return propagate(made);
  summary.lowered.clear();
  summary.notes = std::move(made->notes);
  summary.tableNote = std::move(made->tableNote);
  summary.modelFile = std::move(made->report);
  if (!inputs.empty()) {
    Expected<NpzReader> wanted = reference();
    if (!wanted)
      return propagate(wanted);
    summary.report.emplace(options.tolerance.value_or(defaultTolerance(lowering.scheme)));
    if (Expected<void> compared = compareWholeNetwork(made->file, inputs, *wanted, options.excepts,
                                                      options.numThreads, *summary.report);
        !compared)
      return compared;
  }
  files.push_back(std::move(made->file));
  for (const OutputFile &file : files)
    summary.files.push_back(file.path());
  return commitAll(std::move(files));
}

Expected<ModelDeploySummary> ModelDeploy::run() {
  if (Expected<void> checked = checkOptions(); !checked)
    return propagate(checked);
  if (compilesWhole()) {
    for (auto step : {&ModelDeploy::readTop, &ModelDeploy::checkInputs, &ModelDeploy::readTestInput,
                      &ModelDeploy::compileWhole})
      if (Expected<void> done = (this->*step)(); !done)
        return propagate(done);
    return std::move(summary);
  }
  Expected<void> (ModelDeploy::*const steps[])() = {
      &ModelDeploy::readTop,  &ModelDeploy::checkInputs, &ModelDeploy::readTestInput,
      &ModelDeploy::lower,    &ModelDeploy::write,       &ModelDeploy::compare,
      &ModelDeploy::generate, &ModelDeploy::keepBudget,  &ModelDeploy::useFasterLayers,
      &ModelDeploy::commit,   &ModelDeploy::diagnose};
  for (auto step : steps)
    if (Expected<void> done = (this->*step)(); !done)
      return propagate(done);
  return std::move(summary);
}

} // namespace

Tolerance tpuc::defaultTolerance(const QuantScheme &scheme) {
  const unsigned bits = std::min(bitWidth(scheme.weight), bitWidth(scheme.activation));
  if (bits >= 32)
    return {1, 1};
  return bits >= 16 ? Tolerance{0.95, 0.85} : Tolerance{0.9, 0.5};
}

Expected<ModelDeploySummary> tpuc::deployModel(const ModelDeployOptions &options) {
  return ModelDeploy(options).run();
}

nlohmann::ordered_json ModelDeploySummary::toJson() const {
  nlohmann::ordered_json json = {{"chip", chip},
                                 {"mode", mode},
                                 {"ops", numOps},
                                 {"casts", numCasts},
                                 {"storage", storage},
                                 {"exceptions", nlohmann::ordered_json::array()},
                                 {"weight_bytes", weightBytes},
                                 {"files", files},
                                 {"note", note},
                                 {"notes", notes},
                                 {"reference", reference}};
  for (const auto &[what, count] : exceptions)
    json["exceptions"].push_back({{"type", what.first}, {"reason", what.second}, {"ops", count}});
  json["floats_by_need"] = floatsByNeed ? floatsByNeed->toJson() : nlohmann::ordered_json();
  json["cpu_layers"] = nlohmann::ordered_json::array();
  for (const CpuLayer &layer : cpuLayers)
    json["cpu_layers"].push_back(
        {{"name", layer.name}, {"op", layer.op}, {"reason", layer.reason}});
  json["comparison"] = report ? report->json() : nlohmann::ordered_json();
  json["diagnosis"] = diagnosis ? diagnosis->toJson() : nlohmann::ordered_json();
  json["model_file"] = modelFile ? modelFile->toJson() : nlohmann::ordered_json();
  return json;
}
