//===- TopShape.cpp - What the ops of ShapeOps.td compute --------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/ShapeOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Interpreter/Attach.h"
#include "tpuc/Interpreter/EvaluateShapes.h"
#include "tpuc/Interpreter/Kernels/Fill.h"
#include "tpuc/Support/Convert.h"
#include "tpuc/Support/SliceRange.h"

using namespace tpuc;
using namespace tpuc::top;

static Expected<void> evaluateShape(ShapeOp op, EvalContext &context) {
  EvalDims dims = dimsOf(context, 0);
  auto rank = static_cast<int64_t>(dims.size());
  SliceRange range = sliceRange(rank, static_cast<int64_t>(op.getStart()),
                                op.getEnd() ? static_cast<int64_t>(*op.getEnd()) : rank, 1);
  std::span<const int64_t> wanted(dims.data() + range.start, static_cast<size_t>(range.count));
  context.set(0, Tensor::of<int64_t>({range.count}, wanted));
  return {};
}

static Expected<void> evaluateSize(SizeOp, EvalContext &context) {
  context.set(0, Tensor::of<int64_t>({}, {context.operand(0).numElements()}));
  return {};
}

/// The number of an attribute as a tensor of its type.
static std::optional<Tensor> tensorOf(mlir::TypedAttr value) {
  std::optional<DataType> type = storageDataType(value.getType());
  if (!type)
    return std::nullopt;
  if (auto number = mlir::dyn_cast<mlir::FloatAttr>(value))
    return convert(Tensor::of<double>({}, {number.getValueAsDouble()}), *type);
  auto number = mlir::dyn_cast<mlir::IntegerAttr>(value);
  if (!number)
    return std::nullopt;
  llvm::APInt bits = number.getValue();
  ConvertOptions wrap;
  wrap.integerOverflow = IntegerOverflow::Wrap;
  // The low bits are the same for either sign.
  if (*type == DataType::Bool)
    bits = bits.zext(64);
  else
    bits = bits.sext(64);
  return convert(Tensor::of<int64_t>({}, {bits.getSExtValue()}), *type, wrap);
}

static Expected<void> evaluateConstantFill(ConstantFillOp op, EvalContext &context) {
  Expected<EvalDims> dims = neededInts(context, op.getShape(), 0, "shape");
  if (!dims)
    return propagate(dims);
  std::optional<Tensor> value = tensorOf(mlir::cast<mlir::TypedAttr>(op.getValue()));
  if (!value)
    return context.error("a value that is no number");
  Expected<Tensor *> output = allocateDims(context, 0, value->type(), *dims);
  if (!output)
    return propagate(output);
  kernels::fill(*value, **output, context.threads());
  return {};
}

static Expected<void> evaluateRange(RangeOp, EvalContext &context) {
  for (unsigned index = 0; index < 3; ++index)
    if (context.operand(index).numElements() != 1)
      return context.error("operand #" + std::to_string(index) + " has shape " +
                               context.operand(index).shape().str(),
                           "one element");
  Expected<int64_t> count =
      kernels::rangeCount(context.operand(0), context.operand(1), context.operand(2));
  if (!count)
    return context.error(count.error().found, count.error().expected);
  Expected<Tensor *> output = allocateDims(context, 0, context.operand(0).type(), {*count});
  if (!output)
    return propagate(output);
  kernels::range(context.operand(0), context.operand(2), **output);
  return {};
}

static Expected<void> evaluateEyeLike(EyeLikeOp op, EvalContext &context) {
  const Tensor &input = context.operand(0);
  if (input.shape().rank() != 2)
    return context.error("an input of rank " + std::to_string(input.shape().rank()), "2");
  DataType type = input.type();
  if (op.getTo())
    type = storageDataType(*op.getTo()).value_or(type);
  Expected<Tensor *> output = context.allocate(0, type, input.shape());
  if (!output)
    return propagate(output);
  kernels::eye(static_cast<int64_t>(op.getK()), **output, context.threads());
  return {};
}

void tpuc::attachShape(mlir::MLIRContext *context) {
  attachEvaluate<ShapeOp, evaluateShape>(context);
  attachEvaluate<SizeOp, evaluateSize>(context);
  attachEvaluate<ConstantFillOp, evaluateConstantFill>(context);
  attachEvaluate<RangeOp, evaluateRange>(context);
  attachEvaluate<EyeLikeOp, evaluateEyeLike>(context);
}
