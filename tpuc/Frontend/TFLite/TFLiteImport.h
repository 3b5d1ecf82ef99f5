//===- TFLiteImport.h - From a TFLite model to the top dialect - -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_TFLITE_TFLITEIMPORT_H
#define TPUC_FRONTEND_TFLITE_TFLITEIMPORT_H

#include "tpuc/Frontend/ImportOptions.h"
#include "tpuc/Frontend/TFLite/TFLiteModel.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tpuc::tflite {

/// The module of the top dialect for `model`: a few ops for each of its ops. Tensors keep their
/// names; one that has its channels in second place ends in `_nchw`. Errors: ops that are not
/// supported, all at once; `--output_names` that are no tensors; what an op says of its inputs and
/// options.
Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importTFLite(mlir::MLIRContext &context, const TFLiteModel &model, const ImportOptions &options);

/// The page docs/tflite-operators.md.
std::string supportMatrix();

} // namespace tpuc::tflite

#endif // TPUC_FRONTEND_TFLITE_TFLITEIMPORT_H
