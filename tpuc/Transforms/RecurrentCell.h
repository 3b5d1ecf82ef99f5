//===- RecurrentCell.h - One step of an LSTM or GRU --------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TRANSFORMS_RECURRENTCELL_H
#define TPUC_TRANSFORMS_RECURRENTCELL_H

#include "tpuc/Transforms/Parts.h"

namespace tpuc {

/// Element `index` along dimension `axis`, 0 or 1, of a sequence of three dimensions.
struct Step {
  mlir::Value sequence;
  int64_t axis = 0;
  int64_t index = 0;
};

/// Columns from `begin` on of a product with a constant matrix.
struct Product {
  mlir::Value source;       ///< What is multiplied: [N, terms], or a whole sequence,
  std::optional<Step> step; ///< and then the step of it that is meant.
  mlir::Value weight;
  bool isTransposed;
  int64_t begin;
};

/// The argument of an activation function.
struct Gate {
  llvm::SmallVector<Product> products;
  Doubles bias;

  explicit Gate(int64_t size = 0) : bias(static_cast<size_t>(size), 0.0) {}
};

/// What one step computes. Its gates stand in the order of the op: i o f c, or z r n.
struct Cell {
  llvm::SmallVector<Gate> gates;
  /// GRU: what the reset gate multiplies behind the product; it has no product with the input.
  std::optional<Gate> reset;
  /// GRU: r * h, where the reset gate multiplies in front of the product.
  mlir::Value gated;
  mlir::Value before, after;         ///< h.
  mlir::Value cellBefore, cellAfter; ///< c, of LSTM.
  Step input;
};

/// `value`, [N, I], as a step of a sequence; whoever else reads the op that takes it out may do so.
std::optional<Step> stepOf(mlir::Value value);

/// The step of an LSTM, or of a GRU, that makes the state `h`. Its input is not set.
std::optional<Cell> takeLstmCell(Interior &interior, mlir::Value h);
std::optional<Cell> takeGruCell(Interior &interior, mlir::Value h);

} // namespace tpuc

#endif // TPUC_TRANSFORMS_RECURRENTCELL_H
