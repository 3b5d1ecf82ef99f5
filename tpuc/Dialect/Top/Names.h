//===- Names.h - The names of layers and tensors -------------- -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_NAMES_H
#define TPUC_DIALECT_TOP_NAMES_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include <string>

namespace tpuc {

/// The name of the tensor that an op makes (its first result): the name in its location, else the
/// op's own name.
std::string layerName(mlir::Operation *op);
/// The names of all tensors that an op makes: those in its location, one per result.
llvm::SmallVector<std::string> tensorNames(mlir::Operation *op);

} // namespace tpuc

#endif // TPUC_DIALECT_TOP_NAMES_H
