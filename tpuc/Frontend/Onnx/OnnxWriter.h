//===- OnnxWriter.h - What is left of a model, as ONNX -----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_ONNX_ONNXWRITER_H
#define TPUC_FRONTEND_ONNX_ONNXWRITER_H

#include "tpuc/Frontend/ImportOptions.h"
#include "tpuc/Frontend/Onnx/OnnxModel.h"
#include "tpuc/Support/OutputFile.h"

#include <vector>

namespace tpuc::onnx {

/// Writes the part of `model` that `outputs` need (none: the graph's own outputs) to `path`, and
/// without the elements of its weights to `path`.prototxt, in protobuf's text form. Constant nodes
/// and tensors that `constants` knows (it may be null) become initializers; nodes, initializers,
/// inputs and functions that nothing needs any more go. Weights are written one after the other,
/// straight from where they are mapped; where they and the rest would pass the 2 GiB that a
/// protobuf message can have, they go to `path`.data as external data.
/// `inputShapes`, one per input that is no initializer or none at all, take the place of the shapes
/// in the model; those of other tensors, which may no longer be true then, go. Gives the complete
/// files, to be committed by the caller. Errors: as GraphPlan::make, OnnxModel::read and
/// OutputFile.
Expected<std::vector<OutputFile>>
writeOptimizedOnnx(const OnnxModel &model, const std::vector<std::string> &outputs,
                   const std::string &path, const ConstantLookup &constants,
                   const std::vector<std::vector<int64_t>> &inputShapes = {});

} // namespace tpuc::onnx

#endif // TPUC_FRONTEND_ONNX_ONNXWRITER_H
