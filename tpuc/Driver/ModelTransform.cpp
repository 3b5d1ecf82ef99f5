//===- ModelTransform.cpp - From a trained network to an optimized Top module -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Driver/ModelTransform.h"
#include "tpuc/Dialect/Top/CustomOps.h"
#include "tpuc/Dialect/Top/Names.h"
#include "tpuc/Dialect/Top/Phase.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Driver/ModelFiles.h"
#include "tpuc/Driver/ModuleFile.h"
#include "tpuc/Driver/NetworkInputs.h"
#include "tpuc/Frontend/Frontend.h"
#include "tpuc/Support/RunFiles.h"
#include "tpuc/Transforms/Passes.h"
#include "tpuc/Transforms/StoredIntegers.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

using namespace mlir;
using namespace tpuc;

namespace {

Expected<void> checkName(const std::string &name) {
  if (name.empty() || name.find('/') != std::string::npos || name == "." || name == "..")
    return makeError("--model_name", "'" + name + "'", "a name without '/'");
  return {};
}

class ModelTransform {
public:
  explicit ModelTransform(const ModelTransformOptions &options) : options(options) {}
  Expected<ModelTransformSummary> run();

private:
  Expected<void> checkOptions();
  Expected<void> checkFiles();
  Expected<void> importModel();
  Expected<void> readTestInput();
  Expected<void> writeOrigin();
  Expected<void> optimize();
  Expected<void> addPostprocess();
  Expected<void> writeOptimized();
  Expected<void> compare();
  Expected<void> commit();
  Expected<void> keep(Expected<std::vector<OutputFile>> made);
  /// What to compare with, and its name in `summary`.
  Expected<NpzReader> reference(std::optional<OutputFile> &owner);
  Expected<OutputFile> fromReference();
  void count();
  std::string testResult() const {
    return options.testResult.empty() ? paths->topOutputs() : options.testResult;
  }
  /// Where the one of `files` lies now that will be called `path`; `otherwise` without it.
  std::string finished(const std::string &path, const std::string &otherwise = "") const {
    auto found = std::ranges::find(files, path, &OutputFile::path);
    return found == files.end() ? otherwise : found->temporaryPath();
  }

