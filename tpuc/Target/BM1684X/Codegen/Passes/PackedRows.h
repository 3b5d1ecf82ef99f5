//===- PackedRows.h - A convolution whose rows are channels -----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_CODEGEN_PASSES_PACKEDROWS_H
#define TPUC_TARGET_BM1684X_CODEGEN_PASSES_PACKEDROWS_H

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Codegen/Group/GroupCosts.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Target/BM1684X/Codegen/Passes/RowPacking.h"

namespace tpuc::bm1684x::backend {

/// Whether `op` is a convolution of pictures in one group whose windows have no holes, with a
/// filter and a bias that are constants.
bool hasPlainWindows(tpu::ConvOp op);

/// How long the engine that computes takes for a convolution in one group like `op` with a filter
/// and a result of other dimensions. None: types that it does not compute on.
std::optional<int64_t> convolutionCycles(mlir::Operation *op, std::array<int64_t, 4> filter,
                                         std::array<int64_t, 4> result);

/// How long that engine takes for a layer by what it takes for its first rows. None: what the chip
/// does not compute.
std::optional<int64_t> sampledCycles(mlir::Operation *op, codegen::GroupCosts &costs,
                                     const codegen::Backend &backend);

/// A packing.
struct RowChoice {
  RowPacking packing;
  /// Whether a conversion of the network's input that only the convolution reads is of stacked
  /// rows, not of the input.
  bool isBeforeCast = false;
  /// Whether rows are stacked in local memory, by a layer of its own: not while they are loaded.
  bool isLocal = false;
};

/// A convolution, what is computed of its result element by element, and what its rows may become.
class PackedRows {
public:
  PackedRows(tpu::ConvOp op, const codegen::Backend &backend);

  /// Whether it is a convolution whose rows can be packed at all.
  bool mayBePacked() const { return window.has_value(); }
  /// The packings with which the engine that computes has less to do, the least first.
  std::vector<RowChoice> faster();
  /// Puts other ops in the place of these, whose constants are still empty. False: the rows cannot
  /// be packed so, and nothing has changed.
  bool apply(const RowChoice &choice);
  /// Whether the chip can compute the ops that `apply` made.
  bool fits() const;
  /// Fills the constants and erases what is no longer read.
  Expected<void> commit();
  /// The convolution that alone reads the result; null for others. Behind `apply` that counts only
  /// where the result's rows are packed.
  tpu::ConvOp user();

  /// The ops that `apply` looks at or changes.
  llvm::SmallVector<mlir::Operation *> ops();
  /// The last of the ops that it was at the start.
  mlir::Operation *last() { return chain.empty() ? op.getOperation() : chain.back(); }

private:
  std::optional<int64_t> computeCycles(const RowPacking &packing);
  int64_t chainCycles(const RowChoice &choice);
  bool canStackLocally(const RowPacking &how);
  int64_t stackingCycles(const RowPacking &how);
  std::vector<RowChoice> choices();
  tpu::UnpackRowsOp unpacked() { return op.getInput().getDefiningOp<tpu::UnpackRowsOp>(); }
  tpu::CastOp castOfInput();
  /// The conversion that is of stacked rows; null for none.
  tpu::CastOp movedCast() { return isBeforeCast ? castOfInput() : tpu::CastOp(); }
  /// What stands outside of the pictures in stacked rows; none: zeros.
  std::optional<RowMarks> marksFor(const RowPacking &how);
  std::vector<double> outsides();
  mlir::Value packedInput(mlir::OpBuilder &builder);
  mlir::Operation *packedClone(mlir::Operation *from, mlir::Value read, mlir::Value input,
                               mlir::OpBuilder &builder);
  mlir::Value emptyWeight(mlir::Value like, llvm::ArrayRef<int64_t> dims, mlir::OpBuilder &builder);

  tpu::ConvOp op;
  const codegen::Backend &backend;
  std::optional<RowWindows> window;
  int64_t kernelColumns = 1, strideColumns = 1, padLeft = 0, padRight = 0;
  llvm::SmallVector<mlir::Operation *> chain;

  /// What was applied.
  RowPacking packing;
  bool isBeforeCast = false;
  bool isLocal = false;
  tpu::ConvOp packed;
  llvm::SmallVector<mlir::Operation *> made;
  /// The ops that are no longer read.
  llvm::SmallVector<mlir::Operation *> replaced;
};

} // namespace tpuc::bm1684x::backend

#endif // TPUC_TARGET_BM1684X_CODEGEN_PASSES_PACKEDROWS_H
