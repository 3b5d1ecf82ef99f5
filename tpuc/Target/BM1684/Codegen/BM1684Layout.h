//===- BM1684Layout.h - Layouts of an op's tensors ------------ -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_BM1684_CODEGEN_BM1684LAYOUT_H
#define TPUC_TARGET_BM1684_CODEGEN_BM1684LAYOUT_H

#include "tpuc/Target/BM1684/Codegen/TensorLayout.h"

namespace tpuc::bm1684::backend {

/// How all tensors of an op lie on the BM1684, tiled as its model says.
class BM1684Layout : public codegen::OpLayout {
public:
  BM1684Layout(mlir::Operation *op, const codegen::TileModel &model);

  const TensorLayout &operand(unsigned index) const override { return tensors[index]; }
  int64_t bytes(unsigned index, const codegen::Tile &tile) const override {
    return tensors[index].bytes(tile);
  }
  int64_t roomBytes(unsigned index, const codegen::Tile &tile) const override {
    return tensors[index].roomBytes(tile);
  }
  const TensorLayout &result() const { return tensors.back(); }
  /// Operands and, behind them, the result.
  unsigned numTensors() const { return static_cast<unsigned>(tensors.size()); }

private:
  llvm::SmallVector<TensorLayout, 4> tensors;
};

/// The layout of a model that this chip's back end has made.
inline const BM1684Layout &layoutOf(const codegen::TileModel &model) {
  return static_cast<const BM1684Layout &>(*model.layout);
}
inline const BM1684Layout &layoutOf(const codegen::TiledOp &tiled) {
  return layoutOf(*tiled.model);
}

/// Whether a convolution has one input and one output channel in each of several groups.
bool isDepthwise(mlir::Operation *op, const codegen::TileModel &model);

/// How a constant operand of an op is packed; none where it is as it is written.
std::optional<codegen::PackedLayout> packedLayoutOf(mlir::OpOperand &operand);

} // namespace tpuc::bm1684::backend

#endif // TPUC_TARGET_BM1684_CODEGEN_BM1684LAYOUT_H