  const ModelTransformOptions &options;
  RunFiles runFiles;
  ImportOptions importOptions;
  ModelTransformSummary summary;
  std::string name;
  std::optional<ModelFiles> paths;
  const Frontend *frontend = nullptr;
  std::unique_ptr<SourceModel> model;
  std::unique_ptr<MLIRContext> context = makeContext();
  OwningOpRef<ModuleOp> module;
  /// The module before optimization, where it is needed for comparison.
  OwningOpRef<ModuleOp> origin;
  TensorMap inputs;
  PostprocessOptions postprocessing;
  /// The tensors that the source has, too.
  std::set<std::string> comparable;
  std::vector<OutputFile> files;
};

Expected<void> ModelTransform::checkOptions() {
  Expected<const Frontend *> found = frontendOfName(options.modelDef);
  if (!found)
    return propagate(found);
  frontend = *found;
  if (auto checked = checkWeights(frontend->format(), "--model_data", options.modelData); !checked)
    return checked;
  if (auto checked = checkHybrid(frontend->format(), options.hybrid); !checked)
    return checked;
  name = options.modelName.empty() ? std::filesystem::path(options.modelDef).stem().string()
                                   : options.modelName;
  if (auto checked = checkName(name); !checked)
    return checked;
  if (!llvm::StringRef(options.mlir).ends_with(".mlir"))
    return makeError("--mlir", "'" + options.mlir + "'", "a name that ends in .mlir");
  paths.emplace(options.mlir, name);
  if (std::filesystem::path(options.mlir) == std::filesystem::path(paths->originModule()))
    return makeError("--mlir", "'" + options.mlir + "' is the name of the file before optimization",
                     "another name");
  if (auto checked = checkFiles(); !checked)
    return checked;
  const std::pair<const char *, bool> needInput[] = {
      {"--test_result", !options.testResult.empty()},
      {"--test_reference", !options.testReference.empty()},
      {"--excepts", !options.validation.excepts.empty()}};
  if (!options.postprocessOptions.empty() && options.addPostprocess.empty())
    return makeError("--postprocess_options", "is of no use without --add_postprocess");
  Expected<PostprocessOptions> read = parsePostprocessOptions(options.postprocessOptions);
  if (!read)
    return propagate(read);
  postprocessing = std::move(*read);
  for (auto [option, given] : needInput)
    if (given && options.testInput.empty())
      return makeError(option, "is of no use without --test_input");
  return {};
}

/// Before anything is read: none of the files to write is one of those to read.
Expected<void> ModelTransform::checkFiles() {
  runFiles.reads("--model_def", options.modelDef);
  runFiles.reads("--model_data", options.modelData);
  runFiles.reads("--test_input", options.testInput);
  runFiles.reads("--test_reference", options.testReference);
  runFiles.writes("--mlir", options.mlir);
  const std::string optimized = paths->optimizedSource(frontend->format().endings.front());
  const std::string weights[] = {paths->originWeights(), paths->topWeights()};
  const std::string given = options.modelName.empty() ? "--model_def" : "--model_name";
  const std::string what = fmt::format("{} '{}'", given, name);
  runFiles.writes(what, paths->originModule());
  for (const std::string &file : weights)
    runFiles.writes(what, (std::filesystem::path(options.mlir).parent_path() / file).string());
  runFiles.writes(what, optimized);
  if (!options.testInput.empty()) {
    runFiles.writes(what, paths->testInput());
    runFiles.writes(options.testResult.empty() ? what : "--test_result", testResult());
  }
  runFiles.writes("--json", options.report);
  return runFiles.check();
}

/// Errors: a shape is stated of a tensor that no operator of users makes.
static Expected<void> checkCustomShapes(const std::map<std::string, std::vector<int64_t>> &shapes,
                                        ModuleOp module) {
  std::set<std::string> made;
  module.walk([&](top::CustomOp op) {
    for (const std::string &name : tensorNames(op))
      made.insert(name);
  });
  for (const auto &[name, shape] : shapes)
    if (!made.contains(name))
      return makeError("--custom_shapes", "no operator of users makes a tensor '" + name + "'",
                       "names of what they make");
  return {};
}

Expected<void> ModelTransform::importModel() {
  Expected<std::unique_ptr<SourceModel>> opened =
      frontend->open({options.modelDef, options.modelData});
  if (!opened)
    return propagate(opened);
  model = std::move(*opened);
  summary.modelNotes = model->notes();
  importOptions = {name,
                   paths->originWeights(),
                   options.inputShapes,
                   options.inputTypes,
                   options.outputNames,
                   options.customShapes,
                   options.hybrid};
  Expected<OwningOpRef<ModuleOp>> imported = model->import(*context, importOptions);
  if (!imported)
    return propagate(imported);
  module = std::move(*imported);
  if (auto checked = checkCustomShapes(options.customShapes, *module); !checked)
    return checked;
  Expected<std::vector<InputSpec>> specs = networkInputs(*module);
  if (!specs)
    return propagate(specs);
  if (auto checked = checkExtents(*specs, options.modelDef); !checked)
    return checked;
  runFiles.reads("--model_def", model->otherFiles());
  if (auto checked = runFiles.check(); !checked)
    return checked;
  bool isPicture = std::ranges::any_of(options.testInput, [](const std::string &file) {
    std::string ending = std::filesystem::path(file).extension().string();
    return ending != ".npy" && ending != ".npz";
  });
  if (options.preprocess || isPicture)
    return setPreprocessing(*module, options.preprocess.value_or(PreprocessOptions()));
  return {};
}

Expected<void> ModelTransform::readTestInput() {
  if (options.testInput.empty())
    return {};
  Expected<std::vector<InputSpec>> specs = networkInputs(*module);
  if (!specs)
    return propagate(specs);
  Expected<NamedTensors> sample = readSample(options.testInput, *specs, &summary.inputNote);
  if (!sample)
    return propagate(sample);
  Expected<NpzWriter> writer = NpzWriter::create(paths->testInput());
  if (!writer)
    return propagate(writer);
  for (auto &[input, tensor] : *sample) {
    if (Expected<void> added = writer->add(input, tensor); !added)
      return added;
    inputs.emplace(input, std::move(tensor));
  }
  Expected<OutputFile> file = writer->finish();
  if (!file)
    return propagate(file);
  files.push_back(std::move(*file));
  return {};
}

Expected<void> ModelTransform::keep(Expected<std::vector<OutputFile>> made) {
  if (!made)
    return propagate(made);
  for (OutputFile &file : *made)
    files.push_back(std::move(file));
  return {};
}

Expected<void> ModelTransform::writeOrigin() {
  size_t weights = files.size();
  if (auto kept = keep(writeModule(*module, paths->originModule())); !kept)
    return kept;
  // What the import has computed is constant in the model, too.
  std::set<std::string> constants;
  (*module)->walk([&](top::WeightOp op) { constants.insert(op.name()); });
  auto store = context->getLoadedDialect<top::TopDialect>()->weights(*module);
  if (!store)
    return propagate(store);
  auto lookup = [&](const std::string &tensor) -> std::optional<Tensor> {
    if (!constants.contains(tensor))
      return std::nullopt;
    Expected<Tensor> value = (*store)->read(tensor);
    return value ? std::optional(std::move(*value)) : std::nullopt;
  };
  const std::string optimized = paths->optimizedSource(frontend->format().endings.front());
  if (auto kept = keep(model->writeOptimized(optimized, importOptions, lookup)); !kept)
    return kept;
  // From here on the weights are those of the new file, which is mapped.
  if (Expected<std::shared_ptr<top::WeightStore>> mapped =
          top::WeightStore::openWritten(files[weights].temporaryPath()))
    *store = *mapped;
  else
    return propagate(mapped);
  if (!inputs.empty())
    origin = (*module).clone();
  // The same weights from here on, and those that passes make, under the name of the next file.
  for (const std::string &file : {paths->originWeights(), paths->topWeights()})
    context->getLoadedDialect<top::TopDialect>()->setWeights(file, *store);
  (*module)->setAttr("module.weight_file", StringAttr::get(context.get(), paths->topWeights()));
  return {};
}

Expected<void> ModelTransform::optimize() {
  Expected<void> done = runPasses(*module, [&](OpPassManager &manager) {
    addTopOptimization(manager, options.disabledPatterns, &summary.patterns);
  });
  if (!done)
    return done;
  if (phaseOf(*module) == Phase::TakeQuantized)
    for (auto main : (*module).getOps<func::FuncOp>())
      takeStoredIntegers(main);
  return {};
}

/// The tensors that `module` makes and numpy has a type for.
static std::set<std::string> comparableTensors(ModuleOp module) {
  std::set<std::string> names;
  for (auto main : module.getOps<func::FuncOp>())
    for (Operation &op : main.getOps())
      for (auto [name, result] : llvm::zip(tensorNames(&op), op.getResults())) {
        auto type = dyn_cast<TensorType>(result.getType());
        std::optional<DataType> element = type ? storageDataType(type) : std::nullopt;
        if (element && npyType(*element) == *element && !isa<top::WeightOp>(op))
          names.insert(name);
      }
  return names;
}

Expected<void> ModelTransform::addPostprocess() {
  comparable = comparableTensors(*module);
  if (options.addPostprocess.empty())
    return {};
  Expected<std::string> found =
      tpuc::addPostprocess(*module, options.addPostprocess, postprocessing);
  if (!found)
    return propagate(found);
  summary.headsNote = *found;
  if (Expected<void> done = runPasses(
          *module, [](OpPassManager &manager) { manager.addPass(createExtraOptimize()); });
      !done)
    return done;
  // What the source does not know is compared with nothing.
  const std::set<std::string> left = comparableTensors(*module);
  std::erase_if(comparable, [&](const std::string &tensor) { return !left.contains(tensor); });
  return {};
}

void ModelTransform::count() {
  if (auto flops = (*module)->getAttrOfType<IntegerAttr>("module.FLOPs"))
    summary.flops = flops.getInt();
  for (auto main : (*module).getOps<func::FuncOp>())
    main.walk([&](Operation *op) {
      for (Type type : op->getResultTypes())
        if (auto shaped = dyn_cast<ShapedType>(type); shaped && !shaped.hasStaticShape())
          summary.hasOpenShapes = true;
      if (!op->hasTrait<traits::Structural>() && !isa<func::FuncOp, func::ReturnOp>(op))
        ++summary.numOps;
    });
}

Expected<void> ModelTransform::writeOptimized() {
  count();
  size_t weights = files.size();
  if (auto kept = keep(writeModule(*module, options.mlir)); !kept)
    return kept;
  summary.weightBytes = static_cast<int64_t>(files[weights].size());
  return {};
}

Expected<OutputFile> ModelTransform::fromReference() {
  ReferenceRequest request;
  request.model = options.modelDef;
  // Runtimes take no shapes that contradict the model.
  if (!options.inputShapes.empty())
    request.model =
        finished(paths->optimizedSource(frontend->format().endings.front()), options.modelDef);
  request.inputs = finished(paths->testInput());
  request.tensors = comparable;
  request.numThreads = std::max(1U, options.validation.numThreads);
  request.python = options.python;
  request.scratch = paths->topOutputs();
  return model->reference(request);
}

Expected<NpzReader> ModelTransform::reference(std::optional<OutputFile> &owner) {
  if (!options.testReference.empty()) {
    summary.reference = options.testReference;
    return NpzReader::open(options.testReference);
  }
  Expected<OutputFile> file = fromReference();
  summary.reference = model->referenceName();
  if (!file) {
    summary.note = file.error().message();
    summary.reference = "the network before optimization";
    file = dumpTensors(*origin, inputs, paths->topOutputs() + ".origin",
                       options.validation.numThreads);
    if (!file)
      return propagate(file);
  }
  owner.emplace(std::move(*file));
  return NpzReader::open(owner->temporaryPath());
}

Expected<void> ModelTransform::compare() {
  if (options.testInput.empty())
    return {};
  std::optional<OutputFile> owner;
  Expected<NpzReader> expected = reference(owner);
  if (!expected)
    return propagate(expected);
  origin = nullptr;
  summary.report.emplace(options.validation.tolerance);
  Expected<NpzWriter> writer = NpzWriter::create(testResult());
  if (!writer)
    return propagate(writer);
  if (Expected<void> compared =
          validate(*module, inputs, *expected, options.validation, *summary.report, &*writer);
      !compared)
    return compared;
  Expected<OutputFile> result = writer->finish();
  if (!result)
    return propagate(result);
  files.push_back(std::move(*result));
  return {};
}

Expected<void> ModelTransform::commit() {
  // What a front end has written besides, by names that it chose.
  for (const OutputFile &file : files)
    if (auto checked = runFiles.checkWrites(file.path()); !checked)
      return checked;
  for (const OutputFile &file : files)
    summary.files.push_back(file.path());
  return commitAll(std::move(files));
}

Expected<ModelTransformSummary> ModelTransform::run() {
  Expected<void> (ModelTransform::*const steps[])() = {
      &ModelTransform::checkOptions,   &ModelTransform::importModel,
      &ModelTransform::readTestInput,  &ModelTransform::writeOrigin,
      &ModelTransform::optimize,       &ModelTransform::addPostprocess,
      &ModelTransform::writeOptimized, &ModelTransform::compare,
      &ModelTransform::commit};
  for (auto step : steps)
    if (Expected<void> done = (this->*step)(); !done)
      return propagate(done);
  return std::move(summary);
}

} // namespace

Expected<ModelTransformSummary> tpuc::transformModel(const ModelTransformOptions &options) {
  try {
    return ModelTransform(options).run();
  } catch (const std::bad_alloc &) {
    return makeError(options.modelDef, "takes more memory than there is");
  }
}

nlohmann::ordered_json ModelTransformSummary::toJson() const {
  nlohmann::ordered_json json = {
      {"ops", numOps},        {"flops", flops}, {"weight_bytes", weightBytes},
      {"patterns", patterns}, {"files", files}, {"reference", reference},
      {"note", note}};
  if (!headsNote.empty())
    json["heads"] = headsNote;
  json["comparison"] = report ? report->json() : nlohmann::ordered_json();
  return json;
}
