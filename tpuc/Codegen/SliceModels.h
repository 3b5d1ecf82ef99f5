//===- SliceModels.h - The slice models of single kinds of ops ------*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the table of SliceModel.cpp is made of, a file for each family: windows over pictures, rows
// of matrices, recurrent cells, elements. Operands and results have static shapes.
//
//===----------------------------------------------------------------------===//

#ifndef TPUC_CODEGEN_SLICEMODELS_H
#define TPUC_CODEGEN_SLICEMODELS_H

#include "tpuc/Codegen/SliceModel.h"
#include "tpuc/Dialect/Tpu/AttentionOps.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/NormOps.h"
#include "tpuc/Dialect/Tpu/PoolOps.h"
#include "tpuc/Dialect/Tpu/RecurrentOps.h"
#include "tpuc/Dialect/Tpu/ReduceOps.h"
#include "tpuc/Dialect/Tpu/ResizeOps.h"

#include "mlir/IR/BuiltinTypes.h"

namespace tpuc::codegen::slicing {

//===--- What the families share -------------------------------------------===//

inline constexpr AxisMap kWhole{.kind = AxisMap::Whole};

inline llvm::ArrayRef<int64_t> dimsOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType()).getShape();
}

/// Whether an operand or result is left out.
inline bool isAbsent(mlir::Value value) { return mlir::isa<mlir::NoneType>(value.getType()); }

/// An operand of which every slice of the result needs all.
OperandModel wholeOperand(const AxisExtents &extents);

/// An operand with one element, or one row, for each channel of the result.
OperandModel perChannel(mlir::Value value, const AxisExtents &extents);

/// Rows of a matrix over lanes: dimensions [..., rows, columns] as [n, rows, 1, columns].
llvm::SmallVector<int64_t> matrixDims(llvm::ArrayRef<int64_t> dims);

//===--- Pictures (WindowModels.cpp) ---------------------------------------===//

Expected<SliceModel> convModel(tpu::ConvOp op);
Expected<SliceModel> deconvModel(tpu::DeconvOp op);
Expected<SliceModel> poolModel(tpu::MaxPoolOp op);
Expected<SliceModel> poolModel(tpu::AvgPoolOp op);
Expected<SliceModel> preluModel(tpu::PReluOp op);
Expected<SliceModel> instanceNormModel(tpu::InstanceNormOp op);
Expected<SliceModel> upsampleModel(tpu::UpsampleOp op);
Expected<SliceModel> interpModel(tpu::InterpOp op);

//===--- Rows (RowModels.cpp) ----------------------------------------------===//

Expected<SliceModel> matMulModel(tpu::MatMulOp op, Company company);
Expected<SliceModel> softmaxModel(tpu::SoftmaxOp op, Company company);
Expected<SliceModel> pixelNormModel(tpu::PixelNormOp op);
Expected<SliceModel> layerNormModel(tpu::LayerNormOp op, Company company);
Expected<SliceModel> layerNormModel(tpu::RMSNormOp op, Company company);
Expected<SliceModel> columnSliceModel(tpu::SliceOp op);
Expected<SliceModel> attentionModel(tpu::ScaleDotProductAttentionOp op);
Expected<SliceModel> reduceModel(tpu::ReduceOp op, Company company);

//===--- Cells (RecurrentModels.cpp) ---------------------------------------===//

Expected<SliceModel> recurrentModel(tpu::LSTMOp op);
Expected<SliceModel> recurrentModel(tpu::GRUOp op);
Expected<SliceModel> recurrentModel(tpu::RNNOp op);

//===--- Elements (ElementwiseModels.cpp) ----------------------------------===//

/// How many lanes and elements in each the model aims at where the dimensions do not matter.
struct Spread {
  int64_t lanes = 0, width = 0;
};

/// All lanes, and rows of which a lane holds four of 32 bits for each element.
Spread spreadOf(const TargetInfo &target);

/// The model of an op whose tensors have known shapes (SliceModel.cpp). Errors (without `where`):
/// others.
Expected<SliceModel> checkedModel(mlir::Operation *op, Company company, const Spread &spread);

/// Everything is element-wise; operands of extent 1 are repeated.
Expected<SliceModel> elementwiseModel(mlir::Operation *op, mlir::ValueRange operands,
                                      Company company = Company::InGroup);

/// The view of an element-wise op of `operands`: by their dimensions, or by others where nothing
/// else reads its slices.
Expected<SliceModel> freeModel(mlir::Operation *op, mlir::ValueRange operands, Company company,
                               const Spread &spread);

/// A table is the same for all elements.
Expected<SliceModel> tableModel(tpu::LutOp op, Company company, const Spread &spread);

} // namespace tpuc::codegen::slicing

#endif // TPUC_CODEGEN_SLICEMODELS_H
