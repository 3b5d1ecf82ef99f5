//===- Moves.h - Ops that only move data ------------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM168X_CODEGEN_MOVES_H
#define TPUC_TARGET_BM168X_CODEGEN_MOVES_H

#include "tpuc/Support/Error.h"
#include "tpuc/Target/BM168x/GlobalTensor.h"

#include "mlir/IR/Operation.h"
#include <functional>

namespace tpuc::bm168x::backend {

/// What the transfers of a chip can do in global memory.
struct TransferForms {
  /// Whether they know elements of a type.
  bool (*takes)(DataType type);
  /// Whether one transfer exchanges c and w, and whether one gathers rows.
  bool hasTurn = false, hasGather = false;
};

/// Emits the transfers of a chip.
struct TransferEmitter {
  using TwoTensors =
      std::function<Expected<void>(const GlobalTensor &from, const GlobalTensor &to)>;
  TransferForms forms;
  TwoTensors copy;
  /// to[n,w,h,c] = from[n,c,h,w]; where the chip has it.
  TwoTensors turn;
  /// Whether to turn a matrix of so many rows and columns takes fewer cycles than to copy its
  /// elements one by one; always, where the chip does not say.
  std::function<bool(DataType type, int64_t rows, int64_t columns)> turnPays = {};
  /// All elements of a dense tensor become `value`.
  std::function<Expected<void>(const GlobalTensor &to, double value)> fill;
  /// Rows by indices that are computed, NaN where these are too large; where the chip has it.
  std::function<Expected<void>(const GlobalTensor &from, const GlobalTensor &indices,
                               const GlobalTensor &to)>
      gather;
};

/// Whether `op` changes the type of integers and no bit of them.
bool keepsBits(mlir::Operation *op);
/// Whether `op` copies elements from place to place and computes nothing.
bool isMove(mlir::Operation *op);
/// Errors (without `where`) say which form of the op is not known.
Expected<void> checkMove(const TransferForms &forms, mlir::Operation *op);
/// Errors (without `where`) where `op` reads elements of a type that a chip does not take.
Expected<void> checkElements(mlir::Operation *op, bool (*takes)(DataType type));
/// The transfers of `op`, whose tensors have addresses as encodings.
Expected<void> emitMove(const TransferEmitter &transfers, mlir::Operation *op);

} // namespace tpuc::bm168x::backend

#endif // TPUC_TARGET_BM168X_CODEGEN_MOVES_H
