//===- TensorLayout.h - How tensors lie in both memories ------ -*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_TARGET_CV18XX_CODEGEN_TENSORLAYOUT_H
#define TPUC_TARGET_CV18XX_CODEGEN_TENSORLAYOUT_H

#include "tpuc/Codegen/Backend.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Target/CV18xx/Kernels/Products.h"

namespace tpuc::cv18xx::backend {

/// Bits of an address behind its tag.
inline constexpr unsigned kTagShift = 40;

/// Of a convolution: its filter is ones, which are not loaded but made.
inline constexpr llvm::StringLiteral kFilterOfOnes = "filter_of_ones";

/// How an operand of an op, or its result, lies in memory.
enum class Form : uint8_t {
  Absent,  ///< Not loaded: left out, part of another operand or of a command.
  Plain,   ///< Row-major in the order n, c, d, h, w; c over lanes.
  Turned,  ///< Like Plain; in global memory c lies behind w.
  Columns, ///< Matrices: columns over lanes, the rows of each behind each other.
  Matrix,  ///< Rows behind each other, each in equal pieces over lanes (`LocalMatrix`).
  Rows,    ///< Of a cell: as Matrix, the steps of all samples as rows and the features as columns.
  Gates,   ///< Of a cell: the filter of each gate as Matrix, its biases behind the rows.
  EveryLane, ///< Like Plain with one channel, which every lane has.
  Filter,    ///< A row for each output channel, and what `FilterLayout` adds.
  Table,     ///< 256 entries, the same in every lane.
};

/// The extents of a tensor of static shape.
llvm::ArrayRef<int64_t> extentsIn(mlir::Value value);
/// The constant that `value` is, whatever stands between; null if it is computed.
top::WeightOp constantOf(mlir::Value value);
/// Of operand `index` of `op`, or of its result (`index` = number of operands).
mlir::Value tensorOf(mlir::Operation *op, unsigned index);
/// The number that all elements of a constant operand are; none unless it has one element.
std::optional<double> numberOf(mlir::Operation *op, unsigned index);
/// A product of computed rows and a constant matrix.
bool hasConstantMatrix(mlir::Operation *op);
/// A product of computed matrices.
bool hasComputedMatrix(mlir::Operation *op);
/// An LSTM, a GRU or an RNN.
bool isCell(mlir::Operation *op);

/// Filters of convolutions and constant matrices, packed as [rows and parameters, elements of a
/// row]: the rows of all output channels, each [kh, kw, ic], then what the channels carry.
struct FilterLayout {
  int64_t channels = 0;
  /// Elements of a row.
  int64_t row = 0;
  /// Of a convolution without groups, the input channels of a row: integers are multiplied two
  /// channels at a time, so that an odd number gets one more, of zeros. 0 of all others.
  int64_t inputs = 0;
  bool isDepthwise = false;
  /// Of a transposed convolution, whose taps are turned round when they are loaded: kernel h and w.
  std::optional<std::array<int64_t, 2>> turnedTaps = std::nullopt;
  /// Of a matrix, whose columns are the channels.
  bool isMatrix = false;
  bool isBf16 = false;
  /// Bytes that each channel carries: packed parameters of integers, halves of a float32 bias, or a
  /// BF16 that is added afterwards (groups of channels, whose commands find no second half).
  int64_t carried = 0;
  /// Of a cell, whose gates have as many channels each.
  int64_t gates = 1;

  int64_t elementBytes() const { return isBf16 ? 2 : 1; }
  /// Rows that stand for what is carried, behind those of the channels.
  int64_t carriedRows() const;
  /// In each lane: rows of `count` channels, and what these carry.
  int64_t rowBytes(const Chip &chip, int64_t count) const;
  int64_t carriedBytes(const Chip &chip, int64_t count) const;
  /// Of Gates: the matrix of one gate with the rows of its biases, at `address` of local memory.
  LocalMatrix gate(int64_t number, int64_t address, const Chip &chip) const;
  /// The rows of biases.
  int64_t biasRows() const { return carried / 2; }
};

/// How an operand or a result lies in both memories.
struct TensorLayout : codegen::OperandLayout {
  Form form = Form::Absent;
  /// Of the whole tensor, as its model sees it.
  codegen::AxisExtents extents{};
  bool isBf16 = false;
  /// Of Filter.
  FilterLayout filter = {};
  /// Of Matrix and Columns: the rows that a product sees are the columns in global memory.
  bool isTurned = false;

  /// Of Matrix: the axes of a tile that a product sees as rows and columns.
  unsigned rowAxis() const { return isTurned ? codegen::kAxisW : codegen::kAxisC; }
  unsigned columnAxis() const { return isTurned ? codegen::kAxisC : codegen::kAxisW; }
  /// Bytes from one element to the next along each axis of global memory.
  std::array<uint64_t, codegen::kNumAxes> strides() const;

  /// A tile in local memory as commands see it, [n, c, d * h, w] or [n, columns, rows, 1]. Errors
  /// (without `where`): parts of a larger tile that no strides reach.
  Expected<LocalTensor> local(const Chip &chip, const codegen::LocalTile &tile) const;
  /// The same tile in the tensor that begins at `address` of global memory. Errors: parts along
  /// two axes between c and w.
  Expected<GlobalTensor> global(const codegen::Tile &tile, int64_t address) const;
  /// Of Rows: a whole tensor at `address` of local memory.
  LocalMatrix rows(int64_t address) const;
  /// The output channels of a Filter that a tile has.
  codegen::Range channels(const codegen::Tile &tile) const;
};

/// Those of an op.
class CV18xxLayout : public codegen::OpLayout {
public:
  CV18xxLayout(const Chip &chip, mlir::Operation *op, const codegen::TileModel &model);
  const TensorLayout &operand(unsigned index) const override { return tensors[index]; }
  /// Of a window, tiles beyond what a command takes fit in no lane.
  int64_t bytes(unsigned index, const codegen::Tile &tile) const override;

private:
  const Chip &chip;
  llvm::SmallVector<TensorLayout, 4> tensors;
  /// Whether the op is computed by a command whose extents are those of windows.
  bool isWindow;
};

inline const TensorLayout &layoutOf(const codegen::TiledOp &tiled, unsigned index) {
  return static_cast<const TensorLayout &>(tiled.model->layoutOf(index));
}

/// An address with a tag in global memory.
GlobalTensor placeOf(int64_t address);
/// The address of a tensor, or of the constant that it is; 0 as long as there is none.
int64_t addressIn(mlir::Value value);

/// That of operand `index`, which is a filter.
FilterLayout filterOf(mlir::Operation *op, unsigned index);

/// How a constant operand is packed; none: as it is. Errors: constants that cannot be read.
Expected<std::optional<codegen::PackedLayout>> packedLayout(mlir::OpOperand &operand);

} // namespace tpuc::cv18xx::backend

#endif // TPUC_TARGET_CV18XX_CODEGEN_TENSORLAYOUT_H
