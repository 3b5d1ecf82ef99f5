//===- OpOrder.h - Orders of ops and what they keep alive -------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_SCHEDULE_OPORDER_H
#define TPUC_CODEGEN_SCHEDULE_OPORDER_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace tpuc::codegen {

/// The ops of a block that are not constants, in an order, and the bytes alive meanwhile.
class Liveness {
public:
  explicit Liveness(mlir::Block &block);

  /// What an op reads that is no constant, each value once; bodies read values from around them.
  llvm::ArrayRef<mlir::Value> reads(mlir::Operation *op) const { return read.find(op)->second; }
  /// How many bytes more are alive behind `op` than before it.
  int64_t growth(mlir::Operation *op) const;
  /// Goes on to behind `op`.
  void run(mlir::Operation *op);

  int64_t peak = 0;
  /// Of the bytes alive behind each op.
  int64_t sum = 0;

private:
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> read;
  llvm::DenseMap<mlir::Value, int64_t> users;
  int64_t alive = 0;
};

/// The ops of a block that are not constants, as they stand.
llvm::SmallVector<mlir::Operation *> orderOf(mlir::Block &block);

/// The most bytes alive at once in an order of those ops, then all over time.
std::pair<int64_t, int64_t> memoryOf(mlir::Block &block, llvm::ArrayRef<mlir::Operation *> order);

/// Puts all of those ops in this order, constants in front of their first users.
void putInOrder(mlir::Block &block, llvm::ArrayRef<mlir::Operation *> order);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_SCHEDULE_OPORDER_H
