//===- QuantizeOps.cpp - Quantized networks ---*- C++ -*-===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/QuantizeOps.h"
#include "tpuc/Dialect/Top/ShapeInference.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Top/WindowAttributes.h"
#include "tpuc/Dialect/Top/WindowShapes.h"
#include "tpuc/Support/OpShapes/Matrix.h"

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

static LogicalResult verifyTarget(Operation *op, std::optional<Type> to) {
  if (to && !storageDataType(*to))
    return op->emitOpError("attribute 'to' is ") << *to << "; expected an element type of tensors";
  return success();
}

/// `scale` and `zeroPoint` fit the input where the extents are known.
static LogicalResult checkParameters(Operation *op, Value input, Value parameters, int64_t axis,
                                     int64_t blockSize) {
  std::optional<Dims> dims = dimsOf(input);
  if (!isPresent(parameters) || !dims)
    return success();
  std::optional<Dims> own = dimsOf(parameters);
  if (!own || staticElements(parameters) == 1)
    return success();
  FailureOr<int64_t> normal = normalizeAxis(op, axis, dims->size());
  if (failed(normal))
    return failure();
  Dims wanted;
  if (blockSize == 0) {
    wanted = {(*dims)[*normal]};
  } else {
    wanted = *dims;
    if (wanted[*normal] != kDynamic)
      wanted[*normal] = (wanted[*normal] + blockSize - 1) / blockSize;
  }
  bool fits = own->size() == wanted.size();
  for (size_t i = 0; fits && i < wanted.size(); ++i)
    fits = (*own)[i] == wanted[i] || (*own)[i] == kDynamic || wanted[i] == kDynamic;
  if (!fits)
    return op->emitOpError("scale or zero point has shape ")
           << dimsText(*own) << "; expected one element or " << dimsText(wanted);
  return success();
}

LogicalResult QuantizeLinearOp::verify() { return verifyTarget(*this, getTo()); }

LogicalResult QuantizeLinearOp::inferShape() {
  for (Value parameters : {Value(getScale()), getZeroPoint()})
    if (failed(checkParameters(*this, getInput(), parameters, getAxis(), getBlockSize())))
      return failure();
  Type element = IntegerType::get(getContext(), 8, IntegerType::Unsigned);
  if (getTo())
    element = *getTo();
  else if (isPresent(getZeroPoint()))
    element = elementTypeOf(getZeroPoint());
  return setResult(*this, 0, element, dimsOf(getInput()));
}

int64_t QuantizeLinearOp::flops() { return 2 * staticElements(getInput()); }

LogicalResult DequantizeLinearOp::verify() { return verifyTarget(*this, getTo()); }

LogicalResult DequantizeLinearOp::inferShape() {
  for (Value parameters : {Value(getScale()), getZeroPoint()})
    if (failed(checkParameters(*this, getInput(), parameters, getAxis(), getBlockSize())))
      return failure();
  return setResult(*this, 0, getTo() ? *getTo() : elementTypeOf(getScale()), dimsOf(getInput()));
}

int64_t DequantizeLinearOp::flops() { return 2 * staticElements(getInput()); }

LogicalResult DynamicQuantizeLinearOp::inferShape() {
  Type quantized = IntegerType::get(getContext(), 8, IntegerType::Unsigned);
  if (failed(setResult(*this, 0, quantized, dimsOf(getInput()))) ||
      failed(setResult(*this, 1, Float32Type::get(getContext()), Dims())))
    return failure();
  return setResult(*this, 2, quantized, Dims());
}

int64_t DynamicQuantizeLinearOp::flops() { return 4 * staticElements(getInput()); }

LogicalResult DynamicQuantizeRowsOp::inferShape() {
  Type quantized = IntegerType::get(getContext(), 8);
  std::optional<Dims> dims = dimsOf(getInput());
  std::optional<Dims> rows = dims;
  if (dims) {
    const auto rank = static_cast<int64_t>(dims->size());
    const auto axis = static_cast<int64_t>(getAxis());
    if (axis < 0 || axis > rank)
      return emitOpError("axis is ") << axis << "; expected 0 to " << rank;
    std::fill(rows->begin() + axis, rows->end(), 1);
  }
  if (failed(setResult(*this, 0, quantized, dims)) ||
      failed(setResult(*this, 1, Float32Type::get(getContext()), rows)))
    return failure();
  return setResult(*this, 2, quantized, rows);
}

int64_t DynamicQuantizeRowsOp::flops() { return 4 * staticElements(getInput()); }

template <typename Op> static LogicalResult inferConvolution(Op op, Type element) {
  std::optional<Dims> input = dimsOf(op.getInput());
  std::optional<Dims> filter = dimsOf(op.getFilter());
  if (!input || !filter)
    return setResult(op, 0, element, std::nullopt);
  Expected<Window> window = windowOf(op, *input, *filter);
  if (!window)
    return emit(op, window.error());
  return setResult(op, 0, element, window->output);
}

/// Two for each product.
template <typename Op> static int64_t convolutionFlops(Op op) {
  const Count outputs = staticElements(op.getOutput());
  std::optional<Dims> filter = dimsOf(op.getFilter());
  if (!filter || filter->empty() || staticElements(op.getFilter()) == 0)
    return 0;
  return 2 * outputs * (staticElements(op.getFilter()) / filter->front());
}

LogicalResult QLinearConvOp::verify() { return verifyWindow(*this, getKernelShape().size()); }
LogicalResult QLinearConvOp::inferShape() {
  return inferConvolution(*this, elementTypeOf(getOutputZeroPoint()));
}
int64_t QLinearConvOp::flops() { return convolutionFlops(*this); }

LogicalResult ConvIntegerOp::verify() { return verifyWindow(*this, getKernelShape().size()); }
LogicalResult ConvIntegerOp::inferShape() {
  return inferConvolution(*this, IntegerType::get(getContext(), 32));
}
int64_t ConvIntegerOp::flops() { return convolutionFlops(*this); }

static LogicalResult inferProduct(Operation *op, Value a, Value b, Type element) {
  std::optional<Dims> left = dimsOf(a);
  std::optional<Dims> right = dimsOf(b);
  if (!left || !right)
    return setResult(op, 0, element, std::nullopt);
  Expected<shapes::Dims> shape = shapes::matMulShape(*left, *right, false, false);
  if (!shape)
    return emit(op, shape.error());
  return setResult(op, 0, element, *shape);
}

static int64_t productFlops(Value a, Value output) {
  std::optional<Dims> left = dimsOf(a);
  return left && !left->empty() && left->back() != kDynamic
             ? 2 * staticElements(output) * left->back()
             : Count(0);
}

LogicalResult QLinearMatMulOp::inferShape() {
  return inferProduct(*this, getA(), getB(), elementTypeOf(getOutputZeroPoint()));
}
int64_t QLinearMatMulOp::flops() { return productFlops(getA(), getOutput()); }

LogicalResult MatMulIntegerOp::inferShape() {
  return inferProduct(*this, getA(), getB(), IntegerType::get(getContext(), 32));
}
int64_t MatMulIntegerOp::flops() { return productFlops(getA(), getOutput()); }
