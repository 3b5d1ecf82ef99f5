//===- OnnxFrontend.cpp - The front end for ONNX --------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Frontend.h"
#include "tpuc/Frontend/Onnx/OnnxFormat.h"
#include "tpuc/Frontend/Onnx/OnnxImport.h"
#include "tpuc/Frontend/Onnx/OnnxRuntime.h"
#include "tpuc/Frontend/Onnx/OnnxWriter.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::onnx;

namespace {

class OnnxSourceModel : public SourceModel {
public:
  explicit OnnxSourceModel(OnnxModel model) : model(std::move(model)) {}

  Expected<OwningOpRef<ModuleOp>> import(MLIRContext &context,
                                         const ImportOptions &options) const override {
    return importOnnx(context, model, options);
  }

  std::vector<std::string> otherFiles() const override { return model.externalFiles(); }

  Expected<std::vector<OutputFile>> writeOptimized(const std::string &path,
                                                   const ImportOptions &options,
                                                   const ConstantLookup &constants) const override {
    return writeOptimizedOnnx(model, options.outputNames, path, constants, options.inputShapes);
  }

  std::string_view referenceName() const override { return "ONNX Runtime"; }

  Expected<OutputFile> reference(const ReferenceRequest &request) const override {
    std::vector<std::string> tensors;
    for (const std::string &tensor : model.innerTensors())
      if (request.tensors.contains(tensor))
        tensors.push_back(tensor);
    return runOnnxRuntime(request, tensors);
  }

private:
  OnnxModel model;
};

class OnnxFrontend : public Frontend {
public:
  const SourceFormat &format() const override { return describeFormat(); }

  Expected<std::unique_ptr<SourceModel>> open(const SourceFiles &files) const override {
    Expected<OnnxModel> model = OnnxModel::open(files.model);
    if (!model)
      return propagate(model);
    return std::make_unique<OnnxSourceModel>(std::move(*model));
  }
};

} // namespace

namespace tpuc::onnx {

const Frontend &getFrontend() {
  static const OnnxFrontend frontend;
  return frontend;
}

} // namespace tpuc::onnx
