//===- SourceKinds.cpp - Networks of other front ends than ONNX -----------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/files/FileKind.h"
#include "test/fuzz/networks/ModuleSize.h"
#include "tpuc/Driver/ModelDeploy.h"
#include "tpuc/Driver/ModelTransform.h"

#include <flatbuffers/idl.h>
#include <fmt/format.h>
#include <fstream>

namespace tpuc::fuzz {

namespace {

constexpr const char *kCompiledChip = "bm1684x";
/// How the files of a Caffe network end.
constexpr std::string_view kProtoText = ".prototxt", kCaffeModel = ".caffemodel";

/// Whether what was imported is compiled, and as what. Quantized sources are compiled in their own
/// integers, or in the floats that these stand for.
enum class Compiled : uint8_t { No, AsFloats, AsIntegers };

QuantScheme schemeOf(const FileCase &given, Compiled how) {
  const bool isOther = given.number % 4 != 0;
  if (how == Compiled::AsIntegers)
    return isOther ? schemes::kInt8Asymmetric : schemes::kInt8;
  return isOther ? schemes::kF16 : schemes::kF32;
}

Expected<void> transformAndDeploy(const FileCase &given, const std::string &source,
                                  const std::string &weights, Compiled how) {
  ModelTransformOptions transform;
  transform.modelDef = source;
  transform.modelData = weights;
  transform.modelName = "made";
  transform.mlir = given.folder + "/made.mlir";
  transform.validation.numThreads = 1;
  transform.python = "/nowhere";
  auto imported = transformModel(transform);
  if (!imported)
    return propagate(imported);
  given.notes.add(fmt::format("states {}", bytesOfTensors(transform.mlir)));
  if (how == Compiled::No)
    return {};
  ModelDeployOptions deploy;
  deploy.mlir = transform.mlir;
  deploy.model = given.folder + "/made.model";
  deploy.lowering.chip = kCompiledChip;
  deploy.lowering.scheme = schemeOf(given, how);
  deploy.skipValidation = true;
  deploy.numThreads = 1;
  deploy.codegen.numThreads = 1;
  auto deployed = deployModel(deploy);
  // What was imported may stay where it cannot be compiled: it is no file that was left.
  for (const std::string &file : imported->files)
    std::filesystem::remove(file);
  return deployed ? Expected<void>() : propagate(deployed);
}

/// Every other network is compiled.
Compiled everyOther(const FileCase &given) {
  return given.number % 2 == 0 ? Compiled::AsFloats : Compiled::No;
}

Expected<void> useTFLite(const FileCase &given) {
  return transformAndDeploy(given, given.path, "", everyOther(given));
}

/// The model of a JSON text. Errors: the text is no JSON, or has fields that models do not have.
Expected<std::string> modelOfText(const std::string &text) {
  static flatbuffers::Parser &parser = []() -> flatbuffers::Parser & {
    static flatbuffers::Parser made;
    // A schema that is no schema shows in the seeds: none of them would be taken.
    made.Parse(bytesOf(TPUC_TFLITE_SCHEMA).c_str());
    return made;
  }();
  if (!parser.ParseJson(text.c_str()))
    return makeError("JSON", parser.error_);
  return std::string(reinterpret_cast<const char *>(parser.builder_.GetBufferPointer()),
                     parser.builder_.GetSize());
}

Expected<void> useText(const FileCase &given, Compiled how) {
  Expected<std::string> model = modelOfText(given.bytes);
  if (!model)
    return propagate(model);
  const std::string path = given.folder + "/made.tflite";
  writeBytes(path, *model);
  const Expected<void> done = transformAndDeploy(given, path, "", how);
  std::filesystem::remove(path);
  return done;
}

Expected<void> useTFLiteText(const FileCase &given) { return useText(given, everyOther(given)); }

Expected<void> useIntegers(const FileCase &given) { return useText(given, Compiled::AsIntegers); }

/// The models of a file with one in each line behind its name: all, or those of integers.
void addLines(FileKind &kind, const std::string &path, bool isOfIntegers) {
  std::ifstream file(path);
  for (std::string name, text; file >> name && std::getline(file, text);) {
    kind.vocabulary.add(text);
    if (isOfIntegers && name.find(".integers") == std::string::npos)
      continue;
    kind.seeds.push_back({name, text, name + ".json", {}});
  }
}

/// The file of the same network that ends in another way; empty if there is none.
std::string beside(const FileCase &given, std::string_view ending) {
  const std::filesystem::path path = std::filesystem::path(given.path).replace_extension(ending);
  return std::filesystem::exists(path) ? path.string() : "";
}

Expected<void> useProtoText(const FileCase &given) {
  return transformAndDeploy(given, given.path, beside(given, kCaffeModel), everyOther(given));
}

Expected<void> useCaffeModel(const FileCase &given) {
  return transformAndDeploy(given, beside(given, kProtoText), given.path, everyOther(given));
}

} // namespace

void addSourceKinds(std::vector<FileKind> &kinds, std::span<const std::string> folders,
                    const std::string &models) {
  const std::vector<std::filesystem::path> paths(folders.begin(), folders.end());
  const auto add = [&](FileKind kind, std::string_view ending) {
    addSeeds(kind, paths, ending);
    kinds.push_back(std::move(kind));
  };
  add({"TFLite", {}, 40, {}, 1, {{"model_transform", useTFLite}}}, ".tflite");
  kinds.push_back({"TFLite as text", {}, 40, {}, 1, {{"model_transform", useTFLiteText}}, true});
  addLines(kinds.back(), models, false);
  kinds.push_back({"TFLite of integers", {}, 40, {}, 1, {{"model_deploy", useIntegers}}, true});
  addLines(kinds.back(), models, true);
  add({"prototxt", {}, 40, {}, 1, {{"model_transform", useProtoText}}, true}, kProtoText);
  add({"caffemodel", {}, 20, {}, 1, {{"model_transform", useCaffeModel}}}, kCaffeModel);
}

} // namespace tpuc::fuzz
