//===- OperandForm.cpp - In which form operands lie -----------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/OperandForm.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Codegen/Tile/TileModel.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/AttentionOps.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/CastOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MovementOps.h"
#include "tpuc/Dialect/Tpu/NormOps.h"
#include "tpuc/Dialect/Tpu/ReduceOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"
#include "tpuc/Target/BM1684X/Codegen/Constants.h"
#include "tpuc/Target/BM1684X/Kernels/LocalTensor.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

static Value valueAt(Operation *op, unsigned index) {
  return index < op->getNumOperands() ? op->getOperand(index) : givenResult(op);
}

bool isQuantized(Operation *op) {
  return op->getNumOperands() > 0 && tpu::isQuantized(op->getOperand(0));
}

bool carriesParameters(Operation *op, unsigned index) {
  if (index != 1 || !isQuantized(op))
    return false;
  if (isa<tpu::ConvOp, tpu::DeconvOp>(op))
    return true;
  if (isa<tpu::MatMulOp>(op))
    return isConstantOperand(op, 1);
  return isa<tpu::PReluOp>(op) &&
         cast<RankedTensorType>(op->getOperand(1).getType()).getNumElements() > 1;
}

DataType elementTypeOf(Operation *op, unsigned index) {
  return storageDataType(valueAt(op, index).getType()).value_or(DataType::F32);
}

bool isChannelConstant(Operation *op, unsigned index) {
  const bool isSlope = isa<tpu::PReluOp>(op) && index == 1;
  if (!isSlope && !isa<tpu::AddOp, tpu::SubOp, tpu::MulOp, tpu::DivOp, tpu::MaxOp, tpu::MinOp>(op))
    return false;
  if (index >= op->getNumOperands() || isQuantized(op) || !isConstantOperand(op, index))
    return false;
  auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  auto numbers = dyn_cast<RankedTensorType>(op->getOperand(index).getType());
  if (!result || !numbers || !isFloat(elementTypeOf(op, index)) || result.getRank() < 3)
    return false;
  const int64_t channels = result.getDimSize(1);
  if (channels <= int64_t{kLanes} || numbers.getNumElements() != channels)
    return false;
  // Of one pixel, elements may be seen in any order.
  const int64_t axis = numbers.getRank() - result.getRank() + 1;
  return result.getNumElements() > channels &&
         (isSlope || (axis >= 0 && numbers.getDimSize(axis) == channels));
}

/// Whether the right operand of a product is a constant for all of its batch.
static bool isConstantMatrix(tpu::MatMulOp op) {
  return isConstantOperand(op, 1) && cast<RankedTensorType>(op.getRight().getType()).getRank() == 2;
}

/// Whether an op takes a constant operand of one element as a number: one that is exact.
static bool takesNumber(Operation *op, unsigned index) {
  if (isQuantized(op))
    return isa<tpu::PReluOp>(op);
  // Numbers of constants are read as F32.
  constexpr double kMostExact = 1 << 24;
  if (!isFloat(elementTypeOf(op, index)) &&
      std::abs(scalarOperand(op, index).value_or(0)) > kMostExact)
    return false;
  if (isa<tpu::CompareOp>(op) || (isa<tpu::WhereOp>(op) && index > 0))
    return true;
  return isa<tpu::AddOp, tpu::SubOp, tpu::MulOp, tpu::DivOp, tpu::MaxOp, tpu::MinOp, tpu::PReluOp>(
      op);
}

static OperandForm matrixForm(tpu::MatMulOp op, unsigned index) {
  if (index == 2)
    return OperandForm::EveryLane;
  if (index == 0)
    return op.getLeftTranspose() ? OperandForm::Transposed : OperandForm::Tensor;
  // No command takes F32 columns: a constant is turned when it is packed.
  if (index > 2 || !op.getRightTranspose() || !isConstantMatrix(op) ||
      elementTypeOf(op, 1) == DataType::F32)
    return OperandForm::Tensor;
  return OperandForm::Columns;
}

