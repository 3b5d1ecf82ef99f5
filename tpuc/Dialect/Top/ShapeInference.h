//===- ShapeInference.h - What shape inference of all ops shares -----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_SHAPEINFERENCE_H
#define TPUC_DIALECT_TOP_SHAPEINFERENCE_H

#include "tpuc/Support/OpShapes/Dims.h"
#include "tpuc/Support/Sizes.h"
#include "tpuc/Support/Tensor.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include <optional>

namespace tpuc::top {

using Dims = llvm::SmallVector<int64_t>;
using shapes::kDynamic;
static_assert(kDynamic == mlir::ShapedType::kDynamic);

/// Whether `value` is a tensor, not the result of a `top.None`.
bool isPresent(mlir::Value value);
/// The extents of a tensor of which only the rank is known.
inline Dims unknownDims(int64_t rank) { return Dims(static_cast<size_t>(rank), kDynamic); }

/// The extents of a ranked tensor, kDynamic for those that are not known; none if it is unranked.
std::optional<Dims> dimsOf(mlir::Value value);
mlir::Type elementTypeOf(mlir::Value value);
/// The number of elements, at most Count::kMost; 0 unless all extents are known.
Count staticElements(mlir::Value value);

using shapes::dimsText;

/// Sets the type of result `index`: ranked with `dims`, or unranked. What the result's type already
/// says and `dims` leaves open stays; if both are known and differ, that is an error, and so is a
/// tensor that is too large (checkTensorSize).
llvm::LogicalResult setResult(mlir::Operation *op, unsigned index, mlir::Type element,
                              const std::optional<Dims> &dims);

/// The same for extents that are known.
llvm::LogicalResult setResult(mlir::Operation *op, unsigned index, mlir::Type element,
                              const shapes::Dims &dims);

/// numpy's broadcasting over all `operands`; none if one is unranked. Errors name the shapes.
llvm::FailureOr<std::optional<Dims>> broadcast(mlir::Operation *op,
                                               llvm::ArrayRef<mlir::Value> operands);

/// The value of a constant tensor, where `value` is one (a `top.Weight`), else none.
std::optional<Tensor> constantTensor(mlir::Value value);
/// The elements of a constant tensor of integers.
std::optional<Dims> constantInts(mlir::Value value);
/// The integers that an op takes from an attribute or else from a constant operand.
std::optional<Dims> intsOf(std::optional<mlir::ArrayAttr> attribute, mlir::Value operand);

/// `axis` counted from the front; an error of `op` unless -rank <= axis < rank.
llvm::FailureOr<int64_t> normalizeAxis(mlir::Operation *op, int64_t axis, int64_t rank);

/// The integers of an attribute.
Dims toInts(mlir::ArrayAttr attribute);

/// The same as what the functions of Support/OpShapes take.
shapes::Dims intVector(mlir::ArrayAttr attribute);
std::optional<shapes::Dims> intVector(std::optional<mlir::ArrayAttr> attribute);

} // namespace tpuc::top

#endif // TPUC_DIALECT_TOP_SHAPEINFERENCE_H
