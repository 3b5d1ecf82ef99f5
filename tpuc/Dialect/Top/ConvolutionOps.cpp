//===- ConvolutionOps.cpp - Convolutions ----------------------------------===//
//
// Part of tpuc, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tpuc/Dialect/Top/ConvolutionOps.h"
#include "tpuc/Dialect/Top/TypeUtils.h"
#include "tpuc/Dialect/Top/WindowAttributes.h"
#include "tpuc/Dialect/Top/WindowShapes.h"

#include <cmath>

using namespace mlir;
using namespace tpuc;
using namespace tpuc::top;

/// Sets the result of a convolution; what it adds beside its products is a bias.
static LogicalResult setFrom(Operation *op, const Expected<Window> &window) {
  if (!window)
    return emit(op, window.error());
  return setResult(op, 0, elementTypeOf(op->getOperand(0)), window->output);
}

static LogicalResult setUnranked(Operation *op) {
  return setResult(op, 0, elementTypeOf(op->getOperand(0)), std::nullopt);
}

/// Writes what `auto_pad` comes to into `pads`, once all spatial extents are known.
template <typename Op> static void resolvePads(Op op, const Window &window) {
  if (op.getAutoPad() == "NOTSET" || llvm::is_contained(window.output, kDynamic))
    return;
  setPads(op, window);
}

/// What computes with numbers around the input.
static LogicalResult verifyPadValues(ConvOp op) {
  const bool isOne = op.getPadValue().has_value();
  const StringRef name = isOne ? "pad_value" : "pad_values";
  const std::vector<double> numbers = isOne
                                          ? std::vector<double>{op.getPadValue()->convertToDouble()}
                                          : toDoubles(op.getPadValues());
  if (!llvm::all_of(numbers, [](double number) { return std::isfinite(number); }))
    return op.emitOpError(name) << " is not finite; expected a number";
  const std::optional<Dims> input = dimsOf(op.getInput());
  if (isOne && op.getPadValues())
    return op.emitOpError("has pad_value and pad_values; expected one of them");
  if (!isOne && input && input->size() > 1 && (*input)[1] != kDynamic &&
      (*input)[1] != static_cast<int64_t>(numbers.size()))
    return op.emitOpError("pad_values has ")
           << numbers.size() << " numbers; expected one for each of the " << (*input)[1]
           << " channels of the input";
  const std::optional<Dims> filter = dimsOf(op.getFilter());
  if (filter && filter->size() != 4)
    return op.emitOpError(name) << " beside a filter of " << op.getFilter().getType()
                                << "; expected 2 spatial dimensions";
  if (op.getInserts())
    return op.emitOpError("has ") << name << " and inserts; expected one of them";
  const std::optional<DataType> type = storageDataType(op.getInput().getType());
  if (type && !isFloat(*type))
    return op.emitOpError(name) << " beside an input of " << op.getInput().getType()
                                << "; expected floats";
  return success();
}

LogicalResult ConvOp::verify() {
  if (failed(verifyWindow(*this, toInts(getKernelShape()).size())))
    return failure();
  if ((getPadValue() || getPadValues()) && failed(verifyPadValues(*this)))
    return failure();
  return verifyEntries(*this, "inserts", getInserts(), getKernelShape().size());
}

LogicalResult ConvOp::inferShape() {
  std::optional<Dims> input = dimsOf(getInput());
  std::optional<Dims> filter = dimsOf(getFilter());
  if (!input || !filter)
    return setUnranked(*this);
  Expected<Window> window = windowOf(*this, *input, *filter);
  if (window)
    resolvePads(*this, *window);
  return setFrom(*this, window);
}

int64_t ConvOp::flops() {
  std::optional<Dims> filter = dimsOf(getFilter());
  if (!filter || llvm::is_contained(*filter, kDynamic))
    return 0;
  Count perOutput = 1;
  for (int64_t extent : ArrayRef(*filter).drop_front())
    perOutput *= extent;
  return staticElements(getOutput()) * (2 * perOutput + (isPresent(getBias()) ? 1 : 0));
}

LogicalResult DeconvOp::verify() {
  size_t spatial = toInts(getKernelShape()).size();
  if (failed(verifyWindow(*this, spatial)) ||
      failed(verifyEntries(*this, "output_padding", getOutputPadding(), spatial)))
    return failure();
  if (getOutputShape()) {
    size_t size = getOutputShape()->size();
    if (size != spatial && size != spatial + 2)
      return emitOpError("output_shape has ") << size << " entries; expected " << spatial;
  }
  return verifyEntries(*this, "inserts", getInserts(), spatial);
}

LogicalResult DeconvOp::inferShape() {
  std::optional<Dims> input = dimsOf(getInput());
  std::optional<Dims> filter = dimsOf(getFilter());
  if (!input || !filter)
    return setUnranked(*this);
  Expected<Window> window = windowOf(*this, *input, *filter);
  if (window && !llvm::is_contained(window->output, kDynamic) &&
      (getAutoPad() != "NOTSET" || getOutputShape())) {
    setPads(*this, *window);
    removeOutputShapeAttr();
  }
  return setFrom(*this, window);
}

int64_t DeconvOp::flops() {
  std::optional<Dims> filter = dimsOf(getFilter());
  if (!filter || llvm::is_contained(*filter, kDynamic))
    return 0;
  Count perInput = 1;
  for (int64_t extent : ArrayRef(*filter).drop_front())
    perInput *= extent;
  return staticElements(getInput()) * 2 * perInput +
         (isPresent(getBias()) ? staticElements(getOutput()) : Count(0));
}

LogicalResult DeformConv2DOp::verify() {
  if (getKernelShape().size() != 2)
    return emitOpError("kernel_shape has ") << getKernelShape().size() << " entries; expected 2";
  return verifyWindow(*this, 2);
}

LogicalResult DeformConv2DOp::inferShape() {
  std::optional<Dims> input = dimsOf(getInput());
  std::optional<Dims> filter = dimsOf(getFilter());
  std::optional<Dims> offset = dimsOf(getOffset());
  if (!input || !filter || !offset)
    return setUnranked(*this);
  return setFrom(*this, windowOf(*this, *input, *filter, *offset));
}

int64_t DeformConv2DOp::flops() {
  std::optional<Dims> filter = dimsOf(getFilter());
  if (!filter || llvm::is_contained(*filter, kDynamic))
    return 0;
  // The four neighbours of each sample: 4 products, 3 sums; then as a convolution.
  const Count taps = Count((*filter)[1]) * (*filter)[2] * (*filter)[3];
  std::optional<Dims> output = dimsOf(getOutput());
  if (!output || staticElements(getOutput()) == 0)
    return 0;
  const Count samples = taps * (*output)[0] * (*output)[2] * (*output)[3] * getGroup();
  return samples * 7 + staticElements(getOutput()) * (2 * taps + (isPresent(getBias()) ? 1 : 0));
}

LogicalResult Col2ImOp::inferShape() {
  std::optional<Dims> input = dimsOf(getInput());
  if (!input)
    return setUnranked(*this);
  Expected<Window> window =
      windowOf(*this, *input, constantInts(getImageShape()), constantInts(getBlockShape()));
  if (window && window->output.empty())
    return setUnranked(*this);
  return setFrom(*this, window);
}

int64_t Col2ImOp::flops() { return staticElements(getInput()); }
