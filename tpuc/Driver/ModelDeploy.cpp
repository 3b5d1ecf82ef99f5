//===- ModelDeploy.cpp - From a Top module to what a chip computes ----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/ModelDeploy.h"
#include "tpuc/Calibration/ChannelStatistics.h"
#include "tpuc/Codegen/Backend.h"
#include "tpuc/Codegen/NetworkCompiler.h"
#include "tpuc/Dialect/Top/QuantizeOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Driver/DeployRun.h"
#include "tpuc/Driver/ModuleChecks.h"
#include "tpuc/Driver/WholeNetwork.h"
#include "tpuc/Driver/WideFloats.h"
#include "tpuc/Model/Container.h"

#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

using namespace mlir;
using namespace tpuc;

namespace {

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

} // namespace

Expected<void> DeployRun::checkTarget() {
  Expected<const TargetInfo *> found = lookupTarget(lowering.chip);
  if (!found)
    return propagate(found);
  target = *found;
  lowering.chip = target->name;
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
  // What would be F32 at both ends is stored otherwise: the runtime converts.
  if (!compilesWhole() && !hasScheme(*target, schemes::kF32))
    lowering.quantInput = lowering.quantOutput = true;
  if (!options.array.empty() && !compilesWhole())
    return makeError("--array",
                     fmt::format("is of no use with --chip {}, which has one size", target->name));
  if (!options.notGenModel)
    if (Expected<void> checked = checkCodeGenerator(*target, scheme); !checked)
      return checked;
  return checkStorage();
}

/// How the model file is to store constants, and whether the chip does that.
Expected<void> DeployRun::checkStorage() {
  const std::pair<const char *, bool> wanted[] = {
      {"--op_divide", options.codegen.dividesOps},
      {"--compress", !options.compress.empty()},
      {"--merge_weight_of", !options.mergeWeight.empty()}};
  for (auto [option, given] : wanted)
    if (given && (options.notGenModel || compilesWhole()))
      return makeError(option,
                       options.notGenModel
                           ? "is of no use without a model file"
                           : fmt::format("is of no use with --chip {}, whose compiler decides that",
                                         target->name));
  constexpr std::pair<std::string_view, codegen::Compression> kWays[] = {
      {"none", codegen::Compression::None},
      {"auto", codegen::Compression::Auto},
      {"all", codegen::Compression::All}};
  if (!options.compress.empty()) {
    const auto *way =
        llvm::find_if(kWays, [&](const auto &each) { return each.first == options.compress; });
    if (way == std::end(kWays))
      return makeError("--compress", "'" + options.compress + "'", "none, auto or all");
    storage.compression = way->second;
  }
  if (!options.mergeWeight.empty()) {
    Expected<std::shared_ptr<const model::CompiledModel>> read = readFileBefore();
    if (!read)
      return propagate(read);
    storage.before = std::move(*read);
  }
  if (options.compress.empty() && options.mergeWeight.empty())
    return {};
  const std::unique_ptr<codegen::Backend> backend = codegen::backendOf(*target);
  codegen::ConstantStorage asked = storage;
  // Chips without a choice do not have the usual way either.
  if (asked.isUsual())
    asked.compression = codegen::Compression::All;
  if (Expected<void> checked = codegen::checkStorage(*backend, asked); !checked) {
    const bool isOption = options.mergeWeight.empty();
    return makeError(isOption ? "--compress" : options.mergeWeight, checked.error().found,
                     checked.error().expected);
  }
  return {};
}

/// The file of --merge_weight_of, which lives as long as what was read of it.
Expected<std::shared_ptr<const model::CompiledModel>> DeployRun::readFileBefore() const {
  Expected<model::ModelFile> file = model::ModelFile::open(options.mergeWeight);
  if (!file)
    return propagate(file);
  Expected<const model::Container *> container = model::chooseContainer(*file, model::containers());
  if (!container)
    return propagate(container);
  if ((*container)->name() != target->container)
    return makeError(options.mergeWeight, fmt::format("a .{} file", (*container)->name()),
                     fmt::format("a .{} file", target->container));
  Expected<model::CompiledModel> read = (*container)->read(*file);
  if (!read)
    return propagate(read);
  return std::make_shared<const model::CompiledModel>(std::move(*read));
}

