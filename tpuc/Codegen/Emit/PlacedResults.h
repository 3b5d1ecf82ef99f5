//===- PlacedResults.h - Results of a layer in global memory -----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_EMIT_PLACEDRESULTS_H
#define TPUC_CODEGEN_EMIT_PLACEDRESULTS_H

#include "tpuc/Model/CompiledModel.h"

#include "mlir/IR/Operation.h"

namespace tpuc::codegen {

/// The results of a layer that have an address in global memory and a type that files state, under
/// the names of its tensors.
std::vector<model::TensorInfo> placedResults(mlir::Operation *op);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_EMIT_PLACEDRESULTS_H