bool liesTurned(tpu::MatMulOp op) {
  return op.getRightTranspose() &&
         (matrixForm(op, 1) == OperandForm::Columns || !isConstantMatrix(op));
}

/// Whether an operand or result of a convolution or cast is one pixel that lies as a row.
static bool isPixelRow(Operation *op, unsigned index) {
  return index == 0 ? tpu::readsPixelRow(op) : tpu::givesPixelRow(op);
}

/// Whether a mask of attention is the same for all queries.
static bool isForAllRows(Value mask) {
  const auto dims = cast<RankedTensorType>(mask.getType()).getShape();
  return dims.size() < 2 || dims[dims.size() - 2] == 1;
}

bool isColumnConcat(Operation *op) {
  // Of transfers, shorter rows take the same time.
  constexpr int64_t kShortRow = 256;
  auto concat = dyn_cast<tpu::ConcatOp>(op);
  auto whole = concat ? dyn_cast<RankedTensorType>(concat.getOutput().getType()) : nullptr;
  if (!whole || concat.getDoRelu() || whole.getRank() != 3 || whole.getShape()[1] <= 1)
    return false;
  if (const auto axis = static_cast<int64_t>(concat.getAxis()); axis != -1 && axis != 2)
    return false;
  const DataType type = elementTypeOf(op, op->getNumOperands());
  bool hasShort = false;
  for (OpOperand &operand : op->getOpOperands()) {
    auto part = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!part || isConstantOperand(op, operand.getOperandNumber()) ||
        elementTypeOf(op, operand.getOperandNumber()) != type)
      return false;
    hasShort |= byteSize(type, part.getShape()[2]) < kShortRow;
  }
  return hasShort;
}

OperandForm operandForm(Operation *op, unsigned index) {
  if (isa<NoneType>(valueAt(op, index).getType()))
    return OperandForm::Absent;
  // Filters and matrices carry the biases of integer sums.
  if (index == 2 && index < op->getNumOperands() && carriesParameters(op, 1))
    return OperandForm::Absent;
  if (carriesParameters(op, index) && !isa<tpu::MatMulOp>(op))
    return OperandForm::PerChannel;
  if (isa<tpu::ConvOp, tpu::DeconvOp>(op)) {
    if (index == 1 || index == 2)
      return OperandForm::PerChannel;
    return isPixelRow(op, index) ? OperandForm::PixelRow : OperandForm::Tensor;
  }
  if (auto product = dyn_cast<tpu::MatMulOp>(op))
    return matrixForm(product, index);
  if (isRecurrent(op))
    return bm168x::backend::recurrentForm<OperandForm>(op, index);
  if (index == 1 && isa<tpu::ReduceOp>(op))
    return OperandForm::Absent;
  // Steps take its place.
  if (auto lut = dyn_cast<tpu::LutOp>(op); index == 1 && lut && lut.getSteps())
    return OperandForm::Absent;
  const bool isResult = index == op->getNumOperands();
  if ((index == 0 || (isResult && !isa<tpu::ReduceOp>(op))) && worksInTheMiddle(op))
    return OperandForm::Transposed;
  if ((isa<tpu::LayerNormOp, tpu::PixelNormOp, tpu::RMSNormOp>(op) && (index == 1 || index == 2) &&
       index < op->getNumOperands()) ||
      (isa<tpu::LutOp>(op) && index == 1))
    return OperandForm::EveryLane;
  if (isa<tpu::CastOp>(op) && isPixelRow(op, index))
    return OperandForm::PixelRow;
  if (constexpr unsigned kMask = 3; isa<tpu::ScaleDotProductAttentionOp>(op) && index == kMask)
    return isForAllRows(op->getOperand(kMask)) ? OperandForm::EveryLane : OperandForm::Tensor;
  const bool isPlace = isa<tpu::SliceOp>(op) && index > 0 && index < op->getNumOperands();
  if (isPlace || (takesNumber(op, index) && scalarOperand(op, index)))
    return OperandForm::Absent;
  if (isChannelConstant(op, index))
    return OperandForm::PerChannel;
  return OperandForm::Tensor;
}

} // namespace tpuc::bm1684x::backend
