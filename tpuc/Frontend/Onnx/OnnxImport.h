//===- OnnxImport.h - ONNX models as modules of the top dialect --*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_ONNX_ONNXIMPORT_H
#define TPUC_FRONTEND_ONNX_ONNXIMPORT_H

#include "tpuc/Frontend/ImportOptions.h"
#include "tpuc/Frontend/Onnx/OnnxModel.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tpuc::onnx {

struct OnnxImportOptions : ImportOptions {
  /// The .onnx file.
  std::string path;
};

/// Imports the model `options.path`:
/// - a module with `module.name`, `module.chip` ALL, `module.state` TOP_F32, `module.platform` ONNX
///   and `module.weight_file`, and a function `main` with a `top.Input` per input;
/// - one op per node where the dialect has it, else a few; the location is the name of the tensor
///   that it makes, of several in their order fused; functions of the model are expanded;
/// - constants are in the dialect's store for `weightFile`, as views of the mapped file where they
///   lie aligned in it;
/// - ops on constants of few elements are computed at once where an evaluator is attached, so that
///   shapes that the network computes are known.
/// Errors: as OnnxModel::open and GraphPlan::make; ops, types and attributes that there are not,
/// ops all at once; operands that do not fit, with the name of the node.
Expected<mlir::OwningOpRef<mlir::ModuleOp>> importOnnx(mlir::MLIRContext &context,
                                                       const OnnxImportOptions &options);
/// The same for a model that is open.
Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importOnnx(mlir::MLIRContext &context, const OnnxModel &model, const ImportOptions &options);

/// The table of the ops that can be imported, as a page of documentation (Markdown).
std::string supportMatrix();

} // namespace tpuc::onnx

#endif // TPUC_FRONTEND_ONNX_ONNXIMPORT_H
