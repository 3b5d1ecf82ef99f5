//===- NullLayout.cpp - How operands lie on null --------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Target/Null/Codegen/NullLayout.h"
#include "tpuc/Codegen/Layers.h"
#include "tpuc/Dialect/Top/StructureOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/BinaryOps.h"
#include "tpuc/Dialect/Tpu/ConvolutionOps.h"
#include "tpuc/Dialect/Tpu/MatrixOps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tpuc::codegen;

namespace tpuc::Null {

static Value valueOf(Operation *op, unsigned index) {
  return index < op->getNumOperands() ? op->getOperand(index) : givenResult(op);
}

static ArrayRef<int64_t> dimsOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// Whether a constant has a row for each channel of the result.
static bool hasChannelRows(Operation *op, unsigned index) {
  if (index == 0 || index >= op->getNumOperands() || !isConstantValue(op->getOperand(index)))
    return false;
  if (isa<tpu::PReluOp>(op)) {
    const ArrayRef<int64_t> dims = dimsOf(op->getOperand(index));
    return !dims.empty() && dims[0] != 1 && dims[0] == ShapedType::getNumElements(dims);
  }
  return isa<tpu::ConvOp, tpu::DeconvOp>(op) && index <= 2;
}

Form formOf(Operation *op, unsigned index) {
  const bool isResult = index == op->getNumOperands();
  if (hasChannelRows(op, index))
    return Form::PerChannel;
  if (auto product = dyn_cast<tpu::MatMulOp>(op)) {
    const bool isLeft = index == 0 && product.getLeftTranspose();
    // A matrix that is computed is taken as it lies.
    const bool isRight = index == 1 && product.getRightTranspose() &&
                         dimsOf(product.getRight()).size() == 2 &&
                         isConstantValue(product.getRight());
    return isLeft || isRight ? Form::Turned : Form::Plain;
  }
  return (index == 0 || isResult) && worksInTheMiddle(op) ? Form::Turned : Form::Plain;
}

/// The filter of a transposed convolution has its output channels behind the input's.
static bool isSwapped(Operation *op, unsigned index) {
  auto deconv = dyn_cast<tpu::DeconvOp>(op);
  return deconv && index == 1 && deconv.getGroup() == 1;
}

static ElementOrder orderOf(Operation *op, unsigned index, const TensorLayout &tensor) {
  const AxisExtents &extents = tensor.extents;
  ElementOrder order;
  order.strides[kAxisW] = 1;
  for (unsigned axis = kAxisW; axis-- > 0;)
    order.strides[axis] = order.strides[axis + 1] * extents[axis + 1];
  order.inner = extents[kAxisW];
  if (tensor.form == Form::Turned) {
    order.strides[kAxisC] = 1;
    order.strides[kAxisW] = extents[kAxisC];
  } else if (isSwapped(op, index)) {
    order.inner = ShapedType::getNumElements(dimsOf(op->getOperand(index)).drop_front(2));
    order.strides[kAxisC] = order.inner;
    order.outerStride = order.inner * extents[kAxisC];
  }
  return order;
}

NullLayout::NullLayout(const TargetInfo &target, Operation *op, const TileModel &model)
    : target(target) {
  constexpr int64_t kElement = 4;
  for (unsigned index = 0; index <= op->getNumOperands(); ++index) {
    const bool isResult = index == op->getNumOperands();
    const Type type = valueOf(op, index).getType();
    TensorLayout &tensor = tensors.emplace_back();
    tensor.isLoaded = !isa<NoneType>(type) && (isResult || model.operands[index].isPresent);
    tensor.type = storageDataType(type).value_or(DataType::F32);
    if (!tensor.isLoaded)
      continue;
    tensor.form = formOf(op, index);
    tensor.extents = isResult ? model.result : model.operands[index].extents;
    tensor.order = orderOf(op, index, tensor);
    tensor.isAligned = tensor.form != Form::PerChannel;
    if (tensor.isAligned) {
      tensor.likeness = static_cast<uint8_t>(tensor.form);
    } else {
      tensor.space = kWeightSpace;
      tensor.residentAlignment = kElement;
    }
  }
}

int64_t NullLayout::bytes(unsigned index, const Tile &tile) const {
  return LaneLayout(target, tensors[index], tile).bytes();
}

LaneLayout::LaneLayout(const TargetInfo &target, const TensorLayout &tensor, const Tile &tile)
    : tile(tile), lanes(target.tiles().lanes),
      slots(static_cast<int64_t>(llvm::divideCeil(tile[kAxisC].size, lanes))),
      elementBytes(byteSize(tensor.type, 1)) {
  channelBytes = tile[kAxisD].size * tile[kAxisH].size * tile[kAxisW].size * elementBytes;
  if (tensor.isAligned)
    channelBytes = static_cast<int64_t>(
        llvm::alignTo(static_cast<uint64_t>(channelBytes), target.tiles().align));
}

int64_t LaneLayout::bytes() const { return tile[kAxisN].size * slots * channelBytes; }

int64_t LaneLayout::offset(int64_t n, int64_t c, int64_t d, int64_t h, int64_t w) const {
  const int64_t slot = (n - tile[kAxisN].begin) * slots + (c - tile[kAxisC].begin) / lanes;
  const int64_t row = (d - tile[kAxisD].begin) * tile[kAxisH].size + h - tile[kAxisH].begin;
  return slot * channelBytes + (row * tile[kAxisW].size + w - tile[kAxisW].begin) * elementBytes;
}

std::optional<PackedLayout> packedLayout(OpOperand &operand, int64_t lanes) {
  Operation *op = operand.getOwner();
  const unsigned index = operand.getOperandNumber();
  if (!hasChannelRows(op, index))
    return std::nullopt;
  const ArrayRef<int64_t> dims = dimsOf(operand.get());
  if (isSwapped(op, index)) {
    const auto slots = static_cast<int64_t>(llvm::divideCeil(dims[1], lanes));
    const int64_t taps = ShapedType::getNumElements(dims.drop_front(2));
    PackedLayout layout{.shape = {lanes, slots * dims[0] * taps},
                        .blocks = {lanes, slots, dims[0], taps},
                        .order = {2, 1, 0, 3},
                        .padded = SmallVector<int64_t>(dims)};
    layout.padded[1] = slots * lanes;
    return layout;
  }
  const auto slots = static_cast<int64_t>(llvm::divideCeil(dims[0], lanes));
  const int64_t row = ShapedType::getNumElements(dims.drop_front());
  PackedLayout layout{.shape = {lanes, slots * row},
                      .blocks = {lanes, slots, row},
                      .order = {1, 0, 2},
                      .padded = SmallVector<int64_t>(dims)};
  layout.padded[0] = slots * lanes;
  return layout;
}

} // namespace tpuc::Null
