//===- NullLayout.h - How operands lie on null ------------------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_NULL_CODEGEN_NULLLAYOUT_H
#define TPUC_TARGET_NULL_CODEGEN_NULLLAYOUT_H

#include "tpuc/Codegen/Backend.h"

namespace tpuc::Null {

/// How an operand of an op, or its result, lies in memory.
enum class Form : uint8_t {
  Plain,      ///< Row-major in the order n, c, d, h, w.
  Turned,     ///< The same in global memory with w in front of c; d and h are 1.
  PerChannel, ///< A constant with a row for each channel, without gaps between rows in a lane.
};

/// The form of operand `index` of `op`, or of its result (`index` = number of operands).
Form formOf(mlir::Operation *op, unsigned index);

/// The memory space of constants with rows for channels.
inline constexpr unsigned kWeightSpace = 1;

/// Where elements of a tensor are in its row-major order. The element at [n, c, d, h, w] is the sum
/// of the coordinates times `strides`; w counts `inner` elements that follow each other, behind
/// which `outerStride` elements lead to the next ones.
struct ElementOrder {
  std::array<int64_t, codegen::kNumAxes> strides{};
  int64_t inner = 1, outerStride = 0;

  int64_t at(int64_t n, int64_t c, int64_t d, int64_t h, int64_t w) const {
    return n * strides[0] + c * strides[1] + d * strides[2] + h * strides[3] +
           w / inner * outerStride + w % inner * strides[4];
  }
};

/// How an operand or a result lies in both memories.
struct TensorLayout : codegen::OperandLayout {
  Form form = Form::Plain;
  /// Of the whole tensor, as its model sees it.
  codegen::AxisExtents extents{};
  /// Where its elements are in global memory, unless they are packed.
  ElementOrder order;
};

/// Those of an op.
class NullLayout : public codegen::OpLayout {
public:
  NullLayout(const TargetInfo &target, mlir::Operation *op, const codegen::TileModel &model);
  const TensorLayout &operand(unsigned index) const override { return tensors[index]; }
  int64_t bytes(unsigned index, const codegen::Tile &tile) const override;

private:
  const TargetInfo &target;
  llvm::SmallVector<TensorLayout, 4> tensors;
};

/// The layouts of a model that null's back end has made.
inline const NullLayout &layoutOf(const codegen::TileModel &model) {
  return static_cast<const NullLayout &>(*model.layout);
}

/// A tile in the lanes: channel number i of it is in lane i % lanes, the i / lanes-th there.
struct LaneLayout {
  LaneLayout(const TargetInfo &target, const TensorLayout &tensor, const codegen::Tile &tile);

  /// Bytes in each lane.
  int64_t bytes() const;
  int64_t lane(int64_t c) const { return (c - tile[codegen::kAxisC].begin) % lanes; }
  /// The byte in its lane, from the tile's first on, of an element that is in the tile.
  int64_t offset(int64_t n, int64_t c, int64_t d, int64_t h, int64_t w) const;

  codegen::Tile tile;
  int64_t lanes, slots, elementBytes, channelBytes;
};

/// Calls `visit(n, c, d, h)` for each row along w of `tile`.
template <typename Visit> void forEachRow(const codegen::Tile &tile, Visit visit) {
  using namespace codegen;
  for (int64_t n = tile[kAxisN].begin; n < tile[kAxisN].end(); ++n)
    for (int64_t c = tile[kAxisC].begin; c < tile[kAxisC].end(); ++c)
      for (int64_t d = tile[kAxisD].begin; d < tile[kAxisD].end(); ++d)
        for (int64_t h = tile[kAxisH].begin; h < tile[kAxisH].end(); ++h)
          visit(n, c, d, h);
}

/// How a constant operand is packed, as [lanes, elements]: none for others.
std::optional<codegen::PackedLayout> packedLayout(mlir::OpOperand &operand, int64_t lanes);

} // namespace tpuc::Null

#endif // TPUC_TARGET_NULL_CODEGEN_NULLLAYOUT_H
