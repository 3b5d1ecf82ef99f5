//===- OnnxRuntime.h - What ONNX Runtime computes, for comparison -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DRIVER_ONNXRUNTIME_H
#define TPUC_DRIVER_ONNXRUNTIME_H

#include "tpuc/Support/OutputFile.h"
#include "tpuc/Support/Tensor.h"

#include <map>
#include <vector>

namespace tpuc {

struct OnnxRuntimeRequest {
  std::string model;
  std::map<std::string, Tensor> inputs;
  /// The inner tensors to compute; the outputs of the model come in any case.
  std::vector<std::string> tensors;
  unsigned numThreads = 1;
};

/// Runs a model with the ONNX Runtime of the `python3` on the path, in a process of its own, and
/// gives an npz of the tensors: a finished file beside `scratch` that goes when it is dropped.
/// Errors: no Python, no ONNX Runtime, or what ONNX Runtime says of the model.
Expected<OutputFile> runOnnxRuntime(const OnnxRuntimeRequest &request, const std::string &scratch);

} // namespace tpuc

#endif // TPUC_DRIVER_ONNXRUNTIME_H
