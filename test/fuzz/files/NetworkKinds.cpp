//===- NetworkKinds.cpp - Files that networks come with
//--------------------------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/files/FileKind.h"
#include "test/fuzz/networks/Chain.h"
#include "tpuc/Calibration/CalibrationTable.h"
#include "tpuc/Calibration/Dataset.h"
#include "tpuc/Codegen/Backend.h"
#include "tpuc/Conversion/TopToTpu/QuantizeTable.h"
#include "tpuc/Driver/ModelDeploy.h"
#include "tpuc/Driver/ModelTransform.h"
#include "tpuc/Driver/ModuleFile.h"
#include "tpuc/Driver/NetworkInputs.h"
#include "tpuc/Driver/RunCalibration.h"
#include "tpuc/Frontend/Onnx/Onnx.pb.h"
#include "tpuc/Interpreter/Interpreter.h"
#include "tpuc/Support/Npy.h"
#include "tpuc/Support/Npz.h"
#include "tpuc/Target/Registry.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tpuc::fuzz {

namespace {

constexpr const char *kChip = "bm1684x";
/// What Chain.h and makeNetwork call their files.
constexpr const char *kModule = "net.mlir", *kTable = "net.table", *kSample = "sample.npz",
                     *kSource = "net.onnx", *kQuantizeTable = "net.qtable", *kGroups = "net.json",
                     *kLowered = "net_bm1684x_f32_tpu.mlir", *kDataList = "net.list",
                     *kExternalSource = "external.onnx", *kExternal = "external.data";

Expected<void> transform(const FileCase &given, const std::string &source) {
  ModelTransformOptions options;
  options.modelDef = source;
  options.modelName = "made";
  options.mlir = given.folder + "/made.mlir";
  options.validation.numThreads = 1;
  options.python = "/nowhere";
  auto summary = transformModel(options);
  return summary ? Expected<void>() : propagate(summary);
}

Expected<void> deploy(const FileCase &given, const std::string &module, const QuantScheme &scheme,
                      const std::string &quantizeTable, bool isCompiled) {
  ModelDeployOptions options;
  options.mlir = given.folder + "/" + module;
  options.model = given.folder + "/made.model";
  options.lowering.chip = kChip;
  options.lowering.scheme = scheme;
  if (scheme.isQuantized())
    options.lowering.calibrationTable = given.folder + "/" + kTable;
  if (!quantizeTable.empty())
    options.lowering.quantizeTable = given.folder + "/" + quantizeTable;
  options.notGenModel = !isCompiled;
  options.skipValidation = true;
  options.numThreads = 1;
  options.codegen.numThreads = 1;
  auto summary = deployModel(options);
  return summary ? Expected<void>() : propagate(summary);
}

/// Has the interpreter run a module on the sample beside it.
Expected<void> interpret(const FileCase &given, const std::string &path) {
  const std::unique_ptr<mlir::MLIRContext> context = makeContext();
  auto module = readModule(*context, path);
  if (!module)
    return propagate(module);
  auto inputs = networkInputs(**module, /*expressed=*/true);
  if (!inputs)
    return propagate(inputs);
  const std::vector<std::string> files = {given.folder + "/" + kSample};
  auto sample = readSample(files, *inputs);
  if (!sample)
    return propagate(sample);
  InterpreterOptions options;
  options.numThreads = 1;
  auto interpreter = Interpreter::create(**module, options);
  if (!interpreter)
    return propagate(interpreter);
  std::vector<Tensor> tensors;
  for (auto &[name, tensor] : *sample)
    tensors.push_back(std::move(tensor));
  auto outputs = (*interpreter)->run(tensors);
  return outputs ? Expected<void>() : propagate(outputs);
}

Expected<void> readModuleFile(const FileCase &given) {
  writeBytes(given.path, given.bytes);
  const std::unique_ptr<mlir::MLIRContext> context = makeContext();
  auto module = readModule(*context, given.path);
  return module ? Expected<void>() : propagate(module);
}

Expected<void> runTop(const FileCase &given) { return interpret(given, given.path); }

Expected<void> deployTop(const FileCase &given) {
  return deploy(given, kModule, given.number % 2 == 0 ? schemes::kF32 : schemes::kInt8, "",
                given.number % 4 == 0);
}

Expected<void> useLowered(const FileCase &given) { return interpret(given, given.path); }

Expected<void> useWeights(const FileCase &given) {
  return interpret(given, given.folder + "/" + kModule);
}

Expected<void> readTable(const FileCase &given) {
  Expected<CalibrationTable> table = CalibrationTable::parse(given.bytes, given.path);
  if (!table)
    return propagate(table);
  std::vector<std::string> names;
  for (const CalibrationTable::Entry &entry : table->entries)
    names.push_back(entry.name);
  names.resize(names.size() / 2 + 1);
  const Expected<std::string> note = table->fit(names, given.path);
  const std::string text = table->text({});
  Expected<CalibrationTable> again = CalibrationTable::parse(text, given.path);
  return again ? Expected<void>() : propagate(again);
}

Expected<void> useTable(const FileCase &given) {
  return deploy(given, kModule, schemes::kInt8, "", false);
}

Expected<void> readQuantizeTable(const FileCase &given) {
  Expected<QuantizeTable> table = QuantizeTable::parse(given.bytes, given.path);
  return table ? Expected<void>() : propagate(table);
}

Expected<void> useQuantizeTable(const FileCase &given) {
  return deploy(given, kModule, schemes::kInt8, kQuantizeTable, false);
}

/// Lowers the module anew, and groups its layers as the file says, or writes the groups.
Expected<void> group(const std::string &folder, bool isLoaded) {
  const std::unique_ptr<mlir::MLIRContext> context = makeContext();
  auto module = readModule(*context, folder + "/" + kLowered);
  if (!module)
    return propagate(module);
  auto backend = codegen::backendOf(**module);
  if (!backend)
    return propagate(backend);
  codegen::GenerationOptions options;
  options.numThreads = 1;
  codegen::LayerGroupOptions grouping;
  grouping.numThreads = 1;
  (isLoaded ? grouping.loadGroups : grouping.saveGroups) = folder + "/" + kGroups;
  return runPasses(**module, [&](mlir::OpPassManager &manager) {
    codegen::addDivision(manager, **backend, options);
    manager.addPass(codegen::createSubnetDivide());
    manager.addPass(codegen::createWeightReorder());
    manager.addPass(codegen::createLayerGroup(grouping));
    manager.addPass(codegen::createAddressAssign());
  });
}

Expected<void> useGroups(const FileCase &given) { return group(given.folder, true); }

Expected<void> readList(const FileCase &given) {
  writeBytes(given.path, given.bytes);
  auto samples = readDataList(given.path);
  return samples ? Expected<void>() : propagate(samples);
}

Expected<void> useList(const FileCase &given) {
  RunCalibrationOptions options;
  options.mlir = given.folder + "/" + kModule;
  options.table = given.folder + "/made.table";
  options.dataList = given.path;
  options.numThreads = 1;
  auto summary = runCalibration(options);
  return summary ? Expected<void>() : propagate(summary);
}

Expected<void> useSource(const FileCase &given) { return transform(given, given.path); }

Expected<void> useExternal(const FileCase &given) {
  return transform(given, given.folder + "/" + kExternalSource);
}

/// The arrays of the sample, each in a file of its own.
void writeArrays(const std::filesystem::path &folder) {
  const Expected<NpzReader> sample = NpzReader::open(folder / kSample);
  if (!sample)
    return;
  for (const std::string &name : sample->names())
    if (const Expected<Tensor> tensor = sample->read(name))
      static_cast<void>(writeNpy(folder / (name + "_sample.npy"), *tensor));
}

/// The source with its constants in a file of their own.
void writeExternal(const std::filesystem::path &folder) {
  onnx::proto::Model model;
  std::string data;
  if (!model.ParseFromString(bytesOf(folder / kSource)))
    return;
  for (auto &tensor : *model.mutable_graph()->mutable_initializer()) {
    std::string raw = tensor.raw_data();
    if (tensor.float_data_size() > 0)
      raw.assign(reinterpret_cast<const char *>(tensor.float_data().data()),
                 sizeof(float) * static_cast<size_t>(tensor.float_data_size()));
    if (raw.empty())
      continue;
    tensor.clear_raw_data();
    tensor.clear_float_data();
    tensor.set_data_location(1);
    const std::pair<const char *, std::string> entries[] = {{"location", kExternal},
                                                            {"offset", std::to_string(data.size())},
                                                            {"length", std::to_string(raw.size())}};
    for (const auto &[key, value] : entries) {
      auto *entry = tensor.add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
    data += raw;
  }
  if (data.empty())
    return;
  writeBytes(folder / kExternal, data);
  writeBytes(folder / kExternalSource, model.SerializeAsString());
}

/// A line for each layer of the module, every second one in F16.
void writeQuantizeTable(const std::filesystem::path &folder) {
  const Expected<CalibrationTable> table = CalibrationTable::read(folder / kTable);
  const Expected<NpzReader> sample = NpzReader::open(folder / kSample);
  if (!table || !sample)
    return;
  std::string text = "# name mode\n";
  for (size_t i = 0; i < table->entries.size(); ++i)
    // Inputs are no layers.
    if (!sample->contains(table->entries[i].name))
      text += table->entries[i].name + (i % 2 == 0 ? " F16\n" : " INT8\n");
  writeBytes(folder / kQuantizeTable, text);
}

} // namespace

void makeNetwork(const std::filesystem::path &folder) {
  const int none = ::memfd_create("notes", 0);
  if (const Expected<const TargetInfo *> target = lookupTarget(kChip))
    runChain(folder, **target, 1, Notes(none));
  ::close(none);
  std::error_code ignored;
  std::filesystem::copy(folder / "samples" / "0.npz", folder / kSample, ignored);
  const std::string sample = (folder / kSample).string();
  writeBytes(folder / kDataList, fmt::format("{}\n\n  {} \n", sample, sample));
  writeQuantizeTable(folder);
  writeArrays(folder);
  writeExternal(folder);
  const Expected<void> grouped = group(folder, false);
  static_cast<void>(grouped);
  std::filesystem::remove_all(folder / "samples", ignored);
}

void addNetworkKinds(std::vector<FileKind> &kinds, std::span<const std::filesystem::path> folders) {
  const auto add = [&](FileKind kind, std::string_view ending) {
    addSeeds(kind, folders, ending);
    kinds.push_back(std::move(kind));
  };
  add({"calibration table", {}, 180, readTable, 64, {{"model_deploy", useTable}}, true}, kTable);
  add({"channels of a table", {}, 10, {}, 1, {{"model_deploy", useTable}}}, ".table_channels.npz");
  add({"quantize table",
       {},
       180,
       readQuantizeTable,
       64,
       {{"model_deploy", useQuantizeTable}},
       true},
      kQuantizeTable);
  add({"data list", {}, 180, readList, 64, {{"run_calibration", useList}}, true}, kDataList);
  add({"group file", {}, 10, {}, 1, {{"model_deploy", useGroups}}, true}, kGroups);
  add({"Top module",
       {},
       20,
       readModuleFile,
       4,
       {{"interpreter", runTop}, {"model_deploy", deployTop}},
       true},
      kModule);
  add({"Tpu module", {}, 10, readModuleFile, 2, {{"interpreter", useLowered}}, true}, "_tpu.mlir");
  add({"module with addresses", {}, 10, readModuleFile, 2, {{"interpreter", useLowered}}, true},
      "_final.mlir");
  add({"weights", {}, 20, {}, 1, {{"interpreter", useWeights}}}, "_top_f32_all_weight.npz");
  add({"ONNX", {}, 40, {}, 1, {{"model_transform", useSource}}}, kSource);
  add({"ONNX with external data", {}, 20, {}, 1, {{"model_transform", useExternal}}},
      kExternalSource);
  add({"external data", {}, 10, {}, 1, {{"model_transform", useExternal}}}, kExternal);
}

} // namespace tpuc::fuzz
