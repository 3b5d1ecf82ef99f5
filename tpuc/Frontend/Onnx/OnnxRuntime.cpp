//===- OnnxRuntime.cpp - What ONNX Runtime computes, for comparison -------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Frontend/Onnx/OnnxRuntime.h"
#include "tpuc/Frontend/Common/PythonReference.h"

#include <filesystem>
#include <nlohmann/json.hpp>

using namespace tpuc;
using namespace tpuc::onnx;

namespace {

constexpr const char *kScript =
#include "tpuc/Frontend/Onnx/OnnxRuntimeScript.inc"
    ;

} // namespace

Expected<OutputFile> tpuc::onnx::runOnnxRuntime(const ReferenceRequest &request,
                                                const std::vector<std::string> &tensors) {
  nlohmann::json order = {{"model", std::filesystem::absolute(request.model).string()},
                          {"tensors", tensors},
                          {"threads", request.numThreads}};
  return frontend::runPython(
      {.script = kScript, .name = "ONNX Runtime", .package = "the package onnxruntime of PyPI"},
      std::move(order), request, request.scratch + ".onnxruntime");
}
