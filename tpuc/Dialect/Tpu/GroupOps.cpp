//===- GroupOps.cpp - Layers that a device computes in its local memory -----===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Tpu/GroupOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Tpu/ControlOps.h"
#include "tpuc/Dialect/Tpu/StoredType.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tpuc;

/// All loads, layers and stores say how they are computed in tiles, or none; those of a group with
/// a time do.
static LogicalResult verifyTiling(tpu::GroupOp group) {
  bool isTiled = group.getTimeAttr() != nullptr;
  for (Operation &op : group.getBody().front())
    if (auto member = dyn_cast<tpu::TiledInterface>(op))
      isTiled |= member.getGinfoAttr() != nullptr;
  for (Operation &op : group.getBody().front())
    if (auto member = dyn_cast<tpu::TiledInterface>(op);
        isTiled && member && !member.getGinfoAttr())
      return op.emitOpError("has no ginfo; expected it on each load, layer and store of a group "
                            "that is tiled");
  return success();
}

LogicalResult tpu::GroupOp::verify() {
  auto yield = dyn_cast<YieldOp>(getBody().front().back());
  if (!yield)
    return emitOpError("body does not end with tpu.Yield");
  if (yield->getNumOperands() != getNumResults())
    return emitOpError("body yields ")
           << yield->getNumOperands() << " values; expected " << getNumResults();
  for (auto [yielded, result] : llvm::zip_equal(yield->getOperands(), getResults()))
    if (failed(verifyCompatibleShape(yielded.getType(), result.getType())) ||
        getElementTypeOrSelf(yielded) != getElementTypeOrSelf(result))
      return emitOpError("body yields ") << yielded.getType() << "; expected " << result.getType();
  return verifyTiling(*this);
}

static LogicalResult verifyTransfer(Operation *op) {
  if (getElementTypeOrSelf(op->getOperand(0)) != getElementTypeOrSelf(op->getResult(0)))
    return op->emitOpError("result type is ")
           << op->getResult(0).getType() << "; expected the elements of "
           << op->getOperand(0).getType();
  return success();
}

LogicalResult tpu::LoadOp::verify() { return verifyTransfer(*this); }
LogicalResult tpu::StoreOp::verify() { return verifyTransfer(*this); }

LogicalResult tpu::UnpackOp::verify() {
  const auto input = cast<RankedTensorType>(getInput().getType());
  const auto output = cast<RankedTensorType>(getOutput().getType());
  const SmallVector<int64_t> blocks = top::toInts(getBlocks());
  const SmallVector<int64_t> padded = top::toInts(getPadded());
  SmallVector<int64_t> order = top::toInts(getOrder());
  if (!input.hasStaticShape() || !output.hasStaticShape() ||
      input.getElementType() != output.getElementType())
    return emitOpError("takes ") << input << " and gives " << output
                                 << "; expected static shapes of one element type";
  llvm::sort(order);
  if (order.size() != blocks.size() || !llvm::equal(order, llvm::seq<int64_t>(blocks.size())))
    return emitOpError("order is ")
           << getOrder() << "; expected each of the " << blocks.size() << " blocks once";
  const auto countOf = [](ArrayRef<int64_t> dims) {
    int64_t count = 1;
    for (int64_t extent : dims)
      if (extent <= 0 || llvm::MulOverflow(count, extent, count))
        return int64_t{-1};
    return count;
  };
  // Parameters may stand behind all blocks.
  const int64_t count = countOf(blocks);
  if (count < 0 || count > input.getNumElements() || countOf(padded) != count)
    return emitOpError("blocks ") << getBlocks() << " and padded " << getPadded()
                                  << " have not as many elements, or more than the "
                                  << input.getNumElements() << " of the input";
  if (static_cast<int64_t>(padded.size()) != output.getRank() ||
      !llvm::all_of(llvm::zip_equal(padded, output.getShape()),
                    [](auto pair) { return std::get<0>(pair) >= std::get<1>(pair); }))
    return emitOpError("padded is ")
           << getPadded() << "; expected at least the extents of " << output;
  return success();
}

