//===- BM1684XLayout.cpp - How the tensors of an op lie -------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/BM1684X/Codegen/BM1684XLayout.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Target/BM1684X/Codegen/Constants.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::bm1684x::backend {

// Not the machine's.
using mlir::Operation;

/// See OperandLayout::residentAlignment.
static std::optional<int64_t> residentAlignment(Operation *op, unsigned index,
                                                const TensorLayout &tensor,
                                                const FilterKind &filter) {
  // With words behind them filters are long, and would only hold up the first layer. The phases of
  // one channel are apart, so a part of the channels is in several places.
  const ChannelRows &rows = tensor.rows;
  if (tensor.form != OperandForm::PerChannel || tensor.parameters != Carried::Nothing ||
      !isConstantOperand(op, index) || !rows.isByLane || rows.phases() > 1)
    return std::nullopt;
  // Filters in blocks of input channels begin at whole lines of a lane.
  const bool isFilter = index == 1 && isa<tpu::ConvOp, tpu::DeconvOp>(op);
  const bool isInBlocks =
      isRecurrent(op) ? index != kRecurrentBias : isFilter && !filter.isDepthwise;
  return isInBlocks ? int64_t{kEuBytes} : int64_t{4};
}

/// Whether a constant matrix gets another order: short rows would be transferred one by one, and
/// cost as much as long ones.
static bool standsByLane(tpu::MatMulOp op, const TensorLayout &right) {
  constexpr int64_t kLongRow = 256;
  const int64_t rows = right.extents[kAxisC];
  return right.form == OperandForm::Tensor && !right.liesTurned && !op.getRightTranspose() &&
         isConstantOperand(op, 1) &&
         cast<RankedTensorType>(op.getRight().getType()).getRank() == 2 && rows > kLanes &&
         rows % int64_t{kLanes} == 0 && byteSize(right.type, right.extents[kAxisW]) < kLongRow;
}

static TensorLayout tensorLayoutOf(Operation *op, const TileModel &model, unsigned index,
                                   const FilterKind &filter) {
  TensorLayout tensor;
  const bool isResult = index == op->getNumOperands();
  tensor.form = operandForm(op, index);
  tensor.type = elementTypeOf(op, index);
  tensor.extents = isResult ? model.result : model.operands[index].extents;
  tensor.isLoaded = tensor.form != OperandForm::Absent;
  if (!tensor.isLoaded) {
    tensor.number = scalarOperand(op, index);
    return tensor;
  }
  if (auto product = dyn_cast<tpu::MatMulOp>(op); product && index == 1) {
    tensor.liesTurned = liesTurned(product);
    tensor.isByLane = standsByLane(product, tensor);
  }
  tensor.isAligned = tensor.form != OperandForm::PerChannel;
  if (carriesParameters(op, index))
    tensor.parameters = tensor.isAligned ? Carried::ColumnWords : Carried::ChannelWords;
  if (tensor.isAligned) {
    tensor.likeness = static_cast<uint8_t>(tensor.form);
  } else if (precOf(tensor.type)) {
    tensor.rows = channelRows(op, model, index, filter);
    tensor.residentAlignment = residentAlignment(op, index, tensor, filter);
  }
  return tensor;
}

BM1684XLayout::BM1684XLayout(Operation *op, const TileModel &model)
    : filter(filterKindOf(op, model)) {
  for (unsigned index = 0; index <= op->getNumOperands(); ++index)
    tensors.push_back(tensorLayoutOf(op, model, index, filter));
}

} // namespace tpuc::bm1684x::backend
