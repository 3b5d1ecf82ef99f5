//===- LongRows.h - Rows too long for local memory, in parts ----*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel that reduces rows holds all of a row in a lane. Longer rows become parts that follow
// each other: the parts of all rows are the channels of pictures, so they fill all lanes, and
// several pictures are the tiles of a group. A row of 2^20 elements on 64 lanes:
//
//   [1, 1048576] -> [4, 64, 1, 4096] -> sums [4, 64, 1, 1] -> [1, 1, 1, 256] -> sum [1, 1, 1, 1]
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_DECOMPOSE_LONGROWS_H
#define TPUC_CODEGEN_DECOMPOSE_LONGROWS_H

#include "tpuc/Codegen/Decompose/OpMaker.h"
#include "tpuc/Codegen/Tile/TileModel.h"
#include "tpuc/Dialect/Tpu/CastOps.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace tpuc::codegen {

/// Elements [begin, begin + parts * size) of each row, as parts of `size`.
struct RowPiece {
  int64_t begin = 0;
  int64_t parts = 0;
  int64_t size = 0;
};

/// A tensor as [outer, extent, inner], whose rows along the middle are cut into pieces, and these
/// into parts.
class LongRows {
public:
  /// Every part is computed with what belongs to its own row. `ownsImages`: each row is an image of
  /// its own, whose channels are its parts; so operands may differ from part to part, the same for
  /// all rows.
  LongRows(OpMaker &maker, mlir::Value input, const AxisSpan &span, bool ownsImages = false);

  /// No parts fit.
  bool isEmpty() const { return pieces.empty(); }
  llvm::ArrayRef<RowPiece> all() const { return pieces; }

  /// The parts of a piece of `all()` of `value`, a tensor of the input's elements, as [n, c, 1,
  /// size] where `inner` is 1, else [n, c, size, inner].
  mlir::Value picture(mlir::Value value, const RowPiece &piece, llvm::StringRef what);
  /// The same of a tensor with the elements of one row, or those of `inner` 1, to go with
  /// `picture`: where there are several rows, each is an image.
  mlir::Value ofOneRow(mlir::Value row, const RowPiece &piece, llvm::StringRef what) const;

  /// One number for each part and inner element, of each row: [n, c, 1, w] of all pieces, joined to
  /// the parts of rows.
  mlir::Value joinParts(llvm::ArrayRef<mlir::Value> numbers, llvm::StringRef what) const;
  /// The same numbers in every row: one for each part of each piece, to go with the joined ones of
  /// `like`, whose element type they have.
  mlir::Value partWeights(llvm::function_ref<float(const RowPiece &)> weight, llvm::StringRef what,
                          mlir::Value like) const;

  /// Numbers [., ., 1, inner] of each row, as operands of `picture`.
  mlir::Value ofEachPart(mlir::Value numbers, const RowPiece &piece, llvm::StringRef what) const;
  /// The pieces of the op's result, joined to the input's dimensions, take its place. Where one
  /// conversion alone reads it, each piece is converted.
  void replaceResult(llvm::SmallVector<mlir::Value> pictures) const;

  /// Along what `picture` and `joinParts` have in the middle: ReduceSum, ReduceMax or ReduceMin.
  /// Leaves 1 element.
  mlir::Value reduced(mlir::Value picture, llvm::StringRef mode, llvm::StringRef what) const;

  const AxisSpan span;

private:
  /// What `conversion` makes of elements of its operand.
  mlir::Value converted(tpu::CastOp conversion, mlir::Value value, llvm::StringRef what) const;
  /// [n, c, ...] of `rows` parts of `size` elements.
  llvm::SmallVector<int64_t> pictureDims(int64_t rows, int64_t size) const;

  OpMaker &maker;
  bool ownsImages;
  llvm::SmallVector<int64_t> dims;
  llvm::SmallVector<RowPiece> pieces;
  /// The pieces of tensors.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> cuts;
};

/// The pieces that `rows` of a span are best cut into, for a chip of so many lanes that hold
/// `mostElements` of a part and its row; none where no part is short enough.
llvm::SmallVector<RowPiece> cutRows(const AxisSpan &span, int64_t lanes, int64_t mostElements,
                                    bool ownsImages);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_DECOMPOSE_LONGROWS_H