LogicalResult tpu::PackRowsOp::verify() {
  const auto input = cast<RankedTensorType>(getInput().getType());
  const auto output = cast<RankedTensorType>(getOutput().getType());
  const auto kernel = static_cast<int64_t>(getKernel());
  if (kernel < 1 || static_cast<int64_t>(getStride()) < 1 || static_cast<int64_t>(getPad()) < 0)
    return emitOpError("kernel, stride and pad are ")
           << kernel << ", " << static_cast<int64_t>(getStride()) << " and "
           << static_cast<int64_t>(getPad()) << "; expected at least 1, 1 and 0";
  const SmallVector<int64_t> marks = getMarks() ? top::toInts(*getMarks()) : SmallVector<int64_t>();
  for (int64_t mark : marks)
    if (mark < -1 || mark >= kernel)
      return emitOpError("marks row ")
             << mark << "; expected -1 or a row of windows of " << kernel << " rows";
  if (getInLocalMemory() && (!marks.empty() || input.getRank() != 4))
    return emitOpError("is in local memory, of ")
           << input << " with " << marks.size() << " marks; expected pictures without marks";
  const auto fill = static_cast<int64_t>(getFill());
  const int64_t zero = tpu::zeroPointOf(getInput());
  if (quant::UniformQuantizedType type = tpu::quantizedType(getInput());
      type && (fill < type.getStorage().min - zero || fill > type.getStorage().max - zero))
    return emitOpError("fill is ") << fill << "; expected what " << input << " can hold";
  const bool areTensors = input.hasStaticShape() && output.hasStaticShape() &&
                          (input.getRank() == 4 || input.getRank() == 5) && output.getRank() == 4;
  const bool hasPlanes = input.getRank() == 5;
  const bool fits =
      areTensors && input.getElementType() == output.getElementType() &&
      output.getDimSize(1) == kernel * input.getDimSize(1) + static_cast<int64_t>(marks.size()) &&
      output.getShape().back() == input.getShape().back() &&
      (hasPlanes ? input.getDimSize(0) > 0 && output.getDimSize(0) % input.getDimSize(0) == 0 &&
                       output.getDimSize(2) == input.getDimSize(3)
                 : output.getDimSize(0) == input.getDimSize(0));
  if (!fits)
    return emitOpError("makes ") << output << " of " << input << " with windows of " << kernel
                                 << " rows";
  return success();
}

LogicalResult tpu::UnpackRowsOp::verify() {
  const auto input = cast<RankedTensorType>(getInput().getType());
  const auto output = cast<RankedTensorType>(getOutput().getType());
  const auto rows = static_cast<int64_t>(getRows());
  const bool fits = rows > 0 && input.hasStaticShape() && output.hasStaticShape() &&
                    input.getRank() == 4 && output.getRank() == 4 &&
                    input.getElementType() == output.getElementType() &&
                    output.getDimSize(0) == input.getDimSize(0) &&
                    output.getDimSize(1) * rows == input.getDimSize(1) &&
                    output.getDimSize(2) > rows * (input.getDimSize(2) - 1) &&
                    output.getDimSize(2) <= rows * input.getDimSize(2) &&
                    output.getDimSize(3) == input.getDimSize(3);
  if (!fits)
    return emitOpError("makes ") << output << " of " << input << " with " << rows
                                 << " rows side by side";
  return success();
}

LogicalResult tpu::TransposeOp::verify() {
  const auto input = cast<RankedTensorType>(getInput().getType());
  const auto output = cast<RankedTensorType>(getOutput().getType());
  constexpr int64_t kLeast = 3, kMost = 4;
  const auto isOfRows = [](RankedTensorType type) {
    return type.hasStaticShape() && type.getRank() >= kLeast && type.getRank() <= kMost;
  };
  const auto elements = [](RankedTensorType type) {
    return ShapedType::getNumElements(type.getShape().drop_front(2));
  };
  const bool fits =
      isOfRows(input) && isOfRows(output) && input.getElementType() == output.getElementType() &&
      input.getDimSize(0) == output.getDimSize(0) && input.getDimSize(1) == elements(output) &&
      output.getDimSize(1) == elements(input);
  if (!fits)
    return emitOpError("makes ") << output << " of " << input
                                 << "; expected its rows as columns, in 3 or 4 dimensions";
  return success();
}
