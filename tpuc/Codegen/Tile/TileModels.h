//===- TileModels.h - The tile models of single kinds of ops ------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the table of TileModel.cpp is made of, a file for each family: windows over pictures, rows
// of matrices, recurrent cells, elements. Operands and results have static shapes.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_TILE_TILEMODELS_H
#define TPUC_CODEGEN_TILE_TILEMODELS_H

#include "tpuc/Codegen/Tile/TileModel.h"
#include "tpuc/Dialect/Tpu/AttentionOps.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/NormOps.h"
#include "tpuc/Dialect/Tpu/PoolOps.h"
#include "tpuc/Dialect/Tpu/RecurrentOps.h"
#include "tpuc/Dialect/Tpu/ReduceOps.h"
#include "tpuc/Dialect/Tpu/ResizeOps.h"

#include "mlir/IR/BuiltinTypes.h"

namespace tpuc::codegen::tiling {

//===--- What the families share -------------------------------------------===//

inline constexpr AxisMap kWhole{.kind = AxisMap::Whole};

inline llvm::ArrayRef<int64_t> dimsOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType()).getShape();
}

/// Whether an operand or result is left out.
inline bool isAbsent(mlir::Value value) { return mlir::isa<mlir::NoneType>(value.getType()); }

/// An operand of which every tile of the result needs all.
OperandModel wholeOperand(const AxisExtents &extents);

/// An operand with one element, or one row, for each channel of the result.
OperandModel perChannel(mlir::Value value, const AxisExtents &extents);

/// Rows of a matrix over lanes: dimensions [..., rows, columns] as [n, rows, 1, columns].
llvm::SmallVector<int64_t> matrixDims(llvm::ArrayRef<int64_t> dims);

/// The span of one dimension, which counts from the end where it is negative.
AxisSpan spanAt(llvm::ArrayRef<int64_t> dims, int64_t axis);

//===--- Pictures (WindowModels.cpp) ---------------------------------------===//

Expected<TileModel> convModel(tpu::ConvOp op);
Expected<TileModel> deconvModel(tpu::DeconvOp op);
Expected<TileModel> poolModel(tpu::MaxPoolOp op);
Expected<TileModel> poolModel(tpu::AvgPoolOp op);
Expected<TileModel> preluModel(tpu::PReluOp op);
Expected<TileModel> instanceNormModel(tpu::InstanceNormOp op);
Expected<TileModel> upsampleModel(tpu::UpsampleOp op);
Expected<TileModel> interpModel(tpu::InterpOp op);
/// Of rows under windows as channels.
Expected<TileModel> packRowsModel(tpu::PackRowsOp op);
/// Of channels as rows, or rows as channels.
Expected<TileModel> transposeModel(tpu::TransposeOp op);
/// Of constant channels behind those of pictures, or of what lies around pictures.
Expected<TileModel> padModel(tpu::PadOp op);

//===--- Rows (RowModels.cpp) ----------------------------------------------===//

Expected<TileModel> matMulModel(tpu::MatMulOp op, TileLayout layout);
Expected<TileModel> softmaxModel(tpu::SoftmaxOp op, TileLayout layout);
Expected<TileModel> pixelNormModel(tpu::PixelNormOp op);
Expected<TileModel> layerNormModel(tpu::LayerNormOp op, TileLayout layout);
Expected<TileModel> layerNormModel(tpu::RMSNormOp op, TileLayout layout);
Expected<TileModel> columnTileModel(tpu::SliceOp op);
Expected<TileModel> columnConcatModel(tpu::ConcatOp op);
Expected<TileModel> attentionModel(tpu::ScaleDotProductAttentionOp op);
Expected<TileModel> reduceModel(tpu::ReduceOp op, TileLayout layout);
Expected<TileModel> cumSumModel(tpu::CumSumOp op, TileLayout layout);

//===--- Cells (RecurrentModels.cpp) ---------------------------------------===//

Expected<TileModel> recurrentModel(tpu::LSTMOp op);
Expected<TileModel> recurrentModel(tpu::GRUOp op);
Expected<TileModel> recurrentModel(tpu::RNNOp op);

//===--- Elements (ElementwiseModels.cpp) ----------------------------------===//

/// How many lanes and elements in each the model aims at where the dimensions do not matter.
struct Spread {
  int64_t lanes = 0, width = 0;
};

/// All lanes, and rows of which a lane holds four of 32 bits for each element.
Spread spreadOf(const TargetInfo &target);

/// The model of an op whose tensors have known shapes (TileModel.cpp). Errors (without `where`):
/// others.
Expected<TileModel> checkedModel(mlir::Operation *op, TileLayout layout, const Spread &spread);

/// Everything is element-wise; operands of extent 1 are repeated.
Expected<TileModel> elementwiseModel(mlir::Operation *op, mlir::ValueRange operands,
                                     TileLayout layout = TileLayout::NCHW);

/// The view of an element-wise op of `operands`: by their dimensions, or by others where nothing
/// else reads its tiles.
Expected<TileModel> freeModel(mlir::Operation *op, mlir::ValueRange operands, TileLayout layout,
                              const Spread &spread);

/// A table is the same for all elements.
Expected<TileModel> tableModel(tpu::LutOp op, TileLayout layout, const Spread &spread);

} // namespace tpuc::codegen::tiling

#endif // TPUC_CODEGEN_TILE_TILEMODELS_H
