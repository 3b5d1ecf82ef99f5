//===- OpChecks.h - What verifiers of several ops share ---------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_DIALECT_TOP_OPCHECKS_H
#define TPUC_DIALECT_TOP_OPCHECKS_H

#include "tpuc/Dialect/Top/ShapeInference.h"

namespace tpuc::top {

/// Which of an operand and of the attribute that stands for its constant form an op must have.
enum class Forms : uint8_t { AtMostOne, One };

/// An error of `op` unless `operand` and the attribute `name` are given as `forms` says.
llvm::LogicalResult verifyForms(mlir::Operation *op, llvm::StringRef name, mlir::Value operand,
                                Forms forms);
/// An error of `op` unless `value`, the operand `name`, is left out or holds i32, ui32 or
/// i64.
llvm::LogicalResult verifyIndexType(mlir::Operation *op, llvm::StringRef name, mlir::Value value);
/// An error of `op` unless `values`, at least one, have elements of one type. Those of other
/// dialects (calibrated, quantized) go with all.
llvm::LogicalResult verifySameElements(mlir::Operation *op, mlir::ValueRange values);
/// An error of `op` unless the attribute `name` holds one of `allowed`.
llvm::LogicalResult verifyChoice(mlir::Operation *op, llvm::StringRef name, llvm::StringRef found,
                                 llvm::ArrayRef<llvm::StringRef> allowed);
/// An error of `op` unless the operand `name` is unranked or has rank `rank`.
llvm::LogicalResult verifyRank(mlir::Operation *op, llvm::StringRef name, mlir::Value value,
                               int64_t rank);

/// The number of elements of a vector whose extent is known: how many integers an operand holds.
std::optional<int64_t> vectorLength(mlir::Value value);
/// The same of the operand `name` of `op`, each of whose integers stands for a dimension of a
/// tensor. Errors of `op`: more than Shape::kMaxRank of them.
llvm::FailureOr<std::optional<int64_t>> numDimensions(mlir::Operation *op, llvm::StringRef name,
                                                      mlir::Value value);

/// Puts what is known of either extent into `extent`. False if both are known and differ.
bool mergeExtent(int64_t &extent, int64_t other);

/// The product of extents, at most Count::kMost; dynamic if one is, unless another is 0.
int64_t productOf(llvm::ArrayRef<int64_t> dims);

/// `axes` counted from the front of `rank` dimensions. Errors of `op`: one that does not exist or
/// is named twice.
llvm::FailureOr<Dims> normalizeAxes(mlir::Operation *op, llvm::ArrayRef<int64_t> axes,
                                    int64_t rank);

} // namespace tpuc::top

#endif // TPUC_DIALECT_TOP_OPCHECKS_H
