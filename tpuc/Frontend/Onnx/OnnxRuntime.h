//===- OnnxRuntime.h - What ONNX Runtime computes, for comparison -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_ONNX_ONNXRUNTIME_H
#define TPUC_FRONTEND_ONNX_ONNXRUNTIME_H

#include "tpuc/Support/OutputFile.h"

#include <string>
#include <vector>

namespace tpuc::onnx {

struct OnnxRuntimeRequest {
  std::string model;
  /// An npz with an array per input.
  std::string inputs;
  /// The inner tensors to compute; the outputs of the model come in any case.
  std::vector<std::string> tensors;
  unsigned numThreads = 1;
  /// The Python to ask; empty: the one on the path, or else that of the source tree that this
  /// program was built in.
  std::string python;
};

/// Runs a model with the ONNX Runtime of a Python, in a process of its own, and gives an npz of the
/// tensors: a finished file beside `scratch` that goes when it is dropped.
/// Errors: no Python, no ONNX Runtime, or what ONNX Runtime says of the model.
Expected<OutputFile> runOnnxRuntime(const OnnxRuntimeRequest &request, const std::string &scratch);

} // namespace tpuc::onnx

#endif // TPUC_FRONTEND_ONNX_ONNXRUNTIME_H
