//===- CaffeImport.h - From a Caffe network to the top dialect - -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_FRONTEND_CAFFE_CAFFEIMPORT_H
#define TPUC_FRONTEND_CAFFE_CAFFEIMPORT_H

#include "tpuc/Frontend/Caffe/CaffeModel.h"
#include "tpuc/Frontend/ImportOptions.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tpuc::caffe {

/// The module of the top dialect for `model`: a few ops for each layer, tensors by the names that
/// the model gives them. Errors: layers of types that are not supported, all at once; inputs whose
/// shapes nobody states; `--output_names` that are no tensors; what a layer says of its bottoms,
/// settings and blobs.
Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importCaffe(mlir::MLIRContext &context, const CaffeModel &model, const ImportOptions &options);

/// The page docs/caffe-layers.md.
std::string supportMatrix();

} // namespace tpuc::caffe

#endif // TPUC_FRONTEND_CAFFE_CAFFEIMPORT_H
