//===- TFLiteFrontend.cpp - The front end for TFLite ----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Common/PythonReference.h"
#include "tpuc/Frontend/Frontend.h"
#include "tpuc/Frontend/TFLite/TFLiteFormat.h"
#include "tpuc/Frontend/TFLite/TFLiteImport.h"
#include "tpuc/Frontend/TFLite/TFLiteValues.h"

#include <filesystem>
#include <nlohmann/json.hpp>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::tflite;

namespace {

constexpr const char *kScript =
#include "tpuc/Frontend/TFLite/LiteRtScript.inc"
    ;

class TFLiteSourceModel : public SourceModel {
public:
  explicit TFLiteSourceModel(TFLiteModel model) : model(std::move(model)) {}

  Expected<OwningOpRef<ModuleOp>> import(MLIRContext &context,
                                         const ImportOptions &options) const override {
    Expected<OwningOpRef<ModuleOp>> made = importTFLite(context, model, options);
    model.release();
    return made;
  }

  std::vector<std::string> notes() const override { return model.notes(); }

  std::string_view referenceName() const override { return "LiteRT"; }

  /// Tensors by their numbers, and those with the channels in front once more, transposed.
  Expected<OutputFile> reference(const ReferenceRequest &request) const override {
    nlohmann::json tensors = nlohmann::json::array();
    for (size_t index = 0; index < model.tensors().size(); ++index) {
      const NetTensor &tensor = model.tensors()[index];
      const auto number = static_cast<int>(index);
      bool isOutput = std::ranges::find(model.outputs(), number) != model.outputs().end();
      if (isOutput || request.tensors.contains(tensor.name))
        tensors.push_back({{"index", index}, {"name", tensor.name}, {"front", false}});
      if (std::string front = tensor.name + std::string(kFrontSuffix);
          request.tensors.contains(front) && !model.findTensor(front))
        tensors.push_back({{"index", index}, {"name", front}, {"front", true}});
    }
    nlohmann::json inputs = nlohmann::json::array();
    for (int input : model.inputs())
      inputs.push_back(
          {{"index", input}, {"name", model.tensors()[static_cast<size_t>(input)].name}});
    nlohmann::json order = {{"model", std::filesystem::absolute(model.where()).string()},
                            {"arrays", inputs},
                            {"tensors", tensors},
                            {"threads", request.numThreads}};
    return frontend::runPython(
        {.script = kScript, .name = "LiteRT", .package = "the package ai-edge-litert of PyPI"},
        std::move(order), request, request.scratch + ".litert");
  }

private:
  TFLiteModel model;
};

class TFLiteFrontend : public Frontend {
public:
  const SourceFormat &format() const override { return describeFormat(); }

  Expected<std::unique_ptr<SourceModel>> open(const SourceFiles &files) const override {
    Expected<TFLiteModel> model = TFLiteModel::open(files.model);
    if (!model)
      return propagate(model);
    return std::make_unique<TFLiteSourceModel>(std::move(*model));
  }
};

} // namespace

namespace tpuc::tflite {

const Frontend &getFrontend() {
  static const TFLiteFrontend frontend;
  return frontend;
}

} // namespace tpuc::tflite
