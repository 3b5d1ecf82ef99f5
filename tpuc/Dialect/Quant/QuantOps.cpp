//===- QuantOps.cpp - The casts of the quant dialect: rules and rewrites ---------- -===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Quant/QuantOps.h"
#include "tpuc/Dialect/Quant/QuantInterfaces.h"

#include "mlir/IR/TypeUtilities.h"

#include "tpuc/Dialect/Quant/QuantDialect.cpp.inc"
#include "tpuc/Dialect/Quant/QuantInterfaces.cpp.inc"

using namespace mlir;
using namespace tpuc::quant;

void QuantDialect::initialize() {
  registerTypes();
  addQuantOps(*this);
}

//===-- Rules -----------------------------------------------------------------===//

/// Both scalars, or both ranked with the same sizes, or both unranked.
static LogicalResult verifySameContainer(Operation *op, Type input, Type result) {
  const auto inputTensor = dyn_cast<TensorType>(input);
  const auto resultTensor = dyn_cast<TensorType>(result);
  if (!inputTensor && !resultTensor)
    return success();
  if (!inputTensor || !resultTensor)
    return op->emitOpError("input ")
           << input << " and result " << result << " must be both scalars or both tensors";
  if (inputTensor.hasRank() != resultTensor.hasRank())
    return op->emitOpError("input ")
           << input << " and result " << result << " must be both ranked or both unranked";
  if (inputTensor.hasRank() && inputTensor.getShape() != resultTensor.getShape())
    return op->emitOpError("input ")
           << input << " and result " << result
           << " must have the same shape, with the same static and dynamic dimensions";
  return success();
}

/// The expressed type of `quantized`'s elements is the element type of `floats`.
static LogicalResult verifyExpressedType(Operation *op, Type quantized, Type floats) {
  const auto uniform = cast<UniformType>(getElementTypeOrSelf(quantized));
  const Type element = getElementTypeOrSelf(floats);
  if (uniform.getExpressedType() == element)
    return success();
  return op->emitOpError("expressed type ") << uniform.getExpressedType() << " of " << uniform
                                            << " must match the floating-point type " << element;
}

/// The three integrity rules of per-axis types.
static LogicalResult verifyPerAxis(Operation *op, Type container) {
  const auto perAxis = dyn_cast<UniformQuantizedPerAxisType>(getElementTypeOrSelf(container));
  if (!perAxis)
    return success();
  const auto tensor = dyn_cast<TensorType>(container);
  if (!tensor)
    return op->emitOpError("scalar type ")
           << container << " has per-axis parameters; expected a tensor around it";
  if (!tensor.hasRank())
    return success();
  const int64_t axis = perAxis.getAxis();
  if (axis >= tensor.getRank())
    return op->emitOpError("channel axis ")
           << axis << " must be less than the rank " << tensor.getRank() << " of " << container;
  const int64_t numScales = perAxis.getChannels().size();
  if (!tensor.isDynamicDim(axis) && tensor.getDimSize(axis) != numScales)
    return op->emitOpError("has ")
           << numScales << " scales; expected as many as the size " << tensor.getDimSize(axis)
           << " of dimension " << axis << " of " << container;
  return success();
}

static LogicalResult verifyFloatCast(Operation *op, Type quantized, Type floats) {
  if (failed(verifySameContainer(op, op->getOperand(0).getType(), op->getResult(0).getType())) ||
      failed(verifyExpressedType(op, quantized, floats)))
    return failure();
  return verifyPerAxis(op, quantized);
}

LogicalResult DequantizeCastOp::verify() {
  return verifyFloatCast(*this, getInput().getType(), getResult().getType());
}

LogicalResult QuantizeCastOp::verify() {
  return verifyFloatCast(*this, getResult().getType(), getInput().getType());
}

LogicalResult StorageCastOp::verify() {
  const Type input = getInput().getType();
  const Type result = getResult().getType();
  const bool fromInteger = isa<IntegerType>(getElementTypeOrSelf(input));
  if (fromInteger == isa<IntegerType>(getElementTypeOrSelf(result)))
    return emitOpError("input ") << input << " and result " << result
                                 << " must be one an integer and the other !quant.uniform";
  if (failed(verifySameContainer(*this, input, result)))
    return failure();
  const Type quantized = fromInteger ? result : input;
  const auto uniform = cast<UniformType>(getElementTypeOrSelf(quantized));
  const auto integer = cast<IntegerType>(getElementTypeOrSelf(fromInteger ? input : result));
  if (uniform.getStorageType() != integer)
    return emitOpError("storage type of ")
           << uniform << " has " << uniform.getStorage().width << " bits; expected the "
           << integer.getWidth() << " of " << integer;
  return verifyPerAxis(*this, quantized);
}

//===-- Canonicalization ------------------------------------------------------===//
//
// Rewrites and not folders: a folder would also run wherever ops are built or legalized, and
// dropping a rounding is a decision that only --canonicalize takes.

/// op(Inverse(x)) -> x, if x has the type of op's result.
template <typename Inverse>
static LogicalResult cancelInverse(Operation *op, PatternRewriter &rewriter) {
  auto inverse = op->getOperand(0).getDefiningOp<Inverse>();
  if (!inverse || inverse.getInput().getType() != op->getResult(0).getType())
    return failure();
  rewriter.replaceOp(op, inverse.getInput());
  return success();
}

LogicalResult DequantizeCastOp::canonicalize(DequantizeCastOp op, PatternRewriter &rewriter) {
  return cancelInverse<QuantizeCastOp>(op, rewriter);
}

LogicalResult QuantizeCastOp::canonicalize(QuantizeCastOp op, PatternRewriter &rewriter) {
  return cancelInverse<DequantizeCastOp>(op, rewriter);
}

LogicalResult StorageCastOp::canonicalize(StorageCastOp op, PatternRewriter &rewriter) {
  return cancelInverse<StorageCastOp>(op, rewriter);
}
