//===- OnnxRuntime.h - What ONNX Runtime computes, for comparison -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_ONNX_ONNXRUNTIME_H
#define TPUC_FRONTEND_ONNX_ONNXRUNTIME_H

#include "tpuc/Frontend/Frontend.h"

namespace tpuc::onnx {

/// Runs the model with the ONNX Runtime of a Python, in a process of its own: its outputs and the
/// inner `tensors`. Errors: as frontend::runPython.
Expected<OutputFile> runOnnxRuntime(const ReferenceRequest &request,
                                    const std::vector<std::string> &tensors);

} // namespace tpuc::onnx

#endif // TPUC_FRONTEND_ONNX_ONNXRUNTIME_H
