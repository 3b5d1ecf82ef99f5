//===- TypeUtils.h - Element types of the IR and of tensors ----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_TYPEUTILS_H
#define TPUC_DIALECT_TOP_TYPEUTILS_H

#include "tpuc/Support/Tensor.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include <optional>
#include <vector>

namespace tpuc {

/// The type in which elements of `type` (an element type, or a tensor of it) are stored:
/// iN is signed, siN too, uiN unsigned, i1 boolean; a quantized type has its storage type, a
/// calibrated one its expressed type. None for types that tensors cannot hold.
std::optional<DataType> storageDataType(mlir::Type type);

/// The IR's element type for `type`: `i8` for I8, `ui8` for U8, `i1` for Bool.
mlir::Type elementType(mlir::MLIRContext *context, DataType type);

/// The ranked tensor type of a shape.
mlir::RankedTensorType tensorType(mlir::MLIRContext *context, DataType type, const Shape &shape);

/// The elements of an attribute of floats; none where it is left out.
std::vector<double> toDoubles(std::optional<mlir::ArrayAttr> attribute);

} // namespace tpuc

#endif // TPUC_DIALECT_TOP_TYPEUTILS_H
