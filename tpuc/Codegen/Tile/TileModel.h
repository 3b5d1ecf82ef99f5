//===- TileModel.h - How one op is divided into tiles -------------*- C++ -*- ===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_TILE_TILEMODEL_H
#define TPUC_CODEGEN_TILE_TILEMODEL_H

#include "tpuc/Codegen/Tile/OperandLayout.h"
#include "tpuc/Support/Error.h"
#include "tpuc/Target/Target.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include <memory>

namespace tpuc::codegen {

/// Which elements of an operand a range of the result is computed from, along one axis.
struct AxisMap {
  enum Kind : uint8_t {
    Same,       ///< The same ones.
    Whole,      ///< All, whatever the range.
    Window,     ///< Those that windows reach: output i begins at i * stride - pad.
    Transposed, ///< Those that reach it: input i adds to [i * stride - pad, ... + window).
    Scaled,     ///< Output i is made of input i / stride.
    Clamped,    ///< Output i is made of input i - pad, or of the closest one that there is.
    Mirrored,   ///< The same, mirrored at the first and the last one; at most all of them at once.
  };
  Kind kind = Same;
  int64_t stride = 1;
  /// From the first to the last element of a window, holes of a dilation among them.
  int64_t window = 1;
  int64_t pad = 0;
};

/// A range of an operand before it is cut to the elements that there are: what lies outside is
/// padding.
struct PaddedRange {
  Range range;
  int64_t padBegin = 0, padEnd = 0;
};

/// One operand of an op.
struct OperandModel {
  /// False for operands that are left out.
  bool isPresent = false;
  AxisExtents extents{};
  std::array<AxisMap, kNumAxes> maps{};
  /// What a range of the result is computed from: the exact halo.
  PaddedRange padded(unsigned axis, Range output) const;
  Tile slice(const Tile &output) const;
};

/// How an op sees its tensors, and what each tile of its result needs. Tensors are row-major in
/// the order n, c, d, h, w except where an op says otherwise (`tileModel`).
struct TileModel {
  llvm::SmallVector<OperandModel> operands;
  AxisExtents result{};
  /// Along which axes the result may be computed in parts.
  std::array<bool, kNumAxes> isTileable{};
  /// Parts begin at multiples of this.
  AxisExtents unit{1, 1, 1, 1, 1};
  /// How the chip lays the tensors; null unless a chip was asked (`Backend::modelOf`).
  std::shared_ptr<const OpLayout> layout = nullptr;

  /// Of operand `index`, or of the result (`index` = number of operands).
  const OperandLayout &layoutOf(unsigned index) const { return layout->operand(index); }
  /// Bytes of a tile of it in each lane of its memory space.
  int64_t localBytes(unsigned index, const Tile &tile) const { return layout->bytes(index, tile); }
  /// Bytes of room behind it, where its transfers have that.
  int64_t roomBytes(unsigned index, const Tile &tile) const {
    return layout->roomBytes(index, tile);
  }
};

/// The one result that an op gives: the first of those that are not left out.
mlir::Value givenResult(mlir::Operation *op);

/// A dimension along which an op works, or several that follow each other, and how many elements
/// stand in front of it and behind it.
struct AxisSpan {
  int64_t outer = 1, extent = 1, inner = 1;
};

/// That of a softmax, a pixel norm or a reduction of static shapes; none of other ops. Errors
/// (without `where`): axes that are not known, or reduced dimensions with others between them.
Expected<std::optional<AxisSpan>> spanOf(mlir::Operation *op);

/// Whether an op works along a dimension with others behind it.
bool worksInTheMiddle(mlir::Operation *op);

/// Whether an op shares its tiles with others.
enum class TileLayout : uint8_t {
  Flat,   ///< It may see its elements in any order.
  NCHW,   ///< Element-wise ops see channels and pictures.
  Matrix, ///< They see the rows of matrices.
};

/// The layout of layers that make a group: rows where there are products, softmaxes or layer norms
/// and no windows over pictures.
TileLayout tileLayoutOf(llvm::ArrayRef<mlir::Operation *> layers);

/// Whether elements of an op's result are made of those in the same place of its operands, beside
/// single numbers and tables.
bool isElementwise(mlir::Operation *op);

/// Whether an element-wise op sees its elements in any order when it is alone on `target`: several
/// that follow each other can do the same.
bool takesAnyOrder(mlir::Operation *op, const TargetInfo &target);

/// The layout that each of several layers is in: `Alone` those of which `takesAny` is true, and
/// which neither read nor are read by others of the layers; else that of all.
llvm::SmallVector<TileLayout> tileLayoutsOf(llvm::ArrayRef<mlir::Operation *> layers,
                                            llvm::function_ref<bool(mlir::Operation *)> takesAny);

/// The model of an op of static shapes on `target`, whose lanes alone it depends on:
///
/// * convolutions and pools: [N, C, spatial...]; `c` of a filter is its output channel
/// * pads with constant channels behind those of [N, C, H, W], and around pictures of [N, C, W] or
///   [N, C, H, W] with what they have at the edge, mirrored or not
/// * matrix products: n the batch, c the rows and w the columns of each matrix; the right one is
///   seen as [K, N] where it is a constant, else as it lies. Alone, the rows of all batches that
///   share a right matrix follow each other
/// * softmax and layer norm: c the dimension in front of the axis, n those in front of that, w the
///   axis and what follows. Alone, c is everything in front of the axis
/// * parts of the last dimension, and attention with all heads in a row: the same
/// * transposed rows: the dimensions aligned as those of element-wise ops
/// * reductions over the last dimensions: c everything in front, w what is reduced; of pictures in
///   a group n, c, h and w as others have them
/// * softmax, pixel norm and reductions along a dimension with others behind it (`spanOf`): n is
///   what stands in front of it, w that dimension and c what stands behind it
/// * recurrent cells: c the features, w the steps of all samples, of the result those of all
///   directions; `c` of filters and biases are the units of all gates and directions. Y is wanted,
///   or of an LSTM the last state of the cell
/// * element-wise ops: the dimensions aligned at the end as in broadcasting; of fewer than 4
///   dimensions the first is n, the second c, the third w (one alone: c), of more h is what lies
///   between. In layout of rows, n, c and w are as in products. Alone, where that would leave most
///   lanes idle and no operand is repeated along some dimensions only, c and w are any parts of the
///   elements in their order
///
/// Errors (without `where`) say what is not known of the op.
Expected<TileModel> tileModel(mlir::Operation *op, const TargetInfo &target,
                              TileLayout layout = TileLayout::Flat);

/// Whether `tileModel` knows ops of this name, in some form.
bool hasTileModel(mlir::OperationName op);

/// The extents n, c, d, h, w of a tensor of up to 5 dimensions.
Expected<AxisExtents> axisExtents(llvm::ArrayRef<int64_t> dims);

} // namespace tpuc::codegen

#endif // TPUC_CODEGEN_TILE_TILEMODEL_H