Expected<void> DeployRun::checkOptions() {
  if (Expected<void> checked = checkTarget(); !checked)
    return checked;
  const std::pair<const char *, bool> needInput[] = {
      {"--test_reference", !options.testReference.empty()},
      {"--excepts", !options.excepts.empty()},
      {"--compare_all", options.compareAll}};
  for (auto [option, given] : needInput)
    if (given && options.testInput.empty())
      return makeError(option, "is of no use without --test_input");
  if (Expected<void> checked = checkFusion(); !checked)
    return checked;
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

Expected<void> DeployRun::checkFusion() const {
  if (!options.customizationFormat.empty() && !options.fusePreprocess)
    return makeError("--customization_format", "is of no use without --fuse_preprocess");
  if (!options.fuseResize.empty() && !options.fusePreprocess)
    return makeError("--fuse_resize", "is of no use without --fuse_preprocess");
  if (options.alignedInput && !options.fusePreprocess)
    return makeError("--aligned_input", "is of no use without --fuse_preprocess");
  if (options.alignedInput && !target->frames)
    return makeError("--aligned_input",
                     fmt::format("is of no use with --chip {}, of which no frame buffers are known",
                                 target->name),
                     "a chip with a camera");
  if (options.yuvRange != "video" && options.yuvRange != "full")
    return makeError("--yuv_range", "'" + options.yuvRange + "'", "video or full");
  if (!options.customizationFormat.empty() && !parsePictureFormat(options.customizationFormat))
    return makeError("--customization_format", "'" + options.customizationFormat + "'",
                     fmt::format("one of {}", fmt::join(kPictureFormatNames, ", ")));
  if (options.fusePreprocess && compilesWhole())
    return makeError("--fuse_preprocess",
                     fmt::format("is of no use with --chip {}, which takes floats", target->name));
  return {};
}

/// Before anything is read: none of the files to write is one of those to read.
Expected<void> DeployRun::checkFiles() {
  runFiles.reads("--mlir", options.mlir);
  runFiles.reads("--calibration_table", lowering.calibrationTable);
  if (!lowering.calibrationTable.empty())
    runFiles.reads("--calibration_table", channelFile(lowering.calibrationTable));
  runFiles.reads("--quantize_table", lowering.quantizeTable);
  runFiles.reads("--merge_weight_of", options.mergeWeight);
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

Expected<void> DeployRun::readTop() {
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
  if (Expected<void> widened = widenFloats(*top.module, widensDoubles(), options.mlir); !widened)
    return widened;
  if (!options.fusePreprocess)
    return {};
  Expected<void> fused =
      runPasses(*top.module, [&](OpPassManager &manager) { addFusion(manager); });
  if (!fused && fused.error().where == "module")
    return makeError(options.mlir, fused.error().found, fused.error().expected);
  return fused;
}

Expected<std::vector<InputSpec>> DeployRun::inputSpecs() const {
  Expected<std::vector<InputSpec>> specs = networkInputs(*top.module);
  if (!specs)
    return makeError(options.mlir + ": " + specs.error().where, specs.error().found,
                     specs.error().expected);
  if (!compilesWhole() && !lowering.quantInput)
    restoreGivenTypes(*top.module, *specs);
  return specs;
}

/// Commands are made for inputs of known shapes.
Expected<void> DeployRun::checkInputs() {
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

Expected<void> DeployRun::readTestInput() {
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

/// Whether a file is to be written for the chip in this mode.
bool DeployRun::compiles() const {
  return !options.notGenModel && canCompile(*target, lowering.scheme);
}

Expected<void> DeployRun::commit() {
  summary.floatsByNeed = floatShare(*lowered->module, *top.module, *target,
                                    summary.modelFile ? &*summary.modelFile : nullptr);
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

bool DeployRun::compilesWhole() const { return codegen::networkCompilerOf(*target) != nullptr; }

/// Chips that compile whole networks have no lowered module.
Expected<void> DeployRun::checkWhole() const {
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

Expected<void> DeployRun::compileWhole() {
  const WholeNetworkRequest request = {.top = *top.module,
                                       .target = *target,
                                       .scheme = lowering.scheme,
                                       .calibrationTable = lowering.calibrationTable,
                                       .without = options.codegen.without,
                                       .array = options.array,
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

Expected<ModelDeploySummary> DeployRun::run() {
  if (Expected<void> checked = checkOptions(); !checked)
    return propagate(checked);
  if (compilesWhole()) {
    for (auto step : {&DeployRun::readTop, &DeployRun::checkInputs, &DeployRun::readTestInput,
                      &DeployRun::compileWhole})
      if (Expected<void> done = (this->*step)(); !done)
        return propagate(done);
    return std::move(summary);
  }
  Expected<void> (DeployRun::*const steps[])() = {
      &DeployRun::readTop,         &DeployRun::checkInputs,
      &DeployRun::readTestInput,   &DeployRun::lower,
      &DeployRun::write,           &DeployRun::compare,
      &DeployRun::keepBudgetFirst, &DeployRun::useFasterLayersFirst,
      &DeployRun::generate,        &DeployRun::useFasterResize,
      &DeployRun::keepBudget,      &DeployRun::useFasterLayers,
      &DeployRun::commit,          &DeployRun::diagnose};
  for (auto step : steps)
    if (Expected<void> done = (this->*step)(); !done)
      return propagate(done);
  return std::move(summary);
}

Tolerance tpuc::defaultTolerance(const QuantScheme &scheme) {
  const unsigned bits = std::min(bitWidth(scheme.weight), bitWidth(scheme.activation));
  if (bits >= 32)
    return {1, 1};
  return bits >= 16 ? Tolerance{0.95, 0.85} : Tolerance{0.9, 0.5};
}

Expected<ModelDeploySummary> tpuc::deployModel(const ModelDeployOptions &options) {
  // What is left out of lowering is not known to the code generator.
  ModelDeployOptions own = options;
  std::vector<std::string> &without = own.codegen.without;
  const auto folds = std::stable_partition(without.begin(), without.end(), [](const auto &name) {
    return !llvm::is_contained(kPreprocessFolds, name);
  });
  own.lowering.withoutFolds.assign(folds, without.end());
  without.erase(folds, without.end());
  return DeployRun(own).run();
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
