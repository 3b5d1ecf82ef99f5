//===- PickedParts.h - Values that are parts of others -------------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_DECOMPOSE_PICKEDPARTS_H
#define TPUC_CODEGEN_DECOMPOSE_PICKEDPARTS_H

#include "mlir/IR/Value.h"

#include <optional>

namespace tpuc::codegen {

/// What a value is a part of, along one dimension, and where it begins there.
struct Picked {
  mlir::Value from;
  int64_t begin = 0;
};

/// Where the part begins that `value` is of what a split along `axis` divides; none for others.
std::optional<Picked> splitPart(mlir::Value value, int64_t axis);

/// The same of a slice without steps.
std::optional<Picked> slicePart(mlir::Value value, int64_t axis);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_DECOMPOSE_PICKEDPARTS_H
