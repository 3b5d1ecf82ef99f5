//===- CaffeFrontend.cpp - The front end for Caffe ------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Caffe/Caffe.pb.h"
#include "tpuc/Frontend/Caffe/CaffeFormat.h"
#include "tpuc/Frontend/Caffe/CaffeImport.h"
#include "tpuc/Frontend/Common/PythonReference.h"
#include "tpuc/Frontend/Frontend.h"

#include <filesystem>
#include <nlohmann/json.hpp>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::caffe;

namespace {

constexpr const char *kScript =
#include "tpuc/Frontend/Caffe/OpenCvScript.inc"
    ;

class CaffeSourceModel : public SourceModel {
public:
  explicit CaffeSourceModel(CaffeModel model) : model(std::move(model)) {}

  Expected<OwningOpRef<ModuleOp>> import(MLIRContext &context,
                                         const ImportOptions &options) const override {
    return importCaffe(context, model, options);
  }

  std::vector<std::string> notes() const override { return model.notes(); }

  std::string_view referenceName() const override { return "OpenCV"; }

  /// Tensors by the layers that make them: OpenCV knows no names of blobs.
  Expected<OutputFile> reference(const ReferenceRequest &request) const override {
    nlohmann::json tensors = nlohmann::json::array();
    for (const NetLayer &layer : model.layers())
      for (size_t top = 0; top < layer.tops.size(); ++top)
        if (request.tensors.contains(layer.tops[top]) ||
            std::ranges::find(model.outputs(), layer.tops[top]) != model.outputs().end())
          tensors.push_back({{"layer", layer.name()},
                             {"blob", layer.parameters->top(static_cast<int>(top))},
                             {"top", top},
                             {"name", layer.tops[top]}});
    nlohmann::json order = {{"model", std::filesystem::absolute(model.where()).string()},
                            {"tensors", tensors},
                            {"threads", request.numThreads}};
    if (model.weights())
      order["weights"] = std::filesystem::absolute(model.weights()->where()).string();
    return frontend::runPython({.script = kScript,
                                .name = "OpenCV",
                                .package = "the package opencv-python-headless of PyPI, version 4"},
                               std::move(order), request, request.scratch + ".opencv");
  }

private:
  CaffeModel model;
};

class CaffeFrontend : public Frontend {
public:
  const SourceFormat &format() const override { return describeFormat(); }

  Expected<std::unique_ptr<SourceModel>> open(const SourceFiles &files) const override {
    Expected<CaffeModel> model = CaffeModel::open(files.model, files.weights);
    if (!model)
      return propagate(model);
    return std::make_unique<CaffeSourceModel>(std::move(*model));
  }
};

} // namespace

namespace tpuc::caffe {

const Frontend &getFrontend() {
  static const CaffeFrontend frontend;
  return frontend;
}

} // namespace tpuc::caffe
