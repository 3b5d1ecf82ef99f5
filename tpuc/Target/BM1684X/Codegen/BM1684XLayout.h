//===- BM1684XLayout.h - How the tensors of an op lie -----------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684X_CODEGEN_BM1684XLAYOUT_H
#define TPUC_TARGET_BM1684X_CODEGEN_BM1684XLAYOUT_H

#include "tpuc/Target/BM1684X/Codegen/TensorLayout.h"

namespace tpuc::bm1684x::backend {

/// How all tensors of an op lie on the BM1684X, tiled as its model says.
class BM1684XLayout : public codegen::OpLayout {
public:
  BM1684XLayout(mlir::Operation *op, const codegen::TileModel &model);

  const TensorLayout &operand(unsigned index) const override { return tensors[index]; }
  int64_t bytes(unsigned index, const codegen::Tile &tile) const override {
    return tensors[index].bytes(tile);
  }
  const TensorLayout &result() const { return tensors.back(); }
  /// Operands and, behind them, the result.
  unsigned numTensors() const { return static_cast<unsigned>(tensors.size()); }

  /// Of a convolution.
  const FilterKind filter;

private:
  llvm::SmallVector<TensorLayout, 4> tensors;
};

/// The layout of a model that this chip's back end has made.
inline const BM1684XLayout &layoutOf(const codegen::TileModel &model) {
  return static_cast<const BM1684XLayout &>(*model.layout);
}
inline const BM1684XLayout &layoutOf(const codegen::TiledOp &tiled) {
  return layoutOf(*tiled.model);
}

} // namespace tpuc::bm1684x::backend

#endif // TPUC_TARGET_BM1684X_CODEGEN_BM1684XLAYOUT_H
